# SPDX-License-Identifier: Apache-2.0
"""An attempt at a repetition, and where attempts are made: on this host, or wherever else there is a site.

A site knows neither studies nor the store: it gets a repetition and gives back what it came to.
"""

from __future__ import annotations

import shutil
import tempfile
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from flashbed.common import locks, paths
from flashbed.common.errors import host_refusal
from flashbed.execution import memory, repetition
from flashbed.execution.beginnings import Beginnings
from flashbed.execution.memory import Memory
from flashbed.execution.repetition import Finished, Repetition


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
            with (
                tempfile.TemporaryDirectory(dir=self.work, prefix=f"{wanted.key[:12]}-") as folder,
                self.beginnings.of(wanted, limits.host_s, stop) as begun,
            ):
                return repetition.execute(wanted, Path(folder), limits.host_s, stop, self.host, begun)
        except repetition.TooLargeError as error:
            if shutil.disk_usage(self.work).free < limits.smallest_medium:
                raise
            return repetition.failed(wanted, error.message)
        except OSError as error:
            raise host_refusal(self.work, error) from None


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
