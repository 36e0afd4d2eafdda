# SPDX-License-Identifier: Apache-2.0
"""What the emulator notes of a guest's steps agrees with the guest's own clock, and is none of its results."""

from __future__ import annotations

from pathlib import Path

from bench import cell_price
from flashbed.execution import run
from flashbed.guest_output import cpu_load
from flashbed.machine.process import PRICE
from flashbed.study.loading import load_study
from tests.support.fixture_types import Measure, StudyWriter

CELL = """
    filesystem = "ext2"
    [workload]
    tool = "fio"
    pattern = "write"
    request = "64k"
    file = "16M"
"""


def test_instructions_of_a_phase_are_the_time_for_which_the_guest_was_busy(
    study_file: StudyWriter, measure: Measure, tmp_path: Path
) -> None:
    (repetition,) = run.prepare(load_study(study_file(CELL, board="arm64-1000", medium="null-2g")))
    finished = measure(repetition, tmp_path / "run")
    phases = dict(cell_price.phases((tmp_path / "run" / PRICE).read_text()))
    assert list(phases) == list(cell_price.PHASES)
    assert all(spent.cpu_s > 0 for spent in phases.values())
    busy_ns = cpu_load.busy_ns(
        {name: finished.files[f"out/{name}"] for name in (cpu_load.IDLE_BEFORE, cpu_load.IDLE_MEASURED)}
    )
    # A thousand million a second; the step is told and its output opened outside of the two looks
    assert 0 < phases["measure"].instructions - busy_ns < 0.1 * busy_ns
    assert not [name for name in finished.files if "price" in name]
