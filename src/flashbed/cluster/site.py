# SPDX-License-Identifier: Apache-2.0
"""A Dask cluster as the site of attempts: files go to its scheduler once, orders to its workers. Attempts with the same
beginning go to the workers that have it, as long as no worker is idle because of that.

If a worker is lost, Dask gives its attempt to another, where it runs from power-on. An attempt changes nothing but its
own scratch directory, so it may be repeated.
"""

from __future__ import annotations

import logging
import pickle
import secrets
import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import astuple, dataclass, field
from pathlib import Path
from typing import Any

from distributed import Client, Future, KilledWorker

from flashbed.cluster.file_store import KEEP, LACKS, MESSAGE_BYTES, FileId, in_message
from flashbed.cluster.order import PartFiles, file_id, files_of, order
from flashbed.cluster.worker import Made, Refusal
from flashbed.common.digest import identity
from flashbed.common.errors import HostResourceError, InterruptedByUser, SetupError
from flashbed.execution import repetition
from flashbed.execution.attempt import Limits
from flashbed.execution.beginnings import Pending
from flashbed.execution.repetition import Finished, Repetition
from flashbed.guest_output.assessment import Status
from flashbed.machine.process import STOP_POLL_S


@dataclass
class _Worker:
    threads: int = 0
    under_way: Counter[str] = field(default_factory=Counter)
    """The number of running attempts, by beginning."""
    has: dict[str, bool] = field(default_factory=dict)
    """The beginnings that the worker keeps, and whether each is complete."""

    @property
    def free(self) -> int:
        """Return the number of attempts that the worker could start now."""
        return self.threads - self.under_way.total()

    def rank(self, beginning: str) -> int:
        """Return how well the worker suits an attempt, from 0 (best): the beginning is complete; the worker is idle and
        makes it; the beginning is being made; the worker is busy and would have to make it.
        """
        if self.has.get(beginning, False):
            return 0
        if beginning in self.has:
            return 2
        return 3 if self.under_way.total() else 1

    def take(self, beginning: str, *, more: bool) -> None:
        """Note that the worker makes an attempt. With `more`, others with the same beginning follow, so the worker
        keeps it.
        """
        self.under_way[beginning] += 1
        if more and beginning not in self.has:
            if len(self.has) >= self.threads:  # it drops unused beginnings, as execution/beginnings.py does
                self.has = {name: made for name, made in self.has.items() if self.under_way[name]}
            self.has[beginning] = False


class Places:
    """The workers of a run, by address. Its methods are thread-safe."""

    def __init__(self) -> None:
        self._workers: dict[str, _Worker] = {}
        self._lock = threading.Lock()

    def see(self, threads: Mapping[str, int]) -> None:
        """Set the current workers, with the number of attempts that each makes at a time."""
        with self._lock:
            self._workers = {address: self._workers.get(address, _Worker()) for address in threads}
            for address, worker in self._workers.items():
                worker.threads = threads[address]

    @property
    def count(self) -> int:
        """Return how many attempts the workers make at a time."""
        with self._lock:
            return sum(worker.threads for worker in self._workers.values())

    def next_of(self, left: Pending) -> str:
        """Return the beginning of the next attempt: one that a free worker has; else the first that no worker has; else
        the one with the most attempts left for each worker that has it, which a further worker then makes.
        """
        with self._lock:
            for worker in self._workers.values():
                if worker.free > 0:
                    for beginning, is_made in worker.has.items():
                        if is_made and beginning in left:
                            return beginning
            workers_with = Counter(beginning for worker in self._workers.values() for beginning in worker.has)
        new = next((beginning for beginning in left if beginning not in workers_with), None)
        return (
            new if new is not None else max(left, key=lambda beginning: len(left[beginning]) / workers_with[beginning])
        )

    def take(self, beginning: str, *, more: bool) -> str | None:
        """Return the address of the worker for an attempt; None if none is free. `more` says whether other attempts
        with this beginning are left.
        """
        with self._lock:
            free = [(address, worker) for address, worker in self._workers.items() if worker.free > 0]
            if not free:
                return None
            address, worker = min(free, key=lambda pair: (pair[1].rank(beginning), -pair[1].free))
            worker.take(beginning, more=more)
            return address

    def end(self, beginning: str, address: str | None, made_at: str | None) -> None:
        """Record the end of an attempt that was assigned to `address` and made by the worker `made_at`, if by any. A
        worker that did not make its attempt may be lost, so it gets no others until it is seen again.
        """
        with self._lock:
            if (worker := self._workers.get(address or "")) is None:
                return
            worker.under_way[beginning] -= 1
            if made_at != address:
                worker.threads = 0
            elif beginning in worker.has:
                worker.has[beginning] = True


_log = logging.getLogger("flashbed")

WORKERS_POLL_S = 2.0
"""Seconds between two looks at the list of workers."""

WORKERS_LOST = "each worker that ran it was lost: out of memory?"


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
            return repetition.failed(wanted, WORKERS_LOST, Status.KILLED)
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

    def _share(self, files: PartFiles) -> None:
        """Send the scheduler those of the files that it lacks."""
        by_id = {file_id(path): path for path in files.values()}
        with self._sharing:
            new = by_id.keys() - self._shared
            if not new:
                return
            try:
                lacks = self._client.sync(
                    getattr(self._client.scheduler, LACKS),
                    file_ids=[list(astuple(file)) for file in new],
                )
                for file in new:
                    if file.digest in lacks:
                        self._bring(file, by_id[file])
            except (OSError, TimeoutError) as error:
                raise self._scheduler_is_gone(error) from None
            self._shared |= new

    def _bring(self, wanted: FileId, path: Path) -> None:
        keep, sender = getattr(self._client.scheduler, KEEP), secrets.token_hex(4)
        with path.open("rb") as file:
            while True:
                piece = in_message(file.read(MESSAGE_BYTES))
                if refused := self._client.sync(keep, file_id=list(astuple(wanted)), who=sender, piece=piece):
                    raise HostResourceError(f"the scheduler: {refused}")
                if file.tell() >= wanted.size:
                    return

    def _scheduler_is_gone(self, error: Exception | None) -> HostResourceError:
        why = f" ({error})" if error else ""
        return HostResourceError(f"the cluster's scheduler is gone{why}; finished repetitions are kept: run again")
