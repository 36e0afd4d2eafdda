# SPDX-License-Identifier: Apache-2.0
"""The metrics of fio's output."""

from __future__ import annotations

import json
from typing import Any

import pytest

from flashbed.workload.base import WorkloadOutputError
from flashbed.workload.fio import latency
from flashbed.workload.fio.jobs import FLUSHED_EACH, fixed_numbers
from flashbed.workload.fio.pattern import MOST_LOGGED, FioParameters
from flashbed.workload.fio.workload import Fio


def waits(bins: dict[int, int]) -> dict[str, Any]:
    """Return a distribution in ns, as fio writes it with json+."""
    if not bins:
        return {"min": 0, "max": 0, "mean": 0.0, "stddev": 0.0, "N": 0}
    number = sum(bins.values())
    mean = sum(value * count for value, count in bins.items()) / number
    counts = {str(value): count for value, count in bins.items()}
    return {"min": min(bins), "max": max(bins), "mean": mean, "N": number, "bins": counts}


def direction(ios: int, bins: dict[int, int]) -> dict[str, Any]:
    busy = {"total_ios": ios, "io_bytes": ios << 20, "runtime": 2000 if ios else 0}
    return {**busy, "lat_ns": waits(bins), "clat_ns": waits(bins)}


IDLE = direction(0, {})


def job(name: str, ios: int, mean_ns: float, flushes: dict[int, int] | None = None, **more: Any) -> dict[str, Any]:
    """Return a job that reads. Its requests all take the same time."""
    sync = {"total_ios": sum((flushes or {}).values()), "lat_ns": waits(flushes or {})}
    read = direction(ios, {int(mean_ns): ios} if ios else {})
    return {"jobname": name, "error": 0, "read": read, "write": IDLE, "sync": sync, **more}


def metrics(*jobs: dict[str, Any]) -> dict[str, float]:
    return Fio().metrics({"fio.json": json.dumps({"jobs": jobs}).encode()})


def test_jobs_count_together() -> None:
    both = metrics(job("one", 10, 1000.0), job("other", 30, 5000.0))
    assert both["bandwidth"] == 20
    assert both["latency_mean_us"] == 4
    assert both["latency_max_us"] == 5
    assert (both["latency_p50_us"], both["latency_p95_us"], both["latency_p99_us"]) == (5, 5, 5)
    assert "flush_max_us" not in both


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


def test_the_whole_wait_counts_and_not_its_second_half() -> None:
    queued = job("measure", 1, 1000.0)
    queued["read"]["lat_ns"] = waits(
        {555_000: 1}
    )  # as with libaio: 1 us after fio's submission returned, 555 us in all
    assert metrics(queued)["latency_max_us"] == metrics(queued)["latency_p50_us"] == 555


def test_a_flush_is_waited_for_like_a_request() -> None:
    computed = metrics(job("logger", 97, 7000.0, {1_000_000: 2, 3_300_000_000: 1}))
    assert (computed["latency_p50_us"], computed["latency_p95_us"]) == (7, 7)
    assert computed["latency_p99_us"] == 1000
    assert computed["latency_max_us"] == computed["flush_max_us"] == 3_300_000
    assert computed["latency_mean_us"] == (97 * 7 + 2 * 1000 + 3_300_000) / 100
    assert (computed["flush_p50_us"], computed["flush_p95_us"], computed["flush_p99_us"]) == (
        1000,
        3_300_000,
        3_300_000,
    )
    assert computed["flush_mean_us"] == pytest.approx(3_302_000 / 3)


def test_writes_and_the_flush_behind_them_are_a_commit() -> None:
    commits = {"commit": {"lat_ns": waits({1_200_000: 99, 8_000_000: 1})}}
    computed = metrics(job("logger", 200, 7000.0, {1_100_000: 100}, **commits))
    assert computed["latency_p50_us"] == 7  # of the writes into the page cache
    assert (computed["commit_p50_us"], computed["commit_p99_us"], computed["commit_max_us"]) == (1200, 1200, 8000)
    assert computed["commit_mean_us"] == pytest.approx(1268)
    assert not [name for name in metrics(job("reader", 2, 7.0)) if name.startswith("commit")]


def test_without_bins_several_distributions_have_no_percentiles() -> None:
    both = job("old", 4, 7000.0, {1_000_000: 4})
    for distribution in (both["read"]["lat_ns"], both["sync"]["lat_ns"]):
        del distribution["bins"]
        distribution["percentile"] = {"50.000000": 6000, "99.000000": 6500}
    computed = metrics(both)
    assert "latency_p50_us" not in computed
    assert (computed["flush_p50_us"], computed["flush_p99_us"], computed["latency_max_us"]) == (6, 6.5, 1000)


def test_a_job_whose_latencies_are_not_kept_has_none() -> None:
    reduced = job("reduced", 4, 7000.0)
    reduced["read"]["lat_ns"] = waits({})
    assert not [name for name in metrics(reduced) if name.startswith(("latency", "flush"))]


# Two requests, each flushed, on fio's clock in us. fio takes 2 us of its own for each call; the calls take 10, 100, 20
# and 300 us. fio does not count the last one.
CALLS = b"""fio version 3 iolog
1 test.0 add
40 test.0 open
50 test.0 write 0 4096
62 test.0 sync 0 0
164 test.0 write 4096 4096
186 test.0 sync 0 0
488 test.0 close
"""


def flushed_each() -> dict[str, Any]:
    measured_job = job("measure", 0, 1.0, {100_000: 1}, desc=FLUSHED_EACH)
    return measured_job | {"read": IDLE, "write": direction(2, {10_000: 1, 20_000: 1})}


def test_a_request_lasts_until_its_flush_has_returned() -> None:
    computed = Fio().metrics({"fio.json": json.dumps({"jobs": [flushed_each()]}).encode(), "calls.0.log": CALLS})
    assert computed["latency_mean_us"] == 215
    assert (computed["latency_p50_us"], computed["latency_p95_us"], computed["latency_max_us"]) == (110, 320, 320)
    assert (computed["flush_p50_us"], computed["flush_max_us"], computed["flush_mean_us"]) == (100, 300, 200)
    assert (computed["commit_p50_us"], computed["commit_mean_us"], computed["commit_max_us"]) == (110, 215, 320)


def test_processes_have_logs_of_their_own() -> None:
    two = [flushed_each()]
    two[0]["sync"]["lat_ns"], two[0]["write"] = waits({100_000: 2}), direction(4, {10_000: 2, 20_000: 2})
    out = {"fio.json": json.dumps({"jobs": two}).encode(), "calls.0.log": CALLS, "calls.1.log": CALLS}
    assert Fio().metrics(out)["latency_p50_us"] == 110
    assert Fio().metrics(out)["latency_p95_us"] == 320


def test_a_file_that_is_gone_through_twice_is_closed_and_opened_in_between() -> None:
    again = b"""700 test.0 open
701 test.0 sync 4096 0
705 test.0 write 0 4096
737 test.0 sync 0 0
1139 test.0 close
"""
    both = flushed_each()
    both["sync"]["lat_ns"] = waits({100_000: 1, 300_000: 1, 2_000: 1})
    both["write"] = direction(3, {10_000: 1, 20_000: 1, 30_000: 1})
    computed = Fio().metrics({"fio.json": json.dumps({"jobs": [both]}).encode(), "calls.0.log": CALLS + again})
    assert (computed["latency_p50_us"], computed["latency_max_us"]) == (320, 430)
    assert computed["latency_mean_us"] == pytest.approx((110 + 320 + 430) / 3)
    assert computed["flush_max_us"] == 400


def test_without_a_log_commits_tell_of_requests_and_their_flushes() -> None:
    computed = metrics(flushed_each() | {"commit": {"lat_ns": waits({110_000: 1})}})
    assert computed["latency_p99_us"] == computed["commit_p99_us"] == computed["latency_mean_us"] == 110
    assert computed["flush_max_us"] == 100


def test_without_a_log_another_fio_tells_the_mean_alone_of_requests_and_their_flushes() -> None:
    computed = metrics(flushed_each())
    assert computed["latency_mean_us"] == 115
    assert not [name for name in computed if name.startswith("latency") and name != "latency_mean_us"]
    assert computed["flush_max_us"] == 100


@pytest.mark.parametrize("log", [b"", CALLS.replace(b"488 test.0 close\n", b""), CALLS.replace(b"62 ", b"x ")])
def test_a_log_that_is_not_whole_is_told(log: bytes) -> None:
    with pytest.raises(WorkloadOutputError, match="log of fio's calls"):
        latency.logged_calls([log], 130_000)


PARAMETERS = {"pattern": "randwrite", "request": 4096, "file": 1 << 20, "flush": "fsync-each", "direct": False,
              "processes": 2, "queue_depth": 1, "io_size": 0}  # fmt: skip


def test_a_process_that_flushes_each_request_has_a_section_and_a_log() -> None:
    text = Fio().files(PARAMETERS, 3)["measure.fio"].decode()
    assert [line for line in text.splitlines() if line.startswith(("[", "write_iolog", "filename", "numjobs"))] == [
        "[measure]", "filename_format=test.0", "numjobs=1", "write_iolog=/out/calls.0.log",
        "[measure.1]", "filename_format=test.1", "numjobs=1", "write_iolog=/out/calls.1.log",
    ]  # fmt: skip
    assert text.count("\nfsync=1\nend_fsync=1\n") == 2  # fio itself does not count the last flush


@pytest.mark.parametrize(
    "other", [{"flush": "fsync"}, {"pattern": "randread"}, {"file": 4096 * (MOST_LOGGED // 2 + 1)}]
)
def test_no_log_where_it_tells_nothing_or_grows_too_large(other: dict[str, Any]) -> None:
    text = Fio().files(PARAMETERS | other, 3)["measure.fio"].decode()
    assert "write_iolog" not in text
    assert "numjobs=2\n" in text


def test_a_time_that_ends_with_the_close_is_fios_own() -> None:
    text = Fio().files(PARAMETERS | {"flush": "close"}, 3)["measure.fio"].decode()
    assert "end_close=1\n" in text
    assert "fsync" not in text
    assert "end_close" not in Fio().files(PARAMETERS | {"flush": "fsync"}, 3)["measure.fio"].decode()


def test_a_warm_cache_is_filled_before_the_measurement_and_not_dropped() -> None:
    warm = Fio().files(PARAMETERS | {"pattern": "randread", "flush": "none", "cache": "warm"}, 3)
    assert warm["warm"] == b"cat /mnt/test.* >/dev/null\n"
    assert "invalidate=0\n" in warm["measure.fio"].decode()
    cold = Fio().files(PARAMETERS | {"pattern": "randread", "flush": "none", "cache": "cold"}, 3)
    assert "warm" not in cold
    assert "invalidate" not in cold["measure.fio"].decode()


@pytest.mark.parametrize(
    ("pattern", "key"),
    [({"pattern": "read", "flush": "close"}, "flush"), ({"pattern": "write", "cache": "warm"}, "cache"),
     ({"pattern": "read", "cache": "warm", "direct": True}, "cache"), ({"pattern": "randwrite", "cache": "warm"}, ""),
     ({"pattern": "write", "flush": "close"}, "")],
)  # fmt: skip
def test_what_a_close_and_a_warm_cache_cannot_be_of(pattern: dict[str, Any], key: str) -> None:
    problems = FioParameters(request=4096, file=1 << 20, **pattern).problems()
    assert [problem.keys for problem in problems] == ([(key,)] if key else [])


def test_less_than_the_file_can_be_asked_for() -> None:
    files = Fio().files(PARAMETERS | {"io_size": 65536}, 3)
    assert "size=1048576\n" in files["prepare.fio"].decode()
    assert "io_size" not in files["prepare.fio"].decode()
    text = files["measure.fio"].decode()
    assert (text.count("\nsize=1048576\n"), text.count("\nio_size=65536\n")) == (2, 2)  # two processes
    assert "io_size" not in Fio().files(PARAMETERS, 3)["measure.fio"].decode()
    (problem,) = FioParameters(pattern="read", request=4096, file=1 << 20, io_size=2048).problems()
    assert problem.keys == ("io_size",)


def test_the_seed_decides_on_random_numbers() -> None:
    own = {"job": "[one]\nrw=randread\n", "variables": {}}
    for text in (Fio().files(PARAMETERS, 3)["measure.fio"], Fio().files(own, 3)["measure"].replace(b" --", b"\n")):
        lines = text.decode().splitlines()
        assert {"randseed=3", "randrepeat=0", "allrandrepeat=0"} <= set(lines)


@pytest.mark.parametrize(
    ("line", "option"),
    [("randseed=7", "randseed"), (" allrandrepeat = 1", "allrandrepeat"), ("randrepeat", "randrepeat"),
     ("randrepeat=0", None), ("randrepeat = 0 ; as before", None), (";randseed=7", None), ("rw=randread", None)],
)  # fmt: skip
def test_a_job_that_fixes_its_random_numbers_is_found(line: str, option: str | None) -> None:
    assert fixed_numbers(f"[global]\nsize=1m\n{line}\n[one]\n") == option
