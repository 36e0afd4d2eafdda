# SPDX-License-Identifier: Apache-2.0
"""The emulator's notes of a guest change none of its results (image/emulator.py, OBSERVERS)."""

from __future__ import annotations

from pathlib import Path

import pytest

from flashbed.guest_output import cpu_samples
from flashbed.machine import process
from flashbed.machine.outcomes import Outcome
from tests.support import guest_rig
from tests.support.fixture_types import StudyWriter

FXMARK = """
    filesystem = "f2fs"
    [workload]
    tool = "fxmark"
    tests = "append-private,create-shared"
    processes = 4
    file = "64K"
    warm_us = 100
    run_us = 1000
    pool = 10
"""


def test_a_guest_gives_the_same_bytes_unobserved(
    study_file: StudyWriter, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The guest asks for samples, which it gets or not; the watch for CPUs that hang is always there."""
    study = study_file(FXMARK, board="arm64-1000:cpus=4", medium="null-2g")
    observed = outcome(guest_rig.new(study, tmp_path / "observed"))
    assert observed.files[cpu_samples.RAW_SAMPLES]
    assert (tmp_path / "observed" / process.PRICE).stat().st_size

    execute = process.execute
    monkeypatch.setattr(process, "execute", lambda command, *others: execute(unobserved(command), *others))
    alone = outcome(guest_rig.new(study, tmp_path / "alone"))
    assert not (tmp_path / "alone" / process.PRICE).exists()
    assert alone.console == observed.console
    assert {**alone.files, cpu_samples.RAW_SAMPLES: observed.files[cpu_samples.RAW_SAMPLES]} == observed.files


def outcome(rig: guest_rig.Rig) -> Outcome:
    outcome_ = guest_rig.boot(rig)
    assert outcome_.status == "measured"
    return outcome_


def unobserved(command: list[str]) -> list[str]:
    """Return the command without the second -icount, which names what the emulator records (machine/qemu.py)."""
    at = len(command) - 1 - command[::-1].index("-icount")
    assert command[at + 1].startswith("price=")
    return command[:at] + command[at + 2 :]
