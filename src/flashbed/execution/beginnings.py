# SPDX-License-Identifier: Apache-2.0
"""The beginnings that guests share: boot, mkfs and preparation are done once for all that differ in their load alone.

A beginning is made by the first that comes, if others are still to come, and ends with the last. Whatever goes wrong
with one, those that wait for it run from power-on: the results are the same bytes. So does what found no room beside
beginnings, once these have ended. Must not know what a guest is of: a cell of a study, or a recipe of a pack.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sized
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Generic, TypeVar

from flashbed.common.errors import FlashbedError, HostResourceError, InterruptedByUser
from flashbed.execution.memory import Memory
from flashbed.machine.base import Outcome
from flashbed.machine.beginning import Beginning
from flashbed.machine.process import STOP_POLL_S

T = TypeVar("T")

Begun = Beginning | Outcome | None
"""What a guest has to go on from: a beginning, or what came of it if it did not come to its end; None for one that is
to run from power-on.
"""

Pending = Mapping[str, Sized]
"""What is still to run, by beginning; by "" what shares none."""


@dataclass(frozen=True)
class Guest:
    """One that is to run, of those with the same `beginning`; "" if it shares that with none."""

    key: str
    beginning: str
    content_bytes: int
    ram_bytes: int
    begin: Callable[[Path, float, threading.Event], Beginning | Outcome]
    """Makes its beginning in an empty folder, within so many seconds of the host's time."""


class GroupedQueue(Generic[T]):
    """What is still to run, grouped by beginning. Groups and their items are in the order of the items."""

    def __init__(self, items: Iterable[T], beginning_of: Callable[[T], str]) -> None:
        self._left: dict[str, deque[T]] = {}
        self._count = 0
        for self._count, one in enumerate(items, 1):
            self._left.setdefault(beginning_of(one), deque()).append(one)

    def __len__(self) -> int:
        return self._count

    def take(self, next_of: Callable[[Pending], str]) -> tuple[T, bool]:
        """Take the next item with the beginning that `next_of` chooses. Return it, and whether others are left."""
        beginning = next_of(self._left)
        group = self._left[beginning]
        taken = group.popleft()
        self._count -= 1
        if not group:
            del self._left[beginning]
        return taken, bool(beginning and group)


class _Shared:
    """A beginning, from when the first is to come for it."""

    def __init__(self) -> None:
        self.users = 0
        """Those that have come and those that were announced."""
        self.more = True
        """Whether others are still to be announced."""
        self.is_taken_on = False
        """Whether somebody makes it, or has."""
        self.made, self.ended = threading.Event(), threading.Event()
        self.begun: Begun = None
        self._held = ExitStack()

    def make(self, guest: Guest, work: Path, host: Memory, limit_s: float, stop: threading.Event) -> None:
        """Raises InterruptedByUser."""
        try:
            place = self._held.enter_context(host.place(guest.content_bytes, guest.ram_bytes))
            folder = place or Path(self._held.enter_context(TemporaryDirectory(dir=work, prefix="beginning-")))
            begun = guest.begin(folder, limit_s, stop)
            if isinstance(begun, Beginning):
                self._held.callback(begun.close)
            if not (isinstance(begun, Outcome) and begun.status == "killed"):
                self.begun = begun
        except InterruptedByUser:
            raise
        except (FlashbedError, OSError):
            self.close()  # each meets it again, and says so: with as much room as it would have had
        finally:
            self.made.set()

    def close(self) -> None:
        self._held.close()
        self.ended.set()


class Beginnings:
    """As many as `guests` at a time, with their files in the folder `work` where memory has no room. Its methods may be
    called by several threads at a time, but for `close`.
    """

    def __init__(self, guests: int, work: Path) -> None:
        self._guests, self._work = guests, work
        self._lock = threading.Lock()
        self._shared: dict[str, _Shared] = {}
        self._announced: dict[str, _Shared] = {}
        """What those share that have not come yet, by key."""
        self._given_up: set[str] = set()

    def next_of(self, left: Pending) -> str:
        """Of what is left the first that would not wait for a beginning; the first, if all would."""
        return next((one for one in left if not self._is_being_made(one)), next(iter(left)))

    def _is_being_made(self, beginning: str) -> bool:
        shared = self._shared.get(beginning)
        return shared is not None and not shared.made.is_set()

    def announce(self, key: str, beginning: str, *, more: bool) -> None:
        """Says that this guest comes next, once, and whether others of its beginning are to be announced. What comes
        without that runs from power-on.
        """
        with self._lock:
            if not beginning or beginning in self._given_up:
                return
            shared = self._shared.get(beginning)
            if shared is None:
                if not more:
                    return
                if len(self._shared) >= self._guests:  # others measure what some wait for, or it has not come yet
                    self._end_unused()
                shared = self._shared[beginning] = _Shared()
            shared.users += 1
            shared.more = more
            self._announced[key] = shared

    def carry(self, guest: Guest, host: Memory, limit_s: float, stop: threading.Event, run: Callable[[Begun], T]) -> T:
        """What `run` gives, with the guest's beginning; from power-on, if there was no room beside beginnings. Raises
        what it raises, InterruptedByUser.
        """
        begun: Begun = None
        try:
            with self.of(guest, host, limit_s, stop) as begun:
                return run(begun)
        except (HostResourceError, OSError):
            if not self._end(stop) and begun is None:
                raise
        return run(None)

    @contextmanager
    def of(self, guest: Guest, host: Memory, limit_s: float, stop: threading.Event) -> Iterator[Begun]:
        """The beginning of a guest; it is made if it is not there. Raises InterruptedByUser."""
        with self._lock:
            shared = self._announced.pop(guest.key, None)
            is_first = shared is not None and not shared.is_taken_on
            if shared is not None:
                shared.is_taken_on = True
        if shared is None:
            yield None
            return
        try:
            if is_first:
                shared.make(guest, self._work, host, limit_s, stop)
            while not shared.made.wait(STOP_POLL_S):
                if stop.is_set():
                    raise InterruptedByUser("stopped")
            yield None if isinstance(shared.begun, Beginning) and shared.begun.is_gone else shared.begun
        finally:
            self._leave(guest.beginning, shared)

    def _leave(self, beginning: str, shared: _Shared) -> None:
        with self._lock:
            shared.users -= 1
            is_last = not shared.users and not shared.more
            if is_last:
                del self._shared[beginning]
        if is_last:
            shared.close()

    def _end_unused(self) -> None:
        """Ends those that nobody uses. To be called with the lock held."""
        for beginning, shared in list(self._shared.items()):
            if not shared.users:
                del self._shared[beginning]
                shared.close()

    def _end(self, stop: threading.Event) -> bool:
        """Ends all that there are, those in use once nobody uses them; what was to share them runs from power-on. False
        if there was none. Raises InterruptedByUser.
        """
        with self._lock:
            ending = dict(self._shared)
            self._given_up |= ending.keys()
            for shared in ending.values():
                shared.more = False
            self._end_unused()
        for shared in ending.values():
            while not shared.ended.wait(STOP_POLL_S):
                if stop.is_set():
                    raise InterruptedByUser("stopped")
        return bool(ending)

    def close(self) -> None:
        """Ends those that are left: another run has measured what they were made for."""
        for shared in self._shared.values():
            shared.close()
        self._shared.clear()
