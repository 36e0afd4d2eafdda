# SPDX-License-Identifier: Apache-2.0
"""NFS version 2 (RFC 1094): arguments to results, for the procedures that a load uses."""

from __future__ import annotations

from double.files import FILE, FOLDER, LINK, Files, Node
from double.wire import Malformed, Reader, fixed, opaque, u32

NAMES = {
    1: "getattr",
    2: "setattr",
    4: "lookup",
    5: "readlink",
    6: "read",
    8: "write",
    9: "create",
    10: "remove",
    13: "symlink",
    14: "mkdir",
    16: "readdir",
    17: "fsstat",
}
NOT_SET = 0xFFFFFFFF


def handle(node: Node) -> bytes:
    return node.number.to_bytes(8, "big") + b"second-version-of-nfs..."


def node_of(files: Files, reader: Reader) -> Node:
    return files.node(int.from_bytes(reader.fixed(32)[:8], "big"))


def attributes(node: Node) -> bytes:
    return u32(node.kind, node.mode, 1, 0, 0, node.size, 4096, 0, 8, 1, node.number) + u32(*[0] * 6)


def sattr(reader: Reader) -> tuple[int, int]:
    """Read the attributes to set: mode and size. All others must be unset."""
    mode, uid, gid, size, *times = (reader.u32() for _ in range(8))
    if {uid, gid, *times} != {NOT_SET}:
        raise Malformed
    return mode, size


def failed(name: str) -> bytes:
    """Return the part of a failed operation's reply that follows the status."""
    return b""


def results(files: Files, name: str, reader: Reader) -> bytes:
    node = node_of(files, reader)
    reply: bytes = globals()[f"_{name}"](files, node, reader)
    return reply


def _getattr(files: Files, node: Node, reader: Reader) -> bytes:
    return attributes(node)


def _setattr(files: Files, node: Node, reader: Reader) -> bytes:
    mode, size = sattr(reader)
    if mode != NOT_SET:
        node.mode = mode
    if size != NOT_SET:
        files.resize(node, size)
    return attributes(node)


def _lookup(files: Files, node: Node, reader: Reader) -> bytes:
    found = files.look_up(node, reader.text())
    return handle(found) + attributes(found)


def _readlink(files: Files, node: Node, reader: Reader) -> bytes:
    return opaque(node.target)


def _read(files: Files, node: Node, reader: Reader) -> bytes:
    offset, count, _ = reader.u32(), reader.u32(), reader.u32()
    return attributes(node) + opaque(node.data[offset : offset + count])


def _write(files: Files, node: Node, reader: Reader) -> bytes:
    _, offset, _ = reader.u32(), reader.u32(), reader.u32()
    files.write(node, offset, reader.opaque())
    return attributes(node)


def _create(files: Files, node: Node, reader: Reader) -> bytes:
    name = reader.text()
    mode, _ = sattr(reader)
    made = files.make(node, name, FILE, mode)
    return handle(made) + attributes(made)


def _mkdir(files: Files, node: Node, reader: Reader) -> bytes:
    name = reader.text()
    mode, _ = sattr(reader)
    made = files.make(node, name, FOLDER, mode)
    return handle(made) + attributes(made)


def _remove(files: Files, node: Node, reader: Reader) -> bytes:
    files.remove(node, reader.text())
    return b""


def _symlink(files: Files, node: Node, reader: Reader) -> bytes:
    name, target = reader.text(), reader.text()
    sattr(reader)
    files.make(node, name, LINK, 0o777).target = target
    return b""


def _readdir(files: Files, node: Node, reader: Reader) -> bytes:
    cookie, count = reader.u32(), reader.u32()
    listed = b""
    for place, (name, entry) in enumerate(list(node.names.items())[cookie:], cookie + 1):
        one = u32(1, entry.number) + opaque(name) + u32(place)
        if len(listed) + len(one) + 8 > count:
            return listed + u32(0, 0)
        listed += one
    return listed + u32(0, 1)


def _fsstat(files: Files, node: Node, reader: Reader) -> bytes:
    return fixed(u32(8192, 4096, 1000, 900, 900))
