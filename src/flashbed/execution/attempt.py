# SPDX-License-Identifier: Apache-2.0
"""Make attempts at repetitions, on this host or at any other site.

A site knows neither studies nor the store. It gets a repetition and returns its result and artefacts.
"""

from __future__ import annotations

import shutil
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Protocol

from flashbed.common import locks, paths
from flashbed.common.errors import host_refusal
from flashbed.execution import memory, repetition
from flashbed.execution.beginnings import Beginnings, Begun, Pending
from flashbed.execution.memory import Memory
from flashbed.execution.repetition import Finished, Repetition


@dataclass(frozen=True)
class Limits:
    """The limits of a repetition on its host."""

    host_s: float
    """Seconds after which its guest counts as hung."""
    smallest_medium: int
    """Bytes of the study's smallest medium. A disk without room for it is full, and the run ends. If the disk has room
    for it and not for a larger medium, only the cell of that medium fails.
    """


class Site(Protocol):
    """A place where attempts run."""

    @property
    def guests(self) -> int:
        """Return how many attempts it runs at a time, at least 1. May change during a run."""

    def next_of(self, left: Pending) -> str:
        """Return the beginning from which the next repetition should come."""

    def announce(self, wanted: Repetition, *, more: bool) -> None:
        """Announce that this repetition is attempted next. `more` says whether others with its beginning will follow.
        The thread that calls `next_of` calls it.
        """

    def attempt(self, wanted: Repetition, limits: Limits, stop: threading.Event) -> Finished:
        """Make an attempt and return its result and artefacts. End early if `stop` is set. Several threads may call it
        at a time. An attempt that was not announced, such as a second one, runs from power-on.

        Raises HostResourceError if the site refuses the lab's own files, and InterruptedByUser.
        """


@dataclass(frozen=True)
class ThisHost:
    """This host."""

    guests: int
    work: Path
    host: Memory
    beginnings: Beginnings

    def next_of(self, left: Pending) -> str:
        return self.beginnings.next_of(left)

    def announce(self, wanted: Repetition, *, more: bool) -> None:
        self.beginnings.announce(wanted.key, wanted.beginning, more=more)

    def attempt(self, wanted: Repetition, limits: Limits, stop: threading.Event) -> Finished:
        def run(begun: Begun) -> Finished:
            with TemporaryDirectory(dir=self.work, prefix=f"{wanted.key[:12]}-") as folder:
                return repetition.execute(wanted, Path(folder), limits.host_s, stop, self.host, begun)

        try:
            return self.beginnings.carry(repetition.guest(wanted), self.host, limits.host_s, stop, run)
        except repetition.TooLargeError as error:
            if shutil.disk_usage(self.work).free < limits.smallest_medium:
                raise
            return repetition.failed(wanted, error.message)
        except OSError as error:
            raise host_refusal(self.work, error) from None


@contextmanager
def this_host(guests: int) -> Iterator[ThisHost]:
    """Yield this host for `guests` guests at a time. Their files are removed at the end. Raises HostResourceError."""
    with locks.scratch(work_folder()) as work, memory.scratch(guests) as host:
        beginnings = Beginnings(guests, work)
        try:
            yield ThisHost(guests, work, host, beginnings)
        finally:
            beginnings.close()


def work_folder() -> Path:
    """Return the directory of running work. Each run has a directory there, and holds its lock."""
    return paths.cache_root() / "work"
