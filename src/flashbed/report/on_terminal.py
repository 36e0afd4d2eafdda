# SPDX-License-Identifier: Apache-2.0
"""The lines that a run prints when it is done: the answer in words, as the report has it, and the cautions. Must not
know HTML.
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
from flashbed.report.display_names import words_of
from flashbed.report.model import Report, asked_metrics
from flashbed.result.result import Result
from flashbed.study.loading import Study

MOST_CLAIMS = 10
"""The most claims that are printed one by one."""

MOST_CAUTIONS = 6

MOST_CELLS_SHOWN = 10
"""The most cells that are listed if nothing is compared; the report has the others."""


MOST_WATCHED = 128
"""The most cells of a study that are printed as they are measured."""


class Arrivals:
    """Describe each cell as soon as all its seeds are measured, before there is a report."""

    def __init__(self, study: Study) -> None:
        combinations = [tuple(cell[axis] for axis in study.axes) for cell in study.combinations()]
        self._is_watched = len(combinations) <= MOST_WATCHED
        self._metrics = asked_metrics(study)
        self._words = words_of(study.library, study.axes, study.labels, combinations)

    def line(self, results: Sequence[Result]) -> str | None:
        """Return the median over seeds of the first metric that the study asks for; None if there is nothing to say."""
        if not self._is_watched or not all(result.is_measured for result in results):
            return None  # the end of the run reports failures
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
    """Return the lines to print, in their order."""
    asked_questions, warned = questions(report), cautions(report, flows(report.results, report.fixed))
    lines_ = []
    for question in asked_questions:
        lines_.append(question.title)
        lines_ += [f"  {text}" for text in (*question.lines, question.wear) if text]
    lines_ += _claims(report)
    if not asked_questions and not report.study.claims:
        lines_ += _cells(report)
    if warned:
        lines_.append("Before you rely on it")
        lines_ += [f"  {caution.text}" for caution in warned[:MOST_CAUTIONS]]
    more = len(warned) - MOST_CAUTIONS
    if more > 0:
        lines_.append(f"  {count(more, 'more caution')} in the report")
    return lines_


def _claims(report: Report) -> list[str]:
    """Return each claim with its verdict and what decided it; of many, how many hold, and those in the answer."""
    judgements = report.judgements()
    if not judgements:
        return []
    if len(judgements) > MOST_CLAIMS:
        return [summary(judgements), *(f"  {text}" for _, text in claims.in_answer(report, judgements))]
    texts = [
        f"{judgement.claim.text.rstrip('.')}: {judgement.verdict}. {evidence(judgement, report.words)}"
        for judgement in judgements
    ]
    return ["Claims", *(f"  {text}" for text in texts)]


def _cells(report: Report) -> list[str]:
    """Return the medians of each cell, by the metrics that the study shows."""
    metrics = [name for name in report.asked_metrics if name in report.results.metrics]
    spreads = {name: report.results.spreads(name) for name in metrics}
    scales = {name: scale_of(metric_of(name), (spread.high for spread in spreads[name].values())) for name in metrics}
    cells = [cell for cell in report.results.combinations() if any(cell in of_metric for of_metric in spreads.values())]
    texts = []
    for cell in cells[:MOST_CELLS_SHOWN]:
        figures = [
            f"{in_sentence(metric_of(name).title)} {scales[name].figure(spreads[name][cell].median)}"
            for name in metrics
            if cell in spreads[name]
        ]
        texts.append(f"{report.cell_name(cell)}: {', '.join(figures)}")
    rest = len(cells) - len(texts)
    return [
        "Nothing is compared:",
        *(f"  {text}" for text in texts),
        *([f"  and {count(rest, 'more cell')}"] if rest else []),
    ]
