# SPDX-License-Identifier: Apache-2.0
"""The double's sockets: one thread, UDP or TCP; each reply is sent at its time."""

from __future__ import annotations

import heapq
import itertools
import json
import selectors
import signal
import socket
import sys
import time
from collections.abc import Callable
from typing import Any

from double.service import MOUNT, NFS, PORTMAP, Answer, Orders, Service

LAST = 0x80000000
FRAGMENT = 1000  # bytes: replies over TCP come in pieces, as the protocol allows


def record(message: bytes) -> bytes:
    pieces = [message[at : at + FRAGMENT] for at in range(0, len(message), FRAGMENT)]
    marks = [len(piece) | (LAST if at == len(pieces) - 1 else 0) for at, piece in enumerate(pieces)]
    return b"".join(mark.to_bytes(4, "big") + piece for mark, piece in zip(marks, pieces, strict=True))


class Connection:
    """A TCP client's connection: bytes to messages. All requests of sfsload have one fragment."""

    def __init__(self, server: Server, sock: socket.socket) -> None:
        self.server, self.sock, self.bytes = server, sock, b""
        self.open = True

    def readable(self) -> None:
        try:
            got = self.sock.recv(1 << 16)
        except OSError:
            got = b""
        if not got:
            self.close()
        self.bytes += got
        while self.open and len(self.bytes) >= 4:
            mark = int.from_bytes(self.bytes[:4], "big")
            assert mark & LAST
            length = mark & ~LAST
            if len(self.bytes) < 4 + length:
                return
            message, self.bytes = self.bytes[4 : 4 + length], self.bytes[4 + length :]
            self.server.take(self, message, self.send)

    def send(self, message: bytes) -> None:
        if self.open:
            self.sock.setblocking(True)
            self.sock.sendall(record(message))
            self.sock.setblocking(False)

    def close(self) -> None:
        if self.open:
            self.open = False
            self.server.selector.unregister(self.sock)
            self.sock.close()


class Server:
    def __init__(self, transport: str, orders: Orders) -> None:
        self.selector = selectors.DefaultSelector()
        self.due: list[tuple[float, int, Callable[[], None]]] = []
        self.numbers = itertools.count()
        self.ending = False
        kind = socket.SOCK_STREAM if transport == "tcp" else socket.SOCK_DGRAM
        self.ports = {}
        for program in (PORTMAP, NFS, MOUNT):
            sock = socket.socket(socket.AF_INET, kind)
            sock.bind(("127.0.0.1", 0))
            sock.setblocking(False)
            self.ports[program] = sock.getsockname()[1]
            if transport == "tcp":
                sock.listen(64)
            else:
                sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 20)
            take = self._accept if transport == "tcp" else self._datagram
            self.selector.register(sock, selectors.EVENT_READ, lambda sock=sock, take=take: take(sock))
        self.service = Service(orders, self.ports, transport)

    def _accept(self, listening: socket.socket) -> None:
        sock, _ = listening.accept()
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        sock.setblocking(False)
        self.selector.register(sock, selectors.EVENT_READ, Connection(self, sock).readable)

    def _datagram(self, sock: socket.socket) -> None:
        message, client = sock.recvfrom(1 << 16)
        self.take(client, message, lambda reply: sock.sendto(reply, client))

    def take(self, client: Any, message: bytes, send: Callable[[bytes], Any]) -> None:
        answer = self.service.answer(client, message)
        if answer.close:
            client.close()
        elif answer.message is not None and not answer.delay_s:
            self._reply(client, answer, send)
        elif answer.message is not None:
            at = time.monotonic() + answer.delay_s
            heapq.heappush(self.due, (at, next(self.numbers), lambda: self._reply(client, answer, send)))

    def _reply(self, client: object, answer: Answer, send: Callable[[bytes], Any]) -> None:
        if answer.op:
            self.service.answered(client, answer.op)
        assert answer.message is not None
        send(answer.message)

    def run(self) -> None:
        while not self.ending:
            now = time.monotonic()
            while self.due and self.due[0][0] <= now:
                heapq.heappop(self.due)[2]()
            wait = max(0.0, self.due[0][0] - time.monotonic()) if self.due else None
            for key, _ in self.selector.select(wait):
                key.data()


def main() -> None:
    """server.py tcp|udp ORDERS: print the ports as a line of JSON, and the counts when SIGTERM ends the server."""
    server = Server(sys.argv[1], Orders(**json.loads(sys.argv[2])))

    def end(*_: object) -> None:
        server.ending = True

    signal.signal(signal.SIGTERM, end)
    waker, woken = socket.socketpair()
    woken.setblocking(False)
    waker.setblocking(False)
    signal.set_wakeup_fd(waker.fileno())
    server.selector.register(woken, selectors.EVENT_READ, lambda: woken.recv(16))
    names = {PORTMAP: "portmap", NFS: "nfs", MOUNT: "mount"}
    print(json.dumps({names[program]: port for program, port in server.ports.items()}), flush=True)
    server.run()
    print(json.dumps(server.service.counts.to_json()))


if __name__ == "__main__":
    main()
