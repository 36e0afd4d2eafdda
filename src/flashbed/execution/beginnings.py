# SPDX-License-Identifier: Apache-2.0
"""Share beginnings between guests: boot, mkfs and preparation run once for all guests that differ only in their load.

The first guest makes the beginning if others are to follow, and the last one ends it. If a beginning fails, the guests
that wait for it run from power-on; the results have the same bytes. If a guest finds no room beside the beginnings, it
runs from power-on once they have ended. Must not know whether a guest runs a cell of a study or a recipe of a pack.
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
from flashbed.guest_output.assessment import Status
from flashbed.machine.beginning import Beginning
from flashbed.machine.outcomes import Outcome
from flashbed.machine.process import STOP_POLL_S

T = TypeVar("T")

Begun = Beginning | Outcome | None
"""The start of a guest: a beginning; its outcome if it failed; None for a guest that runs from power-on."""

Pending = Mapping[str, Sized]
"""The guests that are still to run, by their beginning; under "" those that share none."""


@dataclass(frozen=True)
class Guest:
    """A guest to run. Guests with the same `beginning` share it; "" is shared by none."""

    key: str
    beginning: str
    content_bytes: int
    ram_bytes: int
    begin: Callable[[Path, float, threading.Event], Beginning | Outcome]
    """Makes the beginning in an empty directory, within a number of seconds of the host's time."""


class GroupedQueue(Generic[T]):
    """The items that are still to run, grouped by beginning. Groups and their items are in the order of the items."""

    def __init__(self, items: Iterable[T], beginning_of: Callable[[T], str]) -> None:
        self._left: dict[str, deque[T]] = {}
        self._count = 0
        for self._count, item in enumerate(items, 1):
            self._left.setdefault(beginning_of(item), deque()).append(item)

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
    """A beginning, from the announcement of its first guest on."""

    def __init__(self) -> None:
        self.users = 0
        """The number of guests that use it or were announced."""
        self.more = True
        """True if others are still to be announced."""
        self.is_taken_on = False
        """True if a guest makes it, or has made it."""
        self.made, self.ended = threading.Event(), threading.Event()
        self.begun: Begun = None
        self._held = ExitStack()

    def make(self, guest: Guest, work: Path, host: Memory, limit_s: float, stop: threading.Event) -> None:
        """Make the beginning for this guest and the others. On failure `begun` stays None. Raises InterruptedByUser."""
        try:
            place = self._held.enter_context(host.place(guest.content_bytes, guest.ram_bytes))
            folder = place or Path(self._held.enter_context(TemporaryDirectory(dir=work, prefix="beginning-")))
            begun = guest.begin(folder, limit_s, stop)
            if isinstance(begun, Beginning):
                self._held.callback(begun.close)
            if not (isinstance(begun, Outcome) and begun.status == Status.KILLED):
                self.begun = begun
        except InterruptedByUser:
            raise
        except (FlashbedError, OSError):
            self.close()  # each guest meets the error again and reports it, with the room that this one took
        finally:
            self.made.set()

    def close(self) -> None:
        self._held.close()
        self.ended.set()


class Beginnings:
    """At most `guests` beginnings at a time. Their files are in memory, or in the directory `work` if it has no room.
    The methods are thread-safe, except `close`.
    """

    def __init__(self, guests: int, work: Path) -> None:
        self._guests, self._work = guests, work
        self._lock = threading.Lock()
        self._shared: dict[str, _Shared] = {}
        self._announced: dict[str, _Shared] = {}
        """The beginnings of announced guests that have not come yet, by the guest's key."""
        self._given_up: set[str] = set()

    def next_of(self, left: Pending) -> str:
        """Return the first beginning in `left` that no guest would have to wait for; the first if there is none."""
        return next((beginning for beginning in left if not self._is_being_made(beginning)), next(iter(left)))

    def _is_being_made(self, beginning: str) -> bool:
        shared = self._shared.get(beginning)
        return shared is not None and not shared.made.is_set()

    def announce(self, key: str, beginning: str, *, more: bool) -> None:
        """Announce that this guest comes next. `more` says whether others with its beginning will be announced. A guest
        that comes unannounced runs from power-on.
        """
        with self._lock:
            if not beginning or beginning in self._given_up:
                return
            shared = self._shared.get(beginning)
            if shared is None:
                if not more:
                    return
                if len(self._shared) >= self._guests:  # another run measures their guests, or these have yet to come
                    self._end_unused()
                shared = self._shared[beginning] = _Shared()
            shared.users += 1
            shared.more = more
            self._announced[key] = shared

    def carry(self, guest: Guest, host: Memory, limit_s: float, stop: threading.Event, run: Callable[[Begun], T]) -> T:
        """Return what `run` returns for the guest's beginning. If there was no room beside beginnings, end them and run
        again from power-on. Raises what `run` raises, and InterruptedByUser.
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
        """Yield the beginning of a guest, and make it if it is missing. Raises InterruptedByUser."""
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
        """End unused beginnings. The caller holds the lock."""
        for beginning, shared in list(self._shared.items()):
            if not shared.users:
                del self._shared[beginning]
                shared.close()

    def _end(self, stop: threading.Event) -> bool:
        """End all beginnings, and wait for those in use; their other guests run from power-on. Return False if there
        was none. Raises InterruptedByUser.
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
        """End the remaining beginnings, whose guests another run has measured."""
        for shared in self._shared.values():
            shared.close()
        self._shared.clear()
