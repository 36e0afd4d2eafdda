# SPDX-License-Identifier: Apache-2.0
"""An attempt at a repetition, and where attempts are made: on this host, or wherever else there is a site.

A site knows neither studies nor the store: it gets a repetition and gives back what it came to.
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
    """Where attempts are made."""

    @property
    def guests(self) -> int:
        """How many attempts it takes at a time, at least 1. May change while a run is under way."""

    def next_of(self, left: Pending) -> str:
        """The beginning of which one is to be attempted next."""

    def announce(self, wanted: Repetition, *, more: bool) -> None:
        """Says that this is attempted next, and whether others with its beginning are still to be. Called by the thread
        that asks for `next_of`.
        """

    def attempt(self, wanted: Repetition, limits: Limits, stop: threading.Event) -> Finished:
        """What one attempt came to; it ends early when `stop` is set. Called by several threads at a time. One that was
        not announced, as each second one, runs from power-on.

        Raises HostResourceError for a site that refuses what the lab itself writes, InterruptedByUser.
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
    """This host, for so many guests at a time; what they leave is removed at the end. Raises HostResourceError."""
    with locks.scratch(work_folder()) as work, memory.scratch(guests) as host:
        beginnings = Beginnings(guests, work)
        try:
            yield ThisHost(guests, work, host, beginnings)
        finally:
            beginnings.close()


def work_folder() -> Path:
    """What is under way, of all runs; each has a folder there that it holds by a lock."""
    return paths.cache_root() / "work"
