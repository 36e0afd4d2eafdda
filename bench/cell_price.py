# SPDX-License-Identifier: Apache-2.0
"""What a cell costs this host: CPU and wall seconds until the workload's first I/O, and in all, for each cell of a
study's first seed.

    python bench/cell_price.py [--cells N] [STUDY]

Prints figures, judges nothing. With --cells only of the study's first N cells. They run one at a time; run it on an
idle machine.
"""

from __future__ import annotations

import argparse
import resource
import tempfile
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from flashbed.execution import repetition, run
from flashbed.execution.repetition import Repetition
from flashbed.study.loading import load_study
from flashbed.workload import WORKLOADS
from flashbed.workload.base import Parameters, Phase
from flashbed.workload.base import Workload as Tool


class UntilFirstIo:
    """A workload that prepares as another does and switches the guest off where the measurement would begin."""

    def __init__(self, tool: str) -> None:
        self._real = WORKLOADS[tool]
        self.parameters, self.own_files = self._real.parameters, self._real.own_files
        self.built, self.packages, self.programs = self._real.built, self._real.packages, self._real.programs

    def title(self, parameters: Parameters) -> str:
        return f"{self._real.title(parameters)}, until its first I/O"

    def files(self, parameters: Parameters, seed: int) -> dict[str, bytes]:
        return {**self._real.files(parameters, seed), "measure": b"poweroff -f\n"}

    def metrics(self, out: Mapping[str, bytes]) -> dict[str, float]:
        return {}

    def phases(self, parameters: Parameters) -> Sequence[Phase]:
        return ()


def price(wanted: Repetition) -> tuple[float, float]:
    """CPU seconds (user and system) and wall seconds of one execution."""
    with tempfile.TemporaryDirectory() as folder:
        before, begin = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
        repetition.execute(wanted, Path(folder), 300, threading.Event())
        after, end = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime, end - begin


def main() -> None:
    said = argparse.ArgumentParser(description="What a cell costs this host.")
    said.add_argument("study", nargs="?", default="quick")
    said.add_argument("--cells", type=int, help="only of the study's first so many cells")
    options = said.parse_args()
    study = load_study(run.find_study(options.study))
    wanted = [r for r in run.prepare(study) if r.cell.seed == study.seeds[0]][: options.cells]
    print("cell                                        until first I/O      in all")
    print("                                            CPU s  wall s     CPU s  wall s")
    for whole in wanted:
        tool = whole.cell.workload.tool
        name = f"{tool}, until its first I/O"
        until: Tool = UntilFirstIo(tool)
        WORKLOADS[name] = until
        cell = replace(whole.cell, workload=replace(whole.cell.workload, tool=name))
        start_cpu, start_wall = price(replace(whole, cell=cell))
        cpu, wall = price(whole)
        cell_name = " ".join(whole.cell.coordinates.values())
        print(f"{cell_name:42} {start_cpu:6.2f} {start_wall:7.2f}  {cpu:8.2f} {wall:7.2f}", flush=True)


if __name__ == "__main__":
    main()
