# SPDX-License-Identifier: Apache-2.0
"""Where cells run: one module a kind of machine."""
