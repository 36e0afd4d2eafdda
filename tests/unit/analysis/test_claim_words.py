# SPDX-License-Identifier: Apache-2.0
"""Judgements of claims in words."""

from __future__ import annotations

import pytest

from flashbed.analysis import judge
from flashbed.analysis.claim_words import missing_words, summary
from flashbed.analysis.finding import Bounds, MissingRatio, NoMetric, NoRatio, NotMeasured, OpenBounds
from flashbed.guest_output.assessment import Status
from tests.support.claim_samples import a_against_b, claim, ratios, results, said
from tests.support.facts import Facts


def test_the_evidence_in_words() -> None:
    assert said(a_against_b(), ratios(1.2)) == Facts("a against b", "1.20 times", "one seed", "at least 1.01")
    assert said(a_against_b(">", "at least 8 %"), ratios(1.02, 1.1)) == Facts(
        "seeds do not agree", "a against b", "1.06 times (1.02 to 1.10, 2 seeds)", "at least 1.08"
    )
    data = {"a": {"4k": [4.0], "16k": [1.1], "64k": [0.5]}, "b": {"4k": [1.0], "16k": [1.0], "64k": [1.0]}}
    assert said(a_against_b(), results(data)) == Facts(
        "Of 3 cases",
        "2 bear it out",
        "1 is against it",
        "a against b at request size 64k",
        "0.50 times",
        "one seed",
        "at least 1.01",
    )
    assert said(a_against_b(where={"request": ["4k", "16k"]}), results(data)) == Facts(
        "Borne out in both cases",
        "closest",
        "a against b at request size 16k",
        "1.10 times",
        "one seed",
        "at least 1.01",
    )


def test_cases_that_all_stand_alike_are_told_together() -> None:
    data = {"a": {"4k": [0.5], "64k": [0.4]}, "b": {"4k": [1.0], "64k": [1.0]}}
    assert said(a_against_b(), results(data)).startswith("Both cases are against it. The clearest against it is a ")


def test_each_reason_is_told_once() -> None:
    data = {"a": {"4k": [], "16k": [], "64k": [2.0]}, "b": {"4k": [1.0], "16k": [1.0], "64k": [1.0]}}
    assert said(a_against_b(), results(data)) == Facts(
        "Of 3 cases",
        "1 bears it out",
        "2 lack results",
        "a against b at request size 4k",
        "1 more",
        "failed: mkfs: exit status 1",
    )


def test_a_difference_that_two_digits_hide_is_shown() -> None:
    same = claim(along="filesystem", relation="flat", by="within 0 %")
    data = {"a": {"4k": [1.0]}, "b": {"4k": [1.000001]}}
    assert said(same, results(data)) == Facts("b against a", "1.000001 times", "one seed", "exactly 1")


def test_the_summary_counts_verdicts() -> None:
    data = ratios(1.2)
    judged = [judge(a_against_b(), data), judge(a_against_b(), data), judge(a_against_b("<"), data)]
    assert summary(judged) == "Of 3 claims, 2 hold and 1 does not hold."


def test_one_seed_of_ten_is_enough_against_sameness() -> None:
    """The interval of the median is 1 to 1 all the same."""
    same = a_against_b("=", "within 0 %")
    judgement = judge(same, ratios(*[1.0] * 9, 1.5))
    ratio = judgement.findings[0].ratio
    assert ratio is not None
    assert (ratio.low, ratio.high) == (1, 1)
    assert judgement.verdict == "does not hold"
    assert said(same, ratios(*[1.0] * 9, 1.5)) == Facts(
        "a against b", "1.00 times (1.00 to 1.50, 10 seeds)", "exactly 1"
    )
    assert judge(same, ratios(*[1.0] * 10)).verdict == "holds"


def test_what_is_the_same_with_each_seed_is_said_so() -> None:
    """The text has no "1.00 times", and no interval with equal ends."""
    close = a_against_b(">=")
    assert said(close, ratios(1.0, 1.0)) == Facts("a against b", "the same", "2 seeds", "at least 0.99")
    assert said(a_against_b(), ratios(7.41, 7.43)) == Facts("a against b", "7.4 times", "2 seeds", "at least 1.01")


@pytest.mark.parametrize(
    ("missing", "facts"),
    [
        (NotMeasured(Status.FAILED, "mkfs: exit status 1"), Facts("failed", "mkfs: exit status 1")),
        (NotMeasured(Status.MISSING, ""), Facts("missing")),
        (NoMetric("iops"), Facts("no iops")),
        (OpenBounds("lifetime_years", Bounds({1: 3.0, 2: 4.0}, {1: 8.0, 2: 9.0})), Facts("least 3.00", "most 9.00")),
        (OpenBounds("lifetime_years", Bounds({}, {1: 9.0})), Facts("at most 9.00")),
        (NoRatio.BELOW_ZERO, Facts("below zero")),
        (NoRatio.NO_COMMON_SEED, Facts("no seed")),
        (NoRatio.ZERO_IN_GAP, Facts("0")),
    ],
)
def test_a_missing_ratio_has_its_reason(missing: MissingRatio, facts: Facts) -> None:
    assert missing_words(missing) == facts
    assert missing_words(None) == ""
