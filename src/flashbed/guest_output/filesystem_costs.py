# SPDX-License-Identifier: Apache-2.0
"""Compute what a file system costs beside speed, and describe how it was mounted and aged: time to mount, memory, and
space on the medium.

The cost comes from the guest's notes around its second mount, which is like the mount of a boot: the translation's
module was removed and loaded again, UBI was attached again, and nothing of the medium is cached. Must not know which
file system it is, nor who requested which option.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from flashbed.guest_output import cpu_load

AGING_NOTES = "aged.txt"
"""The guest's file about aging: lines of a name and an integer."""

AGED_FILES, AGED_FILLED = "aged_files", "aged_filled_percent"
AGED_WRITTEN, AGED_EXTENTS = "aged_written_bytes", "aged_extents_per_file"


def aging_metrics(out: Mapping[str, bytes]) -> dict[str, float]:
    """Return the number of files, their share of the new file system's capacity in %, the bytes written to files, and
    extents per file if the file system reports them. Return {} for a new file system. Raises ValueError or KeyError.
    """
    if AGING_NOTES not in out:
        return {}
    numbers = {name: int(number) for name, number in (line.split() for line in out[AGING_NOTES].decode().splitlines())}
    extents = {AGED_EXTENTS: numbers["extents"] / numbers["files"]} if "extents" in numbers else {}
    return {
        AGED_FILES: float(numbers["files"]),
        AGED_FILLED: 100.0 * numbers["filled_bytes"] / numbers["capacity_bytes"],
        AGED_WRITTEN: float(numbers["written_bytes"]),
        **extents,
    }


MOUNTED, POLICY = "mounted.txt", "ipu_policy.txt"
"""The line of /proc/mounts, and F2FS's policy of in-place updates."""

_FORCED, _FLUSHED = 1 << 0, 1 << 4
"""Bits of the policy: always in place; in place if a flush brings few pages. Linux: fs/f2fs/segment.h, F2FS_IPU_."""

_LOG_ONLY = "mode=lfs"


def described_mount(out: Mapping[str, bytes]) -> str:
    """Return the mount, such as "ext2 rw,relatime", with the update policy if the kernel reports it; "" if nothing was
    noted.
    """
    fields = out.get(MOUNTED, b"").decode(errors="replace").split()
    if len(fields) < 4:
        return ""
    options = fields[3]
    description = f"{fields[2]} {options}"
    policy = out.get(POLICY, b"").decode(errors="replace").strip()
    if not policy.isdecimal():
        return description
    return f"{description}; {_updates(int(policy), options)}"


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

_KIB = re.compile(rb"^(\w+): +(\d+) kB", re.MULTILINE)
_PAGES = re.compile(rb"^ +count: +(\d+)", re.MULTILINE)
"""The free pages that a CPU keeps for itself, as in /proc/zoneinfo."""

PAGE_BYTES = 4096

_FREE = ("MemFree", "Buffers", "Cached", "SReclaimable")
"""Memory that the kernel can free at once, by its names in /proc/meminfo."""


def upkeep_metrics(out: Mapping[str, bytes], medium_bytes: int) -> dict[str, float]:
    """Return mount time in seconds, memory in bytes, and shares of the medium. Raises KeyError or ValueError."""
    _, free = _room(out[EMPTY])
    return {
        "mount_s": _passed_s(out, MOUNT_BEGUN, MOUNT_DONE),
        **({"mount_after_cut_s": _passed_s(out, CUT_BEGUN, CUT_DONE)} if CUT_DONE in out else {}),
        "mount_memory_bytes": float(_used_memory(out[MEMORY_UP]) - _used_memory(out[MEMORY_DOWN])),
        "space_free_percent": 100.0 * free / medium_bytes,
        **_space_of_files(out),
    }


def _passed_s(out: Mapping[str, bytes], begun: str, done: str) -> float:
    return (cpu_load.now_ns(out[done]) - cpu_load.now_ns(out[begun])) / 1e9


def _space_of_files(out: Mapping[str, bytes]) -> dict[str, float]:
    """Return the bytes that the file system takes per byte of file content at the end; {} if there is no file."""
    listed = (line.split() for line in out[SPACE].splitlines())
    content = sum(int(fields[4]) for fields in listed if fields and fields[0].startswith(b"-"))
    if not content:
        return {}
    return {"space_per_byte": (_room(out[SPACE])[0] - _room(out[EMPTY])[0]) / content}


def _room(text: bytes) -> tuple[int, int]:
    """Return the used and free bytes of one file system in the output of `df -kP`."""
    lines = text.splitlines()
    if len(lines) < 2:
        raise ValueError("df said nothing of the file system")
    used, free = lines[1].split()[2:4]
    return int(used) * 1024, int(free) * 1024


def _used_memory(text: bytes) -> int:
    """Return the bytes that the kernel and programs hold and cannot free at once."""
    kib = {name.decode(): int(number) for name, number in _KIB.findall(text)}
    pages = sum(int(number) for number in _PAGES.findall(text))
    return 1024 * (kib["MemTotal"] - sum(kib[name] for name in _FREE)) - PAGE_BYTES * pages
