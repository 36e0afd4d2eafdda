# SPDX-License-Identifier: Apache-2.0
"""Replace a file atomically: a reader sees the old content or the new, never a part. Must not know the content."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def replacing(path: Path, mode: int = 0o644) -> Iterator[Path]:
    """Yield an empty temporary file beside `path`, for the block to write; at the end of the block, rename it.
    The directory must exist. If a step fails, remove the temporary file. Raises OSError.
    """
    handle, temporary_name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    os.close(handle)
    temporary = Path(temporary_name)
    try:
        yield temporary
        temporary.chmod(mode)
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def write(path: Path, content: bytes, mode: int = 0o644) -> None:
    """Replace the file by `content`. The directory must exist. Raises OSError."""
    with replacing(path, mode) as temporary:
        temporary.write_bytes(content)


def write_named(path: Path, content: bytes) -> None:
    """Write to a place that a user named: a link stays a link, and a pipe or a device is written in place. Raises
    OSError.
    """
    target = Path(os.path.realpath(path))
    if target.exists() and not target.is_file():
        target.write_bytes(content)
    else:
        write(target, content)
