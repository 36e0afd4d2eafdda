# SPDX-License-Identifier: Apache-2.0
"""The section "What to choose": for each question of the study and each workload, what its results say to take.

Adds to the words of the analysis what only the report knows: where memory was measured, and where there is no
scheduler to choose. Must not know HTML.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from flashbed.analysis import Advice, Combination, Comparison, Group, advice
from flashbed.analysis.words import count, direction, metric_of
from flashbed.report.limits import cells_of, remark
from flashbed.report.model import SCHEDULER, Report
from flashbed.study_format import Answer, Choice


@dataclass(frozen=True)
class Question:
    """One thing to choose, by one metric."""

    title: str
    by: str
    """The metric that decides, and which numbers are the good ones."""
    advice: Sequence[Advice]


def questions(report: Report, swallowed: Collection[Combination]) -> list[Question]:
    """The study's answer and its choices, in the study's order; `swallowed` are cells that measured memory."""
    asked = [*([report.study.answer] if report.study.answer else []), *report.study.choices]
    return [
        _question(report, answer, comparison, swallowed)
        for answer in asked
        for comparison in report.comparisons(answer)
    ]


def _question(report: Report, answer: Answer, comparison: Comparison, swallowed: Collection[Combination]) -> Question:
    metric = metric_of(comparison.metric)
    title = answer.title if isinstance(answer, Choice) else f"Which {report.words.axis(comparison.compare)}?"
    told = [_advice(report, answer, comparison, group, swallowed) for group in comparison.groups]
    return Question(title, f"By {metric.title[0].lower()}{metric.title[1:]}. {direction(metric)}", told)


def _advice(
    report: Report, answer: Answer, comparison: Comparison, group: Group, swallowed: Collection[Combination]
) -> Advice:
    found = advice(comparison, group, report.words)
    cells = set(cells_of(report, answer, group))
    if answer.compare == (SCHEDULER,) and cells <= report.queueless:
        reason = "On a raw chip nothing passes the block layer: there is no scheduler to choose."
        return replace(found, choice="nothing to choose", reason=reason, clear=False)
    kept = len(cells & set(swallowed))
    if kept:
        memory = f"In {kept} of {count(len(cells), 'cell')} memory kept most of the bytes, so the medium counts little."
        found = replace(found, reason=f"{found.reason} {memory}")
    limits = remark(report, cells, said=("memory",) if kept else ())
    return replace(found, reason=f"{found.reason} {limits}") if limits else found
