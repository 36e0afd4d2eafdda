# SPDX-License-Identifier: Apache-2.0
"""Whether a rate was steady, from series whose verdict can be worked out by hand; and the series themselves."""

from __future__ import annotations

from typing import Any

import pytest

from flashbed.guest_output import steadiness, wear
from flashbed.workload import WORKLOADS
from flashbed.workload.fio import series
from flashbed.workload.fio.jobs import WARM_UP_S, with_warm_up
from flashbed.workload.fio.pattern import FioParameters
from flashbed.workload.fio.workload import Fio
from tests.support.facts import Facts

MIB = 1 << 20


def verdict(first: float, second: float) -> str:
    """Return the verdict on two halves of five seconds at these rates in MiB/s; each is ten parts of the series."""
    return text([of_parts([half * MIB / 2 for half in (first, second) for _ in range(10)], seconds=10.0)])


UNKNOWN = "not known: it moved in too few steps to tell"


def text(moved: list[steadiness.Series]) -> str:
    return steadiness.steadiness(moved, "nothing tells").text


def of_parts(parts: list[float], *, seconds: float = 1.0, grain: float = 0.0, name: str = "") -> steadiness.Series:
    return steadiness.Series(seconds, tuple(parts), grain, name)


def test_halves_may_lie_a_fifth_of_the_mean_apart() -> None:
    assert verdict(10, 10) == "steady"
    assert verdict(9, 11) == "steady"  # 2 of 10
    assert verdict(11, 9) == "steady"
    assert verdict(8.9, 11.1) == Facts("not steady", "rises from 8.9 MiB/s", "11.1", "22 % of its mean")
    assert verdict(11.1, 8.9) == Facts("not steady", "falls from 11.1 MiB/s", "8.9", "22 % of its mean")


def test_a_start_without_anything_is_not_steady() -> None:
    assert verdict(0, 10) == Facts("not steady", "rises from 0 MiB/s", "10", "200 % of its mean")


def test_bursts_are_steady_where_both_halves_have_as_many() -> None:
    """A flash stick that merges takes nothing for nine tenths of a second, then everything at once."""
    burst = [0.0, 0.0, 0.0, 0.0, float(MIB)]
    assert text([of_parts(burst * 4, seconds=4.0)]) == "steady"


def halves(first: int, second: int, grain: int) -> str:
    """Return the verdict on two halves of so many MiB."""
    moved = of_parts([float(first * MIB), float(second * MIB)], grain=float(grain * MIB))
    return steadiness.steadiness([moved], "").state


def test_one_request_more_or_less_in_each_half_is_chance() -> None:
    # 5 against 4 requests are 22 % apart; of 9, one more or less in each half is 2 / 4.5 = 44 %
    assert halves(5, 4, 1) == "not known"
    assert halves(5, 5, 1) == "not known"
    # Too few steps for any verdict
    assert halves(0, 9, 1) == "not known"
    # With 20 steps, one in each half is 2 of 10: exactly the limit
    assert halves(10, 10, 1) == "steady"
    assert halves(9, 10, 1) == "not known"  # 2 of 9.5
    assert halves(11, 9, 1) == "steady"
    # 4 of 10 becomes 2 of 10 if one request moves in each half; 6 of 10 does not
    assert halves(12, 8, 1) == "not known"
    assert halves(13, 7, 1) == "not steady"
    # With 100 requests, 2 of 50 are chance, and 10 of 50 are allowed
    assert halves(45, 55, 1) == "steady"
    assert halves(44, 56, 1) == "not known"
    assert halves(43, 57, 1) == "not steady"


def test_the_grain_is_the_largest_step_of_the_count() -> None:
    series = steadiness.series([(0.0, 0.0), (0.5, 10.0), (0.6, 40.0), (2.0, 50.0)])
    assert series is not None
    assert series.grain == 30.0


def test_of_several_series_each_must_be_steady() -> None:
    reader = of_parts([5.0] * 20, name="reader")
    other = of_parts([float(MIB)] * 10 + [0.0] * 10, name="writer")
    coarse = of_parts([5.0] * 20, grain=50.0)
    assert text([reader, coarse]) == UNKNOWN
    assert text([coarse, other]).startswith("not steady: writer: falls from ")
    assert text([reader, reader]) == "steady"
    assert text([reader, other]).startswith("not steady: writer: falls from ")


def test_what_is_not_known_says_why() -> None:
    coarse = of_parts([5.0] * 20, grain=50.0)
    assert text([of_parts([5.0] * 20)]) == "steady"
    assert text([]) == "not known: nothing tells"
    assert text([coarse]) == UNKNOWN


@pytest.mark.parametrize(
    ("tool", "parameters", "why"),
    [
        ("bonnie", {}, "Bonnie's sequence tells no rate within a phase"),
        ("bonnie++", {}, "bonnie++ tells no rate within a phase"),
        ("iozone", {}, "IOzone's sequence tells no rate within a phase"),
        ("iozone", {"program": "iozone"}, "IOzone tells no rate within a phase"),
        ("fio", {"job": "a.fio"}, "fio kept no log of its rate, or the run was too short for one"),
        (
            "fio",
            {"pattern": "write", "direct": False, "flush": "none"},
            "nothing tells how what it wrote reached the medium while it was measured",
        ),
    ],
)
def test_each_tool_says_why_it_may_not_tell(tool: str, parameters: dict[str, object], why: str) -> None:
    assert WORKLOADS[tool].silent(parameters) == why


def test_without_time_or_bytes_there_is_no_series() -> None:
    assert steadiness.series([(0.0, 0.0)]) is None
    assert steadiness.series([(0.0, 5.0), (1.0, 5.0)]) is None


def test_a_count_is_cut_into_equal_parts_of_time() -> None:
    series = steadiness.series([(10.0, 100.0), (11.0, 100.0), (12.0, 300.0)])
    assert series is not None
    assert series.seconds == 2.0
    assert series.parts == (*[0.0] * 10, *[20.0] * 10)


def test_logs_of_bandwidth_become_a_count() -> None:
    # Between 300 and 500 ms an interval has no line; the last 50 ms have none either, and what is left: 40 KiB
    log = b"149, 1000, 0, 0, 0\n200, 1000, 0, 0, 0\n300, 1000, 0, 0, 0\n500, 2000, 0, 0, 0\n"
    moments = series.of_rates([log], 100, 0.55, 1024 * (149 + 51 + 100 + 200 + 40))
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
    moments = dict(series.of_rates([log], 100, 0.35, 1024 * moved_kib))
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
    assert series.of_calls([log]) == [(2.0, 0.0), (2.5, 4096.0), (4.0, 8192.0)]


def noted(end_s: float, sectors: int) -> dict[str, bytes]:
    """Return the files of a measurement that ended when the device had taken so many sectors: nothing until 3.0 s, then
    2 MiB each 0.2 s, of which the last note has 8 MiB.
    """
    notes = ["1.00 8 1000", "3.00 8 1000", *(f"{3 + k / 5:.2f} 8 {1000 + 4096 * k}" for k in range(1, 5))]
    idle = "now at {} nsecs\n .idle_sleeptime: 1 nsecs\n .iowait_sleeptime: 1 nsecs\n"
    return {
        "progress": "\n".join(notes).encode(),
        "idle.before": idle.format(900_000_000).encode(),
        "idle.measured": idle.format(round(end_s * 1e9)).encode(),
        "block.measured": f"1 2 8 4 5 6 {sectors} 8".encode(),
    }


def test_what_the_device_took_is_of_the_whole_run() -> None:
    """The series includes the wait before the first byte, and the bytes after the last note."""
    moments = series.of_progress(noted(4.2, 1000 + 4096 * 5), 2.4)
    counts = [(at, (count - 1000 * 512) / MIB) for at, count in moments]
    assert counts[0][0] == pytest.approx(1.8)
    assert counts[0][1] == 0
    assert counts[1:] == [(3.0, 0), (3.2, 2), (3.4, 4), (3.6, 6), (3.8, 8), (4.2, 10)]
    progress = steadiness.series(moments)
    assert progress is not None
    # 10 MiB in 2.4 s: the mean of the halves is this rate. Until 3.0 s, their middle, the device took nothing.
    first, second = (sum(half) / MIB / 1.2 for half in (progress.parts[:10], progress.parts[10:]))
    assert progress.seconds == pytest.approx(2.4)
    assert first == pytest.approx(0, abs=1e-6)
    assert (first + second) / 2 == pytest.approx(10 / 2.4)
    assert progress.grain == 2 * MIB
    assert text([progress]) == UNKNOWN  # five requests are too few for a verdict


@pytest.mark.parametrize(("filling_s", "state"), [(0.9, "steady"), (1.1, "not steady")])
def test_memory_may_fill_for_an_eleventh_of_the_run(filling_s: float, state: str) -> None:
    """Without a byte for a share w of 11 s, the halves differ by 2 w / (1 - w): 18 % and 22 %. With 500 requests of 1
    MiB, chance explains less than 1 % of that.
    """
    moments = [(0.0, 0.0), *((filling_s + 0.02 * k, float(MIB * k)) for k in range(round((11 - filling_s) / 0.02) + 1))]
    series = steadiness.series(moments)
    assert series is not None
    assert steadiness.steadiness([series], "").state == state


@pytest.mark.parametrize("missing", ["progress", "block.measured", "idle.measured"])
def test_without_notes_nothing_tells(missing: str) -> None:
    out = noted(4.2, 21480)
    assert series.of_progress({name: data for name, data in out.items() if name != missing}, 2.4) == []


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


@pytest.mark.parametrize("think", ["0", "3000", "1us"])
def test_a_job_with_a_think_time_is_warmed_up_too(think: str) -> None:
    job = "[one]\ntime_based=1\nthinktime=${think}\n"
    files = Fio().files({"job": job, "variables": {"think": think}}, 1)
    assert b"time_based=1\nramp_time=5\nthinktime" in files["measure.fio"]


@pytest.mark.parametrize("own", ["write_lat_log=/out/mine", " log_avg_msec=500", "per_job_logs=0"])
def test_a_job_with_logs_of_its_own_keeps_them(own: str) -> None:
    """fio averages all logs of a job over the same interval. With the lab's log, a job's single latencies became
    averages over 100 ms.
    """

    def script(job: str) -> bytes:
        return Fio().files({"job": job, "variables": {}}, 1)["measure"]

    assert b"write_bw_log" in script("[one]\nrw=read\nsize=1m\n;write_lat_log=/out/x\n")
    assert b"_log" not in script(f"[one]\nrw=read\nsize=1m\n{own}\n").replace(b"log.txt", b"")


PATTERN: dict[str, Any] = {
    "request": 4096,
    "file": 1 << 20,
    "flush": "fsync-each",
    "direct": False,
    "processes": 1,
    "queue_depth": 1,
    "io_size": 0,
}


@pytest.mark.parametrize(
    ("pattern", "allocate", "laid_out", "writes"),
    [("write", None, False, "allocates"), ("write", "false", True, "overwrites"),
     ("randwrite", None, True, "overwrites"), ("randwrite", "true", False, "allocates"), ("randread", None, True, "")],
)  # fmt: skip
def test_a_file_is_laid_out_where_it_is_overwritten(
    pattern: str, allocate: str | None, laid_out: bool, writes: str
) -> None:
    changed = {"pattern": pattern} | ({"allocate": allocate} if allocate else {})
    parameters = FioParameters.model_validate({**PATTERN, **changed}).canonical()
    assert ("prepare.fio" in Fio().files(parameters, 1)) == laid_out
    assert Fio().writes(parameters) == writes


def test_an_explicit_default_of_allocate_is_the_same_workload() -> None:
    canonical = FioParameters.model_validate({**PATTERN, "pattern": "write", "allocate": "true"}).canonical()
    assert canonical == FioParameters(**PATTERN, pattern="write").canonical()


@pytest.mark.parametrize("pattern", ["read", "randread", "rw", "randrw"])
def test_a_file_that_is_read_cannot_be_new(pattern: str) -> None:
    (problem,) = FioParameters.model_validate({**PATTERN, "pattern": pattern, "allocate": True}).problems()
    assert problem.keys == ("allocate",)
    assert f'pattern = "{pattern}"' in problem.text
    assert not list(FioParameters.model_validate({**PATTERN, "pattern": pattern, "allocate": False}).problems())


def test_flash_is_fresh_until_it_was_written_as_much_as_it_holds() -> None:
    medium = {"page_bytes": 4096, "capacity_bytes": 100 * 4096}
    assert wear.freshness({"life": {"flash_programmed_pages": 99}}, medium).text == (
        "fresh: 99 % of its capacity was ever programmed"
    )
    assert not wear.freshness({"life": {"flash_programmed_pages": 100}}, medium)
    assert not wear.freshness({"life": {}}, {"capacity_bytes": 100})


def test_moments_more_than_an_interval_apart_are_several_steps() -> None:
    """fio's log has no line for the last interval, and may have none for the first."""
    series = steadiness.series([(0.0, 0.0), (0.1, 10.0), (0.3, 34.0)], interval_s=0.1)
    assert series is not None
    assert series.grain == pytest.approx(12.0)
