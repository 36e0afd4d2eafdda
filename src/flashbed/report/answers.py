# SPDX-License-Identifier: Apache-2.0
"""The section "The answer": each question of the study as a picture and a few lines, with the evidence for each load.

Adds to the words of the analysis what only the report knows: figures, and cells without a scheduler to choose. Must not
know HTML.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from flashbed.analysis import Comparison, Group, Lead, Load, Results, Spread, answer_lines, compare, sentence, shortened
from flashbed.analysis.answer import against, doubt_words
from flashbed.analysis.decisive import doubts
from flashbed.analysis.lines import MOST_ANSWER_LINES
from flashbed.analysis.ratio import INTERVAL_SEEDS
from flashbed.analysis.words import Scale, capitalized, count, factor, listing, metric_of, scale_of
from flashbed.report import limits
from flashbed.report.matrix import Matrix, matrix
from flashbed.report.model import SCHEDULER, Report
from flashbed.report.tables import Head, ReportTable, Row, TableCell
from flashbed.study.format import Answer, Choice, Figure

MOST_CELLS = 60
"""The most cells that are listed behind a load; the tables have the others."""

MOST_FIGURES = 3

NO_SCHEDULER = "on a raw chip nothing passes the block layer"


@dataclass(frozen=True)
class LoadDetails:
    """What a field opens: the verdict in full, how sure each lead is, the cells, and the figures that show them."""

    sentence: str
    leads: Sequence[str]
    cells: ReportTable
    figures: Sequence[tuple[str, str]]


@dataclass(frozen=True)
class Question:
    """A question of the study with its answer. `behind` has the rows of the picture in their order."""

    title: str
    compared: str
    matrix: Matrix
    lines: Sequence[str]
    behind: Sequence[LoadDetails]
    wear: str = ""


def questions(report: Report) -> list[Question]:
    """Return the study's answer and its choices, in the order of the study; those without a load are left out."""
    asked = report.questions
    loads = [[loads_of(report, answer, comparison) for comparison in report.comparisons(answer)] for answer in asked]
    metrics = {metric for question in asked for metric in question.metric}
    worn = wear_line(report, report.study.answer, metrics) if report.study.answer and any(loads[0]) else ""
    # The line on wear and the claims in the answer count among the ten lines
    room = MOST_ANSWER_LINES - bool(worn) - sum(claim.in_answer for claim in report.study.claims)
    lines_of = shortened(
        [answer_lines([load for part in parts for load in part], report.words) for parts in loads], room
    )
    shown = [
        _question(report, answer, [part for part in parts if part], lines_)
        for answer, parts, lines_ in zip(asked, loads, lines_of, strict=True)
        if any(parts)
    ]
    return [replace(shown[0], wear=worn), *shown[1:]] if worn else shown


def loads_of(report: Report, answer: Answer, comparison: Comparison) -> list[Load]:
    """Return the rows of a question by one metric."""

    def no_choice(group: Group) -> str:
        alone = answer.compare == (SCHEDULER,) and report.queueless.issuperset(limits.cells_of(report, answer, group))
        return NO_SCHEDULER if alone else ""

    return [Load(comparison, group, no_choice(group)) for group in comparison.groups]


def _question(report: Report, answer: Answer, parts: Sequence[Sequence[Load]], lines_: Sequence[str]) -> Question:
    """Return one question. `parts` has its loads by metric."""
    compared = report.words.joint_axis(parts[0][0].comparison.compare)
    title = answer.title if isinstance(answer, Choice) else f"Which {compared}?"
    results = report.asked(answer)
    behind = [_details(report, results, answer, load) for part in parts for load in part]
    picture = matrix(parts, report.words, _fixed(answer, parts[0][0].comparison.by))
    return Question(title, compared, picture, lines_, behind)


def _fixed(answer: Answer, by: Sequence[str]) -> dict[str, str]:
    """Return the axes that a question itself fixes to one value, so that it holds for all of its loads."""
    return {axis: values[0] for axis, values in answer.where.items() if len(values) == 1 and axis not in by}


def _details(report: Report, results: Results, answer: Answer, load: Load) -> LoadDetails:
    """Return what the fields of one load open."""
    comparison, group, words = load.comparison, load.group, report.words
    verdict = f"There is nothing to choose: {load.no_choice}." if load.no_choice else sentence(comparison, group, words)
    named = ("memory",) if group.barred else ()
    remark = limits.remark(report, limits.cells_of(report, answer, group), [comparison.metric], left_out=named)
    leads = [] if load.no_choice else [_lead_text(report, comparison, group, lead) for lead in group.leads]
    figures = [
        (f"figure-{place}", figure.title)
        for place, figure in enumerate(report.study.figures, start=1)
        if _shows(figure, answer, comparison, group)
    ]
    text = " ".join(filter(None, (verdict, remark)))
    return LoadDetails(text, leads, _cells(report, results, load), figures[:MOST_FIGURES])


def _lead_text(report: Report, comparison: Comparison, group: Group, lead: Lead) -> str:
    """Return a lead with its certainty: "F2FS against ext2: 4.0 times (3.6 to 4.1, 3 seeds)"."""
    names = [report.words.joint_value(comparison.compare, value) for value in (group.best or (), lead.over)]
    far = f"{factor(lead.factor)} times"
    if factor(lead.factor) == "1.00":
        far = "the same" if lead.whole.minimum == lead.whole.maximum == 1 else "less than 1 % apart"
    if all(standing.is_zero for standing in group.standings if standing.value in (group.best, lead.over)):
        far = "none at all, both"
    elif lead.is_endless:
        far = ", against ".join(against([lead], metric_of(comparison.metric)))
    if lead.whole.n == 1:
        certainty = "one seed, so that nothing tells what chance does"
    else:
        low, high = _apart(lead.whole.low, lead.whole.high)
        ends = "" if lead.whole.low == lead.whole.high == math.inf else f"{low} to {high}"
        confidence = ", 95 % confidence" if lead.whole.n >= INTERVAL_SEEDS else ""
        certainty = f"{ends}{confidence}, {count(lead.whole.n, 'seed')}".removeprefix(", ")
    return f"{names[0]} against {names[1]}: {far} ({certainty})"


def _apart(low: float, high: float) -> tuple[str, str]:
    """Return both ends in as many digits as distinguish them, if any do."""
    if factor(low) != factor(high) or low == high:
        return factor(low), factor(high)
    for digits in range(4, 8):
        ends = f"{low:.{digits}g}", f"{high:.{digits}g}"
        if ends[0] != ends[1]:
            return ends
    return factor(low), factor(high)


def _shows(figure: Figure, answer: Answer, comparison: Comparison, group: Group) -> bool:
    """True if a figure shows cells of a load, by its metric."""
    selection = {**answer.where, **{axis: (value,) for axis, value in group.at}}
    return figure.y == comparison.metric and all(
        set(values) & set(figure.where.get(axis, values)) for axis, values in selection.items()
    )


def _cells(report: Report, results: Results, load: Load) -> ReportTable:
    """Return the cells that a load rests on, with what says how far to trust each."""
    comparison, group, words = load.comparison, load.group, report.words
    metric = metric_of(comparison.metric)
    spreads = results.spreads(metric.name)
    at = dict(group.at)
    cells = list(results.combinations({axis: (value,) for axis, value in at.items()}))
    scale = scale_of(metric, (spreads[cell].high for cell in cells if cell in spreads))
    rest = [axis for axis in results.axes if axis not in comparison.compare.axes and axis not in at]
    rows = []
    for cell in cells[:MOST_CELLS]:
        where = results.coordinates(cell)
        setting = tuple((axis, where[axis]) for axis in rest)
        value = comparison.compare.value_in(where)
        doubt = group.doubts.get((value, setting))
        heads = [Head(words.joint_value(comparison.compare, value))]
        if rest:
            heads.append(Head(words.places(setting)))
        limit = results.limits.get(cell, "")
        trust = (
            TableCell(doubt_words(doubt), tone="warn")
            if doubt
            else TableCell(limits.SHORT.get(limit, "–"), tone="quiet")
        )
        rows.append(Row(heads, [*_figures(spreads.get(cell), scale), trust]))
    more = f" The first {MOST_CELLS} of {len(cells)}." if len(cells) > MOST_CELLS else ""
    return ReportTable(
        caption="The cells behind it",
        note=f"{scale.title(metric)}, medians over seeds.{more}",
        corner=[capitalized(words.joint_axis(comparison.compare)), *(["At"] if rest else [])],
        columns=["Median", "Over seeds", "Limit"],
        rows=rows,
        kind="dense behind",
    )


def _figures(spread: Spread | None, scale: Scale) -> list[TableCell]:
    """Return the cells of a table for the median and for the interval."""
    if spread is None:
        return [TableCell("no result", tone="bad"), TableCell("–", tone="quiet")]
    over = "one seed" if spread.n == 1 else f"{scale.number(spread.low)} – {scale.number(spread.high)}"
    return [TableCell(scale.number(spread.median)), TableCell(over, tone="quiet")]


TOTAL_AMPLIFICATION = "total_write_amplification"

TELLS_OF_WEAR = (
    TOTAL_AMPLIFICATION,
    "write_amplification",
    "wear_mean",
    "wear_max",
    "lifetime_years",
    "lifetime_level_years",
)
"""Metrics of wear. A study that asks for one of these has a picture of it."""


def wear_line(report: Report, answer: Answer, asked: set[str]) -> str:
    """Return a line: "Wear: for each byte written to a file, flash programs 1.02 bytes with ext2 and 2.1 with FAT16."

    It gives means over the cells of the answer that all of its values have. A cell whose write amplification decides
    nothing, such as one that has not settled, is left out, and the line says how many are. Return "" if the study asks
    for wear itself (`asked` are the metrics of all its questions), nothing was measured of it, or the answer compares
    nothing.
    """
    if asked.intersection(TELLS_OF_WEAR):
        return ""
    results = report.asked(answer.model_copy(update={"by": ()}))
    measured = [row for row in results.repetitions if TOTAL_AMPLIFICATION in row.metrics]
    doubted = {cell: doubt for cell, doubt in doubts(results, TOTAL_AMPLIFICATION).items() if doubt.bars}
    deciding = [row for row in measured if row.combination not in doubted]
    if not deciding:
        return ""
    comparison = compare(replace(results, repetitions=deciding), answer.compare, (), TOTAL_AMPLIFICATION, False)
    [group] = comparison.groups
    if len(group.standings) < 2:
        return ""
    names = [report.words.joint_value(comparison.compare, standing.value) for standing in group.standings]
    scores = [factor(standing.score) for standing in group.standings]
    verdicts = [f"{scores[0]} bytes with {names[0]}"]
    verdicts += [f"{score} with {name}" for score, name in zip(scores[1:], names[1:], strict=True)]
    mean = f" (geometric mean of {count(len(group.settings), 'setting')})" if len(group.settings) > 1 else ""
    left_out = {row.combination for row in measured}.intersection(doubted)
    without = f" Left out: {count(len(left_out), 'cell')} whose figure decides nothing." if left_out else ""
    return f"Wear: for each byte written to a file, flash programs {listing(verdicts)}{mean}.{without}"
