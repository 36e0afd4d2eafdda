# SPDX-License-Identifier: Apache-2.0
"""YAFFS2 under Linux, on a modelled raw chip: every kind of file, renames, holes, unlinked and open files, remounts,
fullness; with tags in the spare area and in-band.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Unpack

import pytest

from flashbed.machine.outcomes import Outcome
from tests.machine import raw_chip
from tests.machine.raw_chip import LARGE, NOTHING, SMALL
from tests.support.fixture_types import StudyWriter
from tests.support.guest_rig import Scripts

BootNew = Callable[..., Outcome]

# Everything that a tree may hold; ends with a listing of it
TREE = r"""
set -e
cd /mnt
list() {
    cd /mnt
    find . -xdev | sort | while read -r path; do stat -c '%n %f %u:%g %h %t:%T' "$path"; done >/tmp/names
    find . -xdev -type f | sort | xargs md5sum >/tmp/sums
    find . -xdev -type f | sort | xargs stat -c '%n %s %Y' >/tmp/sizes
    find . -xdev -type l | sort | while read -r path; do echo "$path $(readlink "$path")"; done >/tmp/links
    cat /tmp/names /tmp/sums /tmp/sizes /tmp/links
    cd /
}
mkdir -p a/b/c
for i in 1 2 3 4 5 6 7 8 9; do
    dd if=/dev/urandom of=a/f$i bs=1000 count=$((i * i * 3))
done
ln a/f1 a/b/hard
ln a/f1 a/b/c/harder
rm a/f1
ln -s ../f2 a/b/soft
mkfifo a/fifo
mknod a/device c 5 44
chmod 4711 a/f2
chown 7:8 a/f3
touch -d '2001-02-03 04:05:06' a/f4
echo new >a/new
mv a/new a/f5
mv a/b/hard a/f6
: >a/empty
dd if=/dev/urandom of=a/hole bs=1000 count=1 seek=100
dd if=/dev/urandom of=a/hole bs=1000 count=3 seek=10 conv=notrunc
truncate -s 50500 a/hole
truncate -s 90000 a/hole
mkdir a/many
i=0
while [ $i -lt 300 ]; do
    echo $i >a/many/file$i
    i=$((i + 1))
done
rm a/many/*7
rmdir a/many 2>/dev/null && exit 1
mv a/many a/b/renamed
[ "$(ls a/b/renamed | wc -l)" = 270 ]

# A file that is unlinked and still open keeps its contents
exec 7<>a/f7
rm a/f7
head -c 100 <&7 | wc -c | grep -qx 100
echo more >&7
exec 7>&-
[ ! -e a/f7 ]

list >/out/listed
umount /mnt
sh /job/mount
list >/out/remounted
cmp /out/listed /out/remounted
mount -o remount,ro /mnt
echo x >/mnt/denied && exit 1
list >/out/readonly
cmp /out/listed /out/readonly
mount -o remount,rw /mnt
"""

# Nearly all of the medium written, over and over; then past its end
FULL = r"""
set -e
cd /mnt
kib=$(df -k /mnt | tail -n 1 | awk '{ print $4 }')
dd if=/dev/urandom of=/tmp/part bs=1024 count=1024
for turn in 1 2 3; do
    dd if=/dev/zero of=/mnt/big bs=64k 2>/tmp/said && exit 1
    grep -q "No space left" /tmp/said
    echo turn $turn $(stat -c %s /mnt/big)
    sync
    rm /mnt/big
done >/out/full
sync
df -k /mnt | tail -n 1 | awk '{ print $4 }' >>/out/full
echo $kib >>/out/full
dd if=/dev/urandom of=/tmp/part bs=1024 count=4096
cp /tmp/part /mnt/part
sync
cmp /tmp/part /mnt/part
cat /sys/kernel/debug/yaffs2/mtd0 >/out/statistics
"""


@pytest.fixture
def boot_new(study_file: StudyWriter, tmp_path: Path) -> BootNew:
    """Return a function that boots a guest with a new chip: `boot_new(filesystem, chip, **scripts)`. It fails if YAFFS2
    complains.
    """

    def boot(filesystem: str, chip: str, **scripts: Unpack[Scripts]) -> Outcome:
        outcome = raw_chip.boot(raw_chip.new(study_file, tmp_path, filesystem, chip), **scripts)
        assert b"yaffs2: " not in outcome.console, outcome.console.decode(errors="replace")[-3000:]
        return outcome

    return boot


OPTIONS = ("inband-tags", "no-checkpoint", "no-cache", "disable-summary", "disable-background", "deferred-erase")


@pytest.mark.parametrize(
    ("chip", "options"),
    [
        (LARGE, ""),
        pytest.param(SMALL, "", marks=pytest.mark.long),
        *(pytest.param(LARGE, f":{name}=on", marks=pytest.mark.long) for name in OPTIONS),
    ],
)
def test_a_tree_survives_remounts(boot_new: BootNew, chip: str, options: str) -> None:
    outcome = boot_new(f"yaffs2{options}", chip, prepare=TREE, measure=NOTHING)
    listed = outcome.files["listed"].decode()
    assert len(listed.splitlines()) > 800
    assert "./a/b/soft ../f2" in listed
    assert "./a/f2 89c9 0:0 1 0:0" in listed
    assert "./a/device 2124 0:0 1 5:2c" in listed or "./a/device 21a4 0:0 1 5:2c" in listed
    assert "./a/hole 90000" in listed
    assert "./a/f4 48000 981173106" in listed


@pytest.mark.long
@pytest.mark.parametrize("chip", [LARGE, SMALL])
def test_a_full_medium_recovers(boot_new: BootNew, chip: str) -> None:
    outcome = boot_new("yaffs2", chip, prepare=FULL, measure=NOTHING)
    *turns, after, before = outcome.files["full"].decode().splitlines()
    sizes = [int(turn.split()[2]) for turn in turns]
    assert len(sizes) == 3
    assert min(sizes) > int(before) * 1024 * 0.97
    assert max(sizes) - min(sizes) < 64 * 1024
    assert abs(int(after) - int(before)) < 64


# The truncate fails because its header cannot be programmed, in as many blocks as are tried. Then one byte of the page
# in which it would have ended makes all of that page be written.
FAILED_TRUNCATE = r"""
set -e
cd /mnt
dd if=/dev/urandom of=/tmp/kept bs=1000 count=20
cp /tmp/kept file
sync
cat file >/dev/null
medium fail 100
truncate -s 6000 file && exit 1
medium fail 0
cmp /tmp/kept file
printf x | dd of=file bs=1 seek=5000 conv=notrunc
printf x | dd of=/tmp/kept bs=1 seek=5000 conv=notrunc
cd /
umount /mnt
sh /job/mount
cmp /tmp/kept /mnt/file
truncate -s 6000 /mnt/file
truncate -s 6000 /tmp/kept
cmp /tmp/kept /mnt/file
"""


@pytest.mark.parametrize("chip", [LARGE, pytest.param(SMALL, marks=pytest.mark.long)])
def test_a_truncate_that_fails_changes_nothing(study_file: StudyWriter, tmp_path: Path, chip: str) -> None:
    rig = raw_chip.new(study_file, tmp_path, "yaffs2", chip)
    raw_chip.boot(rig, prepare=FAILED_TRUNCATE, measure=NOTHING)
