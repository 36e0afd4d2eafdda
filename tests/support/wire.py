# SPDX-License-Identifier: Apache-2.0
"""A wire between two QEMU guests: what one sends, the other gets. It can lose and double frames, so that calls are
repeated; the guests control when.
"""

from __future__ import annotations

import random
import select
import socket
import struct
import threading
from types import TracebackType

NFS, DISCARD = 2049, 9
"""UDP ports. Datagrams to the second one tell the wire what to do with datagrams of the first."""

LOST, DOUBLED = 0.08, 0.15
"""The shares of all datagrams, in both directions."""


class Wire:
    """Both guests connect to its `port` of this host, in any order, by QEMU's `-netdev socket,connect=`."""

    def __init__(self, seed: int) -> None:
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.port = int(self._listening.getsockname()[1])
        self.lost, self.doubled = 0, 0
        self._loses = False
        self._dice = random.Random(seed)
        self._ends: list[socket.socket] = []
        self._over, self._woken = socket.socketpair()
        self._thread = threading.Thread(target=self._carry, daemon=True)

    def __enter__(self) -> Wire:
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._over.close()
        self._thread.join()
        for end in (self._listening, self._woken, *self._ends):
            end.close()

    def _carry(self) -> None:
        came: dict[socket.socket, bytes] = {}
        while True:
            ready, _, _ = select.select([self._listening, self._woken, *self._ends], [], [])
            if self._woken in ready:
                return
            for end in ready:
                if end is self._listening:
                    self._ends.append(end.accept()[0])
                    self._ends[-1].setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)  # send each frame at once
                elif frames := self._read(end, came):
                    self._pass_on(end, frames)

    def _read(self, end: socket.socket, came: dict[socket.socket, bytes]) -> list[bytes]:
        """Return the complete frames, each with its length. If the guest is gone, return none and remove its end."""
        try:
            new = end.recv(1 << 16)
        except OSError:
            new = b""
        if not new:
            self._ends.remove(end)
            end.close()
            return []
        waiting, frames = came.get(end, b"") + new, []
        while len(waiting) >= 4 and len(waiting) >= (length := 4 + struct.unpack_from(">I", waiting)[0]):
            frames.append(waiting[:length])
            waiting = waiting[length:]
        came[end] = waiting
        return frames

    def _pass_on(self, end: socket.socket, frames: list[bytes]) -> None:
        sent = b"".join(frame * self._times(frame[4:]) for frame in frames)
        for other in self._ends:
            if other is not end:
                try:
                    other.sendall(sent)
                except OSError:
                    continue  # it shut down; reading removes its end

    def _times(self, frame: bytes) -> int:
        """Return how many copies of a frame are sent."""
        ports = udp_ports(frame)
        if ports[1] == DISCARD:
            self._loses = b"lose" in frame[42:]  # the frame may be padded
        if not self._loses or NFS not in ports:
            return 1
        drawn = self._dice.random()
        self.lost += drawn < LOST
        self.doubled += LOST <= drawn < LOST + DOUBLED
        return 0 if drawn < LOST else 2 if drawn < LOST + DOUBLED else 1


def udp_ports(frame: bytes) -> tuple[int, int]:
    """Return source and destination port of an Ethernet frame with the first fragment of a UDP datagram; (0, 0) for any
    other.
    """
    if len(frame) < 42 or frame[12:14] != b"\x08\x00" or frame[23] != socket.IPPROTO_UDP:
        return 0, 0
    if struct.unpack_from(">H", frame, 20)[0] & 0x1FFF:
        return 0, 0
    from_port, to_port = struct.unpack_from(">2H", frame, 14 + 4 * (frame[14] & 15))
    return from_port, to_port
