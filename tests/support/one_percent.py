# SPDX-License-Identifier: Apache-2.0
"""A line that adds 1 % to the CPU time of a write, and code that changes nothing: what the tests of both share, for a
kernel's tree and for a module.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from tests.support.edits import replace_once

STUDY = """
    [axes]
    pattern = ["write", "randwrite"]
    [workload]
    tool = "fio"
    request = "4k"
    file = "10M"
    flush = "fsync"
"""

WORSE = 5
"""How compare ends where something is worse."""


class Change(NamedTuple):
    """One line more in the path of a write: in front of the line `before`, where that is once in the file."""

    file: str
    before: str
    line: str

    def make(self, tree: Path) -> None:
        """In a folder of sources."""
        replace_once(tree / self.file, self.before, f"\t{self.line}\n{self.before}")


UNUSED = {
    "function": """\
__used static noinline int never_called(int a, int b)
{
\tfor (; a < b; a += 3)
\t\tpr_info("%d\\n", a * b);
\treturn a;
}
""",
    "data": "__used static char never_read[73728] = { 1 };\n",
    "zeros": "__used static char never_read[69632];\n",
}


def unused(text: str, before: str, what: str) -> str:
    """The text of a source with what nobody calls or reads, one of UNUSED, in front of `before`."""
    assert text.count(before) == 1, before
    return text.replace(before, f"{UNUSED[what]}\n{before}")


@contextmanager
def busy_host() -> Iterator[None]:
    """Every CPU has a program that never waits."""
    burners = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(os.cpu_count() or 1)]
    try:
        yield
    finally:
        for one in burners:
            one.kill()
            one.wait()


def check_found(done: subprocess.CompletedProcess[str], name: str, patterns: tuple[str, ...] = ("write",)) -> None:
    """Compare has flagged writing by these patterns, each by about 1 % of CPU time, and says that it begins with the
    code.
    """
    assert done.returncode == WORSE, f"{name}: {done.stdout}"
    for pattern in patterns:
        beginning = f"WORSE: {pattern}: CPU time is worse by "
        [line] = [line for line in done.stdout.splitlines() if line.startswith(beginning)]
        assert line.endswith("; begins with code")
        assert 0.85 < float(line.split()[7]) < 1.35, f"{name}: {line}"
