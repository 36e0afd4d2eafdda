# SPDX-License-Identifier: Apache-2.0
"""Linux's own NFS client works in a second guest while the appliance's power goes and comes back, on a disk that
forgets what was not flushed: it asks again until it is answered, nothing fails, and all that it was told is done is
there. The work is tests/guest/nfs_client/cuts.c.

By version 3. FLASHBED_SEED is the seed, FLASHBED_CUTS how often the power goes.
"""

from __future__ import annotations

import os
import random
import re
import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.support import power_log
from tests.support.appliance_client import asking, our_own, serving
from tests.support.appliance_pair import Kernel, client_command, debian_kernel, on_a_wire
from tests.support.careful_client import started
from tests.support.wire import Wire

# It builds kernels of its own first.
pytestmark = pytest.mark.long

SECONDS = 900
"""Until a machine is given up."""

MOUNTED = re.compile("ok mount")

ROUNDS = 6
"""Of work between a start of the server and a cut, at most."""

WAIT_S = 200
"""For the next of them: TCP asks again ever more seldom."""


def rounds_of(lines: list[str]) -> int:
    return sum(line.startswith("round ") for line in lines)


def wait_for_work(lines: list[str], rounds: int) -> None:
    end = time.monotonic() + WAIT_S
    while rounds_of(lines) < rounds:
        assert time.monotonic() < end, "".join(lines)
        assert "all done" not in "".join(lines), "".join(lines)
        time.sleep(0.01)


@pytest.mark.parametrize(
    ("kernel_of", "version", "transport"),
    [
        pytest.param(debian_kernel, 3, "tcp", id="v3-tcp"),
        pytest.param(our_own, 3, "udp", id="v3-udp"),
        pytest.param(debian_kernel, 4, "tcp", id="v4-tcp"),
    ],
)
def test_linux_as_a_client_works_on_when_the_power_has_gone(
    kernel_of: Callable[[Path], Kernel], version: int, transport: str, tmp_path: Path
) -> None:
    cuts, dice = int(os.environ.get("FLASHBED_CUTS", "10")), random.Random(int(os.environ.get("FLASHBED_SEED", "1")))
    kernel = kernel_of(tmp_path / "kernel")
    initramfs = asking(kernel, version, transport, ["0", "cuts"], tmp_path)
    command, (image,) = serving(version, tmp_path)
    disk = power_log.Disk(image, tmp_path, dice)
    lines: list[str] = []
    with Wire(seed=1) as wire, ExitStack() as held:
        for number in range(cuts + 1):
            with started(disk.logged(on_a_wire(command, wire.port)), [], limit_s=SECONDS) as machine:
                if not number:
                    words = client_command(kernel, initramfs, wire.port)
                    client = held.enter_context(started(words, lines, limit_s=SECONDS, ready=MOUNTED))
                wait_for_work(lines, rounds_of(lines) + dice.randint(1, ROUNDS))
                if number == cuts:
                    assert client.stdin is not None
                    client.stdin.write("\n")
                    client.stdin.flush()
                    client.wait(timeout=WAIT_S)
                    break
                time.sleep(dice.uniform(0, 0.3))
                machine.kill()
            disk.cut()
    assert "ok work_over_cuts" in "".join(lines), "".join(lines)
    print(f"{cuts} cuts: {rounds_of(lines)} rounds of work, {disk.lost} writes lost that no flush came after")
