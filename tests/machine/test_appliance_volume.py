# SPDX-License-Identifier: Apache-2.0
"""A logical volume that spans two disks is served as a disk of its own is, also after a restart, and with a snapshot.

It is made at the appliance's own console, since LVM takes block devices only, and those of this host want root.
"""

from __future__ import annotations

import random
import shutil
import subprocess
import time
from pathlib import Path

import pytest

from flashbed_appliance.nas import building, disks, qemu, settings
from tests.support.appliance_rig import running
from tests.support.careful_client import started

# It builds a kernel of its own first.
pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(shutil.which("nfs-cp") is None, reason="libnfs-utils is not installed"),
]

VOLUME = """
[disks.data]
volume = "vg0/data"

[[exports]]
disk       = "data"
read_write = ["10.0.2.2"]
any_port   = true
"""

DISKS = {"vda": 18 << 20, "vdb": 56 << 20}
VOLUME_BYTES, FILE_BYTES = 28 << 20, 18 << 20
"""A file that is larger than the volume's part of one disk, 17 and 11 MiB, lies on both."""

MADE = "the volume is made"
RECIPE = f"""
lvm pvcreate /dev/vda /dev/vdb && lvm vgcreate -s 1M vg0 /dev/vda /dev/vdb &&
lvm lvcreate -y -W n -l 28 -n data vg0 /dev/vda /dev/vdb:0-10 && dd if=/dev/vdc of=/dev/vg0/data bs=64k &&
lvm lvcreate -y -s -L 26M -n before vg0/data && echo {MADE.upper()} | tr A-Z a-z
"""


def make_volume(architecture: str, folder: Path) -> None:
    """Make a volume with a file system by this host's mke2fs, and a snapshot of it."""
    (folder / "nas.toml").write_text(VOLUME)
    settings_ = settings.read(folder / "nas.toml")
    appliance = building.build(settings_, architecture, folder)
    for name, size in DISKS.items():
        with (folder / f"{name}.img").open("wb") as disk:
            disk.truncate(size)
    (content,) = disks.images({"": settings.Disk(device="/dev/vda")}, folder / "content", VOLUME_BYTES)
    images = [*disks.images(settings_.disks, folder, VOLUME_BYTES), content]
    log: list[str] = []
    with started(qemu.command(appliance, images, [], "127.0.0.1", ["-serial", "stdio"]), log) as machine:
        assert machine.stdin is not None
        time.sleep(1)  # a shell that is just starting throws away what was typed before
        machine.stdin.write(RECIPE.strip().replace("\n", " ") + "\npoweroff\n")
        machine.stdin.flush()
        assert machine.wait(timeout=60) == 0
    text = "".join(log)
    assert "vg0/data: is no volume that can be used" in text
    assert MADE in text, text


def test_a_volume_on_two_disks_keeps_what_a_client_gives_it(architecture: str, tmp_path: Path) -> None:
    make_volume(architecture, tmp_path)
    source = tmp_path / "given"
    source.write_bytes(random.Random(1).randbytes(FILE_BYTES))
    for start in range(2):
        with running(tmp_path, VOLUME, "-a", architecture) as appliance:
            if not start:
                subprocess.run(["nfs-cp", source, appliance.url("/file")], check=True, timeout=120)
            subprocess.run(["nfs-cp", appliance.url("/file"), tmp_path / f"back {start}"], check=True, timeout=120)
            assert appliance.stop() == 0
            assert "/dev/vg0/data is at /data, ext4" in appliance.log
        assert (tmp_path / f"back {start}").read_bytes() == source.read_bytes()
    content = source.read_bytes()
    on = [(tmp_path / f"{name}.img").read_bytes() for name in DISKS]
    pieces = [content[at : at + 4096] for at in range(0, FILE_BYTES, 1 << 20)]
    assert all(any(piece in disk for disk in on) for piece in pieces)
    assert all(any(piece in disk for piece in pieces) for disk in on)
