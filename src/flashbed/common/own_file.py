# SPDX-License-Identifier: Apache-2.0
"""Files that a user names: whether they are there, and what is in them, whatever their names are like.

A name from a study may be too long for any disk, may have a NUL in it, or may be of a pipe that nobody writes to. Must
not know what the files are for.
"""

import errno
import os
import stat
from pathlib import Path

from flashbed.common.units import rough_size


def is_there(path: Path) -> bool:
    """Whether there is anything under that name, be it a link to nowhere; False for what no disk can have."""
    return os.path.lexists(path)


def is_file(path: Path) -> bool:
    """Whether it is a file, or a link to one; False also for what cannot be looked at."""
    return os.path.isfile(path)  # noqa: PTH113 (Path.is_file() raises for names that are too long)


MOST_BYTES = 1 << 28
"""Of a file that is read whole: far more than any of these is. One with holes may claim terabytes."""


def read(path: Path) -> bytes:
    """Return all of a file. Raises OSError, with its `strerror`, also for what is no file, for what is larger than
    MOST_BYTES, and for what no disk can have.
    """
    try:
        found = path.stat()
        if not stat.S_ISREG(found.st_mode) and not path.is_dir():
            raise OSError(errno.EINVAL, "not a file", str(path))
        if found.st_size > MOST_BYTES:
            why = f"has {rough_size(found.st_size)}, and none of its kind has more than {rough_size(MOST_BYTES)}"
            raise OSError(errno.EFBIG, why, str(path))
        return path.read_bytes()
    except ValueError:
        raise OSError(errno.EINVAL, "no file can have this name", str(path)) from None
