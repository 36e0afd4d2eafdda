# SPDX-License-Identifier: Apache-2.0
"""Start, watch and end runs of the command, as a user's shell does, and check how they end.

Must not know how they are disturbed, nor what they leave.
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
"""The seconds after which a command counts as hung. The longest one, which builds fio, takes a minute."""


OURS = re.compile(r"flashbed/\w[\w/]*\.py")


class Hung(Exception):
    """A command that does not end."""


def documented() -> frozenset[int]:
    """Return the exit statuses that docs/studies.md lists."""
    section = (REPOSITORY / "docs/studies.md").read_text().partition("## How a command ends")[2].partition("\n## ")[0]
    return frozenset(int(number) for number in re.findall(r"^\| (\d+) \|", section, re.MULTILINE))


@dataclass(frozen=True)
class Ended:
    """A command that has ended: its words, its status, its output, and the statuses that it was allowed to end with."""

    words: tuple[str, ...]
    status: int
    output: str
    allowed: frozenset[int]

    def faults(self) -> list[str]:
        """Return the problems of its end."""
        command, last = " ".join(self.words), self.output.strip()[-400:]
        # Without a line of ours Python itself was interrupted, before it came to the program
        if "Traceback (most recent call last)" in self.output and (OURS.search(self.output) or self.status >= 0):
            return [f"traceback of `{command}`: {self.output[-1500:]}"]
        if self.status not in self.allowed:
            return [f"`{command}` ended with {self.status}, not {sorted(self.allowed)}: {last}"]
        if self.status > 0 and not last:
            return [f"`{command}` ended with {self.status} without a word"]
        return []


@dataclass
class Begun:
    """A running command. Its output goes to a file."""

    words: tuple[str, ...]
    process: subprocess.Popen[bytes]
    log: Path
    at: float = field(default_factory=time.monotonic)

    @property
    def is_over(self) -> bool:
        return self.process.poll() is not None

    def output(self) -> str:
        return self.log.read_text(errors="replace")

    def wait(self, seconds: float) -> None:
        """Wait until so many seconds after its start, or until it ends."""
        while not self.is_over and time.monotonic() - self.at < seconds:
            time.sleep(0.005)

    def end(self, allowed: Sequence[int], limit_s: float = HUNG_S) -> Ended:
        """Wait for its end. Raises Hung."""
        try:
            status = self.process.wait(limit_s)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            raise Hung(f"`{' '.join(self.words)}` did not end in {limit_s:.0f} s: {self.output()[-800:]}") from None
        return Ended(self.words, status, self.output(), frozenset(allowed))


def begin(cache: Path, folder: Path, log: Path, *words: str | Path, before: Sequence[str] = ()) -> Begun:
    """Start `flashbed WORDS` in `folder`, with its output in `log`. `before` precedes it, such as prlimit with
    arguments.
    """
    text = tuple(map(str, words))
    environment = {**os.environ, "FLASHBED_CACHE": str(cache), "FLASHBED_MEMORY": ""}  # faults concern the disk
    with log.open("wb") as out:
        process = subprocess.Popen(
            [*before, str(FLASHBED), *text],
            cwd=folder,
            env=environment,
            stdout=out,
            stderr=subprocess.STDOUT,
            process_group=0,  # as a shell does: Ctrl-C also reaches children without a group of their own
        )
    return Begun(text, process, log)
