# SPDX-License-Identifier: Apache-2.0
"""Medians, spreads, comparisons and sentences, against numbers computed by hand."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from flashbed.analysis import Words, compare
from flashbed.guest_output.assessment import Status
from flashbed.result.columns import ResultRow
from tests.support.facts import Facts
from tests.support.tabled import results_of
from tests.unit.analysis.analysed import AXES, answered, in_lines, row, sentences_of, table

# --- comparison -----------------------------------------------------------------------------------------------------

# Medians: a 11 and 42, b 5.5 and 10.5; ratios 2 and 4; their geometric mean is the square root of 8.
CLEAR = {"a": {"4k": (10.0, 12.0), "64k": (40.0, 44.0)}, "b": {"4k": (5.0, 6.0), "64k": (10.0, 11.0)}}


def test_the_best_leads_by_the_geometric_mean_of_the_ratios() -> None:
    comparison, _ = answered(table(CLEAR))
    (group,) = comparison.groups
    (lead,) = group.leads
    assert (group.best, group.winner, group.depends) == (("a",), ("a",), False)
    assert lead.factor == pytest.approx(math.sqrt(8))
    assert (lead.over, lead.lowest, lead.highest, lead.verdict) == (("b",), 2.0, 4.0, "ahead")
    assert (lead.whole.low, lead.whole.high) == pytest.approx((math.sqrt(2 * 4), math.sqrt(2 * 4)))  # seed by seed


def test_the_answer_in_words() -> None:
    assert sentences_of(table(CLEAR)) == [
        Facts("For random write", "a is 2.8 times as fast as b", "2.0 to 4.0 over 2 request sizes")
    ]


def test_other_numbers_give_another_answer() -> None:
    flipped = {"a": CLEAR["b"], "b": CLEAR["a"]}
    assert sentences_of(table(flipped)) == [
        Facts("For random write", "b is 2.8 times as fast as a", "2.0 to 4.0 over 2 request sizes")
    ]
    comparison, words = answered(table(flipped))
    # The line says who wins and by how much; only the sentence has the range over request sizes
    assert in_lines(comparison, words) == ["b is fastest: 2.8 times as fast as a."]


def test_where_less_is_better_the_lowest_wins() -> None:
    assert sentences_of(table(CLEAR, metric="latency_p99_us"), "latency_p99_us") == [
        Facts(
            "random write",
            "b has the lowest 99th percentile latency",
            "a's is 2.8 times as high",
            "2.0 to 4.0 over 2 request sizes",
        )
    ]


def test_rates_and_times_of_the_same_work_are_told_as_speeds() -> None:
    """Not "a's is 2.0 times that of b", nor "has the lowest runtime"."""
    rates = {"a": {"4k": (8.0,)}, "b": {"4k": (4.0,)}}
    assert sentences_of(table(rates, metric="block_output"), "block_output") == [
        "For random write, a is 2.0 times as fast as b."
    ]
    assert sentences_of(table(rates, metric="runtime_s"), "runtime_s") == [
        "For random write, b is 2.0 times as fast as a."
    ]


def test_the_same_lead_everywhere_is_said_so() -> None:
    numbers = {name: {"4k": (2.0 * k,), "64k": (4.0 * k,)} for k, name in enumerate("cba", start=1)}
    assert sentences_of(table(numbers)) == [
        Facts(
            "random write",
            "a is 1.50 times as fast as b",
            "at each of 2 request sizes",
            "3.0 times as fast as c",
            "everywhere",
        )
    ]


def test_where_less_is_better_and_two_are_even_no_one_is_called_lowest() -> None:
    numbers = {"a": {"4k": (100.0,)}, "b": {"4k": (100.5,)}, "c": {"4k": (250.0,)}}
    assert sentences_of(table(numbers, metric="latency_mean_us"), "latency_mean_us") == [
        Facts("random write", "no clear difference between a and b", "less than 1 %", "c's is 2.5 times as high")
    ]


def test_seeds_that_disagree_are_no_clear_difference() -> None:
    # Seed by seed 10 / 10 and 12 / 11: the first shows no difference; the median is 1.045
    even = {"a": {"4k": (10.0, 12.0)}, "b": {"4k": (10.0, 11.0)}}
    assert sentences_of(table(even)) == [
        Facts("random write", "no clear difference between a and b", "5 % apart", "from 1.00 to 1.09 over 2 seeds")
    ]
    comparison, words = answered(table(even))
    assert comparison.groups[0].winner is None
    assert in_lines(comparison, words) == ["No clear difference between a and b."]


def test_seeds_that_move_both_alike_hide_no_difference() -> None:
    # The numbers of a and b overlap, but a is 10 % ahead with each seed: chance cancels in the ratios
    assert sentences_of(table({"a": {"4k": (11.0, 22.0, 16.5)}, "b": {"4k": (10.0, 20.0, 15.0)}})) == [
        "For random write, a is 1.10 times as fast as b."
    ]


def test_many_seeds_that_disagree_are_told_by_their_interval() -> None:
    # Ratios 0.9, 1, 1.1, 1.2, 1.3: of five seeds, the interval of the median is the whole range.
    assert sentences_of(table({"a": {"4k": (9.0, 10.0, 11.0, 12.0, 13.0)}, "b": {"4k": (10.0,) * 5}})) == [
        Facts(
            "random write",
            "no clear difference between a and b",
            "10 % apart",
            "95 % confidence interval",
            "from 0.90 to 1.30 over 5 seeds",
        )
    ]


def test_cells_without_a_seed_in_common_are_not_compared() -> None:
    rows = [row("a", "read", "4k", 1, bandwidth=2.0), row("b", "read", "4k", 2, bandwidth=1.0)]
    rows += [row(name, "read", "64k", 1, bandwidth=speed) for name, speed in (("a", 3.0), ("b", 1.0))]
    assert sentences_of(results_of(AXES, rows)) == [
        Facts("sequential read", "a is 3.0 times as fast as b", "1 of 2 settings", "no seed")
    ]


def test_less_than_a_percent_is_no_difference_even_without_a_spread() -> None:
    assert sentences_of(table({"a": {"4k": (100.0,)}, "b": {"4k": (100.9,)}})) == [
        Facts("random write", "no clear difference between b and a", "less than 1 %")
    ]


def test_a_small_lead_is_told_in_percent() -> None:
    assert sentences_of(table({"a": {"4k": (104.0,)}, "b": {"4k": (100.0,)}})) == [
        "For random write, a is 4 % faster than b."
    ]


def test_two_may_be_even_and_ahead_of_a_third() -> None:
    numbers = {"a": {"4k": (10.0, 12.0)}, "b": {"4k": (10.0, 11.0)}, "c": {"4k": (5.0, 5.0)}}
    assert sentences_of(table(numbers)) == [
        Facts(
            "random write",
            "no clear difference between a and b",
            "5 % apart",
            "1.00 to 1.09 over 2 seeds",
            "a is 2.2 times as fast as c",
        )
    ]


def test_a_lead_that_turns_round_is_no_win() -> None:
    numbers = {"a": {"4k": (80.0,), "64k": (9.0,)}, "b": {"4k": (10.0,), "64k": (10.0,)}}
    assert sentences_of(table(numbers)) == [
        Facts(
            "random write", "faster depends on request size", "a at 4k (up to 8.0 times)", "b at 64k (up to 1.11 times)"
        )
    ]
    comparison, words = answered(table(numbers))
    assert comparison.groups[0].winner is None
    assert in_lines(comparison, words) == [
        Facts("faster depends on request size", "a at 4k (up to 8.0 times)", "b at 64k (up to 1.11 times)")
    ]


def test_opposite_leads_that_cancel_are_not_called_even() -> None:
    numbers = {"a": {"4k": (20.0,), "64k": (10.0,)}, "b": {"4k": (10.0,), "64k": (20.0,)}}
    assert sentences_of(table(numbers, metric="latency_mean_us"), "latency_mean_us") == [
        Facts(
            "random write",
            "lower mean latency depends on request size",
            "a at 64k (up to 2.0 times)",
            "b at 4k (up to 2.0 times)",
        )
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
    missing = ResultRow(("b", "randwrite", "64k"), 1, Status.MISSING)
    assert sentences_of(replace(thin, repetitions=[*thin.repetitions, missing])) == [
        Facts("random write", "a is 2.0 times as fast as b", "1 of 2 settings", "b has no result at request size 64k")
    ]
    # A cell that the study leaves out is not missing
    assert sentences_of(thin) == ["For random write, a is 2.0 times as fast as b."]


def test_a_value_with_no_setting_in_common_is_left_out() -> None:
    numbers = {"a": {"4k": (20.0,), "64k": (40.0,)}, "b": {"4k": (10.0,), "64k": (10.0,)}, "c": {}}
    results = table(numbers)
    failed = results_of(results.axes, [row("c", "randwrite", "4k", 1, outcome="failed")])
    together = replace(results, repetitions=[*results.repetitions, *failed.repetitions])
    assert sentences_of(together) == [
        Facts(
            "random write",
            "a is 2.8 times as fast as b",
            "2.0 to 4.0 over 2 request sizes",
            "Not compared: c",
            "results",
        )
    ]


def test_nothing_to_compare_is_said() -> None:
    only = [row("a", "read", "4k", 1, bandwidth=1.0), row("b", "read", "4k", 1, outcome="failed")]
    none = [row("a", "randwrite", "4k", 1, outcome="failed")]
    comparison, words = answered(results_of(AXES, [*only, *none]))
    assert in_lines(comparison, words) == [
        "Only a was measured for sequential read: nothing to compare.",
        "Nothing was measured for random write.",
    ]
    assert sentences_of(results_of(AXES, [*only, *none])) == [
        Facts("sequential read", "only a was measured", "Not compared: b", "results"),
        Facts("random write", "nothing was measured", "Not compared: a", "results"),
    ]


def test_zero_is_compared_like_other_numbers() -> None:
    numbers = {"a": {"4k": (0.0,), "64k": (4.0,)}, "b": {"4k": (1.0,), "64k": (2.0,)}}
    comparison, _ = answered(table(numbers))
    # When the cell of 4k was left out, a led by 4 / 2. At 4k a has 0 and b has 1
    [lead] = comparison.groups[0].leads
    assert (lead.over, lead.factor, lead.lowest, lead.verdict) == (("a",), math.inf, 0.5, "depends")
    assert len(comparison.groups[0].settings) == 2


def test_the_lines_tell_who_wins_where() -> None:
    rows = [
        row(filesystem, pattern, "4k", 1, bandwidth=value)
        for pattern, values in {"read": (2.0, 1.0, 1.0), "randwrite": (1.0, 3.0, 1.0)}.items()
        for filesystem, value in zip("abc", values, strict=True)
    ]
    comparison, words = answered(results_of(AXES, rows))
    assert in_lines(comparison, words) == [
        Facts("a is fastest", "sequential read", "2.0 times as fast as the next (b)"),
        Facts("b is fastest", "random write", "3.0 times as fast as the next (a)"),
    ]


def test_without_groups_the_sentence_stands_alone() -> None:
    assert sentences_of(table(CLEAR), by=()) == [
        Facts("a is 2.8 times as fast as b", "2.0 to 4.0 over 2 request sizes")
    ]


def test_an_answer_averages_times_as_its_claims_do() -> None:
    """a takes 1.02 times as long as b with a small file and 1.006 times with one 100 times as large: 1.013 times by the
    geometric mean, which counts as behind, and 103.02 / 102.4 = 1.006 times by the time of both, which does not. So a
    claim that says "none is faster" and the picture beside it cannot differ, if both average in time.
    """
    results = table({"a": {"4k": (1.02, 1.02), "64k": (102.0, 102.0)}, "b": {"4k": (1.0, 1.0), "64k": (101.4, 101.4)}},
                  metric="write_s")  # fmt: skip
    words = Words(results.axes)
    by_ratios, in_time = (
        compare(results, ("filesystem",), ("pattern",), "write_s", False, in_time=in_time) for in_time in (False, True)
    )
    assert "b is fastest" in " ".join(in_lines(by_ratios, words))
    assert "No clear difference" in " ".join(in_lines(in_time, words))
    [lead] = in_time.groups[0].leads
    assert lead.factor == pytest.approx(103.02 / 102.4)
    assert {standing.value: standing.score for standing in in_time.groups[0].standings} == pytest.approx(
        {("a",): 51.51, ("b",): 51.2}
    )
