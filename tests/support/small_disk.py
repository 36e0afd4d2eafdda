# SPDX-License-Identifier: Apache-2.0
"""A disk that fills up soon, for tests of a full disk."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest


@contextmanager
def small_disk(folder: Path, size: str) -> Iterator[None]:
    """Mount a disk of its own at a directory."""
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(folder)]
    if subprocess.run(mount, capture_output=True).returncode:
        pytest.skip("needs to mount a small file system, as root may outside of a container")
    try:
        yield
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)
