# SPDX-License-Identifier: Apache-2.0
"""What a run says on the terminal when it is done: the answer in words, as the report has it, and what must be known
before anybody relies on it. Must not know HTML.
"""

from __future__ import annotations

import statistics
from collections.abc import Sequence

from flashbed.analysis import flows
from flashbed.analysis.claim_words import evidence, summary
from flashbed.analysis.words import count, in_sentence, metric_of, scale_of
from flashbed.report import claims
from flashbed.report.answers import questions
from flashbed.report.cautions import cautions
from flashbed.report.model import Report, asked_metrics
from flashbed.report.names import words_of
from flashbed.result.result import Result
from flashbed.study.loading import Study

MOST_CLAIMS = 10
"""Claims that are told one by one."""

MOST_CAUTIONS = 6

MOST_CELLS = 10
"""Cells that are listed where nothing is compared; the report has the others."""


MOST_WATCHED = 128
"""Cells of a study of which each is told when it is measured."""


class Arrivals:
    """What a run says of each cell as soon as all its seeds are measured, before there is a report."""

    def __init__(self, study: Study) -> None:
        combinations = [tuple(cell[axis] for axis in study.axes) for cell in study.combinations()]
        self._is_watched = len(combinations) <= MOST_WATCHED
        self._metrics = asked_metrics(study)
        self._words = words_of(study.library, study.axes, study.labels, combinations)

    def line(self, results: Sequence[Result]) -> str | None:
        """The first metric that the study asks for, as the median over seeds; None if there is nothing to say."""
        if not self._is_watched or not all(result.is_measured for result in results):
            return None  # the end of the run tells of failures
        measured = [result.measurement.metrics for result in results]
        metric = next((name for name in self._metrics if all(name in metrics for metrics in measured)), None)
        if metric is None:
            return None
        median = statistics.median(metrics[metric] for metrics in measured)
        scale = scale_of(metric_of(metric), [median])
        return (
            f"{self._words.cell(results[0].coordinates)}: {in_sentence(metric_of(metric).title)} {scale.figure(median)}"
        )


def lines(report: Report) -> list[str]:
    """The lines to print, in their order."""
    asked, warned = questions(report), cautions(report, flows(report.results, report.fixed))
    told = []
    for question in asked:
        told.append(question.title)
        told += [f"  {text}" for text in (*question.lines, question.wear) if text]
    told += _claims(report)
    if not asked and not report.study.claims:
        told += _cells(report)
    if warned:
        told.append("Before you rely on it")
        told += [f"  {caution.text}" for caution in warned[:MOST_CAUTIONS]]
    more = len(warned) - MOST_CAUTIONS
    if more > 0:
        told.append(f"  {count(more, 'more caution')} in the report")
    return told


def _claims(report: Report) -> list[str]:
    """Each claim with its verdict and what decided it; of many, how many hold, and those that stand in the answer."""
    judgements = report.judgements()
    if not judgements:
        return []
    if len(judgements) > MOST_CLAIMS:
        return [summary(judgements), *(f"  {text}" for _, text in claims.in_answer(report, judgements))]
    told = [f"{one.claim.text.rstrip('.')}: {one.verdict}. {evidence(one, report.words)}" for one in judgements]
    return ["Claims", *(f"  {text}" for text in told)]


def _cells(report: Report) -> list[str]:
    """What was measured of each cell, by the metrics that the study shows."""
    metrics = [name for name in report.asked_metrics if name in report.results.metrics]
    spreads = {name: report.results.spreads(name) for name in metrics}
    scales = {name: scale_of(metric_of(name), (one.high for one in spreads[name].values())) for name in metrics}
    cells = [cell for cell in report.results.combinations() if any(cell in found for found in spreads.values())]
    told = []
    for cell in cells[:MOST_CELLS]:
        figures = [
            f"{in_sentence(metric_of(name).title)} {scales[name].figure(spreads[name][cell].median)}"
            for name in metrics
            if cell in spreads[name]
        ]
        told.append(f"{report.cell_name(cell)}: {', '.join(figures)}")
    rest = len(cells) - len(told)
    return [
        "Nothing is compared:",
        *(f"  {text}" for text in told),
        *([f"  and {count(rest, 'more cell')}"] if rest else []),
    ]
