# SPDX-License-Identifier: Apache-2.0
"""Parts of the sections of docs/generated/accuracy.md: requests to new media, rows with an expected and a measured
figure, tables.

Must not know what is checked.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from flashbed.common import paths
from flashbed.image.hosttools import MediaTool, Replay
from flashbed.profiles.library import Library
from flashbed.profiles.profile import Medium
from pages.page_text import table

LIBRARY = Library((paths.profiles(),))
BLOCK_MEDIA = [name for name in LIBRARY.names("medium") if LIBRARY.medium(name).provides == "block"]
"""Media that take requests for sectors. Raw flash does not: media/tests/chip_test.c checks it against its data sheets.
"""

EXACT = 0.0
CLOSE = 0.01

Request = tuple[str, int, int]
"""Operation (read, write, trim), offset in bytes, and size in bytes."""


@dataclass(frozen=True)
class Row:
    """A check: its name, the medium, the expected figure and its source, the model's figure, and the allowed relative
    error.
    """

    medium: str
    what: str
    expected: float
    source: str
    found: float
    allowed: float

    @property
    def error(self) -> float:
        return abs(self.found - self.expected) / self.expected if self.expected else abs(self.found)

    @property
    def good(self) -> bool:
        return self.error <= self.allowed


Section = Callable[["Bench"], tuple[str, list[Row]]]
"""A section returns its table as text, and the rows that were checked."""


class Bench:
    """Send requests to new media. Times are in ns, addresses in bytes.

    `go_on` and `go_on_with` change the medium. The other methods that send requests leave it in its state, so several
    measurements may follow one preparation.
    """

    def __init__(self, tool: MediaTool, folder: Path) -> None:
        self.tool, self.folder = tool, folder
        self._state, self._trace, self._completions = (folder / name for name in ("state", "trace", "completions"))
        self._medium: Path | Mapping[str, int | str] = self._state
        """The state, or the parameters of a medium that got no request yet."""
        self._kept: Path | Mapping[str, int | str] = self._state

    def play(
        self, medium: Medium, requests: Sequence[Request], *options: str, **changed: int | str
    ) -> tuple[list[tuple[int, int]], Replay]:
        """Return (submitted, done) of each request, one after the other on a new medium, and the whole result."""
        self.start(medium, **changed)
        return self._timed(requests, 1, *options)

    def times(self, requests: Sequence[Request], depth: int) -> list[tuple[int, int]]:
        """Return (submitted, done) of each request, with a fixed number of requests in flight, on the medium in its
        present state.
        """
        times, _ = self._timed(requests, depth)
        return times

    def _timed(self, requests: Sequence[Request], depth: int, *options: str) -> tuple[list[tuple[int, int]], Replay]:
        words = (*options, "--completions", str(self._completions), *self._one_trace(requests, depth))
        result = self.measure_with(*words)
        numbers = map(int, self._completions.read_text().split())
        return list(zip(numbers, numbers, strict=True)), result

    def start(self, medium: Medium, **changed: int | str) -> None:
        """Make a new medium with the size of its profile."""
        self.start_with({**medium.core_parameters, "used_bytes": 0, **changed})

    def start_with(self, parameters: dict[str, int | str]) -> None:
        """Make a new medium that no profile describes."""
        self._medium = parameters

    def go_on(self, requests: Sequence[Request]) -> None:
        """Send requests, one after the other, to the medium in its present state."""
        self.go_on_with(*self._one_trace(requests, 1))

    def go_on_with(self, *words: str) -> None:
        """Run flashbed-replay on the medium in its present state, with its own options for the requests."""
        self.tool.replay(self._medium, "--save", self._state, *words)
        self._medium = self._state

    def keep(self) -> None:
        """Keep the present state for `go_back`."""
        if self._medium == self._state:
            self._medium = self._state.rename(self.folder / "kept")
        self._kept = self._medium

    def go_back(self) -> None:
        """Put the medium into the state that was kept last."""
        self._medium = self._kept

    def measure(self, requests: Sequence[Request]) -> Replay:
        """Return the result of requests, one after the other, on the medium in its present state."""
        return self.measure_with(*self._one_trace(requests, 1))

    def measure_with(self, *words: str) -> Replay:
        """Return the result of flashbed-replay on the medium in its present state, with its own options for the
        requests.
        """
        return self.tool.replay(self._medium, *words)

    def _one_trace(self, requests: Sequence[Request], depth: int) -> Sequence[str]:
        lines = [f"f {op} {offset} {length}\n" for op, offset, length in requests]
        self._trace.write_text("fio version 2 iolog\n" + "".join(lines))
        return "--as-fast-as-possible", "--queue-depth", str(depth), str(self._trace)


def media(kind: str) -> Iterator[tuple[str, Medium, dict[str, int]]]:
    """Yield name, profile and parameters of each medium."""
    for name in LIBRARY.names("medium"):
        medium = LIBRARY.medium(name)
        if medium.kind == kind:
            yield name, medium, medium.numbers()


def as_rows(rows: Callable[[Bench], Iterator[Row]]) -> Section:
    """Return a section that consists only of its rows."""

    def section(bench: Bench) -> tuple[str, list[Row]]:
        checked = list(rows(bench))
        lines = [
            [row.medium, row.what, plain(row.expected), row.source, plain(row.found), off_by(row)] for row in checked
        ]
        return table(["medium", "what", "expected", "from", "model", "off by"], lines, left=(0, 1, 3)), checked

    return section


def plain(value: float) -> str:
    """Return a number with at most three decimals, without trailing zeros."""
    return f"{value:.3f}".rstrip("0").rstrip(".")


def off_by(row: Row) -> str:
    """Return how far a figure is off, as text."""
    return "exact" if row.allowed == EXACT and row.good else f"{row.error * 100:.2f} %"
