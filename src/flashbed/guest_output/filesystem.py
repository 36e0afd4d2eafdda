# SPDX-License-Identifier: Apache-2.0
"""What a guest notes of its file system beside speed: what was done to it before it was measured, how it was mounted,
and what it and the layer below it cost (time until it is mounted, memory, room on the medium).

The cost is from what the guest noted around its second mount, which is as a boot makes it: the translation's module was
removed and is loaded again, UBI attached again, nothing of the medium is in memory. Must not know which file system it
is, nor who asked for which option.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

AGED = "aged.txt"
"""Where the guest has it: lines of a name and a whole number."""

AGED_FILES, AGED_FILLED = "aged_files", "aged_filled_percent"
AGED_WRITTEN, AGED_EXTENTS = "aged_written_bytes", "aged_extents_per_file"


def aging_metrics(out: Mapping[str, bytes]) -> dict[str, float]:
    """Number of files, their share of the capacity that the new file system had in %, bytes written to files, and
    extents a file where the file system tells. Nothing for a file system that is new. Raises ValueError or KeyError.
    """
    if AGED not in out:
        return {}
    told = {name: int(number) for name, number in (line.split() for line in out[AGED].decode().splitlines())}
    extents = {AGED_EXTENTS: told["extents"] / told["files"]} if "extents" in told else {}
    return {
        AGED_FILES: float(told["files"]),
        AGED_FILLED: 100.0 * told["filled_bytes"] / told["capacity_bytes"],
        AGED_WRITTEN: float(told["written_bytes"]),
        **extents,
    }


MOUNTED, POLICY = "mounted.txt", "ipu_policy.txt"
"""The line of /proc/mounts, and of a log-structured file system that has one its policy of updates in place."""

_FORCED, _FLUSHED = 1 << 0, 1 << 4
"""Bits of the policy: always in place; in place where a flush brings few pages. Linux: fs/f2fs/segment.h, F2FS_IPU_."""

_LOG_ONLY = "mode=lfs"


def described_mount(out: Mapping[str, bytes]) -> str:
    """Such as "ext2 rw,relatime", with the way of updates where the kernel tells it; "" if nothing was noted."""
    words = out.get(MOUNTED, b"").decode(errors="replace").split()
    if len(words) < 4:
        return ""
    options = words[3]
    said = f"{words[2]} {options}"
    policy = out.get(POLICY, b"").decode(errors="replace").strip()
    if not policy.isdecimal():
        return said
    return f"{said}; {_updates(int(policy), options)}"


def _updates(policy: int, options: str) -> str:
    if _LOG_ONLY in options.split(","):
        return "writes a log"
    if policy & _FORCED:
        return "overwrites in place"
    return "writes a log, small flushed writes in place" if policy & _FLUSHED else "writes a log"


MOUNT_BEGUN, MOUNT_DONE = "mount.begun", "mount.done"
MEMORY_DOWN, MEMORY_UP = "memory.mount.down", "memory.mount.up"
CUT_BEGUN, CUT_DONE = "cut.begun", "cut.done"
EMPTY, SPACE = "empty.txt", "space.txt"

_NOW = re.compile(rb"now at (\d+) nsecs")
_KIB = re.compile(rb"^(\w+): +(\d+) kB", re.MULTILINE)
_PAGES = re.compile(rb"^ +count: +(\d+)", re.MULTILINE)
"""Free pages that a CPU keeps for itself, in the words of /proc/zoneinfo."""

PAGE_BYTES = 4096

_FREE = ("MemFree", "Buffers", "Cached", "SReclaimable")
"""What the kernel can give away at once, in the words of /proc/meminfo."""


def upkeep_metrics(out: Mapping[str, bytes], medium_bytes: int) -> dict[str, float]:
    """Mount time in seconds, memory in bytes, shares of the medium. Raises KeyError or ValueError."""
    _, free = _room(out[EMPTY])
    return {
        "mount_s": _passed_s(out, MOUNT_BEGUN, MOUNT_DONE),
        **({"mount_after_cut_s": _passed_s(out, CUT_BEGUN, CUT_DONE)} if CUT_DONE in out else {}),
        "mount_memory_bytes": float(_used_memory(out[MEMORY_UP]) - _used_memory(out[MEMORY_DOWN])),
        "space_free_percent": 100.0 * free / medium_bytes,
        **_space_of_files(out),
    }


def _passed_s(out: Mapping[str, bytes], begun: str, done: str) -> float:
    return (_now_ns(out[done]) - _now_ns(out[begun])) / 1e9


def _space_of_files(out: Mapping[str, bytes]) -> dict[str, float]:
    """Bytes that the file system takes for each byte in a file at the end; nothing where there is no file."""
    listed = (line.split() for line in out[SPACE].splitlines())
    content = sum(int(words[4]) for words in listed if words and words[0].startswith(b"-"))
    if not content:
        return {}
    return {"space_per_byte": (_room(out[SPACE])[0] - _room(out[EMPTY])[0]) / content}


def _room(text: bytes) -> tuple[int, int]:
    """Bytes used and free, from what `df -kP` says of one file system."""
    lines = text.splitlines()
    if len(lines) < 2:
        raise ValueError("df said nothing of the file system")
    used, free = lines[1].split()[2:4]
    return int(used) * 1024, int(free) * 1024


def _used_memory(text: bytes) -> int:
    """Bytes that the kernel and programs hold and cannot give away at once."""
    kib = {name.decode(): int(number) for name, number in _KIB.findall(text)}
    pages = sum(int(number) for number in _PAGES.findall(text))
    return 1024 * (kib["MemTotal"] - sum(kib[name] for name in _FREE)) - PAGE_BYTES * pages


def _now_ns(text: bytes) -> int:
    now = _NOW.search(text)
    if now is None:
        raise ValueError("no time in what the guest noted of the mount")
    return int(now[1])
