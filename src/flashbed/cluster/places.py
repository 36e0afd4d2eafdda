# SPDX-License-Identifier: Apache-2.0
"""Which worker gets which attempt: those with one beginning go to the workers that have it, one after the other, as
long as no worker has to stand idle for that. Must not know how attempts travel.

What Dask gives to another, for the worker is lost, runs from power-on there.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from flashbed.execution.beginnings import Left


@dataclass
class _Worker:
    threads: int = 0
    under_way: Counter[str] = field(default_factory=Counter)
    """Attempts, by their beginning."""
    has: dict[str, bool] = field(default_factory=dict)
    """The beginnings that it keeps, and whether each is made."""

    @property
    def free(self) -> int:
        return self.threads - self.under_way.total()

    def rank(self, beginning: str) -> int:
        """How well an attempt goes here, the least best: it goes on at once; a worker that does nothing makes it a
        beginning; it waits for one; a worker that has others makes it one.
        """
        if self.has.get(beginning, False):
            return 0
        if beginning in self.has:
            return 2
        return 3 if self.under_way.total() else 1

    def take(self, beginning: str, *, more: bool) -> None:
        self.under_way[beginning] += 1
        if more and beginning not in self.has:
            if len(self.has) >= self.threads:  # it ends what nobody uses there, as execution/beginnings.py does
                self.has = {one: made for one, made in self.has.items() if self.under_way[one]}
            self.has[beginning] = False


class Places:
    """The workers of a run, by their addresses. Its methods may be called by several threads at a time."""

    def __init__(self) -> None:
        self._workers: dict[str, _Worker] = {}
        self._lock = threading.Lock()

    def see(self, threads: Mapping[str, int]) -> None:
        """Tells which workers there are now, with how many attempts each makes at a time."""
        with self._lock:
            self._workers = {address: self._workers.get(address, _Worker()) for address in threads}
            for address, worker in self._workers.items():
                worker.threads = threads[address]

    @property
    def count(self) -> int:
        """How many attempts they make at a time."""
        with self._lock:
            return sum(worker.threads for worker in self._workers.values())

    def next_of(self, left: Left) -> str:
        """The beginning of which one is to be attempted next: one that a free worker has; else the first that none has;
        else the one with most left for each worker that has it, which another then makes for itself.
        """
        with self._lock:
            for worker in self._workers.values():
                if worker.free > 0:
                    for beginning, is_made in worker.has.items():
                        if is_made and beginning in left:
                            return beginning
            had = Counter(beginning for worker in self._workers.values() for beginning in worker.has)
        new = next((beginning for beginning in left if beginning not in had), None)
        return new if new is not None else max(left, key=lambda beginning: len(left[beginning]) / had[beginning])

    def take(self, beginning: str, *, more: bool) -> str | None:
        """The worker for an attempt; `more`: whether others of its beginning are left. None if none is free."""
        with self._lock:
            free = [(address, worker) for address, worker in self._workers.items() if worker.free > 0]
            if not free:
                return None
            address, worker = min(free, key=lambda one: (one[1].rank(beginning), -one[1].free))
            worker.take(beginning, more=more)
            return address

    def end(self, beginning: str, address: str | None, made_at: str | None) -> None:
        """Tells that an attempt has ended that `address` had got, and which worker made it, if one did. Who did not
        make what it had got gets nothing until it is seen again, for it may be lost.
        """
        with self._lock:
            if (worker := self._workers.get(address or "")) is None:
                return
            worker.under_way[beginning] -= 1
            if made_at != address:
                worker.threads = 0
            elif beginning in worker.has:
                worker.has[beginning] = True
