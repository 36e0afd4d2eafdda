# SPDX-License-Identifier: Apache-2.0
"""The controllers between a medium and Linux, and their Linux drivers.

Knows QEMU's names of controllers and Linux's names of devices. docs/design.md says what is exact of each.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from flashbed.machine.qemu import DRIVE
from flashbed.profiles.profile import PLAIN, Board, Medium, interface

SLOT = 2
"""The PCI slot of the controller."""


@dataclass(frozen=True)
class Interface:
    """A way to connect a medium to the board."""

    device: str
    """The guest's device node of the medium."""
    controller: tuple[str, ...] = ()
    """QEMU's devices, one for each -device."""
    module: str | None = None
    """A driver of the lab's own; None: Linux has one."""
    drivers: tuple[str, ...] = ()
    """Linux's drivers, by module name."""
    kernel_words: tuple[str, ...] = ()
    """Arguments for the kernel's command line."""


HIGH_SPEED_PORTS = "p2=2,p3=1"
"""Ports of the xHCI controller: the second USB 2 port has no SuperSpeed port beside it."""

CARD = f"sdhci-pci,drive={DRIVE},addr={SLOT},sd-spec-version=3,capareg=0x116cc832"
"""An SD host of 200 MHz with 64-bit ADMA2. Its time-out clock is slow, as on hosts that detect busy themselves."""

INTERFACES: Mapping[str, Interface] = {
    "nvme": Interface("/dev/nvme0n1", (f"nvme,drive={DRIVE},serial=flashbed,mdts=8,addr={SLOT}",), drivers=("nvme",)),
    "usb": Interface(
        "/dev/sda",
        (
            f"qemu-xhci,id=usb,{HIGH_SPEED_PORTS},addr={SLOT}",
            "usb-bot,id=stick,bus=usb.0,port=2",
            f"scsi-hd,bus=stick.0,drive={DRIVE},removable=on",
        ),
        drivers=("xhci_pci", "usb_storage", "sd_mod"),
        kernel_words=("usb-storage.delay_use=0",),
    ),
    "sata": Interface(
        "/dev/sda",
        (f"ich9-ahci,id=sata,addr={SLOT}", f"ide-hd,bus=sata.0,drive={DRIVE},serial=flashbed"),
        drivers=("ahci", "sd_mod"),
    ),
    "sd": Interface("/dev/mmcblk0", (CARD,), drivers=("sdhci_pci", "mmc_block")),
    "emmc": Interface("/dev/mmcblk0", (f"{CARD},emmc=on",), drivers=("sdhci_pci", "mmc_block")),
    PLAIN: Interface("/dev/mblk0", (f"lab-disk,drive={DRIVE},addr={SLOT}",), "media_blk"),
}
"""The interfaces, by their name in a medium's profile."""

CHIP = Interface("/dev/mtd0", (f"lab-nand,drive={DRIVE},addr={SLOT}",), module="media_nand", drivers=("mtdblock",))
"""The interface of a raw chip, without the board's controller."""


def between(board: Board, medium: Medium) -> Interface:
    """Return the interface between this medium and this board."""
    if medium.provides != "mtd":
        return INTERFACES[interface(board, medium)]
    (controller,) = CHIP.controller
    return replace(CHIP, controller=(f"{controller},cycle_ps={board.nand_cycle_ps}",))
