# SPDX-License-Identifier: Apache-2.0
"""The appliance's size and speed: its one file, ready in 24 MB at a thousand million instructions per second.

QEMU counts instructions here, one a nanosecond. The time is from power-on: on x86_64 the kernel's own clock begins only
when it has unpacked itself.
"""

from __future__ import annotations

import dataclasses
import json
import socket
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

from flashbed_appliance.nas import building, disks, qemu, running, shipped
from tests.support.repository import REPOSITORY

# It builds a kernel of its own first.
pytestmark = pytest.mark.long

MOST_BYTES = 4_000_000
MOST_S = 2.0
LEAST_MB = 24
"""In which it starts and serves a little; `nas run` gives more, for clients that write much at once."""

LIMIT_S = 300


class Monitor:
    """QEMU's, by which it tells how many instructions were carried out: with `-icount shift=0` nanoseconds."""

    def __init__(self, place: Path) -> None:
        self._line = socket.socket(socket.AF_UNIX)
        end = time.monotonic() + 20
        while True:
            try:
                self._line.connect(str(place))
                break
            except OSError:
                assert time.monotonic() < end
                time.sleep(0.05)
        self._lines = self._line.makefile("rw")
        self._lines.readline()  # its greeting
        self._ask("qmp_capabilities")

    def seconds(self) -> float:
        """Return the seconds since power-on."""
        return int(self._ask("query-replay")["icount"]) / 1e9

    def _ask(self, command: str) -> dict[str, Any]:
        self._lines.write(json.dumps({"execute": command}) + "\n")
        self._lines.flush()
        while "return" not in (answer := json.loads(self._lines.readline())):
            pass
        result: dict[str, Any] = answer["return"]
        return result


def test_it_fits_and_is_ready_soon(architecture: str, tmp_path: Path) -> None:
    settings_ = shipped.settings(None)
    appliance = building.bootable(settings_, architecture, tmp_path)
    assert appliance.bytes <= MOST_BYTES, list(shipped.describe(settings_, appliance))
    assert f" {appliance.bytes:,} " in (REPOSITORY / "docs/appliance.md").read_text()
    images = disks.images(settings_.disks, tmp_path, 64 << 20)
    small = dataclasses.replace(appliance, memory_mb=LEAST_MB)
    command = [*qemu.command(small, images, [], "127.0.0.1", ["-serial", "stdio"]), "-icount", "shift=0"]
    place = tmp_path / "monitor"
    command += ["-qmp", f"unix:{place},server=on,wait=on"]
    guarded = ["setpriv", "--pdeathsig", "TERM", "timeout", "-k", "5", str(LIMIT_S), *command]
    lines = []
    with subprocess.Popen(guarded, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        monitor = Monitor(place)
        for line in process.stdout:
            lines.append(line)
            if running.READY.search(line):
                break
        seconds = monitor.seconds()
        process.terminate()
    assert running.READY.search("".join(lines[-1:])), "".join(lines)
    assert seconds <= MOST_S, f"{seconds} s:\n{''.join(lines)}"
