# SPDX-License-Identifier: Apache-2.0
"""Archives that Linux unpacks as its first file system (cpio, "newc"), made without root: owner root, no times.

The same nodes in the same order give the same bytes, those of the kernel's own gen_init_cpio (Linux's
Documentation/driver-api/early-userspace/buffer-format.rst has the format). Knows no guest and no appliance.
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
"""What holds the files: any will do."""

DICTIONARY_BYTES = 1 << 20
"""Of xz: the kernel needs as much memory to unpack."""


@dataclass(frozen=True)
class Node:
    """A file, a link (its target is `data`), a folder or a character device, at an absolute path."""

    path: str
    mode: int
    """Kind and permissions, as stat.st_mode has them."""
    data: bytes = b""
    device: tuple[int, int] = (0, 0)


def file(path: str, data: bytes, permissions: int = 0o644) -> Node:
    """A regular file."""
    return Node(path, stat.S_IFREG | permissions, data)


def program(path: str, data: bytes) -> Node:
    """A file that can be executed."""
    return file(path, data, 0o755)


def link(path: str, target: str) -> Node:
    """A symbolic link."""
    return Node(path, stat.S_IFLNK | 0o777, target.encode())


def folder(path: str, permissions: int = 0o755) -> Node:
    """A folder."""
    return Node(path, stat.S_IFDIR | permissions)


def character_device(path: str, major: int, minor: int) -> Node:
    """A device file."""
    return Node(path, stat.S_IFCHR | 0o600, device=(major, minor))


def folders_of(nodes: Iterable[Node]) -> list[Node]:
    """The folders that `nodes` lie in, each once, by path."""
    above = {str(parent) for node in nodes for parent in PurePosixPath(node.path).parents} - {"/"}
    return [folder(path) for path in sorted(above)]


def tree(nodes: Iterable[Node]) -> list[Node]:
    """`nodes` and the folders that they lie in, by path; the last of two with one path counts."""
    wanted = list(nodes)
    by_path = {node.path: node for node in [*folders_of(wanted), *wanted]}
    return [by_path[path] for path in sorted(by_path)]


def archive(nodes: Iterable[Node]) -> bytes:
    """The archive of `nodes`, in their order: a folder comes before what lies in it."""
    made = b"".join(_entry(FIRST_INODE + number, node) for number, node in enumerate(nodes))
    return _padded(made + _entry(0, Node(f"/{TRAILER}", 0), (0, 0)), BLOCK)


def packed(data: bytes) -> bytes:
    """As the kernel unpacks it: xz with CRC32."""
    filters = [{"id": lzma.FILTER_LZMA2, "preset": 9 | lzma.PRESET_EXTREME, "dict_size": DICTIONARY_BYTES}]
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
