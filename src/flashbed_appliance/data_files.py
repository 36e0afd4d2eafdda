# SPDX-License-Identifier: Apache-2.0
"""Locate the appliance's data files, in a clone of the repository and in an installed wheel."""

from pathlib import Path

from flashbed.common import paths


def appliance_data() -> Path:
    """Return the directory of the kernel fragments, the program and the settings of the network-storage appliance."""
    return paths.data_root() / "appliance"
