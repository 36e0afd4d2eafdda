# SPDX-License-Identifier: Apache-2.0
"""NFS version 3, its mount protocol and the portmapper, over UDP and TCP, at ports of this host. This is no client:
each call stands alone.
"""

from __future__ import annotations

import socket
import struct
from dataclasses import dataclass, field
from typing import ClassVar

PORTMAP, NFS, MOUNT = 100000, 100003, 100005
OK, NO_ENTRY, ACCESS, STALE, BAD_HANDLE = 0, 2, 13, 70, 10001
ROOT = struct.pack(">5I", 0, 0, 0, 0, 0)  # AUTH_SYS: stamp, no machine name, uid, gid, no groups


NO_ATTRIBUTES = bytes(24)
"""The attributes that CREATE sets: none."""

FOR_ALL = struct.pack(">7I", 1, 0o777, 0, 0, 0, 0, 0)
"""The attributes that MKDIR sets: everybody may do anything in the directory."""

ATTRIBUTES, SIZE_AND_TIMES, MTIME = 84, 24, 68
"""The sizes of fattr3 and wcc_attr in bytes (RFC 1813), and the offset of the time of the last change in fattr3."""

UNSTABLE, FILE_SYNC = 0, 2


def text(value: bytes) -> bytes:
    """Return a string or a handle in the protocol's encoding: its length, and zeros up to a word."""
    return struct.pack(">I", len(value)) + value + bytes(-len(value) % 4)


def header(xid: int, program: int, version: int, procedure: int) -> bytes:
    """Return a call's header, as root of a machine without a name."""
    return struct.pack(">6I", xid, 0, 2, program, version, procedure) + struct.pack(">I", 1) + text(ROOT) + bytes(8)


class Denied(Exception):
    """The call was not carried out. The text is RPC's reason."""


@dataclass
class Server:
    """An appliance's ports on this host."""

    address: str
    nfs: int
    mount: int
    portmap: int
    seconds: float = 20.0
    _xid: int = field(default=0x1000)

    programs: ClassVar[dict[int, tuple[str, int]]] = {PORTMAP: ("portmap", 2), NFS: ("nfs", 3), MOUNT: ("mount", 3)}

    def call(
        self, program: int, procedure: int, arguments: bytes = b"", *, tcp: bool = True, version: int = 0
    ) -> bytes:
        """Return the results. Raises Denied, or TimeoutError if no answer comes."""
        name, usual = self.programs[program]
        self._xid += 1
        message = header(self._xid, program, version or usual, procedure) + arguments
        reply = (self._over_tcp if tcp else self._over_udp)(getattr(self, name), message)
        xid, kind, status = struct.unpack_from(">3I", reply)
        assert (xid, kind) == (self._xid, 1)
        if status:
            raise Denied(f"denied {struct.unpack_from('>2I', reply, 12)}")
        length = struct.unpack_from(">I", reply, 16)[0]
        at = 20 + (length + 3) // 4 * 4
        if accepted := struct.unpack_from(">I", reply, at)[0]:
            raise Denied(f"accepted with {accepted}")
        return reply[at + 4 :]

    def _over_udp(self, port: int, message: bytes) -> bytes:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as line:
            line.settimeout(self.seconds)
            line.connect((self.address, port))
            line.send(message)
            return line.recv(65536)

    def _over_tcp(self, port: int, message: bytes) -> bytes:
        with socket.create_connection((self.address, port), timeout=self.seconds) as line:
            line.sendall(struct.pack(">I", 0x80000000 | len(message)) + message)
            head = _exactly(line, 4)
            return _exactly(line, struct.unpack(">I", head)[0] & 0x7FFFFFFF)

    def mount_path(self, path: bytes) -> tuple[int, bytes]:
        """Return the status, and the handle if it is OK."""
        results = self.call(MOUNT, 1, text(path))
        status = struct.unpack_from(">I", results)[0]
        length = struct.unpack_from(">I", results, 4)[0] if status == OK else 0
        return status, results[8 : 8 + length]

    def attributes(self, handle: bytes) -> int:
        """Return the status of GETATTR."""
        return _status(self.call(NFS, 1, text(handle)))

    def changed_at(self, handle: bytes) -> int:
        """Return the second of the last change of content, by GETATTR."""
        results = self.call(NFS, 1, text(handle))
        assert _status(results) == OK
        return int(struct.unpack_from(">I", results, 4 + MTIME)[0])

    def look_up(self, handle: bytes, name: bytes) -> tuple[int, bytes]:
        """Return status and handle of LOOKUP."""
        results = self.call(NFS, 3, text(handle) + text(name))
        status = struct.unpack_from(">I", results)[0]
        length = struct.unpack_from(">I", results, 4)[0] if status == OK else 0
        return status, results[8 : 8 + length]

    def create(self, folder: bytes, name: bytes) -> tuple[int, bytes]:
        """Return status and handle of CREATE, unchecked."""
        return _made(self.call(NFS, 8, text(folder) + text(name) + bytes(4) + NO_ATTRIBUTES))

    def make_folder(self, folder: bytes, name: bytes) -> tuple[int, bytes]:
        """Return status and handle of MKDIR."""
        return _made(self.call(NFS, 9, text(folder) + text(name) + FOR_ALL))

    def remove(self, folder: bytes, name: bytes, *, is_folder: bool = False) -> int:
        """Return the status of REMOVE, or of RMDIR."""
        return _status(self.call(NFS, 13 if is_folder else 12, text(folder) + text(name)))

    def rename(self, folder: bytes, name: bytes, new: bytes) -> int:
        """Return the status of RENAME within a directory."""
        return _status(self.call(NFS, 14, text(folder) + text(name) + text(folder) + text(new)))

    def write(self, handle: bytes, offset: int, data: bytes, *, stable: bool = False) -> bytes:
        """Return the verifier of WRITE. Another verifier means that the server has restarted."""
        how = struct.pack(">Q3I", offset, len(data), FILE_SYNC if stable else UNSTABLE, len(data))
        results = self.call(NFS, 7, text(handle) + how + data + bytes(-len(data) % 4))
        at = _after_changes(results)
        count, committed = struct.unpack_from(">2I", results, at)
        assert count == len(data)
        assert committed >= (FILE_SYNC if stable else UNSTABLE)
        return results[at + 8 : at + 16]

    def commit(self, handle: bytes) -> bytes:
        """Return the verifier of COMMIT of the whole file."""
        results = self.call(NFS, 21, text(handle) + bytes(12))
        at = _after_changes(results)
        return results[at : at + 8]

    def read(self, handle: bytes, offset: int, count: int) -> bytes:
        results = self.call(NFS, 6, text(handle) + struct.pack(">QI", offset, count))
        status, follows = struct.unpack_from(">2I", results)
        assert status == OK, status
        at = 8 + (ATTRIBUTES if follows else 0)
        length = struct.unpack_from(">I", results, at + 8)[0]
        return results[at + 12 : at + 12 + length]


def _status(results: bytes) -> int:
    return int(struct.unpack_from(">I", results)[0])


def _made(results: bytes) -> tuple[int, bytes]:
    """Return the status, and the handle of the new object if the server returns it."""
    status, follows = struct.unpack_from(">2I", results)
    if status != OK or not follows:
        return status, b""
    length = struct.unpack_from(">I", results, 8)[0]
    return status, results[12 : 12 + length]


def _after_changes(results: bytes) -> int:
    """Return the offset after wcc_data. The status before it must be OK."""
    status, follows = struct.unpack_from(">2I", results)
    assert status == OK, status
    at = 8 + (SIZE_AND_TIMES if follows else 0)
    return at + 4 + (ATTRIBUTES if struct.unpack_from(">I", results, at)[0] else 0)


def _exactly(line: socket.socket, count: int) -> bytes:
    data = b""
    while len(data) < count:
        more = line.recv(count - len(data))
        if not more:
            raise ConnectionError("the server hung up")
        data += more
    return data
