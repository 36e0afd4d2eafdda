# SPDX-License-Identifier: Apache-2.0
"""Archives that Linux unpacks as its first file system (cpio, "newc"), made without root: owner root, no times.

The same files give the same bytes. Knows no appliance.
"""

from __future__ import annotations

import lzma
import stat
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import PurePosixPath

ALIGNMENT = 4
TRAILER = "TRAILER!!!"

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
    """A folder; those above others are made by themselves."""
    return Node(path, stat.S_IFDIR | permissions)


def character_device(path: str, major: int, minor: int) -> Node:
    """A device file."""
    return Node(path, stat.S_IFCHR | 0o600, device=(major, minor))


def archive(nodes: Iterable[Node]) -> bytes:
    """The archive of `nodes` and of the folders that they lie in, by path; the last of two with one path counts."""
    by_path = {node.path: node for node in nodes}
    for path in list(by_path):
        for parent in PurePosixPath(path).parents:
            if str(parent) != "/":
                by_path.setdefault(str(parent), folder(str(parent)))
    packed = b"".join(_entry(number, by_path[path]) for number, path in enumerate(sorted(by_path), start=1))
    return packed + _entry(0, Node(f"/{TRAILER}", 0))


def packed(data: bytes) -> bytes:
    """As the kernel unpacks it: xz with CRC32."""
    filters = [{"id": lzma.FILTER_LZMA2, "preset": 9 | lzma.PRESET_EXTREME, "dict_size": DICTIONARY_BYTES}]
    return lzma.compress(data, format=lzma.FORMAT_XZ, check=lzma.CHECK_CRC32, filters=filters)


def _entry(number: int, node: Node) -> bytes:
    name = node.path.lstrip("/").encode() + b"\0"
    links = 2 if stat.S_ISDIR(node.mode) else 1
    fields = (number, node.mode, 0, 0, links, 0, len(node.data), 0, 0, *node.device, len(name), 0)
    head = b"070701" + b"".join(b"%08x" % field for field in fields)
    return _padded(head + name) + _padded(node.data)


def _padded(data: bytes) -> bytes:
    return data + bytes(-len(data) % ALIGNMENT)
