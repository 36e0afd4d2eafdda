# SPDX-License-Identifier: Apache-2.0
"""What a cell costs this host, and where: CPU seconds of the host and million instructions of the guest for its boot,
until the file system is made and mounted (mkfs), its preparation, its measurement and what comes after, for each cell
of a study's first seed.

    python -m bench.cell_price [--cells N] [STUDY]

Prints figures, judges nothing. With --cells only of the study's first N cells. They run one at a time; run it on an
idle machine. A time for which a driver is busy counts as instructions, and the CPUs of a board with several count
together, those that sleep too.
"""

from __future__ import annotations

import argparse
import tempfile
import threading
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from flashbed.common import children
from flashbed.execution import repetition, run
from flashbed.execution.repetition import Repetition
from flashbed.machine.process import PRICE
from flashbed.study.loading import load_study

PHASES = {"boot": "medium", "mkfs": "prepare", "prepare": "measure", "measure": "sync", "end": "end"}
"""Each phase, and the step of guest/cell with which the next one begins; the last is the emulator's own word."""


class Spent(NamedTuple):
    """By one phase: CPU seconds of the host, of user and system together, and instructions of the guest."""

    cpu_s: float
    instructions: int


def phases(notes: str) -> Iterator[tuple[str, Spent]]:
    """What each phase of a guest took, out of what the emulator noted (emulator/lab-price.h). A guest that failed lacks
    those that it did not come to.
    """
    reached = _reached(notes.splitlines())
    before = Spent(0, 0)
    for phase, ended_by in PHASES.items():
        if (until := reached.get(ended_by)) is None:
            return
        yield phase, Spent(until.cpu_s - before.cpu_s, until.instructions - before.instructions)
        before = until


def _reached(lines: Iterable[str]) -> dict[str, Spent]:
    """What was spent when a step began, at its first time."""
    found: dict[str, Spent] = {}
    for line in lines:
        step, instructions, nanoseconds = line.rsplit(" ", 2)
        found.setdefault(step, Spent(int(nanoseconds) / 1e9, int(instructions)))
    return found


def price(wanted: Repetition) -> tuple[dict[str, Spent], float, float]:
    """What the phases of one execution took, and in all, with what is done on the host before and after the guest: CPU
    seconds and wall seconds.
    """
    with tempfile.TemporaryDirectory() as folder:
        before, begin = children.cpu_s(), time.monotonic()
        repetition.execute(wanted, Path(folder), 300, threading.Event())
        after, end = children.cpu_s(), time.monotonic()
        found = dict(phases((Path(folder) / PRICE).read_text()))
    return found, after - before, end - begin


def main() -> None:
    said = argparse.ArgumentParser(description="What a cell costs this host.")
    said.add_argument("study", nargs="?", default="quick")
    said.add_argument("--cells", type=int, help="only of the study's first so many cells")
    options = said.parse_args()
    study = load_study(run.find_study(options.study))
    wanted = [r for r in run.prepare(study) if r.cell.seed == study.seeds[0]][: options.cells]
    print(f"{'':42}{''.join(f'{phase:>14}' for phase in PHASES)}{'in all':>25}")
    print(f"{'cell':42}{'  CPU s M inst' * len(PHASES)}{'CPU s':>17}{'wall s':>8}")
    for one in wanted:
        found, cpu, wall = price(one)
        parts = (found.get(phase) for phase in PHASES)
        columns = "".join(f"{p.cpu_s:7.2f}{p.instructions / 1e6:7.0f}" if p else f"{'-':>14}" for p in parts)
        print(f"{' '.join(one.cell.coordinates.values()):42}{columns}{cpu:17.2f} {wall:7.2f}", flush=True)


if __name__ == "__main__":
    main()
