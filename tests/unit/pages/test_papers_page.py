# SPDX-License-Identifier: Apache-2.0
"""docs/generated/papers.md: the lab's figures beside the printed ones, reasons only with their verdict, and nothing
unmeasured.
"""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from flashbed.execution import run
from flashbed.report.inputs import ReportInputs
from flashbed.report.model import Report
from flashbed.report.papers import NOT_EXPLAINED, StudyPart, page, unexplained
from pages import papers
from pages.page_text import wrapped
from tests.support.facts import Facts
from tests.support.made_up_papers import paper, paper_rows
from tests.support.repository import REPOSITORY
from tests.support.tabled import report_of, rows_of_study

BEHIND_STUDIES = "**This page is behind its studies**, which have changed since their results were measured."
"""An author adds this line to the page by hand. `make papers` removes it when it writes the page from new results."""

Rows = list[dict[str, Any]]

shipped = cache(papers.studies_after_papers)


@pytest.fixture(autouse=True)
def _studies_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(papers, "studies_after_papers", shipped)


def complete(rows: Rows) -> Rows:
    """Fill in made-up results for each cell, by file system and size, so that the outcome is known."""
    seconds = {"yaffs2": 1.0, "nilfs2": 2.0, "jffs2": 8.0}
    return [
        row | {"write_s": seconds[row["filesystem"]] * int(row["file"][:-1]), "read_s": 1.0, "outcome": "measured"}
        for row in rows
    ]


@cache
def lee2013(lost: int = 0) -> Report:
    study = paper("lee2013")
    cells = [(cell, seed) for cell in study.combinations() for seed in study.seeds]
    rows = [{**cell, "seed": seed, "reason": "", "key": "k", "check": ""} for cell, seed in cells]
    return report_of(study, complete(rows)[lost:])


def one_page(reports: list[Report]) -> str:
    return page([StudyPart.of(report) for report in reports])


def claim(text: str, number: int) -> str:
    """Return a claim's section."""
    return text.partition(f"### {number}. ")[2].partition("\n### ")[0]


def test_our_figures_stand_beside_the_printed_ones() -> None:
    shown = claim(one_page([lee2013()]), 9)
    assert shown.splitlines()[0] == lee2013().study.claims[8].text
    assert "**Holds** (tables 3, 4 and 5)." in shown
    # Means over the sizes of 1 to 16 MB, 6.2 times what 1 MB takes; the paper's 7.7825 by 13.6275 s.
    line = next(line for line in shown.splitlines() if "YAFFS2 against NILFS2, page FTL, constant bytes" in line)
    assert line == (
        "| YAFFS2 against NILFS2, page FTL, constant bytes | – | 0.57 | 6.20 : 12.4 s | 0.50 | at most 0.99 | holds |"
    )
    first = claim(one_page([lee2013()]), 1)
    row = "| anticipatory against no scheduler | 47.79 : 51.97 s | 0.92 | 49.6 : 49.6 s | 1.00 | at most 0.92 |"
    assert f"{row} does not hold |" in first


def test_figures_that_refute_their_own_sentence_are_told() -> None:
    shown = claim(one_page([lee2013()]), 2)  # 3.11 : 3.13 is 0.6 % less, where 1.5 % are claimed
    assert Facts("paper's own figures do not bear", "anticipatory against CFQ", "0.99 times").within(shown)


def test_a_reason_stands_only_with_its_verdict() -> None:
    report = lee2013()
    assert "must have come from something else between its runs" in claim(one_page([report]), 1)
    assert 1 not in [claim_.number for claim_ in unexplained([report])]
    rows: list[dict[str, Any]] = [
        dict(zip(report.results.axes, repetition.combination, strict=True))
        | {"seed": repetition.seed, "outcome": "measured", "reason": "", "key": "k", **repetition.metrics}
        for repetition in report.results.repetitions
    ]
    for row in rows:
        if row["scheduler"] == "anticipatory":
            row["write_s"] *= 0.5
    turned = report_of(report.study, rows)
    assert "**Holds**" in claim(one_page([turned]), 1)
    assert "must have come from something else between its runs" not in claim(one_page([turned]), 1)
    bare = replace(report.study, claims=tuple(claim_.model_copy(update={"why": {}}) for claim_ in report.study.claims))
    assert NOT_EXPLAINED in claim(one_page([replace(report, study=bare)]), 1)


def test_what_rests_on_missing_results_is_marked() -> None:
    text = one_page([lee2013(lost=200)])
    assert "320 repetitions of 520: **results are missing" in text
    assert "**Cannot be decided** (table 3)." in claim(text, 1)


def test_the_command_refuses_to_write_without_results(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    written = tmp_path / "papers.md"
    monkeypatch.setattr(papers, "PAGE", written)
    monkeypatch.setattr(papers, "PARTS", written.with_suffix(".json"))
    monkeypatch.setattr(papers, "studies_after_papers", lambda: [paper("lee2013")])
    monkeypatch.setattr(run, "stored", lambda study: study)
    monkeypatch.setattr(run, "rows", lambda study: rows_of_study(study, paper_rows(study)))
    assert papers.main([]) == 1
    assert not written.exists()
    assert "`flashbed run lee2013`" in capsys.readouterr().err
    assert papers.main(["--partial"]) == 0
    assert written.read_text().startswith("# What papers say")
    assert "claim 2, does not hold" not in capsys.readouterr().err  # the study says why
    assert papers.main(["--partial", "--check"]) == 0
    written.write_text("x")
    assert papers.main(["--partial", "--check"]) == 1


def test_one_study_written_anew_leaves_the_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    written = tmp_path / "papers.md"
    names = [study.name for study in papers.studies_after_papers()]
    monkeypatch.setattr(papers, "PAGE", written)
    monkeypatch.setattr(papers, "PARTS", written.with_suffix(".json"))
    monkeypatch.setattr(run, "stored", lambda study: study)
    monkeypatch.setattr(run, "rows", lambda study: rows_of_study(study, paper_rows(study)))
    studies: list[str] = []

    def noted(inputs: ReportInputs) -> Report:
        studies.append(inputs.study.name)
        return report_of(inputs.study, [])

    monkeypatch.setattr(papers, "report_of", noted)
    assert papers.main(["--only", "lee2013", "--partial"]) == 1
    assert capsys.readouterr().err.startswith("papers.json lacks ")
    assert (written.exists(), studies) == (False, [])
    kept = {name: StudyPart([], f"## {name}, as it was\n") for name in names}
    papers.PARTS.write_text(json.dumps(kept, default=asdict))
    assert papers.main(["--only", "lee2013"]) == 1
    assert not written.exists()
    assert papers.main(["--only", "lee2013", "--partial"]) == 0
    assert set(studies) == {"lee2013"}
    now = papers.kept_parts()
    assert list(now) == names
    assert [name for name in names if now[name] != kept[name]] == ["lee2013"]
    assert "results are missing" in now["lee2013"].section
    others = [line for line in headings(written.read_text()) if line.endswith(", as it was")]
    assert others == [f"## {name}, as it was" for name in names if name != "lee2013"]
    with pytest.raises(SystemExit):
        papers.main(["--only", "lee2014"])


def headings(text: str) -> list[str]:
    """Return the studies and claims in the page's order."""
    return [line for line in text.splitlines() if line.startswith("#")]


def sentences(text: str) -> str:
    """Return the words of the page, regardless of line ends."""
    return " ".join(text.split())


def test_the_page_has_the_claims_that_the_studies_make_now() -> None:
    """This needs no results: it finds a study that changed without its page. A page that says so itself waits to be
    written from new results.
    """
    studies = papers.studies_after_papers()
    stored = (REPOSITORY / "docs/generated/papers.md").read_text()
    now = wrapped(one_page([report_of(study, []) for study in studies]))
    assert BEHIND_STUDIES not in now
    if BEHIND_STUDIES in stored:
        assert headings(stored) != headings(now), "docs/generated/papers.md says that it is behind, and is not"
        return
    assert headings(stored) == headings(now)
    words = sentences(stored)
    assert [claim.text for study in studies for claim in study.claims if sentences(claim.text) not in words] == []
    assert [study.source for study in studies if sentences(study.source.rstrip(".")) not in words] == []


def test_which_studies_are_on_the_page() -> None:
    names = [study.name for study in papers.studies_after_papers()]
    assert {"choi2014", "choi2014-accesses", "kim2007", "lee2002", "lee2013"} <= set(names)
    assert "quick" not in names
