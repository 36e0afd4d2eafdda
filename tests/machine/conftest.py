# SPDX-License-Identifier: Apache-2.0
"""Fixtures that tests on machines share."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.machine import raw_chip
from tests.support.fixture_types import NewChip, StudyWriter
from tests.support.guest_rig import Rig


@pytest.fixture(scope="module", params=["x86_64", "arm64"])
def architecture(request: pytest.FixtureRequest) -> str:
    """Run a test of the appliance on both architectures."""
    name: str = request.param
    return name


@pytest.fixture
def new_chip(study_file: StudyWriter, tmp_path: Path) -> NewChip:
    """Return a function that makes a chip: `new_chip(chip, folder)` makes one of the profile `chip`, in the folder,
    with tools for raw flash.
    """
    profiles = tmp_path / "profiles" / "filesystems"
    profiles.mkdir(parents=True)
    (profiles / "tools.toml").write_text(raw_chip.PROFILE)
    (profiles / "more-tools.toml").write_text(raw_chip.MORE)

    def make(chip: str, folder: Path, board: str = "arm64-1000", tools: str = "tools") -> Rig:
        return raw_chip.new(study_file, folder, tools, chip, board=board)

    return make
