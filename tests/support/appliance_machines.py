# SPDX-License-Identifier: Apache-2.0
"""Machines of Debian's QEMU that boot the appliance's one file, and a client that sees whether it serves."""

from __future__ import annotations

import random
import subprocess
from collections.abc import Sequence
from pathlib import Path

from flashbed_appliance.nas import programs
from flashbed_appliance.nas.ports import Ports
from flashbed_appliance.nas.settings import Settings
from flashbed_appliance.shrinking import architecture
from tests.support.appliance_rig import free_ports
from tests.support.careful_client import Client, started
from tests.support.nfs_calls import Server

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


def serves(command: Sequence[str], ports: Ports, typed: str = "") -> str:
    """Starts the machine, types that on its serial line, is its client, and has it go down. What it said."""
    log: list[str] = []
    client = client_of(ports, random.Random(1))
    with started(list(command), log, typed) as machine:
        client.make_files()
        client.write(50)
        client.look()
        assert go_down(machine) == 0, "".join(log)
    assert "nas: down" in "".join(log)
    return "".join(log)


def go_down(machine: subprocess.Popen[str]) -> int:
    """As an administrator has it at the console. The exit status of QEMU."""
    assert machine.stdin is not None
    machine.stdin.write("\npoweroff\n")
    machine.stdin.flush()
    return machine.wait(timeout=60)


def some_ports() -> Ports:
    nfs, mount, portmap = free_ports(3)
    return Ports(nfs=nfs, mount=mount, portmap=portmap)


def client_of(ports: Ports, dice: random.Random) -> Client:
    """Of the machine that these ports of this host lead to."""
    return Client(Server("127.0.0.1", ports.nfs, ports.mount, ports.portmap), dice)


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
    """Debian's UEFI firmware."""
    unpacked("ovmf", folder)
    code, variables = (folder / "usr/share/OVMF" / name for name in ("OVMF_CODE.fd", "OVMF_VARS.fd"))
    return [
        *("-drive", f"if=pflash,unit=0,format=raw,readonly=on,file={code}"),
        *("-drive", f"if=pflash,unit=1,format=raw,file={variables}"),
    ]


def medium(folder: Path) -> list[str]:
    """A disk with FAT that has this folder's files: QEMU shows a folder as one."""
    return [
        *("-drive", f"if=none,id=medium,format=raw,readonly=on,file=fat:{folder}"),
        *("-device", "virtio-blk-pci,drive=medium"),
    ]


def sata_medium(folder: Path) -> list[str]:
    """The same as a SATA disk, whose writes are thrown away: QEMU has none that is read only."""
    return [
        *("-device", "ich9-ahci,id=ahci"),
        *("-drive", f"if=none,id=medium,format=raw,file=fat:rw:{folder}", "-device", "ide-hd,drive=medium,bus=ahci.0"),
    ]


def unpacked(package: str, folder: Path) -> Path:
    """Where the files of one of Debian's packages lie, fetched from the mirror, without those that it depends on."""
    archive = programs.archive_of(architecture.named("x86_64"))
    archive.unpack(archive.fetch([package], archive.resolve([package], alone=True)), folder)
    return folder
