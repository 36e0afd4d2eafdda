# SPDX-License-Identifier: Apache-2.0
"""A line that adds 1 % to the CPU time of a write, and code that changes nothing, for the tests with a kernel's tree
and with a module.
"""

from __future__ import annotations

import subprocess
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
"""The exit status of `compare` if something is worse."""


class Change(NamedTuple):
    """A further line in the path of a write, before the line `before`, which the file has once."""

    file: str
    before: str
    line: str

    def make(self, tree: Path) -> None:
        """Make the change in a directory of sources."""
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


def unused(text: str, before: str, kind: str) -> str:
    """Return the source with code or data that nobody uses, one of UNUSED, before the line `before`."""
    assert text.count(before) == 1, before
    return text.replace(before, f"{UNUSED[kind]}\n{before}")


def check_found(done: subprocess.CompletedProcess[str], name: str, patterns: tuple[str, ...] = ("write",)) -> None:
    """Check that `compare` flagged writing by these patterns, each by about 1 % of CPU time, and says that the code
    caused it.
    """
    assert done.returncode == WORSE, f"{name}: {done.stdout}"
    for pattern in patterns:
        beginning = f"WORSE: {pattern}: CPU time is worse by "
        [line] = [line for line in done.stdout.splitlines() if line.startswith(beginning)]
        assert line.endswith("; begins with code")
        assert 0.85 < float(line.split()[7]) < 1.35, f"{name}: {line}"
