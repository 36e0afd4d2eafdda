# SPDX-License-Identifier: Apache-2.0
"""Check what must hold of any figures of YAFFS2, and format their tables."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from pages import yaffs2_mount, yaffs2_time
from pages.page_text import table

PROPORTIONAL = 0.1
"""The relative error that a scan may have from the straight line through two others."""

EXACT = 1e-6
"""The relative error of a run's sums, because a float holds ns and the module adds in us."""

TICK = 1e-3
"""The relative difference between two clocks that are read one after the other."""

Mounts = Sequence[yaffs2_mount.Row]
Times = Sequence[yaffs2_time.Row]


def wrong_mounts(measured: Mounts) -> Iterator[str]:
    """Yield contradictions in mounts: checkpoints or summaries that were read wrongly, or a scan time that does not
    follow the pages in use.
    """
    for row in measured:
        name, large = f"{row.chip}, {row.filesystem}, {row.mib} MiB in {row.files}", row.chip == "slc-nand-256m"
        if row.clean.by_checkpoint != large:
            yield f"{name}: a checkpoint after an unmount: {row.clean.by_checkpoint}"
        if row.cut.by_checkpoint:
            yield f"{name}: a checkpoint was believed after a power cut"
        if bool(row.cut.summaries) != (large and row.filesystem == "yaffs2"):
            yield f"{name}: {row.cut.summaries} summaries"
        if min(row.clean.seconds, row.cut.seconds, row.clean.memory, row.cut.memory) <= 0:
            yield f"{name}: no time or no memory: {row}"
    for (chip, filesystem), least, middle, most in _lines(measured):
        line = least.cut.seconds + _slope(least, most, "cut", "seconds") * (middle.mib - least.mib)
        if abs(middle.cut.seconds - line) > line * PROPORTIONAL:
            yield f"{chip}, {filesystem}: {middle.cut.seconds} s of {middle.mib} MiB, by the line {line}"


def _lines(measured: Mounts) -> Iterator[tuple[tuple[str, str], yaffs2_mount.Row, yaffs2_mount.Row, yaffs2_mount.Row]]:
    """Yield, for each chip and its options, the rows with one file: the smallest, a middle one, the largest."""
    single = (row for row in measured if row.files == 1)
    for key, group in groupby(single, lambda row: (row.chip, row.filesystem)):
        rows = sorted(group, key=lambda row: row.mib)
        if len(rows) > 2:
            yield key, rows[0], rows[1], rows[-1]


def _slope(least: yaffs2_mount.Row, most: yaffs2_mount.Row, moment: str, quantity: str) -> float:
    """Return the increase per MiB of content."""
    low, high = (float(getattr(getattr(row, moment), quantity)) for row in (least, most))
    return (high - low) / (most.mib - least.mib)


def mounts(measured: Mounts) -> str:
    """Return the table of mounts."""
    titles = ["chip", "mounted as", "contents", "unmounted, s", "pages", "KiB", "cut, s", "pages", "KiB"]
    lines = [
        [
            *(row.chip, row.filesystem, f"{row.mib} MiB in {row.files} file{'s' if row.files > 1 else ''}"),
            *(text for mount in (row.clean, row.cut) for text in _mount(mount)),
        ]
        for row in measured
    ]
    return table(titles, lines, left=(0, 1, 2))


def _mount(mount: yaffs2_mount.Mount) -> tuple[str, str, str]:
    return f"{mount.seconds:.3f}", str(mount.pages), f"{mount.memory / 1024:.0f}"


def growth(measured: Mounts) -> str:
    """Return the table of the constant part of a mount, and of its increase per MiB in one file."""
    titles = ["chip", "mounted as", "unmounted, ms", "+ ms a MiB", "cut, ms", "+ ms a MiB", "KiB", "+ KiB a MiB"]
    lines = []
    for key, least, _, most in _lines(measured):
        columns = [("clean", "seconds", 1e3), ("cut", "seconds", 1e3), ("cut", "memory", 1 / 1024)]
        line = list(key)
        for moment, quantity, unit in columns:
            slope = _slope(least, most, moment, quantity)
            at_zero = getattr(getattr(least, moment), quantity) - slope * least.mib
            line += [f"{at_zero * unit:.1f}", f"{slope * unit:.2f}"]
        lines.append(line)
    return table(titles, lines, left=(0, 1))


def wrong_times(measured: Times) -> Iterator[str]:
    """Yield contradictions in runs: parts that do not add up, negative parts, a clock that exceeds the chip's limit."""
    for row in measured:
        name = f"{row.board}, {row.pattern} {row.request}"
        if abs(sum(row.parts) - row.took) > row.took * EXACT:
            yield f"{name}: parts of {sum(row.parts):.6f} s in {row.took:.6f} s"
        if min(row.parts) < -row.took * TICK:
            yield f"{name}: less than nothing: {row.parts}"
        if row.mtd_idle > row.waited + row.took * TICK:
            yield f"{name}: idle for {row.mtd_idle:.6f} s in MTD, the chip let it wait for {row.waited:.6f} s"
        if row.bandwidth > row.limit:
            yield f"{name}: {row.bandwidth:.2f} MiB/s from a chip that can do {row.limit:.2f}"


def times(measured: Times) -> str:
    """Return the table of runs with their parts."""
    titles = ["board", "", "request", "MiB/s", "limit", "run, s"]
    titles += ["chip", "bus", "MTD, ECC", "module", "CPU elsewhere", "idle", "CPU idle"]
    lines = [
        [
            *(row.board, row.pattern, row.request, f"{row.bandwidth:.2f}", f"{row.limit:.2f}", f"{row.took:.3f}"),
            *(f"{100 * abs(part) / row.took:.1f} %" for part in (*row.parts, row.idle + row.mtd_idle)),
        ]
        for row in measured
    ]
    return table(titles, lines, left=(0, 1, 2))
