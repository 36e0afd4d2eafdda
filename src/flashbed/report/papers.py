# SPDX-License-Identifier: Apache-2.0
"""Write studies after papers as one page of Markdown: a table of the papers' own sentences with their verdicts, and a
section for each study with its claims, our figures beside the printed ones, and the explanation.

Several claims may judge one sentence, each under its own condition. Arranges the judgements of the analysis. Must not
know where results come from, nor where the page goes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

from flashbed.analysis import Finding, Judgement, Side
from flashbed.analysis.claim_words import (
    band_words,
    error_words,
    evidence,
    finding_words,
    geometric_words,
    is_narrow,
    missing_words,
    printed_words,
    ratio_text,
    sides_words,
    summary,
    unjudged_words,
    verdicts_in_words,
)
from flashbed.analysis.words import count, in_sentence, listing, metric_of, scale_of
from flashbed.report.claims import origin, scheduler_remark
from flashbed.report.model import Report
from flashbed.report.trust import trust
from flashbed.study.loading import Study
from flashbed.study.relation import Verdict

HEADING = "## The papers' own sentences"

MOST_CONDITIONS_NAMED = 4
"""The most other conditions that are named if the sentence holds under none; of more, only their verdicts are counted.
"""

MODE_OF = 3
"""The least number of claims with one condition that make it a way of measuring the whole paper may have used."""

SENTENCES_HEAD = """\
| Study | Sentence | Verdict | Decided by | Under another condition |
| --- | --- | --- | --- | --- |"""

EXPLAINED = """\
A number in brackets is that of the claim below. "Verdict" is that of the first claim that judges the sentence. The last
column has its verdicts under other conditions that the paper leaves open. This lab's own sentences are left out.
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


@dataclass(frozen=True)
class SentenceRow:
    """A row of the page's first table."""

    study: str
    sentence: str
    verdict: Verdict
    number: int
    """The number of the claim that judges the sentence first."""
    decided_by: str
    otherwise: str
    """The verdicts under other conditions."""
    holds_otherwise: bool

    @property
    def line(self) -> str:
        """Return the row in Markdown."""
        cells = (self.study, self.sentence, f"{self.verdict} ({self.number})", self.decided_by, self.otherwise)
        return f"| {' | '.join(cells)} |"

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> Self:
        """Return the row whose fields are these, as dataclasses.asdict() gives them."""
        return cls(**{**values, "verdict": Verdict(values["verdict"])})


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


def sentence_rows(report: Report, others: Sequence[Report] = ()) -> list[SentenceRow]:
    """Return a row of the table for each sentence of the study; `others` are the reports of its companions."""
    return [_row(sentence) for sentence in sentences(report, others)]


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


def sentence_table(rows: Sequence[SentenceRow]) -> str:
    """Return the opening of the page: how many sentences came to each verdict, and the table of all of them."""
    otherwise = sum(row.holds_otherwise for row in rows)
    verb = "holds" if otherwise == 1 else "hold"
    more = f" Under another condition that the paper leaves open, {otherwise} more {verb}." if otherwise else ""
    summary = f"Of {count(len(rows), 'sentence')}, {verdicts_in_words([row.verdict for row in rows])}.{more}"
    return "\n".join([f"{HEADING}\n", f"{summary}\n", EXPLAINED, SENTENCES_HEAD, *(row.line for row in rows)]) + "\n"


def _row(sentence: Sentence) -> SentenceRow:
    first = sentence.first
    condition = first.judgement.claim.condition
    return SentenceRow(
        study=first.report.study.name,
        sentence=sentence.text,
        verdict=first.verdict,
        number=first.number,
        decided_by=f"{condition + ': ' if condition else ''}{_figures(first)}",
        otherwise=_otherwise(sentence),
        holds_otherwise=bool(sentence.holds_otherwise),
    )


def _otherwise(sentence: Sentence) -> str:
    """Return the verdicts under other conditions; of those that hold, with figures."""
    first, others = sentence.first, sentence.others
    if not others:
        return "–"
    if holding := sentence.holds_otherwise:
        return "; ".join(f"*{Verdict.HOLDS}* {_condition(other, first)}: {_figures(other)}" for other in holding)
    if len(others) > MOST_CONDITIONS_NAMED:
        return f"of {len(others)} others, {verdicts_in_words([other.verdict for other in others])}"
    return "; ".join(f"{other.verdict} {_condition(other, first)}" for other in others)


def _condition(judged: Judged, first: Judged) -> str:
    """Return a condition with the number of its claim, and the study if that is another."""
    where = "" if judged.report is first.report else f"{judged.report.study.name}, "
    return f"{judged.judgement.claim.condition} ({where}{judged.number})"


def _figures(judged: Judged) -> str:
    """Return the comparison that decides, or why there is none."""
    deciding = judged.judgement.deciding
    if deciding is None or deciding.ratio is None:
        missing = next((finding.missing for finding in judged.judgement.decisive if finding.missing), None)
        return missing_words(missing) or unjudged_words(judged.judgement)
    return finding_words(deciding, judged.report.words)


MOST_ROWS = 16
"""The most rows with figures of the paper for a claim; for a claim without such figures, the evidence has the one that
decides.
"""

ADDED = (
    "*The next claims are this lab's own. Each judges no sentence of the paper, or a sentence under a condition that "
    "the paper leaves open.*"
)

NOT_EXPLAINED = "*Why is not explained yet.*"

PAGE_HEAD = """\
# What papers say, and what this lab measures

Written by `make papers` from the results; do not edit. Times are virtual: the page is the same on every host.

Each claim is judged by the words of its sentence. All studies use the same words ([studies.md](../studies.md#claim)). A
claim *holds*, *does not hold*, is *within the model's error* ([the rule](../studies.md#the-models-error-in-a-verdict)),
is *undecided* (the seeds disagree) or *cannot be decided* (something is not measured). The column "Paper" has the
paper's figures as printed. A ratio is that of the first figure to the second. If the study explains the verdict, the
explanation is below the claim. It is left out as soon as the verdict changes.
"""


@dataclass(frozen=True)
class StudyPart:
    """The part of the page on one study: its rows of the first table, and its section."""

    rows: Sequence[SentenceRow]
    section: str

    @classmethod
    def of(cls, report: Report, others: Sequence[Report] = ()) -> Self:
        """Return the part on the study of a report; `others` are the reports of its companions."""
        return cls(sentence_rows(report, others), section(report))

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> Self:
        """Return the part whose fields are these, as dataclasses.asdict() gives them."""
        return cls([SentenceRow.from_json(row) for row in values["rows"]], values["section"])


@dataclass(frozen=True)
class Unexplained:
    """A claim that does not hold, of which the study does not say why."""

    study: str
    number: int
    text: str
    verdict: str


def page(parts: Sequence[StudyPart]) -> str:
    """Return the whole page: the table of the papers' sentences, and a section for each study."""
    table = sentence_table([row for part in parts for row in part.rows])
    return "\n".join([PAGE_HEAD, table, *(part.section for part in parts)]).rstrip("\n") + "\n"


def section(report: Report) -> str:
    """Return the section of one study: its claims in their order. It ends with an empty line."""
    return "\n".join(_study(report))


def unexplained(reports: Sequence[Report]) -> list[Unexplained]:
    """Return the claims that came to another verdict than the paper and have no explanation in the study."""
    return [
        Unexplained(report.study.name, number, judgement.claim.text, judgement.verdict)
        for report in reports
        for number, judgement in enumerate(report.judgements(), start=1)
        if _needs_words(judgement) and not judgement.why
    ]


def _needs_words(judgement: Judgement) -> bool:
    """True if the results say something else than the sentence."""
    return judgement.verdict in (Verdict.REFUTED, Verdict.UNDECIDED)


def _study(report: Report) -> Iterator[str]:
    """Yield the lines of a section."""
    judgements = report.judgements()
    yield f"## {report.study.title}\n"
    measured = sum(row.is_measured for row in report.results.repetitions)
    planned = len(report.results.repetitions)
    rest = "" if measured == planned else f" of {planned:,}: **results are missing, and what rests on them is open**"
    measured_text = f"{count(measured, 'repetition')}{rest}"
    yield f"{report.study.source.rstrip('.')}. `flashbed run {report.study.name}`: {measured_text}."
    yield f"{' '.join(filter(None, (summary(judgements), modes(judgements))))}\n"
    numbered = list(enumerate(judgements, start=1))
    for number, judgement in numbered:
        if not judgement.claim.own:
            yield from _claim(report, number, judgement)
    added = [(number, judgement) for number, judgement in numbered if judgement.claim.own]
    if added:
        yield f"{ADDED}\n"
    for number, judgement in added:
        yield from _claim(report, number, judgement)


def _claim(report: Report, number: int, judgement: Judgement) -> Iterator[str]:
    """Yield the lines on one claim."""
    claim = judgement.claim
    source = f" ({origin(claim)})" if origin(claim) else ""
    yield f"### {number}. {claim.text}\n"
    figures = ""
    if judgement.deciding and judgement.deciding.ratio and not claim.printed:
        figures = f" ({_ours(judgement.deciding)})".replace(" (–)", "")
    yield f"**{judgement.verdict.capitalize()}**{source}. {evidence(judgement, report.words)}{figures}\n"
    yield from _table(report, judgement)
    remarks = [
        error_words(judgement),
        geometric_words(judgement),
        printed_words(judgement, report.words),
        trust(report, judgement).sentence,
        scheduler_remark(report, judgement),
    ]
    if any(remarks):
        yield f"{' '.join(filter(None, remarks))}\n"
    if judgement.why:
        yield f"{judgement.why}\n"
    elif _needs_words(judgement):
        yield f"{NOT_EXPLAINED}\n"


def _table(report: Report, judgement: Judgement) -> Iterator[str]:
    """Yield the table of the comparisons with figures of the paper."""
    if not judgement.claim.printed:
        return
    rows = [
        finding_
        for finding_ in judgement.findings
        if any(side.printed for side in _sides(finding_)) or finding_.printed_ratio is not None
    ]
    if not rows:
        return
    yield "| | Paper | Ratio | Here | Ratio | Asked | |"
    yield "| --- | --- | --- | --- | --- | --- | --- |"
    for finding in rows[:MOST_ROWS]:
        yield f"| {' | '.join(_cells(report, judgement, finding))} |"
    yield ""
    if len(rows) > MOST_ROWS:
        yield f"And {count(len(rows) - MOST_ROWS, 'more comparison')}.\n"


def _sides(finding: Finding) -> tuple[Side, Side]:
    return finding.left, finding.right


def _cells(report: Report, judgement: Judgement, finding: Finding) -> Iterator[str]:
    """Yield the cells of a row, in the order of the columns."""
    unit, exact = judgement.claim.unit, is_narrow(finding.band)
    case = f", {report.words.places(finding.case)}" if finding.case else ""
    metric = f", {in_sentence(metric_of(finding.metric).title)}" if finding.has_several_metrics else ""
    yield f"{sides_words(finding, report.words)}{case}{metric}"
    papers = [f"{side.printed.value:,.12g}" if side.printed else "–" for side in _sides(finding)]
    has_papers = any(side.printed for side in _sides(finding))
    bad = listing([side.printed.invalid for side in _sides(finding) if side.printed and side.printed.invalid])
    yield (
        f"{' : '.join(papers)} {unit}".rstrip() + (f" (invalid, not judged: {bad})" if bad else "")
        if has_papers
        else "–"
    )
    yield "–" if finding.printed_ratio is None else ratio_text(finding.printed_ratio, exact)
    yield _ours(finding)
    yield "–" if finding.ratio is None else _interval(finding, exact)
    yield band_words(finding.band)
    yield finding.verdict + (f": {missing_words(finding.missing)}" if finding.missing else "")


def _ours(finding: Finding) -> str:
    """Return our medians with their unit; "–" if there are none to show."""
    spreads = [side.spread for side in _sides(finding)]
    if finding.is_gap or not any(spreads):
        return "–"
    scale = scale_of(metric_of(finding.metric), [spread.median for spread in spreads if spread])
    return f"{' : '.join(scale.number(spread.median) if spread else '–' for spread in spreads)} {scale.unit}".rstrip()


def _interval(finding: Finding, exact: bool) -> str:
    """Return the median of the ratio with its interval."""
    ratio = finding.ratio
    assert ratio is not None
    low, high = (ratio_text(end, exact) for end in finding.interval)
    return ratio_text(ratio.median, exact) + (f" ({low} to {high})" if low != high else "")
