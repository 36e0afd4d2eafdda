# SPDX-License-Identifier: Apache-2.0
"""The workload trace: what it runs, what it makes of the records, and what a study must say."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest

from flashbed.common.errors import InputError
from flashbed.guest_output.durability import Commits
from flashbed.result.metrics import METRICS
from flashbed.study.loading import load_study
from flashbed.study.plan import plan
from flashbed.traces.call_trace import CALL_ARGUMENTS
from flashbed.workload.base import WorkloadOutputError
from flashbed.workload.trace import CALL_RECORDS, TraceReplay

NAMES = list(CALL_ARGUMENTS)


def record(name: str, begin_us: int, took_us: int, result: int = 0, differs: int = 0) -> bytes:
    return struct.pack("<QQqII", begin_us * 1000, took_us * 1000, result, NAMES.index(name), differs)


OUT = {
    CALL_RECORDS: b"".join(
        (
            record("open", 100, 10),
            record("pwrite", 200, 20, 4096),
            record("write", 250, 40, 100, 1),
            record("pread", 300, 10, 512),
            record("read", 300, 10, -9, 1),
            record("fsync", 400, 1000),
            record("fdatasync", 500, 3000),
            record("rename", 4000, 100),
        )
    )
}


def test_the_guest_makes_the_files_and_replays_with_the_seed() -> None:
    files = TraceReplay().files({"trace": "ignored", "pace": "fast", "compressible": 30}, 7)
    assert files == {
        "prepare": b"/bin/replay prepare /job/trace /mnt 70 7\n",
        "measure": b"/bin/replay fast /job/trace /mnt 70 7 /out/replay.bin\n",
    }


def test_metrics_follow_from_the_records() -> None:
    metrics = TraceReplay().metrics(OUT)
    assert metrics.keys() <= METRICS.keys()
    assert metrics["runtime_s"] == pytest.approx(0.004)
    assert (metrics["requested_bytes"], metrics["written_bytes"], metrics["differing_calls"]) == (4708, 4196, 2)
    assert (metrics["write_calls"], metrics["read_calls"], metrics["flush_calls"], metrics["open_calls"]) == (
        2,
        2,
        2,
        1,
    )
    assert (metrics["write_p50_us"], metrics["write_max_us"], metrics["write_mean_us"]) == (20, 40, 30)
    assert (metrics["flush_p99_us"], metrics["rename_p50_us"], metrics["unlink_calls"]) == (3000, 100, 0)
    assert "unlink_p50_us" not in metrics


def test_commits_are_the_flushes_and_as_many_run_at_a_time_as_overlap() -> None:
    assert TraceReplay().commits({}, OUT) == Commits(2, 2, may_be_empty=True)
    files = {CALL_RECORDS: record("fsync", 0, 5) + record("fsync", 5, 5) + record("fsync", 20, 5, -5)}
    assert TraceReplay().commits({}, files) == Commits(2, 1, may_be_empty=True)


@pytest.mark.parametrize("data", [b"", b"x", record("open", 0, 1)[:-4] + b"\2\0\0\0", bytes(24) + b"\xff" * 8])
def test_records_that_are_none_are_refused(data: bytes) -> None:
    with pytest.raises(WorkloadOutputError):
        TraceReplay().metrics({CALL_RECORDS: data})


STUDY = """title = "t"
question = "q?"
board = "arm64-1000"
medium = "slc-nand-64m"
filesystem = "jffs2"
seeds = 1
[axes]
pace = ["recorded", "fast"]
[workload]
tool = "trace"
{line}
"""
TRACE = "flashbed trace 1\npath 0 file {size} a\n0 0 0 open 0 0 O_RDWR 0 = 0\n"


def study(tmp_path: Path, line: str = 'trace = "a.trace"', trace: str = TRACE.format(size=4096)) -> Path:
    (tmp_path / "a.trace").write_text(trace)
    path = tmp_path / "s.toml"
    path.write_text(STUDY.format(line=line))
    return path


def test_a_study_has_the_trace_in_its_cells_and_their_keys(tmp_path: Path) -> None:
    cells = plan(load_study(study(tmp_path)))
    assert [cell.workload.parameters["pace"] for cell in cells] == ["recorded", "fast"]
    assert cells[0].workload.files == {"trace": TRACE.format(size=4096).encode()}
    other = plan(load_study(study(tmp_path, trace=TRACE.format(size=8192))))
    assert cells[0].workload.parameters["trace"] != other[0].workload.parameters["trace"]


@pytest.mark.parametrize(
    ("line", "trace", "facts"),
    [
        ("", TRACE.format(size=1), ("s.toml", "trace is missing")),
        ('trace = "none.trace"', "", ("s.toml:11", "none.trace", "No such file")),
        ('trace = "a.trace"', "x\n", ("s.toml:11", "a.trace:1")),
        ('trace = "a.trace"', TRACE.format(size="-1"), ("s.toml:11", "a.trace:2")),
        ('trace = "a.trace"', TRACE.format(size=80 << 20), ("s.toml:11", "no room on slc-nand-64m")),
        ('trace = "a.trace"\nprogram = "x"', TRACE.format(size=1), ("s.toml:12", "program")),
        ('trace = "a.trace"\nfile = "1M"', TRACE.format(size=1), ("s.toml:12", "no parameter of trace")),
        ('trace = "a.trace"\ncompressible = 101', TRACE.format(size=1), ("s.toml:12", "compressible")),
    ],
)
def test_a_wrong_study_is_told_with_file_and_line(
    tmp_path: Path, line: str, trace: str, facts: tuple[str, ...]
) -> None:
    with pytest.raises(InputError) as raised:
        load_study(study(tmp_path, line, trace))
    for fact in facts:
        assert fact in raised.value.message
