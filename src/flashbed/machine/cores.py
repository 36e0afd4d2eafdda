# SPDX-License-Identifier: Apache-2.0
"""Gives each guest a core of its own for as long as it runs.

The threads of a guest take turns (machine/turns.c), thousands of times a second. On two cores each turn wakes a core
that sleeps, which in a virtual machine takes longer than the turn itself; on one core it is a switch between threads.
In a batch (SCHED_BATCH) the thread that is woken waits until the other gives up the core, instead of running into its
lock.

None of this can be seen by the guest.
"""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager

BATCH = ("chrt", "--batch", "0")

CLAIM = "flashbed-core"
"""What the claims of all guests of this host are called, before the number of the core."""


@contextmanager
def bound() -> Iterator[list[str]]:
    """The words that bind a command, put before it, to a core that no other guest of this host has. If all are taken:
    to none.
    """
    for core in sorted(os.sched_getaffinity(0)):
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as claim:
            if _taken(claim, core):
                continue
            yield [*BATCH, "taskset", "--cpu-list", str(core)]
            return
    yield [*BATCH]


def _taken(claim: socket.socket, core: int) -> bool:
    """An abstract name has no file, is the same for all users, and goes with the process that holds it."""
    try:
        claim.bind(f"\0{CLAIM}-{core}")
    except OSError:
        return True
    return False
