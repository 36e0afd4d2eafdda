# SPDX-License-Identifier: Apache-2.0
"""Two sets of results: what differs, where that begins, and whether chance would do it."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from itertools import product
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flashbed.analysis.ratio import is_ahead, ratio, seeds_agree, spread, two_sided
from flashbed.common.errors import InputError
from flashbed.comparing import change, presentation, regression_limits, result_set
from flashbed.comparing.change import BeginsWith, Cause, FlushChange
from flashbed.comparing.compared_cells import Compared, TextChange, compare_sets
from tests.support.facts import Facts
from tests.support.made_up_exports import COUNTED, Row, write


def of(a: Path | str, b: Path | str) -> Compared:
    return compare_sets(result_set.read_all(str(a))[""], result_set.read_all(str(b))[""])


@pytest.mark.parametrize(
    ("t", "freedom", "expected"),
    [(12.706, 1, 0.05), (4.303, 2, 0.05), (3.182, 3, 0.05), (2.776, 4, 0.05), (3.169, 10, 0.01), (2.947, 15, 0.01)],
)
def test_students_t_is_that_of_the_tables(t: float, freedom: int, expected: float) -> None:
    """Critical values as every textbook prints them."""
    assert two_sided(t, freedom) == pytest.approx(expected, rel=2e-3)
    assert two_sided(-t, freedom) == two_sided(t, freedom)


def test_a_change_of_the_same_share_with_each_seed_is_telling() -> None:
    """Pairs of seeds show a change of 1 %, although the seeds differ by 30 %."""
    before = {1: 10.0, 2: 11.5, 3: 13.0}
    comparison = change.change_of(
        before,
        {seed: value * share for (seed, value), share in zip(before.items(), (1.0099, 1.01, 1.0101), strict=True)},
    )
    assert comparison is not None
    assert comparison.mean == pytest.approx(0.01, rel=1e-3)
    assert (comparison.least, comparison.most) == pytest.approx((0.0099, 0.0101))
    assert comparison.by_seed == pytest.approx(0.3, abs=0.001)
    assert comparison.is_telling


def test_a_shuffle_is_not() -> None:
    comparison = change.change_of({1: 10.0, 2: 10.2, 3: 9.9}, {1: 10.2, 2: 9.9, 3: 10.05})
    assert comparison is not None
    assert not comparison.is_telling
    # By hand: logs of 1.02, 33/34 and 67/66 have the mean 0.0016625 and the deviation 0.027397, so t = 0.1051; and with
    # two degrees of freedom the chance is 1 - t / sqrt(2 + t * t).
    assert comparison.chance == pytest.approx(0.92589, abs=1e-5)


def by_seed(values: Sequence[float]) -> dict[int, float]:
    return dict(enumerate(values, 1))


@pytest.mark.parametrize(
    ("percent", "ahead", "telling"),
    [
        pytest.param((102, 105, 112), True, False, id="three seeds on one side, which chance does to one in four"),
        pytest.param((105, 105.1, 105.2), True, True, id="both"),
        pytest.param((100.9, 100.91, 100.92), False, True, id="too little to choose by"),
        pytest.param((98, 104, 103), False, False, id="neither"),
    ],
)
def test_a_report_and_a_comparison_of_the_same_seeds(percent: tuple[float, ...], ahead: bool, telling: bool) -> None:
    """docs/compare.md has these figures."""
    before, after = by_seed([100.0] * len(percent)), by_seed(percent)
    comparison = change.change_of(before, after)
    assert comparison is not None
    assert (is_ahead(ratio([(after, before)])), comparison.is_telling) == (ahead, telling)


@pytest.mark.parametrize("seeds", [2, 3, 4, 5])
def test_seeds_of_equal_builds_agree_by_chance_as_often_as_the_docs_say(seeds: int) -> None:
    """Each seed goes up or down. Of all combinations, all up and all down agree."""
    sizes = [1.01, 1.2, 1.05, 1.5, 1.02][:seeds]
    ways = list(product((1, -1), repeat=seeds))
    agree = sum(seeds_agree(spread([size**way for size, way in zip(sizes, ways_of, strict=True)])) for ways_of in ways)
    assert agree / len(ways) == 1 / 2 ** (seeds - 1)


def test_what_a_report_finds_undecided_is_no_change() -> None:
    """By Student's test alone these seven seeds would be one; one in 116 that are drawn by chance is as clear."""
    after = by_seed([109, 108, 108, 109, 100, 100, 110])
    comparison = change.change_of(by_seed([100] * 7), after)
    assert comparison is not None
    assert comparison.chance == pytest.approx(0.00867, abs=1e-5)
    assert not comparison.is_telling


@given(st.lists(st.floats(0.5, 2), min_size=2, max_size=12))
def test_seeds_agree_wherever_a_comparison_finds_a_change(after: list[float]) -> None:
    comparison = change.change_of(by_seed([1.0] * len(after)), by_seed(after))
    rule = ratio([(by_seed(after), by_seed([1.0] * len(after)))])
    assert comparison is None or not comparison.is_telling or (rule is not None and seeds_agree(rule))


def test_the_same_is_no_change_and_one_seed_tells_nothing_of_chance() -> None:
    assert change.change_of({1: 2.0, 2: 3.0}, {1: 2.0, 2: 3.0, 3: 9.0}) is None
    comparison = change.change_of({1: 2.0}, {1: 3.0})
    assert comparison is not None
    assert (comparison.chance, comparison.is_telling) == (None, False)
    assert comparison.mean == pytest.approx(0.5)


def test_from_zero_is_without_end() -> None:
    comparison = change.change_of({1: 0.0, 2: 0.0}, {1: 1.0, 2: 1.0})
    assert comparison is not None
    assert math.isinf(comparison.mean)


@pytest.mark.parametrize(
    ("other", "begins_with", "flushes"),
    [
        ({"cpu_ns": 1_010_000}, BeginsWith.CODE, FlushChange.NONE),
        ({"host_writes": 90, "cpu_ns": 1_010_000}, BeginsWith.REQUESTS, FlushChange.NONE),
        (
            {"host_written_bytes": 413_696, "host_writes": 101, "flash_programmed_pages": 121},
            BeginsWith.BYTES,
            FlushChange.NONE,
        ),
        ({"host_flushes": 60, "host_writes": 130, "cpu_ns": 1_010_000}, BeginsWith.FLUSHES, FlushChange.MORE),
        ({"host_flushes": 20, "host_writes": 90, "cpu_ns": 1_010_000}, BeginsWith.FLUSHES, FlushChange.FEWER),
        ({"host_flushes": 60, "host_written_bytes": 413_696}, BeginsWith.BYTES, FlushChange.MORE),
        ({"flash_erased_blocks": 3}, BeginsWith.MEDIUM, FlushChange.NONE),
        ({}, BeginsWith.MOMENTS, FlushChange.NONE),
    ],
)
def test_a_difference_begins_where_what_is_counted_first_differs(
    other: dict[str, int], begins_with: BeginsWith, flushes: FlushChange
) -> None:
    found = change.cause([(COUNTED, {**COUNTED, **other})] * 2)
    assert (found.begins_with, found.flushes) == (begins_with, flushes)
    assert found.moved["CPU time"] == pytest.approx(0.01 if "cpu_ns" in other else 0)


def test_a_report_without_counters_does_not_tell() -> None:
    assert change.cause([(COUNTED, {})]) == Cause(BeginsWith.UNKNOWN, FlushChange.NONE, {})


def test_flushes_that_seeds_move_to_either_side_are_called_neither_more_nor_less() -> None:
    by_seed = [{**COUNTED, "host_flushes": COUNTED["host_flushes"] + more} for more in (10, -10)]
    found = change.cause([(COUNTED, counted) for counted in by_seed])
    assert (found.begins_with, found.flushes) == (BeginsWith.FLUSHES, FlushChange.MIXED)
    assert "more often with some seeds and less often with others" in presentation.explained(
        found.begins_with, found.flushes
    )


def test_every_cause_has_its_words() -> None:
    possible: set[tuple[BeginsWith, FlushChange]] = {
        (begins_with, FlushChange.NONE) for begins_with in BeginsWith if begins_with is not BeginsWith.FLUSHES
    }
    for flushes in (FlushChange.MORE, FlushChange.FEWER, FlushChange.MIXED):
        possible |= {(BeginsWith.BYTES, flushes), (BeginsWith.FLUSHES, flushes)}
    assert len({presentation.explained(*cause) for cause in possible}) == len(possible)


def test_keys_may_differ_and_nothing_else(tmp_path: Path) -> None:
    def rename(row: Row) -> None:
        row["key"] = "another"

    comparison = of(write(tmp_path / "a"), write(tmp_path / "b", rename))
    assert all(cell.is_same for cell in comparison.cells)
    assert list(presentation.lines(comparison, [], []))[-1] == "same bytes: 2 cells, 6 repetitions"


def test_one_percent_more_cpu_time_is_found_and_named(tmp_path: Path) -> None:
    def slow(row: Row) -> None:
        if row["filesystem"] == "f2fs":
            row["counted"]["cpu_ns"] += 10_000 + row["seed"]

    comparison = of(write(tmp_path / "a"), write(tmp_path / "b", slow))
    assert [cell.is_same for cell in comparison.cells] == [True, False]
    limits_ = regression_limits.default([comparison])
    assert [limit.metric for limit in limits_] == ["bandwidth", "latency_mean_us", "cpu_time"]
    [bad] = regression_limits.broken(limits_, comparison)
    assert bad.metric == "cpu_time"
    assert bad.share == pytest.approx(0.01, rel=1e-3)
    assert presentation.broken_line(comparison, bad) == ("f2fs: CPU time is worse by 1 % (3 seeds); begins with code")


def test_other_addresses_of_the_same_code_are_no_regression(tmp_path: Path) -> None:
    """A rebuild moves all seeds to one side by a little; who wants to know says so."""

    def rebuilt(row: Row) -> None:
        row["counted"]["cpu_ns"] += 1_600 + row["seed"]
        row["metrics"]["bandwidth"] *= 0.9994

    comparison = of(write(tmp_path / "a"), write(tmp_path / "b", rebuilt))
    assert all(change.is_telling for cell in comparison.cells for change in cell.changes.values())
    assert list(regression_limits.broken(regression_limits.default([comparison]), comparison)) == []
    assert len(list(regression_limits.broken(regression_limits.parse(["cpu_time=0", "bandwidth=0"]), comparison))) == 4


def test_a_limit_holds_what_is_better_and_what_is_within_it(tmp_path: Path) -> None:
    def faster(row: Row) -> None:
        row["metrics"]["bandwidth"] *= 1.05
        row["metrics"]["latency_mean_us"] *= 1.01 + row["seed"] / 1e5

    comparison = of(write(tmp_path / "a"), write(tmp_path / "b", faster))
    assert (
        list(regression_limits.broken(regression_limits.parse(["bandwidth=0", "latency_mean_us=2 %"]), comparison))
        == []
    )
    assert len(list(regression_limits.broken(regression_limits.parse(["latency_mean_us=0.5"]), comparison))) == 2


def test_a_shuffle_breaks_no_limit_and_one_seed_does(tmp_path: Path) -> None:
    def shuffled(row: Row) -> None:
        row["metrics"]["bandwidth"] *= {1: 0.9, 2: 1.1, 3: 0.95}[row["seed"]]

    limits_ = regression_limits.parse(["bandwidth=1"])
    assert list(regression_limits.broken(limits_, of(write(tmp_path / "a"), write(tmp_path / "b", shuffled)))) == []
    one = of(write(tmp_path / "c", seeds=[1]), write(tmp_path / "d", shuffled, seeds=[1]))
    assert len(list(regression_limits.broken(limits_, one))) == 2


@pytest.mark.parametrize(
    ("text", "kind", "message"),
    [
        ("bandwith=2", InputError, "bandwith: no figure of these results; did you mean"),
        ("requested_bytes=2", InputError, "neither more nor less"),
        ("flush_max_us=2", regression_limits.NotComparable, "nothing could break it"),
    ],
)
def test_a_limit_that_nothing_can_break_is_refused(
    tmp_path: Path, text: str, kind: type[Exception], message: str
) -> None:
    comparison = of(write(tmp_path / "a"), write(tmp_path / "b"))
    with pytest.raises(kind, match=message.split(";")[0]):
        regression_limits.check(regression_limits.parse([text]), [comparison])


@pytest.mark.parametrize("text", ["bandwidth", "bandwidth=", "bandwidth=-1", "bandwidth=nan", "bandwidth=inf"])
def test_a_limit_wants_a_number(text: str) -> None:
    with pytest.raises(InputError, match="METRIC=PERCENT"):
        regression_limits.parse([text])


def test_two_values_of_an_axis_are_two_sets(tmp_path: Path) -> None:
    folder = write(tmp_path / "a")
    comparison = of(f"{folder}@filesystem=ext2", f"{folder}@filesystem=f2fs")
    assert [cell.place for cell in comparison.cells] == [()]
    assert "filesystem: ext2 / f2fs" in list(presentation.other_inputs(comparison.a, comparison.b))


def test_a_path_and_a_value_may_have_what_parts_them(tmp_path: Path) -> None:
    """An @, as in somebody's folder or a revision; a comma, as between two patches."""
    kernels = ("./linux@v6.1..mine", "6.1:patch=x.patch,patch=y.patch")
    folder = write(tmp_path / "me@work/a@b", filesystems=kernels)
    comparison = of(f"{folder}@filesystem={kernels[0]}", f"{folder}@filesystem={kernels[1]}")
    assert [cell.place for cell in comparison.cells] == [()]
    assert "filesystem: {} / {}".format(*kernels) in list(presentation.other_inputs(comparison.a, comparison.b))
    assert len(of(folder, folder).cells) == 2


def test_what_the_sets_were_not_measured_with_alike(tmp_path: Path) -> None:
    a = write(tmp_path / "a")
    b = write(tmp_path / "b", kernel="6.12", inputs={"kernel": "def", "board: b": {"mips": 2000}, "more": 1})
    comparison = of(a, b)
    assert len(comparison.cells) == 2
    assert list(presentation.other_inputs(comparison.a, comparison.b)) == [
        "kernel: 6.1 / 6.12",
        "kernel: abc / def",
        "board: b, mips: 1000 / 2000",
        "more: only in B",
    ]


def test_what_only_one_has_is_counted(tmp_path: Path) -> None:
    comparison = of(write(tmp_path / "a", seeds=[1, 2]), write(tmp_path / "b", seeds=[2, 3, 4], filesystems=["ext2"]))
    assert (len(comparison.cells), comparison.only_a, comparison.only_b) == (1, 3, 2)


def test_a_cell_that_failed_is_told(tmp_path: Path) -> None:
    def failed(row: Row) -> None:
        if row["seed"] == 2:
            row |= {"outcome": "failed", "metrics": dict.fromkeys(row["metrics"])}

    comparison = of(write(tmp_path / "a"), write(tmp_path / "b", failed))
    assert comparison.cells[0].other_texts == (TextChange("outcome", (2,), "measured", "failed"),)
    assert list(presentation.defect_lines(comparison)) == [
        "ext2: measured in A, and in B failed with seed 2",
        "f2fs: measured in A, and in B failed with seed 2",
    ]
    assert list(presentation.defect_lines(of(tmp_path / "b", tmp_path / "a"))) == []


def test_a_file_system_that_is_damaged_is_told(tmp_path: Path) -> None:
    """Not where A had no check to hold it to, or was damaged, too."""

    def damaged(row: Row) -> None:
        if row["filesystem"] == "ext2":
            row["check"] = "e2fsck: ends with 4\nblock 7"

    def unchecked(row: Row) -> None:
        row["check"] = None

    clean, broken = write(tmp_path / "a"), write(tmp_path / "b", damaged)
    message = "ext2: the checker found nothing in A, and in B with seeds 1, 2, 3: e2fsck: ends with 4"
    assert list(presentation.defect_lines(of(clean, broken))) == [message]
    assert list(presentation.defect_lines(of(broken, broken))) == []
    assert list(presentation.defect_lines(of(write(tmp_path / "c", unchecked), broken))) == []


def test_a_part_that_is_not_there_is_refused(tmp_path: Path) -> None:
    folder = write(tmp_path / "a")
    for part, message in (("filesystem=ext3", "has no value ext3"), ("file=1", "no axis"), ("ext2", "AXIS=VALUE")):
        with pytest.raises(InputError, match=message):
            result_set.read_all(f"{folder}@{part}")


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", '{"study": 1}', "\xff", 'title = "A study"'])
def test_what_is_no_set_is_told_with_what_is_one(tmp_path: Path, text: str) -> None:
    file = tmp_path / "results.json"
    file.write_text(text)
    for place in (tmp_path, file):
        with pytest.raises(InputError) as caught:
            result_set.read_all(str(place))
        assert caught.value.message == Facts(f"{file}: is not a set of results", "results.json", "a pack")


@pytest.mark.parametrize("change", [{"durable": 5}, {"limit": 5}, {"seed": "1"}, {"seed": [1]}, {"filesystem": 5}])
def test_a_set_whose_text_is_none_is_damaged(tmp_path: Path, change: dict[str, object]) -> None:
    file = write(tmp_path / "one") / "results.json"
    document = json.loads(file.read_text())
    document["repetitions"][0] |= change
    file.write_text(json.dumps(document))
    with pytest.raises(InputError, match="is not a set of results, or is damaged"):
        result_set.read_all(str(file))


@pytest.mark.parametrize("metric", [{}, "a text", {"title": 1, "unit": "us", "better": None}, {"better": "faster"}])
def test_a_set_whose_metrics_are_none_is_damaged(tmp_path: Path, metric: object) -> None:
    file = write(tmp_path / "one") / "results.json"
    document = json.loads(file.read_text())
    document["metrics"]["bandwidth"] = metric
    file.write_text(json.dumps(document))
    with pytest.raises(InputError, match="is not a set of results, or is damaged"):
        result_set.read_all(str(file))


def test_one_report_is_held_to_that_of_its_study_among_several(tmp_path: Path) -> None:
    one, several = write(tmp_path / "one"), tmp_path / "several"
    other = write(several / "other") / "results.json"
    other.write_text(other.read_text().replace('"made-up"', '"another"'))
    with pytest.raises(InputError, match=Facts("several", "none of made-up", str(one)).pattern):
        result_set.pairs(str(one), str(several))
    write(several / "mine")
    for places in ((one, several), (several, one)):
        a, b = result_set.pairs(*map(str, places))
        assert (set(a), set(b), a[""].study, b[""].study) == ({""}, {""}, "made-up", "made-up")
    write(several / "twice")
    with pytest.raises(InputError, match=r"several of made-up \(mine, twice\)"):
        result_set.pairs(str(several), str(one))
