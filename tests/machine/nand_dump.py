# SPDX-License-Identifier: Apache-2.0
"""Read a raw chip on the host: the content without spare areas, and the files that JFFS2 or UBIFS has
there. Nothing of Linux reads: jefferson takes JFFS2's nodes apart, ubi_reader reads UBI and UBIFS.
"""

from __future__ import annotations

import hashlib
import stat
import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from jefferson import jffs2

from tests.machine.raw_chip import marked_blocks
from tests.support.guest_rig import Rig


class Entry(NamedTuple):
    """A file system's entry for a file, a directory or a symbolic link."""

    kind: str
    mode: int
    mtime_s: int
    bytes: int
    content: str
    """MD5 of a file's content, the target of a symbolic link, nothing for a folder."""


Tree = dict[str, Entry]
"""By the path below the root."""

KINDS = {stat.S_IFREG: "regular file", stat.S_IFDIR: "directory", stat.S_IFLNK: "symbolic link"}


def entry(mode: int, mtime_s: int, content: bytes) -> Entry:
    """Return the entry of a file, a directory or a symbolic link from its content."""
    kind = KINDS[stat.S_IFMT(mode)]
    if kind == "directory":
        return Entry(kind, stat.S_IMODE(mode), mtime_s, 0, "")
    content_text = content.decode() if kind == "symbolic link" else hashlib.md5(content).hexdigest()
    return Entry(kind, stat.S_IMODE(mode), mtime_s, len(content), content_text)


def of_folder(root: Path) -> Tree:
    """Return the entries below a directory of the host."""
    tree = {}
    for path in root.rglob("*"):
        about = path.lstat()
        content = b""
        if path.is_symlink():
            content = str(path.readlink()).encode()
        elif path.is_file():
            content = path.read_bytes()
        tree[str(path.relative_to(root))] = entry(about.st_mode, int(about.st_mtime), content)
    return tree


def used_blocks(rig: Rig) -> Iterator[bytes]:
    """Yield the content of each block that is neither bad nor erased, without spare areas."""
    p = rig.cell.medium.numbers()
    shape = (p["blocks_per_die"], p["pages_per_block"], p["page_bytes"] + p["spare_bytes"])
    blocks = np.memmap(rig.files.data, np.uint8, "r", shape=shape)
    bad = set(marked_blocks(rig))
    for number in range(p["blocks_per_die"]):
        data = blocks[number, :, : p["page_bytes"]]
        if number not in bad and not (data == 0xFF).all():
            yield data.tobytes()


# --- JFFS2: a log of nodes; of two about the same the higher version counts ---


def nodes(block: bytes) -> Iterator[tuple[int, bytes]]:
    """Type and bytes of each node of a block."""
    at = 0
    while at + 12 <= len(block):
        head = jffs2.parse_unknown_node(block[at : at + 12])
        if head.magic == jffs2.JFFS2_MAGIC_BITMASK and head.hdr_crc_match:
            yield head.nodetype, block[at : at + head.totlen]
            at += jffs2.PAD(head.totlen)
        else:
            at += 4


def of_jffs2(blocks: Iterable[bytes]) -> Tree:
    """Return the files of the JFFS2 in these blocks. Check every checksum of every node."""
    names: dict[tuple[int, bytes], tuple[int, int]] = {}  # (version, inode) by folder and name
    changed: dict[int, tuple[int, int]] = {}  # (version, time in s) of a folder's newest entry
    inodes: dict[int, list[Any]] = {}
    for block in blocks:
        for kind, data in nodes(block):
            if kind == jffs2.JFFS2_NODETYPE_DIRENT:
                dirent = jffs2.parse_dirent(data, 0)
                assert dirent.node_crc_match
                assert dirent.name_crc_match
                key, version = (dirent.pino, bytes(dirent.name)), (dirent.version, dirent.ino)
                names[key] = max(version, names.get(key, version))
                change = (dirent.version, dirent.mctime)
                changed[dirent.pino] = max(change, changed.get(dirent.pino, change))
            elif kind == jffs2.JFFS2_NODETYPE_INODE:
                inode = jffs2.parse_inode(data)
                assert inode.node_crc_match
                assert inode.data_crc_match
                inodes.setdefault(inode.ino, []).append(inode)
    tree: Tree = {}
    folders = {1: ""}
    while folders:
        number, path = folders.popitem()
        for (folder, name), (_, ino) in names.items():
            if folder == number and ino != 0:  # an entry without inode says that the name is deleted
                tree[path + name.decode()] = _of_inode(inodes[ino], changed.get(ino))
                if tree[path + name.decode()].kind == "directory":
                    folders[ino] = f"{path}{name.decode()}/"
    return tree


def _of_inode(nodes_of_inode: list[Any], changed: tuple[int, int] | None) -> Entry:
    """Apply a file's nodes one after another; each states the size that the file then has.

    An entry made in a folder after its last node changes the folder's time.
    """
    content = bytearray()
    for node in sorted(nodes_of_inode, key=lambda node: node.version):
        content += bytes(max(0, node.offset + node.dsize - len(content)))
        content[node.offset : node.offset + node.dsize] = node.data
        del content[node.isize :]
        content += bytes(node.isize - len(content))
    if stat.S_ISLNK(node.mode):
        content = bytearray(node.data)
    mtime_s = changed[1] if changed and changed[0] > node.version else node.mtime
    return entry(node.mode, mtime_s, bytes(content))


# --- UBIFS ---


def of_ubifs(rig: Rig, folder: Path) -> Tree:
    """Extract the files of the only volume below `folder`, and return them."""
    folder.mkdir()
    image = folder / "image"
    with image.open("wb") as out:
        out.writelines(used_blocks(rig))
    reader = Path(sys.executable).with_name("ubireader_extract_files")
    done = subprocess.run([reader, "-k", "-o", folder / "files", image], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Error" not in done.stdout + done.stderr, done.stdout + done.stderr
    (volume,) = (folder / "files").glob("*/*")
    return of_folder(volume)
