# SPDX-License-Identifier: Apache-2.0
"""Measure YAFFS2's mount time and the memory that it keeps, by contents, after an unmount and after a power cut."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from flashbed.guest_output.filesystem_costs import (
    EMPTY,
    MEMORY_DOWN,
    MEMORY_UP,
    MOUNT_BEGUN,
    MOUNT_DONE,
    SPACE,
    upkeep_metrics,
)
from pages.yaffs2_guest import boot, statistics

MIB = 1 << 20

CONTENTS: Sequence[tuple[int, int]] = ((2, 1), (8, 1), (8, 2048), (32, 1))
"""Contents: MiB, and the number of files."""

CHIPS = (("slc-nand-256m", ("", ":disable-summary=on")), ("slc-nand-64m", ("",)))

CUT_AFTER = 40
"""The number of programs and erases before the power cut. The flash holds the contents then, and little more."""

MOMENTS = ("clean", "cut")
"""The mounts of a row: after an unmount, after a power cut."""

FUNCTIONS = """\
. /job/cell.env

new() { # MiB files
	umount /mnt
	flash_erase -q /dev/mtd0 0 0
	sh /job/mount
	fio --name=f --directory=/mnt --rw=write --bs=4k --size=$1M --nrfiles=$2 --openfiles=1 \\
		--file_service_type=sequential --fallocate=none --end_fsync=1
	umount /mnt
}

memory() { # name
	grep -h -E "^[A-Z]|  count:" /proc/meminfo /proc/zoneinfo >"/out/$1"
}

# As guest/cell does it, but that more was freed before
timed() { # name
	echo 3 >/proc/sys/vm/drop_caches
	usleep 1000000
	memory "$1.down"
	grep "^now at" /proc/timer_list >"/out/$1.begun"
	sh /job/mount
	grep "^now at" /proc/timer_list >"/out/$1.done"
	cat /sys/kernel/debug/yaffs2/mtd0 >"/out/$1.yaffs"
	usleep 100000
	memory "$1.up"
}

cut() {
	medium cut $CUT 1
	while [ "$(cat /sys/kernel/debug/media_nand/power)" = armed ]; do
		dd if=/dev/zero of=/mnt/cut bs=4k count=4 conv=notrunc,fsync || true
	done
	umount /mnt
	rmmod "$MEDIUM_MODULE"
	insmod "/lib/flashbed/$MEDIUM_MODULE.ko" $MEDIUM_OPTIONS
}
"""


@dataclass(frozen=True)
class Mount:
    """A mount: seconds, bytes of memory that the kernel keeps, pages read, blocks with a summary."""

    seconds: float
    memory: float
    pages: int
    summaries: int
    by_checkpoint: bool


@dataclass(frozen=True)
class Row:
    """Contents on a chip, and their two mounts."""

    chip: str
    filesystem: str
    mib: int
    files: int
    clean: Mount
    cut: Mount


def script(contents: Sequence[tuple[int, int]]) -> str:
    """Return the script that writes each of the contents to an erased chip, and mounts it after an unmount and a power
    cut.
    """
    turns = (f"new {mib} {files}\ntimed {mib}.{files}.clean\ncut\ntimed {mib}.{files}.cut\n" for mib, files in contents)
    return f"set -e\nCUT={CUT_AFTER}\n{FUNCTIONS}{''.join(turns)}"


def rows(
    folder: Path, chips: Sequence[tuple[str, Sequence[str]]] = CHIPS, contents: Sequence[tuple[int, int]] = CONTENTS
) -> Iterator[Row]:
    """Yield the mounts of each chip with each of its options. Each chip and option takes a guest."""
    for chip, several in chips:
        for options in several:
            filesystem = f"yaffs2{options}"
            where = folder / f"{chip}{options}".replace(":", "-")
            cell, outcome = boot(
                where, script(contents), board="arm64-1000", chip=chip, filesystem=filesystem, beside={}
            )
            for mib, files in contents:
                both = [_mount(outcome.files, f"{mib}.{files}.{name}", cell.medium.size_bytes) for name in MOMENTS]
                yield Row(chip, filesystem, mib, files, *both)


def _mount(out: Mapping[str, bytes], name: str, medium_bytes: int) -> Mount:
    """Return the lab's own metrics of a mount from renamed files."""
    renamed = {
        MOUNT_BEGUN: out[f"{name}.begun"],
        MOUNT_DONE: out[f"{name}.done"],
        MEMORY_DOWN: out[f"{name}.down"],
        MEMORY_UP: out[f"{name}.up"],
        EMPTY: out[EMPTY],
        SPACE: out[EMPTY],
    }
    metrics, counted = upkeep_metrics(renamed, medium_bytes), statistics(out[f"{name}.yaffs"])
    return Mount(
        metrics["mount_s"],
        metrics["mount_memory_bytes"],
        counted["pages_read"],
        counted["summaries_used"],
        counted["checkpoint_mounts"] > 0,
    )
