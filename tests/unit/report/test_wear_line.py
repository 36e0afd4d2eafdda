# SPDX-License-Identifier: Apache-2.0
"""The line on wear stands on the first screen, if it was measured and the study does not ask for it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from flashbed.analysis.lines import MOST_ANSWER_LINES
from flashbed.report.answers import TELLS_OF_WEAR, questions
from flashbed.report.claims import in_answer
from flashbed.report.model import Report
from flashbed.study.format import Answer
from tests.support.facts import Facts
from tests.support.made_up_papers import PAPERS, paper, paper_rows
from tests.support.made_up_results import MANIFEST, made_up_frame, made_up_study, rows_of
from tests.support.tabled import bring_up_to_date, report_of

STUDY = made_up_study()
PROGRAMMED = {"fat16:cluster=32k": 8.0, "ext2:block=4k": 2.0}


def report(*metric: str, programmed: dict[str, float] = PROGRAMMED) -> Report:
    """Return a report; `programmed` is the total write amplification by file system, of random writes."""
    answer = Answer(compare=("filesystem",), metric=metric or ("bandwidth",), by=("pattern",))
    frame = made_up_frame(STUDY)
    frame["total_write_amplification"] = frame["filesystem"].map(programmed).where(frame["pattern"] == "randwrite")
    return report_of(replace(STUDY, answer=answer, choices=()), rows_of(frame))


def test_the_flash_programmed_stands_below_an_answer_about_speed(tmp_path: Path) -> None:
    line = "Wear: for each byte written to a file, flash programs 2.0 bytes with ext2 and 8.0 with FAT16 "
    # "Settings" as everywhere in a report: a load is a row of the picture, and has several settings
    line += "(geometric mean of 4 settings)."
    [question] = questions(report())
    assert question.wear == line
    frame = made_up_frame(STUDY)
    frame["total_write_amplification"] = frame["filesystem"].map(PROGRAMMED).where(frame["pattern"] == "randwrite")
    page = bring_up_to_date(STUDY, rows_of(frame), MANIFEST, tmp_path).read_text()
    assert page.index(line) < page.index("Before you rely on it")


def test_nothing_is_said_of_what_was_not_measured_or_has_nothing_beside_it() -> None:
    assert questions(report(programmed={}))[0].wear == ""
    assert questions(report(programmed={"ext2:block=4k": 2.0}))[0].wear == ""


def test_cells_whose_figure_decides_nothing_are_left_out() -> None:
    """A load that allocates blocks for its file has another write amplification later on; this cell would decide the
    mean.
    """
    answer = Answer(compare=("filesystem",), metric=("bandwidth",), by=("pattern",))
    frame = made_up_frame(STUDY)
    frame["total_write_amplification"] = frame["filesystem"].map(PROGRAMMED).where(frame["pattern"] == "randwrite")
    early = (frame["filesystem"] == "ext2:block=4k") & (frame["pattern"] == "randwrite") & (frame["request"] == "4k")
    frame.loc[early, "total_write_amplification"] = 900.0
    frame["settled"] = early.map({True: "not settled: write amplification falls by 74 %", False: ""})
    [question] = questions(report_of(replace(STUDY, answer=answer, choices=()), rows_of(frame)))
    assert question.wear == Facts(
        "2.0 bytes with ext2", "8.0 with FAT16", "geometric mean of 3 settings", "Left out: 1 cell"
    )


def test_a_study_that_asks_for_wear_has_a_picture_of_it() -> None:
    assert all(question.wear == "" for question in questions(report("bandwidth", "total_write_amplification")))


@pytest.mark.parametrize("name", ["raw-nand", "ftl", "logger"])
def test_shipped_studies_of_flash_ask_for_it(name: str) -> None:
    """mtdblock levels no wear. So few may choose it, fast as it reads."""
    metrics = {metric for choice in paper(name).choices for metric in choice.metric}
    assert metrics.intersection(TELLS_OF_WEAR)


@pytest.mark.parametrize("name", PAPERS)
def test_the_answer_in_words_has_ten_lines_with_wear_and_claims(name: str) -> None:
    """choi2014 had ten lines of its questions, one of wear and two of claims."""
    study = paper(name)
    rows = paper_rows(study)
    for row in rows:
        row["total_write_amplification"] = 2.0
    report_ = report_of(study, rows)
    questions_ = questions(report_)
    beside = len(in_answer(report_, report_.judgements()))
    assert sum(len(question.lines) + bool(question.wear) for question in questions_) + beside <= MOST_ANSWER_LINES
    assert all(question.lines for question in questions_)


def test_what_a_question_is_about_is_found_once_for_equal_questions() -> None:
    of = report()
    [mine] = of.questions
    assert of.asked(mine) is of.asked(mine.model_copy())
    assert of.comparisons(mine) is of.comparisons(mine.model_copy())
    assert of.asked(mine) is not of.asked(mine.model_copy(update={"by": ()}))
