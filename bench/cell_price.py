# SPDX-License-Identifier: Apache-2.0
"""What a cell costs this host: CPU and wall seconds until the workload's first I/O, and in all, for each cell of a
study's first seed.

    python bench/cell_price.py [STUDY]

Prints figures, judges nothing. The cells run one at a time; run it on an idle machine.
"""

from __future__ import annotations

import resource
import sys
import tempfile
import threading
import time
from dataclasses import replace
from pathlib import Path

from flashbed import repetition, run
from flashbed.plan import Workload
from flashbed.repetition import Repetition
from flashbed.study import load_study
from flashbed.workload import WORKLOADS
from flashbed.workload.base import Parameters


class UntilFirstIo:
    """A workload that prepares as another does and switches the guest off where the measurement would begin."""

    def __init__(self, tool: str) -> None:
        self._real = WORKLOADS[tool]

    def files(self, parameters: Parameters, seed: int) -> dict[str, bytes]:
        return {**self._real.files(parameters, seed), "measure": b"poweroff -f\n"}

    def metrics(self, out: object) -> dict[str, float]:
        return {}


def price(wanted: Repetition) -> tuple[float, float]:
    """CPU seconds (user and system) and wall seconds of one execution."""
    with tempfile.TemporaryDirectory() as folder:
        before, begin = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
        repetition.execute(wanted, Path(folder), 300, threading.Event())
        after, end = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime, end - begin


def main() -> None:
    study = load_study(run.find_study(sys.argv[1] if len(sys.argv) > 1 else "quick"))
    wanted = [r for r in run.prepare(study) if r.cell.seed == study.seeds[0]]
    print("cell                                        until first I/O      in all")
    print("                                            CPU s  wall s     CPU s  wall s")
    for whole in wanted:
        tool = whole.cell.workload.tool
        WORKLOADS[f"{tool}, until its first I/O"] = UntilFirstIo(tool)
        cell = replace(whole.cell, workload=Workload(f"{tool}, until its first I/O", whole.cell.workload.parameters))
        start_cpu, start_wall = price(replace(whole, cell=cell))
        cpu, wall = price(whole)
        name = " ".join(whole.cell.coordinates.values())
        print(f"{name:42} {start_cpu:6.2f} {start_wall:7.2f}  {cpu:8.2f} {wall:7.2f}", flush=True)


if __name__ == "__main__":
    main()
