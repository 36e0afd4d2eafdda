# SPDX-License-Identifier: Apache-2.0
"""A disk is pulled out of the appliance's mirror while a client writes: service goes on, and when the disk is back, it
is filled again.

The disk hangs on an NBD server of this host, which is killed: every request of it fails from then on.
"""

from __future__ import annotations

import random
import shutil
import subprocess
import threading
import time
from collections.abc import Sequence
from pathlib import Path

import pytest

from flashbed_appliance.nas import building, disks, qemu, settings
from tests.support.appliance_machines import SIZE_BYTES, client_of, go_down, some_ports
from tests.support.careful_client import Client, started

# It builds a kernel of its own first.
pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(shutil.which("qemu-nbd") is None, reason="qemu-utils is not installed"),
]

MIRROR = """
[disks.data]
mirror        = ["/dev/vda", "/dev/vdb"]
create_mirror = true

[[exports]]
disk       = "data"
read_write = ["10.0.2.2"]
any_port   = true
"""

RATHER_S = 60
PULLED_S = 0.5
"""After that much of the writing, which takes seconds."""


def on_nbd(command: Sequence[str], place: Path) -> list[str]:
    """Return the command with its second disk at an NBD server's socket. The guest sees the disk's errors."""
    at = next(number for number, word in enumerate(command) if word.startswith("if=none,id=disk1,"))
    disk = f"if=none,id=disk1,format=raw,werror=report,rerror=report,file=nbd+unix:///?socket={place}"
    return [*command[:at], disk, *command[at + 1 :]]


def wait_for(words: str, log: list[str]) -> None:
    end = time.monotonic() + RATHER_S
    while words not in "".join(log):
        assert time.monotonic() < end, "".join(log)
        time.sleep(0.1)


def with_mirror(architecture: str, folder: Path) -> tuple[list[str], list[Path], Client]:
    """Return the command of an appliance, the images of its two disks, and a client of the appliance."""
    (folder / "nas.toml").write_text(MIRROR)
    settings_ = settings.read(folder / "nas.toml")
    appliance = building.build(settings_, architecture, folder / "nas")
    images = disks.images(settings_.disks, folder, SIZE_BYTES)
    ports = some_ports()
    command = qemu.command(appliance, images, ports.forwarded(settings_), "127.0.0.1", ["-serial", "stdio"])
    return command, images, client_of(ports, random.Random(1))


def test_a_disk_is_pulled_out_and_comes_back(architecture: str, tmp_path: Path) -> None:
    command, images, client = with_mirror(architecture, tmp_path)
    place = tmp_path / "socket"
    with subprocess.Popen(
        ["setpriv", "--pdeathsig", "KILL", "qemu-nbd", "-f", "raw", "-k", place, "-t", images[1]]
    ) as disk:
        while not place.exists():
            time.sleep(0.05)
        log: list[str] = []
        try:
            with started(on_nbd(command, place), log) as machine:
                client.make_files()
                threading.Timer(PULLED_S, disk.kill).start()
                client.write(400)
                disk.wait(timeout=RATHER_S)
                client.write(100)
                wait_for("Operation continuing on 1 devices", log)
                client.look()
                down(machine, log)
        finally:
            disk.kill()
    log = []
    with started(command, log) as machine:
        wait_for("is taken in again, and filled", log)
        client.write(300)
        wait_for("[2/2] [UU]", log)
        client.look()
        down(machine, log)
    first, second = (image.read_bytes()[: SIZE_BYTES - disks.SUPERBLOCK_ROOM] for image in images)
    assert first == second


def test_a_disk_with_other_data_is_left_alone_and_an_empty_one_is_filled(architecture: str, tmp_path: Path) -> None:
    """This happens after a disk has died and another one gets its name."""
    command, images, client = with_mirror(architecture, tmp_path)
    log: list[str] = []
    with started(command, log) as machine:
        client.make_files()
        client.write(50)
        down(machine, log)
    (foreign,) = disks.images({"": settings.Disk(device="/dev/vda")}, tmp_path / "foreign", SIZE_BYTES)
    for content, words in (
        (foreign.read_bytes(), "/dev/vdb: is no member, and not empty: it is left alone"),
        (bytes(SIZE_BYTES), "/dev/vdb: is taken in again, and filled"),
    ):
        images[1].write_bytes(content)
        log = []
        with started(command, log) as machine:
            wait_for(words, log)
            assert "/dev/vda: is not taken in" not in "".join(log)
            client.look()
            if "filled" in words:
                wait_for("[2/2] [UU]", log)
            down(machine, log)
        assert ("filled" in words) == (images[1].read_bytes() != content)


def down(machine: subprocess.Popen[str], log: list[str]) -> None:
    go_down(machine)
    wait_for("nas: down", log)
