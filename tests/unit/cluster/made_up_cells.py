# SPDX-License-Identifier: Apache-2.0
"""Many made-up repetitions for the test of a cluster. No guest runs, but files travel to the worker of an attempt, and
its result depends on them. With --preload, a Dask worker makes such attempts.

As a program, by `main`, its arguments are CACHE CELLS WORKERS, where WORKERS is the address of a scheduler, or "here".
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
import sys
import threading
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

from flashbed.common import paths
from flashbed.common.errors import FlashbedError
from flashbed.execution import attempt, repetition, scheduler
from flashbed.execution.repetition import Finished, Repetition
from flashbed.image import emulator
from flashbed.image.cache import Entry
from flashbed.image.guest_image import GuestImage
from flashbed.image.guest_parts import ProgramSet
from flashbed.image.hosttools import MediaTool
from flashbed.image.kernel import IMAGE, SYSTEM_MAP, Kernel
from flashbed.machine.beginning import Beginning
from flashbed.result import evaluation
from flashbed.result.result import Measurement
from flashbed.result.store import Store
from tests.support.made_up_result import made_up_result

SECONDS = "FLASHBED_TEST_SECONDS"
"""The variable with the duration of an attempt."""
ATTEMPTS = "FLASHBED_TEST_ATTEMPTS"
"""The variable with the file of attempts: a line for each attempt and each beginning, with the process, the key of the
cell, and BEGINS, FROM_BEGINNING or FROM_POWER_ON.
"""
BEGINS, FROM_BEGINNING, FROM_POWER_ON = "begins", "from-beginning", "from-power-on"
GROUP = 10
"""The number of cells that share a beginning."""


class Cell(SimpleNamespace):
    """The attributes that the lab needs of a cell until it has a result."""

    @property
    def label(self) -> str:
        return str(self.coordinates["number"])


def cell(number: int) -> Any:
    medium = SimpleNamespace(size_bytes=0, kind="flash", conditioned=False, start=None)
    between = SimpleNamespace(device="nothing is checked")
    board = SimpleNamespace(ram=0)
    return Cell(coordinates={"number": str(number)}, seed=1, board=board, medium=medium, translation=between)


class MadeUp(Beginning):
    """A beginning without an emulator."""

    is_gone = False

    def __init__(self, planned: Any) -> None:
        self.of = group(planned)

    def close(self) -> None:
        pass


def group(planned: Any) -> int:
    return int(planned.cell.label) // GROUP


def note(planned: Any, event: str) -> None:
    with Path(os.environ[ATTEMPTS]).open("a") as file:
        file.write(f"{os.getpid()} {planned.key} {event}\n")


def begin(planned: Any, *_: object) -> MadeUp:
    note(planned, BEGINS)
    return MadeUp(planned)


def execute(
    planned: Any, _folder: Path, _limit_s: float, _stop: threading.Event, _host: object = None, begun: Any = None
) -> Finished:
    """Return a result whose data depend on all files that came with the order, and on the cell."""
    assert begun is None or begun.of == group(planned)
    note(planned, FROM_POWER_ON if begun is None else FROM_BEGINNING)
    time.sleep(float(os.environ.get(SECONDS, "0.02")))
    image = planned.image
    files = [image.kernel.image, image.kernel.symbols, *image.archives(NO_PROGRAMS), image.media_tool.program]
    data = hashlib.sha256(b"".join(path.read_bytes() for path in files) + planned.key.encode()).hexdigest()
    result = made_up_result(planned.key, planned.cell.coordinates)
    return Finished(result, {"out/data": data.encode(), "console.log": planned.cell.label.encode()})


NO_PROGRAMS = ProgramSet((), ())


def install() -> None:
    """Replace guests by made-up attempts in this process."""
    patch.object(repetition, "execute", execute).start()
    patch.object(repetition, "begin", begin).start()
    patch.object(repetition, "program_set", lambda _: NO_PROGRAMS).start()
    patch.object(evaluation, "evaluate", lambda *_: Measurement()).start()


def made_up_image(folder: Path) -> GuestImage:
    """Return an image of files of some kilobytes, with an emulator that only starts."""
    for number, name in enumerate((IMAGE, SYSTEM_MAP, "base", "tools", "fbmedia", "replay", "empty")):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(hashlib.sha256(name.encode()).digest() * 200 * number if name != "empty" else b"")
    program = folder / emulator.QEMU_PROGRAM
    program.write_text("#!/bin/sh\nexit 0\n")
    program.chmod(0o755)
    emulator.program = lambda: program
    parts = {"tools-fio": folder / "tools"}
    tool = MediaTool(folder / "fbmedia", folder / "replay", "fbmedia-made-up")
    return GuestImage(Kernel(Entry(folder, {}), "6.1"), tool, folder / "base", parts, {})


def main() -> None:
    cache, cells, workers = sys.argv[1], int(sys.argv[2]), sys.argv[3]
    os.environ["FLASHBED_CACHE"] = cache
    os.environ.setdefault(ATTEMPTS, f"{cache}/attempts")
    logging.basicConfig(format="flashbed: %(message)s")
    install()
    image = made_up_image(Path(cache) / "made-up")
    keys = [hashlib.sha256(str(number).encode()).hexdigest() for number in range(cells)]
    repetitions: list[Any] = [
        Repetition(cell(number), image, {}, key, f"beginning-{number // GROUP}") for number, key in enumerate(keys)
    ]
    store, limits = Store(paths.cache_root() / "results"), attempt.Limits(60, 0)
    try:
        if workers == "here":
            with attempt.this_host(4) as site:
                records = list(scheduler.measure(store, repetitions, site, limits))
        else:
            from flashbed.cluster import connecting

            with connecting.connected(workers) as cluster:
                records = list(scheduler.measure(store, repetitions, cluster, limits))
    except FlashbedError as error:
        sys.exit(f"{type(error).__name__}: {error.message}")
    print(json.dumps([record.result.outcome for record in records]))
