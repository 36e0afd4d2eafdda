# SPDX-License-Identifier: Apache-2.0
"""Write a file so that a reader sees the old one or the new one, never a part. Must not know what is in it."""

import os
import tempfile
from pathlib import Path


def write(path: Path, content: bytes, mode: int = 0o644) -> None:
    """Its folder is there. What was begun is removed if that fails. Raises OSError."""
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    begun = Path(name)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        begun.chmod(mode)
        begun.replace(path)
    except BaseException:
        begun.unlink(missing_ok=True)
        raise
