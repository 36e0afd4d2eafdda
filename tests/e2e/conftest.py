# SPDX-License-Identifier: Apache-2.0
"""Runs the command as a user would: its own process, its exit status, what it prints."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from tests.support.fixture_types import FLASHBED, Flashbed, Start


@pytest.fixture
def flashbed(fresh_cache: Path, tmp_path: Path) -> Flashbed:
    """Return a function that runs flashbed: `flashbed("run", study)` returns the finished process. It runs in the
    test's folder, with a cache without results. By default, guests leave no trace in the host's memory.
    """

    def call(*arguments: str | Path, **environment: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [FLASHBED, *map(str, arguments)],
            capture_output=True,
            text=True,
            cwd=tmp_path,
            env={**os.environ, "FLASHBED_CACHE": str(fresh_cache), "FLASHBED_MEMORY": "", **environment},
            timeout=300,
        )

    return call


@pytest.fixture
def start(fresh_cache: Path, tmp_path: Path) -> Start:
    """Return a function that starts flashbed: `start("run", study)` returns the running process, whose stderr can be
    read.
    """

    def call(*arguments: str | Path, start_new_session: bool = False, **environment: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [FLASHBED, *map(str, arguments)],
            start_new_session=start_new_session,
            stderr=subprocess.PIPE,
            text=True,
            cwd=tmp_path,
            env={**os.environ, "FLASHBED_CACHE": str(fresh_cache), "FLASHBED_MEMORY": "", **environment},
        )

    return call
