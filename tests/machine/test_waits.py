# SPDX-License-Identifier: Apache-2.0
"""fio's measurements in a guest: the program's waits, flushes too, and the offsets that the seed chooses."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from flashbed.execution import run
from flashbed.execution.repetition import Finished
from flashbed.guest_output import request_log
from flashbed.study.loading import load_study
from tests.support.fixture_types import Measure, StudyWriter

READS = """
    [axes]
    pattern = ["randread"]
    [workload]
    tool = "fio"
    request = "4k"
    file = "1M"
    direct = true
    [[trace]]
    title = "Where it reads"
"""

FLUSHED = """
    [workload]
    tool = "fio"
    pattern = "randwrite"
    request = "4k"
    file = "256k"
    flush = "fsync-each"
    processes = 2
"""

OWN = """
    [axes]
    every = ["8"]
    [workload]
    tool = "fio"
    job = "logger.fio"
"""

LOGGER = "[logger]\nrw=write\nbs=4k\nsize=256k\nfsync=${every}\n"

QUEUED = """
    [workload]
    tool = "fio"
    pattern = "randread"
    request = "64k"
    file = "1M"
    direct = true
    queue_depth = 4
"""


def fio_of(finished: Finished) -> dict[str, Any]:
    [job] = json.loads(finished.files["out/fio.json"])["jobs"]
    return dict(job)


def places(finished: Finished, folder: Path) -> list[int]:
    """Return the offsets that the measured job read, in its order."""
    for name, data in finished.files.items():
        if name.startswith("out/"):
            (folder / name).parent.mkdir(exist_ok=True)
            (folder / name).write_bytes(data)
    reads = [request for request in request_log.read(folder / "out").requests if request.operation == "read"]
    return [
        request.offset_bytes for request in reads if request.length_bytes == 4096 and request.offset_bytes is not None
    ][-256:]


def test_seeds_ask_for_other_places_and_a_seed_for_the_same(
    study_file: StudyWriter, measure: Measure, tmp_path: Path
) -> None:
    text = study_file(READS, filesystem="ext2", seeds=2)
    first, second = run.prepare(load_study(text))
    again = [
        measure(repetition, tmp_path / name) for name, repetition in (("1", first), ("2", second), ("again", first))
    ]
    # The files lie elsewhere by up to 1 MiB, so what counts is how far it is from one read to the next.
    steps = [[later - earlier for earlier, later in pairwise(places(finished, tmp_path))] for finished in again[:2]]
    assert len(steps[0]) == len(steps[1]) == 255
    assert sum(place == other for place, other in zip(steps[0], steps[1], strict=True)) < 10
    assert again[0].result == again[2].result
    assert {n: d for n, d in again[0].files.items() if n != "console.log"} == {
        n: d for n, d in again[2].files.items() if n != "console.log"
    }


def test_each_request_is_flushed_and_waited_for(study_file: StudyWriter, measure: Measure, tmp_path: Path) -> None:
    [repetition] = run.prepare(load_study(study_file(FLUSHED, filesystem="ext2")))
    finished = measure(repetition, tmp_path / "cell")
    metrics, job = finished.result.measurement.metrics, fio_of(finished)
    assert job["write"]["total_ios"] == 128
    assert job["sync"]["total_ios"] == 126  # of two processes; fio does not count the flush at the end
    for number in range(2):
        calls = [line.split()[2] for line in finished.files[f"out/calls.{number}.log"].decode().splitlines()[1:]]
        assert [call for call in calls if call in ("write", "sync")] == ["write", "sync"] * 64
    wait, writes, flushes = metrics["latency_mean_us"], job["write"]["clat_ns"]["mean"], job["sync"]["lat_ns"]["mean"]
    assert wait == pytest.approx((writes + flushes) / 1e3, rel=0.05)
    assert metrics["latency_max_us"] >= 0.99 * metrics["flush_max_us"] > 1000
    assert metrics["latency_p50_us"] >= 0.98 * metrics["flush_p50_us"]
    assert metrics["runtime_s"] * 1e6 * 2 >= 128 * wait


def test_flushes_of_a_job_of_the_users_count(study_file: StudyWriter, measure: Measure, tmp_path: Path) -> None:
    (tmp_path / "logger.fio").write_text(LOGGER)
    [repetition] = run.prepare(load_study(study_file(OWN, filesystem="fat16:cluster=32k")))
    finished = measure(repetition, tmp_path / "cell")
    metrics, job = finished.result.measurement.metrics, fio_of(finished)
    assert job["sync"]["total_ios"] == 7
    assert metrics["latency_max_us"] == metrics["flush_max_us"] == job["sync"]["lat_ns"]["max"] / 1e3
    assert metrics["latency_p99_us"] >= 0.98 * metrics["flush_p95_us"] > 100 * metrics["latency_p50_us"]
    total = 64 * job["write"]["lat_ns"]["mean"] + 7 * job["sync"]["lat_ns"]["mean"]
    assert metrics["latency_mean_us"] == pytest.approx(total / 71 / 1e3)


def test_a_request_in_a_queue_is_waited_for_until_it_is_done(
    study_file: StudyWriter, measure: Measure, tmp_path: Path
) -> None:
    [repetition] = run.prepare(load_study(study_file(QUEUED, filesystem="ext2")))
    metrics = measure(repetition, tmp_path / "cell").result.measurement.metrics
    # Four requests are under way at all times, so that each takes four times as long as one comes after the other.
    assert metrics["latency_mean_us"] == pytest.approx(4e6 / metrics["iops"], rel=0.2)
