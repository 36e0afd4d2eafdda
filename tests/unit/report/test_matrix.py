# SPDX-License-Identifier: Apache-2.0
"""The picture of an answer: the content of each field, against tables computed by hand."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from flashbed.analysis import Load, Words, compare, doubts
from flashbed.analysis.lines import MOST_ANSWER_LINES
from flashbed.report.answers import questions
from flashbed.report.matrix import TONES, Matrix, matrix
from flashbed.study.format import Answer
from tests.support.made_up_papers import PAPERS, paper, paper_rows
from tests.support.made_up_results import MANIFEST, made_up_frame, made_up_study, rows_of
from tests.support.tabled import bring_up_to_date, report_of, results_of

Row = Mapping[str, tuple[float, ...]]


def picture(numbers: Mapping[str, Row], metric: str = "bandwidth", better: bool = True, **more: Any) -> Matrix:
    """Return the picture of {file system: {request: a number a seed}} at random reads; `more` has a limit by file
    system.
    """
    rows = [
        {"filesystem": name, "pattern": "randread", "request": request, "seed": seed, "outcome": "measured"}
        | {"reason": "", "key": "k", metric: value, "limit": more.get(name, "medium")}
        for name, requests in numbers.items()
        for request, values in requests.items()
        for seed, value in enumerate(values, start=1)
    ]
    axes = {"filesystem": tuple(numbers), "pattern": ("randread",), "request": ("4k", "64k")}
    sizes = dict.fromkeys(request for requests in numbers.values() for request in requests)
    planned = [((name, "randread", request), 1) for name in numbers for request in sizes]
    results = results_of(axes, rows, planned)
    comparison = compare(results, ("filesystem",), ("pattern",), metric, better, doubts(results, metric))
    return matrix([[Load(comparison, group) for group in comparison.groups]], Words(results.axes))


def fields(picture_: Matrix) -> list[tuple[str, str, str, str] | None]:
    [part] = picture_.parts
    [row] = part.rows
    return [field if field is None else (field.tone, field.text, field.note, field.reason) for field in row.fields]


def test_each_field_has_its_factor_against_the_best() -> None:
    numbers = {
        name: {"4k": (value, value), "64k": (value, value)} for name, value in (("a", 8.0), ("b", 4.0), ("c", 7.6))
    }
    shown = picture(numbers)
    assert fields(shown) == [
        # 8.0 against 7.6 is a lead of 5 %
        ("just-best", "best", "8.00 MiB/s", ""),
        ("behind", "2.0× slower", "4.00 MiB/s", ""),
        ("behind", "5 % slower", "7.60 MiB/s", ""),
    ]
    assert (shown.columns, shown.parts[0].title) == (["a", "b", "c"], "Bandwidth")
    # Not "over all else": the axes over which the means are taken, by name
    assert shown.parts[0].reading == "MiB/s; geometric mean over request sizes; higher is better"
    assert [tone for tone, _, _ in shown.key] == ["just-best", "behind"]
    assert not shown.has_one_seed


def test_a_small_lead_has_a_paler_star_than_a_large_one() -> None:
    """A star for 1 % looked as strong as one for 19 times."""
    tones = []
    for rate in (10.1, 10.9, 11.0, 190.0):
        shown = picture({"a": {"4k": (rate, rate)}, "b": {"4k": (10.0, 10.0)}})
        [first, *_] = fields(shown)
        assert first is not None
        tones.append(first[:2])
    assert tones == [("just-best", "best"), ("just-best", "best"), ("best", "best"), ("best", "best")]
    small = picture({"a": {"4k": (10.1, 10.1)}, "b": {"4k": (10.0, 10.0)}})
    assert small.key[0] == ("just-best", "☆", "ahead by less than 10 %, as far as the seeds tell")


def test_what_a_drives_write_cache_took_says_so() -> None:
    rows = [
        {"filesystem": name, "pattern": "randread", "request": request, "seed": 1, "outcome": "measured"}
        | {"reason": "", "key": "k", "bandwidth": rate, "limit": "medium", "platters_percent": platters}
        for name, request, rate, platters in (
            ("a", "4k", 46.0, 104.0), ("a", "64k", 110.0, 134.0), ("b", "4k", 23.0, 90.0), ("b", "64k", 55.0, 90.0)
        )
    ]  # fmt: skip
    results = results_of({"filesystem": ("a", "b"), "pattern": ("randread",), "request": ("4k", "64k")}, rows)
    comparison = compare(results, ("filesystem",), ("pattern",), "bandwidth", True, doubts(results, "bandwidth"))
    picture_ = matrix([[Load(comparison, group) for group in comparison.groups]], Words(results.axes))
    first, second = fields(picture_)
    assert first == ("best", "best", "71.1 MiB/s, into the drive's write cache in 1 of 2", "")
    assert second == ("behind", "2.0× slower", "35.6 MiB/s", "")


def test_what_is_no_speed_is_higher_or_lower() -> None:
    numbers = {"a": {"4k": (1.0,)}, "b": {"4k": (3.0,)}}
    shown = picture(numbers, "write_amplification", False)
    assert fields(shown) == [("best", "best", "1.00", ""), ("behind", "3.0× higher", "3.00", "")]
    assert shown.has_one_seed


def test_what_seeds_do_not_tell_apart_and_what_turns() -> None:
    even = picture({"a": {"4k": (10.0, 12.0)}, "b": {"4k": (10.0, 11.0)}})
    assert [field and field[:2] for field in fields(even)] == [
        ("even", "among the best"),
        ("even", "no clear difference"),
    ]
    turning = picture({"a": {"4k": (80.0,), "64k": (9.0,)}, "b": {"4k": (10.0,), "64k": (10.0,)}})
    assert fields(turning) == [
        ("turns", "best on the whole", "26.8 MiB/s", ""),
        ("turns", "2.7× slower", "10.0 MiB/s, better at request size 64k", ""),  # each field has its figure
    ]


def test_memory_the_cpu_and_what_is_missing_are_grey() -> None:
    numbers: dict[str, Row] = {name: {"4k": (value,)} for name, value in (("a", 890.0), ("b", 10.0), ("c", 20.0))}
    numbers["d"] = {}
    assert fields(picture(numbers, a="memory", c="cpu")) == [
        ("doubt", "memory", "890 MiB/s", "memory"),  # a reader wants both
        ("behind", "2.0× slower", "10.0 MiB/s", ""),
        ("doubt", "ahead of the rest", "20.0 MiB/s", "the CPU decides"),
        ("missing", "no result", "", ""),
    ]


def test_one_value_shows_its_figures(tmp_path: Path) -> None:
    assert fields(picture({"a": {"4k": (12.0,)}})) == [("plain", "12.0 MiB/s", "", "")]
    study = replace(made_up_study(), answer=Answer(
        where={"filesystem": ("f2fs",)}, compare=("filesystem",), metric=("bandwidth",), by=("pattern",)
    ))  # fmt: skip
    rows = rows_of(made_up_frame(study))
    [question] = questions(report_of(study, rows))
    assert question.matrix.columns == ["F2FS"]
    assert question.lines == ["Only F2FS was measured throughout: nothing to compare."]
    assert "Only F2FS was measured throughout" in bring_up_to_date(study, rows, MANIFEST, tmp_path).read_text()


def test_every_tone_has_a_sign_of_its_own() -> None:
    signs = [sign for sign, _ in TONES.values() if sign]
    assert len(set(signs)) == len(signs) == len(TONES) - 1


# --- axes compared as one, and the shipped studies ------------------------------------------------------------------


def test_combinations_of_axes_are_compared_as_one() -> None:
    report = report_of(paper("kim2007"), paper_rows(paper("kim2007")))
    assert report.study.answer
    output, *_ = report.comparisons(report.study.answer)
    assert output.compare.axes == ("board", "medium", "translation", "filesystem")
    assert report.words.joint_axis(output.compare) == "board, medium, translation and file system"
    names = [report.words.joint_value(output.compare, value) for value in output.compare.values]
    # A disk, the card in each of two boards, two sizes of chip under two drivers of YAFFS2, one under a translation; in
    # the study's own labels, for what was "s3c2440-400, 64 MB raw NAND chip (used_bytes=64M), ftl-page, FAT16".
    assert "PXA270, disk, ext2" in names
    assert "S3C2440, NAND of 64 MB, page FTL, FAT16" in names
    assert len(names) == len(set(names)) == 8
    files = [dict(group.at)["file"] for group in output.groups]
    assert files == ["100M", "40M"]
    assert all(group.settings_planned == 1 for group in output.groups)


def test_only_the_cells_of_a_question_count() -> None:
    report = report_of(paper("choi2014"), paper_rows(paper("choi2014")))
    assert report.study.answer
    [comparison] = report.comparisons(report.study.answer)
    # Two file sizes and four request sizes; medium and kernel are fixed, so the picture does not name them
    assert [group.settings_planned for group in comparison.groups][:3] == [8, 8, 8]
    assert {axis for group in comparison.groups for setting in group.settings for axis, _ in setting} == {
        "file",
        "request",
    }


@pytest.mark.parametrize("name", PAPERS)
def test_each_paper_has_a_picture_and_few_lines_for_every_question(name: str) -> None:
    report = report_of(paper(name), paper_rows(paper(name)))
    questions_ = questions(report)
    assert len(questions_) == len(report.study.choices) + 1
    assert sum(len(question.lines) for question in questions_) <= MOST_ANSWER_LINES
    tones = {field.tone for q in questions_ for p in q.matrix.parts for row in p.rows for field in row.fields if field}
    assert {"best", "behind"} <= tones
    for question in questions_:
        assert len(question.behind) == sum(len(part.rows) for part in question.matrix.parts)
        assert all(
            len(row.fields) == len(question.matrix.columns) for part in question.matrix.parts for row in part.rows
        )


def test_there_is_no_scheduler_to_choose_on_a_raw_chip() -> None:
    report = report_of(paper("lee2013"), paper_rows(paper("lee2013")))
    writing = questions(report)[0]
    [written, _] = writing.matrix.parts
    nothing = [{field.text for field in row.fields if field} == {"nothing to choose"} for row in written.rows]
    assert nothing == [True, True, False, False]
    assert [bool(row.whole) for row in written.rows] == nothing  # said once, not in each column
    # The translation "none" needs no words
    line = "Nothing to choose for JFFS2 and YAFFS2: on a raw chip nothing passes the block layer."
    assert line in writing.lines


def test_seeks_in_memory_recommend_no_disk() -> None:
    """100 MB in 128 MB of RAM: 8 % of the requested bytes came from the disk."""
    study = paper("kim2007")
    rows = paper_rows(study)
    for row in rows:
        if row["medium"] == "hdd-25-4200-ide-4g" and row["outcome"] == "measured":
            row |= {"random_seeks": 890.0, "random_seeks_reached_percent": 8.0}
    question = questions(report_of(study, rows))[0]
    seeks = question.matrix.parts[2].rows[0]
    disk = seeks.fields[question.matrix.columns.index("PXA270, disk, ext2")]
    assert disk
    assert (disk.tone, disk.text) == ("doubt", "memory")
    assert any(line.startswith("Not decided: memory, for random seeks, file size 100M") for line in question.lines)
    assert not any(line.startswith("PXA270, disk, ext2") and "random seeks" in line for line in question.lines)


def test_a_lead_of_a_size_that_chance_makes_shows_its_range() -> None:
    """10 : 5 with one seed and 10 : 4 with the other give 2.0 to 2.5, whose median would pass for known."""
    known = picture({"a": {"4k": (10.0, 10.0)}, "b": {"4k": (5.0, 4.8)}})
    assert [field and field[1] for field in fields(known)] == ["best", "2.0× slower"]
    wide = picture({"a": {"4k": (10.0, 10.0)}, "b": {"4k": (5.0, 4.0)}})
    assert [field and field[1] for field in fields(wide)] == ["best", "2.0 to 2.5× slower"]
    # 1.24 : 1.22 and 25.1 : 1.22
    unknown = picture({"a": {"4k": (1.24, 25.1)}, "b": {"4k": (1.22, 1.22)}})
    assert fields(unknown) == [
        ("best", "best", "13.2 MiB/s (seeds 1.24 to 25.1)", ""),
        ("behind", "1.02 to 21× slower, size not known", "1.22 MiB/s", ""),
    ]
