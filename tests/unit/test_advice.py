# SPDX-License-Identifier: Apache-2.0
"""What to choose: the value to take, how clear that is, and what must be said beside it, worked out by hand."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

import pytest
from made_up_papers import PAPERS, paper, paper_rows
from samples import write_study

from flashbed.analysis import Advice, Results, Words, advice, compare, results_of
from flashbed.errors import InputError
from flashbed.report.choosing import questions
from flashbed.report.model import report_of
from flashbed.study import load_study

Numbers = Mapping[str, Mapping[str, Iterable[float]]]


def results(numbers: Numbers, metric: str = "bandwidth") -> Results:
    """{file system: {request: a number for each seed}}; what is empty has not run."""
    rows = [
        {"filesystem": name, "request": request, "seed": seed, "outcome": "measured", "reason": "", "key": "k"}
        | {metric: value}
        for name, requests in numbers.items()
        for request, values in requests.items()
        for seed, value in enumerate(values, start=1)
    ]
    axes = {"filesystem": tuple(numbers), "request": ("4k", "64k")}
    return results_of(axes, rows, [((name, request), 1) for name in numbers for request in ("4k", "64k")])


def advised(numbers: Numbers, metric: str = "bandwidth", better: str = "higher", by: tuple[str, ...] = ()) -> Advice:
    found = results(numbers, metric)
    comparison = compare(found, "filesystem", by, metric, better == "higher")
    return advice(comparison, comparison.groups[0], Words(found.axes))


def test_a_clear_winner_is_told_with_its_interval() -> None:
    # 20 / 10, 22 / 10 and 24 / 10 at both sizes: 2.2 times, 2.0 to 2.4 over the seeds.
    numbers = {"a": dict.fromkeys(("4k", "64k"), (20.0, 22.0, 24.0)), "b": dict.fromkeys(("4k", "64k"), (10.0,) * 3)}
    assert advised(numbers) == Advice("", "a", "Better than b by a factor of 2.2 (from 2.0 to 2.4, 3 seeds).", True)
    # Of times, the lower is better: b takes 1 / 2.2 of what a takes.
    lower = advised(numbers, "runtime_s", "lower")
    assert lower == Advice("", "b", "Better than a by a factor of 2.2 (from 2.0 to 2.4, 3 seeds).", True)


def test_the_settings_have_a_range_of_their_own() -> None:
    # 4 at 4k and 2.25 at 64k; together the square root of 9.
    numbers = {"a": {"4k": (40.0,), "64k": (22.5,)}, "b": {"4k": (10.0,), "64k": (10.0,)}}
    assert advised(numbers).reason == (
        "Better than b by a factor of 3.0 (2.2 to 4.0 over 2 request sizes; one seed, so no interval)."
    )


def test_five_seeds_give_a_confidence_interval() -> None:
    numbers = {"a": {"4k": (20.0,) * 5}, "b": {"4k": (10.0,) * 5}}
    told = advised(numbers)
    assert told.reason == (
        "Better than b by a factor of 2.0 (95 % confidence 2.0 to 2.0, 5 seeds). "
        "From 1 of 2 settings; the others lack results."
    )


def test_where_the_winner_changes_it_depends() -> None:
    numbers = {
        "a": {"4k": (40.0,), "64k": (10.0,)},
        "b": {"4k": (10.0,), "64k": (20.0,)},
        "c": {"4k": (1.0,), "64k": (1.0,)},
    }
    told = advised(numbers)
    assert (told.choice, told.clear) == ("it depends", False)
    assert told.reason.startswith(
        "Which of a and b is faster depends on request size: a at 4k (up to 4.0 times), b at 64k (up to 2.0 times)."
    )
    assert "a is better than c by a factor of 20" in told.reason


def test_where_seeds_disagree_any_will_do() -> None:
    numbers = {"a": {"4k": (11.0, 9.0), "64k": (11.0, 9.0)}, "b": {"4k": (10.0,) * 2, "64k": (10.0,) * 2}}
    told = advised(numbers)
    assert (told.choice, told.clear) == ("a or b", False)
    assert told.reason == "No clear difference between a and b (less than 1 % apart)."


def test_what_was_not_measured_is_not_advised() -> None:
    assert advised({"a": {"4k": (1.0,)}, "b": {}}).choice == "not known yet"
    assert advised({"a": {}, "b": {}}) == Advice("", "not known yet", "Nothing was measured. Not known of a and b.")


# --- axes compared as one -------------------------------------------------------------------------------------------


def test_combinations_of_axes_are_compared_as_one() -> None:
    report = report_of(paper("kim2007"), paper_rows(paper("kim2007")), {})
    assert report.study.answer
    output, *_ = report.comparisons(report.study.answer)
    assert output.compare == "board + medium + translation + filesystem"
    assert report.words.axis(output.compare) == "board, medium, translation and file system"
    names = [report.words.value(output.compare, value) for value in output.values]
    # A disk, the card in each of two boards, two sizes of chip under YAFFS2, and one of them under a translation.
    assert "pxa270-520:pio_sector_ns=30720, 2.5 inch disk, ext2" in names
    assert "s3c2440-400, 64 MB raw NAND chip (used_bytes=64M), ftl-page, FAT16" in names
    assert len(names) == len(set(names)) == 6
    files = [dict(group.at)["file"] for group in output.groups]
    assert files == ["100M", "40M"]
    assert all(group.settings_planned == 1 for group in output.groups)


def test_only_the_cells_of_a_question_count() -> None:
    report = report_of(paper("choi2014"), paper_rows(paper("choi2014")), {})
    assert report.study.answer
    [comparison] = report.comparisons(report.study.answer)
    # Two file sizes and four request sizes; medium and kernel are fixed, so that nobody is told of them.
    assert [group.settings_planned for group in comparison.groups][:3] == [8, 8, 8]
    assert {axis for group in comparison.groups for setting in group.settings for axis, _ in setting} == {
        "file",
        "request",
    }


@pytest.mark.parametrize("name", PAPERS)
def test_each_paper_has_something_to_choose_by_every_question(name: str) -> None:
    report = report_of(paper(name), paper_rows(paper(name)), {})
    found = questions(report, [])
    assert len(found) >= 3
    assert all(question.advice for question in found)
    assert any(one.clear for question in found for one in question.advice)
    assert any("Not known of" in one.reason or "lack results" in one.reason for q in found for one in q.advice)


def test_there_is_no_scheduler_to_choose_on_a_raw_chip() -> None:
    report = report_of(paper("lee2013"), paper_rows(paper("lee2013")), {})
    writing = questions(report, [])[0]
    assert [one.choice == "nothing to choose" for one in writing.advice] == [True, True, False, False]


def test_memory_is_told_beside_the_advice() -> None:
    report = report_of(paper("choi2014"), paper_rows(paper("choi2014")), {})
    # Writes of a new file: those over an old one are a row of their own.
    where = {"pattern": ("write",), "allocate": ("true",), "kernel": ("6.1",), "direct": ("true",)}
    cells = list(report.results.combinations(where))
    told = [one.reason for one in questions(report, cells)[0].advice if "memory kept" in one.reason]
    # Two file systems, two file sizes, four request sizes on the stick.
    assert len(told) == 1
    assert told[0].endswith("In 16 of 16 cells memory kept most of the bytes, so the medium counts little.")


# --- mistakes -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ('compare = ["filesystem", "request"]\nmetric = "medium_read_byte"', 'no metric "medium_read_byte"'),
        ('compare = "filesystem"\nmetric = "requested_bytes"', '"requested_bytes" has no better direction'),
        (
            'compare = ["filesystem", "pattern"]\nmetric = "iops"\nby = "pattern"',
            '"pattern" is what is compared already',
        ),
        ('compare = "filesystem"\nmetric = "iops"\nwhere = { filesystem = "ext2" }', '"filesystem" has one value'),
        ('compare = "filesystem"\nmetric = "iops"\nwhere = { request = "5k" }', '"5k" is not on the axis "request"'),
    ],
)
def test_a_choice_that_cannot_be_made_is_told_with_its_key(tmp_path: Path, said: str, expected: str) -> None:
    path = write_study(tmp_path)
    path.write_text(f'{path.read_text()}\n[[choice]]\ntitle = "Which?"\n{said}\n')
    with pytest.raises(InputError) as caught:
        load_study(path)
    assert "choice[0]" in caught.value.message
    assert expected in caught.value.message
