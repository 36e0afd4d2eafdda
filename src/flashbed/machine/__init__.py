# SPDX-License-Identifier: Apache-2.0
"""Run cells: one module for each kind of machine."""
