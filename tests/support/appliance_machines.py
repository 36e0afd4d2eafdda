# SPDX-License-Identifier: Apache-2.0
"""Machines of Debian's QEMU that boot the appliance's single file, and a client that checks whether it serves."""

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
    """Start the machine, type this on its serial line, be its client, and shut it down. Return the console's output."""
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
    """Shut the machine down at the console, as an administrator does. Return QEMU's exit status."""
    assert machine.stdin is not None
    machine.stdin.write("\npoweroff\n")
    machine.stdin.flush()
    return machine.wait(timeout=60)


def some_ports() -> Ports:
    nfs, mount, portmap = free_ports(3)
    return Ports(nfs=nfs, mount=mount, portmap=portmap)


def client_of(ports: Ports, dice: random.Random) -> Client:
    """Return a client of the machine behind these ports of this host."""
    return Client(Server("127.0.0.1", ports.nfs, ports.mount, ports.portmap), dice)


def pc(settings: Settings, image: Path, ports: Ports) -> list[str]:
    """Return a machine with a SATA disk and Intel's network card, without firmware."""
    forwarded = "".join(
        f",hostfwd={port.protocol}:127.0.0.1:{port.outside}-:{port.inside}" for port in ports.forwarded(settings)
    )
    return [
        *("qemu-system-x86_64", "-M", "q35", "-cpu", "max", "-accel", "tcg", "-m", "128M", "-nodefaults"),
        *("-no-user-config", "-no-reboot", "-display", "none", "-serial", "stdio"),
        *("-drive", f"if=none,id=data,format=raw,file={image}", "-device", "ide-hd,bus=ide.0,drive=data"),
        *("-netdev", f"user,id=net0{forwarded}", "-device", "e1000e,netdev=net0"),
    ]


def uefi(folder: Path) -> list[str]:
    """Return Debian's UEFI firmware."""
    unpacked("ovmf", folder)
    code, variables = (folder / "usr/share/OVMF" / name for name in ("OVMF_CODE.fd", "OVMF_VARS.fd"))
    return [
        *("-drive", f"if=pflash,unit=0,format=raw,readonly=on,file={code}"),
        *("-drive", f"if=pflash,unit=1,format=raw,file={variables}"),
    ]


def medium(folder: Path) -> list[str]:
    """Return a disk with FAT and this directory's files: QEMU presents a directory as a disk."""
    return [
        *("-drive", f"if=none,id=medium,format=raw,readonly=on,file=fat:{folder}"),
        *("-device", "virtio-blk-pci,drive=medium"),
    ]


def sata_medium(folder: Path) -> list[str]:
    """Return the same as a SATA disk that drops all writes, because QEMU has no read-only SATA disk."""
    return [
        *("-device", "ich9-ahci,id=ahci"),
        *("-drive", f"if=none,id=medium,format=raw,file=fat:rw:{folder}", "-device", "ide-hd,drive=medium,bus=ahci.0"),
    ]


def unpacked(package: str, folder: Path) -> Path:
    """Return the directory of the files of a Debian package, fetched from the mirror, without its dependencies."""
    archive = programs.archive_of(architecture.named("x86_64"))
    archive.unpack(archive.fetch([package], archive.resolve([package], alone=True)), folder)
    return folder
