# SPDX-License-Identifier: Apache-2.0
"""Runs the command as a user would: its own process, its exit status, what it prints."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.fixture_types import FLASHBED, Flashbed, Start
from tests.support.forked_command import LIMIT_S, ForkedCommands


@pytest.fixture(scope="session")
def forked() -> Iterator[ForkedCommands]:
    commands = ForkedCommands()
    yield commands
    commands.close()


READ_AT_IMPORT = {"COLUMNS", "PYTHONPATH"}
"""Variables that a command which has been imported already would not see."""


@pytest.fixture
def flashbed(fresh_cache: Path, tmp_path: Path, forked: ForkedCommands) -> Flashbed:
    """Return a function that runs flashbed: `flashbed("run", study)` returns the finished process. It runs in the
    test's folder, with a cache without results. By default, guests leave no trace in the host's memory.
    """

    def call(*arguments: str | Path, **variables: str) -> subprocess.CompletedProcess[str]:
        words = list(map(str, arguments))
        environment = {**os.environ, "FLASHBED_CACHE": str(fresh_cache), "FLASHBED_MEMORY": "", **variables}
        if READ_AT_IMPORT.isdisjoint(variables):
            return forked.run(words, tmp_path, environment)
        return subprocess.run(
            [FLASHBED, *words], capture_output=True, text=True, cwd=tmp_path, env=environment, timeout=LIMIT_S
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
