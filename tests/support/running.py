# SPDX-License-Identifier: Apache-2.0
"""Processes of this host by their command lines, for tests of what a command leaves behind."""

from __future__ import annotations

import contextlib
from pathlib import Path


def command_lines(*words: str | Path) -> list[str]:
    """Return the command lines that contain each of these words, such as a program's name or a path below which it
    works.
    """
    lines = []
    for process in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            lines.append(process.read_bytes().replace(b"\0", b" ").decode(errors="replace"))
    return [line for line in lines if all(str(word) in line for word in words)]
