# SPDX-License-Identifier: Apache-2.0
"""Helpers for every room: units, errors, paths, TOML, locks, metrics. They must not know any room."""
