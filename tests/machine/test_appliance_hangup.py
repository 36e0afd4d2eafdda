# SPDX-License-Identifier: Apache-2.0
"""`flashbed nas run` whose terminal is closed: the appliance goes down as by Ctrl-C, and leaves a clean disk. A second
Ctrl-C pulls the plug."""

from __future__ import annotations

import os
import pty
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.appliance_rig import free_ports

LIMIT_S = 900
"""Of the host's time: with an empty cache all that the appliance is made of is fetched and built first."""

pytestmark = pytest.mark.skipif(shutil.which("dumpe2fs") is None, reason="e2fsprogs is not installed")


def needs_recovery(image: Path) -> bool:
    superblock = subprocess.run(
        ["dumpe2fs", "-h", image], capture_output=True, text=True, timeout=60, check=True
    ).stdout
    return "needs_recovery" in superblock


def read_until(terminal: int, words: bytes) -> None:
    log = b""
    while words not in log:
        try:
            log += os.read(terminal, 4096)
        except OSError:  # there is nobody left who could write
            pytest.fail(f"it ended, and did not say {words!r}:\n{log.decode()}")


def started(folder: Path) -> tuple[int, int]:
    """Start an appliance, and wait until it serves. Return its process ID and its terminal."""
    program = str(Path(sys.executable).with_name("flashbed"))
    words = ["nas", "run", "--kernel", "debian", "--size", "16M", "--folder", str(folder)]
    for name, port in zip(("nfs", "mount", "portmap"), free_ports(3), strict=True):
        words += [f"--{name}-port", str(port)]
    process, terminal = pty.fork()
    if process == 0:
        signal.signal(signal.SIGHUP, signal.SIG_DFL)  # the tests may run under nohup
        signal.alarm(LIMIT_S)  # and not `timeout`, which would send on what the terminal has sent already
        os.execvp("setpriv", ["setpriv", "--pdeathsig", "KILL", program, *words])
    read_until(terminal, b"Ctrl-C ends it.")
    return process, terminal


def stop_emulator(image: Path) -> None:
    """Stop the emulator, so that it neither answers nor shuts down."""
    pids = subprocess.run(["pgrep", "-f", str(image)], capture_output=True, text=True, check=True).stdout.split()
    emulators = [pid for pid in pids if Path(f"/proc/{pid}/exe").resolve().name.startswith("qemu-system")]
    assert len(emulators) == 1
    os.kill(int(emulators[0]), signal.SIGSTOP)


def test_a_closed_terminal_ends_it_cleanly(tmp_path: Path) -> None:
    process, terminal = started(tmp_path)
    assert needs_recovery(tmp_path / "vda.img")
    os.close(terminal)
    os.waitpid(process, 0)
    assert not needs_recovery(tmp_path / "vda.img")


def test_a_second_interrupt_pulls_the_plug_and_says_so(tmp_path: Path) -> None:
    process, terminal = started(tmp_path)
    stop_emulator(tmp_path / "vda.img")
    os.write(terminal, b"\x03")
    read_until(terminal, b"ending the appliance")
    os.write(terminal, b"\x03")
    read_until(terminal, b"its disks are as after a power cut")
    assert os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]) == 130
    assert needs_recovery(tmp_path / "vda.img")
