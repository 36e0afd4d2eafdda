# SPDX-License-Identifier: Apache-2.0
"""On how many of its settings a verdict rests: one rule for the picture and for the words, and figures that compare."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from flashbed.analysis import Comparison, Load, Words, compare, doubts, lines, sentence
from flashbed.analysis.decisive import is_enough
from flashbed.report.matrix import Matrix, matrix
from tests.support.facts import Facts
from tests.support.tabled import results_of

Cells = Mapping[str, Mapping[str, Any]]
"""By file system and request size a bandwidth, or (bandwidth, steadiness); None is planned and not run."""

RISES = "not steady: rises from 1 MiB/s in its first half to 3 in its second, 100 % of its mean"


def compared(cells: Cells, *seeds: float) -> tuple[Comparison, Words]:
    """Return the comparison. Each seed has its factor times the number."""
    rows, planned = [], []
    for name, sizes in cells.items():
        for size, measured in sizes.items():
            value, steady = measured if isinstance(measured, tuple) else (measured, "steady")
            for seed, times in enumerate(seeds or (1.0,), start=1):
                planned.append(((name, "write", size), seed))
                cell = {"filesystem": name, "pattern": "write", "request": size, "seed": seed}
                if value is not None:
                    rows.append({**cell, "outcome": "measured", "reason": "", "key": "k", "steady": steady}
                                | {"bandwidth": value * times, "limit": "medium"})  # fmt: skip
    sizes = dict.fromkeys(size for sizes in cells.values() for size in sizes)
    results = results_of({"filesystem": tuple(cells), "pattern": ("write",), "request": tuple(sizes)}, rows, planned)
    return compare(results, ("filesystem",), ("pattern",), "bandwidth", True, doubts(results, "bandwidth")), Words(
        results.axes
    )


def answered(cells: Cells, *seeds: float) -> tuple[list[tuple[str, str, str]], str, str]:
    """Return the fields as (tone, text, note), the line and the sentence."""
    comparison, words = compared(cells, *seeds)
    loads = [Load(comparison, group) for group in comparison.groups]
    row = matrix([loads], words).parts[0].rows[0]
    fields = [(field.tone, field.text, field.note) for field in row.fields if field]
    [line] = lines(loads, words)
    return fields, line, sentence(comparison, comparison.groups[0], words)


@pytest.mark.parametrize(
    ("deciding", "planned", "enough"), [(4, 8, True), (3, 8, False), (1, 1, True), (0, 0, False), (2, 5, False)]
)
def test_half_of_the_settings_are_enough(deciding: int, planned: int, enough: bool) -> None:
    assert is_enough(deciding, planned) is enough


def sizes(*values: Any) -> dict[str, Any]:
    return dict(zip(("1k", "4k", "16k", "64k"), values, strict=False))


def test_a_verdict_on_part_of_the_settings_says_so_in_each_field() -> None:
    # Two of four sizes decide; the means of both values are over these two
    fields, line, text = answered({"a": sizes(4.0, 4.0, 9.0, 9.0), "b": sizes(2.0, 2.0, (9.0, RISES), (9.0, RISES))})
    assert fields == [
        ("best", "best", "4.00 MiB/s on 2 of 4 settings"),
        ("behind", "2.0× slower", "2.00 MiB/s on 2 of 4 settings, not steady in 2"),
    ]
    assert line == "a is fastest: 2.0 times as fast as b (2 of 4 settings)."
    assert text == Facts(
        "sequential write",
        "a is 2.0 times as fast as b",
        "at each of 2 request sizes",
        "2 of 4 settings",
        "not steady",
        "rises from 1 MiB/s",
        "3",
        "100 % of its mean",
    )


def test_fewer_than_half_of_the_settings_decide_nothing() -> None:
    """If one of four settings decides for b, no value is best, and both figures are over the same four."""
    fields, line, text = answered({
        "a": sizes(8.0, 8.0, (8.0, RISES), (8.0, RISES)),
        "b": sizes(2.0, (2.0, RISES), 2.0, (2.0, RISES)),
    })  # fmt: skip
    assert fields == [("doubt", "not steady in 2 of 4", "8.00 MiB/s"), ("doubt", "not steady in 2 of 4", "2.00 MiB/s")]
    assert line == Facts("Not decided: no steady rate", "everywhere")
    assert Facts("sequential write, not decided", "1 of 4 settings", "fewer than half").within(text)


def test_what_decides_too_seldom_does_not_bar_the_others() -> None:
    fields, line, text = answered({
        "a": sizes(4.0, 4.0, 4.0, 4.0),
        "b": sizes(2.0, 2.0, 2.0, 2.0),
        "c": sizes(9.0, (9.0, RISES), (9.0, RISES), (9.0, RISES)),
    })  # fmt: skip
    assert fields == [
        ("leads", "ahead of the rest", "4.00 MiB/s"),
        ("behind", "2.0× slower", "2.00 MiB/s"),
        ("doubt", "not steady in 3 of 4", "9.00 MiB/s"),  # over all four settings, as the other figures are
    ]
    assert line.startswith("Not decided")
    assert Facts("a is 2.0 times as fast as b", "at each of 4 request sizes", "Not decided: c", "its rate").within(text)


def test_results_that_are_missing_do_not_decide_either() -> None:
    fields, line, text = answered({"a": sizes(4.0, None, None, None), "b": sizes(2.0, None, None, None)})
    assert fields == [
        ("doubt", "too few results", "4.00 MiB/s at request size 1k (1 of 4 settings)"),
        ("doubt", "too few results", "2.00 MiB/s at request size 1k (1 of 4 settings)"),
    ]
    assert line == Facts("Not decided: missing results", "everywhere")
    assert Facts("only 1 of 4 settings decide", "results are missing").within(text)


def test_beside_what_has_too_few_results_none_is_called_best() -> None:
    fields, line, text = answered({"a": sizes(4.0, 4.0, 4.0, 4.0), "b": sizes(2.0, 2.0, 2.0, 2.0),
                               "c": sizes(9.0, None, None, None)})  # fmt: skip
    assert fields == [
        ("leads", "ahead of the rest", "4.00 MiB/s"),
        ("behind", "2.0× slower", "2.00 MiB/s"),
        ("doubt", "too few results", "9.00 MiB/s at request size 1k (1 of 4 settings)"),
    ]
    assert line == Facts("Not decided: missing results", "everywhere")
    assert text.endswith("Not decided: c, because results are missing.")


def test_one_value_that_is_not_steady_has_its_figure_and_the_reason() -> None:
    fields, line, text = answered({"a": sizes((5.0, RISES))})
    assert fields == [("doubt", "not steady", "5.00 MiB/s")]
    assert line == Facts("Not decided: no steady rate", "everywhere")
    assert Facts("sequential write, not decided", "not steady (rises from 1 MiB/s").within(text)


def test_several_reasons_stand_without_brackets_in_brackets() -> None:
    falls = RISES.replace("rises", "falls")
    _, _, text = answered({"a": sizes((5.0, RISES), (5.0, falls)), "b": sizes(2.0, 2.0)})
    assert text == Facts("sequential write", "not decided", "not steady", "Only b")


def test_seeds_that_lie_far_apart_show_their_range() -> None:
    # 1.25 times is wide; 1.24 is not
    fields, *_ = answered({"a": sizes(4.0), "b": sizes(2.0)}, 1.0, 1.25)
    assert [note for *_, note in fields] == ["4.50 MiB/s (seeds 4.00 to 5.00)", "2.25 MiB/s (seeds 2.00 to 2.50)"]
    fields, *_ = answered({"a": sizes(4.0), "b": sizes(2.0)}, 1.0, 1.24)
    assert [note for *_, note in fields] == ["4.48 MiB/s", "2.24 MiB/s"]


# --- what all loads have in common ----------------------------------------------------------------------------------


def picture(by: Mapping[str, tuple[str, ...]], *at: tuple[str, ...]) -> tuple[Matrix, list[str]]:
    rows = [
        dict(zip(by, place, strict=True))
        | {"filesystem": name, "seed": 1, "outcome": "measured", "reason": "", "key": "k", "bandwidth": value}
        for place in at
        for name, value in (("a", 2.0), ("b", 2.0 if place[0] == "read" else 1.0))
    ]
    results = results_of({"filesystem": ("a", "b"), **by}, rows)
    comparison = compare(results, ("filesystem",), tuple(by), "bandwidth", True)
    loads = [Load(comparison, group) for group in comparison.groups]
    words = Words(results.axes)
    return matrix([loads], words, {"board": "small"}), lines(loads, words)


def test_what_holds_for_all_loads_is_said_once_above() -> None:
    by = {"pattern": ("read", "write"), "file": ("10M",), "flush": ("fsync", "none")}
    shown, lines_ = picture(by, ("read", "10M", "none"), ("write", "10M", "none"), ("write", "10M", "fsync"))
    assert shown.same == "small, file size 10M"
    assert [(row.name, row.telling, row.rest) for row in shown.parts[0].rows] == [
        ("sequential read", "", ""),
        ("sequential write", "flushed at the end", ""),
        ("sequential write", "not flushed", ""),
    ]
    assert not any("10M" in line for line in lines_)


def test_loads_of_one_name_are_told_apart_by_their_titles() -> None:
    by = {"pattern": ("read", "write"), "file": ("10M", "1G"), "flush": ("fsync", "none")}
    at = [("read", "10M", "none"), ("write", "1G", "none"), ("write", "1G", "fsync")]
    rows = picture(by, *at)[0].parts[0].rows
    assert [(row.name, row.telling, row.rest) for row in rows] == [
        ("sequential read", "", "file size 10M"),
        ("sequential write", "flushed at the end", "file size 1G"),
        ("sequential write", "not flushed", "file size 1G"),
    ]


def test_a_single_load_keeps_its_name() -> None:
    shown, _ = picture({"pattern": ("write",)}, ("write",))
    assert shown.same == "small"
    assert [row.name for row in shown.parts[0].rows] == ["sequential write"]


def test_a_load_of_one_size_among_means_over_sizes_says_which() -> None:
    cells = [("a", "read", size, 2.0) for size in ("4k", "64k")] + [("a", "write", "4k", 2.0)]
    rows = [
        {"filesystem": name, "pattern": pattern, "request": size, "seed": 1, "outcome": "measured", "reason": ""}
        | {"key": "k", "bandwidth": value}
        for name, pattern, size, value in cells
    ]
    results = results_of({"filesystem": ("a",), "pattern": ("read", "write"), "request": ("4k", "64k")}, rows)
    comparison = compare(results, ("filesystem",), ("pattern",), "bandwidth", True)
    made = matrix([[Load(comparison, group) for group in comparison.groups]], Words(results.axes))
    assert [(row.name, row.rest) for row in made.parts[0].rows] == [
        ("sequential read", ""),
        ("sequential write", "request size 4k"),
    ]
