# SPDX-License-Identifier: Apache-2.0
"""Zero is a value: a file system that erases no block beats one that erases some, and is not "not measured"."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

import pytest

from flashbed.analysis import Load, Results, Words, compare, doubts, judge, lines, sentence
from flashbed.analysis.claim_words import evidence
from flashbed.analysis.groups import Comparison
from flashbed.analysis.ratio import apart, geometric_mean, inverse, ratio, spread
from flashbed.analysis.words import metric_of
from flashbed.report.export import pure
from tests.support.claim_samples import a_against_b, claim, results
from tests.support.facts import Facts
from tests.support.tabled import results_of
from tests.unit.report.test_matrix import fields, picture

Numbers = Mapping[str, Mapping[str, tuple[float, ...]]]


def table(numbers: Numbers, metric: str) -> Results:
    """Return results from {file system: {request: a number for each seed}}."""
    rows: list[dict[str, Any]] = [
        {"filesystem": name, "request": request, "seed": seed, "outcome": "measured", "reason": "", "key": "k"}
        | {metric: value}
        for name, requests in numbers.items()
        for request, values in requests.items()
        for seed, value in enumerate(values, start=1)
    ]
    requests = next(iter(numbers.values()))
    return results_of({"filesystem": tuple(numbers), "request": tuple(requests)}, rows)


def compared(numbers: Numbers, metric: str, by: tuple[str, ...] = ()) -> tuple[Comparison, Words]:
    results = table(numbers, metric)
    better = metric_of(metric).better != "lower"
    return compare(results, ("filesystem",), by, metric, better, doubts(results, metric)), Words(results.axes)


def answered(numbers: Numbers, metric: str = "wear_max") -> tuple[str, str]:
    """Return the sentence, and the line of the answer."""
    comparison, words = compared(numbers, metric)
    [group] = comparison.groups
    [line] = lines([Load(comparison, group)], words)
    return sentence(comparison, group, words), line


def single_request(**values: float) -> dict[str, dict[str, tuple[float, ...]]]:
    return {name: {"4k": (value,)} for name, value in values.items()}


# --- what erases nothing is best ------------------------------------------------------------------------------------


def test_what_has_none_of_what_should_be_low_is_best() -> None:
    """The two worst were recommended when 0 counted as not measured."""
    text, line = answered(single_request(ext2=2.0, ext4=0.0, xfs=1.0))
    assert text == Facts(
        "ext4 has the lowest erases of the most worn block", "xfs's is 1", "none at all", "ext2's 2", "none at all"
    )
    assert line == Facts("ext4 has the lowest erases of the most worn block", "none at all", "1 of the next (xfs)")


def test_what_has_none_of_what_should_be_high_is_worst() -> None:
    text, line = answered(single_request(ext2=0.0, ext4=3.0), "bandwidth")
    assert text == "ext4 is faster than ext2 (3.00 MiB/s, against none at all)."
    assert line == "ext4 is fastest: 3.00 MiB/s, against none at all of ext2."
    text, line = answered(single_request(ext2=0.0, ext4=3.0), "tbw_bytes")
    assert text == Facts("ext4 has the highest TBW", "3.00 bytes", "none at all of ext2")


def test_all_zeros_are_no_difference() -> None:
    text, line = answered(single_request(ext2=0.0, ext4=0.0, xfs=0.0))
    assert text == Facts("no difference between ext2, ext4 and xfs", "none at all")
    assert line == "No difference between ext2, ext4 and xfs: none at all."
    text, line = answered(single_request(ext2=0.0, ext4=0.0, xfs=5.0))
    assert Facts("no difference between ext2 and ext4", "none at all", "against ext2, xfs's is 5").within(text)
    assert line == Facts("No difference between ext2 and ext4", "none at all", "the others are behind")


def test_none_and_some_do_not_share_a_line() -> None:
    """Of power cuts, a load that survived all and one that survived none were both "no clear difference"."""
    comparison, words = compared(
        {name: {"4k": (30.0,), "64k": (0.0,)} for name in ("ext4", "f2fs")}, "cuts_survived", by=("request",)
    )
    some, none = lines([Load(comparison, group) for group in comparison.groups], words)
    assert some == Facts("No clear difference between ext4 and f2fs", "4k")
    assert none == Facts("No difference between ext4 and f2fs", "64k", "none at all")


def test_a_zero_somewhere_does_not_outweigh_worse_elsewhere() -> None:
    numbers = {"a": {"4k": (0.0,), "64k": (9.0,)}, "b": {"4k": (1.0,), "64k": (3.0,)}}
    text, line = answered(numbers)
    assert text == Facts(
        "lower erases of the most worn block depends on request size",
        "a at 4k (none at all, against 1)",
        "b at 64k (up to 3.0 times)",
    )
    assert line == text


def test_zeros_in_common_leave_the_rest_to_decide() -> None:
    """Both have 0 at 4k; a, which comes first, is four times b at 64k."""
    text, _ = answered({"a": {"4k": (0.0,), "64k": (8.0,)}, "b": {"4k": (0.0,), "64k": (2.0,)}})
    assert text == Facts(
        "b has the lowest erases of the most worn block",
        "a's is 2.0 times as high",
        "1.00 to 4.0 over 2 request sizes",
    )


def test_a_line_counts_the_settings_with_zeros() -> None:
    text, _ = answered({"a": {"4k": (0.0,), "64k": (2.0,)}, "b": {"4k": (4.0,), "64k": (2.0,)}})
    assert text == Facts(
        "a has the lowest erases of the most worn block", "b's is 4", "none at all", "1 of 2 request sizes"
    )


def test_seeds_that_do_not_agree_on_none_decide_nothing() -> None:
    text, line = answered({"a": {"4k": (0.0, 1.0, 0.0)}, "b": {"4k": (1.0, 1.0, 0.0)}})
    assert line == "No clear difference between a and b."
    assert text == Facts("no clear difference between a and b", "less than 1 %")
    text, _ = answered({"a": {"4k": (0.0, 0.0, 0.0)}, "b": {"4k": (1.0, 1.0, 0.0)}})
    assert text == Facts("no clear difference between a and b", "from 1.00 to ∞ over 3 seeds", "are 0")


def test_a_difference_below_zero_has_no_ratio_and_is_no_missing_result() -> None:
    text, line = answered(single_request(a=-3.0, b=2.0), "mount_memory_bytes")
    assert line == Facts("Not decided: below zero", "everywhere")
    assert Facts("Not decided", "below zero", "no ratio").within(text)


# --- several loads --------------------------------------------------------------------------------------------------


def test_several_loads_are_said_in_one_line() -> None:
    endless, words = compared(single_request(a=0.0, b=7.0), "wear_max")
    finite, _ = compared(single_request(a=2.0, b=3.0), "wear_max")

    def loads(*comparisons: Comparison) -> list[Load]:
        return [Load(comparison, comparison.groups[0]) for comparison in comparisons]

    assert lines(loads(endless, endless), words)[0].endswith(": none at all, against 7 of b.")
    assert Facts("1.50 times or more from b", "1 of 2", "is 0").within(lines(loads(endless, finite), words)[0])
    second, _ = compared(single_request(a=0.0, b=0.5), "wear_mean")
    assert lines(loads(endless, second), words)[0].endswith(": none at all, against some of b.")


# --- the picture, the tables, the files -----------------------------------------------------------------------------


def test_the_picture_has_zeros_in_it() -> None:
    lower = {name: {"4k": (value,)} for name, value in (("a", 3.0), ("b", 0.0), ("c", 0.0))}
    assert fields(picture(lower, "wear_max", better=False)) == [
        ("behind", "some, against none", "3.00", ""),
        ("even", "among the best", "0", ""),
        ("even", "no clear difference", "0", ""),
    ]
    higher = {name: {"4k": (value,)} for name, value in (("a", 3.0), ("b", 0.0))}
    assert fields(picture(higher, "iops")) == [
        ("best", "best", "3.00 requests/s", ""),
        ("behind", "none at all", "0 requests/s", ""),
    ]
    # The geometric mean of 0 and 4 is 0, which would say that the file system never erases
    some = {"a": {"4k": (0.0,), "64k": (4.0,)}, "b": {"4k": (5.0,), "64k": (4.0,)}}
    assert fields(picture(some, "wear_max", better=False)) == [
        ("best", "best", "0 to 4", ""),
        ("behind", "some, against none in 1 of 2", "4.47", ""),
    ]


def test_a_ratio_without_end_is_no_json() -> None:
    assert json.dumps(pure({"factor": math.inf}), allow_nan=False) == '{"factor": null}'


# --- claims ---------------------------------------------------------------------------------------------------------

ZERO = {"a": {"4k": [0.0, 0.0]}, "b": {"4k": [3.0, 2.0]}}


@pytest.mark.parametrize(
    ("relation", "by", "verdict"),
    [("<", "", "holds"), (">", "", "does not hold"), ("<<", "", "holds"), ("=", "", "does not hold")],
)
def test_claims_are_judged_by_zeros(relation: str, by: str, verdict: str) -> None:
    judgement = judge(a_against_b(relation, by), results(ZERO))
    assert judgement.verdict == verdict
    assert judgement.deciding is not None
    assert "a against b: none at all, against 2.50 MiB/s" in evidence(judgement, Words(results(ZERO).axes))


def test_two_zeros_are_equal_to_a_claim() -> None:
    both = results({"a": {"4k": [0.0]}, "b": {"4k": [0.0]}})
    assert judge(a_against_b("="), both).verdict == "holds"
    assert judge(a_against_b(">"), both).verdict == "does not hold"


def test_a_claim_may_hold_a_number_against_zero() -> None:
    none = claim(value=0, relation="=", where={"filesystem": ["a"]})
    assert judge(none, results({"a": {"4k": [0.0]}})).verdict == "holds"
    assert judge(none, results({"a": {"4k": [0.5]}})).verdict == "does not hold"


def test_along_an_axis_a_zero_is_a_beginning() -> None:
    rising = claim(along="request", relation="rises")
    assert judge(rising, results({"a": {"4k": [0.0], "64k": [2.0]}})).verdict == "holds"
    assert judge(rising, results({"a": {"4k": [2.0], "64k": [0.0]}})).verdict == "does not hold"


def test_a_lead_without_end_has_no_size_that_could_grow() -> None:
    growing = claim(compare=[{"filesystem": ["a"]}, {"filesystem": ["b"]}], gap_along="request", relation="rises")
    data = results({"a": {"4k": [2.0], "64k": [2.0]}, "b": {"4k": [0.0], "64k": [1.0]}})
    judgement = judge(growing, data)
    assert judgement.verdict == "cannot be decided"
    assert "no size that could change" in evidence(judgement, Words(data.axes))


def test_an_average_over_cases_takes_zeros_along() -> None:
    data = results({"a": {"4k": [0.0], "64k": [2.0]}, "b": {"4k": [1.0], "64k": [2.0]}})
    assert judge(a_against_b("<", cells="average"), data).verdict == "holds"
    mixed = results({"a": {"4k": [0.0], "64k": [2.0]}, "b": {"4k": [1.0], "64k": [0.0]}})
    assert judge(a_against_b("=", cells="average"), mixed).verdict == "holds"  # one zero each: they cancel


# --- numbers --------------------------------------------------------------------------------------------------------


def test_means_and_inverses_know_zeros() -> None:
    assert geometric_mean([0.0, 4.0]) == 0.0
    assert geometric_mean([math.inf, 4.0]) == math.inf
    assert geometric_mean([math.inf, 0.0, 8.0]) == pytest.approx(2.0)
    assert inverse(spread([0.0, 2.0])) == spread([0.5, math.inf]).__class__(2, 1.0, 0.5, math.inf, 0.5, math.inf)
    assert (apart(0.0), apart(0.5), apart(3.0)) == (math.inf, 2.0, 3.0)
    assert ratio([({1: 0.0, 2: 4.0}, {1: 2.0, 2: 2.0})]) == spread([0.0, 2.0])
