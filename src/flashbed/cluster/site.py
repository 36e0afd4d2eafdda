# SPDX-License-Identifier: Apache-2.0
"""A Dask cluster as the site of attempts: files go to its scheduler once, orders to its workers.

If a worker is lost, Dask gives its attempt to another. An attempt changes nothing but its own scratch directory, so it
may be repeated.
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

from flashbed.cluster import scheduler_plugin
from flashbed.cluster.file_store import PIECE_BYTES, FileId, in_message
from flashbed.cluster.order import Files, file_id, files_of, order
from flashbed.cluster.places import Places
from flashbed.cluster.worker import Made, Refusal
from flashbed.common.digest import identity
from flashbed.common.errors import HostResourceError, InterruptedByUser, SetupError
from flashbed.execution import repetition
from flashbed.execution.attempt import Limits
from flashbed.execution.beginnings import Pending
from flashbed.execution.repetition import Finished, Repetition
from flashbed.machine.process import STOP_POLL_S

_log = logging.getLogger("flashbed")

WORKERS_POLL_S = 2.0
"""Seconds between two looks at the list of workers."""

LOST = "each worker that ran it was lost: out of memory?"


NO_LAB = "cannot import flashbed ({}); install the same flashbed and distributed there as here"

Came = Made | Refusal | tuple[str, str]
"""The answer of a worker; from a worker without the lab, its address and the reason."""


def _entry() -> Callable[[str, bytes, str], Came]:
    """Return the task's function. It is sent by value, not by name: a worker that cannot unpickle a task dies, but a
    worker without the lab must be able to report it.
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
    """The workers of a scheduler, with at most `most` guests at a time, by default one for each of their threads."""

    def __init__(self, client: Client, most: int | None = None) -> None:
        self._client, self._most = client, most
        self._threads: Mapping[str, int] = {}
        self._looked_at = -WORKERS_POLL_S
        self._places = Places()
        self._announced: dict[str, tuple[str | None, bool]] = {}
        """By key: the worker that an attempt is assigned to, and whether others with its beginning are left."""
        self._shared: set[FileId] = set()
        self._sharing = threading.Lock()
        self._name = secrets.token_hex(4)

    @property
    def guests(self) -> int:
        """Return how many guests may run now; only one thread may ask. It is at least 1: an order waits at the
        scheduler until a worker joins.
        """
        if time.monotonic() - self._looked_at >= WORKERS_POLL_S:
            self._look()
        capacity = max(self._places.count, 1)
        return min(capacity, self._most or capacity)

    def _look(self) -> None:
        before, first = self._threads, self._looked_at < 0
        self._threads, self._looked_at = self._workers(), time.monotonic()
        self._places.see(self._threads)
        for address in sorted(before.keys() - self._threads.keys()):
            _log.warning("worker %s is gone; other workers repeat its measurements", address)
        if not self._threads and (before or first):
            _log.warning("the cluster has no workers now; waiting for one")

    def _workers(self) -> Mapping[str, int]:
        try:
            threads: Mapping[str, int] = self._client.nthreads()
        except (OSError, TimeoutError, ValueError) as error:
            raise self._scheduler_is_gone(error) from None
        return threads

    def next_of(self, left: Pending) -> str:
        return self._places.next_of(left)

    def announce(self, wanted: Repetition, *, more: bool) -> None:
        self._announced[wanted.key] = self._places.take(wanted.beginning, more=more), more

    def attempt(self, wanted: Repetition, limits: Limits, stop: threading.Event) -> Finished:
        """Make an attempt on a worker. Raises FlashbedError if a worker refuses it or the scheduler is gone, and
        InterruptedByUser.
        """
        # A second attempt was announced only once, so no worker is assigned to it
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
        """Send an order to the worker at `address`, or to another if that is lost, and return the answer. Raises
        KilledWorker.
        """
        files = files_of(wanted)
        self._share(files)
        request = order(self._name, wanted, address, more, files, limits, self._guests_of_a_host())
        task = f"flashbed-{wanted.key[:16]}-{self._name}-{secrets.token_hex(4)}"
        restriction = {"workers": [address], "allow_other_workers": True} if address else {}
        packed = pickle.dumps(request)
        future = self._client.submit(_entry(), identity(), packed, task, key=task, pure=False, **restriction)
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
        """Send the scheduler those of the files that it lacks."""
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

    def _bring(self, wanted: FileId, path: Path) -> None:
        keep, sender = getattr(self._client.scheduler, scheduler_plugin.KEEP), secrets.token_hex(4)
        with path.open("rb") as file:
            while True:
                piece = in_message(file.read(PIECE_BYTES))
                if refused := self._client.sync(keep, file_id=list(astuple(wanted)), who=sender, piece=piece):
                    raise HostResourceError(f"the scheduler: {refused}")
                if file.tell() >= wanted.size:
                    return

    def _scheduler_is_gone(self, error: Exception | None) -> HostResourceError:
        why = f" ({error})" if error else ""
        return HostResourceError(f"the cluster's scheduler is gone{why}; finished repetitions are kept: run again")
