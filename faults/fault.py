# SPDX-License-Identifier: Apache-2.0
"""The common part of all faults: the type, the notes, the preparation of a run, and the moment."""

from __future__ import annotations

import json
import random
import shutil
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from faults.bed import Bed
from faults.runs import Begun, Ended

CHEAP = ("cpio-", "outbox-", "programs-", "sysroot-")
"""Parts of the guest that are made in a second. If they are missing, a run can be disturbed while it makes them."""


@dataclass
class Note:
    """The notes on a fault: its detail and moment, in words for people, and how the commands ended."""

    detail: str = ""
    moment: str = ""
    at_s: float | None = None
    ended: list[Ended] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)
    """Other problems of the disturbed commands."""

    def end(self, begun: Begun, allowed: Sequence[int], limit_s: float | None = None) -> Ended:
        """Wait for a command's end, and note it."""
        done = begun.end(allowed) if limit_s is None else begun.end(allowed, limit_s)
        self.ended.append(done)
        return done


Act = Callable[[Bed, random.Random, Note], None]


@dataclass(frozen=True)
class Fault:
    """A fault: its name, its weight when one is drawn, and its action, which ends before the next run."""

    name: str
    weight: float
    act: Act
    group: str


def disturbed(bed: Bed, chance: random.Random, parts: bool = True) -> int:
    """Remove results, and perhaps the state of a condition, the report and cheap parts of the guest, so that the next
    run has work. Return the number of removed results.
    """
    results = bed.results()
    # Most often one: a run treats each in the same way, and each takes seconds
    missing = chance.choices(range(1, len(results) + 1), [5, 3, *[1] * (len(results) - 2)])[0]
    gone = chance.sample(results, missing)
    # A condition is made again only if a cell without a result starts from it
    if any(is_conditioned(folder) for folder in gone) and chance.random() < 0.5:
        shutil.rmtree(bed.cache / "conditions")
    if missing == len(results) and chance.random() < 0.5:
        shutil.rmtree(bed.cache / "results")
    else:
        bed.forget(gone)
    if chance.random() < 0.4:
        shutil.rmtree(bed.report)
    if parts and chance.random() < 0.25:
        links = [link for link in bed.entry_links() if link.name.startswith(CHEAP)]
        for link in chance.sample(links, chance.randint(1, 3)):
            link.unlink()
    return missing


def is_conditioned(result: Path) -> bool:
    """Return True if the result in this directory started from a medium in a condition."""
    try:
        return "condition=" in json.loads((result / "result.json").read_text())["coordinates"]["medium"]
    except (OSError, ValueError, KeyError):
        return False


PHASES = {"starts": 0.25, "measures": 0.55, "ends": 0.2}
"""The probability of each phase of a run to be the moment of the fault."""


def wait_for_moment(bed: Bed, run: Begun, chance: random.Random, missing: int, jobs: int, note: Note) -> None:
    """Wait for a moment: draw a phase and how far into it. Note the actual phase.

    The time of a phase depends on the load of this host, which is estimated from the time until the run measures.
    """
    chosen_phase, share = chance.choices([*PHASES], [*PHASES.values()])[0], chance.random()
    if chosen_phase == "starts":
        run.wait(share * bed.cached_s)
    else:
        while not run.is_over and "Measuring" not in run.output():
            time.sleep(0.005)
        slower = (time.monotonic() - run.at) / bed.cached_s
        if chosen_phase == "measures":
            left_s = bed.expected_s(missing, jobs) - bed.cached_s
            run.wait(slower * (bed.cached_s + share * left_s))
        else:
            while not run.is_over and phase(bed, run) == "measuring":
                time.sleep(0.005)
            run.wait(time.monotonic() - run.at + slower * share * bed.cached_s)
    note.moment = phase(bed, run)
    note.at_s = round(time.monotonic() - run.at, 3)


def phase(bed: Bed, run: Begun) -> str:
    """Return the phase of a run, from its output and its stored results."""
    if run.is_over:
        return "after its end"
    output = run.output()
    if "Measuring" in output:
        there = sum((folder / "digests.txt").is_file() for folder in bed.results())
        total = len(list((bed.reference / "cache/results/cells").glob("*/*")))
        return "measuring" if there < total else "ending, report"
    if "Writing to media" in output:
        return "bringing media into condition"
    return "building parts of the guest" if "Building" in output or "Fetching" in output else "starting, planning"
