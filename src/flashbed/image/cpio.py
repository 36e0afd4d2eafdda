# SPDX-License-Identifier: Apache-2.0
"""Write cpio archives (format "newc") that Linux unpacks as its first file system, without being root. The owner is
root, and timestamps are zero.

The same nodes in the same order give the same bytes as the kernel's gen_init_cpio. The format is in Linux's
Documentation/driver-api/early-userspace/buffer-format.rst. Knows no guest and no appliance.
"""

from __future__ import annotations

import lzma
import stat
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import PurePosixPath

RECIPE_VERSION = 1
"""Raise it if the same nodes give other bytes."""

ALIGNMENT, BLOCK = 4, 512
TRAILER = "TRAILER!!!"

FIRST_INODE = 721
DEVICE = (3, 1)
"""Major and minor number of the device that holds the files. Any would do."""

DICTIONARY_BYTES = 1 << 20
"""The dictionary size of xz. The kernel needs as much memory to unpack."""

SMALLEST, FASTEST = 9 | lzma.PRESET_EXTREME, 0
"""Presets of xz. With Debian's modules, 8.9 MB take 3.7 CPU seconds and become 2.0 MB, or 0.5 s and 2.2 MB."""


@dataclass(frozen=True)
class Node:
    """A file, a link (`data` is its target), a directory or a character device."""

    path: str
    """An absolute path."""
    mode: int
    """Type and permissions, as in stat.st_mode."""
    data: bytes = b""
    device: tuple[int, int] = (0, 0)


def file(path: str, data: bytes, permissions: int = 0o644) -> Node:
    """Return a regular file."""
    return Node(path, stat.S_IFREG | permissions, data)


def program(path: str, data: bytes) -> Node:
    """Return an executable file."""
    return file(path, data, 0o755)


def link(path: str, target: str) -> Node:
    """Return a symbolic link."""
    return Node(path, stat.S_IFLNK | 0o777, target.encode())


def folder(path: str, permissions: int = 0o755) -> Node:
    """Return a directory."""
    return Node(path, stat.S_IFDIR | permissions)


def character_device(path: str, major: int, minor: int) -> Node:
    """Return the node of a character device."""
    return Node(path, stat.S_IFCHR | 0o600, device=(major, minor))


def folders_of(nodes: Iterable[Node]) -> list[Node]:
    """Return the parent directories of `nodes`, each once, sorted by path."""
    above = {str(parent) for node in nodes for parent in PurePosixPath(node.path).parents} - {"/"}
    return [folder(path) for path in sorted(above)]


def tree(nodes: Iterable[Node]) -> list[Node]:
    """Return `nodes` and their parent directories, sorted by path. Of nodes with the same path, the last one counts."""
    archived = list(nodes)
    by_path = {node.path: node for node in [*folders_of(archived), *archived]}
    return [by_path[path] for path in sorted(by_path)]


def archive(nodes: Iterable[Node]) -> bytes:
    """Return the archive of `nodes` in this order. Each directory must precede its content."""
    entries = b"".join(_entry(FIRST_INODE + number, node) for number, node in enumerate(nodes))
    return _padded(entries + _entry(0, Node(f"/{TRAILER}", 0), (0, 0)), BLOCK)


def packed(data: bytes, preset: int = SMALLEST) -> bytes:
    """Return `data` compressed by xz with CRC32, which the kernel can unpack."""
    filters = [{"id": lzma.FILTER_LZMA2, "preset": preset, "dict_size": DICTIONARY_BYTES}]
    return lzma.compress(data, format=lzma.FORMAT_XZ, check=lzma.CHECK_CRC32, filters=filters)


def _entry(number: int, node: Node, held_by: tuple[int, int] = DEVICE) -> bytes:
    name, data = node.path.lstrip("/").encode() + b"\0", node.data
    if stat.S_ISLNK(node.mode):
        data += b"\0"
    links = 2 if stat.S_ISDIR(node.mode) else 1
    fields = (number, node.mode, 0, 0, links, 0, len(data), *held_by, *node.device, len(name), 0)
    head = b"070701" + b"".join(b"%08X" % field for field in fields)
    return _padded(head + name, ALIGNMENT) + _padded(data, ALIGNMENT)


def _padded(data: bytes, to: int) -> bytes:
    return data + bytes(-len(data) % to)
