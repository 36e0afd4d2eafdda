# SPDX-License-Identifier: Apache-2.0
"""NFS version 4.0 (RFC 7530) as tests call it: compounds that walk from the root, and do one thing at their end."""

from __future__ import annotations

import struct
from collections.abc import Sequence

from tests.support.nfs_calls import NFS, Server, text

COMPOUND = 1
CREATE, GETATTR, GETFH, LOOKUP, LOOKUPP, OPEN, PUTFH, PUTROOTFH, READDIR, SETATTR = 6, 9, 10, 15, 16, 18, 22, 24, 26, 34
SETCLIENTID, SETCLIENTID_CONFIRM, WRITE = 35, 36, 38
OK, NO_ENTRY, READ_ONLY, STALE, NO_GRACE, RECLAIM_BAD, BAD_OWNER = 0, 2, 30, 70, 10033, 10034, 10039
FOLDER, FILE_ID, MODE, OWNER = 2, 20, 33, 36
CLAIM_PREVIOUS, NO_DELEGATION = 1, 0
NOT_OPEN = bytes(16)
"""The state ID of a writer that has not opened the file."""

BLOCK = 8192
FILE_SYNC = 2

Operation = tuple[int, bytes]
"""The operation's number, and its arguments."""


def compound(server: Server, *operations: Operation, tcp: bool = True) -> tuple[int, bytes]:
    """Return the status, and the results of the last operation. On success, earlier operations must have no results."""
    body = b"".join(struct.pack(">I", number) + arguments for number, arguments in operations)
    arguments = text(b"") + struct.pack(">2I", 0, len(operations)) + body
    results = server.call(NFS, COMPOUND, arguments, tcp=tcp, version=4)
    status, tag, count = struct.unpack_from(">3I", results)
    assert tag == 0
    return int(status), results[12 + 8 * count :] if status == OK else b""


def at(*path: bytes) -> list[Operation]:
    """Return the operations that walk from the root to a path; ".." goes up."""
    return [(PUTROOTFH, b""), *((LOOKUPP, b"") if name == b".." else (LOOKUP, text(name)) for name in path)]


def look_up(server: Server, *path: bytes) -> tuple[int, bytes]:
    """Return status and handle."""
    status, results = compound(server, *at(*path), (GETFH, b""))
    return status, results[4 : 4 + struct.unpack_from(">I", results)[0]] if status == OK else b""


def names(server: Server, *path: bytes) -> list[bytes]:
    """Return the names in a directory of up to some hundred entries."""
    status, results = compound(
        server, *at(*path), (READDIR, bytes(16) + struct.pack(">2I", 8192, 8192) + _bits(FILE_ID))
    )
    assert status == OK, status
    entries, place = [], 8
    while struct.unpack_from(">I", results, place)[0]:
        place += 12
        for part in range(3):  # name, which attributes, attributes
            length = struct.unpack_from(">I", results, place)[0] * (4 if part == 1 else 1)
            if part == 0:
                entries.append(results[place + 4 : place + 4 + length])
            place += 4 + (length + 3) // 4 * 4
    return entries


def attributes(server: Server, handle: bytes) -> int:
    """Return the status of GETATTR."""
    return compound(server, (PUTFH, text(handle)), (GETATTR, _bits(FILE_ID)))[0]


def owner(server: Server, *path: bytes) -> bytes:
    """Return the owner's name in the server's words."""
    status, results = compound(server, *at(*path), (GETATTR, _bits(OWNER)))
    assert status == OK, status
    length = struct.unpack_from(">I", results, 16)[0]
    return results[20 : 20 + length]


def set_owner(server: Server, name: bytes, *path: bytes) -> int:
    """Return the status of SETATTR."""
    owner_set = _bits(OWNER) + text(text(name))
    return compound(server, *at(*path), (SETATTR, NOT_OPEN + owner_set))[0]


def make_folder(server: Server, *path: bytes) -> int:
    """Return the status of CREATE."""
    arguments = struct.pack(">I", FOLDER) + text(path[-1]) + _bits(MODE) + text(struct.pack(">I", 0o755))
    return compound(server, *at(*path[:-1]), (CREATE, arguments))[0]


def write(server: Server, content: bytes, *path: bytes) -> None:
    """Write the content of an existing file."""
    for offset in range(0, len(content), BLOCK):
        part = content[offset : offset + BLOCK]
        arguments = NOT_OPEN + struct.pack(">QI", offset, FILE_SYNC) + text(part)
        status, results = compound(server, *at(*path), (WRITE, arguments))
        assert (status, struct.unpack_from(">I", results)[0]) == (OK, len(part))


def take_back(server: Server, *path: bytes) -> int:
    """Return the status of an OPEN that claims that the file was open before the server restarted."""
    callback = struct.pack(">I", 0) + text(b"tcp") + text(b"127.0.0.1.0.1") + struct.pack(">I", 0)
    _, results = compound(server, (SETCLIENTID, b"verifier" + text(b"a test") + callback))
    client = results[:8]
    assert compound(server, (SETCLIENTID_CONFIRM, results[:16]))[0] == OK
    owner_of_open = struct.pack(">3I", 0, 1, 0) + client + text(b"somebody")  # number of the call, read, deny nothing
    how = struct.pack(">3I", 0, CLAIM_PREVIOUS, NO_DELEGATION)
    return compound(server, *at(*path), (OPEN, owner_of_open + how))[0]


def _bits(*numbers: int) -> bytes:
    """Return a set of attributes in the protocol's encoding."""
    words: Sequence[int] = [
        sum(1 << n % 32 for n in numbers if n // 32 == word) for word in range(max(numbers) // 32 + 1)
    ]
    return struct.pack(f">{len(words) + 1}I", len(words), *words)
