# SPDX-License-Identifier: Apache-2.0
"""The table of the papers' own sentences, which opens docs/generated/papers.md."""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from flashbed.common.errors import InputError
from flashbed.execution import run
from flashbed.report.claims import shown
from flashbed.report.model import Report
from flashbed.report.papers import (
    HEADING,
    SentenceRow,
    StudyPart,
    companions,
    modes,
    page,
    sentence_rows,
    sentences,
)
from flashbed.study.format import Claim
from flashbed.study.loading import load_study
from pages import papers
from tests.support.facts import Facts
from tests.support.made_up_papers import paper, paper_rows
from tests.support.tabled import report_of, rows_of_study

FIRST = {"compare": [{"filesystem": ("yaffs2",)}, {"filesystem": ("jffs2",)}], "metric": ("write_s",), "cells": "most"}
AGAIN = {"sentence": "YAFFS2 is slower.", "condition": "read again", "metric": ("read_s",), "relation": (">",)}


def claim(text: str, **keys: Any) -> Claim:
    return Claim.model_validate({"text": text, "relation": ("<",), **FIRST, **keys})


CLAIMS = (
    claim("YAFFS2 is slower to write.", relation=(">",), sentence="YAFFS2 is slower.", condition="in order"),
    claim("YAFFS2 is slower to read.", own=True, **AGAIN),
    claim("YAFFS2 is faster."),
    claim("YAFFS2 is faster, too.", own=True),
    claim("YAFFS2 is by far slower.", relation=(">>",)),
)


@cache
def report() -> Report:
    return report_with(CLAIMS)


def report_with(claims: tuple[Claim, ...], name: str = "lee2013") -> Report:
    """Return a report in which YAFFS2 needs half of JFFS2's time to write, and twice its time to read."""
    study = replace(paper("lee2013"), claims=claims, name=name)
    seconds = {"yaffs2": (1.0, 2.0), "nilfs2": (1.0, 1.0), "jffs2": (2.0, 1.0)}
    written = [
        {**cell, "seed": seed, "reason": "", "key": "k", "outcome": "measured"}
        | dict(zip(("write_s", "read_s"), seconds[cell["filesystem"]], strict=True))
        for cell in study.combinations()
        for seed in study.seeds
    ]
    return report_of(study, written)


def cells(row: SentenceRow) -> list[str]:
    return row.line.strip("| ").split(" | ")


def test_a_sentence_is_judged_by_each_claim_that_names_it() -> None:
    slower, faster, by_far = sentences(report())
    assert (slower.text, slower.first.number, [judged_claim.number for judged_claim in slower.others]) == (
        "YAFFS2 is slower.",
        1,
        [2],
    )
    assert [judged_claim.number for judged_claim in slower.holds_otherwise] == [2]
    assert (faster.text, faster.first.verdict, faster.others) == ("YAFFS2 is faster.", "holds", [])
    assert (by_far.first.verdict, by_far.others) == ("does not hold", [])


def test_the_table_says_under_which_condition_a_refuted_sentence_holds_and_by_what_figures() -> None:
    slower, faster, by_far = map(cells, sentence_rows(report()))
    assert slower[:3] == ["lee2013", "YAFFS2 is slower.", "does not hold (1)"]
    assert slower[3].startswith("in order: YAFFS2 against JFFS2 at ")
    assert ": 0.50 times (95 % confidence, 5 seeds)" in slower[3]
    assert slower[4].startswith("*holds* read again (2): YAFFS2 against JFFS2 at ")
    assert ": 2.0 times (95 % confidence, 5 seeds)" in slower[4]
    assert faster[2] == "holds (3)"
    assert faster[4] == by_far[4] == "–"


def test_other_conditions_that_do_not_help_are_named_too() -> None:
    worse = claim(
        "YAFFS2 is by far slower.", own=True, relation=(">>",), sentence="YAFFS2 is slower.", condition="cold"
    )
    (line,) = sentence_rows(report_with((CLAIMS[0], worse)))
    assert cells(line)[4] == "does not hold cold (2)"
    many = [worse.model_copy(update={"text": f"It is {n}.", "condition": str(n)}) for n in range(5)]
    (line,) = sentence_rows(report_with((CLAIMS[0], *many)))
    assert cells(line)[4] == "of 5 others, 5 do not hold"


def test_another_study_may_add_a_condition() -> None:
    away = claim("Elsewhere it is slower.", own=True, of_study="lee2013", **{**AGAIN, "condition": "on another chip"})
    other = report_with((away,), "chips")
    (line,) = sentence_rows(report_with(CLAIMS[:1]), [other])
    assert cells(line)[4].startswith("*holds* on another chip (chips, 1): YAFFS2 against JFFS2 at ")
    assert sentence_rows(other) == []
    (first,) = sentences(report_with(CLAIMS[:1]))
    assert first.others == []
    assert companions(report_with(CLAIMS).study, [other.study, report().study]) == [other.study]


def test_each_sentence_of_another_study_is_there() -> None:
    studies = {study.name: study for study in papers.studies_after_papers()}
    for study in studies.values():
        for judged_claim in study.claims:
            if judged_claim.of_study:
                of_papers = {
                    other.sentence or other.text for other in studies[judged_claim.of_study].claims if not other.own
                }
                assert judged_claim.sentence in of_papers, judged_claim.text


def test_the_page_opens_with_the_sentences_and_keeps_our_own_apart() -> None:
    text = page([StudyPart.of(report())])
    assert text.index(HEADING) < text.index("## I/O schedulers")
    opening = text.partition(HEADING)[2].partition("\n## ")[0]
    assert Facts("Of 3 sentences, 1 holds and 2 do not hold", "the paper leaves open, 1 more").within(opening)
    assert "too." not in opening
    order = [text.index(f"### {number}. ") for number in (1, 3, 5, 2, 4)]
    assert order == sorted(order)
    assert order[2] < text.index("*The next claims are this lab's own") < order[3]
    sources = [sentence.source for sentence in shown(report(), report().judgements())]
    assert sources == ["in order", "no sentence of the paper; read again", "", "no sentence of the paper", ""]


def test_a_part_is_kept_as_json() -> None:
    part = StudyPart.of(report())
    assert StudyPart.from_json(json.loads(json.dumps(asdict(part)))) == part


def test_one_study_written_anew_leaves_the_lines_of_the_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    studies = [replace(paper("lee2013"), claims=CLAIMS), replace(paper("lee2013"), name="other", title="Other")]
    monkeypatch.setattr(papers, "PAGE", tmp_path / "papers.md")
    monkeypatch.setattr(papers, "PARTS", tmp_path / "papers.json")
    monkeypatch.setattr(papers, "studies_after_papers", lambda: studies)
    monkeypatch.setattr(run, "stored", lambda study: study)
    monkeypatch.setattr(run, "rows", lambda study: rows_of_study(study, paper_rows(study)))
    assert papers.main(["--partial"]) == 0
    before = papers.kept_parts()
    studies[0] = replace(studies[0], claims=CLAIMS[2:3])
    assert papers.main(["--partial", "--only", "lee2013"]) == 0
    now = papers.kept_parts()
    assert (len(before["lee2013"].rows), len(now["lee2013"].rows), now["other"]) == (3, 1, before["other"])


STUDY = """\
title = "T"
board = "arm64-1000"
medium = "sd-good"
[axes]
filesystem = ["ext2", "ext4"]
[workload]
tool = "fio"
pattern = "write"
file = "1M"
request = "4k"
[[claim]]
text = "A is ahead."
metric = "bandwidth"
compare = [{ filesystem = "ext2" }, { filesystem = "ext4" }]
relation = ">"
FIRST
[[claim]]
text = "A is ahead when cold."
metric = "bandwidth"
compare = [{ filesystem = "ext2" }, { filesystem = "ext4" }]
relation = ">"
SECOND
"""


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        ("", 'own = true\nsentence = "S."\ncondition = "cold"', "claim[1].sentence: is that of no claim without own"),
        ('sentence = "S."', 'own = true\nsentence = "S."', "claim[1].sentence: is judged by a claim before this one"),
        ('sentence = "S."', 'of_study = "x"\nsentence = "S."', "claim[1].of_study: goes with own = true, sentence and"),
        ("", 'condition = "cold"', "claim[1].condition: is of a sentence that other claims judge too"),
        ('sentence = "S."', 'own = true\nsentence = "S."\ncondition = "cold"', None),
    ],
)
def test_a_condition_belongs_to_a_sentence(tmp_path: Path, first: str, second: str, expected: str | None) -> None:
    path = tmp_path / "my.toml"
    path.write_text(STUDY.replace("FIRST", first).replace("SECOND", second))
    if expected is None:
        assert [judged_claim.own for judged_claim in load_study(path).claims] == [False, True]
        return
    with pytest.raises(InputError) as caught:
        load_study(path)
    assert expected in caught.value.message


def test_the_way_of_measuring_that_fits_the_paper_best_is_told() -> None:
    """Conditions of one or two claims are exceptions, and no method for a whole paper."""
    texts = {"in order": ">>>", "at random": "<>>>", "once": ">"}
    claims = [
        claim(f"YAFFS2, {condition}, {place}.", relation=(relation,), condition=condition)
        for condition, relations in texts.items()
        for place, relation in enumerate(relations)
    ]
    judged = report_with(tuple(claims)).judgements()
    assert [judgement.verdict for judgement in judged[:4]] == ["does not hold"] * 3 + ["holds"]
    assert modes(judged) == Facts("first of these", "1 of 4 hold at random", "0 of 3 hold in order")
    assert modes(judged[:3]) == ""
