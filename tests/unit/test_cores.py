# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import os
import subprocess
from contextlib import ExitStack

import pytest

from flashbed.machine import cores


@pytest.fixture(autouse=True)
def no_other_guests(monkeypatch: pytest.MonkeyPatch) -> None:
    """Those of other tests come and go meanwhile."""
    monkeypatch.setattr(cores, "CLAIM", f"flashbed-test-{os.getpid()}")


def core_of(binding: list[str]) -> int | None:
    """On which core a command with these words before it finds itself; None: on any of this process's."""
    command = [*binding, "python3", "-c", "import os; print(*os.sched_getaffinity(0), os.sched_getscheduler(0))"]
    *found, policy = map(int, subprocess.run(command, capture_output=True, text=True, check=True).stdout.split())
    assert policy == os.SCHED_BATCH
    return found[0] if "taskset" in binding and len(found) == 1 else None


def test_no_two_guests_have_the_same_core() -> None:
    with ExitStack() as stack:
        bindings = [stack.enter_context(cores.bound()) for _ in range(len(os.sched_getaffinity(0)) + 1)]
        given = [core for core in map(core_of, bindings) if core is not None]
        assert len(given) == len(set(given))
        assert core_of(bindings[-1]) is None, "when all are taken, any will do"


def test_a_core_is_free_again_afterwards() -> None:
    with ExitStack() as stack:
        first = stack.enter_context(cores.bound())
    with cores.bound() as again:
        assert again == first
