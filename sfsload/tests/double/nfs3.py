# SPDX-License-Identifier: Apache-2.0
"""NFS version 3 (RFC 1813): arguments to results, for the procedures that a load uses."""

from __future__ import annotations

from double.files import FILE, FOLDER, LINK, Files, Node
from double.wire import Malformed, Reader, fixed, opaque, u32, u64

NAMES = {
    1: "getattr",
    2: "setattr",
    3: "lookup",
    4: "access",
    5: "readlink",
    6: "read",
    7: "write",
    8: "create",
    9: "mkdir",
    10: "symlink",
    12: "remove",
    16: "readdir",
    17: "readdirplus",
    18: "fsstat",
    19: "fsinfo",
    21: "commit",
}
VERIFIER = 0x0123456789ABCDEF
NO_ATTRIBUTES = u32(0)
NOT_BEFORE = u32(0)


def handle(node: Node) -> bytes:
    return opaque(node.number.to_bytes(8, "big") + b"third version")


def node_of(files: Files, reader: Reader) -> Node:
    return files.node(int.from_bytes(reader.opaque()[:8], "big"))


def attributes(node: Node) -> bytes:
    return u32(node.kind, node.mode, 1, 0, 0) + u64(node.size, node.size, 0, 1, node.number) + u32(*[0] * 6)


def post_op(node: Node) -> bytes:
    return u32(1) + attributes(node)


def wcc(node: Node) -> bytes:
    """Write the attributes before an operation, as some servers do, and after it."""
    return u32(1) + u64(node.size) + u32(0, 0, 0, 0) + post_op(node)


def sattr(reader: Reader) -> tuple[int | None, int | None]:
    """Read the attributes to set: mode and size. All others must be unset."""
    mode = reader.u32() if reader.u32() else None
    if reader.u32() or reader.u32():
        raise Malformed
    size = reader.u64() if reader.u32() else None
    if reader.u32() or reader.u32():
        raise Malformed
    return mode, size


def failed(name: str) -> bytes:
    """Return the part of a failed operation's reply that follows the status."""
    if name == "getattr":
        return b""
    if name in ("setattr", "write", "create", "mkdir", "symlink", "remove", "commit"):
        return NOT_BEFORE + NO_ATTRIBUTES
    return NO_ATTRIBUTES


def results(files: Files, name: str, reader: Reader) -> bytes:
    node = node_of(files, reader)
    reply: bytes = globals()[f"_{name}"](files, node, reader)
    return reply


def _getattr(files: Files, node: Node, reader: Reader) -> bytes:
    return attributes(node)


def _setattr(files: Files, node: Node, reader: Reader) -> bytes:
    mode, size = sattr(reader)
    if reader.u32():
        raise Malformed
    if mode is not None:
        node.mode = mode
    if size is not None:
        files.resize(node, size)
    return wcc(node)


def _lookup(files: Files, node: Node, reader: Reader) -> bytes:
    found = files.look_up(node, reader.text())
    return handle(found) + post_op(found) + post_op(node)


def _access(files: Files, node: Node, reader: Reader) -> bytes:
    return post_op(node) + u32(reader.u32())


def _readlink(files: Files, node: Node, reader: Reader) -> bytes:
    return post_op(node) + opaque(node.target)


def _read(files: Files, node: Node, reader: Reader) -> bytes:
    offset, count = reader.u64(), reader.u32()
    data = node.data[offset : offset + count]
    return post_op(node) + u32(len(data), offset + count >= node.size) + opaque(data)


def _write(files: Files, node: Node, reader: Reader) -> bytes:
    offset, count, stable = reader.u64(), reader.u32(), reader.u32()
    data = reader.opaque()
    if len(data) != count or stable > 2:
        raise Malformed
    files.write(node, offset, data)
    return wcc(node) + u32(count, stable) + u64(VERIFIER)


def _made(folder: Node, made: Node) -> bytes:
    """Return the reply of a creation. It has no handle of a directory, which the protocol allows."""
    reply = u32(0) if made.kind == FOLDER else u32(1) + handle(made)
    return reply + post_op(made) + wcc(folder)


def _create(files: Files, node: Node, reader: Reader) -> bytes:
    name = reader.text()
    if reader.u32():
        raise Malformed
    mode, _ = sattr(reader)
    return _made(node, files.make(node, name, FILE, mode or 0))


def _mkdir(files: Files, node: Node, reader: Reader) -> bytes:
    name = reader.text()
    mode, _ = sattr(reader)
    return _made(node, files.make(node, name, FOLDER, mode or 0))


def _symlink(files: Files, node: Node, reader: Reader) -> bytes:
    name = reader.text()
    sattr(reader)
    made = files.make(node, name, LINK, 0o777)
    made.target = reader.text()
    return _made(node, made)


def _remove(files: Files, node: Node, reader: Reader) -> bytes:
    files.remove(node, reader.text())
    return wcc(node)


def _entries(node: Node, cookie: int, most: int, plus: bool) -> bytes:
    listed = b""
    for place, (name, entry) in enumerate(list(node.names.items())[cookie:], cookie + 1):
        one = u32(1) + u64(entry.number) + opaque(name) + u64(place)
        if plus:
            one += post_op(entry) + u32(1) + handle(entry)
        if len(listed) + len(one) + 200 > most:
            return listed + u32(0, 0)
        listed += one
    return listed + u32(0, 1)


def _readdir(files: Files, node: Node, reader: Reader) -> bytes:
    cookie, _, count = reader.u64(), reader.u64(), reader.u32()
    return post_op(node) + u64(0) + _entries(node, cookie, count, plus=False)


def _readdirplus(files: Files, node: Node, reader: Reader) -> bytes:
    cookie, _, _, most = reader.u64(), reader.u64(), reader.u32(), reader.u32()
    return post_op(node) + u64(0) + _entries(node, cookie, most, plus=True)


def _fsstat(files: Files, node: Node, reader: Reader) -> bytes:
    return post_op(node) + u64(*[1 << 30] * 6) + u32(0)


def _fsinfo(files: Files, node: Node, reader: Reader) -> bytes:
    sizes = u32(65536, 65536, 4096, 65536, 65536, 4096, 8192)
    return post_op(node) + sizes + u64(1 << 40) + fixed(u32(0, 1)) + u32(0x1B)


def _commit(files: Files, node: Node, reader: Reader) -> bytes:
    reader.u64(), reader.u32()
    return wcc(node) + u64(VERIFIER)
