# SPDX-License-Identifier: Apache-2.0
"""Figures of requests as data: the address of each request on the medium, against the time at which the medium got it.

A panel shows a cell with its first seed. It makes visible what a scheduler or a file system does to the order of
requests, before that becomes a number.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from flashbed.analysis.words import ONLY_CELL, capitalized, number
from flashbed.common.units import MIB
from flashbed.guest_output.request_log import Request, RequestLog
from flashbed.report.figures import Gap
from flashbed.report.model import Report
from flashbed.report.tables import Head, ReportTable, Row, TableCell
from flashbed.study.format import RequestFigure

ADDRESSED_OPERATIONS = ("read", "write", "discard")
"""The operations that have an address, in the order of the colours."""

MOST_DRAWN = 10_000
"""The most requests that a panel draws; a browser is slow with more."""

MS = 1e6


@dataclass(frozen=True)
class RequestPanel:
    """The requests of one cell; `cell` names it by the values that differ from the other cells."""

    cell: str
    log: RequestLog | None

    @property
    def placed(self) -> list[Request]:
        """Return the requests that have an address."""
        return (
            [request for request in self.log.requests if request.operation in ADDRESSED_OPERATIONS] if self.log else []
        )

    @property
    def drawn(self) -> list[Request]:
        """Return the first of them, as many as a panel draws."""
        return self.placed[:MOST_DRAWN]

    @property
    def has_points(self) -> bool:
        """True if there is something to draw."""
        return bool(self.placed)

    def of(self, operation: str) -> list[Request]:
        """Return all requests of a kind, drawn or not."""
        return [request for request in self.placed if request.operation == operation]

    @property
    def title(self) -> str:
        """Return the number and mean size of requests, which no point shows: that a scheduler has made one request of
        many.
        """
        counts = [_requests_text(requests, name) for name in ADDRESSED_OPERATIONS if (requests := self.of(name))]
        return ": ".join(part for part in (self.cell, ", ".join(counts)) if part)

    @property
    def alternative(self) -> str:
        """Return the panel in words."""
        counts = [f"{len(self.of(name))} {name} requests" for name in ADDRESSED_OPERATIONS[:2]]
        return f"{capitalized(self.cell or ONLY_CELL)}: {', '.join(counts)}, by address and time."


@dataclass(frozen=True)
class RequestDrawing:
    """A figure of requests, ready to be drawn, described and tabulated."""

    id: str
    title: str
    panels: Sequence[RequestPanel]
    kind: str = "requests"
    same_scale: bool = True  # each panel has its own, and its note says so
    notes: Sequence[str] = field(default_factory=list)
    gaps: Sequence[Gap] = ()

    @property
    def drawn_panels(self) -> list[RequestPanel]:
        """Return the panels with something to draw."""
        return [panel for panel in self.panels if panel.has_points]

    @property
    def legend(self) -> list[tuple[str, int]]:
        """Return the operations that are drawn, with their slots."""
        used = {request.operation for panel in self.panels for request in panel.drawn}
        return [(name, slot) for slot, name in enumerate(ADDRESSED_OPERATIONS) if name in used]

    def data(self) -> dict[str, Any]:
        """Return the JSON values that report.js needs."""
        return {
            "id": self.id,
            "kind": self.kind,
            "x": {"title": "Time (ms)"},
            "y": {"title": "Address (MiB)"},
            "sameScale": self.same_scale,
            "colourByX": [],
            "panels": [
                {
                    "title": panel.title,
                    "measured": panel.log.measured_ns / MS if panel.log else None,
                    "series": [
                        {
                            "label": name,
                            "slot": slot,
                            "x": [round(r.begun_ns / MS, 3) for r in panel.drawn if r.operation == name],
                            "y": [round((r.offset_bytes or 0) / MIB, 3) for r in panel.drawn if r.operation == name],
                        }
                        for name, slot in self.legend
                    ],
                }
                for panel in self.drawn_panels
            ],
        }


def drawings(report: Report) -> list[RequestDrawing]:
    """Return the figures of requests that the study asks for."""
    return [_drawing(report, figure, place) for place, figure in enumerate(report.study.request_figures, start=1)]


def _drawing(report: Report, figure: RequestFigure, place: int) -> RequestDrawing:
    """Return figure number `place`, from 1."""
    axes = list(report.results.axes)
    cells = list(report.results.combinations(figure.where))
    telling = [axis for axis in axes if len({cell[axes.index(axis)] for cell in cells}) > 1]
    panels = []
    for cell in cells:
        name = report.words.places({axis: cell[axes.index(axis)] for axis in telling})
        panels.append(RequestPanel(name, _log(report, cell)))
    notes = [
        "A point is a request, where it begins and when the device got it; seed "
        f"{report.study.seeds[0]}. Right of the line: what the sync and the unmount brought after the measurement. The "
        "panels have axes of their own, over the addresses used during the measurement."
    ]
    if any(len(panel.placed) > MOST_DRAWN for panel in panels):
        notes.append(f"The first {MOST_DRAWN:,} requests of each cell.")
    return RequestDrawing(f"trace-{place}", figure.title, panels, notes=notes)


def _log(report: Report, cell: tuple[str, ...]) -> RequestLog | None:
    """Return the log of a cell's first seed; None if it was not measured or has no log."""
    for repetition in report.results.repetitions:
        if repetition.combination == cell and repetition.seed == report.study.seeds[0] and repetition.is_measured:
            read = report.logs.get(repetition.key)
            return read() if read else None
    return None


def table(drawing: RequestDrawing) -> ReportTable:
    """Return what can be counted in the logs: how many requests, their size, and how many are in order."""
    columns = ["Requests", "KiB each", "In order", "Mean distance"]
    rows = []
    for panel in drawing.drawn_panels:
        for operation in ADDRESSED_OPERATIONS:
            requests = panel.of(operation)
            if requests:
                cells = [TableCell(text) for text in _statistics(requests)]
                rows.append(Row([Head(panel.cell or ONLY_CELL), Head(operation)], cells))
    return ReportTable(
        caption="The requests in numbers",
        note="In order: begins where the last request of its kind ended. Mean distance: from there, of all others.",
        corner=["Cell", "Operation"],
        columns=columns,
        rows=rows,
    )


def _statistics(requests: Sequence[Request]) -> list[str]:
    """Return number, mean size in KiB, share in order and mean distance of requests."""
    spans = [(r.offset_bytes, r.offset_bytes + r.length_bytes) for r in requests if r.offset_bytes is not None]
    jumps = [abs(after - end) for (_, end), (after, _) in pairwise(spans)]
    away = [jump for jump in jumps if jump]
    return [
        f"{len(requests):,}",
        _mean_kib(requests),
        f"{100 * (len(jumps) - len(away)) / len(jumps):.0f} %" if jumps else "–",
        f"{number(sum(away) / len(away) / MIB)} MiB" if away else "–",
    ]


def _requests_text(requests: Sequence[Request], operation: str) -> str:
    return f"{len(requests):,} {operation}{'s' * (len(requests) != 1)} of {_mean_kib(requests)} KiB"


def _mean_kib(requests: Sequence[Request]) -> str:
    return number(sum(request.length_bytes for request in requests) / len(requests) / 1024)
