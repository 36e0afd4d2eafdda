# SPDX-License-Identifier: Apache-2.0
"""An attempt at a repetition, and where attempts are made: on this host, or wherever else there is a site. And the
beginnings that repetitions of a run share: boot, mkfs and preparation are done once for all that differ in their load
alone.

A site knows neither studies nor the store: it gets a repetition and gives back what it came to. A beginning is made by
the first that comes, if others are still to come, and ends with the last. Whatever goes wrong with one, those that wait
for it run from power-on: the results are the same bytes. So does a repetition that found no room beside beginnings,
once these have ended.
"""

from __future__ import annotations

import shutil
import threading
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Protocol

from flashbed.common import locks, paths
from flashbed.common.errors import FlashbedError, HostResourceError, InterruptedByUser, host_refusal
from flashbed.execution import memory, repetition
from flashbed.execution.memory import Memory
from flashbed.execution.repetition import Finished, Repetition
from flashbed.machine.base import Outcome
from flashbed.machine.beginning import Beginning
from flashbed.machine.process import STOP_POLL_S


class _Shared:
    """A beginning, from when the first has come for it."""

    def __init__(self) -> None:
        self.users = 0
        self.ended = threading.Event()
        self.made = threading.Event()
        self.begun: Beginning | Outcome | None = None
        """None: there is none, and whoever wants it runs from power-on."""
        self._held = ExitStack()

    def make(self, wanted: Repetition, work: Path, host: Memory, limit_s: float, stop: threading.Event) -> None:
        """Raises InterruptedByUser."""
        try:
            place = self._held.enter_context(host.place(repetition.content_bytes(wanted.cell), wanted.cell.board.ram))
            folder = place or Path(self._held.enter_context(TemporaryDirectory(dir=work, prefix="beginning-")))
            begun = repetition.begin(wanted, folder, limit_s, stop)
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
    """Those of one run. Its methods may be called by several threads at a time, but for `expect` and `close`."""

    def __init__(self, guests: int, work: Path, host: Memory) -> None:
        self._guests, self._work, self._host = guests, work, host
        self._lock = threading.Lock()
        self._expected: dict[str, set[str]] = {}
        self._shared: dict[str, _Shared] = {}

    def expect(self, missing: Sequence[Repetition]) -> None:
        """Says which repetitions are going to come, each once."""
        for one in missing:
            if one.beginning:
                self._expected.setdefault(one.beginning, set()).add(one.key)

    def is_being_made(self, wanted: Repetition) -> bool:
        """True if whoever asks for this repetition's beginning would wait for it."""
        shared = self._shared.get(wanted.beginning)
        return shared is not None and not shared.made.is_set()

    @contextmanager
    def of(self, wanted: Repetition, limit_s: float, stop: threading.Event) -> Iterator[Beginning | Outcome | None]:
        """The beginning of a repetition, or what came of it if it did not come to its end; None for one that is to run
        from power-on, as each does that comes again. Raises InterruptedByUser.
        """
        shared, is_first = self._taken(wanted)
        if shared is None:
            yield None
            return
        try:
            if is_first:
                shared.make(wanted, self._work, self._host, limit_s, stop)
            while not shared.made.wait(STOP_POLL_S):
                if stop.is_set():
                    raise InterruptedByUser("stopped")
            yield shared.begun
        finally:
            self._leave(wanted.beginning, shared)

    def _taken(self, wanted: Repetition) -> tuple[_Shared | None, bool]:
        """What is shared, and whether it is still to be made."""
        with self._lock:
            expected = self._expected.get(wanted.beginning, set())
            if wanted.key not in expected:
                return None, False
            expected.remove(wanted.key)
            shared = self._shared.get(wanted.beginning)
            if is_first := shared is None:
                if not expected:
                    return None, False
                self._close_idle()
                shared = self._shared[wanted.beginning] = _Shared()
            shared.users += 1
            return shared, is_first

    def _close_idle(self) -> None:
        """Of as many as guests run at a time, ends those that nobody uses: another run measures what they wait for, or
        it has not come yet. If it comes, it makes one anew.
        """
        if len(self._shared) >= self._guests:
            self._end_unused()

    def _end_unused(self) -> None:
        """Ends those that nobody uses. To be called with the lock held."""
        for beginning, shared in list(self._shared.items()):
            if not shared.users:
                del self._shared[beginning]
                shared.close()

    def _leave(self, beginning: str, shared: _Shared) -> None:
        with self._lock:
            shared.users -= 1
            is_last = not shared.users and not self._expected[beginning]
            if is_last:
                del self._shared[beginning]
        if is_last:
            shared.close()

    def end(self, stop: threading.Event) -> bool:
        """Ends all that there are, those in use once nobody uses them; what was to share them runs from power-on. False
        if there was none. Raises InterruptedByUser.
        """
        with self._lock:
            ending = dict(self._shared)
            for beginning in ending:
                self._expected[beginning].clear()
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


@dataclass(frozen=True)
class Limits:
    """What a repetition may take of the host that it runs on."""

    host_s: float
    """Seconds after which its guest counts as hung."""
    smallest_medium: int
    """Bytes of the study's smallest medium. A disk without room for that is full, which ends the run; where it has
    that, a medium for which it has none is too large, and its cell fails alone.
    """


class Site(Protocol):
    """Where attempts are made."""

    @property
    def guests(self) -> int:
        """How many attempts it takes at a time, at least 1. May change while a run is under way."""

    def expect(self, missing: Sequence[Repetition]) -> None:
        """Says what is going to be attempted, each at least once, before anything is: some of it may share work."""

    def would_wait(self, wanted: Repetition) -> bool:
        """True if an attempt at this would wait for another that is under way."""

    def attempt(self, wanted: Repetition, limits: Limits, stop: threading.Event) -> Finished:
        """What one attempt came to; it ends early when `stop` is set. Called by several threads at a time.

        Raises HostResourceError for a site that refuses what the lab itself writes, InterruptedByUser.
        """


@dataclass(frozen=True)
class Here:
    """This host."""

    guests: int
    work: Path
    host: Memory
    beginnings: Beginnings

    def expect(self, missing: Sequence[Repetition]) -> None:
        self.beginnings.expect(missing)

    def would_wait(self, wanted: Repetition) -> bool:
        return self.beginnings.is_being_made(wanted)

    def attempt(self, wanted: Repetition, limits: Limits, stop: threading.Event) -> Finished:
        try:
            return self._attempted(wanted, limits, stop)
        except repetition.TooLargeError as error:
            if shutil.disk_usage(self.work).free < limits.smallest_medium:
                raise
            return repetition.failed(wanted, error.message)
        except OSError as error:
            raise host_refusal(self.work, error) from None

    def _attempted(self, wanted: Repetition, limits: Limits, stop: threading.Event) -> Finished:
        """From a beginning, if there is one; from power-on, if there was no room beside beginnings."""
        begun = None
        try:
            with self._folder(wanted) as folder, self.beginnings.of(wanted, limits.host_s, stop) as begun:
                return repetition.execute(wanted, Path(folder), limits.host_s, stop, self.host, begun)
        except (HostResourceError, OSError):
            if not self.beginnings.end(stop) and begun is None:
                raise
        with self._folder(wanted) as folder:
            return repetition.execute(wanted, Path(folder), limits.host_s, stop, self.host)

    def _folder(self, wanted: Repetition) -> TemporaryDirectory[str]:
        return TemporaryDirectory(dir=self.work, prefix=f"{wanted.key[:12]}-")


@contextmanager
def here(guests: int) -> Iterator[Here]:
    """This host, for so many guests at a time; what they leave is removed at the end. Raises HostResourceError."""
    with locks.scratch(work_folder()) as work, memory.scratch(guests) as host:
        beginnings = Beginnings(guests, work, host)
        try:
            yield Here(guests, work, host, beginnings)
        finally:
            beginnings.close()


def work_folder() -> Path:
    """What is under way, of all runs; each has a folder there that it holds by a lock."""
    return paths.cache_root() / "work"
