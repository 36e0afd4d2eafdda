# SPDX-License-Identifier: Apache-2.0
"""Images of JFFS2 and UBIFS that mtd-utils made on the host are what the guest finds, and what the guest makes of them
is what readers on the host find on the chip.
"""

from __future__ import annotations

import os
import random
import subprocess
from pathlib import Path

import pytest

from flashbed.machine.outcomes import Outcome
from tests.machine import raw_chip
from tests.machine.nand_dump import Entry, Tree, of_folder, of_jffs2, of_ubifs, used_blocks
from tests.support.fixture_types import NewChip
from tests.support.guest_rig import Rig, boot

LONG_AGO_S = 1_000_000_000


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Make a tree with files of every kind (empty, of one byte value, without pattern, with holes), folders, links,
    modes and times.
    """
    root, noise = tmp_path / "tree", random.Random(1)
    (root / "folder" / "deeper").mkdir(parents=True)
    (root / "empty").touch()
    (root / "same").write_bytes(b"a" * 70_000)
    (root / "text").write_text("".join(f"line {number}\n" for number in range(5000)))
    (root / "noise").write_bytes(noise.randbytes(100_001))
    (root / "folder" / "deeper" / "small").write_bytes(noise.randbytes(1))
    with (root / "folder" / "holes").open("wb") as file:
        file.seek(40_000)
        file.write(noise.randbytes(5000))
        file.truncate(90_000)
    (root / "folder" / "link").symlink_to("../noise")
    (root / "to be deleted").write_bytes(noise.randbytes(9000))
    for number, path in enumerate(sorted(path for path in root.rglob("*") if not path.is_symlink())):
        path.chmod(0o700 + number)
    for number, path in enumerate(sorted(root.rglob("*"), reverse=True)):
        os.utime(path, (LONG_AGO_S, LONG_AGO_S + number), follow_symlinks=False)
    return root


# One line a file, folder or link: kind, mode, time, size, content or target, path
LIST = """
list() {
    cd /mnt
    find . ! -name . | sort | while read -r path; do
        if [ -L "$path" ]; then
            content=$(readlink "$path")
        elif [ -f "$path" ]; then
            content=$(md5sum <"$path")
            content=${content%% *}
        else
            content=
        fi
        stat -c "%F|%a|%Y|%s|$content|%n" "$path"
    done
    cd /
}
"""

CHANGE = (
    LIST
    + """
list >/out/found
cd /mnt
rm "to be deleted"
mv text folder/renamed
ln -s deeper/small folder/new-link
mkdir new
head -c 50000 /dev/urandom >new/noise
dd if=/dev/zero of=new/zeros bs=1000 count=30
dd if=/dev/urandom of=noise bs=1000 seek=33 count=7 conv=notrunc
dd if=/dev/urandom of=folder/holes bs=1000 seek=120 count=3 conv=notrunc
dd if=/dev/null of=same bs=1 seek=12345
chmod 4711 empty
cd /
"""
)

AGAIN = LIST + "list >/out/left\n"


def listed(outcome: Outcome, name: str) -> Tree:
    tree = {}
    for line in outcome.files[name].decode().splitlines():
        kind, mode, mtime_s, size, content, path = line.split("|")
        kind = kind.replace("regular empty file", "regular file")
        size = "0" if kind == "directory" else size
        tree[path.removeprefix("./")] = Entry(kind, int(mode, 8), int(mtime_s), int(size), content)
    return tree


def without_folders_times(tree: Tree) -> Tree:
    return {name: entry._replace(mtime_s=0) if entry.kind == "directory" else entry for name, entry in tree.items()}


def geometry(rig: Rig) -> tuple[int, int]:
    """Return the bytes of a page, and of a block."""
    p = rig.cell.medium.numbers()
    return p["page_bytes"], p["page_bytes"] * p["pages_per_block"]


def verify(rig: Rig, left: Tree, read: Tree) -> None:
    """Check that the reader finds what the guest made of the directory, and that no rule of the chip is broken."""
    assert "to be deleted" not in left
    assert left.keys() >= {"folder/renamed", "folder/new-link", "new/noise", "new/zeros"}
    assert left["same"].bytes == 12345
    assert left["empty"].mode == 0o4711
    assert read == left
    inspection = rig.tool.inspect(rig.files.state)
    assert inspection.fault is None
    assert inspection.counters["violations"] == 0


CHIPS = ["slc-nand-64m", pytest.param("slc-nand-256m", marks=pytest.mark.long)]

FAULTY = [
    pytest.param("slc-nand-64m:factory_bad_blocks=800,bit_error_ppt=100000", id="64m, faulty", marks=pytest.mark.long),
    pytest.param(
        "slc-nand-256m:factory_bad_blocks=400,bit_error_ppt=100000", id="256m, faulty", marks=pytest.mark.long
    ),
]


@pytest.mark.parametrize("chip", [*CHIPS, *FAULTY])
def test_jffs2_goes_to_the_guest_and_back(new_chip: NewChip, folder: Path, tmp_path: Path, chip: str) -> None:
    rig = new_chip(chip, tmp_path / "chip", tools="more-tools")
    page_bytes, block_bytes = geometry(rig)
    image = tmp_path / "image"
    # -n: what says that a block was erased lies in the spare area; -U: all belongs to root
    geometry_options = ["-e", str(block_bytes), "-s", str(page_bytes), "-n", "-l"]
    subprocess.run(["/usr/sbin/mkfs.jffs2", "-r", folder, "-o", image, "-U", *geometry_options], check=True)
    put = (
        "insmod /lib/flashbed/jffs2.ko\n/usr/sbin/flash_erase -q -j /dev/mtd0 0 0\n"
        "/usr/sbin/nandwrite -q -p --skip-all-ffs /dev/mtd0 /job/image\n"
    )
    outcome = boot(rig, beside={"image": image.read_bytes()}, format=put, prepare=CHANGE, measure=AGAIN)
    listing = listed(outcome, "found")
    content = image.read_bytes()
    assert listing == of_jffs2(content[at : at + block_bytes] for at in range(0, len(content), block_bytes))
    # mkfs.jffs2 gives entries the time of what they name, and a folder has its newest entry's time
    assert without_folders_times(listing) == without_folders_times(of_folder(folder))
    verify(rig, listed(outcome, "left"), of_jffs2(used_blocks(rig)))


UBI = """
[study]
mode = ubi
image = {image}
vol_id = 0
vol_type = dynamic
vol_name = study
vol_flags = autoresize
"""

SUBPAGE_BYTES = 512


@pytest.mark.long
@pytest.mark.parametrize("compression", ["lzo", "zlib"])
@pytest.mark.parametrize("chip", ["slc-nand-64m", "slc-nand-256m", *FAULTY])
def test_ubifs_goes_to_the_guest_and_back(
    new_chip: NewChip, folder: Path, tmp_path: Path, chip: str, compression: str
) -> None:
    rig = new_chip(chip, tmp_path / "chip", tools="more-tools")
    page_bytes, block_bytes = geometry(rig)
    headers_bytes = max(2 * SUBPAGE_BYTES, page_bytes)  # two sub-pages, data from the next whole page on
    content, image, plan = tmp_path / "content", tmp_path / "image", tmp_path / "plan.ini"
    plan.write_text(UBI.format(image=content))
    sizes = ["-m", str(page_bytes), "-e", str(block_bytes - headers_bytes), "-c", "3000"]
    subprocess.run(["/usr/sbin/mkfs.ubifs", "-r", folder, "-o", content, *sizes, "-x", compression, "-U"], check=True)
    sizes = ["-m", str(page_bytes), "-p", str(block_bytes), "-s", str(SUBPAGE_BYTES), "-Q", "1"]
    subprocess.run(["/usr/sbin/ubinize", "-o", image, *sizes, plan], check=True)
    put = raw_chip.LOAD_UBIFS + "/usr/sbin/ubiformat -q -y -f /job/image /dev/mtd0\n/usr/sbin/ubiattach -p /dev/mtd0\n"
    mount = "mount -t ubifs ubi0:study /mnt\n"
    beside = {"image": image.read_bytes()} | raw_chip.of_the_kernel(rig, *raw_chip.UBIFS)
    outcome = boot(rig, beside=beside, format=put, mount=mount, prepare=CHANGE, measure=AGAIN)
    assert listed(outcome, "found") == of_folder(folder)
    verify(rig, listed(outcome, "left"), of_ubifs(rig, tmp_path / "read"))
