# SPDX-License-Identifier: Apache-2.0
"""Many power cuts of a raw chip in one guest: the emulator cuts the chip's power (emulator/lab-nand.h), its driver is
loaded anew, and tests/guest/durable.c holds the file system to what it had synced.

A round: arm a cut, mount, check what the round before has left, write until the power is gone. In every fourth round
the cut is armed so that it comes while mounting and checking, if those change anything.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from flashbed.common import paths
from flashbed.execution.repetition import Repetition
from flashbed.image import modules
from flashbed.image.cache import Cache
from tests.machine import raw_chip
from tests.support import guest_rig

CHIPS = {
    "small pages": (
        "slc-nand-64m",
        {"capacity_bytes": 4 << 20, "device_id": 0xE3, "pages_per_block": 16, "blocks_per_die": 512},
    ),
    "large pages": ("slc-nand-256m", {"capacity_bytes": 8 << 20, "onfi": 1, "blocks_per_die": 64}),
}
"""Chips of few blocks, else as in a profile, so that a mount is short and space is scarce."""

PROFILE = """
title = "tools for raw flash, and a file system that needs no cut of its own"
needs = "mtd"
packages = ["mtd-utils", "e2fsprogs"]
programs = [
  "/usr/sbin/flash_erase", "/usr/sbin/ubiformat", "/usr/sbin/ubiattach", "/usr/sbin/ubidetach", "/usr/sbin/ubimkvol",
  "/sbin/mkfs.ext4",
]
mkfs = ["sh /job/rounds"]
[mount]
type = "tmpfs"
device = "tmpfs"
"""


@dataclass(frozen=True)
class Stack:
    """A file system on a raw chip: shell commands that make it, bring it up and take it down, and its modules in the
    order in which they are loaded.
    """

    make: str
    up: str
    down: str
    modules: tuple[str, ...] = ()


def _inserted(*modules: str) -> str:
    return " && ".join(f"insmod /job/{name}.ko" for name in modules)


EXT4, UBIFS = ("mbcache", "jbd2", "ext4"), ("ubi", "ubifs")


def _translated(layer: str) -> Stack:
    """Return the stack of ext4 on a translation layer, without checksums of metadata. If two pages make a block of the
    journal, a power cut may tear a commit between them, and ext4 would then call the journal corrupt.
    """
    load = f"insmod /job/media_ftl.ko mtd=0 ftl={layer} spare_percent=10"
    return Stack(
        f"{_inserted(*EXT4)} && {load} && /sbin/mkfs.ext4 -q -b 1024 -O ^metadata_csum -J size=1 /dev/mftl0",
        f"{load} && mount -t ext4 /dev/mftl0 /mnt",
        "umount /mnt; rmmod media_ftl",
        (*EXT4, "media_ftl"),
    )


STACKS = {
    **{
        name: Stack(
            f"/usr/sbin/flash_erase -q -j /dev/mtd0 0 0 && insmod /job/{name}.ko",
            "mount -t jffs2 mtd0 /mnt",
            "umount /mnt",
            (name,),
        )
        for name in ("jffs2", "jffs2_summary")
    },
    "ubifs": Stack(
        f"{_inserted(*UBIFS)} && /usr/sbin/ubiformat -q -y -Q 1 /dev/mtd0 &&"
        " /usr/sbin/ubiattach -p /dev/mtd0 >/dev/null &&"
        " /usr/sbin/ubimkvol /dev/ubi0 -N cuts -S 52 >/dev/null",
        "{ [ -e /dev/ubi0 ] || /usr/sbin/ubiattach -p /dev/mtd0 >/dev/null; } && mount -t ubifs ubi0:cuts /mnt",
        "umount /mnt; /usr/sbin/ubidetach -p /dev/mtd0",
        UBIFS,
    ),
    "yaffs2": Stack(
        "/usr/sbin/flash_erase -q /dev/mtd0 0 0 && insmod /job/yaffs2.ko",
        "mount -t yaffs2 mtd0 /mnt",
        "umount /mnt",
        ("yaffs2",),
    ),
    "ftl-page": _translated("page"),
    "ftl-bast": _translated("bast"),
    "ftl-fast": _translated("fast"),
}

ROUNDS = """
. /job/cell.env
. /job/cuts.env
export POWER=/sys/kernel/debug/media_nand/power
random=$SEED
next() { # below: a number in $drawn
    random=$(((random * 1103515245 + 12345) % 2147483648))
    drawn=$((random / 65536 % $1))
}
state() { cat $POWER; }
up() { eval "$UP"; }
down() { eval "$DOWN"; }
restart() {
    down >/dev/null 2>&1
    rmmod media_nand || exit 3
    insmod /lib/flashbed/media_nand.ko $MEDIUM_OPTIONS || exit 3
}
eval "$MAKE" >/tmp/made 2>&1 || { cat /tmp/made; exit 2; }
eval "$DOWN" >/dev/null 2>&1
up || { dmesg | tail -n 20; exit 2; }
head -c $FILL /dev/urandom >/mnt/still
sync
sum=$(md5sum </mnt/still)
restart
cuts=0 early=0 round=0
while [ $cuts -lt $CUTS ]; do
    round=$((round + 1))
    cp /tmp/log /tmp/log.before 2>/dev/null
    next 4
    if [ $drawn = 0 ]; then next 8; else next 300; fi
    medium cut $((drawn + 1)) $((SEED * 100000 + round)) || exit 3
    if up; then
        [ -z "$LOSE" ] || rm -f /mnt/file* # as if the file system had lost them
        /job/durable check /mnt /tmp/log >/tmp/told || { [ "$(state)" = off ] || lost=1; }
        # Reading all of it takes longer than all the rest of a round; what is lost stays lost until it is looked for
        [ $((round % 10)) = 0 ] || [ $cuts -ge $((CUTS - 4)) ] && now=$(md5sum </mnt/still) || now=$sum
        if [ "$now" != "$sum" ] && [ "$(state)" != off ]; then
            lost=1
            echo "lost: the file that nobody touched" >>/tmp/told
        fi
    elif [ "$(state)" != off ]; then
        lost=1
        echo "lost: cannot be mounted" >/tmp/told
    fi
    if [ -n "$lost" ]; then
        echo "round $round; what was tried and what was safe, by file and version:"
        tail -n 25 /tmp/log.before
        cat /tmp/told
        dmesg | grep -E "the power went|ubi0|UBIFS|jffs2: [^m]|EXT4" | tail -n 40
        exit 1
    fi
    if [ "$(state)" = off ]; then
        early=$((early + 1))
        cp /tmp/log.before /tmp/log 2>/dev/null # what was read without power says nothing
    else
        /job/durable write /mnt /tmp/log $((SEED * 1000 + round)) >/tmp/wrote
    fi
    [ "$(state)" = off ] || { echo "stopped without a cut"; cat /tmp/wrote; dmesg | tail -n 20; exit 4; }
    cuts=$((cuts + 1))
    restart
done
echo "$cuts cuts, $early of them before anything was written"
"""


def _profile(name: str) -> str:
    """Return the profile of a medium with changed parameters. Each number has a source."""
    profile, changes = CHIPS[name]
    text = (paths.profiles() / "media" / f"{profile}.toml").read_text()
    parameters, source = text.split("[source]")
    for key, value in {"factory_bad_blocks": 2, **changes}.items():
        parameters = re.sub(rf"^{key} .*\n", "", parameters, flags=re.MULTILINE) + f"{key} = {value}\n"
        if not re.search(rf"^{key} ", source, re.MULTILINE):
            source += f'{key} = "assumed: a test"\n'
    return f"{parameters}[source]{source}"


def write_profiles(folder: Path, chip: str) -> None:
    """Write profiles/ for a study in `folder`: the medium "small" and the file system "rounds"."""
    for kind, name, text in (("media", "small", _profile(chip)), ("filesystems", "rounds", PROFILE)):
        path = folder / "profiles" / kind / f"{name}.toml"
        path.parent.mkdir(parents=True)
        path.write_text(text)


def _files(repetition: Repetition, stack: Stack, settings: dict[str, object]) -> dict[str, bytes]:
    cache = Cache(paths.cache_root() / "image")
    words = {"MAKE": stack.make, "UP": stack.up, "DOWN": stack.down, **settings}
    built = modules.build_chosen(cache, repetition.image.kernel, stack.modules)
    return {
        "rounds": ROUNDS.encode(),
        "cuts.env": "".join(f"{name}='{value}'\n" for name, value in words.items()).encode(),
        "durable": raw_chip.own_program("durable"),
        **{f"{name}.ko": path.read_bytes() for name, path in built.items()},
    }


def run_rounds(repetition: Repetition, folder: Path, stack: Stack, limit_s: float, **settings: object) -> str:
    """Return the output of the rounds in the guest. `settings`: CUTS, SEED, FILL (bytes of a file that nobody touches),
    LOSE (if set, the file system loses files).
    """
    rig = guest_rig.new(repetition, folder)
    outcome = guest_rig.outcome_of(rig, beside=_files(repetition, stack, settings), limit_s=limit_s)
    output = outcome.files.get("format.txt", b"").decode(errors="replace")
    return (
        output
        if outcome.status == "measured"
        else f"{outcome.reason}\n{output}\n{outcome.console[-3000:].decode(errors='replace')}"
    )
