# SPDX-License-Identifier: Apache-2.0
"""Reports of the shipped studies after papers, on made-up results: what they must say beside the numbers."""

from __future__ import annotations

import re

import pytest

from flashbed.guest_output.assessment import Status
from flashbed.report import claims, figures, tables
from flashbed.report.model import Report, no_scheduler
from flashbed.study.plan import plan
from tests.support.made_up_papers import PAPERS, paper, paper_rows
from tests.support.made_up_results import made_up_frame, made_up_study, rows_of
from tests.support.tabled import report_of

CONSTRUCTION = "their results are equal by construction, and say nothing of schedulers."


@pytest.fixture(scope="module")
def lee2013() -> Report:
    study = paper("lee2013")
    return report_of(study, paper_rows(study))


def test_only_cells_without_a_block_device_have_no_queue(lee2013: Report) -> None:
    without = {lee2013.results.coordinates(cell)["filesystem"] for cell in lee2013.queueless}
    assert without == {"jffs2", "yaffs2"}
    # File systems; schedulers for a constant, one for random bytes; sizes. On an aged volume, two sizes
    assert len(lee2013.queueless) == 2 * (4 + 1) * 5 + 2 * 2
    study = made_up_study()
    assert not report_of(study, rows_of(made_up_frame(study))).queueless  # it varies no scheduler


def test_where_no_scheduler_exists_figures_tables_and_claims_say_so(lee2013: Report) -> None:
    sentence = "On a raw chip (JFFS2 and YAFFS2) there is no I/O scheduler, because nothing passes the block layer."
    compares = {figure.title for figure in lee2013.study.figures if "scheduler" in figure.series}
    assert len(compares) == 2
    for drawing in figures.drawings(lee2013):
        says = any(sentence in note and note.endswith(CONSTRUCTION) for note in drawing.notes)
        assert says == (drawing.title in compares), drawing.title
    titles = {table.title for table in lee2013.study.tables if "scheduler" in table.columns}
    assert len(titles) == 3
    for table in tables.study_tables(lee2013):
        assert (sentence in table.note) == (table.caption in titles), table.caption
    shown = claims.shown(lee2013, lee2013.judgements())
    saying = [claim.text for claim in shown if CONSTRUCTION in claim.remarks]
    assert [re.split(r" is fastest|: ", text)[0] for text in saying] == [
        "Writing, JFFS2",
        "Reading, JFFS2",
        "For YAFFS2 the scheduler makes no difference.",
        "Writing, YAFFS2",
        "For JFFS2 the anticipatory scheduler pays",
    ]
    assert "On a raw chip (YAFFS2) there is" in shown[2].remarks


def test_nothing_is_said_where_the_scheduler_counts_or_is_one(lee2013: Report) -> None:
    cells = list(lee2013.results.combinations())
    axes = list(lee2013.results.axes)
    assert no_scheduler(lee2013, [cell for cell in cells if cell not in lee2013.queueless]) == ""
    assert no_scheduler(lee2013, [cell for cell in cells if cell[axes.index("scheduler")] == "cfq"]) == ""


def test_the_trace_shows_nilfs2_under_each_scheduler(lee2013: Report) -> None:
    logging = [cell for cell in plan(lee2013.study) if cell.logs_requests and cell.seed == 1]
    assert [cell.coordinates["scheduler"] for cell in logging] == ["none", "anticipatory", "mq-deadline", "cfq"]
    assert {tuple(cell.coordinates[axis] for axis in ("filesystem", "translation", "file")) for cell in logging} == {
        ("nilfs2", "ftl-page", "16M")
    }


@pytest.mark.parametrize("name", PAPERS)
def test_the_made_up_results_lack_some_cells(name: str) -> None:
    study = paper(name)
    outcomes = report_of(study, paper_rows(study)).results.outcomes()
    assert outcomes[Status.MEASURED] > outcomes[Status.MISSING] > 0


def test_where_the_paper_has_a_figure_for_each_scheduler_their_mean_stands(lee2013: Report) -> None:
    rows = {
        row.heads[0].text.partition(".")[0]: row.cells for row in claims.overview(lee2013, lee2013.judgements()).rows
    }
    verdict, compared, papers, *_ = rows["9"]
    assert (verdict.text, compared.text) == (
        "cannot be decided",
        "YAFFS2 against NILFS2, page FTL at constant bytes",
    )
    # The mean of 7.76, 7.79, 7.81, 7.77 by that of 14.14, 13.61, 13.21, 13.55: 7.7825 by 13.6275.
    assert papers.text == "0.57 ×"
    assert rows["1"][2].text == "47.79 : 51.97"
