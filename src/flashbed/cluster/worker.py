# SPDX-License-Identifier: Apache-2.0
"""The worker's side of an order: it fetches the files that it lacks, once, makes the attempt, and returns the result.

It stores no results: if a worker is lost, another repeats its attempt. Between two orders of a run it keeps the
beginnings that further orders of the run share. A worker of `--workers local:N` loads this module before others
(Dask's "preload").
"""

from __future__ import annotations

import atexit
import logging
import pickle
import signal
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import astuple, dataclass, replace
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from distributed import Worker, get_worker
from distributed.utils import sync

from flashbed.cluster.file_store import GIVE, FileId, FilePiece, file_store
from flashbed.cluster.order import EMULATOR, Order, repetition_of
from flashbed.common import programs
from flashbed.common.digest import identity
from flashbed.common.errors import FlashbedError, HostResourceError, SetupError
from flashbed.execution import attempt, failures
from flashbed.execution.attempt import ThisHost
from flashbed.execution.repetition import Finished
from flashbed.execution.scheduler import clean


@dataclass(frozen=True)
class Refusal:
    """An error that stops the whole run, and the address of the worker that reports it."""

    worker: str
    error: FlashbedError


@dataclass(frozen=True)
class Made:
    """The result of an attempt, and the address of the worker that made it."""

    worker: str
    finished: Finished


def carry_out(of_lab: str, packed: bytes, task: str) -> Made | Refusal:
    """Execute an order in a thread of the worker, as the task `task`, for the lab with the identity `of_lab`. `packed`
    is a pickled Order, which another lab may be unable to read. Return a Refusal if the host cannot execute it.
    """
    dask_worker = get_worker()
    try:
        if of_lab != identity():
            raise SetupError(other_lab(of_lab, identity()))
        order = pickle.loads(packed)
        failures.check_programs([order.cell])
        return Made(dask_worker.address, _carry_out(order, dask_worker, Released(dask_worker, task)))
    except FlashbedError as error:
        return Refusal(dask_worker.address, error)


def other_lab(of_client: str, of_host: str) -> str:
    """Return the message about a host whose lab is not the client's."""
    return f"has flashbed {of_host}, but this is {of_client}; install the same there"


def _carry_out(order: Order, dask_worker: Worker, stop: threading.Event) -> Finished:
    def place(file_id: FileId) -> Path:
        return file_store().fetched(file_id, lambda offset: _pulled(dask_worker, file_id, offset))

    _clean_once()
    with kept(order.run, dask_worker.state.nthreads) as run, TemporaryDirectory(dir=run.work) as own:
        site = replace(run, host=replace(run.host, guests=order.guests))
        wanted = repetition_of(order, place, Path(own))
        _check_emulator(place(order.file_ids[EMULATOR]))
        if order.worker == dask_worker.address:
            site.announce(wanted, more=order.more)
        return site.attempt(wanted, order.limits, stop)


IDLE_S = 10.0
"""Seconds without an order of a run after which its beginnings are dropped: the run has ended, or does not use this
worker.
"""


class _Kept:
    """This host as the site of one run, kept between orders."""

    def __init__(self, guests: int) -> None:
        self._held = ExitStack()
        self.site = self._held.enter_context(attempt.this_host(guests))
        self.users = 0
        self.used = 0
        """How many orders have used it; distinguishes one idle period from another."""

    def close(self) -> None:
        self._held.close()


_runs: dict[str, _Kept] = {}
_lock = threading.Lock()


@contextmanager
def kept(run: str, guests: int) -> Iterator[ThisHost]:
    """Yield this host as the site of a run, with the beginnings kept for it. Raises HostResourceError."""
    with _lock:
        shared = _runs.get(run) or _runs.setdefault(run, _Kept(guests))
        shared.users += 1
        shared.used += 1
    try:
        yield shared.site
    finally:
        with _lock:
            shared.users -= 1
            if not shared.users:
                idle = threading.Timer(IDLE_S, _end, (run, shared.used))
                idle.daemon = True
                idle.start()


def _end(run: str, used: int) -> None:
    """Close what is kept for a run, unless it was used again since it had been used `used` times."""
    with _lock:
        shared = _runs.get(run)
        if shared is not None and not shared.users and shared.used == used:
            del _runs[run]
            shared.close()


@atexit.register
def _end_all() -> None:
    """Close everything when the worker ends."""
    for shared in _runs.values():
        shared.close()


@cache
def _clean_once() -> None:
    """Remove the files of workers that were killed on this host."""
    clean()


def _pulled(dask_worker: Worker, file_id: FileId, offset: int) -> FilePiece:
    call = getattr(dask_worker.scheduler, GIVE)
    piece: FilePiece | None = sync(dask_worker.loop, call, file_id=list(astuple(file_id)), offset=offset)
    if piece is None:
        raise HostResourceError(f"the scheduler no longer has {file_id.name}; run again")
    return piece


@cache
def _check_emulator(program: Path) -> None:
    """Check once that the emulator, which the client's host built, starts here. Raises SetupError if it does not, for
    example because a library is missing.
    """
    done = programs.run([program, "--version"])
    if done.returncode:
        why = (done.stderr.strip() or f"exit status {done.returncode}").replace(f"{program}: ", "").splitlines()[0]
        raise SetupError(
            f"the emulator does not start there ({why}); the worker needs the same system as the host of the run"
        )


class Released(threading.Event):
    """An event that is set when no one waits for the task any more: its run was interrupted or has ended."""

    def __init__(self, dask_worker: Worker, task: str) -> None:
        super().__init__()
        self._here, self._task = dask_worker, task

    def is_set(self) -> bool:
        state = self._here.state.tasks.get(self._task)
        return state is None or state.state == "cancelled"


def dask_setup(_: Any) -> None:
    """Ignore SIGINT, and keep Dask's messages off the terminal. Dask calls this in the worker's main thread."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    logging.getLogger("distributed").setLevel(logging.CRITICAL)
