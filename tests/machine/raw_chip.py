# SPDX-License-Identifier: Apache-2.0
"""A file system on a modelled raw chip, in guests that run scripts of a test's own. For tests."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

from flashbed.common import paths
from flashbed.execution import repetition, run
from flashbed.execution.repetition import Repetition
from flashbed.image import programs, toolchain
from flashbed.image.cache import Cache
from flashbed.image.debian import Archive
from flashbed.machine import qemu
from flashbed.machine.base import Outcome
from flashbed.study.loading import load_study

STUDY = 'workload = { tool = "fio", pattern = "write", request = "4k", file = "64k" }\n'

LARGE, SMALL = "slc-nand-256m", "slc-nand-64m"
"""Chips with pages of 2 KiB, and of 512 bytes, on which YAFFS2 is laid out as YAFFS1."""

NOTHING = "true\n"

PROGRAMS = Path(__file__).parents[1] / "guest"
"""Sources of programs that only tests put into a guest."""

WORN = "endurance_erases=1,program_fail_ppb=50000,erase_fail_ppb=2000000"
"""Once each block has been erased, a program in 20,000 and an erase in 500 fail; later more."""


class Bed(NamedTuple):
    """A chip's files, and the cell that runs on them."""

    wanted: Repetition
    files: qemu.Files
    folder: Path


def new_bed(study_file, folder: Path, filesystem: str, chip: str, **top: str) -> Bed:
    """A new chip for a cell of this file system, in the folder."""
    study = study_file(STUDY, filesystem=filesystem, medium=chip, board="arm64-1000", **top)
    (wanted,) = run.prepare(load_study(study))
    names = (folder / name for name in ("initramfs", "state.bin", "data.img"))
    files = qemu.Files(wanted.image.kernel.image, *names)
    tool = wanted.image.media_tool
    tool.create(files.state, wanted.cell.medium.core_parameters)
    tool.create_content(files.state, files.data)
    return Bed(wanted, files, folder)


def own_program(name: str) -> bytes:
    """A program of tests/guest, as /job/NAME: a script has to make it executable."""
    root = paths.cache_root()
    archive = Archive(root / f"debian-{toolchain.ARCHITECTURE}", toolchain.ARCHITECTURE)
    return programs.own(Cache(root / "image"), archive, PROGRAMS / f"{name}.c").path(name).read_bytes()


def yaffs_counters(lines: Iterable[str]) -> dict[str, int]:
    """What the lines of /proc/yaffs said of its one device."""
    return {words[0]: int(words[1]) for words in map(str.split, lines) if words[0] != "device"}


def boot(
    bed: Bed,
    *,
    limit_s: float = 300,
    ram_bytes: int | None = None,
    job_files: Mapping[str, bytes] | None = None,
    **scripts: str,
) -> Outcome:
    """Boots the guest with other scripts than its cell's; the chip must have been used by its rules."""
    cell, image = bed.wanted.cell, bed.wanted.image
    job = {**repetition.job(cell, image), **(job_files or {})}
    job |= {name: text.encode() for name, text in scripts.items()}
    job["cell.env"] += b"FILLER_KIB=0\n"
    image.write_initramfs(repetition.program_set(cell), job, bed.files.initramfs)
    setup = qemu.Setup(cell.board.instruction_ns, ram_bytes or cell.board.ram, cell.board.cpu, cell.seed)
    outcome = qemu.run(setup, bed.files, bed.folder, limit_s, threading.Event())
    assert outcome.status == "measured", (outcome.reason, outcome.console.decode(errors="replace")[-3000:])
    told = image.media_tool.inspect(bed.files.state)
    assert told["fault"] is None
    assert told["counters"]["broken_rules"] == 0
    return outcome
