# SPDX-License-Identifier: Apache-2.0
"""XDR and the headers of RPC, on the server's side."""

from __future__ import annotations

import struct

CALL, REPLY = 0, 1
SUCCESS, PROGRAM_UNAVAILABLE, PROGRAM_MISMATCH, PROCEDURE_UNAVAILABLE, GARBAGE = range(5)


class Malformed(Exception):
    """A request is shorter than its header says, or has bytes after its end."""


class Reader:
    def __init__(self, message: bytes) -> None:
        self.message, self.at = message, 0

    def fixed(self, length: int) -> bytes:
        padded = length + -length % 4
        if self.at + padded > len(self.message):
            raise Malformed
        taken = self.message[self.at : self.at + length]
        if any(self.message[self.at + length : self.at + padded]):
            raise Malformed
        self.at += padded
        return taken

    def u32(self) -> int:
        return int.from_bytes(self.fixed(4), "big")

    def u64(self) -> int:
        return int.from_bytes(self.fixed(8), "big")

    def opaque(self) -> bytes:
        return self.fixed(self.u32())

    def text(self) -> str:
        return self.opaque().decode()

    def end(self) -> None:
        if self.at != len(self.message):
            raise Malformed


def u32(*values: int) -> bytes:
    return struct.pack(f">{len(values)}I", *values)


def u64(*values: int) -> bytes:
    return struct.pack(f">{len(values)}Q", *values)


def fixed(data: bytes | bytearray) -> bytes:
    return bytes(data) + b"\0" * (-len(data) % 4)


def opaque(data: bytes | bytearray | str) -> bytes:
    data = data.encode() if isinstance(data, str) else data
    return u32(len(data)) + fixed(data)


class Call:
    """A request: its header, and a reader at the start of its arguments."""

    def __init__(self, message: bytes) -> None:
        self.arguments = Reader(message)
        self.xid, kind, rpc, self.program, self.version, self.procedure = (self.arguments.u32() for _ in range(6))
        if kind != CALL or rpc != 2:
            raise Malformed
        self.flavor = self.arguments.u32()
        credential = Reader(self.arguments.opaque())
        if self.flavor == 1:
            credential.u32()
            self.machine = credential.text()
            self.uid, self.gid = credential.u32(), credential.u32()
            for _ in range(credential.u32()):
                credential.u32()
            credential.end()
        self.arguments.u32()
        self.arguments.opaque()


def reply(xid: int, status: int, results: bytes = b"") -> bytes:
    return u32(xid, REPLY, 0, 0, 0, status) + results
