# SPDX-License-Identifier: Apache-2.0
"""A disk in the guest, one request at a time: in order it writes through its cache as fast as it reads, at the rate of
its outermost zone; at random a read takes a seek and half a revolution, a write that is cached half of that or less.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from flashbed.execution import run
from flashbed.study.loading import load_study
from tests.support.fixture_types import Measure, StudyWriter

STUDY = """
    [workload]
    tool = "fio"
    job = "disk.fio"
"""

JOB = """
[global]
filename=/dev/medium
direct=1
ioengine=psync
[write]
rw=write
bs=128k
size=64m
[read]
stonewall
rw=read
bs=128k
size=64m
[write-4k]
stonewall
rw=write
bs=4k
size=8m
[read-4k]
stonewall
rw=read
bs=4k
size=8m
[randread]
stonewall
rw=randread
bs=4k
norandommap=1
number_ios=300
[randwrite]
stonewall
rw=randwrite
bs=4k
norandommap=1
number_ios=600
"""


@pytest.mark.parametrize("medium", ["hdd-35-7200-320g", "hdd-25-5400-ide-4g"])
def test_writes_in_order_are_as_fast_as_reads(
    study_file: StudyWriter, measure: Measure, tmp_path: Path, medium: str
) -> None:
    (tmp_path / "disk.fio").write_text(JOB)
    # The file system is not asked; with few inodes it is made soon
    (repetition,) = run.prepare(load_study(study_file(STUDY, filesystem="ext2:inode_ratio=64M", medium=medium)))
    finished = measure(repetition, tmp_path / repetition.key)
    jobs = {job["jobname"]: job for job in json.loads(finished.files["out/fio.json"])["jobs"]}
    rates = {name: jobs[name][name.partition("-")[0]]["bw_bytes"] for name in ("write", "read", "write-4k", "read-4k")}
    reads, writes = jobs["randread"]["read"]["iops"], jobs["randwrite"]["write"]["iops"]
    print(medium, rates, reads, writes)

    p = repetition.cell.medium.numbers()
    track_s = 60 / p["rpm"] + (p["head_switch_ns"] + p["write_settle_ns"]) / 1e9
    media_rate = p["outer_sectors_per_track"] * 512 / track_s
    assert rates["read"] == pytest.approx(media_rate, rel=0.05)
    assert rates["write"] == pytest.approx(media_rate, rel=0.1)  # less what the cache holds at the end
    assert rates["write-4k"] > rates["read-4k"] * 0.9
    # On a small part of the disk, seeks are hardly longer than that to the next track
    assert 1 / reads == pytest.approx(30 / p["rpm"] + p["seek_track_ns"] / 1e9, rel=0.3)
    assert writes > 1.5 * reads
