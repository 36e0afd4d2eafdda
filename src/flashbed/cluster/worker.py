# SPDX-License-Identifier: Apache-2.0
"""What a worker does with an order: it fetches what it lacks, once, makes the attempt, and gives back what came of it.

Keeps no results: what it had begun when it was lost, another does.
"""

from __future__ import annotations

import pickle
import threading
from dataclasses import astuple, dataclass
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from distributed import Worker, get_worker
from distributed.utils import sync

from flashbed.cluster import lab, scheduler_plugin
from flashbed.cluster.file_store import FileId, Piece, file_store
from flashbed.cluster.order import EMULATOR, Order, repetition_of
from flashbed.common import children
from flashbed.common.errors import FlashbedError, HostResourceError, SetupError
from flashbed.execution import attempt, failures
from flashbed.execution.repetition import Finished
from flashbed.execution.scheduler import clean


@dataclass(frozen=True)
class Refusal:
    """What stops the whole run, and the worker that says so."""

    worker: str
    error: FlashbedError


def carry_out(of_lab: str, packed: bytes, task: str) -> Finished | Refusal:
    """Runs in a thread of the worker, as the task of this name, for the lab of this identity. `packed` is an Order;
    another lab may not even be able to read it.
    """
    here = get_worker()
    try:
        if of_lab != lab.identity():
            raise SetupError(other_lab(of_lab, lab.identity()))
        asked = pickle.loads(packed)
        failures.check_programs([asked.cell])
        return _carry_out(asked, here, Released(here, task))
    except FlashbedError as error:
        return Refusal(here.address, error)


def other_lab(asked: str, found: str) -> str:
    """What to tell of a lab that is not the one that asks."""
    return f"has flashbed {found}, and this is {asked}; install the same there"


def _carry_out(asked: Order, here: Worker, stop: threading.Event) -> Finished:
    def place(file_id: FileId) -> Path:
        return file_store().fetched(file_id, lambda offset: _pulled(here, file_id, offset))

    _clean_once()
    with attempt.here(asked.guests) as site, TemporaryDirectory(dir=site.work) as kept:
        wanted = repetition_of(asked, place, Path(kept))
        _check_emulator(place(asked.file_ids[EMULATOR]))
        return site.attempt(wanted, asked.limits, stop)


@cache
def _clean_once() -> None:
    """What was left by a worker that was killed here."""
    clean()


def _pulled(here: Worker, file_id: FileId, offset: int) -> Piece:
    call = getattr(here.scheduler, scheduler_plugin.GIVE)
    piece: Piece | None = sync(here.loop, call, file_id=list(astuple(file_id)), offset=offset)
    if piece is None:
        raise HostResourceError(f"the scheduler does not have {file_id.name} any more; run again")
    return piece


@cache
def _check_emulator(program: Path) -> None:
    """Once: it was built where the run began. Raises SetupError if a library of its is missing here."""
    done = children.run([program, "--version"])
    if done.returncode:
        why = (done.stderr.strip() or f"exit status {done.returncode}").replace(f"{program}: ", "").splitlines()[0]
        raise SetupError(
            f"the emulator does not start there ({why}); give the worker the system of the host that begins the run"
        )


class Released(threading.Event):
    """Set when nobody waits for a task any more: its run was interrupted, or has ended, however that was."""

    def __init__(self, here: Worker, task: str) -> None:
        super().__init__()
        self._here, self._task = here, task

    def is_set(self) -> bool:
        state = self._here.state.tasks.get(self._task)
        return state is None or state.state == "cancelled"
