# SPDX-License-Identifier: Apache-2.0
"""Translate a cell into the files of /job that guest/cell and guest/steps read, except those of the workload; and into
those of a guest whose power is cut, and of the guest that boots again from what its medium kept.

This module and guest/steps change together: the variables of cell.env and the names of the scripts are a contract.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from flashbed.common import paths
from flashbed.guest_output.filesystem_costs import AGING_NOTES
from flashbed.guest_output.power_cuts import (
    ACKNOWLEDGED,
    ARMED_MARK,
    ARMING_MARK,
    CHECK_STATUS,
    FILE_TREE,
    KERNEL_LOG,
    MOUNTED_AS,
    RECOVERED_MARK,
    RECOVERY_MARK,
)
from flashbed.guest_output.processes import MOUNT_POINT
from flashbed.image.module_order import FILESYSTEM_ALIAS, SCHEDULER_ALIAS
from flashbed.machine.beginning import packed_load
from flashbed.machine.interfaces import CHIP, Interface, between
from flashbed.profiles.condition import SURVIVES_MKFS
from flashbed.profiles.kernel_choice import DEBIAN_KERNEL
from flashbed.study.plan import NO_QUEUE, Cell
from flashbed.workload.base import CHECK

LOGGED_REQUESTS = 16_384
"""The capacity of a cell's request log, at 40 bytes a request."""

ROOT_SCRIPT = "root"
"""The file of /job with the functions that run programs in their root."""

CUT_AFTER = 1000
"""Programs and erases from arming to the power cut. The shift of the file, which the seed draws, adds to it."""


MEASURE_FUNCTION = "measure"

NEVER_NS = 10**18
"""A power cut 31 years away. Earlier ones come from the emulator's pipes (machine/beginning.py)."""

_AFTER_CUT = f"""\
# SPDX-License-Identifier: Apache-2.0
# After a power cut: mounts what the medium kept, repairs it if it does not mount, and checks it.

. /lib/flashbed/steps

recover() {{
	if sh -e /job/attach && sh /job/mount; then
		echo as it was >/out/{MOUNTED_AS}
	elif [ -s /job/repair ]; then
		sh /job/repair
		echo "the repair's exit status: $?"
		! sh /job/mount || echo repaired >/out/{MOUNTED_AS}
	fi
	return 0
}}

check() {{
	[ ! -e /job/{CHECK} ] || sh /job/{CHECK}
	echo $? >/out/{CHECK_STATUS}
}}

step load load
step medium load_medium
medium mark {RECOVERY_MARK}
step translation load_translation
step scheduler set_scheduler
step module sh -e /job/module
step recover recover
medium mark {RECOVERED_MARK}
dmesg >/out/{KERNEL_LOG}
[ -e /out/{MOUNTED_AS} ] || exit
step check check
ls -lnR /mnt >/out/{FILE_TREE} 2>&1
"""


@dataclass(frozen=True)
class Job:
    """The files of a cell's /job, by name."""

    beginning: Mapping[str, bytes]
    """Files that the guest has from power-on."""
    load: Mapping[str, bytes]
    """Files that the guest gets at the end of its beginning."""

    @property
    def files(self) -> dict[str, bytes]:
        return {**self.beginning, **self.load}

    def changed(self, files: Mapping[str, bytes]) -> Job:
        """Return the job with these files replaced or added. A file that is not in the load belongs to the
        beginning.
        """
        load = {name: data for name, data in files.items() if name in self.load}
        beginning = {name: data for name, data in files.items() if name not in load}
        return Job({**self.beginning, **beginning}, {**self.load, **load})

    def packed_load(self) -> bytes:
        """Return the load as a tar archive for the guest. The same files give the same bytes."""
        return packed_load(self.load)


def files(cell: Cell) -> dict[str, bytes]:
    """Return cell.env and the scripts that make the translation layer, and that make and mount the file system."""
    translation, filesystem = cell.translation, cell.filesystem
    medium, of_filesystem = between(cell.board, cell.medium).device, device(cell)
    return {
        "cell.env": _environment(cell, of_filesystem),
        "translate": script(command.replace("{device}", medium) for command in translation.commands),
        "format": script((*module_commands(cell), *filesystem.mkfs_commands(of_filesystem))),
        "attach": script(filesystem.attach_commands(of_filesystem)),
        "detach": script(filesystem.detach_commands(of_filesystem)),
        "mount": script([filesystem.mount_command(of_filesystem, MOUNT_POINT)]),
    }


def root_functions() -> bytes:
    """Return the functions that run programs in their root (guest/root)."""
    return (paths.guest() / "root").read_bytes()


def of_kernel(cell: Cell) -> tuple[str, ...]:
    """Return what the cell needs of its kernel, by the names that Linux requests. A scheduler or a file system that the
    cell chooses a module for is none of the lab's kernels'.
    """
    brings_none = cell.kernel == DEBIAN_KERNEL
    drivers = between(cell.board, cell.medium).drivers
    scheduler, filesystem = cell.scheduler, cell.filesystem
    own_queue = scheduler.name == NO_QUEUE.name or (scheduler.module and not brings_none)
    own_type = filesystem.module and not brings_none
    return (
        *drivers,
        *(() if own_queue else (f"{scheduler.name}{SCHEDULER_ALIAS}",)),
        *(() if own_type else (f"{FILESYSTEM_ALIAS}{filesystem.mount_type}",)),
    )


def aging(cell: Cell) -> bytes:
    """Return the first part of /job/prepare, which uses the file system before the workload's files are made. Return
    b"" if the cell's file system is new.
    """
    if not cell.medium.aged:
        return b""
    medium = cell.medium
    arguments = f"{MOUNT_POINT} {medium.aged_fill_percent} {medium.aged_passes} {cell.seed}"
    return f"age {arguments} >/out/{AGING_NOTES} || exit 1\n".encode()


def module_commands(cell: Cell) -> list[str]:
    """Return the command that loads the file system's own module, if the cell chooses one."""
    builds = cell.filesystem.module and cell.kernel != DEBIAN_KERNEL
    return [f"insmod /lib/flashbed/{cell.filesystem.module}.ko"] if builds else []


def device(cell: Cell) -> str:
    """Return the guest's device that the cell's file system is on."""
    return cell.translation.device or between(cell.board, cell.medium).device


def script(commands: Iterable[str]) -> bytes:
    """Return a script of commands."""
    return "".join(f"{command}\n" for command in commands).encode()


def _environment(cell: Cell, device: str) -> bytes:
    scheduler = cell.scheduler
    tunables = " ".join(f"{name}={value}" for name, value in sorted(scheduler.tunables.items()))
    interface = between(cell.board, cell.medium)
    log = f" record={LOGGED_REQUESTS}" if cell.logs_requests and cell.translation.device else ""
    variables = {
        "MEDIUM_MODULE": interface.module or "",
        "MEDIUM_DEVICE": interface.device,
        "MEDIUM_OPTIONS": _driver_options(cell, interface),
        "TRANSLATION_MODULE": cell.translation.module or "",
        "TRANSLATION_ARGUMENTS": cell.translation.module_arguments + log,
        "TRANSLATION_COUNTERS": cell.translation.counters,
        "DEVICE": device,
        "TRACED": _forget(cell) if cell.logs_requests else "",
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
    """Return when the power fails and how the page or block is torn, in the terms of `medium cut`
    (emulator/lab-nand.h).
    """
    return f"{CUT_AFTER + cell.placement.filler_kib} {cell.seed}"


def medium_options(cell: Cell, medium_digest: str) -> str:
    """Return the options of the emulator's medium. `medium_digest` is the digest of its parameters, by which the
    emulator checks that it got the right ones.
    """
    record = f",record={LOGGED_REQUESTS}" if cell.logs_requests else ""
    cut = ",cut=0" if cell.power_cuts else ""
    return f"digest=0x{medium_digest}{record}{cut}"


def _forget(cell: Cell) -> str:
    """Return the guest's command that restarts the recording of requests."""
    if cell.translation.device:
        return f"echo forget >{cell.translation.counters.rpartition('/')[0]}/requests"
    return "medium forget"


def _driver_options(cell: Cell, interface: Interface) -> str:
    """Return the options of the lab's own driver of the medium. Linux's drivers get none."""
    if interface.module is None:
        return ""
    return _chip_options(cell) if interface.module == CHIP.module else f"pio_sector_ns={cell.board.pio_sector_ns}"


def _chip_options(cell: Cell) -> str:
    """Return the options of a raw chip's driver: the used part, who moves the data, and how the driver waits."""
    board, used = cell.board, cell.medium.used_bytes
    options = {
        f"used_bytes={used}": used > 0,
        "dma=1": board.transfer == "dma",
        "poll=1": board.nand_wait == "poll",
        "whole_pages=1": board.nand_unit == "page",
    }
    return " ".join(word for word, value in options.items() if value)


def armed(job: Job) -> Job:
    """Return the job that arms the power cut before its measurement."""
    begins = f"medium mark {ARMING_MARK}\nmedium off {NEVER_NS} 0 || exit 1\nmedium mark {ARMED_MARK}\n"
    return job.changed({MEASURE_FUNCTION: begins.encode() + job.load[MEASURE_FUNCTION]})


def after_cut(cell: Cell, job: Job, checks: Mapping[str, bytes]) -> Job:
    """Return the job of the guest that boots again. It begins with the files that the first one began with. Its load is
    the check and the acknowledged lines, of which this job has none.
    """
    again = {
        "module": script(module_commands(cell)),
        "repair": script(cell.filesystem.repair_commands(device(cell))),
        "cell": _AFTER_CUT.encode(),
    }
    return Job({**job.beginning, **again}, {**checks, ACKNOWLEDGED: b""})
