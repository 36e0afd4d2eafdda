# SPDX-License-Identifier: Apache-2.0
"""A cell in the words that guest/cell understands: the files of /job that do not come from the workload.

The two change together: the variables of cell.env and the names of the scripts are a contract between them.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable

from flashbed.plan import Cell

DEVICES = {"block": "/dev/mblk0", "mtd": "/dev/mtd0"}
"""What a medium is in the guest, by what it provides."""

MOUNT_POINT = "/mnt"


def files(cell: Cell, medium_digest: str) -> dict[str, bytes]:
    """cell.env and the scripts that make the translation, and make and mount the file system.

    `medium_digest` is that of the medium's parameters, by which the guest knows that it has got the right one.
    """
    medium, translation, filesystem = DEVICES[cell.medium.provides], cell.translation, cell.filesystem
    device = translation.device or medium
    return {
        "cell.env": _environment(cell, device, medium_digest),
        "translate": _script(command.replace("{device}", medium) for command in translation.commands),
        "format": _script(filesystem.mkfs_commands(device)),
        "mount": _script([filesystem.mount_command(device, MOUNT_POINT)]),
    }


def _script(commands: Iterable[str]) -> bytes:
    return "".join(f"{command}\n" for command in commands).encode()


def _environment(cell: Cell, device: str, medium_digest: str) -> bytes:
    tunables = " ".join(f"{name}={value}" for name, value in sorted(cell.scheduler.tunables.items()))
    variables = {
        "MEDIUM_OPTIONS": f"pio_sector_ns={cell.board.pio_sector_ns} digest=0x{medium_digest}",
        "TRANSLATION_MODULE": cell.translation.module or "",
        "TRANSLATION_ARGUMENTS": cell.translation.module_arguments,
        "TRANSLATION_COUNTERS": cell.translation.counters,
        "DEVICE": device,
        "SCHEDULER": cell.scheduler.name,
        "SCHEDULER_MODULE": cell.scheduler.module or "",
        "SCHEDULER_TUNABLES": tunables,
        "NR_REQUESTS": str(cell.scheduler.nr_requests or ""),
        "FILLER_KIB": str(cell.placement.filler_kib),
        "SETTLE_US": str(cell.filesystem.settle_us + cell.placement.phase_us),
    }
    return "".join(f"{name}={shlex.quote(value)}\n" for name, value in variables.items()).encode()
