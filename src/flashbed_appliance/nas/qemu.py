# SPDX-License-Identifier: Apache-2.0
"""The command that starts an appliance under Debian's QEMU: a small machine, disks, a network with forwarded ports.

The lab's own emulator has no network, and its clock is virtual; this one runs in real time and is for use and trial. It
emulates (TCG) on every host: it has to run where there is no KVM, and where there is one that does not work.
"""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from flashbed.common.errors import SetupError
from flashbed_appliance.nas import compiling
from flashbed_appliance.nas.building import Appliance
from flashbed_appliance.shrinking.architecture import Architecture

NETWORK = "10.0.2.0/24"
"""QEMU's user-mode network."""
CLIENT = "10.0.2.2"
"""The address that this host has in it, seen by the appliance."""
TAKEN = ("10.0.2.0", CLIENT, "10.0.2.3", "10.0.2.4", "10.0.2.255")
"""Addresses that QEMU has itself there, and those of no machine."""


@dataclass(frozen=True)
class Machine:
    """What QEMU is told for a machine, how many disks that has room for beside its card, and on which bus."""

    arguments: tuple[str, ...]
    disks: int
    bus: str = "device"
    last_disk_first: bool = False
    """The order in which Linux finds virtio-mmio disks, against that on the command line."""


MACHINES = {
    "microvm": Machine(("-M", "microvm,acpi=off,pcie=off,usb=off,rtc=on", "-cpu", "max"), disks=7),
    "q35": Machine(("-M", "q35", "-cpu", "max"), disks=29, bus="pci"),
    "virt": Machine(("-M", "virt", "-cpu", "cortex-a53"), disks=31, last_disk_first=True),
}

TELL_ERRORS = "werror=report,rerror=report"
"""QEMU's default stops the machine, in silence, when this host's disk is full."""

PROGRAMS = {
    "x86_64": ("qemu-system-x86_64", "qemu-system-x86"),
    "arm64": ("qemu-system-aarch64", "qemu-system-arm"),
}
"""By architecture: the program, and Debian's package of it."""


@dataclass(frozen=True)
class Port:
    """A port of the appliance, and where it is on this host."""

    protocol: str
    inside: int
    outside: int
    to: str = ""
    """The appliance's address; without it, the one that QEMU's DHCP server gives first."""


def program(architecture: Architecture) -> str:
    """QEMU for an architecture. Raises SetupError if it is not installed."""
    name, package = PROGRAMS[architecture.name]
    found = shutil.which(name)
    if found is None:
        raise SetupError(f"{name} is not installed: apt-get install --no-install-recommends {package}")
    return found


def command(
    appliance: Appliance, disks: Sequence[Path], ports: Sequence[Port], listen: str, serial: Sequence[str]
) -> list[str]:
    """The call of QEMU. Raises SetupError if it is not installed."""
    machine = MACHINES[appliance.machine]
    words = [program(appliance.architecture), *machine.arguments]
    words += ["-accel", "tcg", "-m", f"{appliance.memory_mb}M", "-smp", "1"]
    words += ["-nodefaults", "-no-user-config", "-no-reboot", "-display", "none", *serial]
    words += ["-kernel", str(appliance.kernel)]
    if appliance.initramfs:
        words += ["-initrd", str(appliance.initramfs)]
        line = compiling.command_line("virtual", appliance.architecture.name)
        words += ["-append", f"{line} {appliance.words}".rstrip()]
    numbered = list(enumerate(disks))
    for number, disk in reversed(numbered) if machine.last_disk_first else numbered:
        words += ["-drive", f"if=none,id=disk{number},format=raw,{TELL_ERRORS},file={_escaped(disk)}"]
        words += ["-device", f"virtio-blk-{machine.bus},drive=disk{number}"]
    forwarded = "".join(f",hostfwd={port.protocol}:{listen}:{port.outside}-{port.to}:{port.inside}" for port in ports)
    return [*words, "-netdev", f"user,id=net0{forwarded}", "-device", f"virtio-net-{machine.bus},netdev=net0"]


def _escaped(path: Path) -> str:
    """A comma would end QEMU's word."""
    return str(path).replace(",", ",,")
