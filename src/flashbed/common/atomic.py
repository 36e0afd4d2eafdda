# SPDX-License-Identifier: Apache-2.0
"""Replace a file atomically: a reader sees the old content or the new, never a part. Must not know the content."""

import os
import tempfile
from pathlib import Path


def write(path: Path, content: bytes, mode: int = 0o644) -> None:
    """Write `content` to a temporary file beside `path`, then rename it.
    The directory must exist. If a step fails, remove the temporary file. Raises OSError.
    """
    handle, temporary_name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    temporary = Path(temporary_name)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        temporary.chmod(mode)
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def write_named(path: Path, content: bytes) -> None:
    """Write to a place that a user named: a link stays a link, and a pipe or a device is written in place. Raises
    OSError.
    """
    target = Path(os.path.realpath(path))
    if target.exists() and not target.is_file():
        target.write_bytes(content)
    else:
        write(target, content)
