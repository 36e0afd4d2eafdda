# SPDX-License-Identifier: Apache-2.0
"""Verdicts on claims follow the data."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any

import pytest

from flashbed.analysis import Results, Words, judge
from flashbed.analysis.claim_words import geometric_words, printed_words
from flashbed.analysis.finding import NoMetric, NotMeasured
from flashbed.guest_output.assessment import Status
from tests.support.claim_samples import AXES, a_against_b, claim, ratios, results, said
from tests.support.facts import Facts
from tests.support.tabled import results_of

NOT_RUN = NotMeasured(Status.MISSING, "was not run")


def test_the_data_decide() -> None:
    data = {"a": {"4k": [20.0, 22.0]}, "b": {"4k": [10.0, 10.0]}}
    flipped = {"a": data["b"], "b": data["a"]}
    assert judge(a_against_b(), results(data)).verdict == "holds"
    assert judge(a_against_b(), results(flipped)).verdict == "does not hold"
    assert judge(a_against_b("<"), results(data)).verdict == "does not hold"
    assert judge(a_against_b("<"), results(flipped)).verdict == "holds"


@pytest.mark.parametrize(
    ("seeds", "by", "expected"),
    [
        ((1.2,), "at least 20 %", "holds"),
        ((1.19,), "at least 20 %", "does not hold"),
        ((1.25, 1.19), "at least 20 %", "undecided"),
        ((3.0, 4.0, 3.5), "3 to 4 times", "holds"),
        ((3.0, 4.1, 3.5), "3 to 4 times", "undecided"),
        ((4.1, 4.2), "3 to 4 times", "does not hold"),
        # Ratios of nine seeds: the 95 % interval is from the second to the eighth, so one outlier changes nothing
        ((0.5, 1.3, 1.3, 1.3, 1.4, 1.4, 1.4, 1.4, 9.0), "at least 20 %", "holds"),
        ((0.5, 0.6, 1.3, 1.3, 1.4, 1.4, 1.4, 1.4, 9.0), "at least 20 %", "undecided"),
    ],
)
def test_the_seeds_must_agree(seeds: tuple[float, ...], by: str, expected: str) -> None:
    assert judge(a_against_b(">", by), ratios(*seeds)).verdict == expected


def test_every_most_and_average() -> None:
    # Ratios 4 at 4k, 0.5 at 64k: one of two holds; their geometric mean is the square root of 2.
    data = results({"a": {"4k": [40.0], "64k": [5.0]}, "b": {"4k": [10.0], "64k": [10.0]}})
    assert judge(a_against_b(), data).verdict == "does not hold"
    assert judge(a_against_b(cells="most"), data).verdict == "does not hold"
    average = judge(a_against_b(">", "at least 1.4 times", cells="average"), data)
    (finding,) = average.findings
    assert average.verdict == "holds"
    assert finding.ratio is not None
    assert finding.ratio.median == pytest.approx(math.sqrt(2))
    assert judge(a_against_b(">", "at least 1.5 times", cells="average"), data).verdict == "does not hold"
    only_4k = judge(a_against_b(where={"request": "4k"}), data)
    assert only_4k.verdict == "holds"


def test_two_of_three_are_most() -> None:
    speeds = {"a": {"1k": [2.0], "4k": [2.0], "64k": [0.5]}, "b": {"1k": [1.0], "4k": [1.0], "64k": [1.0]}}
    judged = judge(a_against_b(cells="most"), results(speeds))
    assert judged.verdict == "holds"
    assert sorted(judged.cases.values()) == ["does not hold", "holds", "holds"]


@pytest.mark.parametrize(
    ("against", "open_", "expected"),
    [(1, 0, "holds"), (2, 0, "does not hold"), (0, 1, "holds"), (1, 1, "cannot be decided"), (2, 3, "does not hold")],
)
def test_a_few_exceptions_are_one_in_ten(against: int, open_: int, expected: str) -> None:
    ahead = {f"{place}k": [2.0] for place in range(10 - against - open_)}
    behind = {f"{place}M": [0.5] for place in range(against)}
    failed: dict[str, list[float]] = {f"{place}G": [] for place in range(1, 1 + open_)}
    speeds = {"a": ahead | behind | failed, "b": {request: [1.0] for request in ahead | behind | failed}}
    assert judge(a_against_b(cells="almost every"), results(speeds)).verdict == expected


def times(a: Mapping[str, Iterable[float]], b: Mapping[str, Iterable[float]]) -> Results:
    """Return results in seconds of a and of b, by file size."""
    rows = [
        {
            **{"filesystem": name, "file": file, "seed": seed},
            "outcome": "measured",
            "reason": "",
            "key": "k",
            "write_s": s,
        }
        for name, files in (("a", a), ("b", b))
        for file, seconds in files.items()
        for seed, s in enumerate(seconds, start=1)
    ]
    return results_of({"filesystem": ("a", "b"), "file": tuple(a)}, rows)


def test_an_average_of_seconds_is_another_than_one_of_ratios() -> None:
    # With a, the small file is twice as fast and the large one a tenth slower: 1 + 110 s against 2 + 100 s is 1.088
    # times, and the geometric mean of the ratios 0.5 and 1.1 is 0.742. The two means give opposite verdicts
    results_ = times({"1M": [1.0, 1.0], "16M": [110.0, 110.0]}, {"1M": [2.0, 2.0], "16M": [100.0, 100.0]})
    claim_ = a_against_b("<", metric="write_s", cells="average")
    assert judge(claim_, results_).verdict == "holds"
    in_time = judge(claim_.model_copy(update={"average": "time"}), results_)
    (finding,) = in_time.findings
    assert finding.ratio is not None
    assert finding.geometric is not None
    assert finding.ratio.median == pytest.approx(111 / 102)
    assert finding.geometric.median == pytest.approx(math.sqrt(0.5 * 1.1))
    assert (in_time.verdict, finding.geometric_verdict) == ("does not hold", "holds")
    assert finding.left.numbers == {1: 55.5, 2: 55.5}
    assert geometric_words(in_time) == Facts("geometric mean", "0.74", "it holds")


def test_an_average_needs_every_cell_with_a_common_seed() -> None:
    claim_ = a_against_b("<", metric="write_s", cells="average", average="time")
    apart = times({"1M": [1.0], "16M": [1.0, 2.0]}, {"1M": [2.0], "16M": [2.0, 3.0]})
    assert judge(claim_, apart).findings[0].left.numbers == {1: 1.0}  # the seed that both sizes have
    planned = [((name, file), 1) for name in "ab" for file in ("1M", "16M")]
    judged = judge(claim_, results_of(apart.axes, [], planned))
    assert (judged.verdict, judged.findings[0].missing) == ("cannot be decided", NOT_RUN)


def test_an_average_over_some_axes_leaves_the_others_as_cases() -> None:
    data = {"a": {"4k": [4.0], "64k": [1.0]}, "b": {"4k": [1.0], "64k": [2.0]}}
    assert judge(a_against_b(cells="average"), results(data)).verdict == "holds"  # the square root of 4 * 0.5
    judged = judge(a_against_b(cells="average", over="pattern"), results(data))
    assert (judged.verdict, len(judged.findings)) == ("does not hold", 2)
    assert [finding.case for finding in judged.decisive] == [(("request", "64k"),)]


def test_how_a_ratio_changes_along_an_axis() -> None:
    # a is 2 times ahead at 4k, 3 times at 16k and 5 times at 64k: pairs of these differ by 1.5, 2.5 and 1.67 times
    data = {"a": {"4k": [2.0], "16k": [6.0], "64k": [50.0]}, "b": {"4k": [1.0], "16k": [2.0], "64k": [10.0]}}
    gap = a_against_b("flat", "within 2.6 times", gap_along="request")
    judged = judge(gap, results(data))
    assert judged.verdict == "holds"
    medians = [finding.ratio.median for finding in judged.findings if finding.ratio]
    assert medians == pytest.approx([1.5, 2.5, 5 / 3])
    assert len(judged.findings[0].cells) == 4
    assert judge(a_against_b("flat", "no large difference", gap_along="request"), results(data)).verdict != "holds"
    assert judge(a_against_b("rises", gap_along="request"), results(data)).verdict == "holds"
    assert said(gap, results(data)) == Facts(
        "closest", "request size 64k", "request size 4k", "2.5 times", "one seed", "0.38 to 2.6"
    )
    assert judge(gap, results({name: {"4k": [1.0]} for name in "ab"})).verdict == "cannot be decided"  # no second value
    data["b"]["16k"] = []
    open_ = judge(gap, results(data))
    assert open_.verdict == "cannot be decided"
    assert open_.decisive[0].missing == NotMeasured(Status.FAILED, "mkfs: exit status 1")


def test_an_explanation_is_shown_only_with_its_verdict() -> None:
    claim_ = a_against_b(why={"holds": "a keeps a map."})
    assert judge(claim_, ratios(2.0)).why == "a keeps a map."
    assert judge(claim_, ratios(0.5)).why == ""


def test_a_failed_cell_leaves_a_claim_open_and_says_why() -> None:
    data = {"a": {"4k": [20.0], "64k": [20.0]}, "b": {"4k": [10.0], "64k": []}}
    judged = judge(a_against_b(), results(data))
    assert judged.verdict == "cannot be decided"
    assert [finding.missing for finding in judged.decisive] == [NotMeasured(Status.FAILED, "mkfs: exit status 1")]
    # A case that refutes the claim decides, whatever else is open
    assert judge(a_against_b("<"), results(data)).verdict == "does not hold"
    assert judge(a_against_b(cells="average"), results(data)).verdict == "cannot be decided"


def test_what_never_ran_cannot_be_decided() -> None:
    planned = [((name, "write", "4k"), 1) for name in "ab"]
    judged = judge(a_against_b(), results_of(AXES, [], planned))
    assert (judged.verdict, judged.findings[0].missing) == ("cannot be decided", NOT_RUN)
    assert judge(a_against_b(), results_of(AXES, [])).verdict == "cannot be decided"


def test_one_against_each_of_several() -> None:
    fastest = claim(compare=[{"filesystem": "a"}, {"filesystem": ["b", "c"]}], relation=">")
    assert judge(fastest, results({"a": {"4k": [3.0]}, "b": {"4k": [2.0]}, "c": {"4k": [1.0]}})).verdict == "holds"
    beaten = judge(fastest, results({"a": {"4k": [3.0]}, "b": {"4k": [2.0]}, "c": {"4k": [4.0]}}))
    assert beaten.verdict == "does not hold"
    assert [finding.right.coordinates for finding in beaten.decisive] == [(("filesystem", "c"),)]


def test_a_chain_holds_each_against_the_next() -> None:
    chain = claim(compare=[{"filesystem": name} for name in "abc"], relation=["<", "<<"])
    assert judge(chain, results({"a": {"4k": [1.0]}, "b": {"4k": [1.2]}, "c": {"4k": [2.4]}})).verdict == "holds"
    judged = judge(chain, results({"a": {"4k": [1.0]}, "b": {"4k": [1.2]}, "c": {"4k": [2.3]}}))
    assert judged.verdict == "does not hold"
    assert [finding.step for finding in judged.decisive] == [1]


@pytest.mark.parametrize(
    ("speeds", "relation", "by", "expected"),
    [
        ([1.0, 2.0, 3.0], "rises", "", "holds"),
        ([1.0, 2.0, 1.9], "rises", "", "does not hold"),  # it rises as a whole, but the last step goes back
        ([1.0, 2.0, 2.0], "rises", "", "holds"),
        ([1.0, 2.0, 3.0], "rises", "at least 4 times", "does not hold"),
        ([3.0, 2.0, 1.0], "falls", "", "holds"),
        ([3.0, 2.0, 1.0], "rises", "", "does not hold"),
        ([1.0, 1.05, 1.09], "flat", "", "holds"),
        ([1.0, 1.2, 1.0], "flat", "", "does not hold"),
        ([1.0, 1.2, 1.0], "flat", "within 20 %", "holds"),
    ],
)
def test_along_an_axis(speeds: list[float], relation: str, by: str, expected: str) -> None:
    # The axis has 64k, 4k, 16k: sizes are sorted
    data = results(
        {"a": dict(zip(("64k", "4k", "16k"), ([s] for s in (speeds[2], speeds[0], speeds[1])), strict=True))}
    )
    claim_ = claim(along="request", relation=relation, **({"by": by} if by else {}))
    assert judge(claim_, data).verdict == expected


def test_identical_to_the_last_digit() -> None:
    same = claim(along="filesystem", relation="flat", by="within 0 %")
    data = {"a": {"4k": [1.1, 1.3]}, "b": {"4k": [1.1, 1.3]}}
    assert judge(same, results(data)).verdict == "holds"
    assert judge(same, results({**data, "b": {"4k": [1.1, 1.3000000001]}})).verdict == "does not hold"


def test_against_a_fixed_number() -> None:
    near_100 = claim(value=100, relation="=", by="within 5 %")
    assert judge(near_100, results({"a": {"4k": [96.0, 99.0]}})).verdict == "holds"
    assert judge(near_100, results({"a": {"4k": [80.0, 82.0]}})).verdict == "does not hold"
    above = claim(value=100, relation=">")
    assert judge(above, results({"a": {"4k": [100.0]}})).verdict == "holds"
    assert judge(above, results({"a": {"4k": [99.9, 100.1]}})).verdict == "undecided"


def test_a_claim_of_several_metrics_must_hold_for_each() -> None:
    both = a_against_b(metric=["bandwidth", "iops"])
    data = results({"a": {"4k": [2.0]}, "b": {"4k": [1.0]}})
    assert judge(both, data).verdict == "cannot be decided"
    assert [finding.missing for finding in judge(both, data).decisive] == [NoMetric("iops")]


# --- the paper's own figures ------------------------------------------------------------------------------------------


def printed(a: float, b: float, **more: Any) -> list[dict[str, Any]]:
    return [
        {"at": {"filesystem": "a"}, "value": a, **more},
        {"at": {"filesystem": "b"}, "value": b},
    ]


def test_the_papers_figures_are_held_to_the_same_band() -> None:
    data = ratios(2.0, 2.1)
    judged = judge(a_against_b(printed=printed(12783, 3154)), data)
    assert (judged.verdict, judged.printed_verdict) == ("holds", "holds")
    assert judged.findings[0].printed_ratio == pytest.approx(12783 / 3154)
    assert judge(a_against_b(printed=printed(97.2, 99.5)), data).printed_verdict == "does not hold"
    assert judge(a_against_b(), data).printed_verdict is None


def test_figures_of_the_paper_that_refute_its_sentence_are_told_as_they_are() -> None:
    # Noop's 14.14 s and deadline's 13.21 s: 0.9342 times, so 6.6 % and not the "about 2 %" of 1.82 to 2.2 %.
    judged = judge(a_against_b("<", "about 2 %", printed=printed(13.21, 14.14)), ratios(0.98))
    assert (judged.verdict, judged.printed_verdict) == ("holds", "does not hold")
    assert printed_words(judged, Words(AXES)) == Facts(
        "paper's own figures do not bear", "a against b", "0.9342 times", "13.21 : 14.14", "0.978 to 0.9818"
    )


def test_an_invalid_figure_is_shown_and_not_judged_by() -> None:
    judged = judge(a_against_b(printed=printed(1078400404, 461, invalid="an impossible rate")), ratios(2.0))
    assert (judged.verdict, judged.printed_verdict) == ("holds", None)
    assert [figure.value for figure in judged.invalid] == [1078400404]
