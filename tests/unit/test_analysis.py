# SPDX-License-Identifier: Apache-2.0
"""Medians, spreads, comparisons and sentences, against numbers worked out by hand."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import replace
from itertools import product
from statistics import median
from typing import Any

import pytest

from flashbed.analysis import (
    MISSING,
    Comparison,
    Load,
    Repetition,
    Results,
    Words,
    compare,
    flows,
    lines,
    ratio,
    results_of,
    sentence,
    spread,
)
from flashbed.analysis.spread import _median_probabilities, bootstrap_interval
from flashbed.analysis.words import factor, metric_of, number, scale_of

AXES = {"filesystem": ("a", "b", "c"), "pattern": ("read", "randwrite"), "request": ("4k", "64k")}


def row(filesystem: str, pattern: str, request: str, seed: int, **more: Any) -> dict[str, Any]:
    cell = {"filesystem": filesystem, "pattern": pattern, "request": request, "seed": seed}
    return {**cell, "outcome": "measured", "reason": "", "key": "k", **more}


def table(
    numbers: Mapping[str, Mapping[str, Iterable[float]]], pattern: str = "randwrite", metric: str = "bandwidth"
) -> Results:
    """Results of one pattern: {file system: {request: a number for each seed}}."""
    rows = [
        row(filesystem, pattern, request, seed, **{metric: value})
        for filesystem, requests in numbers.items()
        for request, values in requests.items()
        for seed, value in enumerate(values, start=1)
    ]
    axes = {**AXES, "filesystem": tuple(numbers), "pattern": (pattern,)}
    return results_of(axes, rows)


def said(results: Results, metric: str = "bandwidth", by: tuple[str, ...] = ("pattern",)) -> list[str]:
    comparison, words = answered(results, metric, by)
    return [sentence(comparison, group, words) for group in comparison.groups]


def answered(
    results: Results, metric: str = "bandwidth", by: tuple[str, ...] = ("pattern",)
) -> tuple[Comparison, Words]:
    higher_is_better = metric_of(metric).better != "lower"
    return compare(results, "filesystem", by, metric, higher_is_better), Words(results.axes)


def in_lines(comparison: Comparison, words: Words) -> list[str]:
    return lines([Load(comparison, group) for group in comparison.groups], words)


def test_an_answer_averages_times_as_its_claims_do() -> None:
    """a takes 1.02 times as long as b with a small file and 1.006 times with one 100 times as large: 1.013 times by the
    geometric mean, which counts as behind, and 103.02 / 102.4 = 1.006 times by the time of both, which does not. So a
    claim that says "none is faster" and the picture beside it cannot differ, if both average in time.
    """
    found = table({"a": {"4k": (1.02, 1.02), "64k": (102.0, 102.0)}, "b": {"4k": (1.0, 1.0), "64k": (101.4, 101.4)}},
                  metric="write_s")  # fmt: skip
    words = Words(found.axes)
    by_ratios, in_time = (
        compare(found, "filesystem", ("pattern",), "write_s", False, in_time=in_time) for in_time in (False, True)
    )
    assert "b is fastest" in " ".join(in_lines(by_ratios, words))
    assert "No clear difference" in " ".join(in_lines(in_time, words))
    [lead] = in_time.groups[0].leads
    assert lead.factor == pytest.approx(103.02 / 102.4)
    assert {one.value: one.score for one in in_time.groups[0].standings} == pytest.approx({"a": 51.51, "b": 51.2})


# --- spread ---------------------------------------------------------------------------------------------------------


def test_few_seeds_give_the_median_and_the_extremes() -> None:
    found = spread([3.0, 1.0, 2.5])
    assert (found.n, found.median, found.low, found.high) == (3, 2.5, 1.0, 3.0)
    assert not found.is_confidence


def test_one_seed_has_no_width() -> None:
    found = spread([7.0])
    assert (found.low, found.median, found.high) == (7.0, 7.0, 7.0)


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 6])
def test_the_bootstrap_of_a_median_is_that_of_all_resamples(n: int) -> None:
    values = [float(2**k) for k in range(n)]
    counted = Counter(median(resample) for resample in product(values, repeat=n))
    computed: dict[float, float] = {}
    for value, chance in _median_probabilities(values):
        computed[value] = computed.get(value, 0.0) + chance
    assert computed == pytest.approx({value: times / n**n for value, times in counted.items()})


def test_many_seeds_give_a_confidence_interval() -> None:
    # Nine seeds: the median of a resample is at most the second smallest with the chance P(Bin(9, 2/9) >= 5) = 0.0298,
    # and the smallest with P(Bin(9, 1/9) >= 5) = 0.0014; 2.5 % lies between, so the interval goes from 2nd to 8th.
    found = spread([5.0, 1.0, 9.0, 3.0, 7.0, 2.0, 8.0, 4.0, 6.0])
    assert (found.minimum, found.low, found.median, found.high, found.maximum) == (1.0, 2.0, 5.0, 8.0, 9.0)
    assert found.is_confidence
    assert bootstrap_interval([1.0, 2.0, 3.0, 4.0, 5.0]) == (1.0, 5.0)  # P(Bin(5, 1/5) >= 3) = 0.058 > 2.5 %


# --- ratio ----------------------------------------------------------------------------------------------------------


def test_a_ratio_is_taken_seed_by_seed() -> None:
    found = ratio([({1: 10.0, 2: 30.0, 3: 8.0}, {1: 5.0, 2: 10.0, 4: 1.0})])  # 2 and 3; seeds 3 and 4 have no partner
    assert found is not None
    assert (found.n, found.low, found.median, found.high) == (2, 2.0, 2.5, 3.0)
    assert ratio([({1: 1.0}, {2: 1.0})]) is None


def test_the_ratio_of_several_pairs_is_their_geometric_mean_within_a_seed() -> None:
    # Seed 1: sqrt(2 * 8) = 4; seed 2: sqrt(4 * 1) = 2.
    found = ratio([({1: 2.0, 2: 4.0}, {1: 1.0, 2: 1.0}), ({1: 8.0, 2: 1.0}, {1: 1.0, 2: 1.0})])
    assert found is not None
    assert (found.low, found.high) == pytest.approx((2.0, 4.0))
    # No seed in both pairs: sqrt(2 * 1) of what each has.
    apart = ratio([({1: 2.0}, {1: 1.0}), ({2: 1.0}, {2: 1.0})])
    assert apart is not None
    assert (apart.n, apart.median) == pytest.approx((1, math.sqrt(2)))


def test_zeros_are_equal_and_below_all_else() -> None:
    assert ratio([({1: 0.0}, {1: 0.0})]) == spread([1.0])
    # Both were None: then a cell of zeros counted as not measured, and the second best was recommended.
    assert ratio([({1: 0.0}, {1: 1.0})]) == spread([0.0])
    assert ratio([({1: 1.0}, {1: 0.0})]) == spread([math.inf])
    assert ratio([({1: 1.0}, {1: -1.0})]) is None


# --- results --------------------------------------------------------------------------------------------------------


def test_rows_come_in_the_order_of_the_study_whatever_order_they_had() -> None:
    rows = [row(f, "read", r, s, bandwidth=1.0) for f in "cab" for r in ("64k", "4k") for s in (2, 1)]
    results = results_of(AXES, rows)
    assert [(r.combination[0], r.combination[2], r.seed) for r in results.repetitions][:4] == [
        ("a", "4k", 1),
        ("a", "4k", 2),
        ("a", "64k", 1),
        ("a", "64k", 2),
    ]
    assert results == results_of(AXES, reversed(rows))


def test_what_was_planned_and_never_ran_is_missing() -> None:
    planned = [(("a", "read", "4k"), 1), (("a", "read", "4k"), 2)]
    results = results_of(AXES, [row("a", "read", "4k", 1, bandwidth=1.0)], planned)
    assert results.outcomes() == {"measured": 1, "missing": 1}
    assert [(r.seed, r.outcome) for r in results.not_measured()] == [(2, "missing")]


def test_failed_repetitions_are_counted_and_give_no_numbers() -> None:
    rows = [
        row("a", "read", "4k", 1, bandwidth=5.0),
        row("a", "read", "4k", 2, outcome="failed", reason="mkfs", bandwidth=99.0),
        row("a", "read", "4k", 3, outcome="timed out", bandwidth=math.nan),
        row("a", "read", "64k", 1, bandwidth=math.nan),
    ]
    results = results_of(AXES, rows)
    assert results.outcomes() == {"measured": 2, "failed": 1, "timed out": 1}
    assert {cell[2]: s.n for cell, s in results.spreads("bandwidth").items()} == {"4k": 1}


def test_nothing_is_nothing_however_pandas_writes_it() -> None:
    results = results_of(AXES, [row("a", "read", "4k", 1, reason=math.nan, check=None, bandwidth=1.0)])
    assert (results.repetitions[0].reason, results.repetitions[0].check) == ("", None)
    assert results.metrics == ["bandwidth"]


# --- comparison -----------------------------------------------------------------------------------------------------

# Medians: a 11 and 42, b 5.5 and 10.5; ratios 2 and 4; their geometric mean is the square root of 8.
CLEAR = {"a": {"4k": (10.0, 12.0), "64k": (40.0, 44.0)}, "b": {"4k": (5.0, 6.0), "64k": (10.0, 11.0)}}


def test_the_best_leads_by_the_geometric_mean_of_the_ratios() -> None:
    comparison, _ = answered(table(CLEAR))
    (group,) = comparison.groups
    (lead,) = group.leads
    assert (group.best, group.winner, group.depends) == ("a", "a", False)
    assert lead.factor == pytest.approx(math.sqrt(8))
    assert (lead.over, lead.lowest, lead.highest, lead.verdict) == ("b", 2.0, 4.0, "ahead")
    assert (lead.whole.low, lead.whole.high) == pytest.approx((math.sqrt(2 * 4), math.sqrt(2 * 4)))  # seed by seed


def test_the_answer_in_words() -> None:
    assert said(table(CLEAR)) == ["For random write, a is 2.8 times as fast as b (2.0 to 4.0 over 2 request sizes)."]


def test_other_numbers_give_another_answer() -> None:
    flipped = {"a": CLEAR["b"], "b": CLEAR["a"]}
    assert said(table(flipped)) == ["For random write, b is 2.8 times as fast as a (2.0 to 4.0 over 2 request sizes)."]
    comparison, words = answered(table(flipped))
    # One line says who wins and by how much; the range over request sizes stands in the sentence alone.
    assert in_lines(comparison, words) == ["b is fastest: 2.8 times as fast as a."]


def test_where_less_is_better_the_lowest_wins() -> None:
    assert said(table(CLEAR, metric="latency_p99_us"), "latency_p99_us") == [
        "For random write, b has the lowest 99th percentile latency: a's is 2.8 times as high "
        "(2.0 to 4.0 over 2 request sizes)."
    ]


def test_rates_and_times_of_the_same_work_are_told_as_speeds() -> None:
    """Not "a's is 2.0 times that of b", nor "has the lowest runtime"."""
    rates = {"a": {"4k": (8.0,)}, "b": {"4k": (4.0,)}}
    assert said(table(rates, metric="block_output"), "block_output") == [
        "For random write, a is 2.0 times as fast as b."
    ]
    assert said(table(rates, metric="runtime_s"), "runtime_s") == ["For random write, b is 2.0 times as fast as a."]


def test_the_same_lead_everywhere_is_said_so() -> None:
    numbers = {name: {"4k": (2.0 * k,), "64k": (4.0 * k,)} for k, name in enumerate("cba", start=1)}
    assert said(table(numbers)) == [
        "For random write, a is 1.50 times as fast as b (at each of 2 request sizes) "
        "and 3.0 times as fast as c (everywhere)."
    ]


def test_where_less_is_better_and_two_are_even_no_one_is_called_lowest() -> None:
    numbers = {"a": {"4k": (100.0,)}, "b": {"4k": (100.5,)}, "c": {"4k": (250.0,)}}
    assert said(table(numbers, metric="latency_mean_us"), "latency_mean_us") == [
        "For random write, there is no clear difference between a and b (less than 1 % apart); "
        "against a, c's is 2.5 times as high."
    ]


def test_seeds_that_disagree_are_no_clear_difference() -> None:
    # Seed by seed, 10 / 10 and 12 / 11: the first sees no difference; their median is 1.045.
    even = {"a": {"4k": (10.0, 12.0)}, "b": {"4k": (10.0, 11.0)}}
    assert said(table(even)) == [
        "For random write, there is no clear difference between a and b "
        "(5 % apart, but their ratio goes from 1.00 to 1.09 over 2 seeds)."
    ]
    comparison, words = answered(table(even))
    assert comparison.groups[0].winner is None
    assert in_lines(comparison, words) == ["No clear difference between a and b."]


def test_seeds_that_move_both_alike_hide_no_difference() -> None:
    # The numbers of a and b overlap, but with each seed a is 10 % ahead: what chance does to both is in neither ratio.
    assert said(table({"a": {"4k": (11.0, 22.0, 16.5)}, "b": {"4k": (10.0, 20.0, 15.0)}})) == [
        "For random write, a is 1.10 times as fast as b."
    ]


def test_many_seeds_that_disagree_are_told_by_their_interval() -> None:
    # Ratios 0.9, 1, 1.1, 1.2, 1.3: of five seeds, the interval of the median is the whole range.
    assert said(table({"a": {"4k": (9.0, 10.0, 11.0, 12.0, 13.0)}, "b": {"4k": (10.0,) * 5}})) == [
        "For random write, there is no clear difference between a and b (10 % apart, but the 95 % confidence interval "
        "of their ratio goes from 0.90 to 1.30 over 5 seeds)."
    ]


def test_cells_without_a_seed_in_common_are_not_compared() -> None:
    rows = [row("a", "read", "4k", 1, bandwidth=2.0), row("b", "read", "4k", 2, bandwidth=1.0)]
    rows += [row(name, "read", "64k", 1, bandwidth=speed) for name, speed in (("a", 3.0), ("b", 1.0))]
    assert said(results_of(AXES, rows)) == [
        "For sequential read, a is 3.0 times as fast as b. "
        "This rests on 1 of 2 settings: elsewhere no seed has them all."
    ]


def test_less_than_a_percent_is_no_difference_even_without_a_spread() -> None:
    assert said(table({"a": {"4k": (100.0,)}, "b": {"4k": (100.9,)}})) == [
        "For random write, there is no clear difference between b and a (less than 1 % apart)."
    ]


def test_a_small_lead_is_told_in_percent() -> None:
    assert said(table({"a": {"4k": (104.0,)}, "b": {"4k": (100.0,)}})) == ["For random write, a is 4 % faster than b."]


def test_two_may_be_even_and_ahead_of_a_third() -> None:
    numbers = {"a": {"4k": (10.0, 12.0)}, "b": {"4k": (10.0, 11.0)}, "c": {"4k": (5.0, 5.0)}}
    assert said(table(numbers)) == [
        "For random write, there is no clear difference between a and b "
        "(5 % apart, but their ratio goes from 1.00 to 1.09 over 2 seeds); a is 2.2 times as fast as c."
    ]


def test_a_lead_that_turns_round_is_no_win() -> None:
    numbers = {"a": {"4k": (80.0,), "64k": (9.0,)}, "b": {"4k": (10.0,), "64k": (10.0,)}}
    assert said(table(numbers)) == [
        "For random write, which of a and b is faster depends on request size: "
        "a at 4k (up to 8.0 times), b at 64k (up to 1.11 times)."
    ]
    comparison, words = answered(table(numbers))
    assert comparison.groups[0].winner is None
    assert in_lines(comparison, words) == [
        "Which of a and b is faster depends on request size: a at 4k (up to 8.0 times), b at 64k (up to 1.11 times)."
    ]


def test_opposite_leads_that_cancel_are_not_called_even() -> None:
    numbers = {"a": {"4k": (20.0,), "64k": (10.0,)}, "b": {"4k": (10.0,), "64k": (20.0,)}}
    assert said(table(numbers, metric="latency_mean_us"), "latency_mean_us") == [
        "For random write, which of a and b has the lower mean latency depends on request size: "
        "a at 64k (up to 2.0 times), b at 4k (up to 2.0 times)."
    ]


def test_being_behind_within_the_spread_of_the_seeds_does_not_turn_a_lead() -> None:
    numbers = {"a": {"4k": (80.0, 80.0), "64k": (9.0, 11.0)}, "b": {"4k": (10.0, 10.0), "64k": (10.0, 10.8)}}
    comparison, _ = answered(table(numbers))
    (lead,) = comparison.groups[0].leads
    assert (lead.verdict, len(lead.ahead_at), lead.behind_at) == ("ahead", 1, [])
    assert lead.lowest < 1


def test_a_missing_cell_is_not_compared_and_is_named() -> None:
    numbers = {"a": {"4k": (20.0,), "64k": (40.0,)}, "b": {"4k": (10.0,)}}
    thin = table(numbers)
    missing = Repetition(("b", "randwrite", "64k"), 1, MISSING)
    assert said(replace(thin, repetitions=[*thin.repetitions, missing])) == [
        "For random write, a is 2.0 times as fast as b. "
        "This rests on 1 of 2 settings: b has no result at request size 64k."
    ]
    # What the study leaves out is not missing.
    assert said(thin) == ["For random write, a is 2.0 times as fast as b."]


def test_a_value_with_no_setting_in_common_is_left_out() -> None:
    numbers = {"a": {"4k": (20.0,), "64k": (40.0,)}, "b": {"4k": (10.0,), "64k": (10.0,)}, "c": {}}
    results = table(numbers)
    failed = results_of(results.axes, [row("c", "randwrite", "4k", 1, outcome="failed")])
    together = replace(results, repetitions=[*results.repetitions, *failed.repetitions])
    assert said(together) == [
        "For random write, a is 2.8 times as fast as b (2.0 to 4.0 over 2 request sizes). "
        "Not compared: c, for want of results."
    ]


def test_nothing_to_compare_is_said() -> None:
    only = [row("a", "read", "4k", 1, bandwidth=1.0), row("b", "read", "4k", 1, outcome="failed")]
    none = [row("a", "randwrite", "4k", 1, outcome="failed")]
    comparison, words = answered(results_of(AXES, [*only, *none]))
    assert in_lines(comparison, words) == [
        "Only a was measured for sequential read: nothing to compare.",
        "Nothing was measured for random write.",
    ]
    assert said(results_of(AXES, [*only, *none])) == [
        "For sequential read, only a was measured, so there is nothing to compare. "
        "Not compared: b, for want of results.",
        "For random write, nothing was measured. Not compared: a, for want of results.",
    ]


def test_zero_is_compared_like_other_numbers() -> None:
    numbers = {"a": {"4k": (0.0,), "64k": (4.0,)}, "b": {"4k": (1.0,), "64k": (2.0,)}}
    comparison, _ = answered(table(numbers))
    # The cell of 4k was left out, so that a led by 4 / 2: it has nothing at all there, where b has 1.
    [lead] = comparison.groups[0].leads
    assert (lead.over, lead.factor, lead.lowest, lead.verdict) == ("a", math.inf, 0.5, "depends")
    assert len(comparison.groups[0].settings) == 2


def test_the_lines_tell_who_wins_where() -> None:
    rows = [
        row(filesystem, pattern, "4k", 1, bandwidth=value)
        for pattern, values in {"read": (2.0, 1.0, 1.0), "randwrite": (1.0, 3.0, 1.0)}.items()
        for filesystem, value in zip("abc", values, strict=True)
    ]
    comparison, words = answered(results_of(AXES, rows))
    assert in_lines(comparison, words) == [
        "a is fastest for sequential read: 2.0 times as fast as the next (b).",
        "b is fastest for random write: 3.0 times as fast as the next (a).",
    ]


def test_without_groups_the_sentence_stands_alone() -> None:
    assert said(table(CLEAR), by=()) == ["a is 2.8 times as fast as b (2.0 to 4.0 over 2 request sizes)."]


# --- flow -----------------------------------------------------------------------------------------------------------


def test_writes_that_stay_in_memory_are_found() -> None:
    def bytes_of(requested: float, read: float, written: float) -> dict[str, float]:
        return {"requested_bytes": requested, "medium_read_bytes": read, "medium_written_bytes": written}

    rows = [
        row("a", "randwrite", "4k", 1, **bytes_of(1000.0, 2000.0, 100.0)),  # what it reads does not count
        row("a", "randwrite", "4k", 2, **bytes_of(1000.0, 0.0, 300.0)),
        row("b", "randwrite", "4k", 1, **bytes_of(1000.0, 0.0, 1100.0)),
        row("a", "read", "4k", 1, **bytes_of(1000.0, 10.0, 5000.0)),
        row("b", "read", "4k", 1, bandwidth=1.0),  # tells no bytes
    ]
    found = {flow.combination[:2]: flow for flow in flows(results_of(AXES, rows), {})}
    assert found["a", "randwrite"].reached == pytest.approx(0.2)
    assert {place: flow.swallowed for place, flow in found.items()} == {
        ("a", "randwrite"): True,
        ("b", "randwrite"): False,
        ("a", "read"): True,
    }


# --- words ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.0123, "0.0123"), (12.34, "12.3"), (9.999, "10.0"), (999.96, "1,000"), (123456.0, "123,000"), (0.0, "0")],
)
def test_numbers_have_three_digits(value: float, text: str) -> None:
    assert number(value) == text


@pytest.mark.parametrize(
    ("ratio", "text"), [(0.9, "0.90"), (1.04, "1.04"), (1.996, "2.0"), (3.14, "3.1"), (12.4, "12"), (1234.0, "1,200")]
)
def test_factors_have_the_digits_that_a_reader_can_use(ratio: float, text: str) -> None:
    assert factor(ratio) == text


def test_units_follow_the_largest_value() -> None:
    assert scale_of(metric_of("latency_p99_us"), [120.0, 90.0]).figure(120.0) == "120 µs"
    assert scale_of(metric_of("latency_p99_us"), [120.0, 12_000.0]).figure(120.0) == "0.120 ms"
    assert scale_of(metric_of("medium_written_bytes"), [20.0 * 2**20]).figure(2.0**20) == "1.00 MiB"
    assert scale_of(metric_of("bandwidth"), []).figure(3.0) == "3.00 MiB/s"


def test_names_are_short_where_that_is_enough() -> None:
    words = Words({"filesystem": ("ext2:block=1k", "ext2:block=4k", "f2fs:mode=lfs")}, {"medium": {"stick": "A stick"}})
    assert words.value("filesystem", "f2fs:mode=lfs") == "f2fs"
    assert words.value("filesystem", "ext2:block=4k") == "ext2:block=4k"
    assert words.value("medium", "stick") == "A stick"
    assert words.places({"pattern": "randread", "file": "10M"}) == "random read, file size 10M"
