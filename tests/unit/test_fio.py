# SPDX-License-Identifier: Apache-2.0
"""What is made of fio's output."""

from __future__ import annotations

import json
from typing import Any

import pytest

from flashbed.workload.base import WorkloadOutputError
from flashbed.workload.fio import Fio

IDLE = {"total_ios": 0, "io_bytes": 0, "runtime": 0, "clat_ns": {"mean": 0.0, "max": 0}}


def job(name: str, ios: int, mean_ns: float) -> dict[str, Any]:
    busy = {"total_ios": ios, "io_bytes": ios << 20, "runtime": 2000, "clat_ns": {"mean": mean_ns, "max": 9 * mean_ns}}
    return {"jobname": name, "error": 0, "read": busy, "write": IDLE}


def metrics(*jobs: dict[str, Any]) -> dict[str, float]:
    return Fio().metrics({"fio.json": json.dumps({"jobs": jobs}).encode()})


def test_jobs_count_together() -> None:
    both = metrics(job("one", 10, 1000.0), job("other", 30, 5000.0))
    assert both["bandwidth"] == 20
    assert both["latency_mean_us"] == 4
    assert both["latency_max_us"] == 45


def test_background_does_not_count() -> None:
    alone = metrics(job("reader", 10, 1000.0))
    assert metrics(job("background", 99, 7.0), job("reader", 10, 1000.0), job("background-2", 1, 1e9)) == alone
    assert alone["bandwidth"] == 5


def test_all_that_is_written_counts_as_written() -> None:
    writer = job("background-writer", 7, 1000.0)
    writer["read"], writer["write"] = writer["write"], writer["read"]
    assert metrics(writer, job("reader", 10, 1000.0))["written_bytes"] == 7 << 20


def test_only_background_is_told() -> None:
    with pytest.raises(WorkloadOutputError, match=r"no I/O but in the background"):
        metrics(job("background", 10, 1000.0))
