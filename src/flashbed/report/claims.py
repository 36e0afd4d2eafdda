# SPDX-License-Identifier: Apache-2.0
"""Show the claims of a study: verdict, evidence, and the paper's figures beside ours.

Arranges the judgements of the analysis. Must not know HTML.
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
    missing_words,
    printed_words,
    ratio_text,
    sides_words,
    unjudged_words,
    zero_words,
)
from flashbed.analysis.words import Scale, Words, capitalized, listing, metric_of, scale_of
from flashbed.report.model import SCHEDULER, Report, no_scheduler
from flashbed.report.tables import Head, ReportTable, Row, TableCell
from flashbed.report.trust import trust
from flashbed.study.format import Claim, Where
from flashbed.study.relation import Verdict

OPEN_ROWS = 6
"""The most rows of a table that is not folded."""

LISTED_ROWS = 500

NO_SENTENCE = "no sentence of the paper"

VERDICT_TONES = {
    Verdict.HOLDS: "good",
    Verdict.REFUTED: "bad",
    Verdict.WITHIN_ERROR: "warn",
    Verdict.UNDECIDED: "warn",
    Verdict.UNKNOWN: "quiet",
}


@dataclass(frozen=True)
class ShownClaim:
    """A claim, ready to be shown. `findings` is their number."""

    text: str
    source: str
    verdict: Verdict
    evidence: str
    remarks: str
    table: ReportTable | None
    findings: int

    @property
    def tone(self) -> str:
        """Return the tone of the verdict."""
        return VERDICT_TONES[self.verdict]

    @property
    def folded(self) -> bool:
        """True if the table is too long to be shown at once."""
        return self.findings > OPEN_ROWS


def shown(report: Report, judgements: Sequence[Judgement]) -> list[ShownClaim]:
    """Return the claims in the order of the study."""
    return [
        ShownClaim(
            judgement.claim.text,
            origin(judgement.claim),
            judgement.verdict,
            evidence(judgement, report.words),
            " ".join(filter(None, _remarks(report, judgement))),
            _table(judgement, report.words) if judgement.findings else None,
            len(judgement.findings),
        )
        for judgement in judgements
    ]


def origin(claim: Claim) -> str:
    """Return where a claim's sentence stands, and the condition under which it is judged."""
    return "; ".join(filter(None, (claim.source, NO_SENTENCE if claim.own else "", claim.condition)))


def in_answer(report: Report, judgements: Sequence[Judgement]) -> list[tuple[str, str]]:
    """Return, of each claim that the answer shows too, its link and a line: the verdict, and what its cells cannot say.
    The reason stays with the claim.
    """
    lines = []
    for place, judgement in enumerate(judgements, start=1):
        if judgement.claim.in_answer:
            head = f"{judgement.claim.text.rstrip('.')}: {judgement.verdict}."
            lines.append((f"#claim-{place}", " ".join(filter(None, (head, trust(report, judgement).sentence)))))
    return lines


def overview(report: Report, judgements: Sequence[Judgement]) -> ReportTable:
    """Return a table of all claims by verdict, each with the comparison that decides it: the paper's figures beside
    ours.
    """
    numbered = sorted(enumerate(judgements, start=1), key=lambda item: list(VERDICT_TONES).index(item[1].verdict))
    rows = []
    for place, judgement in numbered:
        verdict = TableCell(
            judgement.verdict, note=trust(report, judgement).short, tone=VERDICT_TONES[judgement.verdict]
        )
        deciding = judgement.deciding
        quiet = TableCell("–", tone="quiet")
        cells = [quiet, quiet, quiet]
        if deciding is not None:
            cells = [_papers(deciding), *_ratio_cells(deciding)[:2]]
        case = f" at {report.words.places(deciding.case)}" if deciding and deciding.case else ""
        clock = ", real time" if deciding and judgement.claim.is_about_systems else ""
        by = f"{sides_words(deciding, report.words)}{case}{clock}" if deciding else unjudged_words(judgement)
        heads = [Head(f"{place}. {judgement.claim.text}", link=f"#claim-{place}")]
        rows.append(Row(heads, [verdict, TableCell(by), *cells]))
    return ReportTable(
        caption="All claims, by verdict",
        note="Each with the comparison that decides it: of a claim that holds the closest, of one that does not the "
        "clearest against it. A ratio is of the first to the second; below it the interval that the seeds leave. –: no "
        "figure in the paper, or no result here. Below a verdict: what the cells behind it cannot say.",
        corner=["Claim"],
        columns=["Verdict", "Compared", "Paper", "Here", "Asked"],
        rows=rows,
        kind="claims overview dense",
    )


def _remarks(report: Report, judgement: Judgement) -> list[str]:
    """Return what a reader must know beside the verdict; the study's own words on it come last."""
    return [
        error_words(judgement),
        geometric_words(judgement),
        printed_words(judgement, report.words),
        trust(report, judgement).sentence,
        scheduler_remark(report, judgement),
        judgement.why,
    ]


def scheduler_remark(report: Report, judgement: Judgement) -> str:
    """Return a sentence if the claim compares schedulers in cells that have none; else ""."""
    compared_axes = {
        axis for finding in judgement.findings for side in (finding.left, finding.right) for axis, _ in side.coordinates
    }
    if SCHEDULER not in compared_axes or judgement.claim.is_about_systems:
        return ""
    return no_scheduler(report, dict.fromkeys(cell for finding in judgement.findings for cell in finding.cells))


def _table(judgement: Judgement, words: Words) -> ReportTable:
    """Return the findings of a claim, one in a row."""
    findings = judgement.findings[:LISTED_ROWS]
    axes = [axis for axis, _ in findings[0].case]
    several = len(judgement.claim.metric) > 1
    has_printed = any(
        finding.left.printed or finding.right.printed or finding.printed_ratio is not None
        for finding in findings
        if finding.right.coordinates
    )
    averaged = judgement.claim.cells == "average"
    in_time = averaged and judgement.claim.average == "time"
    has_ours = not averaged or in_time
    scales = {
        metric: Scale("")
        if judgement.claim.gap_along is not None
        else scale_of(metric_of(metric), _numbers([finding for finding in findings if finding.metric == metric]))
        for metric in judgement.claim.metric
    }
    rows = []
    for finding in findings:
        heads = [Head(words.value(axis, value)) for axis, value in finding.case]
        if several:
            heads.append(Head(metric_of(finding.metric).title))
        cells = [_ours(finding, scales[finding.metric])] if has_ours else []
        if has_printed:
            cells.insert(0, _papers(finding))
        rows.append(Row([*heads, Head(sides_words(finding, words))], [*cells, *_ratio_cells(finding)]))
    rest = f" The first {LISTED_ROWS} of {len(judgement.findings):,}." if len(judgement.findings) > LISTED_ROWS else ""
    metrics = listing([scales[metric].title(metric_of(metric)) for metric in judgement.claim.metric])
    if judgement.claim.gap_along is not None:
        sides = [words.places(list(_single(selection))) for selection in judgement.claim.compare]
        metrics = f"{metrics}, ratio of {sides[0]} to {sides[1]}"
    unit = f", the paper's in {judgement.claim.unit}" if has_printed and judgement.claim.unit else ""
    over = listing([words.axis_plural(axis) for axis in judgement.claim.over]) or "all cases"
    kind = f"mean times over {over}; below a ratio the geometric mean of the single ones" if in_time else ""
    mean = f"; {kind or f'geometric means over {over}'}" if averaged else ""
    clock = "; real time" if judgement.claim.is_about_systems else ""
    return ReportTable(
        caption="The numbers that decide",
        note=f"{metrics}{unit}{mean}{clock}.{rest}",
        corner=[*(capitalized(words.axis(axis)) for axis in axes), *(["Metric"] if several else []), "Compared"],
        columns=[
            *(["Paper"] if has_printed else []),
            *(["Elsewhere" if judgement.claim.is_about_systems else "Here"] if has_ours else []),
            "Ratio",
            "Asked",
            "Verdict",
        ],
        rows=rows,
        kind="claims dense",
    )


def _numbers(findings: Sequence[Finding]) -> list[float]:
    return [
        number_ for finding in findings for side in (finding.left, finding.right) for number_ in side.numbers.values()
    ]


def _ours(finding: Finding, scale: Scale) -> TableCell:
    """Return the medians of both sides as a cell."""

    def text(side: Side) -> str:
        return scale.number(side.spread.median) if side.spread else "–"

    if finding.ratio is None:
        return TableCell(
            f"{text(finding.left)} : {text(finding.right)}", hint=missing_words(finding.missing), tone="quiet"
        )
    bound = f"{finding.left.bound} " if finding.left.bound else ""
    return TableCell(f"{bound}{text(finding.left)} : {text(finding.right)}")


def _papers(finding: Finding) -> TableCell:
    """Return the paper's figures as a cell."""

    def text(side: Side) -> str:
        return "–" if side.printed is None else f"{side.printed.value:,.12g}"

    sides = (finding.left, finding.right)
    if any(side.printed and side.printed.invalid for side in sides):
        reasons = listing([side.printed.invalid for side in sides if side.printed and side.printed.invalid])
        return TableCell(
            f"{text(sides[0])} : {text(sides[1])}", note="invalid in the paper, not judged", hint=reasons, tone="bad"
        )
    ratio = finding.printed_ratio
    if not any(side.printed for side in sides):
        if ratio is not None:
            return TableCell(f"{ratio_text(ratio)} ×", hint="geometric mean of the paper's ratios")
        return TableCell("–", tone="quiet")
    note = "" if ratio is None else f"{ratio_text(ratio)} ×"
    return TableCell(f"{text(sides[0])} : {text(sides[1])}", note=note)


def _ratio_cells(finding: Finding) -> list[TableCell]:
    """Return the ratio, the band and the verdict as cells."""
    ratio = finding.ratio
    ratio_cell = TableCell("–", hint=missing_words(finding.missing), tone="quiet")
    if ratio is not None:
        exact = is_narrow(finding.band)
        note = " – ".join(dict.fromkeys(ratio_text(end, exact) for end in finding.interval))
        note = note if "–" in note else ""  # with each seed
        if finding.geometric is not None:
            note = f"{note}{'; ' if note else ''}geometric {ratio_text(finding.geometric.median, exact)}"
        bound = f"{finding.left.bound} " if finding.left.bound else ""
        ratio_cell = TableCell(zero_words(finding) or f"{bound}{ratio_text(ratio.median, exact)} ×", note=note)
    verdict = TableCell(finding.verdict, note=missing_words(finding.missing), tone=VERDICT_TONES[finding.verdict])
    return [ratio_cell, TableCell(band_words(finding.band)), verdict]


def _single(selection: Where) -> Iterator[tuple[str, str]]:
    """Yield the axes of a selection, each with its first value."""
    for axis, values in selection.items():
        yield axis, values[0]
