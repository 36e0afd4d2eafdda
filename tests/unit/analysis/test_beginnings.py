# SPDX-License-Identifier: Apache-2.0
"""A short cell that is only the beginning of a longer one does not decide: made-up results, with the reasons."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from flashbed.analysis import Load, Results, Words, amount_axis, compare, doubts, lines, sentence
from flashbed.analysis.answer import doubt_words
from flashbed.report.trust import trust
from flashbed.study.format import Answer, Claim
from tests.support.facts import Facts
from tests.support.made_up_results import made_up_frame, made_up_study, rows_of
from tests.support.tabled import report_of, results_of

FALLS = "not steady: falls from 6 MiB/s in its first half to 2 in its second, 100 % of its mean"
SHORT = "not known: it moved in too few steps to tell"

Cells = Mapping[str, Mapping[str, tuple[float, str]]]
"""By file system and file size, a bandwidth and what is said of its steadiness."""


def results_of_cells(cells: Cells, axis: str = "file") -> Results:
    rows: list[dict[str, Any]] = [
        {"filesystem": name, "pattern": "write", axis: size, "seed": 1, "outcome": "measured", "reason": "", "key": "k"}
        | {"bandwidth": value, "steady": steady, "limit": "medium", "write_amplification": 1.0}
        for name, sizes in cells.items()
        for size, (value, steady) in sizes.items()
    ]
    sizes = dict.fromkeys(size for cell in cells.values() for size in cell)
    return results_of({"filesystem": tuple(cells), "pattern": ("write",), axis: tuple(sizes)}, rows)


def answered(cells: Cells) -> tuple[dict[tuple[str, str], str], str, str]:
    """Return why single cells do not decide, the line and the sentence."""
    results = results_of_cells(cells)
    barred = doubts(results, "bandwidth", amount_axis(results))
    comparison = compare(results, ("filesystem",), ("pattern",), "bandwidth", True, barred)
    words = Words(results.axes)
    [line] = lines([Load(comparison, group) for group in comparison.groups], words)
    reasons = {
        (name, size): doubt_words(doubt) for (name, _, size), doubt in barred.items() if doubt.kind == "too short"
    }
    return reasons, line, sentence(comparison, comparison.groups[0], words)


def test_the_beginning_of_what_is_not_steady_does_not_decide() -> None:
    """The longer cell gives 2.4 times and is still falling; its beginning alone would give 1.34."""
    reasons, line, text = answered({
        "a": {"10M": (7.4, SHORT), "100M": (6.5, "steady")},
        "b": {"10M": (5.5, SHORT), "100M": (2.7, FALLS)},
    })  # fmt: skip
    assert reasons["b", "10M"] == Facts("only the beginning", "100M", "not steady")
    # 7.4 / 6.5 = 1.138: more than the 10 % by which half of a steady rate may differ from all of it
    assert reasons["a", "10M"] == Facts("too short", "1.14 times off", "100M")
    assert line == Facts("Not decided: no steady rate", "everywhere")
    assert Facts("not decided", "the beginning", "100M", "not steady (falls from 6 MiB/s").within(text)


def test_a_beginning_is_one_even_if_it_was_steady_by_itself() -> None:
    reasons, *_ = answered({"a": {"10M": (7.4, "steady"), "100M": (2.7, FALLS)}, "b": {"10M": (1.0, "steady")}})
    assert list(reasons) == [("a", "10M")]


def test_any_longer_one_that_is_not_steady_tells() -> None:
    """Over 100M the rate falls; over 1G it has long been steady. 10M has reached neither."""
    reasons, *_ = answered({"a": {"1G": (2.0, "steady"), "10M": (7.4, "steady"), "100M": (2.7, FALLS)}})
    assert list(reasons) == [("a", "10M")]


def test_what_agrees_with_the_longer_one_supports_it() -> None:
    reasons, line, _ = answered({
        "a": {"10M": (7.1, SHORT), "100M": (6.5, "steady")},
        "b": {"10M": (2.9, SHORT), "100M": (2.7, "steady")},
    })  # fmt: skip
    assert reasons == {}
    assert line == "a is fastest: 2.4 times as fast as b."  # 7.1 * 6.5 / (2.9 * 2.7) = 5.894, its root 2.43


def test_what_was_steady_in_both_depends_on_the_size() -> None:
    reasons, line, _ = answered({
        "a": {"10M": (7.0, "steady"), "100M": (2.0, "steady")},
        "b": {"10M": (3.5, "steady"), "100M": (3.0, "steady")},
    })  # fmt: skip
    assert reasons == {}
    assert Facts("depends on file size", "a at 10M", "2.0 times", "b at 100M").within(line)


def test_a_longer_one_of_which_nothing_is_known_says_nothing() -> None:
    reasons, *_ = answered({"a": {"10M": (7.0, SHORT), "100M": (2.0, SHORT)}, "b": {"10M": (1.0, "")}})
    assert reasons == {}


def test_the_longer_one_alone_decides() -> None:
    """Half of the settings, those of the longer cells, are left. That is enough."""
    reasons, line, _ = answered({
        "a": {"10M": (110.0, SHORT), "100M": (70.0, "steady")},
        "b": {"10M": (9.0, "steady"), "100M": (7.0, "steady")},
    })  # fmt: skip
    assert list(reasons) == [("a", "10M")]
    assert line == Facts("a is fastest", "10 times as fast as b", "file size 100M", "1 of 2 settings")


def test_what_is_no_speed_is_not_doubted() -> None:
    results = results_of_cells({"a": {"10M": (7.4, SHORT), "100M": (2.7, FALLS)}})
    assert doubts(results, "write_amplification", amount_axis(results)) == {}


def test_of_an_amount_of_io_the_file_is_a_setting() -> None:
    axes = {"filesystem": ("a", "b"), "file": ("10M", "100M"), "io_size": ("4M", "8M")}
    assert amount_axis(results_of(axes, [])) == "io_size"
    assert amount_axis(results_of({**axes, "io_size": ("4M",)}, [])) == "file"
    assert amount_axis(results_of({"filesystem": ("a", "b")}, [])) is None


def test_sizes_that_are_asked_for_apart_are_loads_of_their_own() -> None:
    results = results_of_cells({"a": {"10M": (7.4, SHORT), "100M": (2.7, FALLS)}})
    assert amount_axis(results, ("pattern", "file")) is None


def test_a_report_holds_claims_and_answers_to_it() -> None:
    base = made_up_study()
    claim = Claim(
        text="F2FS is ahead.", where={"pattern": ("randwrite",), "request": ("4k",)}, metric=("bandwidth",),
        compare=[{"filesystem": ("f2fs",)}, {"filesystem": ("ext2:block=4k",)}], relation=(">",),
    )  # fmt: skip
    answer = Answer(compare=("filesystem",), metric=("bandwidth",), by=("pattern", "request"))
    study = replace(base, claims=(claim,), answer=answer, choices=(), axes={**base.axes, "file": ("1M", "10M")})
    rows = [
        {**row, "file": file, "limit": "medium", "steady": steady}
        for row in rows_of(made_up_frame(base))
        for file, steady in (("1M", SHORT), ("10M", FALLS if row["filesystem"] == "f2fs" else "steady"))
    ]
    report = report_of(study, rows)
    [judgement] = report.judgements()
    trusted = trust(report, judgement)
    # F2FS and ext2 with two file sizes each: only the longer cell of F2FS falls, and both of ext2 agree
    assert (trusted.cells, trusted.number("not steady"), trusted.number("too short")) == (4, 1, 1)
    assert "1 of 4 too short" in trusted.short
    assert "only the beginning of a longer one with another rate in 1" in trusted.sentence
    [comparison] = report.comparisons(answer)
    [group] = [group for group in comparison.groups if dict(group.at) == {"pattern": "randwrite", "request": "4k"}]
    assert ("f2fs",) in group.in_doubt
    alone = replace(study, answer=Answer(compare=("filesystem",), metric=("bandwidth",), by=("pattern", "file")))
    assert report_of(alone, rows).too_short == {}
    assert report_of(replace(study, workload={"io_size": "4M"}), rows).too_short == {}
    assert report.too_short
