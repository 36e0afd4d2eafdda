# SPDX-License-Identifier: Apache-2.0
"""A medium's state that is truncated, of another version or of another profile is refused by the emulator, with the
cause.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.fixture_types import StudyWriter
from tests.support.guest_rig import STUDY, Rig, new, outcome_of


def cut(rig: Rig) -> None:
    with rig.files.state.open("r+b") as file:
        file.truncate(1 << 20)


def age(rig: Rig) -> None:
    with rig.files.state.open("r+b") as file:
        file.seek(8)  # the version, behind 8 bytes of magic
        file.write(b"\x01")


def exchange(rig: Rig) -> None:
    rig.tool.create(rig.files.state, {**rig.cell.medium.core_parameters, "read_ns": 1})


def empty(rig: Rig) -> None:
    rig.files.state.write_bytes(bytes(1 << 20))


@pytest.mark.parametrize(
    ("spoil", "cause"),
    [
        (cut, "refused: truncated: smaller than the medium it describes"),
        (age, "refused: made by another version of the media core"),
        (exchange, "refused: another medium, with parameters of digest "),
        (empty, "refused: not a medium's state (no magic)"),
    ],
)
def test_the_emulator_refuses(
    spoil: Callable[[Rig], None], cause: str, study_file: StudyWriter, tmp_path: Path
) -> None:
    rig = new(study_file(STUDY, filesystem="ext2"), tmp_path)
    spoil(rig)
    outcome = outcome_of(rig, limit_s=60)
    assert outcome.status == "failed"
    assert cause in outcome.reason
