# SPDX-License-Identifier: Apache-2.0
"""A file system that is used before the measurement: its files are there, and what is measured begins after them."""

from __future__ import annotations

import re
import threading
from pathlib import Path

import pytest

from flashbed.execution import repetition, run
from flashbed.execution.repetition import Finished, Repetition
from flashbed.guest_output import medium_counters
from flashbed.study.loading import load_study
from tests.machine.same_bytes import bytes_of, differing
from tests.support.fixture_types import StudyWriter
from tests.support.guest_rig import LIMIT_S

LOAD = 'workload = { tool = "fio", pattern = "randwrite", request = "4k", file = "2M", flush = "fsync" }\n'
LOAD_BYTES, FILL = 2 << 20, 0.7


def measured(planned: Repetition, folder: Path) -> Finished:
    folder.mkdir()
    finished = repetition.execute(planned, folder, LIMIT_S, threading.Event())
    assert finished.result.is_measured, finished.result.reason
    return finished


@pytest.mark.parametrize(
    ("medium", "filesystem", "times"),
    [("slc-64m-ftl-page:used_bytes=32M", "ext4", 2), ("slc-nand-64m:used_bytes=32M", "ubifs", 1)],
)
def test_the_load_is_measured_on_a_used_file_system(
    medium: str, filesystem: str, times: int, study_file: StudyWriter, tmp_path: Path
) -> None:
    aged = f"{medium},condition=aged,aged_fill_percent=70,aged_passes=1"
    (planned,) = run.prepare(load_study(study_file(LOAD, medium=aged, filesystem=filesystem)))
    first, *others = (measured(planned, tmp_path / str(number)) for number in range(times))
    assert all(differing(bytes_of(first), bytes_of(other)) == [] for other in others)
    metrics, out = (
        first.result.measurement.metrics,
        {name.removeprefix("out/"): data for name, data in first.files.items()},
    )

    files = re.findall(
        rb"^-.* (\d+) +\w+ +\d+ +[\d:]+ +\d+$", out["space.txt"].partition(b"/mnt/aged:")[2], re.MULTILINE
    )
    assert len(files) == metrics["aged_files"] > 100
    assert 100 * FILL - 1 < metrics["aged_filled_percent"] <= 100 * FILL
    room = int(out["empty.txt"].splitlines()[1].split()[3]) << 10
    assert 0.85 * FILL * room < sum(map(int, files)) <= FILL * room  # the last block of a file is half empty

    # Once full, and one pass: that has reached the flash, and none of it is counted
    written = metrics["aged_written_bytes"]
    assert (0.85 * FILL + 1) * room < written < (FILL + 1.02) * room
    begun, before = (medium_counters.parse(out[moment]) for moment in ("counters.begun", "counters.before"))
    page_bytes = first.result.cell["medium"]["page_bytes"]
    programmed = page_bytes * (before["flash_programmed_pages"] - begun["flash_programmed_pages"])
    counted = page_bytes * first.result.measurement.medium["synced"]["flash_programmed_pages"]
    assert programmed > 0.9 * written
    assert LOAD_BYTES <= counted < 0.2 * written
