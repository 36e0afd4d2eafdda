# SPDX-License-Identifier: Apache-2.0
"""Which colour stands for which value of an axis: the same in all figures and tables of a report.

Knows slots and no colours; those are in report.css, once for light and once for dark.
"""

from __future__ import annotations

from collections.abc import Iterable

from flashbed.report.model import Report

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
