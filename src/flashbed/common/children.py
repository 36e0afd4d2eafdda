# SPDX-License-Identifier: Apache-2.0
"""Programs that the lab starts: each dies with the lab, and takes along what it started itself.

Must not know what they do.
"""

from __future__ import annotations

import os
import resource
import selectors
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from flashbed.common import programs

KILL_AFTER_S = 1
"""Between asking a program to end and killing it."""

LATE = 124
"""How a guarded command ends if its time was up and it did as it was asked."""


def guarded(command: Sequence[str | Path], limit_s: float = 0, kill_after_s: float = KILL_AFTER_S) -> list[str]:
    """A command that ends after `limit_s` seconds (0: when it likes), and when this process does, even if that is
    killed.

    `timeout` has a process group of its own, and hands SIGTERM to all that is in it: compilers below a `make`, too. It
    ends as the command did (its status, its signal), with 124 or 137 if the time was up, with 127 if there is no such
    program. If `timeout` itself is killed, the command goes with it.
    """
    asked = (os.getpid(), kill_after_s, limit_s, *command)
    return ["setpriv", "--pdeathsig", "TERM", *_HEED_SIGTERM, "sh", "-c", _OUTER, "sh", *map(str, asked)]


# A child of a process that ignores SIGTERM ignores it too, and would lose one that comes before `timeout` handles it.
_HEED_SIGTERM = ("env", "--default-signal=TERM")

# A parent that ended before its death was asked to be told, or before SIGTERM was heeded, is not the parent any more.
_INNER = """[ "$PPID" = "$0" ] || exit 143; exec "$@" """
_OUTER = f"""
[ "$PPID" = "$1" ] || exit 143
after=$2 limit=$3
shift 3
exec timeout -k "$after" "$limit" setpriv --pdeathsig KILL sh -c '{_INNER}' "$$" "$@"
"""


def cpu_s() -> float:
    """Seconds of CPU of all programs that this process started, and that ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def cores() -> int:
    """The processor cores that this process and its programs may use."""
    return len(os.sched_getaffinity(0))


@contextmanager
def started(command: Sequence[str | Path], **how: Any) -> Iterator[subprocess.Popen[Any]]:
    """A guarded command, as Popen starts it; it is ended if the block is left by an exception. Raises SetupError
    if a program of the guard is missing.
    """
    try:
        begun = subprocess.Popen(command, **how)
    except FileNotFoundError:
        raise programs.missing(command[0]) from None
    with begun as process:
        try:
            yield process
        except BaseException:
            process.terminate()
            raise


class SaidTooMuch(Exception):
    """A program that was ended for its output."""


def run_briefly(
    command: Sequence[str | Path], limit_s: float, most_bytes: int, **how: Any
) -> subprocess.CompletedProcess[bytes]:
    """A guarded command that reads what is not trusted: it gets `limit_s` seconds (then it ends with LATE, or 137), and
    may say `most_bytes` bytes. Raises SaidTooMuch.
    """
    said: dict[int, bytearray] = {}
    with (
        started(guarded(command, limit_s), stdout=subprocess.PIPE, stderr=subprocess.PIPE, **how) as process,
        selectors.DefaultSelector() as ready,
    ):
        for stream in (process.stdout, process.stderr):
            assert stream is not None
            ready.register(stream, selectors.EVENT_READ)
            said[stream.fileno()] = bytearray()
        while ready.get_map():
            for key, _ in ready.select():
                piece = os.read(key.fd, 1 << 16)
                said[key.fd] += piece
                if not piece:
                    ready.unregister(key.fileobj)
                if sum(map(len, said.values())) > most_bytes:
                    raise SaidTooMuch(f"said more than {most_bytes} bytes")
    out, err = map(bytes, said.values())
    return subprocess.CompletedProcess(command, process.returncode, out, err)


def run(command: Sequence[str | Path], *, limit_s: float = 0, **how: Any) -> subprocess.CompletedProcess[str]:
    """A guarded command to its end, its output as text."""
    with started(
        guarded(command, limit_s), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **how
    ) as process:
        out, err = process.communicate()
    return subprocess.CompletedProcess(command, process.returncode, out, err)
