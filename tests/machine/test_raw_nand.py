# SPDX-License-Identifier: Apache-2.0
"""Raw NAND chips under Linux's own NAND framework: found by their identity, with their bad blocks; what is written
comes back; operations take what the data sheet says and the kernel's own path; JFFS2 keeps a file.
"""

from __future__ import annotations

import statistics
from pathlib import Path
from typing import NamedTuple

import pytest

from flashbed.guest_output import medium_counters
from tests.machine import raw_chip
from tests.machine.raw_chip import marked_blocks
from tests.support.fixture_types import NewChip
from tests.support.guest_rig import NO_MOUNT, Rig, boot, words

CHIPS = ("slc-nand-64m", "slc-nand-256m")

# Block 1 is good or the next is; nandwrite and nanddump are told where, and where not to look
FORMAT = """
cd /sys/class/mtd/mtd0
for name in writesize oobsize erasesize size ecc_strength ecc_step_size subpagesize bad_blocks; do
    echo $name $(cat $name)
done >/out/geometry
size=$(cat erasesize) page=$(cat writesize)
cd /out
head -c $((3 * size)) /dev/urandom >written
/usr/sbin/flash_erase -q /dev/mtd0 0 8
/usr/sbin/nandwrite -q /dev/mtd0 written
/usr/sbin/nanddump -q --bb=skipbad -l $((3 * size)) -f read /dev/mtd0
cmp written read
/usr/sbin/nanddump -q -n -o --bb=skipbad -l $page -f raw /dev/mtd0
/usr/sbin/flash_erase -q /dev/mtd0 0 8
/usr/sbin/nanddump -q -n -o --bb=skipbad -l $page -f erased /dev/mtd0
"""

JFFS2 = "insmod /lib/flashbed/jffs2.ko\n/usr/sbin/flash_erase -q -j /dev/mtd0 0 0\n"

PREPARE = """
head -c 1000000 /dev/urandom >/mnt/file
sync
md5sum /mnt/file >/out/before
"""

MEASURE = "md5sum /mnt/file >/out/after\n"

SLOW_READ_NS, SLOW_PROGRAM_NS, SLOW_ERASE_NS = 115_000, 700_000, 3_000_000
ERASED_BLOCKS = 8

CLOCK_NS = 16
"""A step of the guest's clock."""

KERNEL_PATH_NS = 20_000
"""More than system call, framework, error correction and two wake-ups take for a page."""

PATHS_NS = 8 * CLOCK_NS
"""The kernel's own path of a write is longer by five to seven steps of its clock when its timer is not the next to
fire: by how many depends on the timers that are there, and so on all that the guest did before.
"""

TICKS_NS = 3 * 10_000
"""What the kernel's ticks and other tasks may add while eight blocks are erased one after another: in 8 ms more there
are two or three ticks more, of up to 10 us each."""

# Direct access to the device, page by page; times as fio sees them
TIMES = f"""
size=$(cat /sys/class/mtd/mtd0/erasesize) page=$(cat /sys/class/mtd/mtd0/writesize)
cd /out
grep "^now at" /proc/timer_list >/out/erase
/usr/sbin/flash_erase -q /dev/mtd0 0 {ERASED_BLOCKS}
grep "^now at" /proc/timer_list >>/out/erase
for rw in write read; do
    fio --name=$rw --filename=/dev/mtd0 --ioengine=psync --rw=$rw --bs=$page --size=$size --write_lat_log=/out/$rw \
        --output=/out/fio.$rw
done
"""


@pytest.mark.parametrize(
    ("chip", "strength", "step_bytes", "subpage_bytes"),
    [("slc-nand-64m", 1, 256, 512), ("slc-nand-256m", 1, 256, 512), ("mlc-nand", 24, 1024, 8192)],
)
def test_a_chip_is_found_and_keeps_what_is_written(
    new_chip: NewChip, tmp_path: Path, chip: str, strength: int, step_bytes: int, subpage_bytes: int
) -> None:
    rig = new_chip(chip, tmp_path / chip)
    p = rig.cell.medium.numbers()
    bad = marked_blocks(rig)
    assert len(bad) == p["factory_bad_blocks"]
    if strength == 1:
        outcome = boot(rig, format=FORMAT + JFFS2, prepare=PREPARE, measure=MEASURE)
        assert outcome.files["before"] == outcome.files["after"]
    else:  # JFFS2 and UBI refuse chips with several bits a cell
        outcome = boot(rig, format=FORMAT, mount=NO_MOUNT)
    assert words(outcome, "geometry") == {
        "writesize": p["page_bytes"],
        "oobsize": p["spare_bytes"],
        "erasesize": p["page_bytes"] * p["pages_per_block"],
        "size": rig.cell.medium.capacity_bytes,
        "ecc_strength": strength,
        "ecc_step_size": step_bytes,
        "subpagesize": subpage_bytes,
        "bad_blocks": p["factory_bad_blocks"],
    }
    assert outcome.files["erased"] == b"\xff" * (p["page_bytes"] + p["spare_bytes"])
    raw = outcome.files["raw"]
    assert raw[: p["page_bytes"]] == outcome.files["written"][: p["page_bytes"]]
    assert raw[p["page_bytes"] :] != b"\xff" * p["spare_bytes"]  # the codes of the error correction
    inspection = rig.tool.inspect(rig.files.state)
    assert inspection.fault is None
    assert inspection.counters["violations"] == 0
    assert inspection.wear["grown_bad_blocks"] == 0


class Times(NamedTuple):
    """What fio saw of each page, in order, and how long it took to erase so many blocks, ns."""

    read: list[int]
    write: list[int]
    erase: int


def measure_times(rig: Rig) -> Times:
    files = boot(rig, format=TIMES, mount=NO_MOUNT).files
    logs = (files[f"{name}_clat.1.log"].decode().splitlines() for name in ("read", "write"))
    read, write = ([int(line.split(",")[1]) for line in log] for log in logs)
    begun, done = (int(line.split()[2]) for line in files["erase"].decode().splitlines())
    return Times(read, write, done - begun)


@pytest.mark.parametrize("chip", CHIPS)
def test_operations_take_the_chips_time_and_the_kernels_own(new_chip: NewChip, tmp_path: Path, chip: str) -> None:
    slow = f"{chip}:read_ns={SLOW_READ_NS},program_ns={SLOW_PROGRAM_NS},erase_ns={SLOW_ERASE_NS}"
    rig = new_chip(chip, tmp_path / "first")
    times = measure_times(rig)
    again = measure_times(new_chip(chip, tmp_path / "again"))
    slower = measure_times(new_chip(slow, tmp_path / "slow"))
    assert times == again

    p = rig.cell.medium.numbers()
    pages = p["pages_per_block"]
    bus_ns = (p["page_bytes"] + p["spare_bytes"]) * p["bus_ps_per_byte"] // 1000
    assert len(times.read) == len(times.write) == pages
    assert min(times.read) > p["read_ns"] + bus_ns
    assert min(times.write) > p["program_ns"] + bus_ns
    # Of the kernel's own path most operations take the same, to a few steps of its clock
    path_ns = statistics.median(times.read) - p["read_ns"] - bus_ns
    assert path_ns < KERNEL_PATH_NS
    assert sum(abs(ns - path_ns - p["read_ns"] - bus_ns) <= 3 * CLOCK_NS for ns in times.read) > 0.8 * pages
    # The CPU sees the end of a transfer when it looks at the clock, which takes it up to three steps of the clock
    slower_by = statistics.median(slower.read) - statistics.median(times.read)
    assert abs(slower_by - (SLOW_READ_NS - p["read_ns"])) <= 3 * CLOCK_NS
    slower_by = statistics.median(slower.write) - statistics.median(times.write)
    assert abs(slower_by - (SLOW_PROGRAM_NS - p["program_ns"])) <= PATHS_NS
    expected = ERASED_BLOCKS * (SLOW_ERASE_NS - p["erase_ns"])
    assert abs(slower.erase - times.erase - expected) <= TICKS_NS


WRONG_BITS = """
cd /sys/class/mtd/mtd0
size=$(cat erasesize)
cd /out
head -c $size /dev/urandom >written
for block in 1 2 3 4; do
    /usr/sbin/flash_erase -q -N /dev/mtd0 $((block * size)) 1 || exit
    /usr/sbin/nandwrite -q -s $((block * size)) /dev/mtd0 written || exit
    /usr/sbin/nanddump -q -s $((block * size)) -l $size -f read /dev/mtd0 || exit
    cmp written read || exit
done
cd /sys/class/mtd/mtd0
for name in corrected_bits ecc_failures; do
    echo $name $(cat $name)
done >/out/errors
"""


@pytest.mark.parametrize(("chip", "ppt"), [("slc-nand-256m", 1_000_000), ("mlc-nand", 100_000_000)])
def test_wrong_bits_are_corrected_by_the_kernels_codes(new_chip: NewChip, tmp_path: Path, chip: str, ppt: int) -> None:
    """0.016 wrong bits in a page of 2 KiB, where one in 256 bytes can be corrected; 6.6 in one of 8 KiB, where 24 in
    1 KiB can.
    """
    rig = new_chip(f"{chip}:bit_error_ppt={ppt},factory_bad_blocks=0", tmp_path / chip)
    outcome = boot(rig, format=WRONG_BITS, mount=NO_MOUNT)
    errors = words(outcome, "errors")
    counters = rig.tool.inspect(rig.files.state).counters
    assert errors["ecc_failures"] == 0
    assert errors["corrected_bits"] == counters["wrong_bits"] > 0


# Of a chip on which all that was erased once fails
FAILING = """
page=$(cat /sys/class/mtd/mtd0/writesize) pages=$(($(cat /sys/class/mtd/mtd0/erasesize) / page))
head -c $page /dev/urandom >/tmp/page
try() {
    if dd if=/tmp/page of=/dev/mtd0 bs=$page seek=$pages count=1 conv=notrunc; then
        echo $1 0
    else
        echo $1 1
    fi
}
{
    try fresh
    /usr/sbin/flash_erase -q /dev/mtd0 $((page * pages)) 1
    try worn
    /usr/sbin/flash_erase /dev/mtd0 $((page * pages)) 1 2>&1 | grep -c "Erase failure" | sed "s/^/refused /"
} >/out/status
"""


def test_a_failure_reaches_the_file_system(new_chip: NewChip, tmp_path: Path) -> None:
    worn = "endurance_erases=1,program_fail_ppb=1000000000,erase_fail_ppb=1000000000,factory_bad_blocks=0"
    rig = new_chip(f"slc-nand-256m:{worn}", tmp_path / "worn")
    outcome = boot(rig, format=FAILING, mount=NO_MOUNT)
    assert words(outcome, "status") == {"fresh": 0, "worn": 1, "refused": 1}
    inspection = rig.tool.inspect(rig.files.state)
    assert inspection.counters["program_failures"] == inspection.counters["erase_failures"] == 1
    assert inspection.wear["grown_bad_blocks"] == 1
    assert inspection.fault is None


# Before the power goes a page is read that is erased, spare area and all: what it leaves in the framework's buffers is
# the code of any bytes that are all equal
WITHOUT_POWER = """
cd /sys/class/mtd/mtd0
page=$(cat writesize) size=$(cat erasesize)
read_page() { # and note how many codewords cannot be corrected: the device gives them out all the same
    before=$(cat ecc_failures)
    dd if=/dev/mtd0 of=/out/page bs=$page count=1 skip=$((size / page))
    echo $1 $(($(cat ecc_failures) - before))
}
read_page with >/out/reads
medium cut 1 1
/usr/sbin/flash_erase -q /dev/mtd0 0 1
cat /sys/kernel/debug/media_nand/power >/out/power
read_page without >>/out/reads
read_page again >>/out/reads
echo corrected $(cat corrected_bits) >>/out/reads
"""


@pytest.mark.parametrize(("chip", "codewords"), [("slc-nand-64m", 2), ("slc-nand-256m", 8), ("mlc-nand", 8)])
def test_without_power_nothing_is_read(new_chip: NewChip, tmp_path: Path, chip: str, codewords: int) -> None:
    rig = new_chip(f"{chip}:factory_bad_blocks=0", tmp_path / chip)
    outcome = boot(rig, format=WITHOUT_POWER, mount=NO_MOUNT)
    assert outcome.files["power"] == b"off\n"
    assert words(outcome, "reads") == {"with": 0, "without": codewords, "again": codewords, "corrected": 0}


SLOW_CYCLE_PS = 70_000


@pytest.mark.parametrize("transfer", ["dma", "pio,pio_sector_ns=1000000"])
def test_a_slow_controller_makes_bytes_slow_and_the_port_of_block_media_does_not(
    new_chip: NewChip, tmp_path: Path, transfer: str
) -> None:
    chip, board = "slc-nand-256m:factory_bad_blocks=0", f"arm64-1000:transfer={transfer}"
    fast = measure_times(new_chip(chip, tmp_path / "fast", board=board))
    slow = measure_times(rig := new_chip(chip, tmp_path / "slow", board=f"{board},nand_cycle_ps={SLOW_CYCLE_PS}"))
    p = rig.cell.medium.numbers()
    # A command, five addresses, another command, the page with its spare area
    cycles = 7 + p["page_bytes"] + p["spare_bytes"]
    by_hand = cycles * (SLOW_CYCLE_PS - p["bus_ps_per_byte"]) // 1000
    for name in ("read", "write"):
        slower_by = statistics.median(getattr(slow, name)) - statistics.median(getattr(fast, name))
        assert abs(slower_by - by_hand) < 0.02 * by_hand


UBI = """
insmod /job/ubi.ko
/usr/sbin/ubiformat -q -y -Q 1 /dev/mtd0
now() { grep "^now at" /proc/timer_list; }
medium mark new
now >/out/attach
/usr/sbin/ubiattach -p /dev/mtd0
now >>/out/attach
medium mark attached
"""


@pytest.mark.parametrize(("unit", "data_bytes", "beside_cycles"), [("subpage", 256, 4 + 3), ("page", 2048, 64)])
def test_ubi_reads_two_headers_of_each_block(
    new_chip: NewChip, tmp_path: Path, unit: str, data_bytes: int, beside_cycles: int
) -> None:
    """Of sub-pages a codeword and, after a change of column (two commands, two addresses), its three bytes of code; of
    pages all, spare area and all.
    """
    board = f"arm64-1000:nand_unit={unit}"
    rig = new_chip("slc-nand-256m:factory_bad_blocks=0", tmp_path / "chip", board=board, tools="more-tools")
    outcome = boot(rig, beside=raw_chip.of_the_kernel(rig, "ubi"), format=UBI, mount=NO_MOUNT)
    p = rig.cell.medium.numbers()
    blocks = p["blocks_per_die"]
    new, attached = (medium_counters.parse(outcome.files[f"counters.{name}"]) for name in ("new", "attached"))
    assert 2 * blocks <= attached["flash_read_pages"] - new["flash_read_pages"] < 2.05 * blocks
    begun, done = (int(line.split()[2]) for line in outcome.files["attach"].decode().splitlines())
    bus_ns = (7 + data_bytes + beside_cycles) * p["bus_ps_per_byte"] / 1000
    by_hand = 2 * (p["read_ns"] + bus_ns)
    print(f"{unit}: {(done - begun) / blocks / 1000:.1f} us a block, {by_hand / 1000:.1f} of them chip and bus")
    assert by_hand < (done - begun) / blocks < by_hand + 2 * KERNEL_PATH_NS
