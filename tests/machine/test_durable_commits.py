# SPDX-License-Identifier: Apache-2.0
"""Commits of a real load on a real kernel: which stacks carry them out, by what the medium counted."""

from __future__ import annotations

from pathlib import Path

import pytest

from flashbed.common import paths
from flashbed.execution import run
from flashbed.study.loading import load_study
from tests.support.fixture_types import Measure, StudyWriter

JOB = """\
[global]
directory=/mnt
fallocate=none
filename=log
size=1m
[prepare]
rw=write
bs=64k
end_fsync=1
[record]
rw=randwrite
bs=4k
io_size=160k
{how}
"""
STUDY = """
[workload]
tool = "fio"
job = "record.fio"
"""
CACHED = "emmc-32g-tlc:used_bytes=64M"


@pytest.mark.parametrize(
    ("filesystem", "medium", "how", "expected"),
    [
        ("ext4", CACHED, "fdatasync=1", "durable"),
        # Linux 6.1 writes the data of an overwrite and returns before the flush
        ("ext4:nojournal", CACHED, "fdatasync=1", "not durable: 0 flushes for 39 commits"),
        # Each write passes the cache by itself
        ("ext4:nojournal", CACHED, "direct=1\nsync=dsync", "durable"),
        ("ext4", "liar:used_bytes=64M", "fdatasync=1", "not durable: the medium ignores flushes"),
        ("ext4:nojournal", "usb-stick-2g:used_bytes=64M", "fdatasync=1", ""),
    ],
)
def test_commits_are_counted_at_the_medium(
    filesystem: str, medium: str, how: str, expected: str, measure: Measure, study_file: StudyWriter, tmp_path: Path
) -> None:
    liar = tmp_path / "profiles" / "media" / "liar.toml"
    liar.parent.mkdir(parents=True)
    card = (paths.profiles() / "media" / "emmc-32g-tlc.toml").read_text()
    card = card.replace("write_buffer_bytes =", "flush_ignored = 1\nwrite_buffer_bytes =", 1)
    liar.write_text(card.replace("[source]", '[source]\nflush_ignored = "assumed: as bad cards do"', 1))
    (tmp_path / "record.fio").write_text(JOB.format(how=how))
    [repetition] = run.prepare(load_study(study_file(STUDY, filesystem=filesystem, medium=medium)))
    finished = measure(repetition, tmp_path / "cell")
    assert (finished.result.outcome, finished.result.measurement.durable.text) == ("measured", expected)
    if "dsync" in how:
        assert finished.result.measurement.medium["measured"]["host_fua_writes"] == 40
