# SPDX-License-Identifier: Apache-2.0
"""A cell in the words that guest/cell understands: the files of /job that do not come from the workload.

The two change together: the variables of cell.env and the names of the scripts are a contract between them.
"""

from __future__ import annotations

import shlex

from flashbed.plan import Cell

DEVICE = "/dev/mblk0"
MOUNT_POINT = "/mnt"


def files(cell: Cell, medium_digest: str) -> dict[str, bytes]:
    """cell.env and the scripts that make and mount the file system.

    `medium_digest` is that of the medium's parameters, by which the guest knows that it has got the right one.
    """
    filesystem = cell.filesystem
    return {
        "cell.env": _environment(cell, medium_digest),
        "format": "".join(f"{command}\n" for command in filesystem.mkfs_commands(DEVICE)).encode(),
        "mount": f"{filesystem.mount_command(DEVICE, MOUNT_POINT)}\n".encode(),
    }


def _environment(cell: Cell, medium_digest: str) -> bytes:
    tunables = " ".join(f"{name}={value}" for name, value in sorted(cell.scheduler.tunables.items()))
    variables = {
        "MEDIUM_OPTIONS": f"pio_sector_ns={cell.board.pio_sector_ns} digest=0x{medium_digest}",
        "SCHEDULER": cell.scheduler.name,
        "SCHEDULER_MODULE": cell.scheduler.module or "",
        "SCHEDULER_TUNABLES": tunables,
        "NR_REQUESTS": str(cell.scheduler.nr_requests or ""),
        "FILLER_KIB": str(cell.placement.filler_kib),
        "SETTLE_US": str(cell.filesystem.settle_us + cell.placement.phase_us),
    }
    return "".join(f"{name}={shlex.quote(value)}\n" for name, value in variables.items()).encode()
