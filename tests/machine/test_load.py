# SPDX-License-Identifier: Apache-2.0
"""The files that only a cell's load needs come to the guest after its beginning, and come whole."""

from __future__ import annotations

import random
import threading
from pathlib import Path
from unittest.mock import patch

from flashbed.execution import repetition, run
from flashbed.machine.guest_job import Job
from flashbed.study.loading import load_study
from tests.support.fixture_types import StudyWriter
from tests.support.guest_rig import STUDY

LONG = random.Random(1).randbytes(300_001)
"""More than the guest takes at a time, and no whole number of what the emulator hands over at once."""


def test_the_load_comes_whole_and_not_before(study_file: StudyWriter, tmp_path: Path) -> None:
    (planned,) = run.prepare(load_study(study_file(STUDY, filesystem="ext2")))
    job = repetition.job(planned.cell, planned.image)
    listing = b"ls /job >/out/begins_with.txt\n"
    changed = Job(
        {**job.beginning, "prepare": listing + job.beginning["prepare"]},
        {**job.load, "long": LONG, "measure": b"cat /job/long >/out/long\n" + job.load["measure"]},
    )
    with patch.object(repetition, "job", lambda *_: changed):
        finished = repetition.execute(planned, tmp_path, 300, threading.Event())
    assert finished.result.is_measured
    assert finished.files["out/begins_with.txt"].decode().split() == sorted(job.beginning)
    assert finished.files["out/long"] == LONG
