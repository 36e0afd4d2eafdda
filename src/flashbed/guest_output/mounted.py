# SPDX-License-Identifier: Apache-2.0
"""How the file system of a cell was mounted, as the kernel says: its type and options, and where it overwrites in place
although it could write a log.

Must not know who asked for which option.
"""

from __future__ import annotations

from collections.abc import Mapping

MOUNTED, POLICY = "mounted.txt", "ipu_policy.txt"
"""The line of /proc/mounts, and of a log-structured file system that has one its policy of updates in place."""

_FORCED, _FLUSHED = 1 << 0, 1 << 4
"""Bits of the policy: always in place; in place where a flush brings few pages. Linux: fs/f2fs/segment.h, F2FS_IPU_."""

_LOG_ONLY = "mode=lfs"


def describe(out: Mapping[str, bytes]) -> str:
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
