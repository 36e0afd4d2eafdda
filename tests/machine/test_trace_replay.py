# SPDX-License-Identifier: Apache-2.0
"""A trace in a guest: files before it, calls of two threads, their times, what differs, and the medium's requests."""

from __future__ import annotations

from pathlib import Path

from flashbed.execution import run
from flashbed.result.result import Result
from flashbed.study.loading import load_study
from tests.support.fixture_types import Measure, StudyWriter

STUDY = """
filesystem = "ext2"
[axes]
pace = ["fast", "recorded"]
[workload]
tool = "trace"
trace = "a.trace"
"""

SYNC, COMMITS = 3_000_000, 10
TRACE = f"""flashbed trace 1
path 0 file 1048576 there
path 1 none new
path 2 none missing
0 0 10 open 0 0 O_RDONLY 0 = 0
0 10 10 pread 0 524288 4096 = 4096
1 20 10 open 1 1 O_RDWR|O_CREAT|O_EXCL 644 = 0
0 40 10 open 2 1 O_RDWR 0 = 0
{
    "".join(
        f'''1 {at} 10 pwrite 1 {at % 99 * 4096} 4096 = 4096
1 {at + 20} 10 fdatasync 1 = 0
'''
        for at in range(1000, 1000 * (COMMITS + 1), 1000)
    )
}0 {SYNC} 10 open 3 2 O_RDONLY 0 = 0
0 {SYNC + 20} 10 pread 2 0 8192 = 4096
0 {SYNC + 40} 10 sync = 0
"""


def test_a_guest_makes_the_calls_of_a_trace(study_file: StudyWriter, measure: Measure, tmp_path: Path) -> None:
    (tmp_path / "a.trace").write_text(TRACE)
    cells = run.prepare(load_study(study_file(STUDY)))
    results: list[Result] = [measure(repetition, tmp_path / repetition.key).result for repetition in cells]
    for result in results:
        metrics = result.measurement.metrics
        assert (metrics["write_calls"], metrics["written_bytes"]) == (COMMITS, COMMITS * 4096)
        assert (metrics["read_calls"], metrics["requested_bytes"]) == (2, COMMITS * 4096 + 4096 + 8192)
        assert metrics["flush_calls"] == COMMITS + 1
        assert metrics["differing_calls"] == 2  # "missing" cannot be opened, and the file is longer than in the trace
        assert metrics["medium_requests"] >= COMMITS + 1
        assert metrics["flush_p50_us"] > metrics["write_p50_us"]
    fast, recorded = (result.measurement.metrics["runtime_s"] for result in results)
    assert fast < SYNC / 1e6 / 2
    assert SYNC / 1e6 <= recorded < SYNC / 1e6 + fast
