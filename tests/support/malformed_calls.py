# SPDX-License-Identifier: Apache-2.0
"""Send randomly changed calls so that few are lost: after each batch comes a valid call, and the next batch waits for
its answer. Transports are UDP, TCP, and TCP with false record headers.
"""

from __future__ import annotations

import contextlib
import random
import socket
import struct
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from tests.support.nfs_calls import FOR_ALL, MOUNT, NFS, NO_ATTRIBUTES, PORTMAP, Server, header, text

HANDFUL = {"udp": 16, "tcp": 6}
"""Over TCP a server closes the connection at some calls, and the rest of the batch is lost."""

BY_TCP, LYING = 2, 20
"""One of so many batches goes over TCP, and one of so many has one more call with a false record header."""

ASK_AGAIN_S = 0.5
XID_BYTES = 4

FITTING = {
    **{1: "h", 2: "hai", 3: "hn", 4: "hi", 5: "h", 6: "hqi", 7: "hqw", 8: "hnia", 9: "hna", 10: "hnan", 11: "hni"},
    **{12: "hn", 13: "hn", 14: "hnhn", 15: "hhn", 16: "hqqi", 17: "hqqii", 18: "h", 19: "h", 20: "h", 21: "hqi"},
}
"""The arguments of each procedure of NFS version 3, in the letters of _argument()."""


@dataclass
class Sent:
    """The numbers of sent calls, by transport."""

    changed: Counter[str] = field(default_factory=Counter)
    whole: Counter[str] = field(default_factory=Counter)
    """NULL calls, repetitions included."""

    lies: int = 0
    """Records with false headers, in addition to the calls."""

    def add(self, more: Sent) -> None:
        self.changed += more.changed
        self.whole += more.whole
        self.lies += more.lies


def pester(server: Server, program: int, count: int, seed: int, handle: bytes) -> Sent:
    """Send the program at least `count` changed calls. Raises TimeoutError if it stops answering valid ones."""
    dice, sent = random.Random(f"{seed} {program}"), Sent()
    name, version = server.programs[program]
    to = (server.address, getattr(server, name))
    null = header(0, program, version, 0)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as line:
        line.connect(to)
        handfuls = 0
        while sent.changed.total() < count:
            handfuls += 1
            transport = "tcp" if handfuls % BY_TCP == 0 else "udp"
            calls = [changed_call(dice, program, handle) for _ in range(HANDFUL[transport])]
            sent.changed[transport] += len(calls)
            if transport == "udp":
                _send_datagrams(line, calls, null, sent, server.seconds)
            else:
                _send_records(to, calls, null, sent, server.seconds)
            if handfuls % LYING == 0:
                _lie(to, dice, changed_call(dice, program, handle))
                sent.lies += 1
    return sent


def changed_call(dice: random.Random, program: int, handle: bytes) -> bytes:
    """Return a call with arguments that may fit. Bytes are changed, lost, doubled or added, and not only in its xid."""
    if program == NFS and dice.random() < 0.5:
        version, (procedure, kinds) = 3, dice.choice(list(FITTING.items()))
    else:
        version = dice.choice((1, 2, 3, 3, 3, 4, dice.getrandbits(32)))
        procedure = dice.choice((*range(23), dice.getrandbits(32)))
        kinds = "".join(dice.choice("hniq") for _ in range(dice.randrange(6)))
    arguments = b"".join(_argument(dice, kind, handle) for kind in kinds)
    whole = header(dice.getrandbits(32), program, version, procedure) + arguments
    message = bytearray(whole)
    while message[XID_BYTES:] == whole[XID_BYTES:]:
        for _ in range(dice.choice((1, 1, 2, 3))):
            _change(dice, message)
    return bytes(message)


def _argument(dice: random.Random, kind: str, handle: bytes) -> bytes:
    """Return an argument. h: handle; n: name; i, q: number of 32 or 64 bits; a: attributes to set; w: how much to
    write, how, and the data.
    """
    if kind == "h":
        return text(handle)
    if kind == "n":
        return text(dice.choice((b"..", b".", b"/data", b"/data/../etc", b"a" * dice.randrange(300), b"a/b", b"\0")))
    if kind == "i":
        return struct.pack(">I", dice.choice((0, 1, 2, 0xFFFFFFFF, dice.getrandbits(32))))
    if kind == "q":
        return struct.pack(">Q", dice.choice((0, dice.getrandbits(12), dice.getrandbits(64))))
    if kind == "a":
        return dice.choice((NO_ATTRIBUTES, FOR_ALL))
    data = dice.randbytes(dice.randrange(100))
    return struct.pack(">2I", len(data), dice.randrange(3)) + text(data)


def _change(dice: random.Random, message: bytearray) -> None:
    """Make one change at a place of any part: another byte, the end cut off, some bytes doubled, some bytes added."""
    at, change = dice.randrange(len(message) or 1), dice.randrange(4)
    if change == 0 and message:
        message[at] = dice.getrandbits(8)
    elif change == 1:
        del message[
            max(at, 2 * XID_BYTES) :
        ]  # shorter messages are refused by their length alone, and do not count as calls
    elif change == 2:
        message[at:at] = message[at : at + dice.randrange(64)]
    else:
        message[at:at] = dice.randbytes(dice.randrange(32))


def _send_datagrams(line: socket.socket, calls: Sequence[bytes], null: bytes, sent: Sent, seconds: float) -> None:
    for call in calls:
        line.send(call)
    line.settimeout(ASK_AGAIN_S)

    def send(message: bytes) -> None:
        sent.whole["udp"] += 1
        line.send(message)

    _until_answered(send, lambda xid: line.recv(65536)[:XID_BYTES] == xid, null, seconds)


def _send_records(to: tuple[str, int], calls: Sequence[bytes], null: bytes, sent: Sent, seconds: float) -> None:
    """Send records over a connection of their own. The server may close it after any record, most likely a short
    one.
    """
    with socket.create_connection(to, timeout=seconds) as line:
        answers = b""

        def send(message: bytes) -> None:
            line.sendall(struct.pack(">I", 0x80000000 | len(message)) + message)

        def send_whole(message: bytes) -> None:
            sent.whole["tcp"] += 1
            send(message)

        def is_answered(xid: bytes) -> bool:
            nonlocal answers
            more = line.recv(65536)
            if not more:
                raise ConnectionError("the server hung up")
            answers += more
            return xid in answers

        with contextlib.suppress(ConnectionError):
            for call in sorted(calls, key=len, reverse=True):
                send(call)
            line.settimeout(ASK_AGAIN_S)
            _until_answered(send_whole, is_answered, null, seconds)


def _until_answered(
    send: Callable[[bytes], None], is_answered: Callable[[bytes], bool], null: bytes, seconds: float
) -> None:
    """Send a valid call until it is answered, each time with another xid. Skip answers to other calls."""
    end, number = time.monotonic() + seconds, random.randrange(1 << 31)
    while time.monotonic() < end:
        number += 1
        xid = struct.pack(">I", number)
        send(xid + null[XID_BYTES:])
        try:
            while not is_answered(xid):
                pass
        except TimeoutError:
            continue
        return
    raise TimeoutError(f"no answer to a whole call within {seconds} s")


def _lie(to: tuple[str, int], dice: random.Random, message: bytes) -> None:
    """Send a record whose header has another length or announces more records, then close the connection."""
    with socket.create_connection(to, timeout=0.05) as line:
        length = dice.choice((len(message), dice.getrandbits(8), dice.getrandbits(31)))
        try:
            line.sendall(struct.pack(">I", dice.choice((0, 0x80000000)) | length) + message)
            line.recv(65536)
        except OSError:
            return  # the server may close the connection, or wait for more


def pester_all(server: Server, count: int, seed: int, handle: bytes) -> Sent:
    """Send `count` calls to the NFS server, and a third as many each to the mount protocol and the portmapper."""
    sent = Sent()
    for program, many in ((MOUNT, count // 3), (PORTMAP, count // 3), (NFS, count)):
        sent.add(pester(server, program, many, seed, handle))
    return sent
