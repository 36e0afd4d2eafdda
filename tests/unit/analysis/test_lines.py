# SPDX-License-Identifier: Apache-2.0
"""Loads with the same verdict share a line: exact lines from made-up tables."""

from __future__ import annotations

from collections.abc import Mapping

from flashbed.analysis import AnswerLines, Load, Words, compare, lines, shortened
from flashbed.analysis.lines import METRIC, MOST_ANSWER_LINES, boxes, whereabouts
from flashbed.analysis.words import metric_of
from flashbed.result.metrics import METRICS
from tests.support.facts import Facts
from tests.support.tabled import results_of

Table = dict[tuple[str, ...], tuple[float, ...]]
"""By the values of `by`, a bandwidth for each of a, b and c."""


def lines_of(axes: Mapping[str, tuple[str, ...]], table: Table, metrics: tuple[str, ...] = ("bandwidth",)) -> list[str]:
    by = tuple(axes)
    rows = [
        dict(zip(by, at, strict=True))
        | {"filesystem": name, "seed": 1, "outcome": "measured", "reason": "", "key": "k"}
        | dict.fromkeys(metrics, value)
        for at, values in table.items()
        for name, value in zip("abc", values, strict=False)
    ]
    results = results_of({"filesystem": tuple("abc"[: len(next(iter(table.values())))]), **axes}, rows)
    comparisons = [compare(results, ("filesystem",), by, metric, True) for metric in metrics]
    return lines(
        [Load(comparison, group) for comparison in comparisons for group in comparison.groups], Words(results.axes)
    )


PATTERNS = ("read", "randread", "write", "randwrite")
SIZES = ("1k", "4k", "64k")


def test_a_verdict_on_all_sizes_has_one_line() -> None:
    table: Table = {(pattern, size): (30.0, 10.0) for pattern in PATTERNS for size in SIZES}
    assert lines_of({"pattern": PATTERNS, "request": SIZES}, table) == [
        "a is fastest throughout: 3.0 times as fast as b."
    ]
    for size, lead in zip(SIZES, (12.0, 15.0, 20.0), strict=True):
        table["randwrite", size] = (10.0, lead)
    assert lines_of({"pattern": PATTERNS, "request": SIZES}, table) == [
        Facts("a is fastest", "sequential read, random read and sequential write", "3.0 times as fast as b"),
        Facts("b is fastest", "random write", "1.20 to 2.0 times as fast as a"),
    ]


def test_sizes_that_differ_are_named() -> None:
    table: Table = {(pattern, size): (30.0, 10.0) for pattern in ("read", "write") for size in SIZES}
    table["write", "1k"] = table["write", "4k"] = (10.0, 10.05)
    assert lines_of({"pattern": ("read", "write"), "request": SIZES}, table) == [
        # Two boxes hold a's loads, and one box holds the rest
        Facts("a is fastest", "all but sequential write, request size 1k and 4k", "3.0 times as fast as b"),
        Facts("No clear difference between b and a", "sequential write, request size 1k and 4k"),
    ]


def test_loads_too_many_to_be_named_are_those_of_the_picture() -> None:
    sizes = (*SIZES, "256k")
    table: Table = {
        (pattern, size): (30.0, 10.0) if row == column else (10.0, 30.0)
        for row, pattern in enumerate(PATTERNS)
        for column, size in enumerate(sizes)
    }
    assert lines_of({"pattern": PATTERNS, "request": sizes}, table) == [
        Facts("b is fastest", "12 loads of 16", "see the picture", "3.0 times as fast as a"),
        Facts("a is fastest", "4 loads of 16", "see the picture", "3.0 times as fast as b"),
    ]


def test_reads_are_not_flushed() -> None:
    table: Table = {
        ("randread", "fsync"): (30.0, 10.0),
        ("write", "fsync"): (10.0, 30.0),
        ("write", "fsync-each"): (30.0, 10.0),
    }
    assert lines_of({"pattern": ("randread", "write"), "flush": ("fsync", "fsync-each")}, table) == [
        Facts("a is fastest", "all but sequential write, flushed at the end", "3.0 times as fast as b"),
        Facts("b is fastest", "sequential write, flushed at the end", "3.0 times as fast as a"),
    ]
    words = Words({"pattern": ("read",)})
    assert words.places({"pattern": "read", "flush": "fsync"}) == "sequential read"
    assert words.places({"pattern": "randread", "allocate": "true"}) == "random read"
    assert words.places({"pattern": "write", "allocate": "false"}) == "sequential write, overwriting"
    assert words.places({"pattern": "rw", "flush": "fsync"}) == "sequential read and write, flushed at the end"


def test_the_next_is_named_where_there_are_more_than_two() -> None:
    table: Table = {("read",): (30.0, 20.0, 10.0), ("write",): (30.0, 10.0, 25.0)}
    assert lines_of({"pattern": ("read", "write")}, table) == [
        Facts("a is fastest throughout", "1.20 to 1.50 times as fast", "b or c")
    ]


def test_a_line_says_one_thing() -> None:
    """30 against 29 is 3 %. Nobody should read that in one line with 1.5 times."""
    table: Table = {("read",): (30.0, 20.0, 10.0), ("write",): (30.0, 10.0, 29.0)}
    assert lines_of({"pattern": ("read", "write")}, table) == [
        Facts("a is fastest", "sequential read", "1.50 times as fast", "b"),
        Facts("a is fastest", "sequential write", "3 % faster", "c"),
    ]


def test_what_depends_is_gathered_too() -> None:
    table = {("read", "4k"): (30.0, 10.0), ("read", "64k"): (10.0, 30.0)}
    table |= {("write", size): cells for (_, size), cells in table.items()}
    rows = [
        {"pattern": pattern, "request": request, "filesystem": name, "seed": 1, "outcome": "measured"}
        | {"reason": "", "key": "k", "bandwidth": value}
        for (pattern, request), values in table.items()
        for name, value in zip("ab", values, strict=True)
    ]
    results = results_of({"filesystem": ("a", "b"), "pattern": ("read", "write"), "request": ("4k", "64k")}, rows)
    comparison = compare(results, ("filesystem",), ("pattern",), "bandwidth", True)
    assert lines([Load(comparison, group) for group in comparison.groups], Words(results.axes)) == [
        Facts("Which of a and b is fastest", "depends on request size", "throughout")
    ]


def test_several_metrics_are_one_more_axis() -> None:
    table: Table = {("read",): (30.0, 10.0), ("write",): (30.0, 10.0)}
    metrics = ("block_output", "block_input")
    assert lines_of({"pattern": ("read", "write")}, table, metrics) == [
        "a is fastest throughout: 3.0 times as fast as b."
    ]


def test_each_part_of_a_line_says_which_metric_it_is_of() -> None:
    """The verdict is the same in all writes, and in reads on b. The second part holds of writing too, and the line says
    so.
    """
    writing = [(("metric", "write_s"), ("translation", name)) for name in "ab"]
    reading = [(("metric", "read_s"), ("translation", name)) for name in "ab"]
    assert boxes([*writing, reading[1]], [*writing, *reading]) == [
        {"metric": ["write_s"]},
        {"metric": ["read_s"], "translation": ["b"]},
    ]


def test_a_way_of_doing_needs_a_word_for_what_is_done() -> None:
    table: Table = {(pattern, direct): (30.0, 10.0) if direct == "true" else (10.0, 30.0)
             for pattern in ("read", "write") for direct in ("true", "false")}  # fmt: skip
    assert lines_of({"pattern": ("read", "write"), "direct": ("true", "false")}, table) == [
        Facts("a is fastest", "past the page cache", "3.0 times as fast as b"),
        Facts("b is fastest", "through the page cache", "3.0 times as fast as a"),
    ]


def test_labels_that_begin_with_a_preposition_stand_alone() -> None:
    table: Table = {("r",): (30.0, 10.0), ("w",): (10.0, 30.0)}
    rows = [
        {"other": at[0], "filesystem": name, "seed": 1, "outcome": "measured", "reason": "", "key": "k"}
        | {"bandwidth": value}
        for at, values in table.items()
        for name, value in zip("ab", values, strict=True)
    ]
    results = results_of({"filesystem": ("a", "b"), "other": ("r", "w")}, rows)
    words = Words(results.axes, labels={"other": {"r": "beside a reader", "w": "beside a writer"}})
    comparison = compare(results, ("filesystem",), ("other",), "bandwidth", True)
    assert lines([Load(comparison, group) for group in comparison.groups], words) == [
        "a is fastest beside a reader: 3.0 times as fast as b.",
        "b is fastest beside a writer: 3.0 times as fast as a.",
    ]


def test_boxes_hold_what_they_should_and_no_more() -> None:
    def at(pattern: str, size: str) -> tuple[tuple[str, str], ...]:
        return (("pattern", pattern), ("request", size))

    everywhere = [at(pattern, size) for pattern in PATTERNS for size in SIZES]
    here = [at("read", size) for size in SIZES] + [at("write", "1k"), at("write", "4k")]
    assert boxes(here, everywhere) == [{"pattern": ["read"]}, {"pattern": ["read", "write"], "request": ["1k", "4k"]}]


def test_a_value_that_stands_for_no_load_is_not_said() -> None:
    """No read is flushed after each request, so no line may say that of a read."""
    table: Table = {
        ("randread", "fsync"): (10.0, 30.0),
        ("write", "fsync"): (10.0, 30.0),
        ("write", "fsync-each"): (30.0, 10.0),
        ("randwrite", "fsync-each"): (10.0, 30.0),
    }
    _, said_of_a = lines_of({"pattern": ("randread", "write", "randwrite"), "flush": ("fsync", "fsync-each")}, table)
    assert said_of_a == Facts("a is fastest", "sequential write, flushed after each request", "3.0 times as fast as b")


def test_a_line_names_each_condition_under_which_it_was_measured() -> None:
    """Of two sizes only random write has the small one. "For sequential write" alone would include the small one, which
    nobody measured.
    """
    table: Table = {
        ("write", "large"): (30.0, 10.0),
        ("randwrite", "large"): (10.0, 30.0),
        ("randwrite", "small"): (10.0, 10.0),
    }
    assert lines_of({"pattern": ("write", "randwrite"), "request": ("large", "small")}, table) == [
        Facts("a is fastest", "sequential write, request size large", "3.0 times as fast as b"),
        Facts("b is fastest", "random write, request size large", "3.0 times as fast as a"),
        Facts("No clear difference between a and b", "random write, request size small"),
    ]


def test_an_answer_has_at_most_ten_lines() -> None:
    answers = [AnswerLines([f"{question}{line}" for line in range(6)]) for question in "abc"]
    short = shortened(answers)
    assert sum(map(len, short)) == MOST_ANSWER_LINES
    # The first question is the study's own; it keeps its lines while the others have more than two
    assert short[0] == answers[0].texts
    assert short[2] == ["c0", "c1 For 4 more verdicts see the picture."]
    assert shortened(answers, 7)[0] == ["a0", "a1", "a2 For 3 more verdicts see the picture."]
    assert shortened(answers, 3)[1] == ["b0 For 5 more verdicts see the picture."]
    memory = "Not decided: memory, everywhere; nothing is recommended there."
    # The line on what is not decided stays, after the winners: without winners there is no answer
    answer = AnswerLines(["a", "b", memory, "c"], memory)
    assert shortened([answer], 3) == [["a", "b", f"{memory} For 1 more verdict see the picture."]]
    left = "For 2 more verdicts, where something is not decided, see the picture."
    assert shortened([answer], 2) == [["a", f"b {left}"]]
    assert shortened([AnswerLines(["a"]), AnswerLines(["b"])]) == [["a"], ["b"]]


def test_times_of_what_is_done_are_told_without_a_second_preposition() -> None:
    """The line does not say "is fastest for until mounted"."""
    everywhere = [((METRIC, name),) for name in ("mount_s", "mount_after_cut_s", "bandwidth")]
    assert whereabouts(everywhere[:2], everywhere, Words({})) == " to mount and to mount after a power cut"
    titles = [metric_of(name).title for name in METRICS]
    assert all(title.startswith("Time to ") for title in titles if title.startswith("Time "))
