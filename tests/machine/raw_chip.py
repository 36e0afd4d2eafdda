# SPDX-License-Identifier: Apache-2.0
"""Raw NAND chips for tests: studies on them, what they must look like afterwards, and the programs that try them: the
kernel's own, mtd-utils' and ours.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from flashbed.common import paths
from flashbed.image import guest_programs, modules, toolchain
from flashbed.image.cache import Cache
from flashbed.image.debian import Archive
from flashbed.machine.outcomes import Outcome
from tests.machine import mtd_test_programs
from tests.support import guest_rig
from tests.support.fixture_types import StudyWriter
from tests.support.guest_rig import Rig
from tests.support.repository import REPOSITORY

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

UBIFS = ("ubi", "ubifs")
"""Modules in the order in which they are loaded, and the shell commands that load them out of /job."""
LOAD_UBIFS = "insmod /job/ubi.ko\ninsmod /job/ubifs.ko\n"

LARGE, SMALL = "slc-nand-256m", "slc-nand-64m"
"""Chips with pages of 2 KiB, and of 512 bytes, on which YAFFS2 is laid out as YAFFS1."""

NOTHING = "true\n"

PROGRAMS = REPOSITORY / "tests/guest"
"""Sources of programs that only tests put into a guest."""

WORN = "endurance_erases=1,program_fail_ppb=50000,erase_fail_ppb=2000000"
"""Once each block has been erased, a program in 20,000 and an erase in 500 fail; later more."""


def new(
    study_file: StudyWriter, folder: Path, filesystem: str, chip: str, board: str = "arm64-1000", **top: str
) -> Rig:
    """Make a new chip in the folder, for a cell of this file system."""
    return guest_rig.new(study_file(guest_rig.STUDY, filesystem=filesystem, medium=chip, board=board, **top), folder)


def boot(rig: Rig, **words: Any) -> Outcome:
    """Boot the rig, and check that the guest kept the rules of the chip."""
    outcome = guest_rig.boot(rig, **words)
    inspection = rig.tool.inspect(rig.files.state)
    assert inspection.fault is None
    assert inspection.counters["violations"] == 0
    return outcome


def own_program(name: str) -> bytes:
    """Build a program of tests/guest, and return its content. A guest has it as /job/NAME, and its script must make it
    executable.
    """
    root = paths.cache_root()
    archive = Archive(root / f"debian-{toolchain.ARCHITECTURE}", toolchain.ARCHITECTURE)
    return guest_programs.own(Cache(root / "image"), archive, PROGRAMS / f"{name}.c").path(name).read_bytes()


def of_the_kernel(rig: Rig, *names: str) -> dict[str, bytes]:
    """Return the kernel's own modules with these names, by file name."""
    built = modules.build_chosen(Cache(paths.cache_root() / "image"), rig.planned.image.kernel, names)
    return {file.name: file.read_bytes() for file in built.values()}


def mtd_modules(rig: Rig) -> dict[str, bytes]:
    """Return the kernel's own tests of MTD devices, by file name."""
    return of_the_kernel(rig, *modules.OF_THE_KERNEL["mtd_tests"].makes)


def mtd_programs(*names: str) -> dict[str, bytes]:
    """Return the test programs of mtd-utils, by name."""
    root = paths.cache_root()
    archive = Archive(root / f"debian-{toolchain.ARCHITECTURE}", toolchain.ARCHITECTURE)
    entry = mtd_test_programs.mtd(Cache(root / "image"), archive)
    return {name: entry.path(name).read_bytes() for name in names}


def marked_blocks(rig: Rig) -> list[int]:
    """Return the blocks of a new chip whose first page has the factory's bad-block mark."""
    p = rig.cell.medium.numbers()
    raw_page = p["page_bytes"] + p["spare_bytes"]
    at = p["page_bytes"] + (5 if p["page_bytes"] == 512 else 0)
    with rig.files.data.open("rb") as data:
        marked = []
        for block in range(p["blocks_per_die"]):
            data.seek(block * p["pages_per_block"] * raw_page + at)
            if data.read(1) == b"\0":
                marked.append(block)
    return marked


def yaffs_counters(lines: Iterable[str]) -> dict[str, int]:
    """Return the counters of the one device in the lines of /sys/kernel/debug/yaffs2/mtd0."""
    return {words[0]: int(words[1]) for words in map(str.split, lines) if words[0] != "device"}
