# SPDX-License-Identifier: Apache-2.0
"""Measure the cost of a cell on this host, by phase: CPU seconds of the host and million instructions of the guest for
the boot, until the file system is made and mounted (mkfs), the preparation, the measurement, and the end. Each cell of
a study's first seed is measured.

    python -m bench.cell_price [--cells N] [STUDY]

Prints figures, and judges nothing. With --cells only the study's first N cells are measured. They run one at a time;
run it on an idle machine. The time for which a driver is busy counts as instructions. All CPUs of a board count
together, including sleeping ones.
"""

from __future__ import annotations

import argparse
import tempfile
import threading
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from flashbed.common import programs
from flashbed.execution import repetition, run
from flashbed.execution.repetition import Repetition
from flashbed.machine.process import PRICE
from flashbed.study.loading import find_study, load_study

PHASES = {"boot": "medium", "mkfs": "prepare", "prepare": "measure", "measure": "sync", "end": "end"}
"""Maps each phase to the step of guest/cell that begins the next one. The last step is the emulator's."""


class Spent(NamedTuple):
    """The cost of a phase: CPU seconds of the host (user and system), and instructions of the guest."""

    cpu_s: float
    instructions: int


def phases(notes: str) -> Iterator[tuple[str, Spent]]:
    """Yield the cost of each phase of a guest, from the emulator's notes (emulator/lab-price.h). A failed guest lacks
    the phases that it did not reach.
    """
    reached = _reached(notes.splitlines())
    before = Spent(0, 0)
    for phase, ended_by in PHASES.items():
        if (until := reached.get(ended_by)) is None:
            return
        yield phase, Spent(until.cpu_s - before.cpu_s, until.instructions - before.instructions)
        before = until


def _reached(lines: Iterable[str]) -> dict[str, Spent]:
    """Return the cost up to the first begin of each step."""
    reached: dict[str, Spent] = {}
    for line in lines:
        step, instructions, nanoseconds = line.rsplit(" ", 2)
        reached.setdefault(step, Spent(int(nanoseconds) / 1e9, int(instructions)))
    return reached


def price(planned: Repetition) -> tuple[dict[str, Spent], float, float]:
    """Return the cost of each phase of an execution, and its total CPU seconds and wall seconds. The totals include the
    host's work before and after the guest.
    """
    with tempfile.TemporaryDirectory() as folder:
        before, begin = programs.cpu_s(), time.monotonic()
        repetition.execute(planned, Path(folder), 300, threading.Event())
        after, end = programs.cpu_s(), time.monotonic()
        by_phase = dict(phases((Path(folder) / PRICE).read_text()))
    return by_phase, after - before, end - begin


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure the cost of a cell on this host.")
    parser.add_argument("study", nargs="?", default="quick")
    parser.add_argument("--cells", type=int, help="only of the study's first so many cells")
    options = parser.parse_args()
    study = load_study(find_study(options.study))
    repetitions = [r for r in run.prepare(study) if r.cell.seed == study.seeds[0]][: options.cells]
    print(f"{'':42}{''.join(f'{phase:>14}' for phase in PHASES)}{'in all':>25}")
    print(f"{'cell':42}{'  CPU s M inst' * len(PHASES)}{'CPU s':>17}{'wall s':>8}")
    for planned in repetitions:
        by_phase, cpu, wall = price(planned)
        parts = (by_phase.get(phase) for phase in PHASES)
        columns = "".join(f"{p.cpu_s:7.2f}{p.instructions / 1e6:7.0f}" if p else f"{'-':>14}" for p in parts)
        print(f"{' '.join(planned.cell.coordinates.values()):42}{columns}{cpu:17.2f} {wall:7.2f}", flush=True)


if __name__ == "__main__":
    main()
