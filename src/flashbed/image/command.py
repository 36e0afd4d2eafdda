# SPDX-License-Identifier: Apache-2.0
"""Run a build command. If it fails, report the command, its exit status and its last lines.

Machines that run cells are started elsewhere (machine/process.py).
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from flashbed.common import paths, programs
from flashbed.common.errors import SetupError, no_room

LAST_LINES = 15
DISK_FULL = re.compile(r"No space left on device|Wrote only \d+ of \d+ bytes")
"""Messages of programs about a full disk. tar reports a partly written file in its own way."""

TOO_LARGE = "File size limit exceeded"
"""A shell's message about a program that the host ended because a file exceeded the user's limit."""


GZIP = ("gzip", "-9", "-n", "-c")
"""The command by which Linux's own build packs a kernel, for packed_bytes()."""


def of_host() -> dict[str, str]:
    """Return the part of a host program's recipe that depends on this host."""
    return {"compiler": host_compiler()}


def host_compiler() -> str:
    """Return the name and version of the compiler of this host's programs."""
    return run(["cc", "--version"]).splitlines()[0]


def run(
    command: Sequence[str | Path],
    *,
    cwd: Path | None = None,
    env: Mapping[str, str] | None = None,
    stdin: str | None = None,
    on_line: Callable[[str], None] | None = None,
) -> str:
    """Run `command`, and return its standard output and error together. Call `on_line` with each line as it comes.

    The locale is C, so output can be parsed. The command ends with this process, as do all programs that it started.
    Raises SetupError with the last lines if the command is missing or fails, HostResourceError if the disk is full.
    """
    arguments = [str(part) for part in command]
    # A name with a slash is found from the folder that the command runs in, any other on the path
    name = str((cwd or Path()) / arguments[0]) if "/" in arguments[0] else arguments[0]
    if shutil.which(name, path=(env or {}).get("PATH")) is None:
        raise programs.missing(arguments[0])
    with programs.started(
        programs.guarded(arguments),
        cwd=cwd,
        env={**os.environ, "LC_ALL": "C", **(env or {})},
        stdin=subprocess.PIPE if stdin is not None else subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
    ) as process:
        assert process.stdout is not None
        if stdin is not None and process.stdin is not None:
            process.stdin.write(stdin)
            process.stdin.close()
        lines = []
        for line in process.stdout:
            lines.append(line)
            if on_line is not None:
                on_line(line)
    if process.returncode:
        tail = "".join(lines[-LAST_LINES:])
        # The guard ends with 128 and the signal's number, a shell below it, too
        too_large = TOO_LARGE in tail or process.returncode in (-signal.SIGXFSZ, 128 + signal.SIGXFSZ)
        if DISK_FULL.search(tail) or too_large:
            raise no_room(Path(cwd or paths.cache_root()), too_large=too_large)
        raise SetupError(f"`{' '.join(arguments)}` failed with exit status {process.returncode}:\n{tail}")
    return "".join(lines)


def packed_bytes(file: Path, command: Sequence[str]) -> int:
    """Return how many bytes `command` makes of a file on its standard input. Raises SetupError if it fails or is
    missing.
    """
    with tempfile.TemporaryDirectory() as folder:
        made = Path(folder) / "packed"
        # A shell's redirections: the programs read a file by name only if its ending suits them
        run(["sh", "-c", f'exec {" ".join(command)} < "$1" > "$2"', "sh", file, made])
        return made.stat().st_size
