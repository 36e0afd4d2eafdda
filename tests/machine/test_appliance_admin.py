# SPDX-License-Identifier: Apache-2.0
"""Administration of an appliance: a shell over ssh for the owner of the key, and the log on another machine."""

from __future__ import annotations

import contextlib
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.support.appliance_rig import Appliance, free_ports, running

# It builds a kernel of its own first.
pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(shutil.which("ssh") is None, reason="openssh-client is not installed"),
]

SETTINGS = """
hostname = "closet"
shell = true

[disks.data]
device = "/dev/vda"

[[exports]]
disk = "data"
read_write = ["10.0.2.2"]
any_port = true

[log]
syslog = "10.0.2.2"

[[users]]
name = "root"
keys = ["{root}"]

[[users]]
name = "ann"
uid = 1000
keys = ["{ann}"]
"""

SYSLOG = 514


@dataclass(frozen=True)
class Bed:
    appliance: Appliance
    keys: Path
    port: int
    collector: socket.socket | None
    """Where the log goes to; None where this user may not have its port."""

    def ssh(self, user: str, key: str, *words: str) -> subprocess.CompletedProcess[str]:
        options = ["BatchMode=yes", "StrictHostKeyChecking=no", "UserKnownHostsFile=/dev/null", "IdentitiesOnly=yes"]
        flags = [word for option in options for word in ("-o", option)]
        return subprocess.run(
            ["ssh", "-F", "none", *flags, "-i", self.keys / key, "-p", str(self.port), f"{user}@127.0.0.1", *words],
            capture_output=True,
            text=True,
            timeout=120,
            stdin=subprocess.DEVNULL,
        )


def collecting() -> socket.socket | None:
    collector = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    try:
        collector.bind(("127.0.0.1", SYSLOG))
    except OSError:
        collector.close()
        return None
    collector.settimeout(1)
    return collector


def wait_for_ssh(port: int, seconds: float) -> None:
    """Wait until the ssh server answers. It starts beside the file server, so the appliance may serve files first."""
    end, received = time.monotonic() + seconds, b""
    while not received.startswith(b"SSH-2.0"):
        assert time.monotonic() < end, f"no ssh within {seconds} s"
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=seconds) as trial:
            received = trial.recv(16)
        time.sleep(0.1)


@pytest.fixture(scope="module")
def bed(architecture: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bed]:
    folder, keys = tmp_path_factory.mktemp("appliance"), tmp_path_factory.mktemp("keys")
    for name in ("root", "ann", "stranger"):
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", name, "-f", keys / name], check=True)
    settings = SETTINGS.format(**{name: (keys / f"{name}.pub").read_text().strip() for name in ("root", "ann")})
    collector = collecting()
    [port] = free_ports(1)
    with running(folder, settings, "-a", architecture, "--size", "64M", "--ssh-port", str(port)) as appliance:
        wait_for_ssh(port, 60)
        yield Bed(appliance, keys, port, collector)
    if collector:
        collector.close()


def test_who_has_the_key_has_a_shell(bed: Bed) -> None:
    done = bed.ssh("root", "root", "id -u; hostname; mount | grep ' /data '")
    assert done.returncode == 0, done.stderr
    uid, name, mounted = done.stdout.splitlines()
    assert (uid, name) == ("0", "closet")
    assert mounted.startswith("/dev/vda on /data type ext4 (rw")
    assert bed.ssh("ann", "ann", "id -u").stdout == "1000\n"


def test_a_shell_has_a_terminal_of_its_own(bed: Bed) -> None:
    done = bed.ssh("root", "root", "-tt", "tty; exit 7")
    assert done.returncode == 7, done.stdout + done.stderr
    assert done.stdout.startswith("/dev/pts/0")


@pytest.mark.parametrize(("user", "key"), [("root", "stranger"), ("root", "ann"), ("ann", "root"), ("nobody", "ann")])
def test_nobody_else_has_one(bed: Bed, user: str, key: str) -> None:
    done = bed.ssh(user, key, "id -u")
    assert (done.returncode, done.stdout) == (255, "")
    assert "Permission denied (publickey)" in done.stderr  # no password is asked for


def test_what_an_administrator_cannot_change_stays(bed: Bed) -> None:
    done = bed.ssh("root", "root", "touch /etc/mine")
    assert done.returncode != 0
    assert "Read-only file system" in done.stderr


def test_the_log_reaches_another_machine(bed: Bed) -> None:
    if bed.collector is None:
        pytest.skip("this user may not have port 514")
    received, end = "", time.monotonic() + 60
    while "nas: ready" not in received and time.monotonic() < end:
        try:
            message = bed.collector.recv(2048).decode()
        except TimeoutError:
            continue
        assert message.startswith("<")
        received += message + "\n"
    assert "nas: ready" in received
    assert all(">closet " in line for line in received.splitlines())
