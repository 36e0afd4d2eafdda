# SPDX-License-Identifier: Apache-2.0
"""What a study asks of its results: answers, figures, tables, lives, traces, and the words for them. Each rule that
spans several keys is here. And what a report shows of a study whose file does not say: a default answer, table and
figure.

By default the tool names its metrics. What is compared is the first part of the stack that varies, file systems before
media before the rest, or else the first axis. Axes whose values are words keep their values apart; over sizes and
counts the mean is taken. Must not know how anything is shown.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple, TypeVar

from flashbed.common.toml_lines import Keys
from flashbed.common.tomlfile import Problem, TomlFile, nearest
from flashbed.common.units import sizes
from flashbed.guest_output.wear import BOUNDS, LIVES
from flashbed.profiles.library import Library
from flashbed.profiles.translation import has_queue
from flashbed.result.metrics import METRICS
from flashbed.study.claim_rules import TIME_UNITS, not_a_time
from flashbed.study.format import Answer, Choice, Figure, Label, Labels, StudyFile, Table, Trace, Where
from flashbed.study.selection import (
    combinations,
    full_selection,
    known_axis,
    known_metric,
    matches,
    raise_all,
    selected,
)

AnyAnswer = TypeVar("AnyAnswer", bound=Answer)

AFTER_CUT = "mount_after_cut_s"
NO_LOAD = 'needs to know how much is written a day: bytes_per_day = "1G"'
NO_CUT = "is measured where the power is cut: power_cut = true"
"""What a metric lacks, for people."""

MOST_TRACED = 8
"""Cells that one figure of requests shows."""


def checked_answers(
    file: TomlFile, study: StudyFile, skip: Sequence[Where]
) -> tuple[Answer | None, tuple[Choice, ...]]:
    """The answer and what else is to be chosen, with the values of `where` in full. Raises InputError."""
    problems: list[Problem] = []
    answer = _checked_answer(study, skip, study.answer, ("answer",), problems) if study.answer else None
    choices = [
        _checked_answer(study, skip, choice, ("choice", index), problems) for index, choice in enumerate(study.choice)
    ]
    raise_all(file, problems)
    return answer, tuple(choices)


def _checked_answer(
    study: StudyFile, skip: Sequence[Where], answer: AnyAnswer, at: Keys, problems: list[Problem]
) -> AnyAnswer:
    before = len(problems)
    where = full_selection(study, answer.where, (*at, "where"), problems)
    for name in answer.compare:
        known_axis(study, name, (*at, "compare"), problems)
    for name in answer.by:
        known_axis(study, name, (*at, "by"), problems)
        if name in answer.compare:
            problems.append(Problem((*at, "by"), f'"{name}" is what is compared already'))
    for metric in answer.metric:
        known_metric(metric, (*at, "metric"), problems)
        if metric in METRICS and METRICS[metric].better is None:
            problems.append(Problem((*at, "metric"), f'"{metric}" has no better direction'))
        if metric in METRICS and answer.average == "time" and METRICS[metric].unit not in TIME_UNITS:
            problems.append(Problem((*at, "average"), not_a_time(metric)))
    if len(problems) == before and not any(matches(cell, where) for cell in combinations(study.axes, skip)):
        problems.append(Problem((*at, "where"), "leaves no cell to compare"))
    return answer.model_copy(update={"where": where})


def checked_labels(file: TomlFile, study: StudyFile) -> Labels:
    """The labels, by values in full. Raises InputError."""
    problems: list[Problem] = []
    said = {**study.fixed(), **study.parameters()}
    known = {**{name: (value,) for name, value in said.items()}, **study.axes}
    for axis in study.labels.axes:
        if axis not in known:
            problems.append(Problem(("labels", "axes", axis), f"is no axis of this study{nearest(axis, known)}"))
    values: dict[str, dict[str, str | Label]] = {}
    for axis, labels in study.labels.values.items():
        at: Keys = ("labels", "values", axis)
        if axis not in known:
            problems.append(Problem(at, f"is no axis of this study{nearest(axis, known)}"))
            continue
        named: dict[str, str] = {}
        for value, label in labels.items():
            found = [value] if value in known[axis] else selected(axis, value, known[axis])
            if not found:
                text = f'"{value}" is not on the axis "{axis}"{nearest(value, known[axis])}'
                problems.append(Problem((*at, value), text))
            name = label.name if isinstance(label, Label) else label
            if len(found) > 1 or name in named:
                others = " and ".join(f'"{one}"' for one in [*filter(None, [named.get(name)]), *found])
                problems.append(Problem((*at, value), f'calls {others} all "{name}"; give each a name of its own'))
            for one in found:
                named[name] = one
                values.setdefault(axis, {})[one] = label
    raise_all(file, problems)
    return study.labels.model_copy(update={"values": values})


def checked_report(
    file: TomlFile, study: StudyFile, skip: Sequence[Where]
) -> tuple[tuple[Figure, ...], tuple[Table, ...]]:
    """The figures and tables, with the values of `where` in full. Raises InputError."""
    problems: list[Problem] = []
    figures = []
    for index, figure in enumerate(study.figure):
        at: Keys = ("figure", index)
        known_metric(figure.y, (*at, "y"), problems)
        where = _shown(study, skip, figure.where, {"x": (figure.x,), "series": figure.series}, at, problems)
        figures.append(figure.model_copy(update={"where": where}))
    tables = []
    for index, table in enumerate(study.table):
        at = ("table", index)
        for metric in table.metric:
            known_metric(metric, (*at, "metric"), problems)
        where = _shown(study, skip, table.where, {"rows": table.rows, "columns": table.columns}, at, problems)
        tables.append(table.model_copy(update={"where": where}))
    raise_all(file, problems)
    return tuple(figures), tuple(tables)


def check_metrics(file: TomlFile, study: StudyFile) -> None:
    """Some metrics need a key of the study: a life a load, the mount after a cut a cut. Raises InputError."""
    lacking = {} if study.bytes_per_day is not None else dict.fromkeys((*LIVES, *BOUNDS), NO_LOAD)
    lacking |= {} if study.power_cut else {AFTER_CUT: NO_CUT}
    asked: dict[Keys, Sequence[str]] = {("answer", "metric"): study.answer.metric} if study.answer else {}
    asked |= {("choice", place, "metric"): choice.metric for place, choice in enumerate(study.choice)}
    asked |= {("figure", place, "y"): (figure.y,) for place, figure in enumerate(study.figure)}
    asked |= {("table", place, "metric"): table.metric for place, table in enumerate(study.table)}
    asked |= {("claim", place, "metric"): claim.metric for place, claim in enumerate(study.claim)}
    raise_all(
        file,
        [
            Problem(at, f"{name} {lacking[name]} at the top of the study")
            for at, names in asked.items()
            for name in names
            if name in lacking
        ],
    )


def checked_traces(file: TomlFile, study: StudyFile, skip: Sequence[Where], library: Library) -> tuple[Trace, ...]:
    """The figures of requests, with the values of `where` in full. Raises InputError."""
    problems: list[Problem] = []
    traces = []
    for index, trace in enumerate(study.trace):
        at: Keys = ("trace", index)
        before = len(problems)
        where = full_selection(study, trace.where, (*at, "where"), problems)
        if len(problems) == before:
            cells = [cell for cell in combinations(study.axes, skip) if matches(cell, where)]
            problems += dict.fromkeys(_trace_problems(study, library, cells, at))
        traces.append(trace.model_copy(update={"where": where}))
    raise_all(file, problems)
    return tuple(traces)


def _trace_problems(
    study: StudyFile, library: Library, cells: Sequence[Mapping[str, str]], at: Keys
) -> Iterator[Problem]:
    """A trace shows a few cells, each with a block device that can log its requests."""
    if not 0 < len(cells) <= MOST_TRACED:
        yield Problem((*at, "where"), f"shows {len(cells)} cells; take 1 to {MOST_TRACED}, each gets a panel")
        return
    for cell in cells:
        said = {**study.fixed(), **cell}
        translation, medium = said["translation"], said["medium"]
        between = library.translation(translation)
        if not has_queue(library.medium(medium), between):
            yield Problem((*at, "where"), f"shows {medium}, which is raw flash: it gets no requests of sectors")
        elif between.device is not None and not between.logs_requests:
            yield Problem((*at, "where"), f"shows {translation}, which keeps no log of its requests")


def _shown(
    study: StudyFile,
    skip: Sequence[Where],
    where: Where,
    places: Mapping[str, Sequence[str]],
    at: Keys,
    problems: list[Problem],
) -> Where:
    """Checks which cells a figure or table shows, and that no two of them would fall on one point."""
    before = len(problems)
    used: list[str] = []
    for place, names in places.items():
        for name in names:
            known_axis(study, name, (*at, place), problems)
            if name in used:
                problems.append(Problem((*at, place), f'"{name}" is used twice'))
            used.append(name)
    full = full_selection(study, where, (*at, "where"), problems)
    if len(problems) > before:
        return full
    cells = [cell for cell in combinations(study.axes, skip) if matches(cell, full)]
    if not cells:
        problems.append(Problem((*at, "where"), "leaves no cell to show"))
    for name in study.axes:
        values = {cell[name] for cell in cells}
        if name not in used and len(values) > 1:
            ways = " or ".join(f"in {place}" for place in places if place != "x")
            text = f'would mix {len(values)} values of "{name}"; put it {ways}, or fix it in where'
            problems.append(Problem(at, text))
    return full


FIRST_COMPARED = ("filesystem", "medium", "translation", "scheduler", "kernel", "board")
"""Parts of the stack, those that people choose first in front."""


class Defaults(NamedTuple):
    """What a report asks where its study asks nothing."""

    answer: Answer | None
    table: Table
    figure: Figure | None


def defaults(varied: Mapping[str, Sequence[str]], metrics: tuple[str, ...]) -> Defaults:
    """Return the questions of a study that varies these values by axis, about these metrics. Patterns are not compared,
    for they ask for different work. A study of one cell has only a table.
    """
    compared = next((axis for axis in (*FIRST_COMPARED, *varied) if axis in varied and axis != "pattern"), None)
    others = [axis for axis in varied if axis != compared]
    answer = None
    if compared is not None:
        by = tuple(axis for axis in others if not sizes(varied[axis]))
        answer = Answer(compare=(compared,), metric=metrics, by=by)
    columns = (compared,) if compared is not None else ()
    table = Table(title="All cells", rows=tuple(others), columns=columns, metric=metrics)
    figure = _default_figure(varied, compared or next(iter(varied)), others, metrics[0]) if varied else None
    return Defaults(answer, table, figure)


def _default_figure(varied: Mapping[str, Sequence[str]], compared: str, others: Sequence[str], metric: str) -> Figure:
    """Lines along the longest axis of numbers, if there is one beside what is compared; else bars."""
    numbers = [axis for axis in others if sizes(varied[axis])]
    x = max(numbers, key=lambda axis: len(varied[axis]), default=compared)
    series = tuple(axis for axis in dict.fromkeys((compared, *others)) if axis != x)
    return Figure(title=METRICS[metric].title, x=x, y=metric, series=series, kind="bar" if x == compared else "line")
