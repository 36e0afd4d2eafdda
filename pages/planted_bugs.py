# SPDX-License-Identifier: Apache-2.0
"""Plant bugs in programs, file systems and media, find each by power cuts, and write a table of docs/survive.md.

    python -m pages.planted_bugs [--check] [--only WORD...] [--jobs N] [--folder DIR]

The power of each cell is cut until a cut shows the bug. The control, the same cell without the bug, must survive all
cuts. The exit status is 1 if a bug is not found or a control fails. With --check nothing is written, and the status is
1 if the page would change. With --only, only bugs whose layer and title have one of these words are planted, and
nothing is written. Emulators with a bug are built in DIR.
"""

from __future__ import annotations

import argparse
import re
import sys
import tempfile
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

from faults.planted import bugs
from faults.planted.bugs import Bug, Workshop
from flashbed.common import programs
from flashbed.common.errors import FlashbedError
from flashbed.execution import repetition
from flashbed.execution.cut_campaign import CampaignError
from flashbed.execution.repetition import Repetition
from flashbed.guest_output.power_cuts import GOOD, Cut
from pages.page_text import REPOSITORY, table, written

PAGE = REPOSITORY / "docs/survive.md"
PLACE = re.compile(r"(<!-- planted-bugs -->\n)(?:(?!<!--).)*(<!-- /planted-bugs -->)", re.DOTALL)

LIMIT_S = 600
"""Seconds of this host after which a guest counts as hung."""


class Searched(NamedTuple):
    """The power cuts of a cell, until one showed a bug."""

    cuts: int
    found: Cut | None

    @property
    def words(self) -> str:
        if self.found is None:
            return f"nothing found in {self.cuts} cuts"
        return f"found by cut {self.cuts}: {self.found.outcome} ({self.found.note})"


def search(wanted: Repetition, limit_s: float = LIMIT_S) -> Searched:
    """Cut the power of a cell until a cut shows a bug, or all its cuts are done. Raises CampaignError."""
    with tempfile.TemporaryDirectory(prefix="planted-") as name:
        stop = threading.Event()
        with repetition.campaign(wanted, limit_s, stop, None, Path(name)) as campaign:
            number = 0
            for number, cut in enumerate(campaign.cuts(), 1):
                if cut.outcome not in GOOD:
                    return Searched(number, cut)
            return Searched(number, None)


class Row(NamedTuple):
    """A planted bug and what was found."""

    bug: Bug
    planted: Searched
    control: Searched

    @property
    def is_good(self) -> bool:
        return self.planted.found is not None and self.control.found is None


def rows(chosen: Sequence[Bug], workshop: Workshop, jobs: int) -> list[Row]:
    """Plant each bug, search for it and in its control, `jobs` cells at a time, and return what was found. Raises
    FlashbedError and CampaignError.
    """
    cells = dict.fromkeys(cell for bug in chosen for cell in (bug, bug.control))
    planted = {cell: workshop.planted(cell) for cell in cells}

    def searched(cell: Bug) -> Searched:
        found = search(planted[cell])
        name = cell.title or f"control, {cell.medium} {cell.filesystem} {cell.writer}"
        print(f"{name}: {found.words}", flush=True)
        return found

    with ThreadPoolExecutor(jobs) as pool:
        found = dict(zip(cells, pool.map(searched, cells), strict=True))
    return [Row(bug, found[bug], found[bug.control]) for bug in chosen]


def bugs_table(found: Sequence[Row]) -> str:
    """Return the table of the page."""
    titles = ("planted in", "bug", "medium, file system, program", "cuts until found", "outcome", "control")
    return table(titles, [_line(row) for row in found], left=(0, 1, 2, 4))


def _line(row: Row) -> tuple[str, ...]:
    bug, found = row.bug, row.planted.found
    cell = ", ".join(f"`{text}`" for text in (bug.medium.partition(":")[0], bug.filesystem, bug.writer))
    outcome = "not found" if found is None else found.outcome + (f": {_note(found)}" if found.note else "")
    control = f"0 of {row.control.cuts}" if row.control.found is None else row.control.words
    return (bug.layer, bug.title, cell, str(row.planted.cuts), outcome, control)


def _note(cut: Cut) -> str:
    """Return the last words of the check, or of the mount, without the command."""
    return re.sub(r"^error: /app/writer check [\w-]+ \d+: ", "", cut.note).replace("|", "\\|")


def renewed(page: str, text: str) -> str:
    """Return the page with this table. Raises ValueError if the page has no place for it."""
    if not PLACE.search(page):
        raise ValueError(f"{PAGE}: has no place for the table of planted bugs")
    return PLACE.sub(lambda place: f"{place[1]}\n{text}\n{place[2]}", page)


def main(words: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="write nothing; status 1 if the page would change")
    parser.add_argument("--only", nargs="+", metavar="WORD", help="the bugs with one of these words; write nothing")
    parser.add_argument("--jobs", type=int, default=programs.cores(), help="cells at a time")
    parser.add_argument("--folder", type=Path, default=REPOSITORY / "build/planted", help="where emulators are built")
    options = parser.parse_args(words)
    chosen = [
        bug
        for bug in bugs.declared()
        if not options.only or any(word in f"{bug.layer}: {bug.title}" for word in options.only)
    ]
    options.folder.mkdir(parents=True, exist_ok=True)
    try:
        found = rows(chosen, Workshop(options.folder.resolve()), options.jobs)
    except FlashbedError as error:
        sys.exit(error.message)
    except CampaignError as error:
        sys.exit(f"{error}\n{error.outcome.console[-3000:].decode(errors='replace')}")
    if options.only:
        print(bugs_table(found), end="")
        is_written = True
    else:
        page = renewed(PAGE.read_text(), bugs_table(found))
        is_written = written(PAGE, page, check=options.check, target="planted-bugs")
    return 0 if is_written and all(row.is_good for row in found) else 1


if __name__ == "__main__":
    sys.exit(main())
