# SPDX-License-Identifier: Apache-2.0
"""A cell in the words that guest/cell understands: the files of /job that do not come from the workload.

The two change together: the variables of cell.env and the names of the scripts are a contract between them.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable

from flashbed.guest_output.aging import PRINTED
from flashbed.image import DEBIAN
from flashbed.image.debian_kernel import GUEST_FOLDER
from flashbed.profiles.condition import SURVIVES_MKFS
from flashbed.study.plan import Cell

DRIVERS = {
    "block": ("media_blk", "/dev/mblk0", "/sys/block/mblk0"),
    "mtd": ("media_nand", "/dev/mtd0", "/sys/devices/platform/media_nand"),
}
"""By what the kernel makes of the medium: the module, its device, and the folder that has its counters."""

MOUNT_POINT = "/mnt"

LOAD_ITS_OWN = f"for module in {GUEST_FOLDER}/filesystem/*.ko; do insmod $module; rm $module; done"
"""Of a kernel that has its file systems as modules: they would lie on its disk, and not in memory."""

TRACED_REQUESTS = 16_384
"""How many requests the log of a traced cell has room for, 40 bytes each."""

CUT_AFTER = 1000
"""So many programs and erases after it was armed, and as many more as the seed moves the file, the power goes."""


def files(cell: Cell, medium_digest: str) -> dict[str, bytes]:
    """cell.env and the scripts that make the translation, and make and mount the file system.

    `medium_digest` is that of the medium's parameters, by which the guest knows that it has got the right one.
    """
    translation, filesystem = cell.translation, cell.filesystem
    _, medium, _ = DRIVERS[cell.medium.provides]
    device = translation.device or medium
    load = [f"insmod /lib/flashbed/{filesystem.module}.ko"] if filesystem.module else []
    load += [LOAD_ITS_OWN] if cell.kernel.endswith(DEBIAN) else []
    return {
        "cell.env": _environment(cell, device, medium_digest),
        "translate": _script(command.replace("{device}", medium) for command in translation.commands),
        "format": _script((*load, *filesystem.mkfs_commands(device))),
        "attach": _script(filesystem.attach_commands(device)),
        "detach": _script(filesystem.detach_commands(device)),
        "mount": _script([filesystem.mount_command(device, MOUNT_POINT)]),
    }


def aging(cell: Cell) -> bytes:
    """What /job/prepare begins with: the file system is used before the workload's files are made. Nothing for a cell
    whose file system is new.
    """
    if not cell.medium.aged:
        return b""
    medium = cell.medium
    words = f"{MOUNT_POINT} {medium.aged_fill_percent} {medium.aged_passes} {cell.seed}"
    return f"age {words} >/out/{PRINTED} || exit 1\n".encode()


def _script(commands: Iterable[str]) -> bytes:
    return "".join(f"{command}\n" for command in commands).encode()


def _environment(cell: Cell, device: str, medium_digest: str) -> bytes:
    scheduler = cell.scheduler
    tunables = " ".join(f"{name}={value}" for name, value in sorted(scheduler.tunables.items()))
    module, _, folder = DRIVERS[cell.medium.provides]
    log, between = f" record={TRACED_REQUESTS}" if cell.traced else "", cell.translation.device is not None
    variables = {
        "MEDIUM_MODULE": module,
        "MEDIUM": folder,
        "MEDIUM_OPTIONS": f"{_part(cell)}{_transfer(cell)} digest=0x{medium_digest}" + ("" if between else log),
        "TRANSLATION_MODULE": cell.translation.module or "",
        "TRANSLATION_ARGUMENTS": cell.translation.module_arguments + (log if between else ""),
        "TRANSLATION_COUNTERS": cell.translation.counters,
        "DEVICE": device,
        "TRACED": f"/sys/block/{device.removeprefix('/dev/')}/requests" if cell.traced else "",
        "POWER_CUT": _power_cut(cell) if cell.power_cut else "",
        "SCHEDULER": scheduler.name,
        "SCHEDULER_MODULE": scheduler.module or "",
        "SCHEDULER_TUNABLES": tunables,
        "NR_REQUESTS": str(scheduler.nr_requests or ""),
        "KEPT_FROM_MKFS": "yes" if cell.medium.conditioned and cell.medium.condition in SURVIVES_MKFS else "",
        "FILLER_KIB": str(cell.placement.filler_kib),
        "SETTLE_US": str(cell.filesystem.settle_us + cell.placement.phase_us),
    }
    return "".join(f"{name}={shlex.quote(value)}\n" for name, value in variables.items()).encode()


def _power_cut(cell: Cell) -> str:
    """When the power goes and how the page or block is torn, in the words of the chip's driver."""
    return f"{CUT_AFTER + cell.placement.filler_kib} {cell.seed}"


def _part(cell: Cell) -> str:
    """The part of a raw chip that is used; of other media the core itself shows no more."""
    used = cell.medium.used_bytes
    return f"used_bytes={used} " if used and cell.medium.provides == "mtd" else ""


def _transfer(cell: Cell) -> str:
    """Who moves the data and how fast, in the words of the medium's driver."""
    board = cell.board
    if cell.medium.provides == "block":
        return f"pio_sector_ns={board.pio_sector_ns}"
    words = {
        f"cycle_ps={board.nand_cycle_ps}": board.nand_cycle_ps > 0,
        "dma=1": board.transfer == "dma",
        "poll=1": board.nand_wait == "poll",
        "whole_pages=1": board.nand_unit == "page",
    }
    return " ".join(word for word, said in words.items() if said)
