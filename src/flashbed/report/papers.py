# SPDX-License-Identifier: Apache-2.0
"""Write studies after papers as one page of Markdown: each claim, its verdict, our figures beside the printed ones, and
the explanation.

Arranges the judgements of the analysis. Must not know where results come from, nor where the page goes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from flashbed.analysis import Finding, Judgement, Side
from flashbed.analysis.claim_words import (
    band_words,
    error_words,
    evidence,
    geometric_words,
    is_narrow,
    printed_words,
    ratio_text,
    sides_words,
    summary,
)
from flashbed.analysis.words import count, in_sentence, listing, metric_of, scale_of
from flashbed.report.claims import origin, scheduler_remark
from flashbed.report.model import Report
from flashbed.report.sentences import HEADING, modes, table
from flashbed.report.trust import trust
from flashbed.study.loading import Study
from flashbed.study.relation import Verdict

MOST_ROWS = 16
"""The most rows with figures of the paper for a claim; for a claim without such figures, the evidence has the one that
decides.
"""

ADDED = (
    "*What follows is this lab's own: no sentence of the paper, or one under a condition that the paper leaves open.*"
)

BEHIND = "**This page is behind its studies**, which have changed since their results were measured."
"""A line that an author puts on the page by hand, until `make papers` writes it from new results."""

NOT_EXPLAINED = "*Why is not explained yet.*"

HEAD = """\
# What papers say, and what comes out here

Written by `make papers` from the results; do not edit. Times are virtual: the page is the same on every host.

Each claim is held to what its sentence says, by one set of words for all studies ([studies.md](../studies.md#claim)).
It *holds*, *does not hold*, is *within the model's error* ([the rule](../studies.md#the-models-error-in-a-verdict)), is
*undecided* (the seeds disagree) or *cannot be decided* (something is not measured). Under "Paper" stand its figures as
printed. A ratio is of the first to the second. What a study says on why a claim came to its verdict stands below it,
and only as long as that is the verdict.
"""


@dataclass(frozen=True)
class Unexplained:
    """A claim that does not hold, of which the study does not say why."""

    study: str
    number: int
    text: str
    verdict: str


def page(rows: Sequence[str], sections: Sequence[str]) -> str:
    """Return the whole page: the table of the papers' sentences, and a section for each study."""
    return "\n".join([HEAD, table(rows), *sections]).rstrip("\n") + "\n"


def heading(study: Study) -> str:
    """Return the first line of a study's section."""
    return f"## {study.title}"


def section(report: Report) -> str:
    """Return the section of one study: its claims in their order. It ends with an empty line."""
    return "\n".join(_study(report))


def sections(text: str) -> dict[str, str]:
    """Return the studies' sections of a page that was written before, by their headings."""
    parts = (f"## {part}".rstrip("\n") + "\n" for part in text.split("\n## ")[1:])
    return {part.partition("\n")[0]: part for part in parts if not part.startswith(HEADING)}


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
    yield f"{heading(report.study)}\n"
    measured = sum(row.is_measured for row in report.results.repetitions)
    planned = len(report.results.repetitions)
    rest = "" if measured == planned else f" of {planned:,}: **results are missing, and what rests on them is open**"
    there = f"{count(measured, 'repetition')}{rest}"
    yield f"{report.study.source.rstrip('.')}. `flashbed run {report.study.name}`: {there}."
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
    yield finding.verdict + (f": {finding.reason}" if finding.reason else "")


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
