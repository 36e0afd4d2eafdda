# SPDX-License-Identifier: Apache-2.0
"""The table that opens the page on papers: each sentence of a paper, its verdict, and whether another condition that
the paper leaves open would make it hold.

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
"""So many other conditions are named where none makes a sentence hold; of more, only how they came out."""

MODE_OF = 3
"""So many claims at least that name one condition are a way of measuring that the whole paper may have taken."""

COLUMNS = """\
| Study | Sentence | Verdict | Decided by | Under another condition |
| --- | --- | --- | --- | --- |"""

EXPLAINED = """\
A number in brackets is that of the claim below. The paper leaves open what the last column names; the verdict before it
is that of the first way in which the study takes the sentence. What this lab adds of its own is not in the table.
"""


@dataclass(frozen=True)
class Judged:
    """A claim with its number in the study and what became of it."""

    report: Report
    number: int
    judgement: Judgement

    @property
    def verdict(self) -> Verdict:
        return self.judgement.verdict


@dataclass(frozen=True)
class Sentence:
    """A sentence of a paper: the claim that takes it first, and those that take it under other conditions."""

    text: str
    first: Judged
    others: Sequence[Judged]

    @property
    def holds_otherwise(self) -> list[Judged]:
        """The other conditions under which it holds, where it does not under the first."""
        return [] if self.first.verdict == Verdict.HOLDS else [o for o in self.others if o.verdict == Verdict.HOLDS]


def sentences(report: Report, others: Sequence[Report] = ()) -> list[Sentence]:
    """The sentences of the paper in the study's order. A claim of this lab's own may only add a condition to one, also
    one of another study.
    """
    groups: dict[str, list[Judged]] = {}
    for one in _judged(report):
        if not one.judgement.claim.of_study:
            groups.setdefault(one.judgement.claim.sentence or one.judgement.claim.text, []).append(one)
    for one in (one for other in others for one in _judged(other)):
        if one.judgement.claim.of_study == report.study.name:
            groups.setdefault(one.judgement.claim.sentence, []).append(one)
    found = []
    for text, judged in groups.items():
        papers = [one for one in judged if not one.judgement.claim.own]
        if papers:
            found.append(Sentence(text, papers[0], [one for one in judged if one is not papers[0]]))
    return found


def companions(study: Study, studies: Iterable[Study]) -> list[Study]:
    """The studies that judge sentences of this one under other conditions."""
    return [other for other in studies if any(claim.of_study == study.name for claim in other.claims)]


def rows(report: Report, others: Sequence[Report] = ()) -> list[str]:
    """A line of the table for each sentence of the study; `others` are the reports of its companions."""
    return [f"| {' | '.join(_cells(one))} |" for one in sentences(report, others)]


def _judged(report: Report) -> list[Judged]:
    return [Judged(report, number, judgement) for number, judgement in enumerate(report.judgements(), start=1)]


def modes(judgements: Sequence[Judgement]) -> str:
    """Which way of measuring, of those that a paper leaves open, fits its sentences best; "" where there is one way."""
    verdicts: dict[str, list[Verdict]] = {}
    for one in judgements:
        if one.claim.condition:
            verdicts.setdefault(one.claim.condition, []).append(one.verdict)
    held = {name: (found.count(Verdict.HOLDS), len(found)) for name, found in verdicts.items() if len(found) >= MODE_OF}
    if len(held) < 2:
        return ""
    ranked = sorted(held.items(), key=lambda item: item[1][0] / item[1][1], reverse=True)
    told = [f"{hold} of {judged} hold {name}" for name, (hold, judged) in ranked]
    return f"Of the conditions that the paper leaves open, the first of these fits its sentences best: {listing(told)}."


def rows_in(text: str) -> dict[str, list[str]]:
    """The lines of a page that was written before, by study."""
    found: dict[str, list[str]] = {}
    for line in text.partition(HEADING)[2].partition("\n## ")[0].splitlines():
        if line.startswith("| ") and not line.startswith(("| Study |", "| --- |")):
            found.setdefault(line.split(" | ")[0].removeprefix("| "), []).append(line)
    return found


def table(lines: Sequence[str]) -> str:
    """The opening of the page: how many sentences came to each verdict, and the table of all of them."""
    verdicts = [_verdict(line.split(" | ")[2]) for line in lines]
    otherwise = sum(f"*{Verdict.HOLDS}*" in line for line in lines)
    verb = "holds" if otherwise == 1 else "hold"
    more = f" Under another condition that the paper leaves open, {otherwise} more {verb}." if otherwise else ""
    summary = f"Of {count(len(lines), 'sentence')}, {verdicts_in_words(verdicts)}.{more}"
    return "\n".join([f"{HEADING}\n", f"{summary}\n", EXPLAINED, COLUMNS, *lines]) + "\n"


def _verdict(cell: str) -> Verdict:
    return Verdict(cell.rpartition(" (")[0])


def _cells(sentence: Sentence) -> Iterator[str]:
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
        yield "; ".join(f"*{Verdict.HOLDS}* {_condition(one, first)}: {_figures(one)}" for one in holding)
        return
    if len(sentence.others) > NAMED:
        yield f"of {len(sentence.others)} others, {verdicts_in_words([one.verdict for one in sentence.others])}"
        return
    yield "; ".join(f"{one.verdict} {_condition(one, first)}" for one in sentence.others)


def _condition(one: Judged, first: Judged) -> str:
    """With the number of the claim, and its study if that is another."""
    where = "" if one.report is first.report else f"{one.report.study.name}, "
    return f"{one.judgement.claim.condition} ({where}{one.number})"


def _figures(one: Judged) -> str:
    """The comparison that decides, or why there is none."""
    deciding = one.judgement.deciding
    if deciding is None or deciding.ratio is None:
        reasons = dict.fromkeys(finding.reason for finding in one.judgement.decisive if finding.reason)
        return listing(list(reasons)[:1]) or one.judgement.reason
    return finding_words(deciding, one.report.words)
