# SPDX-License-Identifier: Apache-2.0
"""Make what takes seconds, and what tests only read, once in a run of pytest, in whichever process asks first.

A fixture of a module is made in each process that runs one of the module's tests.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from flashbed.common import locks


def folder(factory: pytest.TempPathFactory, name: str, make: Callable[[Path], object]) -> Path:
    """Return the directory `name` of this run of pytest, which `make` has filled. The tests that share it agree on the
    name.
    """
    base = factory.getbasetemp()
    shared = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    made, is_made = shared / name, shared / f"{name}.made"
    with locks.wait_for(shared / f"{name}.lock"):
        if not is_made.exists():
            shutil.rmtree(made, ignore_errors=True)  # left by a process that failed to make it
            made.mkdir()
            make(made)
            is_made.touch()
    return made
