# SPDX-License-Identifier: Apache-2.0
"""NFS version 4.0 (RFC 7530) as a test asks it: compounds that walk from the root, and do one thing at their end."""

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
"""In place of what an OPEN gives: who writes has not opened the file."""

BLOCK = 8192
FILE_SYNC = 2

Operation = tuple[int, bytes]
"""Its number, and its arguments."""


def compound(server: Server, *operations: Operation, tcp: bool = True) -> tuple[int, bytes]:
    """The status, and the results of the last operation: those before it must have none, if all went well."""
    body = b"".join(struct.pack(">I", number) + arguments for number, arguments in operations)
    arguments = text(b"") + struct.pack(">2I", 0, len(operations)) + body
    results = server.call(NFS, COMPOUND, arguments, tcp=tcp, version=4)
    status, tag, count = struct.unpack_from(">3I", results)
    assert tag == 0
    return int(status), results[12 + 8 * count :] if status == OK else b""


def at(*path: bytes) -> list[Operation]:
    """From the root to a path; ".." goes up."""
    return [(PUTROOTFH, b""), *((LOOKUPP, b"") if name == b".." else (LOOKUP, text(name)) for name in path)]


def look_up(server: Server, *path: bytes) -> tuple[int, bytes]:
    """Status and handle."""
    status, results = compound(server, *at(*path), (GETFH, b""))
    return status, results[4 : 4 + struct.unpack_from(">I", results)[0]] if status == OK else b""


def names(server: Server, *path: bytes) -> list[bytes]:
    """What a folder shows, of up to some hundred entries."""
    status, results = compound(
        server, *at(*path), (READDIR, bytes(16) + struct.pack(">2I", 8192, 8192) + _bits(FILE_ID))
    )
    assert status == OK, status
    found, place = [], 8
    while struct.unpack_from(">I", results, place)[0]:
        place += 12
        for part in range(3):  # name, which attributes, attributes
            length = struct.unpack_from(">I", results, place)[0] * (4 if part == 1 else 1)
            if part == 0:
                found.append(results[place + 4 : place + 4 + length])
            place += 4 + (length + 3) // 4 * 4
    return found


def attributes(server: Server, handle: bytes) -> int:
    """The status of GETATTR."""
    return compound(server, (PUTFH, text(handle)), (GETATTR, _bits(FILE_ID)))[0]


def owner(server: Server, *path: bytes) -> bytes:
    """As the server calls it."""
    status, results = compound(server, *at(*path), (GETATTR, _bits(OWNER)))
    assert status == OK, status
    length = struct.unpack_from(">I", results, 16)[0]
    return results[20 : 20 + length]


def set_owner(server: Server, name: bytes, *path: bytes) -> int:
    """The status of SETATTR."""
    what = _bits(OWNER) + text(text(name))
    return compound(server, *at(*path), (SETATTR, NOT_OPEN + what))[0]


def make_folder(server: Server, *path: bytes) -> int:
    """The status of CREATE."""
    what = struct.pack(">I", FOLDER) + text(path[-1]) + _bits(MODE) + text(struct.pack(">I", 0o755))
    return compound(server, *at(*path[:-1]), (CREATE, what))[0]


def write(server: Server, content: bytes, *path: bytes) -> None:
    """The content of a file that is there."""
    for offset in range(0, len(content), BLOCK):
        part = content[offset : offset + BLOCK]
        what = NOT_OPEN + struct.pack(">QI", offset, FILE_SYNC) + text(part)
        status, results = compound(server, *at(*path), (WRITE, what))
        assert (status, struct.unpack_from(">I", results)[0]) == (OK, len(part))


def take_back(server: Server, *path: bytes) -> int:
    """The status of an OPEN that says that the file was open before the server was restarted."""
    callback = struct.pack(">I", 0) + text(b"tcp") + text(b"127.0.0.1.0.1") + struct.pack(">I", 0)
    _, results = compound(server, (SETCLIENTID, b"verifier" + text(b"a test") + callback))
    client = results[:8]
    assert compound(server, (SETCLIENTID_CONFIRM, results[:16]))[0] == OK
    who = struct.pack(">3I", 0, 1, 0) + client + text(b"somebody")  # number of the call, read, deny nothing
    how = struct.pack(">3I", 0, CLAIM_PREVIOUS, NO_DELEGATION)
    return compound(server, *at(*path), (OPEN, who + how))[0]


def _bits(*numbers: int) -> bytes:
    """A set of attributes, as the protocol has it."""
    words: Sequence[int] = [
        sum(1 << n % 32 for n in numbers if n // 32 == word) for word in range(max(numbers) // 32 + 1)
    ]
    return struct.pack(f">{len(words) + 1}I", len(words), *words)
