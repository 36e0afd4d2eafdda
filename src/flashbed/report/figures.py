# SPDX-License-Identifier: Apache-2.0
"""The figures of a report as data: axes, panels, series of points with their ranges, and a text for readers who cannot
see them.

The first axis that a figure distinguishes is shown by colour, any other by panels. report.js draws the data. Must not
know a drawing library. Colours are slots here; report.css has them, once for light and once for dark. The cells that a
figure lacks are summed up below it: in a study that has only begun, all names would bury the figure.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Any

from flashbed.analysis import Spread
from flashbed.analysis.words import Scale, capitalized, count, direction, listing, metric_of, scale_of
from flashbed.common.foreign import without_controls
from flashbed.common.units import by_size, sizes
from flashbed.guest_output.assessment import Status
from flashbed.report import limits
from flashbed.report.model import Report, no_scheduler
from flashbed.result.columns import Combination
from flashbed.study.format import Figure

LOG_FROM = 8
"""The factor between the numbers of an x axis from which on the axis is logarithmic."""

SAME_SCALE_UP_TO = 4
"""Panels share a y axis unless their largest values differ by more than this factor."""

MOST_CELLS_NAMED = 3
"""The most cells that a gap names; the others are folded."""

MOST_GAP_REASONS = 3
"""The most reasons that a gap gives; the others stand beside the cells."""


@dataclass(frozen=True)
class Gap:
    """Cells that a figure lacks: a sentence with the first of them, and those that it does not name."""

    text: str
    named: int
    rest: Sequence[str]

    @property
    def folded(self) -> str:
        """Return the line above the folded cells."""
        return count(len(self.rest), "more cell" if self.named else "cell")


@dataclass(frozen=True)
class Point:
    """The value of the x axis as written in the study, and the spread of y; None without a result."""

    x: str
    spread: Spread | None


@dataclass(frozen=True)
class FigureSeries:
    """One line, or one colour of bars."""

    label: str
    slot: int
    points: Sequence[Point]


@dataclass(frozen=True)
class Panel:
    """One plot of a figure; `alternative` describes it for readers who cannot see it."""

    title: str
    series: Sequence[FigureSeries]
    alternative: str

    @property
    def has_points(self) -> bool:
        """True if there is something to draw."""
        return any(point.spread for series in self.series for point in series.points)

    @property
    def top(self) -> float:
        """Return the highest end of an interval; 0 without points."""
        return max((p.spread.high for s in self.series for p in s.points if p.spread), default=0.0)


@dataclass(frozen=True)
class Drawing:
    """A figure, ready to be drawn, described and tabulated. `x_values` maps values of the study to labels."""

    id: str
    title: str
    kind: str
    x_title: str
    x_values: Mapping[str, str]
    y_title: str
    scale: Scale
    panels: Sequence[Panel]
    legend: Sequence[tuple[str, int]]
    colour_by_x: Sequence[int]
    notes: Sequence[str] = field(default_factory=list)
    gaps: Sequence[Gap] = ()

    @property
    def drawn_panels(self) -> list[Panel]:
        """Return the panels with something to draw."""
        return [panel for panel in self.panels if panel.has_points]

    @property
    def same_scale(self) -> bool:
        """True if the panels share a y axis, unless the reader switches it."""
        tops = [panel.top for panel in self.panels if panel.top > 0]
        return not tops or max(tops) <= SAME_SCALE_UP_TO * min(tops)

    def data(self) -> dict[str, Any]:
        """Return the JSON values that report.js needs."""
        return {
            "id": self.id,
            "kind": self.kind,
            "x": {"title": self.x_title, **_x_axis(self.x_values, self.kind)},
            "y": {"title": self.y_title},
            "sameScale": self.same_scale,
            "colourByX": list(self.colour_by_x),
            "panels": [
                {
                    "title": panel.title,
                    "series": [
                        {"label": series.label, "slot": series.slot, **self._points(series)} for series in panel.series
                    ],
                }
                for panel in self.drawn_panels
            ],
        }

    def _points(self, series: FigureSeries) -> dict[str, Any]:
        """Return the points of a series: medians, whiskers and texts."""
        spreads = [point.spread for point in series.points]
        return {
            "y": [self._shown(s.median) if s else None for s in spreads],
            "above": [self._shown(s.high - s.median) if s else 0 for s in spreads],
            "below": [self._shown(s.median - s.low) if s else 0 for s in spreads],
            "text": [f"{series.label}: {spread_text(s, self.scale)}" if s else "" for s in spreads],
        }

    def _shown(self, value: float) -> float:
        """Return a value in the axis's unit, with enough digits for any screen, and so few that C libraries agree on
        them.
        """
        return float(f"{value / self.scale.size:.9g}")


SLOTS = 8
"""The colours in the style sheet. More values than these share colours, and differ by marker and line."""


class Colours:
    """Slots by axis and value, the same in all figures. The compared axis comes first, so its values never share."""

    def __init__(self, report: Report) -> None:
        self._slots: dict[tuple[str, str], int] = {}
        for axis in _axes_by_importance(report):
            for value in report.results.axes[axis]:
                self._slots[axis, value] = len(self._slots)

    def slot(self, axis: str, value: str) -> int:
        """Return the slot of a value, from 0."""
        return self._slots[axis, value]


def _axes_by_importance(report: Report) -> Iterable[str]:
    """Return all axes: the compared one first, then those of figures."""
    compared = [report.compared_axis] if report.compared_axis else []
    in_figures = [axis for figure in report.study.figures for axis in figure.series]
    return dict.fromkeys([*compared, *in_figures, *report.results.axes])


def drawings(report: Report) -> list[Drawing]:
    """Return the figures that the study asks for."""
    colours = Colours(report)
    return [_drawing(report, colours, figure, place) for place, figure in enumerate(report.study.figures, start=1)]


def _drawing(report: Report, colours: Colours, figure: Figure, place: int) -> Drawing:
    """Return figure number `place`, from 1."""
    words, axes = report.words, list(report.results.axes)
    metric = metric_of(figure.y)
    spreads = report.results.spreads(figure.y)
    cells = list(report.results.combinations(figure.where))
    scale = scale_of(metric, (spreads[cell].high for cell in cells if cell in spreads))

    def shown(axis: str) -> list[str]:
        """Return the values of an axis that the figure has, in the study's order."""
        present = {cell[axes.index(axis)] for cell in cells}
        return [value for value in report.results.axes[axis] if value in present]

    compared = report.compared_axis
    colour_axis = compared if compared in figure.series else next(iter(figure.series), None)
    panel_axes = [axis for axis in figure.series if axis != colour_axis]
    by_coordinates = {tuple(cell[axes.index(axis)] for axis in (figure.x, *figure.series)): cell for cell in cells}
    x_order = by_size(shown(figure.x)) if figure.kind == "line" else shown(figure.x)
    x_values = {value: words.value(figure.x, value) for value in x_order}
    colour_values = shown(colour_axis) if colour_axis else [None]

    panels = []
    for panel_values in product(*(shown(axis) for axis in panel_axes)):
        panel_at = dict(zip(panel_axes, panel_values, strict=True))
        series = []
        for value in colour_values:
            at = panel_at | ({colour_axis: value} if colour_axis and value is not None else {})
            keys = [(x, *(at[axis] for axis in figure.series)) for x in x_values]
            points = [Point(key[0], spreads.get(by_coordinates.get(key, ()))) for key in keys]
            if any(key in by_coordinates for key in keys):
                label = words.value(colour_axis, value) if colour_axis and value is not None else metric.title
                slot = colours.slot(colour_axis, value) if colour_axis and value is not None else 0
                series.append(FigureSeries(label, slot, points))
        if series:
            title = words.places(panel_at)
            panels.append(Panel(title, series, _alternative(title, series, x_values, scale)))

    labels = dict.fromkeys((series.label, series.slot) for panel in panels for series in panel.series)
    return Drawing(
        id=f"figure-{place}",
        title=figure.title,
        kind=figure.kind,
        x_title=capitalized(words.axis(figure.x)),
        x_values=x_values,
        y_title=scale.title(metric),
        scale=scale,
        panels=panels,
        legend=list(labels) if colour_axis else [],
        colour_by_x=[colours.slot(figure.x, value) for value in x_values] if figure.x == compared else [],
        notes=[
            direction(metric),
            _how_to_read(figure.kind, [spreads[cell] for cell in cells if cell in spreads]),
            *filter(None, [no_scheduler(report, cells), limits.remark(report, cells, [figure.y])]),
        ],
        gaps=gaps(report, figure.y, cells, spreads),
    )


def _how_to_read(kind: str, spreads: Sequence[Spread]) -> str:
    """Return what the marks and their whiskers are."""
    if not spreads:
        return "Nothing to draw: no repetition gave a result."
    most = max(spread.n for spread in spreads)
    mark = "A bar" if kind == "bar" else "A point"
    if most == 1:
        return f"{mark} is one repetition; a spread needs more seeds."
    whisker = "the 95 % confidence interval of the median (bootstrap)"
    if not any(spread.is_confidence for spread in spreads):
        whisker = "from the smallest to the largest seed"
    return f"{mark} is the median of {count(most, 'seed')}; its whisker is {whisker}."


def _alternative(title: str, series: Sequence[FigureSeries], x_values: Mapping[str, str], scale: Scale) -> str:
    """Return a panel in words."""
    texts = []
    for line in series:
        points = [
            f"{scale.figure(point.spread.median) if point.spread else 'no result'} at {x_values[point.x]}"
            for point in line.points
        ]
        texts.append(f"{line.label}: {listing(points)}")
    return f"{capitalized(title)}. {'; '.join(texts)}." if title else f"{'; '.join(texts)}."


def spread_text(spread: Spread, scale: Scale) -> str:
    """Return a spread as text: "12.3 MiB/s (12.1 to 12.6, 3 seeds)"."""
    text = scale.figure(spread.median)
    if spread.n == 1:
        return text
    return f"{text} ({scale.number(spread.low)} to {scale.number(spread.high)}, {count(spread.n, 'seed')})"


def _x_axis(x_values: Mapping[str, str], kind: str) -> dict[str, Any]:
    """Return positions and labels. Lines over numbers that span a large factor have a logarithmic axis; else each value
    has a place.
    """
    labels = list(x_values.values())
    numbers = sizes(x_values)
    if kind == "line" and numbers and min(numbers) > 0 and max(numbers) >= LOG_FROM * min(numbers):
        return {"type": "log", "values": numbers, "labels": labels}
    return {"type": "category", "values": labels, "labels": labels}


def gaps(report: Report, metric: str, cells: Sequence[Combination], spreads: Mapping[Combination, Spread]) -> list[Gap]:
    """Return the cells of a figure without a number, and those with fewer seeds than planned."""
    names = _names(report, cells)
    summed_up = []
    absent = {cell: reason for cell, reason in _reasons(report, metric, cells).items() if cell not in spreads}
    if absent:
        reasons = [f"{number} {reason}" for reason, number in Counter(absent.values()).most_common()]
        if len(reasons) > MOST_GAP_REASONS:
            reasons = [*reasons[:MOST_GAP_REASONS], f"{len(reasons) - MOST_GAP_REASONS} more reasons"]
        everyone = [f"{names[cell]}: {reason}" for cell, reason in absent.items()]
        everything = len(absent) == len(cells)
        how_many = f"all {count(len(cells), 'cell')}" if everything else f"{len(absent)} of {count(len(cells), 'cell')}"
        opening = f"Without a result: {how_many} ({'; '.join(reasons)})"
        # If nothing at all was measured, the first names tell a reader nothing
        first = (
            [] if everything and len(cells) > MOST_CELLS_NAMED else [names[cell] for cell in absent][:MOST_CELLS_NAMED]
        )
        summed_up.append(_gap(opening, first, everyone))
    planned = len(report.study.seeds)
    thin = [
        f"{names[cell]} ({spreads[cell].n} of {planned})"
        for cell in cells
        if cell in spreads and spreads[cell].n < planned
    ]
    if thin:
        opening = f"From fewer seeds than planned: {len(thin)} of {count(len(cells), 'cell')}"
        summed_up.append(_gap(opening, thin[:MOST_CELLS_NAMED], thin))
    return summed_up


def _gap(opening: str, first: Sequence[str], everyone: Sequence[str]) -> Gap:
    """Return a gap that names the `first` cells, and folds the rest of `everyone`."""
    rest = everyone[len(first) :]
    such_as = "such as " if first and rest else ""
    return Gap(f"{opening}: {such_as}{'; '.join(first)}." if first else f"{opening}.", len(first), rest)


def _names(report: Report, cells: Sequence[Combination]) -> dict[Combination, str]:
    """Return the cells by what distinguishes them from one another; their figure says the rest."""
    axes = list(report.results.axes)
    telling = [place for place in range(len(axes)) if len({cell[place] for cell in cells}) > 1]
    return {
        cell: report.words.places([(axes[place], cell[place]) for place in telling]) or report.cell_name(cell)
        for cell in cells
    }


def _reasons(report: Report, metric: str, cells: Sequence[Combination]) -> dict[Combination, str]:
    """Return, by cell in their order, how its repetitions ended; of several ways, all."""
    ends: dict[Combination, dict[str, None]] = {cell: {} for cell in cells}
    for repetition in report.results.repetitions:
        if repetition.combination in ends:
            if repetition.is_measured:
                end = f"measured without {metric}"
            elif repetition.outcome == Status.MISSING:
                end = "not run"
            else:
                end = (
                    f"{repetition.outcome}: {without_controls(repetition.reason)}"
                    if repetition.reason
                    else repetition.outcome
                )
            ends[repetition.combination][end] = None
    return {cell: listing(list(ways)) for cell, ways in ends.items()}
