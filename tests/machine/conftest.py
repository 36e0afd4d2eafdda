# SPDX-License-Identifier: Apache-2.0
"""What tests on machines share."""

from __future__ import annotations

from pathlib import Path

import nand_bed
import pytest


@pytest.fixture
def new_bed(study_file, tmp_path: Path):
    """`new_bed(chip, folder)`: a new chip of the profile `chip`, in a folder that is made for it."""
    profiles = tmp_path / "profiles" / "filesystems"
    profiles.mkdir(parents=True)
    (profiles / "tools.toml").write_text(nand_bed.PROFILE)
    (profiles / "more-tools.toml").write_text(nand_bed.MORE)

    def make(chip: str, folder: Path, board: str = "arm64-1000", tools: str = "tools") -> nand_bed.Bed:
        return nand_bed.make(study_file(nand_bed.STUDY, filesystem=tools, medium=chip, board=board), folder)

    return make
