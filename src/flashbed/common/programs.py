# SPDX-License-Identifier: Apache-2.0
"""Find programs of this host, and start them so that they end with the lab, as do all programs that they start.

Must not know what the programs are for.
"""

from __future__ import annotations

import os
import resource
import selectors
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from flashbed.common.errors import SetupError

SYSTEM_PATH = "/usr/sbin:/sbin"
"""Debian's directories for mkfs and fsck, which are not on the PATH of an ordinary user."""


def search_path(first: Path | None = None) -> str:
    """Return a PATH of the directory `first`, the user's PATH and the system's directories."""
    return ":".join([*([str(first)] if first else []), os.environ.get("PATH", ""), SYSTEM_PATH])


def find(program: str, first: Path | None = None) -> Path | None:
    """Return the path of a program, from the directory `first` or from this host; None if it is missing."""
    place = shutil.which(program, path=search_path(first))
    return Path(place) if place else None


def missing(program: str | Path) -> SetupError:
    """Return the error to raise for a missing program."""
    return SetupError(f"{program} is not installed. `flashbed doctor` says how to get it.")


KILL_AFTER_S = 1
"""Seconds between SIGTERM and SIGKILL."""

LATE = 124
"""Exit status of a guarded command that exceeded its limit and obeyed SIGTERM."""


def guarded(command: Sequence[str | Path], limit_s: float = 0, kill_after_s: float = KILL_AFTER_S) -> list[str]:
    """Return `command` wrapped so that it ends after `limit_s` seconds (0: no limit) and when this process ends, even
    by SIGKILL.

    `timeout` has a process group of its own and sends SIGTERM to the whole group, for example to the compilers that a
    `make` started. The wrapper ends with the command's own status or signal; with 124 or 137 if the limit was exceeded;
    with 127 if the program does not exist. If `timeout` itself is killed, the command is killed too.
    """
    arguments = (os.getpid(), kill_after_s, limit_s, *command)
    return ["setpriv", "--pdeathsig", "TERM", *_HEED_SIGTERM, "sh", "-c", _OUTER, "sh", *map(str, arguments)]


# A child inherits an ignored SIGTERM, and would lose a SIGTERM that arrives before `timeout` installs its handler.
_HEED_SIGTERM = ("env", "--default-signal=TERM")

# The parent may have ended before --pdeathsig was set or SIGTERM was heeded. Then $PPID is another process.
_INNER = """[ "$PPID" = "$0" ] || exit 143; exec "$@" """
_OUTER = f"""
[ "$PPID" = "$1" ] || exit 143
after=$2 limit=$3
shift 3
exec timeout -k "$after" "$limit" setpriv --pdeathsig KILL sh -c '{_INNER}' "$$" "$@"
"""


def cpu_s() -> float:
    """Return the CPU seconds of all programs that this process started and that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def cores() -> int:
    """Return how many processor cores this process and its programs may use."""
    return len(os.sched_getaffinity(0))


@contextmanager
def started(command: Sequence[str | Path], **how: Any) -> Iterator[subprocess.Popen[Any]]:
    """Start a guarded command by Popen. If an exception leaves the block, terminate the command.
    Raises SetupError if a program of the guard is missing.
    """
    try:
        popen = subprocess.Popen(command, **how)
    except FileNotFoundError:
        raise missing(command[0]) from None
    with popen as process:
        try:
            yield process
        except BaseException:
            process.terminate()
            raise


class TooMuchOutput(Exception):
    """A program was ended because it printed too much."""


def run_briefly(
    command: Sequence[str | Path], limit_s: float, most_bytes: int, **how: Any
) -> subprocess.CompletedProcess[bytes]:
    """Run a guarded command that reads untrusted data: at most `limit_s` seconds (then its status is LATE or 137), and
    at most `most_bytes` bytes of output. Raises TooMuchOutput.
    """
    output: dict[int, bytearray] = {}
    with (
        started(guarded(command, limit_s), stdout=subprocess.PIPE, stderr=subprocess.PIPE, **how) as process,
        selectors.DefaultSelector() as ready,
    ):
        for stream in (process.stdout, process.stderr):
            assert stream is not None
            ready.register(stream, selectors.EVENT_READ)
            output[stream.fileno()] = bytearray()
        while ready.get_map():
            for key, _ in ready.select():
                piece = os.read(key.fd, 1 << 16)
                output[key.fd] += piece
                if not piece:
                    ready.unregister(key.fileobj)
                if sum(map(len, output.values())) > most_bytes:
                    raise TooMuchOutput(f"printed more than {most_bytes} bytes")
    out, err = map(bytes, output.values())
    return subprocess.CompletedProcess(command, process.returncode, out, err)


def run(command: Sequence[str | Path], *, limit_s: float = 0, **how: Any) -> subprocess.CompletedProcess[str]:
    """Run a guarded command to its end and return its output as text."""
    with started(
        guarded(command, limit_s), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **how
    ) as process:
        out, err = process.communicate()
    return subprocess.CompletedProcess(command, process.returncode, out, err)
