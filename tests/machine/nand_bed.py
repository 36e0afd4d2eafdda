# SPDX-License-Identifier: Apache-2.0
"""Raw NAND chips for tests: a new chip's files, a guest with the tools for raw flash that runs other scripts than its
cell's, the kernel's and mtd-utils' own test programs.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import mtd_test_programs

from flashbed.common import paths
from flashbed.execution import repetition, run
from flashbed.execution.repetition import Repetition
from flashbed.image import modules
from flashbed.image.cache import Cache
from flashbed.image.debian import Archive
from flashbed.image.toolchain import ARCHITECTURE
from flashbed.machine import qemu
from flashbed.machine.base import Outcome
from flashbed.study.loading import load_study

PROFILE = """
title = "JFFS2, and tools for raw flash"
needs = "mtd"
packages = ["mtd-utils"]
programs = ["/usr/sbin/flash_erase", "/usr/sbin/nandwrite", "/usr/sbin/nanddump"]
module = "jffs2"
mkfs = ["/usr/sbin/flash_erase -q -j {device} 0 0"]
[mount]
type = "jffs2"
device = "mtd0"
"""

MORE_TOOLS = ("nandtest", "mtdpart", "ubiformat", "ubiattach", "ubidetach", "ubimkvol")
MORE = PROFILE.replace("programs = [", "programs = [" + "".join(f'"/usr/sbin/{name}", ' for name in MORE_TOOLS))
"""Not for tests of times: a larger guest moves them by a step of its clock."""

STUDY = 'workload = { tool = "fio", pattern = "write", request = "4k", file = "64k" }\n'

LIMIT_S = 900
"""This host's time after which a guest counts as hung."""


class Bed(NamedTuple):
    """A chip's files, and the cell that runs on them."""

    wanted: Repetition
    files: qemu.Files
    folder: Path


def make(study: Path, folder: Path) -> Bed:
    """The bed of the only cell of `study`: a new chip, in a folder that is made for it."""
    (wanted,) = run.prepare(load_study(study))
    folder.mkdir()
    names = (folder / name for name in ("initramfs", "state.bin", "data.img"))
    files = qemu.Files(wanted.image.kernel.image, *names)
    tool = wanted.image.media_tool
    tool.create(files.state, wanted.cell.medium.core_parameters)
    tool.create_content(files.state, files.data)
    return Bed(wanted, files, folder)


def boot(bed: Bed, beside: Mapping[str, bytes] | None = None, **scripts: str) -> Outcome:
    """Boots the guest with other scripts than its cell's, and `beside` them other files in /job."""
    cell, image = bed.wanted.cell, bed.wanted.image
    job = repetition.job(cell, image) | {name: text.encode() for name, text in scripts.items()} | dict(beside or {})
    job["cell.env"] += b"FILLER_KIB=0\n"
    image.write_initramfs(repetition.program_set(cell), job, bed.files.initramfs)
    setup = qemu.Setup(cell.board.instruction_ns, cell.board.ram, cell.board.cpu, cell.seed)
    outcome = qemu.run(setup, bed.files, bed.folder, LIMIT_S, threading.Event())
    assert outcome.status == "measured", (outcome.reason, outcome.console.decode(errors="replace")[-2000:])
    return outcome


def words(outcome: Outcome, name: str) -> dict[str, int]:
    """Numbers by name from lines such as "writesize 512"."""
    return {key: int(value) for key, value in (line.split() for line in outcome.files[name].decode().splitlines())}


def marked_blocks(bed: Bed) -> list[int]:
    """Blocks whose first page has the factory's mark in the content of a new chip."""
    p = bed.wanted.cell.medium.numbers()
    raw_page = p["page_bytes"] + p["spare_bytes"]
    at = p["page_bytes"] + (5 if p["page_bytes"] == 512 else 0)
    with bed.files.data.open("rb") as data:
        found = []
        for block in range(p["blocks_per_die"]):
            data.seek(block * p["pages_per_block"] * raw_page + at)
            if data.read(1) == b"\0":
                found.append(block)
    return found


def mtd_modules(bed: Bed) -> dict[str, bytes]:
    """The kernel's own tests of MTD devices, by file name."""
    entry = modules.build_of_the_kernel(Cache(paths.cache_root() / "image"), bed.wanted.image.kernel, "mtd_tests")
    return {name: entry.path(name).read_bytes() for name in entry.digests}


def mtd_programs(*names: str) -> dict[str, bytes]:
    """Test programs of mtd-utils, by name."""
    archive = Archive(paths.cache_root() / f"debian-{ARCHITECTURE}", ARCHITECTURE)
    entry = mtd_test_programs.mtd(Cache(paths.cache_root() / "image"), archive)
    return {name: entry.path(name).read_bytes() for name in names}
