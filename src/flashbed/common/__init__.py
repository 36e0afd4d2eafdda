# SPDX-License-Identifier: Apache-2.0
"""Helpers for every room: units, errors, paths, TOML, locks. They must not know any room."""
