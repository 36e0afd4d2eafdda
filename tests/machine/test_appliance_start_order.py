# SPDX-License-Identifier: Apache-2.0
"""The appliance's portmapper at its start. The kernel's server holds the lock of its files while it tells the
portmapper of a socket. So the portmapper reads these files before anybody can connect, or both would wait for ever.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from flashbed.image import stores
from flashbed_appliance.nas import programs
from flashbed_appliance.shrinking import architecture
from tests.support import name_space

CHANNELS = ("auth.unix.ip", "auth.unix.gid", "nfsd.export", "nfsd.fh")

IN_A_NETWORK_OF_ITS_OWN = """
import errno, os, socket, subprocess, sys, time

subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
server = subprocess.Popen(["/exportd"], preexec_fn=lambda: os.chroot(sys.argv[1]))


def is_answered():
    try:
        socket.create_connection(("127.0.0.1", 111), timeout=5).close()
    except ConnectionRefusedError:
        return False
    return True


def until(reached):
    end = time.monotonic() + 30
    while not (found := reached()):
        if time.monotonic() > end or server.poll() is not None:
            sys.exit(f"exportd did not come so far; it ended with {server.poll()}")
        time.sleep(0.01)
    return found


def writer():
    try:
        return os.open(f"{sys.argv[1]}/proc/fs/nfsd/versions", os.O_WRONLY | os.O_NONBLOCK)
    except OSError as error:
        if error.errno != errno.ENXIO:
            raise


lock = until(writer)
print("while it reads:", is_answered())
os.write(lock, b"+3")
os.close(lock)
until(is_answered)
print("afterwards:", True)
server.kill()
"""
"""A pipe stands for the kernel's file: who opens it to read waits, as for the lock."""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Make the directory that exportd sees: its settings, and the kernel's files."""
    (tmp_path / "etc").mkdir()
    (tmp_path / "etc/nas.conf").write_text("nfsd 1 +3 tcp\n")
    (tmp_path / "proc/fs/nfsd").mkdir(parents=True)
    (tmp_path / "proc/fs/nfsd/portlist").write_text("")
    os.mkfifo(tmp_path / "proc/fs/nfsd/versions")
    for name in CHANNELS:
        (tmp_path / "proc/net/rpc" / name).mkdir(parents=True)
        os.mkfifo(tmp_path / "proc/net/rpc" / name / "channel")
    program = programs.own(stores.open_cache(), architecture.named("x86_64"))
    (tmp_path / "exportd").write_bytes(program.read_bytes())
    (tmp_path / "exportd").chmod(0o755)
    return tmp_path


def test_nobody_is_answered_before_it_has_read_what_is_served(root: Path) -> None:
    name_space.wanted()
    done = subprocess.run(
        [*name_space.NO_ROOT, "--net", sys.executable, "-c", IN_A_NETWORK_OF_ITS_OWN, root],
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == ["while it reads: False", "afterwards: True"]
