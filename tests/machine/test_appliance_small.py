# SPDX-License-Identifier: Apache-2.0
"""How small and how quick the appliance is: its one file, ready in 24 MB at a thousand million instructions a second.

QEMU counts instructions here, one a nanosecond. The time is from the kernel's start on, as its clock has it: on x86_64
the unpacking of the kernel itself comes before.
"""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from flashbed.appliance import building, disks, qemu, running, shipped

# It builds a kernel of its own first.
pytestmark = pytest.mark.long

MOST_BYTES = 4_000_000
MOST_S = 2.0
LIMIT_S = 300


@pytest.mark.parametrize("architecture", ["x86_64", "arm64"])
def test_it_fits_and_is_ready_soon(architecture: str, tmp_path: Path) -> None:
    trial = shipped.settings(None)
    appliance = building.bootable(trial, architecture, tmp_path)
    assert appliance.bytes <= MOST_BYTES, list(shipped.describe(appliance))
    images = disks.images(trial.disks, tmp_path, 64 << 20)
    command = [*qemu.command(appliance, images, [], "127.0.0.1", ["-serial", "stdio"]), "-icount", "shift=0"]
    assert command[command.index("-m") + 1] == "24M"
    guarded = ["setpriv", "--pdeathsig", "TERM", "timeout", "-k", "5", str(LIMIT_S), *command]
    lines = []
    with subprocess.Popen(guarded, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        for line in process.stdout:
            lines.append(line)
            if running.READY.search(line):
                break
        process.terminate()
    ready = running.READY.search(lines[-1]) if lines else None
    assert ready, "".join(lines)
    assert float(ready[1]) <= MOST_S, "".join(lines)
