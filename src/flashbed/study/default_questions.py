# SPDX-License-Identifier: Apache-2.0
"""What a report shows of a study whose file does not say: a default answer, table and figure.

The tool names its metrics. What is compared is the first part of the stack that varies, file systems before media
before the rest, or else the first axis. Axes whose values are words keep their values apart; over sizes and counts the
mean is taken. Must not know how anything is shown.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from flashbed.common.metrics import METRICS
from flashbed.common.units import sizes
from flashbed.study.format import Answer, Figure, Table
from flashbed.workload import WORKLOADS

if TYPE_CHECKING:
    from flashbed.study.loading import Study

FIRST_COMPARED = ("filesystem", "medium", "translation", "scheduler", "kernel", "board")
"""Parts of the stack, those that people choose first in front."""


def asked(study: Study, *, answer: bool = True) -> Study:
    """Return the study with defaults for the questions that it does not ask, an answer only if `answer`. Patterns are
    not compared, for they ask for different work. A study of one cell has only a table.
    """
    varied = {axis: values for axis, values in _varied(study).items() if len(values) > 1}
    said = {**{k: (v,) for k, v in study.workload.items()}, **study.axes}
    if study.job:
        said["job"] = tuple(study.job.values())
    metrics = WORKLOADS[study.tool].headline(said)
    compared = next((axis for axis in (*FIRST_COMPARED, *varied) if axis in varied and axis != "pattern"), None)
    others = [axis for axis in varied if axis != compared]
    found: dict[str, object] = {}
    if answer and study.answer is None and compared is not None:
        by = tuple(axis for axis in others if not sizes(varied[axis]))
        found["answer"] = Answer(compare=(compared,), metric=metrics, by=by)
    if not study.tables:
        columns = (compared,) if compared is not None else ()
        found["tables"] = (Table(title="All cells", rows=tuple(others), columns=columns, metric=metrics),)
    if not study.figures and varied:
        found["figures"] = (_figure(varied, compared or next(iter(varied)), others, metrics[0]),)
    return replace(study, **found, by_default=frozenset(found))  # type: ignore[arg-type]


def removed(study: Study) -> Study:
    """Return the study as its file has it: without what `asked` has put in."""
    none = {"answer": None, "tables": (), "figures": ()}
    return replace(study, **{name: none[name] for name in study.by_default}, by_default=frozenset())  # type: ignore[arg-type]


def _figure(varied: Mapping[str, Sequence[str]], compared: str, others: Sequence[str], metric: str) -> Figure:
    """Lines along the longest axis of numbers, if there is one beside what is compared; else bars."""
    numbers = [axis for axis in others if sizes(varied[axis])]
    x = max(numbers, key=lambda axis: len(varied[axis]), default=compared)
    series = tuple(axis for axis in dict.fromkeys((compared, *others)) if axis != x)
    return Figure(title=METRICS[metric].title, x=x, y=metric, series=series, kind="bar" if x == compared else "line")


def _varied(study: Study) -> dict[str, list[str]]:
    """The values of each axis that any cell has."""
    cells = list(study.combinations())
    return {axis: [v for v in values if any(cell[axis] == v for cell in cells)] for axis, values in study.axes.items()}
