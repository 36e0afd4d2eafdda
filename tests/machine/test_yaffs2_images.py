# SPDX-License-Identifier: Apache-2.0
"""YAFFS2 between programs: what the module wrote is unpacked by Debian's unyaffs, which others wrote; images of our
mkyaffs2 are written to a chip by nandwrite and mounted, also one whose last page is torn.
"""

from __future__ import annotations

import hashlib
import os
import stat
import subprocess
from pathlib import Path

import pytest

from flashbed.common import paths
from tests.machine import raw_chip, yaffs2_dump
from tests.machine.raw_chip import LARGE, NOTHING, SMALL
from tests.machine.test_yaffs2 import TREE
from tests.support.fixture_types import StudyWriter

pytestmark = pytest.mark.long

PROFILE = """
title = "YAFFS2, and what puts an image on a chip"
needs = "mtd"
module = "yaffs2"
packages = ["mtd-utils"]
programs = ["/usr/sbin/flash_erase", "/usr/sbin/nandwrite"]
mkfs = ["/usr/sbin/flash_erase -q {device} 0 0"]
[mount]
type = "yaffs2"
device = "mtd0"
"""

LIST = r"""
cd /mnt
find . -type f | sort | while read -r path; do echo "$path $(stat -c '%f %u:%g %s %Y' "$path") $(md5sum <"$path")"; done
find . -type l | sort | while read -r path; do echo "$path $(readlink "$path")"; done
"""


def test_unyaffs_unpacks_what_the_module_wrote(study_file: StudyWriter, tmp_path: Path) -> None:
    """Names, contents, modes, owners, links, times: as the guest has listed them before it unmounted."""
    rig = raw_chip.new(study_file, tmp_path, "yaffs2", LARGE)
    listed = raw_chip.boot(rig, prepare=TREE, measure=NOTHING).files["listed"].decode().splitlines()
    yaffs2_dump.write_image(yaffs2_dump.read(rig.files.data), tmp_path / "image")
    (tmp_path / "to").mkdir()
    done = subprocess.run(["unyaffs", "-b", "-c", "2", "-s", "64", "image", "to"], cwd=tmp_path, capture_output=True)
    assert done.returncode == 0, done.stdout + done.stderr
    paths_found, sums, sizes, targets = set[str](), 0, 0, 0
    for line in listed:
        first, *words = line.split()
        if first.startswith("./") and len(words) == 4:  # name, mode, owner, links, device
            if (path := tmp_path / "to" / first).name == "lost+found":
                continue
            status = path.lstat()
            assert status.st_mode == int(words[0], 16), line
            if not stat.S_ISDIR(status.st_mode):
                assert status.st_nlink == int(words[2]), line
            if os.getuid() == 0:
                assert f"{status.st_uid}:{status.st_gid}" == words[1], line
            paths_found.add(str(path.relative_to(tmp_path / "to")))
        elif len(first) == 32 and len(words) == 1:
            assert hashlib.md5((tmp_path / "to" / words[0]).read_bytes()).hexdigest() == first, line
            sums += 1
        elif len(words) == 2:
            status = (tmp_path / "to" / first).stat()
            assert [status.st_size, int(status.st_mtime)] == [int(word) for word in words], line
            sizes += 1
        elif len(words) == 1:
            assert str((tmp_path / "to" / first).readlink()) == words[0]
            targets += 1
    unpacked = {str(path.relative_to(tmp_path / "to")) for path in (tmp_path / "to").rglob("*")}
    assert paths_found - {"."} == unpacked
    assert sums == sizes > 270
    assert targets == 1


def make_folder(folder: Path) -> None:
    (folder / "d").mkdir(parents=True)
    for number in range(40):
        (folder / "d" / f"f{number:02}").write_bytes(hashlib.sha256(bytes([number])).digest() * number * number)
    (folder / "soft").symlink_to("d/f07")
    os.link(folder / "d" / "f09", folder / "hard")
    (folder / "zlast").write_bytes(b"at the end" * 1000)
    (folder / "d" / "f05").chmod(0o4711)
    for path in folder.rglob("*"):
        os.utime(path, (981173106, 981173106), follow_symlinks=False)


def expected_lines(folder: Path) -> set[str]:
    lines = set[str]()
    for path in folder.rglob("*"):
        name, status = f"./{path.relative_to(folder)}", path.lstat()
        if path.is_symlink():
            lines.add(f"{name} {path.readlink()}")
        elif path.is_file():
            digest = hashlib.md5(path.read_bytes()).hexdigest()
            owner = f"{status.st_uid}:{status.st_gid}"
            lines.add(f"{name} {status.st_mode:x} {owner} {status.st_size} {int(status.st_mtime)} {digest}  -")
    return lines


def damage_last_page(data: Path, image: bytes, page_bytes: int) -> None:
    """Damage the image's last page on the chip beyond what the ECC corrects."""
    content = bytearray(data.read_bytes())
    last = content.rindex(image[-(page_bytes + page_bytes // 32) :][:page_bytes])
    for at in range(last, last + 200):
        content[at] ^= 0x5A
    data.write_bytes(content)


@pytest.mark.parametrize(("chip", "page_bytes"), [(LARGE, 2048), (SMALL, 512)])
def test_images_of_mkyaffs2_mount(study_file: StudyWriter, tmp_path: Path, chip: str, page_bytes: int) -> None:
    make_folder(tmp_path / "from")
    subprocess.run(
        ["make", "-s", "-C", paths.kernel() / "yaffs2", f"BUILD={tmp_path / 'build'}"], check=True, capture_output=True
    )
    make_image: list[str | Path] = [tmp_path / "build" / "mkyaffs2", "-p", str(page_bytes)]
    subprocess.run([*make_image, tmp_path / "from", tmp_path / "image"], check=True)
    image = (tmp_path / "image").read_bytes()
    profile = tmp_path / "profiles" / "filesystems" / "tools.toml"
    profile.parent.mkdir(parents=True)
    profile.write_text(PROFILE)
    rig = raw_chip.new(study_file, tmp_path, "tools", chip)
    load = "insmod /lib/flashbed/yaffs2.ko\n"
    write = "/usr/sbin/flash_erase -q /dev/mtd0 0 0\n/usr/sbin/nandwrite -q -a -o /dev/mtd0 /job/image\n"
    listing = f"({LIST}) >/out/listed"
    outcome = raw_chip.boot(
        rig,
        beside={"image": image},
        format=load + write,
        prepare=listing,
        measure=NOTHING,
    )
    expected = expected_lines(tmp_path / "from")
    assert set(outcome.files["listed"].decode().splitlines()) == expected
    assert len(expected) == 43
    damage_last_page(rig.files.data, image, page_bytes)
    outcome = raw_chip.boot(rig, format=load, prepare=listing, measure=NOTHING)
    missing = expected - set(outcome.files["listed"].decode().splitlines())
    assert len(missing) == 1


MOUNT_OPTIONS = """
set -e
umount /mnt
try() {
    mount -t yaffs2 -o "$1" /dev/mtd0 /mnt
    grep " /mnt " /proc/mounts >>/out/mounts
    grep "^$2 " /sys/kernel/debug/yaffs2/mtd0 | sed "s/^/$1 /" >>/out/statistics
    [ -f /mnt/file ]
    umount /mnt
}
mount -t yaffs2 mtd0 /mnt
dd if=/dev/urandom of=/mnt/file bs=1000 count=1000
umount /mnt
try no-checkpoint-read checkpoint_mounts
try no-checkpoint-write checkpoint_mounts
try no-checkpoint checkpoint_mounts
try empty-lost-and-found checkpoint_mounts
try tags-ecc-on checkpoint_mounts
try checkpoint-on-sync,disable-background,deferred-erase checkpoint_mounts
try disable-summary summaries_used
mount -t yaffs2 -o inband-tags /dev/mtd0 /mnt 2>/dev/null && exit 1
dmesg | grep "yaffs2: this flash holds something else" >/out/refused
mount -t yaffs2 mtd0 /mnt
[ -f /mnt/file ]
[ "$(stat -c %b /mnt/file)" = 1954 ]
mount -o remount,disable-summary /mnt 2>/dev/null && exit 1
mount -o remount,no-cache /mnt
grep " /mnt .*,no-cache" /proc/mounts >>/out/refused
umount /mnt
mount -t yaffs2 -o no-such-option /dev/mtd0 /mnt 2>/dev/null && exit 1
mount -t yaffs2 /dev/mtd9 /mnt 2>/dev/null && exit 1
mount -t yaffs2 -o checkpoint-on-sync mtd0 /mnt
sed -n 1,6p /sys/kernel/debug/yaffs2/mtd0 >/out/head
: >/mnt/other
sync
grep "^checkpoints_written " /sys/kernel/debug/yaffs2/mtd0 >/out/synced
umount /mnt
[ ! -e /sys/kernel/debug/yaffs2/mtd0 ]
sh /job/mount
"""


def test_options_have_the_names_that_users_know(study_file: StudyWriter, tmp_path: Path) -> None:
    outcome = raw_chip.boot(raw_chip.new(study_file, tmp_path, "yaffs2", LARGE), prepare=MOUNT_OPTIONS, measure=NOTHING)
    output = {line.split()[0]: int(line.split()[2]) for line in outcome.files["statistics"].decode().splitlines()}
    assert output == {
        "no-checkpoint-read": 0,
        "no-checkpoint-write": 1,
        "no-checkpoint": 0,
        "empty-lost-and-found": 0,  # the mount before has erased the checkpoint and written none
        "tags-ecc-on": 1,
        "checkpoint-on-sync,disable-background,deferred-erase": 1,
        "disable-summary": 0,
    }
    mounts = outcome.files["mounts"].decode()
    for name in output:
        for option in name.split(","):
            assert option == "tags-ecc-on" or f",{option}" in mounts, mounts
    assert outcome.files["synced"] == b"checkpoints_written 1\n"
    assert len(outcome.files["refused"].splitlines()) == 2
    head = outcome.files["head"].decode().splitlines()
    assert head[0].startswith("device 0 ")
    bad = 13
    assert head[1:5] == ["chunk_bytes 2048", "chunks_per_block 64", "blocks 2048", f"good_blocks {2048 - bad}"]
