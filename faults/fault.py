# SPDX-License-Identifier: Apache-2.0
"""What faults share: where one happens, what is drawn for it, what is noted of it."""

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
"""Parts of the guest that are made anew in a second; a run that finds them missing can be disturbed while it makes
them."""


@dataclass
class Note:
    """What is told of a fault: at which moment it came, in words for people, and how the commands ended."""

    detail: str = ""
    moment: str = ""
    at_s: float | None = None
    ended: list[Ended] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)
    """What else of the disturbed commands is not as it must be."""

    def end(self, begun: Begun, allowed: Sequence[int], limit_s: float | None = None) -> Ended:
        """Waits for a command's end, and notes it."""
        done = begun.end(allowed) if limit_s is None else begun.end(allowed, limit_s)
        self.ended.append(done)
        return done


Act = Callable[[Bed, random.Random, Note], None]


@dataclass(frozen=True)
class Fault:
    """A fault: its name, how often it is chosen against the others, what it does, up to but without the next run."""

    name: str
    weight: float
    act: Act
    group: str


def disturbed(bed: Bed, chance: random.Random, parts: bool = True) -> int:
    """Takes away what a run then has to do: results, perhaps the state of a condition, the report, cheap parts of the
    guest. Returns how many results are missing.
    """
    results = bed.results()
    # Most often one: what a run does with the others is the same, and each takes seconds
    missing = chance.choices(range(1, len(results) + 1), [5, 3, *[1] * (len(results) - 2)])[0]
    gone = chance.sample(results, missing)
    # A condition is made again only where a cell that is to be measured starts from it
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
    """Whether a repetition, by the folder of its result, started from a medium in a condition."""
    try:
        return "condition=" in json.loads((result / "result.json").read_text())["coordinates"]["medium"]
    except (OSError, ValueError, KeyError):
        return False


PHASES = {"starts": 0.25, "measures": 0.55, "ends": 0.2}
"""What a run is to be doing at the moment that is drawn, and how often."""


def wait_for_moment(bed: Bed, run: Begun, chance: random.Random, missing: int, jobs: int, note: Note) -> None:
    """Until a moment that is drawn: a phase, and how far into it; notes what the run was doing then.

    How long a phase takes depends on what else this host does: the time until it measures tells.
    """
    wanted, share = chance.choices([*PHASES], [*PHASES.values()])[0], chance.random()
    if wanted == "starts":
        run.wait(share * bed.cached_s)
    else:
        while not run.is_over and "Measuring" not in run.said():
            time.sleep(0.005)
        slower = (time.monotonic() - run.at) / bed.cached_s
        if wanted == "measures":
            left_s = bed.expected_s(missing, jobs) - bed.cached_s
            run.wait(slower * (bed.cached_s + share * left_s))
        else:
            while not run.is_over and phase(bed, run) == "measuring":
                time.sleep(0.005)
            run.wait(time.monotonic() - run.at + slower * share * bed.cached_s)
    note.moment = phase(bed, run)
    note.at_s = round(time.monotonic() - run.at, 3)


def phase(bed: Bed, run: Begun) -> str:
    """What a run is doing, by what it has said and kept."""
    if run.is_over:
        return "after its end"
    said = run.said()
    if "Measuring" in said:
        there = sum((folder / "digests.txt").is_file() for folder in bed.results())
        total = len(list((bed.reference / "cache/results/cells").glob("*/*")))
        return "measuring" if there < total else "ending, report"
    if "Writing to media" in said:
        return "bringing media into condition"
    return "building parts of the guest" if "Building" in said or "Fetching" in said else "starting, planning"
