# SPDX-License-Identifier: Apache-2.0
"""The first row of each table of docs/generated/yaffs2-figures.md, measured anew, and where the page has it otherwise.

It tells in two guests what the whole page takes many for: whether its figures are still those of the file system.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from pathlib import Path

from pages import yaffs2_checks, yaffs2_mount, yaffs2_time

MAY_DIFFER = 0.03
"""By so much a figure may differ from the page where another package of Linux is in the guest."""

NOT_COMPARED = "KiB"
"""The title of columns whose figures are good to some tens only, as the page says."""

_FIGURE = re.compile(r"(\d+(?:\.(\d+))?)(?: %)?")


def first_rows(folder: Path) -> str:
    """The tables of mounts and of runs with nothing but their first rows."""
    chip, options = yaffs2_mount.CHIPS[0]
    mounts = yaffs2_mount.rows(folder, [(chip, options[:1])], yaffs2_mount.CONTENTS[:1])
    board, pattern, request = yaffs2_time.BOARDS[0], yaffs2_time.PATTERNS[0], yaffs2_time.REQUESTS[0]
    cell, out = yaffs2_time.measured(folder / board, board, [request], yaffs2_time.FILE_MIB)
    run = yaffs2_time.row(cell, board, pattern, request, out)
    return yaffs2_checks.mounts(list(mounts)) + yaffs2_checks.times([run])


def otherwise(page: str, tables: str) -> list[str]:
    """The rows of `tables` that the page does not have in a table with the same titles, or has with other figures."""
    there = list(_rows(page))
    return [
        f"| {' | '.join(row)} |"
        for titles, row in _rows(tables)
        if not any(titles == others and _alike(titles, old, row) for others, old in there)
    ]


def _rows(text: str) -> list[tuple[list[str], list[str]]]:
    """Each row of each table, with the titles above it."""
    found, titles, lines = [], [], text.splitlines()
    for line, below in zip(lines, [*lines[1:], ""], strict=True):
        if not line.startswith("| ") or line.startswith("| ---"):
            continue
        cells = line.removeprefix("| ").removesuffix(" |").split(" | ")
        if below.startswith("| ---"):
            titles = cells
        else:
            found.append((titles, cells))
    return found


def _alike(titles: Sequence[str], old: Sequence[str], new: Sequence[str]) -> bool:
    return all(
        before == now or title == NOT_COMPARED or _close(before, now)
        for title, before, now in zip(titles, old, new, strict=True)
    )


def _close(before: str, now: str) -> bool:
    """Whether two figures are within MAY_DIFFER, or a step of the last digit that is printed."""
    old, new = _FIGURE.fullmatch(before), _FIGURE.fullmatch(now)
    if old is None or new is None:
        return False
    step = 10.0 ** -len(old[2] or "")
    return math.isclose(float(old[1]), float(new[1]), rel_tol=MAY_DIFFER, abs_tol=1.01 * step)
