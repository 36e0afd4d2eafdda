# SPDX-License-Identifier: Apache-2.0
"""Whether a rate was steady, from series of which the verdict can be worked out by hand; and the series themselves."""

from __future__ import annotations

import pytest

from flashbed import steadiness, wear
from flashbed.workload import fio_series
from flashbed.workload.fio import Fio
from flashbed.workload.fio_parameters import WARM_UP_S, FioParameters, with_warm_up

MIB = 1 << 20


def verdict(first: float, second: float) -> str:
    """Of two halves of five seconds, MiB/s; each is ten parts of the series."""
    parts = [one * MIB / 2 for one in (first, second) for _ in range(10)]
    return steadiness.verdict([{"name": "", "seconds": 10.0, "bytes": parts}])


def test_halves_may_lie_a_fifth_of_the_mean_apart() -> None:
    assert verdict(10, 10) == "steady"
    assert verdict(9, 11) == "steady"  # 2 of 10
    assert verdict(11, 9) == "steady"
    assert verdict(8.9, 11.1) == (
        "not steady: rises from 8.9 MiB/s in its first half to 11.1 in its second, 22% of its mean"
    )
    assert verdict(11.1, 8.9) == (
        "not steady: falls from 11.1 MiB/s in its first half to 8.9 in its second, 22% of its mean"
    )


def test_a_start_without_anything_is_not_steady() -> None:
    assert verdict(0, 10) == "not steady: rises from 0 MiB/s in its first half to 10 in its second, 200% of its mean"


def test_bursts_are_steady_where_both_halves_have_as_many() -> None:
    """As merges of a flash stick: nothing for nine tenths of a second, then all at once."""
    burst = [0.0, 0.0, 0.0, 0.0, float(MIB)]
    assert steadiness.verdict([{"name": "", "seconds": 4.0, "bytes": burst * 4}]) == "steady"


def test_of_several_series_each_must_be_steady() -> None:
    one = {"name": "reader", "seconds": 1.0, "bytes": [5.0] * 20}
    other = {"name": "writer", "seconds": 1.0, "bytes": [float(MIB)] * 10 + [0.0] * 10}
    assert steadiness.verdict([one, one]) == "steady"
    assert steadiness.verdict([one, other]).startswith("not steady: writer: falls from ")


def test_without_a_series_nothing_is_said() -> None:
    assert steadiness.verdict([]) == ""
    assert steadiness.series([(0.0, 0.0)]) is None
    assert steadiness.series([(0.0, 5.0), (1.0, 5.0)]) is None


def test_a_count_is_cut_into_equal_parts_of_time() -> None:
    found = steadiness.series([(10.0, 100.0), (11.0, 100.0), (12.0, 300.0)])
    assert found is not None
    assert found.seconds == 2.0
    assert found.parts == (*[0.0] * 10, *[20.0] * 10)


def test_logs_of_bandwidth_become_a_count() -> None:
    # Between 300 and 500 ms an interval has no line; the last 50 ms have none either, and what is left: 40 KiB
    log = b"149, 1000, 0, 0, 0\n200, 1000, 0, 0, 0\n300, 1000, 0, 0, 0\n500, 2000, 0, 0, 0\n"
    moments = fio_series.of_rates([log], 100, 0.55, 1024 * (149 + 51 + 100 + 200 + 40))
    assert [(at, count / 1024) for at, count in moments] == [
        (0.0, 0.0),
        (0.149, 149.0),
        (0.2, 200.0),
        (0.3, 300.0),
        (0.4, 300.0),
        (0.5, 500.0),
        (0.55, 540.0),
    ]


@pytest.mark.parametrize(("moved_kib", "at_150"), [(350, 150.0), (200, 0.0)])
def test_a_first_line_that_is_late_has_what_is_left(moved_kib: int, at_150: float) -> None:
    log = b"250, 1000, 0, 0, 0\n350, 1000, 0, 0, 0\n"
    moments = dict(fio_series.of_rates([log], 100, 0.35, 1024 * moved_kib))
    assert moments.get(0.15, 1024 * at_150) == 1024 * at_150
    assert moments[0.35] == 1024 * moved_kib


def test_a_write_counts_when_its_flush_has_returned() -> None:
    log = b"""fio version 3 iolog
1000000 test.0 add
1000000 test.0 open
2000000 test.0 write 0 4096
2100000 test.0 sync 0 0
2500000 test.0 write 4096 4096
2600000 test.0 sync 0 0
4000000 test.0 close
"""
    assert fio_series.of_calls([log]) == [(2.0, 0.0), (2.5, 4096.0), (4.0, 8192.0)]


def test_what_the_device_took_counts_from_its_first_to_its_last_byte() -> None:
    notes = b"1.00 8 10\n1.02 8 10\n1.04 8 12\n1.07 8 16\n1.10 8 16\n"
    assert fio_series.of_progress(notes, 2) == [(1.02, 5120.0), (1.04, 6144.0), (1.07, 8192.0)]
    assert fio_series.of_progress(b"", 2) == []


def test_a_job_that_runs_for_a_time_is_warmed_up() -> None:
    job = "[global]\ntime_based=1\nruntime=20\n[one]\nrw=read\n[two]\ntime_based\nrw=write\n"
    assert with_warm_up(job).count(f"\nramp_time={WARM_UP_S}\n") == 2
    assert "time_based=1\nramp_time=5\nruntime" in with_warm_up(job)
    assert with_warm_up(job + "ramp_time=0\n") == job + "ramp_time=0\n"
    assert (
        with_warm_up("[one]\nsize=1m\n;time_based=1\ntime_based=0\n") == "[one]\nsize=1m\n;time_based=1\ntime_based=0\n"
    )
    files = Fio().files({"job": job, "variables": {}}, 1)
    assert b"ramp_time=5" in files["measure.fio"]


PATTERN = {"request": 4096, "file": 1 << 20, "flush": "fsync-each", "direct": False, "processes": 1, "queue_depth": 1,
           "io_size": 0}  # fmt: skip


@pytest.mark.parametrize(
    ("pattern", "allocate", "laid_out", "said"),
    [("write", None, False, "allocates"), ("write", "false", True, "overwrites"),
     ("randwrite", None, True, "overwrites"), ("randwrite", "true", False, "allocates"), ("randread", None, True, "")],
)  # fmt: skip
def test_a_file_is_laid_out_where_it_is_overwritten(pattern: str, allocate: str | None, laid_out: bool, said: str):
    given = {"pattern": pattern} | ({"allocate": allocate} if allocate else {})
    parameters = FioParameters(**PATTERN, **given).canonical()
    assert ("prepare.fio" in Fio().files(parameters, 1)) == laid_out
    assert Fio().writes(parameters) == said


def test_allocate_said_or_left_out_is_the_same_workload() -> None:
    said = FioParameters(**PATTERN, pattern="write", allocate="true").canonical()
    assert said == FioParameters(**PATTERN, pattern="write").canonical()


@pytest.mark.parametrize("pattern", ["read", "randread", "rw", "randrw"])
def test_what_is_read_cannot_be_new(pattern: str) -> None:
    (problem,) = FioParameters(**PATTERN, pattern=pattern, allocate=True).problems()
    assert problem.keys == ("allocate",)
    assert f'pattern = "{pattern}"' in problem.text
    assert not list(FioParameters(**PATTERN, pattern=pattern, allocate=False).problems())


def test_flash_is_fresh_until_it_was_written_as_much_as_it_holds() -> None:
    medium = {"page_bytes": 4096, "capacity_bytes": 100 * 4096}
    assert wear.freshness({"life": {"flash_programmed_pages": 99}}, medium) == (
        "fresh: 99 % of its capacity was ever programmed"
    )
    assert wear.freshness({"life": {"flash_programmed_pages": 100}}, medium) == ""
    assert wear.freshness({"life": {}}, {"capacity_bytes": 100}) == ""
