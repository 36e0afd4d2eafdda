# SPDX-License-Identifier: Apache-2.0
"""Read files that a user or a stranger named, whatever the name and whatever the file is.

A name may be too long for any disk, or contain NUL. It may name a pipe without a writer, an endless device, or a link
to another file of the user's. Must not know what the files are for.
"""

import errno
import os
import stat
from pathlib import Path
from typing import BinaryIO

from flashbed.common.units import rough_size

MOST_FILE_BYTES = 256 << 20
"""The most bytes of a file that is read whole, far more than any of these files has. A sparse file may
claim terabytes.
"""


def is_there(path: Path) -> bool:
    """Return True if `path` exists, also as a dangling link. Return False for a name that no disk can have."""
    return os.path.lexists(path)


def is_file(path: Path) -> bool:
    """Return True if `path` is a file or a link to one. Return False if it cannot be examined."""
    return os.path.isfile(path)  # noqa: PTH113 (Path.is_file() raises for names that are too long)


def opened(path: Path, *, own: bool = False) -> BinaryIO:
    """Open a regular file for reading, without waiting for a pipe. If `own`, refuse a link, and a file whose owner is
    not the owner of its directory.

    Raises OSError with its `strerror`, also if `path` is no regular file or is a name that no disk can have.
    """
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | (os.O_NOFOLLOW if own else 0))
    except ValueError:
        raise OSError(errno.EINVAL, "no file can have this name", str(path)) from None
    except OSError as error:
        if own and error.errno == errno.ELOOP:
            raise OSError(errno.ELOOP, "is a link, not the file itself", str(path)) from None
        if error.errno == errno.ENXIO:  # a socket
            raise OSError(errno.EINVAL, "not a file", str(path)) from None
        raise
    try:
        status = os.fstat(descriptor)
        if stat.S_ISDIR(status.st_mode):
            raise OSError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
        if not stat.S_ISREG(status.st_mode):
            raise OSError(errno.EINVAL, "not a file", str(path))
        if own and status.st_uid != path.parent.stat().st_uid:
            raise OSError(errno.EPERM, "belongs to another user than its folder", str(path))
        return os.fdopen(descriptor, "rb")
    except BaseException:
        os.close(descriptor)
        raise


def read(path: Path, most: int = MOST_FILE_BYTES) -> bytes:
    """Return the content of a file of at most `most` bytes. Raises OSError."""
    with opened(path) as file:
        if (size := os.fstat(file.fileno()).st_size) > most:
            why = f"has {rough_size(size)}, and none of its kind has more than {rough_size(most)}"
            raise OSError(errno.EFBIG, why, str(path))
        return file.read(most)
