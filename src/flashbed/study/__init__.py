# SPDX-License-Identifier: Apache-2.0
"""A study: its file, the rules between its keys, its claims and its cells."""
