# SPDX-License-Identifier: Apache-2.0
"""Processes that run on this host, by their command lines. For tests of what a command leaves behind."""

from __future__ import annotations

import contextlib
from pathlib import Path


def command_lines(*words: str | Path) -> list[str]:
    """Of all processes whose command line has each of these words: a program's name, a path that it works below."""
    found = []
    for process in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            found.append(process.read_bytes().replace(b"\0", b" ").decode(errors="replace"))
    return [line for line in found if all(str(word) in line for word in words)]
