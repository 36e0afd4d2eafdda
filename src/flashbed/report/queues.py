# SPDX-License-Identifier: Apache-2.0
"""Where a study varies the I/O scheduler of cells that have none, and how a report says so.

On a raw chip nothing passes the block layer (docs/raw-nand.md), and the lab leaves the scheduler out of such a guest.
That its results are the same whatever the study calls the scheduler is no finding then, and must not look like one.
Must not know HTML.
"""

from __future__ import annotations

from collections.abc import Iterable

from flashbed.analysis.words import listing
from flashbed.report.model import SCHEDULER, Report
from flashbed.result.columns import Combination

NAMED_BY = ("medium", "filesystem")
"""The axes that say which cells are meant."""


def remark(report: Report, cells: Iterable[Combination]) -> str:
    """What must be said where these cells stand side by side; nothing if the scheduler is one, or counts in all."""
    shown = [cell for cell in cells if cell in report.queueless]
    if not shown:
        return ""
    axes = list(report.results.axes)
    if len({cell[axes.index(SCHEDULER)] for cell in shown}) < 2:
        return ""
    names = [
        listing(list(dict.fromkeys(report.words.value(axis, cell[axes.index(axis)]) for cell in shown)))
        for axis in NAMED_BY
        if axis in axes
    ]
    where = f" ({', '.join(names)})" if names else ""
    return (
        f"On a raw chip{where} there is no I/O scheduler, because nothing passes the block layer. The lab leaves it "
        "out there, so that cells which differ in the scheduler alone are the same guest: their results are equal by "
        "construction, and say nothing of schedulers."
    )
