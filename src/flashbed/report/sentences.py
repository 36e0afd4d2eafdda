# SPDX-License-Identifier: Apache-2.0
"""Write the table that opens the page on papers: each sentence of a paper, its verdict, and whether it holds under
another condition that the paper leaves open.

Several claims may judge one sentence, each under its own condition. Must not know results, nor where the page goes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from flashbed.analysis import Judgement
from flashbed.analysis.claim_words import finding_words, verdicts_in_words
from flashbed.analysis.words import count, listing
from flashbed.report.model import Report
from flashbed.study.loading import Study
from flashbed.study.relation import Verdict

HEADING = "## The papers' own sentences"

NAMED = 4
"""The most other conditions that are named if the sentence holds under none; of more, only their verdicts are counted.
"""

MODE_OF = 3
"""The least number of claims with one condition that make it a way of measuring the whole paper may have used."""

COLUMNS = """\
| Study | Sentence | Verdict | Decided by | Under another condition |
| --- | --- | --- | --- | --- |"""

EXPLAINED = """\
A number in brackets is that of the claim below. The paper leaves open what the last column names; the verdict before it
is that of the first way in which the study takes the sentence. What this lab adds of its own is not in the table.
"""


@dataclass(frozen=True)
class Judged:
    """A claim with its number in the study and its judgement."""

    report: Report
    number: int
    judgement: Judgement

    @property
    def verdict(self) -> Verdict:
        """Return the judgement's verdict."""
        return self.judgement.verdict


@dataclass(frozen=True)
class Sentence:
    """A sentence of a paper: the claim that judges it first, and those that judge it under other conditions."""

    text: str
    first: Judged
    others: Sequence[Judged]

    @property
    def holds_otherwise(self) -> list[Judged]:
        """Return the other conditions under which it holds; empty if it holds under the first."""
        return [] if self.first.verdict == Verdict.HOLDS else [o for o in self.others if o.verdict == Verdict.HOLDS]


def sentences(report: Report, others: Sequence[Report] = ()) -> list[Sentence]:
    """Return the sentences of the paper in the order of the study. A claim of this lab's own, also one of another
    study, only adds a condition to a sentence.
    """
    groups: dict[str, list[Judged]] = {}
    for judged in _judged(report):
        claim = judged.judgement.claim
        if not claim.of_study:
            groups.setdefault(claim.sentence or claim.text, []).append(judged)
    for judged in (judged for companion in others for judged in _judged(companion)):
        claim = judged.judgement.claim
        if claim.of_study == report.study.name:
            groups.setdefault(claim.sentence, []).append(judged)
    papers_sentences = []
    for text, group in groups.items():
        first = next((judged for judged in group if not judged.judgement.claim.own), None)
        if first:
            papers_sentences.append(Sentence(text, first, [judged for judged in group if judged is not first]))
    return papers_sentences


def companions(study: Study, studies: Iterable[Study]) -> list[Study]:
    """Return the studies that judge sentences of this one under other conditions."""
    return [companion for companion in studies if any(claim.of_study == study.name for claim in companion.claims)]


def rows(report: Report, others: Sequence[Report] = ()) -> list[str]:
    """Return a line of the table for each sentence of the study; `others` are the reports of its companions."""
    return [f"| {' | '.join(_cells(sentence))} |" for sentence in sentences(report, others)]


def _judged(report: Report) -> list[Judged]:
    return [Judged(report, number, judgement) for number, judgement in enumerate(report.judgements(), start=1)]


def modes(judgements: Sequence[Judgement]) -> str:
    """Return which way of measuring, of those that a paper leaves open, fits its sentences best; "" if there is one
    way.
    """
    verdicts: dict[str, list[Verdict]] = {}
    for judgement in judgements:
        if judgement.claim.condition:
            verdicts.setdefault(judgement.claim.condition, []).append(judgement.verdict)
    held = {name: (under.count(Verdict.HOLDS), len(under)) for name, under in verdicts.items() if len(under) >= MODE_OF}
    if len(held) < 2:
        return ""
    ranked = sorted(held.items(), key=lambda item: item[1][0] / item[1][1], reverse=True)
    clauses = [f"{hold} of {judged} hold {name}" for name, (hold, judged) in ranked]
    return (
        f"Of the conditions that the paper leaves open, the first of these fits its sentences best: {listing(clauses)}."
    )


def rows_in(text: str) -> dict[str, list[str]]:
    """Return the lines of a page that was written before, by study."""
    by_study: dict[str, list[str]] = {}
    for line in text.partition(HEADING)[2].partition("\n## ")[0].splitlines():
        if line.startswith("| ") and not line.startswith(("| Study |", "| --- |")):
            by_study.setdefault(line.split(" | ")[0].removeprefix("| "), []).append(line)
    return by_study


def table(lines: Sequence[str]) -> str:
    """Return the opening of the page: how many sentences came to each verdict, and the table of all of them."""
    verdicts = [_verdict(line.split(" | ")[2]) for line in lines]
    otherwise = sum(f"*{Verdict.HOLDS}*" in line for line in lines)
    verb = "holds" if otherwise == 1 else "hold"
    more = f" Under another condition that the paper leaves open, {otherwise} more {verb}." if otherwise else ""
    summary = f"Of {count(len(lines), 'sentence')}, {verdicts_in_words(verdicts)}.{more}"
    return "\n".join([f"{HEADING}\n", f"{summary}\n", EXPLAINED, COLUMNS, *lines]) + "\n"


def _verdict(cell: str) -> Verdict:
    return Verdict(cell.rpartition(" (")[0])


def _cells(sentence: Sentence) -> Iterator[str]:
    """Yield the cells of a row, in the order of the columns."""
    first = sentence.first
    yield first.report.study.name
    yield sentence.text
    yield f"{first.verdict} ({first.number})"
    condition = first.judgement.claim.condition
    yield f"{condition + ': ' if condition else ''}{_figures(first)}"
    if not sentence.others:
        yield "–"
        return
    holding = sentence.holds_otherwise
    if holding:
        yield "; ".join(f"*{Verdict.HOLDS}* {_condition(other, first)}: {_figures(other)}" for other in holding)
        return
    if len(sentence.others) > NAMED:
        yield f"of {len(sentence.others)} others, {verdicts_in_words([other.verdict for other in sentence.others])}"
        return
    yield "; ".join(f"{other.verdict} {_condition(other, first)}" for other in sentence.others)


def _condition(judged: Judged, first: Judged) -> str:
    """Return a condition with the number of its claim, and the study if that is another."""
    where = "" if judged.report is first.report else f"{judged.report.study.name}, "
    return f"{judged.judgement.claim.condition} ({where}{judged.number})"


def _figures(judged: Judged) -> str:
    """Return the comparison that decides, or why there is none."""
    deciding = judged.judgement.deciding
    if deciding is None or deciding.ratio is None:
        reasons = dict.fromkeys(finding.reason for finding in judged.judgement.decisive if finding.reason)
        return listing(list(reasons)[:1]) or judged.judgement.reason
    return finding_words(deciding, judged.report.words)
