# SPDX-License-Identifier: Apache-2.0
"""The errors that flashbed reports to its user, and the exit code of each.

A message is complete: it names the file, line and key, or the path, and says what to do. A single sentence has no full
stop; several sentences have one each. The command line prints the message and exits with `exit_code`. This room must
not know who prints it, nor how.
"""

import errno
import os
import re
import resource
from collections.abc import Iterable
from pathlib import Path

from flashbed.common.units import rough_size

MOST_MESSAGE_LINES = 20
"""The most lines of one message. A mistake that repeats a thousand times has one cause."""

_KEPT = "what was finished is kept: make room and run again"
_NUMBER = re.compile(r"\[Errno (\d+)\]")
_FEW_FILES, _FEW_BYTES = 100, 1 << 20
"""If fewer files and more bytes than these are free, a disk refuses a file for want of inodes. The file that failed may
be removed by now.
"""


class FlashbedError(Exception):
    """An error with a message for the user. The exit code of a subclass says who can mend it."""

    exit_code = 1

    def __init__(self, problem: str, exit_code: int | None = None, *, remedy: str = "") -> None:
        """Make the message of the problem and, after it, the remedy, if there is one."""
        self.problem, self.remedy = problem, remedy
        self.message = f"{problem}; {remedy}" if remedy else problem
        super().__init__(self.message)
        if exit_code is not None:
            self.exit_code = exit_code


class CellsFailedError(FlashbedError):
    """The study ran to its end, but some cells have no measurement."""

    exit_code = 1


class InputError(FlashbedError):
    """A study, a profile or an argument is wrong: the user mends it."""

    exit_code = 2


class SetupError(FlashbedError):
    """A tool is missing, or the environment does not fit: the user installs or chooses something."""

    exit_code = 3


class HostResourceError(FlashbedError):
    """The host ran out of something (disk, memory, permission): the user frees some and runs again."""

    exit_code = 4


class DifferentResultsError(FlashbedError):
    """One repetition gave two different results, which must never happen. The store keeps both for the user to
    look at.
    """

    exit_code = 5


class InterruptedByUser(FlashbedError):
    """A signal stopped the run. The store keeps every finished result."""

    exit_code = 130


def host_refusal(path: Path, error: OSError) -> HostResourceError:
    """Return the error to raise when the host refuses to write under `path`: disk full, no permission, a
    broken disk.
    """
    if error.errno is None and (number := _NUMBER.search(str(error))):  # shutil.Error lists many files and has no errno
        error = OSError(int(number[1]), os.strerror(int(number[1])))
    if error.errno == errno.ENOMEM:
        return HostResourceError(NO_MEMORY)
    if error.errno == errno.EFBIG:
        return no_room(path, too_large=True)
    if error.errno == errno.EDQUOT:
        return HostResourceError(f"{path}: this user's quota on this disk is used up; {_KEPT}")
    if error.errno == errno.ENOSPC:
        return no_room(path)
    where = error.filename if isinstance(error.filename, str) else path
    return HostResourceError(f"{where}: {error.strerror or error}; mend that, or use another folder")


def no_room(path: Path, *, too_large: bool = False) -> HostResourceError:
    """Return the error to raise when the disk of `path` is full, or when a file is `too_large` for it."""
    if too_large:
        limit = resource.getrlimit(resource.RLIMIT_FSIZE)[0]
        if limit == resource.RLIM_INFINITY:
            return HostResourceError(f"{path}: a file is larger than this file system can have; use another folder")
        excess = f"a file is larger than this process may write ({rough_size(limit)}, by `ulimit -f`)"
        return HostResourceError(f"{path}: {excess}; what was finished is kept: raise that limit and run again")
    existing = next(folder for folder in (path, *path.parents) if os.access(folder, os.F_OK))
    disk = os.statvfs(existing)
    free = disk.f_bavail * disk.f_frsize
    if disk.f_files and disk.f_favail < _FEW_FILES and free > _FEW_BYTES:
        return HostResourceError(f"{path}: no room for more files on this disk (`df -i` shows its inodes); {_KEPT}")
    return HostResourceError(f"{path}: no room left on this disk ({rough_size(free)} free now); {_KEPT}")


def several(lines: Iterable[str]) -> str:
    """Return one message of `lines` without duplicates. If there are too many, keep the first and count the rest."""
    unique = list(dict.fromkeys(lines))
    more = [f"... and {len(unique) - MOST_MESSAGE_LINES:,} more like these"] if len(unique) > MOST_MESSAGE_LINES else []
    return "\n".join([*unique[:MOST_MESSAGE_LINES], *more])


NO_MEMORY = "this host gives flashbed too little memory; free some, or raise the limit (`ulimit -v`), and run again"

_NO_MEMORY = re.compile("failed to map segment|[Cc]annot allocate memory|can't start new thread")
"""Messages of the dynamic loader, the C library and Python's threads."""


def lacks_memory(error: BaseException | None) -> bool:
    """Return True if `error`, or an error that caused it, is a lack of memory."""
    while error is not None:
        if isinstance(error, MemoryError) or _NO_MEMORY.search(str(error)):
            return True
        error = error.__cause__ or error.__context__
    return False
