# SPDX-License-Identifier: Apache-2.0
"""The kernel's own tests of MTD devices, and those of mtd-utils, on raw chips: small and large pages, with and without
bad blocks and wrong bits. They find nothing, and no rule of a data sheet is broken.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from flashbed.common import paths
from flashbed.machine.outcomes import Outcome
from tests.machine import raw_chip
from tests.machine.raw_chip import marked_blocks, mtd_modules, mtd_programs
from tests.support.fixture_types import NewChip
from tests.support.guest_rig import NO_MOUNT, Rig, boot, words

NewFaultyChip = Callable[[str, str], Rig]

NewSmallChip = Callable[[str], Rig]

SMALL_CHIPS = {
    "small pages": (
        "slc-nand-64m",
        {"capacity_bytes": 4 << 20, "device_id": 0xE3, "pages_per_block": 16, "blocks_per_die": 512},
    ),
    "large pages": ("slc-nand-256m", {"capacity_bytes": 8 << 20, "onfi": 1, "blocks_per_die": 64}),
    "16 bits": ("slc-nand-256m", {"capacity_bytes": 8 << 20, "onfi": 1, "blocks_per_die": 64, "bus_bits": 16}),
    "MLC": ("mlc-nand", {"capacity_bytes": 16 << 20, "blocks_per_die": 8}),
}
"""Chips of few blocks, else as in a profile: the first by its identity, the others by their parameter pages."""


@pytest.fixture
def new_small_chip(new_chip: NewChip, tmp_path: Path) -> NewSmallChip:
    """Return a function that makes a rig with a chip of SMALL_CHIPS: `new_small_chip(name)`."""

    def make(name: str) -> Rig:
        profile, changes = SMALL_CHIPS[name]
        text = (paths.profiles() / "media" / f"{profile}.toml").read_text()
        parameters, source = text.split("[source]")
        for key, value in {"factory_bad_blocks": 2, **changes}.items():
            parameters = re.sub(rf"^{key} .*\n", "", parameters, flags=re.MULTILINE) + f"{key} = {value}\n"
            if not re.search(rf"^{key} ", source, re.MULTILINE):
                source += f'{key} = "assumed: a test"\n'
        (tmp_path / "profiles" / "media").mkdir()
        (tmp_path / "profiles" / "media" / "small.toml").write_text(f"{parameters}[source]{source}")
        return new_chip("small", tmp_path / "chip")

    return make


MTD_TESTS = ("oobtest", "pagetest", "readtest", "subpagetest", "stresstest")

RUN_MTD_TESTS = (
    "insmod /job/mtd_test.ko\n"
    + "".join(f"insmod /job/mtd_{test}.ko dev=0{' count=100' * (test == 'stresstest')}\n" for test in MTD_TESTS)
    + "dmesg >/out/said\n"
)


@pytest.mark.long
@pytest.mark.parametrize("chip", SMALL_CHIPS)
def test_the_kernels_own_tests_find_nothing(new_small_chip: NewSmallChip, chip: str) -> None:
    """Pages, spare areas and parts of pages, written and read in many ways; and no rule of the data sheet broken."""
    rig = new_small_chip(chip)
    outcome = boot(rig, beside=mtd_modules(rig), format=RUN_MTD_TESTS, mount=NO_MOUNT)
    output = outcome.files["said"].decode()
    for test in MTD_TESTS:
        assert re.search(f"mtd_{test}: finished($| with 0 errors|, 100 operations)", output, re.MULTILINE), output[
            -3000:
        ]
    inspection = rig.tool.inspect(rig.files.state)
    assert inspection.fault is None
    assert inspection.counters["violations"] == 0
    assert inspection.counters["program_failures"] == inspection.counters["erase_failures"] == 0


# Busybox tries twice to load a module, and this one never stays
RUN_BITERRS = """
insmod /job/mtd_test.ko
insmod /job/mtd_nandbiterrs.ko dev=0 || true
dmesg >/out/said
"""
TRIES = 2


@pytest.mark.parametrize(
    ("chip", "strength"),
    [
        ("large pages", 1),
        pytest.param("small pages", 1, marks=pytest.mark.long),
        pytest.param("16 bits", 1, marks=pytest.mark.long),
        pytest.param("MLC", 24, marks=pytest.mark.long),
    ],
)
def test_as_many_bits_are_corrected_as_the_chip_asks_for(
    new_small_chip: NewSmallChip, chip: str, strength: int
) -> None:
    """The kernel's test clears one bit more of each codeword with each step, by programming the page once more."""
    rig = new_small_chip(chip)
    outcome = boot(rig, beside=mtd_modules(rig), format=RUN_BITERRS, mount=NO_MOUNT)
    output = outcome.files["said"].decode()
    assert "mtd_nandbiterrs: finished successfully" in output, output[-3000:]
    assert f"Successfully corrected {strength} bit errors per subpage" in output
    assert f"After {strength + 1} biterrors per subpage, read reported error" in output
    programs = 1 + strength + 2  # first, then with 0, 1 ... strength + 1 bits cleared
    counters = rig.tool.inspect(rig.files.state).counters
    assert counters["flash_programmed_pages"] == TRIES * programs
    allowed = rig.cell.medium.numbers()["partial_programs"]
    assert counters["violations"] == TRIES * max(programs - allowed, 0)


BLOCKS = {"slc-nand-64m": 96, "slc-nand-256m": 24}
"""Of a chip as it is in its profile, how many blocks a test uses: 1.5 MiB and 3 MiB."""

FAULTS = {
    "none": "factory_bad_blocks=0",
    "bad blocks and wrong bits": "factory_bad_blocks={fifth},bit_error_ppt=100000",
}
"""A fifth of all blocks bad, and one bit in ten million wrong, each time a page is read.

That is a hundred times the profile's: two wrong bits in the 256 bytes of which one can be corrected come once in
50 million times, and one test reads less than a million times 256 bytes.
"""


class Part(NamedTuple):
    """Blocks of a chip that are used, the first of them good."""

    first: int
    blocks: int
    bad: int


def part_of(rig: Rig, blocks: int) -> Part:
    """Return the part with the most bad blocks. If no part has a bad block, return the first part of the chip."""
    bad = marked_blocks(rig)
    firsts = (block + 1 for block in [-1, *bad] if block + 1 not in bad)
    parts = (Part(first, blocks, sum(first <= block < first + blocks for block in bad)) for first in firsts)
    last = rig.cell.medium.numbers()["blocks_per_die"] - blocks
    return max((part for part in parts if part.first <= last), key=lambda part: (part.bad, -part.first))


def add_part(rig: Rig, part: Part) -> str:
    """Return the line of a guest's script that makes the part /dev/mtd1. The test programs do not see the rest of the
    chip.
    """
    p = rig.cell.medium.numbers()
    block_bytes = p["page_bytes"] * p["pages_per_block"]
    return f"/usr/sbin/mtdpart add /dev/mtd0 part {part.first * block_bytes} {part.blocks * block_bytes}\n"


ERRORS = """
cd /sys/class/mtd/mtd1
for name in bad_blocks corrected_bits ecc_failures; do
    echo $name $(cat $name)
done >/out/errors
"""


def verify(rig: Rig, outcome: Outcome, part: Part, faults: str) -> None:
    """Check that no rule was broken, and that all wrong bits were corrected. Check that bad blocks and wrong bits
    occurred if `faults` asks for them.
    """
    inspection = rig.tool.inspect(rig.files.state)
    assert inspection.fault is None
    assert inspection.counters["violations"] == 0
    assert inspection.counters["program_failures"] == inspection.counters["erase_failures"] == 0
    errors = words(outcome, "errors")
    assert errors["ecc_failures"] == 0
    assert errors["bad_blocks"] == part.bad
    if faults == "none":
        assert part.bad == 0
    else:
        assert part.bad > 0
        assert errors["corrected_bits"] > 0


@pytest.fixture
def new_faulty_chip(new_chip: NewChip, tmp_path: Path) -> NewFaultyChip:
    """Return a function that makes a rig with a chip of a profile and with FAULTS: `new_faulty_chip(chip, faults)`."""

    def make(chip: str, faults: str) -> Rig:
        fifth = {"slc-nand-64m": 4096 // 5, "slc-nand-256m": 2048 // 5}[chip]
        return new_chip(f"{chip}:{FAULTS[faults].format(fifth=fifth)}", tmp_path / "chip", tools="more-tools")

    return make


ALL_MODULES = {
    "oobtest": "bitflip_limit=1",  # what users have of the spare area no code protects
    "pagetest": "",
    "readtest": "",
    "subpagetest": "",
    "stresstest": "count=300",
    "speedtest": "",
    "torturetest": "eb=1 ebcnt=6 cycles_count=10 gran=10",
}

FINISHED = r"finished($| with 0 errors$|, 300 operations done$| after 10 erase cycles$)"


@pytest.mark.long
@pytest.mark.parametrize("faults", FAULTS)
@pytest.mark.parametrize("chip", BLOCKS)
def test_the_kernels_tests_pass_on_the_profiles_chips(new_faulty_chip: NewFaultyChip, chip: str, faults: str) -> None:
    rig = new_faulty_chip(chip, faults)
    part = part_of(rig, BLOCKS[chip])
    script = add_part(rig, part) + "insmod /job/mtd_test.ko\n"
    script += "".join(f"insmod /job/mtd_{name}.ko dev=1 {options}\n" for name, options in ALL_MODULES.items())
    script += ERRORS + "dmesg >/out/said\n"
    outcome = boot(rig, beside=mtd_modules(rig), format=script, mount=NO_MOUNT)
    output = outcome.files["said"].decode()
    for name in ALL_MODULES:
        assert re.search(f"mtd_{name}: {FINISHED}", output, re.MULTILINE), (name, output[-3000:])
    verify(rig, outcome, part, faults)


# The first blocks as they are, with their codes, come back as they were after others were written there
COPY = """
cd /out
size=$(cat /sys/class/mtd/mtd1/erasesize)
head -c $((4 * size)) /dev/urandom >written
/usr/sbin/flash_erase -q /dev/mtd1 0 0
/usr/sbin/nandwrite -q /dev/mtd1 written
/usr/sbin/nanddump -q -n -o --bb=skipbad -l $((4 * size)) -f /tmp/raw /dev/mtd1
/usr/sbin/flash_erase -q /dev/mtd1 0 0
/usr/sbin/nandwrite -q -n -o /dev/mtd1 /tmp/raw
/usr/sbin/nanddump -q --bb=skipbad -l $((4 * size)) -f read /dev/mtd1
cmp written read
"""

# Of mtd-utils 2.1.5 two crash at -S, where they forget its argument; they know --seed
USER_TESTS = """
/usr/sbin/nandtest -s 1 -p 2 /dev/mtd1
/usr/sbin/nandtest -s 2 -k /dev/mtd1
/job/flash_readtest /dev/mtd1
/job/flash_stress -s 1 -c 100 /dev/mtd1
/job/nandpagetest --seed=1 /dev/mtd1
/job/nandsubpagetest --seed=1 /dev/mtd1
/job/flash_torture -b 1 -c 4 /dev/mtd1
"""


@pytest.mark.long
@pytest.mark.parametrize("faults", FAULTS)
@pytest.mark.parametrize("chip", BLOCKS)
def test_the_tests_of_mtd_utils_pass(new_faulty_chip: NewFaultyChip, chip: str, faults: str) -> None:
    """Each ends with status 0 if it found nothing."""
    rig = new_faulty_chip(chip, faults)
    part = part_of(rig, BLOCKS[chip])
    programs = mtd_programs("flash_readtest", "flash_stress", "flash_torture", "nandpagetest", "nandsubpagetest")
    script = add_part(rig, part) + COPY + USER_TESTS + ERRORS
    outcome = boot(rig, beside=programs, format=script, mount=NO_MOUNT)
    verify(rig, outcome, part, faults)


# Fills the file system with files, directories and links, changes and deletes them, mounts it anew, compares all
INTEGCK = """
/usr/sbin/ubiformat -q -y -Q 1 /dev/mtd1
/usr/sbin/ubiattach -p /dev/mtd1
/usr/sbin/ubimkvol /dev/ubi0 -N test -m
mkdir /tmp/test
mount -t ubifs ubi0:test /tmp/test
/job/integck -e /tmp/test
umount /tmp/test
/usr/sbin/ubidetach -p /dev/mtd1
"""
INTEGCK_BLOCKS = {"slc-nand-64m": 384, "slc-nand-256m": 80}


@pytest.mark.long
@pytest.mark.parametrize("faults", FAULTS)
@pytest.mark.parametrize("chip", INTEGCK_BLOCKS)
def test_ubifs_keeps_what_integck_puts_into_it(new_faulty_chip: NewFaultyChip, chip: str, faults: str) -> None:
    rig = new_faulty_chip(chip, faults)
    part = part_of(rig, INTEGCK_BLOCKS[chip])
    script = add_part(rig, part) + raw_chip.LOAD_UBIFS + INTEGCK + ERRORS + "dmesg >/out/said\n"
    beside = mtd_programs("integck") | raw_chip.of_the_kernel(rig, *raw_chip.UBIFS)
    outcome = boot(rig, beside=beside, format=script, mount=NO_MOUNT)
    output = outcome.files["said"].decode()
    assert output.count("UBIFS (ubi0:0): UBIFS: mounted UBI device 0") >= 3  # ours, and integck's after each part
    assert "UBIFS error" not in output
    verify(rig, outcome, part, faults)
    # integck writes until the file system is full
    p = rig.cell.medium.numbers()
    programs = rig.tool.inspect(rig.files.state).counters["flash_programmed_pages"]
    assert programs > (part.blocks - part.bad) * p["pages_per_block"] // 2
