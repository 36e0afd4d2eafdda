# SPDX-License-Identifier: Apache-2.0
"""The errors that flashbed tells its user, and the exit code of each.

A message is whole: it names the file, line and key or the path at fault, and says what to do. One sentence has no full
stop; where several follow one another each has. The command line prints it and leaves with `exit_code`; this room must
not know who prints it, nor how.
"""

import errno
import os
import re
import resource
from collections.abc import Iterable
from pathlib import Path

from flashbed.common.units import rough_size

MOST_LINES = 20
"""Of a message. Who has made a mistake a thousand times mends it everywhere."""

_KEPT = "what was finished is kept: make room and run again"
_NUMBER = re.compile(r"\[Errno (\d+)\]")
_FEW_FILES, _FEW_BYTES = 100, 1 << 20
"""A disk that refuses a file with so little left of one and more of the other. What failed may be removed by now."""


class FlashbedError(Exception):
    """An error with a message for the user. Subclasses say whose fault it is, by their exit code."""

    exit_code = 1

    def __init__(self, message: str, exit_code: int | None = None) -> None:
        super().__init__(message)
        self.message = message
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
    """The host ran out of something (disk, memory, permission): the user makes room and runs again."""

    exit_code = 4


class DifferentResultsError(FlashbedError):
    """The same repetition gave two results: what must never happen. Both are kept, and the user looks at them."""

    exit_code = 5


class InterruptedByUser(FlashbedError):
    """Stopped by a signal; what was finished is kept."""

    exit_code = 130


def host_refusal(path: Path, error: OSError) -> HostResourceError:
    """Return what to tell when the host refuses to write under `path`: no room, no permission, a broken disk."""
    if error.errno is None and (number := _NUMBER.search(str(error))):  # shutil.Error, of many files
        error = OSError(int(number[1]), os.strerror(int(number[1])))
    if error.errno == errno.ENOMEM:
        return HostResourceError(NO_MEMORY)
    if error.errno == errno.EFBIG:
        return no_room(path, too_large=True)
    if error.errno == errno.EDQUOT:
        return HostResourceError(f"{path}: this user's quota on this disk is used up; {_KEPT}")
    if error.errno == errno.ENOSPC:
        return no_room(path)
    what = error.filename if isinstance(error.filename, str) else path
    return HostResourceError(f"{what}: {error.strerror or error}; mend that, or use another folder")


def no_room(path: Path, *, too_large: bool = False) -> HostResourceError:
    """Return what to tell when the disk of `path` is full, or when a file would be `too_large`."""
    if too_large:
        limit = resource.getrlimit(resource.RLIMIT_FSIZE)[0]
        if limit == resource.RLIM_INFINITY:
            return HostResourceError(f"{path}: a file is larger than this file system can have; use another folder")
        most = f"a file is larger than this process may write ({rough_size(limit)}, by `ulimit -f`)"
        return HostResourceError(f"{path}: {most}; what was finished is kept: raise that limit and run again")
    there = next(folder for folder in (path, *path.parents) if os.access(folder, os.F_OK))
    disk = os.statvfs(there)
    free = disk.f_bavail * disk.f_frsize
    if disk.f_files and disk.f_favail < _FEW_FILES and free > _FEW_BYTES:
        return HostResourceError(f"{path}: no room for more files on this disk (`df -i` shows its inodes); {_KEPT}")
    return HostResourceError(f"{path}: no room left on this disk ({rough_size(free)} free now); {_KEPT}")


def several(lines: Iterable[str]) -> str:
    """Return one message of several lines, each said once; of many the first, and how many more there are."""
    told = list(dict.fromkeys(lines))
    more = [f"... and {len(told) - MOST_LINES:,} more like these"] if len(told) > MOST_LINES else []
    return "\n".join([*told[:MOST_LINES], *more])


NO_MEMORY = "this host gives flashbed too little memory; free some, or raise the limit (`ulimit -v`), and run again"

_NO_MEMORY = re.compile("failed to map segment|[Cc]annot allocate memory|can't start new thread")
"""What the loader of libraries, the C library and Python's threads say."""


def lacks_memory(error: BaseException | None) -> bool:
    """Whether an error, or one that it comes of, is a lack of memory."""
    while error is not None:
        if isinstance(error, MemoryError) or _NO_MEMORY.search(str(error)):
            return True
        error = error.__cause__ or error.__context__
    return False
