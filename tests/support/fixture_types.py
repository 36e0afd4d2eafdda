# SPDX-License-Identifier: Apache-2.0
"""The types of the fixtures that tests of all levels share, and the command that they start."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Protocol

from flashbed.execution.repetition import Finished, Repetition
from tests.support.guest_rig import Rig

FLASHBED = str(Path(sys.executable).with_name("flashbed"))


class StudyWriter(Protocol):
    """Write the study `name`. `top` has its values outside of tables; None omits a value."""

    def __call__(self, body: str, name: str = "small", **top: object) -> Path: ...


class Measure(Protocol):
    """Measure a repetition within `limit_s` in a new directory, and return the result."""

    def __call__(self, planned: Repetition, folder: Path, limit_s: float = 300) -> Finished: ...


class NewChip(Protocol):
    """Return a new chip of the profile `chip` in the directory, with tools for raw flash."""

    def __call__(self, chip: str, folder: Path, board: str = "arm64-1000", tools: str = "tools") -> Rig: ...


class Flashbed(Protocol):
    """Run the command to its end, with `environment` added to the test's own."""

    def __call__(self, *arguments: str | Path, **environment: str) -> subprocess.CompletedProcess[str]: ...


class Start(Protocol):
    """Start the command, with `environment` added to the test's own. Its stderr is a pipe."""

    def __call__(
        self, *arguments: str | Path, start_new_session: bool = False, **environment: str
    ) -> subprocess.Popen[str]: ...
