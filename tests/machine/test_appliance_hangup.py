# SPDX-License-Identifier: Apache-2.0
"""`flashbed nas run` whose terminal is closed: the appliance goes down as by Ctrl-C, and leaves a clean disk."""

from __future__ import annotations

import os
import pty
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from appliance_rig import free_ports

LIMIT_S = 900
"""Of the host's time: with an empty cache all that the appliance is made of is fetched and built first."""

pytestmark = pytest.mark.skipif(shutil.which("dumpe2fs") is None, reason="e2fsprogs is not installed")


def needs_recovery(image: Path) -> bool:
    told = subprocess.run(["dumpe2fs", "-h", image], capture_output=True, text=True, timeout=60, check=True).stdout
    return "needs_recovery" in told


def test_a_closed_terminal_ends_it_cleanly(tmp_path: Path) -> None:
    program = str(Path(sys.executable).with_name("flashbed"))
    words = ["nas", "run", "--kernel", "debian", "--size", "16M", "--folder", str(tmp_path)]
    for name, port in zip(("nfs", "mount", "portmap"), free_ports(3), strict=True):
        words += [f"--{name}-port", str(port)]
    process, terminal = pty.fork()
    if process == 0:
        signal.signal(signal.SIGHUP, signal.SIG_DFL)  # the tests may run under nohup
        limits = ["setpriv", "--pdeathsig", "KILL", "timeout", "--foreground", str(LIMIT_S)]
        os.execvp("setpriv", [*limits, program, *words])
    log = b""
    while b"Ctrl-C ends it." not in log:
        try:
            log += os.read(terminal, 4096)
        except OSError:  # there is nobody left who could write
            pytest.fail(f"it ended with {os.waitpid(process, 0)[1]:#06x} before it served:\n{log.decode()}")
    assert needs_recovery(tmp_path / "vda.img")
    os.close(terminal)
    os.waitpid(process, 0)
    assert not needs_recovery(tmp_path / "vda.img")
