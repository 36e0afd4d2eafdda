# SPDX-License-Identifier: Apache-2.0
"""Write the command that starts an appliance under Debian's QEMU: a small machine, disks, a network with forwarded
ports.

The lab's own emulator has no network, and its clock is virtual. This QEMU runs in real time, for use and trial. It
always emulates (TCG), so that it runs on hosts without a working KVM.
"""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from flashbed.common.errors import SetupError
from flashbed.machine.qemu import escaped
from flashbed_appliance.nas import compiling
from flashbed_appliance.nas.building import Appliance
from flashbed_appliance.shrinking.architecture import Architecture

NETWORK = "10.0.2.0/24"
"""QEMU's user-mode network."""
CLIENT = "10.0.2.2"
"""This host's address in that network, as the appliance sees it."""
TAKEN = ("10.0.2.0", CLIENT, "10.0.2.3", "10.0.2.4", "10.0.2.255")
"""Addresses of that network that QEMU uses itself, and those that no machine can have."""


@dataclass(frozen=True)
class Machine:
    """A QEMU machine: its arguments, how many disks it has room for besides its network card, and their bus."""

    arguments: tuple[str, ...]
    disks: int
    bus: str = "device"
    last_disk_first: bool = False
    """True if Linux finds virtio-mmio disks in the reverse of their order on the command line."""


MACHINES = {
    "microvm": Machine(("-M", "microvm,acpi=off,pcie=off,usb=off,rtc=on", "-cpu", "max"), disks=7),
    "q35": Machine(("-M", "q35", "-cpu", "max"), disks=29, bus="pci"),
    "virt": Machine(("-M", "virt", "-cpu", "cortex-a53"), disks=31, last_disk_first=True),
}

TELL_ERRORS = "werror=report,rerror=report"
"""Report write and read errors to the guest. By default QEMU silently stops the machine if this host's disk is full."""

PROGRAMS = {
    "x86_64": ("qemu-system-x86_64", "qemu-system-x86"),
    "arm64": ("qemu-system-aarch64", "qemu-system-arm"),
}
"""By architecture: QEMU's program and its Debian package."""


@dataclass(frozen=True)
class Port:
    """A port of the appliance (`inside`) and the port of this host (`outside`) that is forwarded to it."""

    protocol: str
    inside: int
    outside: int
    to: str = ""
    """The appliance's address; if empty, the first address of QEMU's DHCP server."""


def program(architecture: Architecture) -> str:
    """Return the path of QEMU for an architecture. Raises SetupError if it is not installed."""
    name, package = PROGRAMS[architecture.name]
    path = shutil.which(name)
    if path is None:
        raise SetupError(f"{name} is not installed: apt-get install --no-install-recommends {package}")
    return path


def command(
    appliance: Appliance, disks: Sequence[Path], ports: Sequence[Port], listen: str, serial: Sequence[str]
) -> list[str]:
    """Return QEMU's command line. Raises SetupError if QEMU is not installed."""
    machine = MACHINES[appliance.machine]
    arguments = [program(appliance.architecture), *machine.arguments]
    arguments += ["-accel", "tcg", "-m", f"{appliance.memory_mb}M", "-smp", "1"]
    arguments += ["-nodefaults", "-no-user-config", "-no-reboot", "-display", "none", *serial]
    arguments += ["-kernel", str(appliance.kernel)]
    if appliance.initramfs:
        arguments += ["-initrd", str(appliance.initramfs)]
        line = compiling.command_line("virtual", appliance.architecture.name)
        arguments += ["-append", f"{line} {appliance.arguments}".rstrip()]
    numbered = list(enumerate(disks))
    for number, disk in reversed(numbered) if machine.last_disk_first else numbered:
        arguments += ["-drive", f"if=none,id=disk{number},format=raw,{TELL_ERRORS},file={escaped(disk)}"]
        arguments += ["-device", f"virtio-blk-{machine.bus},drive=disk{number}"]
    forwarded = "".join(f",hostfwd={port.protocol}:{listen}:{port.outside}-{port.to}:{port.inside}" for port in ports)
    return [*arguments, "-netdev", f"user,id=net0{forwarded}", "-device", f"virtio-net-{machine.bus},netdev=net0"]
