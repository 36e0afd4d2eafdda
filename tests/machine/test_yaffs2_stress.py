# SPDX-License-Identifier: Apache-2.0
"""YAFFS2 under several programs at once that know what must be there (tests/guest/stress.c), for ten minutes of the
guest, on chips with bad blocks and on chips whose blocks fail in use; then unmounted, mounted again, looked at again,
emptied. Nothing may be lost, no space and no memory. The last time on a kernel that looks for its own bugs.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from flashbed.machine.outcomes import Outcome
from tests.machine import raw_chip
from tests.machine.raw_chip import LARGE, NOTHING, SMALL, WORN
from tests.support.fixture_types import StudyWriter

Stress = Callable[..., Outcome]

pytestmark = pytest.mark.long

SECONDS = int(os.environ.get("STRESS_SECONDS", "600"))
"""Of the guest."""

HOST_LIMIT_S = 3 * 3600

WORN_SECONDS = 60
"""After ten minutes hardly a block would be left."""

COMPLAINTS = ("BUG", "WARNING", "KASAN", "INFO:", "Call trace", "yaffs2_inode", "unreferenced object", "deadlock")

STRESS = r"""
set -e
cp /job/stress /tmp/stress
chmod +x /tmp/stress
stress() {
    /tmp/stress "$@" >>/out/said 2>&1
}
cd /
: >/mnt/first
rm /mnt/first
sync
df -k /mnt | tail -n 1 >/out/space.before
pids=
for seed in 1 2; do
    stress file /mnt/f$seed /tmp/f$seed $seed SECONDS & pids="$pids $!"
done
for seed in 3 4 5; do
    stress tree /mnt /tmp/t$seed $seed SECONDS & pids="$pids $!"
done
for pid in $pids; do
    wait $pid
done
check() {
    for seed in 1 2; do
        stress check-file /mnt/f$seed /tmp/f$seed
    done
    for seed in 3 4 5; do
        stress check-tree /mnt /tmp/t$seed $seed
    done
    sed "s/^/$1 /" /sys/kernel/debug/yaffs2/mtd0 >>/out/statistics
}
check running
umount /mnt
sh /job/mount
check mounted
umount /mnt
rmmod yaffs2
insmod /lib/flashbed/yaffs2.ko
sed 's/ -t yaffs2/ -t yaffs2 -o no-checkpoint-read/' /job/mount | sh
check scanned
rm -rf /mnt/f* /mnt/d*
sync
df -k /mnt | tail -n 1 >/out/space.after
umount /mnt
if [ -e /sys/kernel/debug/kmemleak ]; then
    echo scan >/sys/kernel/debug/kmemleak
    sleep 6
    echo scan >/sys/kernel/debug/kmemleak
    cat /sys/kernel/debug/kmemleak >/out/leaks
fi
rmmod yaffs2
insmod /lib/flashbed/yaffs2.ko
sh /job/mount
dmesg >/out/dmesg
"""


@pytest.fixture
def stress(study_file: StudyWriter, tmp_path: Path) -> Stress:
    """Return a function that runs the stress program: `stress(filesystem, chip)`. It fails if the kernel or the
    programs complain.
    """

    def call(filesystem: str, chip: str, seconds: int = SECONDS, **more: str) -> Outcome:
        rig = raw_chip.new(study_file, tmp_path, filesystem, chip, **more)
        job = {"stress": raw_chip.own_program("stress")}
        ram = 512 << 20 if more else None
        outcome = raw_chip.boot(
            rig,
            limit_s=HOST_LIMIT_S,
            ram_bytes=ram,
            beside=job,
            prepare=STRESS.replace("SECONDS", str(seconds)),
            measure=NOTHING,
        )
        kernel = outcome.files["dmesg"].decode(errors="replace")
        complaints = [line for line in kernel.splitlines() if any(complaint in line for complaint in COMPLAINTS)]
        assert not complaints, kernel[-5000:]
        assert not outcome.files.get("leaks"), outcome.files["leaks"].decode()
        return outcome

    return call


def statistics(outcome: Outcome, moment: str) -> dict[str, int]:
    lines, mark = outcome.files["statistics"].decode().splitlines(), f"{moment} "
    return raw_chip.yaffs_counters(line.removeprefix(mark) for line in lines if line.startswith(mark))


def available_kib(outcome: Outcome, moment: str) -> int:
    return int(outcome.files[f"space.{moment}"].split()[3])


def check_nothing_lost(outcome: Outcome) -> None:
    assert len([line for line in outcome.files["said"].splitlines() if b" operations" in line]) == 5
    after, before = available_kib(outcome, "after"), available_kib(outcome, "before")
    assert after == before
    for moment in ("running", "mounted", "scanned"):
        assert statistics(outcome, moment)["chunks_lost"] == 0


@pytest.mark.parametrize(
    ("chip", "options"), [(LARGE, ""), (SMALL, ""), (LARGE, ":inband-tags=on"), (LARGE, ":no-cache=on")]
)
def test_nothing_is_lost(stress: Stress, chip: str, options: str) -> None:
    outcome = stress(f"yaffs2{options}", chip)
    check_nothing_lost(outcome)
    assert b"yaffs2: " not in outcome.files["dmesg"]
    assert statistics(outcome, "mounted")["checkpoint_mounts"] == (chip == LARGE)
    assert statistics(outcome, "scanned")["checkpoint_mounts"] == 0


@pytest.mark.parametrize("chip", [LARGE, SMALL])
def test_nothing_is_lost_when_blocks_fail(stress: Stress, chip: str) -> None:
    outcome = stress("yaffs2", f"{chip}:{WORN}", WORN_SECONDS)
    assert statistics(outcome, "running")["retired_blocks"] > 0
    for moment in ("running", "mounted", "scanned"):
        assert statistics(outcome, moment)["chunks_lost"] == 0


@pytest.mark.parametrize("chip", [LARGE, SMALL])
def test_the_kernel_finds_no_bug_of_its_own(stress: Stress, chip: str) -> None:
    check_nothing_lost(stress("yaffs2", chip, kernel="6.1-debug"))
