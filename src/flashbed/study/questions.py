# SPDX-License-Identifier: Apache-2.0
"""The questions of a study to its results: answers, figures (of results and of requests), tables, lifetimes and labels.
It has each of their rules that spans several keys, and the default answer, table and figure of a study that asks
nothing.

By default the tool names the metrics. The compared axis is the first part of the stack that varies, file systems first,
then media, then the rest; if none varies, the first axis. Values that are words are shown apart; over sizes and counts
the mean is taken. Must not know how anything is shown.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple, TypeVar

from flashbed.common.tomlfile import Keys, Problem, nearest
from flashbed.common.units import sizes
from flashbed.guest_output import own_figures
from flashbed.guest_output.wear import BOUNDS, LIVES
from flashbed.profiles.library import Library
from flashbed.profiles.profile import has_queue
from flashbed.result.metrics import METRICS
from flashbed.study.claim_rules import TIME_UNITS, not_a_time
from flashbed.study.draft import Draft
from flashbed.study.format import (
    Answer,
    Choice,
    Figure,
    Label,
    Labels,
    RequestFigure,
    StudyFile,
    Table,
    Where,
    selected,
)

AnyAnswer = TypeVar("AnyAnswer", bound=Answer)

AFTER_CUT = "mount_after_cut_s"
NO_LOAD = 'needs to know how much is written a day: bytes_per_day = "1G"'
NO_CUT = "is measured where the power is cut: power_cut = true"
"""What a metric needs, for people."""

MOST_REQUEST_PANELS = 8
"""The most cells of one figure of requests."""


def checked_answers(draft: Draft) -> tuple[Answer | None, tuple[Choice, ...]]:
    """Return the answer and the choices, with full values in `where`."""
    study = draft.content
    answer = _checked_answer(draft, study.answer, ("answer",)) if study.answer else None
    return answer, tuple(_checked_answer(draft, choice, ("choice", index)) for index, choice in enumerate(study.choice))


def _checked_answer(draft: Draft, answer: AnyAnswer, at: Keys) -> AnyAnswer:
    before = len(draft.problems)
    where = draft.full(answer.where, (*at, "where"))
    for name in answer.compare:
        draft.has_axis(name, (*at, "compare"))
    for name in answer.by:
        draft.has_axis(name, (*at, "by"))
        if name in answer.compare:
            draft.add((*at, "by"), f'"{name}" is what is compared already')
    for metric in answer.metric:
        if not draft.has_metric(metric, (*at, "metric")):
            continue
        if METRICS[metric].better is None:
            draft.add((*at, "metric"), f'"{metric}" has no better direction{own_figures.hint(metric)}')
        if answer.average == "time" and METRICS[metric].unit not in TIME_UNITS:
            draft.add((*at, "average"), not_a_time(metric))
    if len(draft.problems) == before and not draft.cells(where):
        draft.add((*at, "where"), "leaves no cell to compare")
    return answer.model_copy(update={"where": where})


def checked_labels(draft: Draft) -> Labels:
    """Return the labels, by full values."""
    study = draft.content
    fixed = {**study.fixed(), **study.parameters()}
    values_of_axis = {**{name: (value,) for name, value in fixed.items()}, **study.axes}
    for axis in study.labels.axes:
        if axis not in values_of_axis:
            draft.add(("labels", "axes", axis), f"is no axis of this study{nearest(axis, values_of_axis)}")
    values: dict[str, dict[str, str | Label]] = {}
    for axis, labels in study.labels.values.items():
        at: Keys = ("labels", "values", axis)
        if axis not in values_of_axis:
            draft.add(at, f"is no axis of this study{nearest(axis, values_of_axis)}")
            continue
        named: dict[str, str] = {}
        for value, label in labels.items():
            matching = [value] if value in values_of_axis[axis] else selected(axis, value, values_of_axis[axis])
            if not matching:
                draft.add((*at, value), f'"{value}" is not on the axis "{axis}"{nearest(value, values_of_axis[axis])}')
            name = label.name if isinstance(label, Label) else label
            if len(matching) > 1 or name in named:
                same_named = " and ".join(
                    f'"{full_value}"' for full_value in [*filter(None, [named.get(name)]), *matching]
                )
                draft.add((*at, value), f'calls {same_named} all "{name}"; give each a name of its own')
            for full_value in matching:
                named[name] = full_value
                values.setdefault(axis, {})[full_value] = label
    return study.labels.model_copy(update={"values": values})


def checked_report(draft: Draft) -> tuple[tuple[Figure, ...], tuple[Table, ...]]:
    """Return the figures and tables, with full values in `where`."""
    figures = []
    for index, figure in enumerate(draft.content.figure):
        at: Keys = ("figure", index)
        draft.has_metric(figure.y, (*at, "y"))
        where = _shown(draft, figure.where, {"x": (figure.x,), "series": figure.series}, at)
        figures.append(figure.model_copy(update={"where": where}))
    tables = []
    for index, table in enumerate(draft.content.table):
        at = ("table", index)
        for metric in table.metric:
            draft.has_metric(metric, (*at, "metric"))
        where = _shown(draft, table.where, {"rows": table.rows, "columns": table.columns}, at)
        tables.append(table.model_copy(update={"where": where}))
    return tuple(figures), tuple(tables)


def metric_problems(study: StudyFile) -> Iterator[Problem]:
    """Yield a problem if a metric lacks its key of the study: lifetimes need bytes_per_day, the mount after a cut needs
    power_cut.
    """
    lacking = {} if study.bytes_per_day is not None else dict.fromkeys((*LIVES, *BOUNDS), NO_LOAD)
    lacking |= {} if study.power_cut else {AFTER_CUT: NO_CUT}
    metrics_at: dict[Keys, Sequence[str]] = {("answer", "metric"): study.answer.metric} if study.answer else {}
    metrics_at |= {("choice", place, "metric"): choice.metric for place, choice in enumerate(study.choice)}
    metrics_at |= {("figure", place, "y"): (figure.y,) for place, figure in enumerate(study.figure)}
    metrics_at |= {("table", place, "metric"): table.metric for place, table in enumerate(study.table)}
    metrics_at |= {("claim", place, "metric"): claim.metric for place, claim in enumerate(study.claim)}
    for at, names in metrics_at.items():
        for name in names:
            if name in lacking:
                yield Problem(at, f"{name} {lacking[name]} at the top of the study")


def checked_request_figures(draft: Draft) -> tuple[RequestFigure, ...]:
    """Return the figures of requests, with full values in `where`."""
    figures = []
    for index, figure in enumerate(draft.content.trace):
        at: Keys = ("trace", index)
        before = len(draft.problems)
        where = draft.full(figure.where, (*at, "where"))
        if len(draft.problems) == before:
            draft.extend(_request_figure_problems(draft.content, draft.library, draft.cells(where), at))
        figures.append(figure.model_copy(update={"where": where}))
    return tuple(figures)


def _request_figure_problems(
    study: StudyFile, library: Library, cells: Sequence[Mapping[str, str]], at: Keys
) -> Iterator[Problem]:
    """Yield a problem unless the figure shows few cells, each with a block device that can log its requests."""
    if not 0 < len(cells) <= MOST_REQUEST_PANELS:
        yield Problem((*at, "where"), f"shows {len(cells)} cells; take 1 to {MOST_REQUEST_PANELS}, each gets a panel")
        return
    for cell in cells:
        parts = {**study.fixed(), **cell}
        translation, medium = parts["translation"], parts["medium"]
        between = library.translation(translation)
        if not has_queue(library.medium(medium), between):
            yield Problem((*at, "where"), f"shows {medium}, which is raw flash: it gets no requests of sectors")
        elif between.device is not None and not between.logs_requests:
            yield Problem((*at, "where"), f"shows {translation}, which keeps no log of its requests")


def _shown(draft: Draft, where: Where, places: Mapping[str, Sequence[str]], at: Keys) -> Where:
    """Return the cells of a figure or table, with full values. Note a problem if two of them fall on one point."""
    before = len(draft.problems)
    used: list[str] = []
    for place, names in places.items():
        for name in names:
            draft.has_axis(name, (*at, place))
            if name in used:
                draft.add((*at, place), f'"{name}" is used twice')
            used.append(name)
    full = draft.full(where, (*at, "where"))
    if len(draft.problems) > before:
        return full
    cells = draft.cells(full)
    if not cells:
        draft.add((*at, "where"), "leaves no cell to show")
    for name in draft.content.axes:
        values = {cell[name] for cell in cells}
        if name not in used and len(values) > 1:
            ways = " or ".join(f"in {place}" for place in places if place != "x")
            draft.add(at, f'would mix {len(values)} values of "{name}"; put it {ways}, or fix it in where')
    return full


FIRST_COMPARED = ("filesystem", "medium", "translation", "scheduler", "kernel", "board")
"""The parts of the stack, in the order in which they are compared by default."""


class Defaults(NamedTuple):
    """The questions of a report whose study asks none."""

    answer: Answer | None
    table: Table
    figure: Figure | None


def defaults(varied: Mapping[str, Sequence[str]], metrics: tuple[str, ...]) -> Defaults:
    """Return the default questions for a study with these values by axis and these metrics. Patterns are not compared,
    because they are different work. A study of one cell has only a table.
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
    """Return a figure with lines along the longest axis of numbers beside the compared one; with bars if there
    is none.
    """
    numbers = [axis for axis in others if sizes(varied[axis])]
    x = max(numbers, key=lambda axis: len(varied[axis]), default=compared)
    series = tuple(axis for axis in dict.fromkeys((compared, *others)) if axis != x)
    return Figure(title=METRICS[metric].title, x=x, y=metric, series=series, kind="bar" if x == compared else "line")
