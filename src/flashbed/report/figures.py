# SPDX-License-Identifier: Apache-2.0
"""The figures of a report as data: axes, panels, series of points with their ranges, and a text for who cannot see
them.

A figure's first distinction is a colour, any other becomes a panel beside. report.js draws what stands here; this room
knows no drawing library.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Any

from flashbed.analysis import Spread
from flashbed.analysis.words import Scale, capitalized, count, direction, listing, metric_of, scale_of
from flashbed.common.units import by_size, sizes
from flashbed.report import limits
from flashbed.report.missing_cells import Gap, gaps
from flashbed.report.model import Report, no_scheduler
from flashbed.study.format import Figure

LOG_FROM = 8
"""Numbers on the x axis that span at least this factor are drawn on a logarithmic axis."""

SAME_SCALE_UP_TO = 4
"""Panels share a y axis unless their largest values are further apart than this factor."""


@dataclass(frozen=True)
class Point:
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
    title: str
    series: Sequence[FigureSeries]
    alternative: str

    @property
    def has_points(self) -> bool:
        return any(point.spread for series in self.series for point in series.points)

    @property
    def top(self) -> float:
        return max((p.spread.high for s in self.series for p in s.points if p.spread), default=0.0)


@dataclass(frozen=True)
class Drawing:
    """A figure, ready to be drawn, described and tabulated."""

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
        """Those with something to draw."""
        return [panel for panel in self.panels if panel.has_points]

    @property
    def same_scale(self) -> bool:
        """Whether the panels share a y axis, unless the reader wants it otherwise."""
        tops = [panel.top for panel in self.panels if panel.top > 0]
        return not tops or max(tops) <= SAME_SCALE_UP_TO * min(tops)

    def data(self) -> dict[str, Any]:
        """What report.js needs, as JSON values."""
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
        spreads = [point.spread for point in series.points]
        return {
            "y": [self._shown(s.median) if s else None for s in spreads],
            "above": [self._shown(s.high - s.median) if s else 0 for s in spreads],
            "below": [self._shown(s.median - s.low) if s else 0 for s in spreads],
            "text": [f"{series.label}: {spread_text(s, self.scale)}" if s else "" for s in spreads],
        }

    def _shown(self, value: float) -> float:
        """In the axis's unit, with enough digits for any screen, and so few that no C library differs in them."""
        return float(f"{value / self.scale.one:.9g}")


SLOTS = 8
"""Colours in the style sheet; more values than these share them, and differ by marker and line."""


class Colours:
    """Slots by axis and value. The axis that the study compares comes first, so that its values never share."""

    def __init__(self, report: Report) -> None:
        self._slots: dict[tuple[str, str], int] = {}
        for axis in _axes_by_importance(report):
            for value in report.results.axes[axis]:
                self._slots[axis, value] = len(self._slots)

    def slot(self, axis: str, value: str) -> int:
        return self._slots[axis, value]


def _axes_by_importance(report: Report) -> Iterable[str]:
    compared = [report.compared_axis] if report.compared_axis else []
    in_figures = [axis for figure in report.study.figures for axis in figure.series]
    return dict.fromkeys([*compared, *in_figures, *report.results.axes])


def drawings(report: Report) -> list[Drawing]:
    """The figures that the study asks for."""
    colours = Colours(report)
    return [_drawing(report, colours, figure, place) for place, figure in enumerate(report.study.figures, start=1)]


def _drawing(report: Report, colours: Colours, figure: Figure, place: int) -> Drawing:
    words, axes = report.words, list(report.results.axes)
    metric = metric_of(figure.y)
    spreads = report.results.spreads(figure.y)
    cells = list(report.results.combinations(figure.where))
    scale = scale_of(metric, (spreads[cell].high for cell in cells if cell in spreads))

    def shown(axis: str) -> list[str]:
        """The values of an axis that the figure has, in the study's order."""
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
        here = dict(zip(panel_axes, panel_values, strict=True))
        series = []
        for value in colour_values:
            at = here | ({colour_axis: value} if colour_axis and value is not None else {})
            keys = [(x, *(at[axis] for axis in figure.series)) for x in x_values]
            points = [Point(key[0], spreads.get(by_coordinates.get(key, ()))) for key in keys]
            if any(key in by_coordinates for key in keys):
                label = words.value(colour_axis, value) if colour_axis and value is not None else metric.title
                slot = colours.slot(colour_axis, value) if colour_axis and value is not None else 0
                series.append(FigureSeries(label, slot, points))
        if series:
            title = words.places(here)
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
    """What the marks and their whiskers are."""
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
    """The panel in words."""
    told = []
    for one in series:
        points = [
            f"{scale.figure(point.spread.median) if point.spread else 'no result'} at {x_values[point.x]}"
            for point in one.points
        ]
        told.append(f"{one.label}: {listing(points)}")
    return f"{capitalized(title)}. {'; '.join(told)}." if title else f"{'; '.join(told)}."


def spread_text(spread: Spread, scale: Scale) -> str:
    """ "12.3 MiB/s (12.1 to 12.6, 3 seeds)" """
    text = scale.figure(spread.median)
    if spread.n == 1:
        return text
    return f"{text} ({scale.number(spread.low)} to {scale.number(spread.high)}, {count(spread.n, 'seed')})"


def _x_axis(x_values: Mapping[str, str], kind: str) -> dict[str, Any]:
    """Positions and labels. Lines over numbers that span much have a logarithmic axis; else each value has a place."""
    labels = list(x_values.values())
    numbers = sizes(x_values)
    if kind == "line" and numbers and min(numbers) > 0 and max(numbers) >= LOG_FROM * min(numbers):
        return {"type": "log", "values": numbers, "labels": labels}
    return {"type": "category", "values": labels, "labels": labels}
