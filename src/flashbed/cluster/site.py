# SPDX-License-Identifier: Apache-2.0
"""A Dask cluster as the site of attempts: files go to its scheduler once, orders to its workers.

What a worker had begun when it was lost, Dask gives to another: an attempt changes nothing but its own scratch folder,
so it may be made as often as it takes.
"""

from __future__ import annotations

import logging
import pickle
import secrets
import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import astuple
from pathlib import Path
from typing import Any

from distributed import Client, Future, KilledWorker

from flashbed.cluster import lab, scheduler_plugin
from flashbed.cluster.file_store import PIECE_BYTES, FileId, in_message
from flashbed.cluster.order import Files, file_id, files_of, order
from flashbed.cluster.places import Places
from flashbed.cluster.worker import Made, Refusal
from flashbed.common.errors import HostResourceError, InterruptedByUser, SetupError
from flashbed.execution import repetition
from flashbed.execution.attempt import Limits
from flashbed.execution.beginnings import Left
from flashbed.execution.repetition import Finished, Repetition
from flashbed.machine.process import STOP_POLL_S

_log = logging.getLogger("flashbed")

WORKERS_POLL_S = 2.0
"""Between two looks at which workers there are."""

LOST = "each worker that ran it was lost: out of memory?"


NO_LAB = "cannot load flashbed ({}); install flashbed and distributed there, as they are here"

Came = Made | Refusal | tuple[str, str]
"""Of a worker; the last one, its address and why, of one that has no lab."""


def _entry() -> Callable[[str, bytes, str], Came]:
    """What a task is. It travels as it stands here, and not by its name: a worker that cannot read a task dies of it,
    and one without the lab has to be able to say so.
    """

    def enter(of_lab: str, packed: bytes, task: str) -> Came:
        try:
            from flashbed.cluster.worker import carry_out
        except ImportError as error:
            from distributed import get_worker

            return get_worker().address, str(error)
        return carry_out(of_lab, packed, task)

    return enter


class Cluster:
    """The workers of a scheduler; `most` guests at a time, or one for each thread of theirs."""

    def __init__(self, client: Client, most: int | None = None) -> None:
        self._client, self._most = client, most
        self._threads: Mapping[str, int] = {}
        self._looked_at = -WORKERS_POLL_S
        self._places = Places()
        self._announced: dict[str, tuple[str | None, bool]] = {}
        """The worker that each is for, and whether others with its beginning are left, by key."""
        self._shared: set[FileId] = set()
        self._sharing = threading.Lock()
        self._name = secrets.token_hex(4)

    @property
    def guests(self) -> int:
        """Asked by one thread. At least 1: an order waits at the scheduler until a worker comes."""
        if time.monotonic() - self._looked_at >= WORKERS_POLL_S:
            self._look()
        there = max(self._places.count, 1)
        return min(there, self._most or there)

    def _look(self) -> None:
        before, first = self._threads, self._looked_at < 0
        self._threads, self._looked_at = self._workers(), time.monotonic()
        self._places.see(self._threads)
        for gone in sorted(before.keys() - self._threads.keys()):
            _log.warning("worker %s is gone; what it was measuring, others measure", gone)
        if not self._threads and (before or first):
            _log.warning("the cluster has no workers at the moment; waiting for one")

    def _workers(self) -> Mapping[str, int]:
        try:
            told: Mapping[str, int] = self._client.nthreads()
        except (OSError, TimeoutError, ValueError) as error:
            raise self._scheduler_is_gone(error) from None
        return told

    def next_of(self, left: Left) -> str:
        return self._places.next_of(left)

    def announce(self, wanted: Repetition, *, more: bool) -> None:
        self._announced[wanted.key] = self._places.take(wanted.beginning, more=more), more

    def attempt(self, wanted: Repetition, limits: Limits, stop: threading.Event) -> Finished:
        """Raises FlashbedError for what a worker refuses, or if the scheduler is gone, InterruptedByUser."""
        # What is tried again was announced once, and is for no certain worker
        address, more = self._announced.pop(wanted.key, (None, False))
        made_at = None
        try:
            came = self._ordered(wanted, address, more, limits, stop)
            if isinstance(came, Made):
                made_at = came.worker
        except KilledWorker:
            return repetition.failed(wanted, LOST, "killed")
        finally:
            self._places.end(wanted.beginning, address, made_at)
        if isinstance(came, tuple):
            raise SetupError(f"worker {came[0]}: {NO_LAB.format(came[1])}")
        if isinstance(came, Refusal):
            raise type(came.error)(f"worker {came.worker}: {came.error.message}")
        return came.finished

    def _ordered(
        self, wanted: Repetition, address: str | None, more: bool, limits: Limits, stop: threading.Event
    ) -> Came:
        """What a worker makes of it: the one at `address`, unless that is lost. Raises KilledWorker."""
        files = files_of(wanted)
        self._share(files)
        asked = order(self._name, wanted, address, more, files, limits, self._guests_of_a_host())
        task = f"flashbed-{wanted.key[:16]}-{self._name}-{secrets.token_hex(4)}"
        where = {"workers": [address], "allow_other_workers": True} if address else {}
        packed = pickle.dumps(asked)
        future = self._client.submit(_entry(), lab.identity(), packed, task, key=task, pure=False, **where)
        try:
            return self._came(future, stop)
        finally:
            future.release()

    def _came(self, future: Future[Any], stop: threading.Event) -> Came:
        done = threading.Event()
        future.add_done_callback(lambda _: done.set())
        while not done.wait(STOP_POLL_S):
            if stop.is_set():
                raise InterruptedByUser("stopped")
            if self._client.status in ("closing", "closed"):
                raise self._scheduler_is_gone(None)
        if future.status in ("cancelled", "lost"):
            raise self._scheduler_is_gone(None)
        came: Came = future.result()
        return came

    def _guests_of_a_host(self) -> int:
        hosts: Counter[str] = Counter()
        for address, threads in self._threads.items():
            hosts[address.rpartition(":")[0]] += threads
        return max(hosts.values(), default=1)

    def _share(self, files: Files) -> None:
        """Brings the scheduler what it lacks of these."""
        by_id = {file_id(path): path for path in files.values()}
        with self._sharing:
            new = by_id.keys() - self._shared
            if not new:
                return
            try:
                lacks = self._client.sync(
                    getattr(self._client.scheduler, scheduler_plugin.LACKS),
                    file_ids=[list(astuple(file)) for file in new],
                )
                for file in new:
                    if file.digest in lacks:
                        self._bring(file, by_id[file])
            except (OSError, TimeoutError) as error:
                raise self._scheduler_is_gone(error) from None
            self._shared |= new

    def _bring(self, one: FileId, path: Path) -> None:
        keep, who = getattr(self._client.scheduler, scheduler_plugin.KEEP), secrets.token_hex(4)
        with path.open("rb") as file:
            while True:
                piece = in_message(file.read(PIECE_BYTES))
                if refused := self._client.sync(keep, file_id=list(astuple(one)), who=who, piece=piece):
                    raise HostResourceError(f"the scheduler: {refused}")
                if file.tell() >= one.size:
                    return

    def _scheduler_is_gone(self, error: Exception | None) -> HostResourceError:
        why = f" ({error})" if error else ""
        return HostResourceError(f"the scheduler of the cluster is gone{why}; what was finished is kept: run again")
