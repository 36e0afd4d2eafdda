# SPDX-License-Identifier: Apache-2.0
"""Read files that a user or a stranger named, whatever their names are like and whatever lies there.

A name may be too long for any disk, or have a NUL in it. Under it there may be a pipe that nobody writes to, a device
that never ends, or a link to a file of the user's that is not meant. Must not know what the files are for.
"""

import errno
import os
import stat
from pathlib import Path
from typing import BinaryIO

from flashbed.common.units import rough_size

MOST_BYTES = 256 << 20
"""Of a file that is read whole: far more than any of these is. One with holes may claim terabytes."""


def is_there(path: Path) -> bool:
    """Whether there is anything under that name, be it a link to nowhere; False for what no disk can have."""
    return os.path.lexists(path)


def is_file(path: Path) -> bool:
    """Whether it is a file, or a link to one; False also for what cannot be looked at."""
    return os.path.isfile(path)  # noqa: PTH113 (Path.is_file() raises for names that are too long)


def opened(path: Path, *, own: bool = False) -> BinaryIO:
    """Open a regular file for reading, without waiting for a pipe. If `own`, the file must be its folder's own: not a
    link, and of the same user as the folder.

    Raises OSError, with its `strerror`, also for what is no file and for what no disk can have.
    """
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | (os.O_NOFOLLOW if own else 0))
    except ValueError:
        raise OSError(errno.EINVAL, "no file can have this name", str(path)) from None
    except OSError as error:
        if own and error.errno == errno.ELOOP:
            raise OSError(errno.ELOOP, "is a link, and not the file itself", str(path)) from None
        if error.errno == errno.ENXIO:  # a socket
            raise OSError(errno.EINVAL, "not a file", str(path)) from None
        raise
    try:
        found = os.fstat(descriptor)
        if stat.S_ISDIR(found.st_mode):
            raise OSError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
        if not stat.S_ISREG(found.st_mode):
            raise OSError(errno.EINVAL, "not a file", str(path))
        if own and found.st_uid != path.parent.stat().st_uid:
            raise OSError(errno.EPERM, "belongs to another user than its folder", str(path))
        return os.fdopen(descriptor, "rb")
    except BaseException:
        os.close(descriptor)
        raise


def read(path: Path, most: int = MOST_BYTES) -> bytes:
    """All of a file of at most `most` bytes. Raises OSError as `opened` does."""
    with opened(path) as file:
        if (size := os.fstat(file.fileno()).st_size) > most:
            why = f"has {rough_size(size)}, and none of its kind has more than {rough_size(most)}"
            raise OSError(errno.EFBIG, why, str(path))
        return file.read(most)
