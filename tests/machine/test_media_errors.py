# SPDX-License-Identifier: Apache-2.0
"""A medium that cannot correct a read, or that is worn out, is an error to the program that asks, as Linux's driver of
its interface has it: soon, for those blocks alone, and what can be read can be read afterwards.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import NamedTuple

import pytest

from flashbed.machine.outcomes import Outcome
from tests.machine import raw_chip
from tests.machine.raw_chip import NOTHING
from tests.support.fixture_types import NewChip, StudyWriter
from tests.support.guest_rig import NO_MOUNT, STUDY, boot, new

BLOCKS = 32
"""Of 4 KiB, in which reads are tried."""

LONGEST_S = 1.0
"""Of the guest's time, for a request that fails: libata rests for 30 ms after each, and tries a write five times."""

RESET = re.compile(r"reset|timed? ?out|hung|offline|link down", re.IGNORECASE)

MEDIUM = "slc-64m-ftl-page:used_bytes=32M,bit_error_ppt=78000000,program_fail_ppb=1000000000,endurance_erases=1"
"""Of blocks of 4 KiB, a third cannot be read. Once a block has been erased, each program in it fails."""

EIO, ENODATA, EREMOTEIO, EOPNOTSUPP = (
    "Input/output error",
    "No data available",
    "Remote I/O error",
    "Operation not supported",
)

TRY = """
now() { read up idle </proc/uptime; echo $up; }
try() {
    name=$1 begun=$(now)
    shift
    "$@" 2>/tmp/said
    echo $name $? $begun $(now) "$(grep -v records /tmp/said)"
}
"""

MEASURE = f"""
. /job/cell.env
{TRY}
read_blocks() {{
    for block in $(seq 0 {BLOCKS - 1}); do
        try $block dd if=/dev/medium of=/dev/null bs=4k count=1 skip=$block $1
    done
}}
dmesg -c >/dev/null
echo 2 >/sys/block/${{DEVICE#/dev/}}/queue/nomerges
dd if=/dev/zero of=/dev/medium bs=128k count=1 oflag=direct
read_blocks iflag=direct >/out/direct
echo 3 >/proc/sys/vm/drop_caches
read_blocks >/out/buffered
fio --name=queued --filename=/dev/medium --rw=randread --bs=4k --size={4 * BLOCKS}k --direct=1 --ioengine=libaio \\
    --iodepth=16 --continue_on_error=all --ignore_error=EIO:61 --output-format=json --output=/out/fio.json
try whole dd if=/dev/medium of=/dev/null bs={4 * BLOCKS}k count=1 iflag=direct >/out/whole
dmesg -c >/out/log

for round in 1 2 3 4; do
    dd if=/dev/zero of=/dev/medium bs=256k oflag=direct 2>/tmp/said
    grep -q "No space" /tmp/said || break
done
(
    try direct dd if=/dev/zero of=/dev/medium bs=4k count=1 oflag=direct
    try buffered dd if=/dev/zero of=/dev/medium bs=4k count=1 conv=fsync
    try discard blkdiscard -o 0 -l 4194304 /dev/medium
) >/out/writes
read_blocks iflag=direct >/out/worn-out
"""


class Try(NamedTuple):
    """A command in the guest, and the errno's text, "" if it has done what it should."""

    name: str
    error: str
    took_s: float


def tries(outcome: Outcome, name: str) -> list[Try]:
    attempts = []
    for line in outcome.files[name].decode().splitlines():
        call, status, begun, ended, error = line.split(" ", 4)
        attempts.append(Try(call, error.rpartition(": ")[2] if int(status) else "", float(ended) - float(begun)))
    return attempts


def failed(attempts: list[Try], error: str) -> list[int]:
    """Return the blocks that had this error. Check that none had another."""
    assert {attempt.error for attempt in attempts} == {"", error}
    assert max(attempt.took_s for attempt in attempts) < LONGEST_S
    return [int(attempt.name) for attempt in attempts if attempt.error]


class Expected(NamedTuple):
    """The errors of requests that go past the page cache, which has EIO for all."""

    depth: int
    read: str
    write: str
    discard: str


INTERFACES = {
    "nvme": Expected(32, ENODATA, ENODATA, EIO),
    "usb": Expected(1, ENODATA, EREMOTEIO, EOPNOTSUPP),
    "sata": Expected(1, EIO, EIO, EIO),
    "sata, queued": Expected(32, EIO, EIO, EIO),
    # Linux does not ask a card for its status if the controller has waited for the end of an erase
    "sd": Expected(1, EIO, EIO, ""),
    "emmc": Expected(1, EIO, EIO, ""),
    "plain": Expected(4, ENODATA, EIO, EIO),
}


@pytest.mark.parametrize("name", INTERFACES)
def test_what_a_medium_cannot_do_is_an_error_to_who_asks(name: str, study_file: StudyWriter, tmp_path: Path) -> None:
    expected = INTERFACES[name]
    medium = f"{MEDIUM},interface={name.partition(',')[0]},queue_depth={expected.depth}"
    rig = new(study_file(STUDY, filesystem="ext2", medium=medium), tmp_path / "guest")
    outcome = boot(rig, format=NOTHING, mount=NO_MOUNT, measure=MEASURE, limit_s=120)

    unreadable = failed(tries(outcome, "direct"), expected.read)
    assert BLOCKS / 8 < len(unreadable) < BLOCKS / 2
    assert failed(tries(outcome, "buffered"), EIO) == unreadable
    output = outcome.files["fio.json"].decode()
    (queued,) = json.loads(output[output.index("{") :])["jobs"]
    assert (queued["total_err"], queued["read"]["total_ios"]) == (len(unreadable), BLOCKS)
    (whole,) = tries(outcome, "whole")
    assert (whole.error, whole.took_s < LONGEST_S) == (expected.read, True)
    assert not RESET.search(outcome.files["log"].decode())

    writes = {attempt.name: attempt for attempt in tries(outcome, "writes")}
    assert {name: attempt.error for name, attempt in writes.items()} == {
        "direct": expected.write,
        "buffered": EIO,
        "discard": expected.discard,
    }
    assert max(attempt.took_s for attempt in writes.values()) < LONGEST_S
    assert 0 < len(failed(tries(outcome, "worn-out"), expected.read)) < BLOCKS
    counters = rig.tool.inspect(rig.files.state).counters
    assert counters["refused_writes"] > 0


CHIP = f"""
{TRY}
read_blocks() {{
    for block in $(seq 0 {BLOCKS - 1}); do
        try $block dd if=/dev/$1 of=/dev/null bs=4k count=1 skip=$block
    done
}}
flash_erase -q /dev/mtd0 0 0
dd if=/dev/zero of=/dev/mtd0 bs=4k count={BLOCKS}
read_blocks mtdblock0 >/out/block
cd /sys/class/mtd/mtd0
before=$(cat ecc_failures)
read_blocks mtd0 >/out/character
echo $(($(cat ecc_failures) - before)) >/out/ecc_failures
medium fail 1
for number in 1 2; do
    try $number dd if=/dev/zero of=/dev/mtd0 bs=4k count=1 seek=$(({BLOCKS} + number))
done >/out/programs
"""


def test_what_a_raw_chip_cannot_do_is_an_error_to_who_asks(new_chip: NewChip, tmp_path: Path) -> None:
    """The character device gives a page with its wrong bits, and counts them."""
    chip = new_chip("slc-nand-256m:factory_bad_blocks=0,bit_error_ppt=150000000", tmp_path / "guest")
    outcome = raw_chip.boot(chip, format=NOTHING, mount=NO_MOUNT, measure=CHIP, limit_s=120)
    unreadable = failed(tries(outcome, "block"), EIO)
    assert BLOCKS / 8 < len(unreadable) < BLOCKS / 2
    assert {attempt.error for attempt in tries(outcome, "character")} == {""}
    assert int(outcome.files["ecc_failures"]) >= len(unreadable)
    assert [attempt.error for attempt in tries(outcome, "programs")] == [EIO, ""]
