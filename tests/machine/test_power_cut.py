# SPDX-License-Identifier: Apache-2.0
"""The power of a guest is cut while it writes; after the next boot, on the same files, what it was told is safe is
there.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, Unpack

import pytest

from flashbed.machine.outcomes import Outcome
from tests.support import guest_rig
from tests.support.fixture_types import StudyWriter
from tests.support.guest_rig import Rig, Scripts

BLOCKS = 64
ROUNDS = 8
BLOCK_BYTES = 4096

PREPARE = f"""
dd if=/dev/zero of=/mnt/file bs={BLOCK_BYTES} count={BLOCKS} conv=fsync
sync
"""

# Each block says which it is and how often it was written, in every line of 16 bytes. The console tells the host what
# the guest knows to be safe.
WRITE = f"""
for round in $(seq {ROUNDS}); do
    for block in $(seq 0 {BLOCKS - 1}); do
        block=$(((block * 29) % {BLOCKS}))
        echo "writing $block $round" >/dev/console
        yes "$(printf 'block %3d %5d' $block $round)" | head -c {BLOCK_BYTES} |
            dd of=/mnt/file bs={BLOCK_BYTES} seek=$block conv=notrunc,fsync || exit
        echo "safe $block $round" >/dev/console
    done
done
"""

READ = "cat /mnt/file >/out/file\n"

# The device itself, without a file system: each block is written and flushed
RAW_SYNC = f"""
for block in $(seq 0 {BLOCKS - 1}); do
    yes "$(printf 'block %3d %5d' $block 1)" | head -c {BLOCK_BYTES} >/tmp/block
    dd if=/tmp/block of=/dev/medium bs={BLOCK_BYTES} seek=$((block + 8192)) oflag=direct conv=fsync,notrunc || exit
    echo "safe $block 1" >/dev/console
done
"""
AFTER_FLUSH_NS = 700_000
"""Longer than the flush of a medium that ignores it takes, shorter than the program of a page."""

# Which blocks can be read, before and after all are written again
RAW_READ = f"""
try() {{
    for block in $(seq 0 {BLOCKS - 1}); do
        if dd if=/dev/medium of=/dev/null bs={BLOCK_BYTES} count=1 skip=$((block + 8192)) iflag=direct; then
            echo $block readable
        else
            echo $block unreadable
        fi
    done
}}
try >/out/before
dd if=/dev/zero of=/dev/medium bs={BLOCK_BYTES} seek=8192 count={BLOCKS} oflag=direct
try >/out/after
"""


class Fate(NamedTuple):
    """The fate of a part of a write (emulator/lab-medium-notes.h)."""

    sequence: int
    offset_bytes: int
    length_bytes: int
    fate: str


@dataclass(frozen=True)
class Cut:
    """The emulator's notes of a power cut, and the machine's outcome."""

    outcome: Outcome
    unreadable_sectors: int
    fates: list[Fate]


def new_medium(study_file: StudyWriter, folder: Path, filesystem: str, medium: str, **changed: int) -> Rig:
    """Make a new medium. `changed` replaces parameters of its profile."""
    rig = guest_rig.new(study_file(guest_rig.STUDY, filesystem=filesystem, medium=medium), folder)
    rig.tool.create(rig.files.state, {**rig.cell.medium.core_parameters, **changed})
    return rig


def boot(rig: Rig, options: str = "", beside: Mapping[str, bytes] | None = None, **scripts: Unpack[Scripts]) -> Outcome:
    return guest_rig.outcome_of(rig, beside=beside, medium_options=options, limit_s=120, **scripts)


def cut_after(requests: int, ns: int) -> str:
    """Return the guest's command that cuts the power `ns` after this number of further requests."""
    return f"medium cut {requests} {ns} || exit\n"


def lose_power(rig: Rig, seed: int = 0, options: str = "", **scripts: Unpack[Scripts]) -> Cut:
    """Run a guest whose power is cut. `options` is passed to `boot`."""
    outcome = boot(rig, f"{options}cut={seed}", **scripts)
    assert outcome.status == "failed"
    _, sectors, _, *fates = outcome.files["fates.cut"].decode().splitlines()
    parts = (line.split() for line in fates)
    return Cut(
        outcome,
        int(sectors.removeprefix("unreadable_sectors:")),
        [Fate(int(sequence), int(offset), int(length), fate) for sequence, offset, length, fate, *_ in parts],
    )


def lose_power_as(accept: Callable[[Cut], bool], rig: Rig, options: str = "", **scripts: Unpack[Scripts]) -> Cut:
    """Cut the power with the first seed whose course `accept` takes. `options` as those of `boot`."""
    before = rig.folder / "before"
    before.mkdir()
    files = (rig.files.state, rig.files.data)
    for file in files:
        subprocess.run(["cp", "--sparse=always", file, before], check=True)
    for seed in range(16):
        cut = lose_power(rig, seed, options, **scripts)
        if accept(cut):
            return cut
        for file in files:
            subprocess.run(["cp", "--sparse=always", before / file.name, file], check=True)
    raise AssertionError("no seed gives such a cut")


def rounds(console: bytes, word: str) -> dict[int, int]:
    """Return the last round of each block that the console names after `word`."""
    pairs = re.findall(rf"^{word} (\d+) (\d+)\r?$", console.decode(errors="replace"), re.MULTILINE)
    return {int(block): int(round_) for block, round_ in pairs}


def check_content(content: bytes, safe: dict[int, int], begun: dict[int, int], sector_bytes: int) -> None:
    """Check that each sector of a block is from one of its rounds, and not older than the last safe round."""
    assert len(content) == BLOCKS * BLOCK_BYTES
    for block in range(BLOCKS):
        allowed = {b"\0" * 16} if safe.get(block, 0) == 0 else set()
        for number in range(max(1, safe.get(block, 0)), begun.get(block, 0) + 1):
            allowed.add(f"block {block:3d} {number:5d}\n".encode())
        data = content[block * BLOCK_BYTES : (block + 1) * BLOCK_BYTES]
        for start in range(0, BLOCK_BYTES, sector_bytes):
            sector = data[start : start + sector_bytes]
            assert sector[:16] in allowed, f"block {block}: {sector[:16]!r}, safe is {safe.get(block, 0)}"
            assert sector == sector[:16] * (sector_bytes // 16)


CASES = [
    ("ext2", "usb-stick-2g"),
    ("ext4", "usb-stick-2g"),
    ("f2fs", "usb-stick-2g"),
    ("ext4", "hdd-35-7200-320g"),
    ("f2fs", "emmc-64g"),
    ("ext4", "sd-good"),
    ("ext4", "nvme-960pro-class"),
    ("ext2", "null-2g"),
]

REQUESTS = 200
"""Of the load, then the power goes."""


@pytest.mark.parametrize(("filesystem", "medium"), CASES)
def test_what_was_fsynced_is_there(filesystem: str, medium: str, study_file: StudyWriter, tmp_path: Path) -> None:
    rig = new_medium(study_file, tmp_path, filesystem, medium)
    measure = cut_after(REQUESTS, 700_000) + WRITE
    cut = lose_power_as(lambda cut: cut.unreadable_sectors == 0, rig, prepare=PREPARE, measure=measure)
    console = cut.outcome.console
    safe, begun = rounds(console, "safe"), rounds(console, "writing")
    assert BLOCKS / 4 < len(begun) + BLOCKS * (max(begun.values()) - 1) < BLOCKS * ROUNDS, "cut at another moment"

    second = boot(rig, format="true\n", prepare="true\n", measure=READ)
    assert second.status == "measured", (second.reason, second.console[-2000:])
    check_content(second.files["file"], safe, begun, 512)


def lost_though_safe(study_file: StudyWriter, folder: Path, seed: int, **changed: int) -> int:
    """Return the number of blocks that a cut right after their flush took back or made unreadable."""
    folder.mkdir()
    rig = new_medium(study_file, folder, "ext2", "emmc-64g:used_bytes=2G", **changed)
    measure = cut_after(60, AFTER_FLUSH_NS) + RAW_SYNC
    cut = lose_power(rig, seed, options="digest=0,", prepare="true\n", measure=measure)
    safe = rounds(cut.outcome.console, "safe")
    assert 4 < len(safe) < BLOCKS
    unreadable = [part.offset_bytes // BLOCK_BYTES for part in cut.fates if part.fate == "unreadable"]
    with rig.files.data.open("rb") as data_file:
        data_file.seek(8192 * BLOCK_BYTES)
        content = data_file.read(BLOCKS * BLOCK_BYTES)
    lost = 0
    for block in safe:
        data = content[block * BLOCK_BYTES : (block + 1) * BLOCK_BYTES]
        lost += data != f"block {block:3d} {1:5d}\n".encode() * (BLOCK_BYTES // 16) or block + 8192 in unreadable
    return lost


def test_a_medium_that_ignores_flushes_is_caught(study_file: StudyWriter, tmp_path: Path) -> None:
    """The seed decides whether the page that was being programmed can be read."""
    for flush_ignored in (1, 0):
        lost = [
            lost_though_safe(study_file, tmp_path / f"{flush_ignored} {seed}", seed, flush_ignored=flush_ignored)
            for seed in range(3)
        ]
        assert any(lost) == (flush_ignored == 1)


def test_a_page_whose_cells_were_torn_is_unreadable_until_it_is_written_again(
    study_file: StudyWriter, tmp_path: Path
) -> None:
    rig = new_medium(study_file, tmp_path, "ext2", "emmc-64g:used_bytes=2G", bits_per_cell=2, paired_page_loss=1)
    scripts = {"prepare": "true\n", "measure": cut_after(52, AFTER_FLUSH_NS) + RAW_SYNC}
    cut = lose_power_as(lambda cut: cut.unreadable_sectors == BLOCK_BYTES // 512, rig, options="digest=0,", **scripts)
    (lower,) = (part for part in cut.fates if part.fate == "unreadable")
    block = lower.offset_bytes // BLOCK_BYTES - 8192

    second = boot(rig, "digest=0", format="true\n", prepare="true\n", measure=RAW_READ)
    assert second.status == "measured", (second.reason, second.console[-2000:])
    before, after = (second.files[name].decode().splitlines() for name in ("before", "after"))
    assert before == [f"{n} {'unreadable' if n == block else 'readable'}" for n in range(BLOCKS)]
    assert after == [f"{n} readable" for n in range(BLOCKS)]
    assert rig.tool.inspect(rig.files.state).counters["restarts"] == 1


AFTER_NS = 30_000_000
OFF = f"""
echo safe >/mnt/safe
sync
/lib/flashbed/mark armed
medium off {AFTER_NS} 7 || exit
n=0
while [ $n -lt 1000 ]; do
	n=$((n + 1))
	echo $n >/mnt/file.$n
	sync
done
"""
"""The power goes after so many ns, wherever the load is then."""

AGAIN = b"""
. /lib/flashbed/steps
step medium load_medium
step attach sh -e /job/attach
step mount sh /job/mount
step safe cat /mnt/safe
step finish umount /mnt
"""


@pytest.mark.parametrize(("filesystem", "medium"), [("ext4", "emmc-64g"), ("ubifs", "slc-nand-64m")])
def test_the_power_goes_at_a_moment(filesystem: str, medium: str, study_file: StudyWriter, tmp_path: Path) -> None:
    rig = new_medium(study_file, tmp_path, filesystem, medium)
    outcome = boot(rig, "cut=0", prepare="true\n", measure=OFF)
    assert outcome.status == "failed"
    cut_ns = int(outcome.files["fates.cut"].split(b"\n")[0].removeprefix(b"cut_ns:"))
    armed_ns = int(outcome.files["clock.armed"].split()[0])
    assert AFTER_NS <= cut_ns - armed_ns < AFTER_NS + 10_000_000
    second = boot(rig, beside={"cell": AGAIN})
    assert second.status == "measured", (second.reason, second.console[-2000:])
    assert second.files["safe.txt"] == b"safe\n"
