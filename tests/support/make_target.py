# SPDX-License-Identifier: Apache-2.0
"""Run a target of the Makefile as a person does, for tests."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from tests.support.repository import REPOSITORY


def make(*words: str, folder: Path = REPOSITORY, **variables: str) -> subprocess.CompletedProcess[str]:
    """Return the finished process. Its environment is this process's without the variables of an enclosing make."""
    # A make that runs the tests must not affect this one
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("MAKE", "MFLAGS"))}
    arguments = {"VENV": sys.prefix, **variables}
    return subprocess.run(
        ["make", *words, *(f"{name}={value}" for name, value in arguments.items())],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=900,
    )
