# SPDX-License-Identifier: Apache-2.0
"""List the modules of a kernel that a cell loads, in their order.

A cell asks for drivers, a scheduler and a file system by the names that Linux requests. The names are the same for each
kernel, whether it has a module for one or has it built in. Builds nothing.
"""

from __future__ import annotations

from collections.abc import Sequence

from flashbed.image.initramfs import File
from flashbed.image.module_order import ModuleFiles
from flashbed.workload.base import KERNEL_MODULES

CELL, TOOL = "cell", "tool"
"""Directories of the guest below KERNEL_MODULES."""

FILESYSTEM, SCHEDULER = "fs-", "-iosched"
"""Parts of the aliases by which Linux requests a file system or a scheduler, such as fs-vfat and bfq-iosched."""

ASKED_FOR = {"vfat": ("nls_cp437", "nls_ascii")}
"""Modules that a module requests when it mounts, so that its .modinfo lacks them: CONFIG_FAT_DEFAULT_CODEPAGE and
_IOCHARSET.
"""


def plain_name(name: str) -> str:
    """Return the file system, scheduler or driver of a requested name: ext4 of fs-ext4."""
    return name.removeprefix(FILESYSTEM).removesuffix(SCHEDULER)


def files(known: ModuleFiles, of_cell: Sequence[str], of_tool: Sequence[str] = ()) -> list[File]:
    """Return the modules for the names that a cell and then its tool request, named in the order in which they load.
    Raise LookupError with a name that the kernel has neither as a module nor built in.
    """
    asks = [name for module in known.in_order(of_cell) for name in ASKED_FOR.get(module, ())]
    first = known.in_order([*of_cell, *asks])
    both = known.in_order([*first, *of_tool])
    return [
        File(f"{KERNEL_MODULES}/{group}/{number:02}-{file.name}", file, 0o644)
        for group, names in ((CELL, first), (TOOL, both[len(first) :]))
        for number, file in enumerate(known.files[name] for name in names)
    ]
