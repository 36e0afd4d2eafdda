# SPDX-License-Identifier: Apache-2.0
"""Show progress and the expected time left: a bar on a terminal, a line every few seconds elsewhere.

Knows nothing of kernels or cells: callers open a stage and advance it. Reading the wall clock is fine here, because no
time of it enters a result.
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import timedelta
from importlib.util import find_spec
from typing import TYPE_CHECKING, Protocol

from flashbed.common import foreign

if TYPE_CHECKING:
    from rich.progress import Progress

PLAIN_INTERVAL_S = 10.0
"""Seconds between two lines of one stage if the output is not a terminal."""


class Stage(Protocol):
    """One activity. `total` is in the unit that the caller advances by."""

    def advance(self, steps: int = 1) -> None:
        """Count steps that are done."""

    def note(self, text: str) -> None:
        """Print a line that stays, such as a failure."""


class _BarStage:
    def __init__(self, progress: Progress, total: int | None, title: str) -> None:
        self._progress = progress
        self._task = progress.add_task(foreign.plain(title), total=total)

    def advance(self, steps: int = 1) -> None:
        self._progress.advance(self._task, steps)

    def note(self, text: str) -> None:
        self._progress.console.print(foreign.plain(text), markup=False, highlight=False, emoji=False)


class _PlainStage:
    def __init__(self, total: int | None, title: str) -> None:
        self._title, self._total, self._done = title, total, 0
        self._begin = self._last = time.monotonic()
        self.note(f"{title} ...")

    def advance(self, steps: int = 1) -> None:
        self._done += steps
        now = time.monotonic()
        if now - self._last < PLAIN_INTERVAL_S and self._done != self._total:
            return
        self._last = now
        if not self._total:
            self.note(f"{self._title}: {self._done}")
            return
        left = (now - self._begin) * max(self._total - self._done, 0) / self._done
        self.note(f"{self._title}: {min(self._done, self._total)}/{self._total}, about {left:.0f} s left")

    def note(self, text: str) -> None:
        _print_line(text)


def _print_line(text: str) -> None:
    with suppress(OSError):  # the reader is gone or its disk is full: the work goes on
        print(foreign.plain(text), file=sys.stderr, flush=True)


class _Screen:
    """A terminal with one bar for each stage. Several stages may run at once."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._under_way = 0
        self._progress: Progress | None = None

    @contextmanager
    def stage(self, title: str, total: int | None) -> Iterator[Stage]:
        with self._lock:
            if self._progress is None:
                self._progress = _bars()
                self._progress.start()
            progress = self._progress
            self._under_way += 1
        try:
            yield _BarStage(progress, total, title)
        finally:
            with self._lock:
                self._under_way -= 1
                if not self._under_way:
                    progress.stop()
                    self._progress = None

    def print(self, text: str) -> bool:
        """Print a line above the bars. False if there are none."""
        with self._lock:
            if self._progress is not None:
                self._progress.console.print(foreign.plain(text), markup=False, highlight=False)
            return self._progress is not None


_screen = _Screen()


def say(text: str) -> None:
    """Print a line to standard error, above the bars of open stages."""
    if not _screen.print(text):
        _print_line(text)


@contextmanager
def stage(title: str, total: int | None = None) -> Iterator[Stage]:
    """Open a stage named `title` of `total` steps, if known. It writes to standard error. Each thread may open one.

    Prints plain lines if the output is not a terminal, or if rich is not installed.
    """
    if sys.stderr.isatty() and find_spec("rich") is not None:
        with _screen.stage(title, total) as shown:
            yield shown
    else:
        yield _PlainStage(total, title)


def _bars() -> Progress:
    from rich import progress
    from rich.console import Console
    from rich.text import Text

    class Counts(progress.ProgressColumn):
        """A column with the steps and the elapsed time. It predicts no end for a stage of unknown length."""

        def render(self, task: progress.Task) -> Text:
            elapsed = f"{_clock(task.finished_time if task.finished else task.elapsed)} elapsed"
            if task.total is None:
                return Text(f"{task.completed:.0f} steps, {elapsed}" if task.completed else elapsed)
            left = (
                f"about {_clock(task.time_remaining)} left" if task.time_remaining is not None else "time left unknown"
            )
            return Text(f"{task.completed:.0f}/{task.total:.0f}, {elapsed}, {left}")

    columns = (progress.TextColumn("{task.description}", markup=False), progress.BarColumn(), Counts())
    return progress.Progress(*columns, console=Console(stderr=True))


def _clock(seconds: float | None) -> str:
    """Return seconds as text: 58 -> "0:00:58"."""
    return str(timedelta(seconds=int(seconds or 0)))
