# SPDX-License-Identifier: Apache-2.0
"""The errors that flashbed tells its user, and the exit code of each.

A message is whole: it names the file, line and key or the path at fault, and says what to do. One sentence has no full
stop; where several follow one another each has. The command line prints it and leaves with `exit_code`; this room must
not know who prints it, nor how.
"""

import errno
import os
import shutil
from pathlib import Path

_OUT_OF_ROOM = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}


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
    """What to tell when the host refuses to write under `path`: no room, no permission, a broken disk."""
    if error.errno in _OUT_OF_ROOM:
        return no_room(path)
    what = error.filename if isinstance(error.filename, str) else path
    return HostResourceError(f"{what}: {error.strerror or error}; mend that, or use another folder")


def no_room(path: Path) -> HostResourceError:
    """What to tell when the disk of `path` is full."""
    there = next(folder for folder in (path, *path.parents) if os.access(folder, os.F_OK))
    free = shutil.disk_usage(there).free
    return HostResourceError(
        f"{path}: no room left on this disk ({free} bytes free); what was finished is kept: make room and run again"
    )
