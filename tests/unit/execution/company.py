# SPDX-License-Identifier: Apache-2.0
"""A run of a study of made-up cells, as a process of its own: company.py CACHE CELLS JOBS SECONDS [WHAT]

Cells are named a, b, c ...; each takes SECONDS (-1: until there is a file CACHE/go) and leaves a line with its name in
CACHE/measured. WHAT may be "fail"
(all cells fail), "killed" (each attempt is killed), "killed once", or anything else, which is then the result.
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
from flashbed.execution import failures, repetition, run
from flashbed.execution.repetition import Finished
from flashbed.profiles.library import Library
from flashbed.result import evaluation
from flashbed.result.result import Measurement
from tests.support.made_up_result import made_up_result


def main() -> None:
    cache, cells, jobs, seconds, what = sys.argv[1], sys.argv[2], int(sys.argv[3]), float(sys.argv[4]), sys.argv[5]
    os.environ["FLASHBED_CACHE"] = cache
    logging.basicConfig(format="flashbed: %(message)s")
    attempts: dict[str, int] = {}

    def prepare(_: Any, **__: Any) -> list[Any]:
        made = []
        for name in cells:
            medium = SimpleNamespace(conditioned=False, kind="flash", size_bytes=0)
            board = SimpleNamespace(cpu="cortex-a53", ram=0)
            between = SimpleNamespace(device="nothing is checked")
            cell = SimpleNamespace(
                coordinates={"name": name},
                label=name,
                seed=1,
                medium=medium,
                board=board,
                translation=between,
            )
            image = SimpleNamespace(kernel=SimpleNamespace(changed=None, change_unknown=""))
            key = hashlib.sha256(name.encode()).hexdigest()
            made.append(SimpleNamespace(key=key, cell=cell, image=image, beginning=""))
        return made

    def execute(wanted: Any, _folder: Path, _limit_s: float, stop: threading.Event, *_: object) -> Finished:
        with (Path(cache) / "measured").open("a") as file:
            file.write(f"{wanted.cell.label}\n")
        while seconds < 0 and not (Path(cache) / "go").exists():
            time.sleep(0.01)
        time.sleep(max(seconds, 0))
        attempts[wanted.key] = attempts.get(wanted.key, 0) + 1
        outcome = {"fail": "failed", "killed": "killed"}.get(what, "measured")
        if what == "killed once" and attempts[wanted.key] == 1:
            outcome = "killed"
        result = made_up_result(wanted.key, wanted.cell.coordinates, outcome, what)
        return Finished(result, {"out/data": what.removesuffix(" once").encode(), "console.log": b"end"})

    patch.object(run, "prepare", prepare).start()
    patch.object(repetition, "execute", execute).start()
    patch.object(
        failures, "refusal", lambda _cpu: ""
    ).start()  # no guest is started: else each cache of a test would build an emulator
    patch.object(evaluation, "evaluate", lambda *_: Measurement()).start()
    axes = {"filesystem": ("ext2",)}
    study: Any = SimpleNamespace(path=Path("made-up.toml"), name="made-up", axes=axes, seeds=(1,), kernels={})
    study.values_of = {**axes, "scheduler": ("none",)}.__getitem__
    study.library = Library((paths.profiles(),))
    print("begun", flush=True)
    try:
        done = run.run(study, jobs=jobs)
    except FlashbedError as error:
        sys.exit(f"{type(error).__name__}: {error.message}")
    told = [(record.result.outcome, record.result.reason) for record in done.records]
    print(json.dumps({"records": told, "different": [str(one.other) for one in done.different]}))


main()
