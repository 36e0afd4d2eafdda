# SPDX-License-Identifier: Apache-2.0
"""What every room may use, and what knows of none: units, errors, paths, TOML, locks, metrics."""
