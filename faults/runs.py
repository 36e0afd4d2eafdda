# SPDX-License-Identifier: Apache-2.0
"""Runs of the command, as a user's shell has them: begun, looked at, ended; and how one may end.

Must not know what is done to them, nor what they leave.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[1]
FLASHBED = Path(sys.executable).with_name("flashbed")
HUNG_S = 900.0
"""A command that takes longer hangs; the longest, with fio built anew, takes a minute."""


OURS = re.compile(r"flashbed/\w[\w/]*\.py")


class Hung(Exception):
    """A command that does not end."""


def documented() -> frozenset[int]:
    """The exit statuses that docs/studies.md lists."""
    section = (REPOSITORY / "docs/studies.md").read_text().partition("## How a command ends")[2].partition("\n## ")[0]
    return frozenset(int(number) for number in re.findall(r"^\| (\d+) \|", section, re.MULTILINE))


@dataclass(frozen=True)
class Ended:
    """A command that has ended: what it was, its status, all that it said, and how it was allowed to end."""

    words: tuple[str, ...]
    status: int
    said: str
    allowed: frozenset[int]

    def faults(self) -> list[str]:
        """What about its end is wrong."""
        what, last = " ".join(self.words), self.said.strip()[-400:]
        # Without a line of ours Python itself was interrupted, before it came to the program
        if "Traceback (most recent call last)" in self.said and (OURS.search(self.said) or self.status >= 0):
            return [f"traceback of `{what}`: {self.said[-1500:]}"]
        if self.status not in self.allowed:
            return [f"`{what}` ended with {self.status}, not {sorted(self.allowed)}: {last}"]
        if self.status > 0 and not last:
            return [f"`{what}` ended with {self.status} without a word"]
        return []


@dataclass
class Begun:
    """A command under way; what it says goes to a file."""

    words: tuple[str, ...]
    process: subprocess.Popen[bytes]
    told: Path
    at: float = field(default_factory=time.monotonic)

    @property
    def is_over(self) -> bool:
        return self.process.poll() is not None

    def said(self) -> str:
        return self.told.read_text(errors="replace")

    def wait(self, seconds: float) -> None:
        """Until so many seconds after it began, or until it has ended."""
        while not self.is_over and time.monotonic() - self.at < seconds:
            time.sleep(0.005)

    def end(self, allowed: Sequence[int], limit_s: float = HUNG_S) -> Ended:
        """Waits for its end. Raises Hung."""
        try:
            status = self.process.wait(limit_s)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            raise Hung(f"`{' '.join(self.words)}` did not end in {limit_s:.0f} s: {self.said()[-800:]}") from None
        return Ended(self.words, status, self.said(), frozenset(allowed))


def begin(cache: Path, folder: Path, told: Path, *words: str | Path, before: Sequence[str] = ()) -> Begun:
    """Starts `flashbed WORDS` in `folder`; `before` is put before it, such as prlimit with its words."""
    text = tuple(map(str, words))
    environment = {**os.environ, "FLASHBED_CACHE": str(cache), "FLASHBED_MEMORY": ""}  # faults are of its disk
    with told.open("wb") as out:
        process = subprocess.Popen(
            [*before, str(FLASHBED), *text],
            cwd=folder,
            env=environment,
            stdout=out,
            stderr=subprocess.STDOUT,
            process_group=0,  # as a shell starts it: Ctrl-C reaches what has no group of its own, too
        )
    return Begun(text, process, told)
