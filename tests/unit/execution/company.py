# SPDX-License-Identifier: Apache-2.0
"""Run a study of made-up cells as a process of its own: company.py CACHE CELLS JOBS SECONDS [OUTCOME]

Cells are named a, b, c ... Each takes SECONDS (-1: until the file CACHE/go exists) and appends its name to
CACHE/measured. OUTCOME may be "fail" (all cells fail), "killed" (each attempt is killed), "killed once", or any other
text, which becomes the result.
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
from flashbed.guest_output.assessment import Status
from flashbed.profiles.library import Library
from flashbed.result import evaluation
from flashbed.result.result import Measurement
from tests.support.made_up_result import made_up_result


def main() -> None:
    cache, cells, jobs, seconds, outcome_wanted = (
        sys.argv[1],
        sys.argv[2],
        int(sys.argv[3]),
        float(sys.argv[4]),
        sys.argv[5],
    )
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
            image = SimpleNamespace(kernel=SimpleNamespace(changed=None, change_unknown=None))
            key = hashlib.sha256(name.encode()).hexdigest()
            made.append(SimpleNamespace(key=key, cell=cell, image=image, environment={}, beginning=""))
        return made

    def execute(planned: Any, _folder: Path, _limit_s: float, stop: threading.Event, *_: object) -> Finished:
        with (Path(cache) / "measured").open("a") as file:
            file.write(f"{planned.cell.label}\n")
        while seconds < 0 and not (Path(cache) / "go").exists():
            time.sleep(0.01)
        time.sleep(max(seconds, 0))
        attempts[planned.key] = attempts.get(planned.key, 0) + 1
        outcome = {"fail": Status.FAILED, "killed": Status.KILLED}.get(outcome_wanted, Status.MEASURED)
        if outcome_wanted == "killed once" and attempts[planned.key] == 1:
            outcome = Status.KILLED
        result = made_up_result(planned.key, planned.cell.coordinates, outcome, outcome_wanted)
        return Finished(result, {"out/data": outcome_wanted.removesuffix(" once").encode(), "console.log": b"end"})

    patch.object(run, "prepare", prepare).start()
    patch.object(repetition, "execute", execute).start()
    # No guest starts: the real check would build an emulator in each test's cache
    patch.object(failures, "refusal", lambda _cpu: "").start()
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
    records = [(record.result.outcome, record.result.reason) for record in done.records]
    print(json.dumps({"records": records, "different": [str(difference.other) for difference in done.different]}))


main()
