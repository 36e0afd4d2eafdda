# SPDX-License-Identifier: Apache-2.0
"""Keep cores of this host busy."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

NEVER_WAITS = "while True: pass"

BURSTS = """
import time
while True:
    end = time.monotonic() + 0.001
    while time.monotonic() < end:
        pass
    time.sleep(0.004)
"""
"""Who wakes up takes a core from who works there: that disturbs a guest more often than one that never sleeps. Short
bursts disturb more often than long ones, and cost the host less.
"""


@contextmanager
def busy(processes: int, code: str = NEVER_WAITS) -> Iterator[None]:
    """Run this Python code in so many processes during the block."""
    burners = [subprocess.Popen([sys.executable, "-c", code]) for _ in range(processes)]
    try:
        yield
    finally:
        for burner in burners:
            burner.kill()
            burner.wait()
