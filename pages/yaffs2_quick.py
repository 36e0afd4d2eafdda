# SPDX-License-Identifier: Apache-2.0
"""Measure the first row of each table of docs/generated/yaffs2-figures.md again, and compare it with the page.

Two guests show whether the page still holds; the whole page needs many.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from pathlib import Path

from pages import yaffs2_checks, yaffs2_mount, yaffs2_time

MAY_DIFFER = 0.03
"""The relative difference that a figure may have from the page, if the guest has another package of Linux."""

NOT_COMPARED = "KiB"
"""The title of columns that are not compared, because their precision is low, as the page says."""

_FIGURE = re.compile(r"(\d+(?:\.(\d+))?)(?: %)?")


def first_rows(folder: Path) -> str:
    """Return the tables of mounts and of runs with only their first rows."""
    chip, options = yaffs2_mount.CHIPS[0]
    mounts = yaffs2_mount.rows(folder, [(chip, options[:1])], yaffs2_mount.CONTENTS[:1])
    board, pattern, request = yaffs2_time.BOARDS[0], yaffs2_time.PATTERNS[0], yaffs2_time.REQUESTS[0]
    cell, out = yaffs2_time.measured(folder / board, board, [request], yaffs2_time.FILE_MIB)
    run = yaffs2_time.row(cell, board, pattern, request, out)
    return yaffs2_checks.mounts(list(mounts)) + yaffs2_checks.times([run])


def otherwise(page: str, tables: str) -> list[str]:
    """Return the rows of `tables` that differ from the page's table with the same titles, or are not in it."""
    there = list(_rows(page))
    return [
        f"| {' | '.join(row)} |"
        for titles, row in _rows(tables)
        if not any(titles == others and _alike(titles, old, row) for others, old in there)
    ]


def _rows(text: str) -> list[tuple[list[str], list[str]]]:
    """Return each row of each table, with the table's titles."""
    rows, titles, lines = [], [], text.splitlines()
    for line, below in zip(lines, [*lines[1:], ""], strict=True):
        if not line.startswith("| ") or line.startswith("| ---"):
            continue
        cells = line.removeprefix("| ").removesuffix(" |").split(" | ")
        if below.startswith("| ---"):
            titles = cells
        else:
            rows.append((titles, cells))
    return rows


def _alike(titles: Sequence[str], old: Sequence[str], new: Sequence[str]) -> bool:
    return all(
        before == now or title == NOT_COMPARED or _close(before, now)
        for title, before, now in zip(titles, old, new, strict=True)
    )


def _close(before: str, now: str) -> bool:
    """True if two figures differ by at most MAY_DIFFER, or by a step of the last printed digit."""
    old, new = _FIGURE.fullmatch(before), _FIGURE.fullmatch(now)
    if old is None or new is None:
        return False
    step = 10.0 ** -len(old[2] or "")
    return math.isclose(float(old[1]), float(new[1]), rel_tol=MAY_DIFFER, abs_tol=1.01 * step)
