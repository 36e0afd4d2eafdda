# SPDX-License-Identifier: Apache-2.0
"""Assign attempts to workers. Attempts with the same beginning go to the workers that have it, as long as no worker is
idle because of that. Must not know how attempts are sent.

If a worker is lost and Dask gives its attempt to another, the attempt runs from power-on there.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from flashbed.execution.beginnings import Pending


@dataclass
class _Worker:
    threads: int = 0
    under_way: Counter[str] = field(default_factory=Counter)
    """The number of running attempts, by beginning."""
    has: dict[str, bool] = field(default_factory=dict)
    """The beginnings that the worker keeps, and whether each is complete."""

    @property
    def free(self) -> int:
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
