# SPDX-License-Identifier: Apache-2.0
"""The appliance as one file boots without another file or a word from a loader, and serves: on QEMU's microvm and virt,
and on a PC of QEMU's, by its BIOS and by UEFI.
"""

from __future__ import annotations

import random
import shutil
from collections.abc import Sequence
from pathlib import Path

import pytest
from appliance_rig import free_ports
from careful_client import Client, started
from nfs_calls import Server

from flashbed.appliance import building, disks, programs, qemu, settings, shipped
from flashbed.appliance.running import Ports
from flashbed.appliance.settings import Settings
from flashbed.shrinking import architecture

# It builds kernels of its own first.
pytestmark = pytest.mark.long

SIZE_BYTES = 16 << 20

PC = """
hardware = "pc"

[disks.data]
device = "/dev/sda"

[[exports]]
disk       = "data"
read_write = ["10.0.2.2"]
any_port   = true
"""


def serves(command: Sequence[str], ports: Ports) -> None:
    """Starts the machine, is its client, and has it go down."""
    log: list[str] = []
    client = Client(Server("127.0.0.1", ports.nfs, ports.mount, ports.portmap), random.Random(1))
    with started(list(command), log) as machine:
        client.make_files()
        client.write(50)
        client.look()
        assert machine.stdin is not None
        machine.stdin.write("\npoweroff\n")
        machine.stdin.flush()
        assert machine.wait(timeout=60) == 0, "".join(log)
    assert "nas: down" in "".join(log)


def some_ports() -> Ports:
    nfs, mount, portmap = free_ports(3)
    return Ports(nfs=nfs, mount=mount, portmap=portmap)


@pytest.mark.parametrize("name", ["x86_64", "arm64"])
def test_one_file_serves_on_a_virtual_machine(name: str, tmp_path: Path) -> None:
    trial, ports = shipped.settings(None), some_ports()
    appliance = building.bootable(trial, name, tmp_path)
    images = disks.images(trial.disks, tmp_path, SIZE_BYTES)
    command = qemu.command(appliance, images, ports.forwarded(trial), "127.0.0.1", ["-serial", "stdio"])
    assert not {"-initrd", "-append"} & set(command)
    serves(command, ports)


def pc(wanted: Settings, image: Path, ports: Ports) -> list[str]:
    """One with a SATA disk and Intel's card, and firmware that is not said yet."""
    forwarded = "".join(
        f",hostfwd={port.protocol}:127.0.0.1:{port.outside}-:{port.inside}" for port in ports.forwarded(wanted)
    )
    return [
        *("qemu-system-x86_64", "-M", "q35", "-cpu", "max", "-accel", "tcg", "-m", "128M", "-nodefaults"),
        *("-no-user-config", "-no-reboot", "-display", "none", "-serial", "stdio"),
        *("-drive", f"if=none,id=data,format=raw,file={image}", "-device", "ide-hd,bus=ide.0,drive=data"),
        *("-netdev", f"user,id=net0{forwarded}", "-device", "e1000e,netdev=net0"),
    ]


def uefi(folder: Path) -> list[str]:
    """Debian's UEFI firmware, fetched from the mirror."""
    archive = programs.archive_of(architecture.named("x86_64"))
    debs = archive.fetch(["ovmf"], archive.resolve(["ovmf"], alone=True))
    archive.unpack(debs, folder)
    code, variables = (folder / "usr/share/OVMF" / name for name in ("OVMF_CODE.fd", "OVMF_VARS.fd"))
    return [
        *("-drive", f"if=pflash,unit=0,format=raw,readonly=on,file={code}"),
        *("-drive", f"if=pflash,unit=1,format=raw,file={variables}"),
    ]


def test_one_file_serves_on_a_pc(tmp_path: Path) -> None:
    (tmp_path / "nas.toml").write_text(PC)
    wanted, ports = settings.read(tmp_path / "nas.toml"), some_ports()
    appliance = building.bootable(wanted, "x86_64", tmp_path)
    (image,) = disks.images({"data": settings.Disk(device="/dev/vda")}, tmp_path, SIZE_BYTES)
    serves([*pc(wanted, image, ports), "-kernel", str(appliance.kernel)], ports)
    place = tmp_path / "medium/EFI/BOOT"
    place.mkdir(parents=True)
    shutil.copy(appliance.kernel, place / "BOOTX64.EFI")
    # QEMU shows a folder as a disk with FAT
    medium = f"if=none,id=medium,format=raw,readonly=on,file=fat:{tmp_path}/medium"
    hung = ["-drive", medium, "-device", "virtio-blk-pci,drive=medium"]
    serves([*pc(wanted, image, ports), *uefi(tmp_path / "ovmf"), *hung], ports)
