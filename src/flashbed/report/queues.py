# SPDX-License-Identifier: Apache-2.0
"""A remark on cells without an I/O scheduler, in a study that varies the scheduler.

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


def no_scheduler(report: Report, cells: Iterable[Combination]) -> str:
    """Return a sentence if some of these cells differ in a scheduler that none of them has; else ""."""
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
