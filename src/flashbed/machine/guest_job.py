# SPDX-License-Identifier: Apache-2.0
"""A cell in the words that guest/cell understands: the files of /job that do not come from the workload.

The two change together: the variables of cell.env and the names of the scripts are a contract between them.
"""

from __future__ import annotations

import io
import shlex
import tarfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from flashbed.guest_output.filesystem import AGED
from flashbed.image.debian_kernel import FILESYSTEM, SCHEDULER
from flashbed.machine.interfaces import CHIP, Interface, between
from flashbed.profiles.condition import SURVIVES_MKFS
from flashbed.profiles.kernel_choice import DEBIAN_KERNEL
from flashbed.study.plan import NO_QUEUE, Cell

MOUNT_POINT = "/mnt"

TRACED_REQUESTS = 16_384
"""How many requests the log of a traced cell has room for, 40 bytes each."""

CUT_AFTER = 1000
"""So many programs and erases after it was armed, and as many more as the seed moves the file, the power goes."""


@dataclass(frozen=True)
class Job:
    """The files of a cell's /job, by name."""

    beginning: Mapping[str, bytes]
    """What the guest has from power-on."""
    load: Mapping[str, bytes]
    """What comes to it when its beginning is over."""

    @property
    def files(self) -> dict[str, bytes]:
        return {**self.beginning, **self.load}

    def changed(self, files: Mapping[str, bytes]) -> Job:
        """With these files instead, or besides: those that the load does not have come with the beginning."""
        load = {name: data for name, data in files.items() if name in self.load}
        beginning = {name: data for name, data in files.items() if name not in load}
        return Job({**self.beginning, **beginning}, {**self.load, **load})

    def packed_load(self) -> bytes:
        """The load as the guest's tar unpacks it: the same bytes for the same files."""
        packed = io.BytesIO()
        with tarfile.open(fileobj=packed, mode="w", format=tarfile.USTAR_FORMAT) as archive:
            for name, data in sorted(self.load.items()):
                member = tarfile.TarInfo(name)
                member.size, member.mode = len(data), 0o755
                archive.addfile(member, io.BytesIO(data))
        return packed.getvalue()


def files(cell: Cell) -> dict[str, bytes]:
    """cell.env and the scripts that make the translation, and make and mount the file system."""
    translation, filesystem = cell.translation, cell.filesystem
    medium = between(cell.board, cell.medium).device
    device = translation.device or medium
    builds = filesystem.module and cell.kernel != DEBIAN_KERNEL
    load = [f"insmod /lib/flashbed/{filesystem.module}.ko"] if builds else []
    return {
        "cell.env": _environment(cell, device),
        "translate": _script(command.replace("{device}", medium) for command in translation.commands),
        "format": _script((*load, *filesystem.mkfs_commands(device))),
        "attach": _script(filesystem.attach_commands(device)),
        "detach": _script(filesystem.detach_commands(device)),
        "mount": _script([filesystem.mount_command(device, MOUNT_POINT)]),
    }


def of_kernel(cell: Cell) -> tuple[str, ...]:
    """The modules of a distribution's kernel that the cell needs, by the names that Linux itself would ask for."""
    drivers = between(cell.board, cell.medium).drivers
    name = cell.scheduler.name
    scheduler = () if name == NO_QUEUE.name else (f"{name}{SCHEDULER}",)
    return (*drivers, *scheduler, f"{FILESYSTEM}{cell.filesystem.mount_type}")


def aging(cell: Cell) -> bytes:
    """What /job/prepare begins with: the file system is used before the workload's files are made. Nothing for a cell
    whose file system is new.
    """
    if not cell.medium.aged:
        return b""
    medium = cell.medium
    words = f"{MOUNT_POINT} {medium.aged_fill_percent} {medium.aged_passes} {cell.seed}"
    return f"age {words} >/out/{AGED} || exit 1\n".encode()


def _script(commands: Iterable[str]) -> bytes:
    return "".join(f"{command}\n" for command in commands).encode()


def _environment(cell: Cell, device: str) -> bytes:
    scheduler = cell.scheduler
    tunables = " ".join(f"{name}={value}" for name, value in sorted(scheduler.tunables.items()))
    interface = between(cell.board, cell.medium)
    log = f" record={TRACED_REQUESTS}" if cell.traced and cell.translation.device else ""
    variables = {
        "MEDIUM_MODULE": interface.module or "",
        "MEDIUM_DEVICE": interface.device,
        "MEDIUM_OPTIONS": _driver_options(cell, interface),
        "TRANSLATION_MODULE": cell.translation.module or "",
        "TRANSLATION_ARGUMENTS": cell.translation.module_arguments + log,
        "TRANSLATION_COUNTERS": cell.translation.counters,
        "DEVICE": device,
        "TRACED": _forget(cell) if cell.traced else "",
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
    """When the power goes and how the page or block is torn, as `medium cut` has it (emulator/lab-nand.h)."""
    return f"{CUT_AFTER + cell.placement.filler_kib} {cell.seed}"


def medium_options(cell: Cell, medium_digest: str) -> str:
    """What the emulator's medium is told, in its words. `medium_digest` is that of the medium's parameters, by which it
    knows that it has got the right one.
    """
    record = f",record={TRACED_REQUESTS}" if cell.traced else ""
    return f"digest=0x{medium_digest}{record}"


def _forget(cell: Cell) -> str:
    """The guest's command that makes whoever records the requests begin anew."""
    if cell.translation.device:
        return f"echo forget >{cell.translation.counters.rpartition('/')[0]}/requests"
    return "medium forget"


def _driver_options(cell: Cell, interface: Interface) -> str:
    """What the lab's own driver of the medium is told; Linux's own are told nothing."""
    if interface.module is None:
        return ""
    return _chip_options(cell) if interface.module == CHIP.module else f"pio_sector_ns={cell.board.pio_sector_ns}"


def _chip_options(cell: Cell) -> str:
    """What the driver of a raw chip is told: the part that is used, who moves the data, and how it waits."""
    board, used = cell.board, cell.medium.used_bytes
    words = {
        f"used_bytes={used}": used > 0,
        "dma=1": board.transfer == "dma",
        "poll=1": board.nand_wait == "poll",
        "whole_pages=1": board.nand_unit == "page",
    }
    return " ".join(word for word, said in words.items() if said)
