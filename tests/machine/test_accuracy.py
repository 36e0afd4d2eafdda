# SPDX-License-Identifier: Apache-2.0
"""Every figure of docs/accuracy.md is what the models do now, and within what its table allows."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]


def test_the_page_is_up_to_date() -> None:
    command = [sys.executable, "bench/accuracy.py", "--check"]
    done = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
