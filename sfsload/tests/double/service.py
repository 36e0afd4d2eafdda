# SPDX-License-Identifier: Apache-2.0
"""Requests to replies: carry out the orders of a test, and count the requests."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from types import ModuleType

from double import nfs2, nfs3, wire
from double.files import Files, Refused

PORTMAP, NFS, MOUNT = 100000, 100003, 100005


@dataclass
class Orders:
    """The orders of a test. Those for NFS begin after a number of different requests."""

    after: int = 0
    refuse_mount: int = 0
    no_version: int = 0  # the portmapper knows nothing of this version of NFS
    drop_every: int = 0  # each n-th request is not looked at
    forget_every: int = 0  # each n-th reply is not sent
    close_every: int = 0  # the connection is closed instead of each n-th reply
    silent_after: int = 0  # requests
    delay_ms: dict[str, float] = field(default_factory=dict)  # by operation
    status: dict[str, int] = field(default_factory=dict)  # by operation
    wrong: dict[str, str] = field(default_factory=dict)  # by operation: content, short, garbage, unavailable, found


@dataclass
class Counts:
    asked: Counter[str] = field(default_factory=Counter)  # since the load began, each xid once
    prepared: Counter[str] = field(default_factory=Counter)  # before that
    repeated: int = 0  # since then
    dropped: int = 0
    closed: int = 0
    malformed: int = 0
    mounts: int = 0
    unmounts: int = 0
    clients: set[object] = field(default_factory=set)
    most_reads: int = 0
    most_writes: int = 0
    identities: set[str] = field(default_factory=set)

    def to_json(self) -> dict[str, object]:
        numbers = {name: value for name, value in vars(self).items() if isinstance(value, int)}
        lists = {"clients": len(self.clients), "identities": sorted(self.identities)}
        return {"asked": dict(self.asked), "prepared": dict(self.prepared), **numbers, **lists}


@dataclass
class Answer:
    message: bytes | None = None
    delay_s: float = 0.0
    close: bool = False
    op: str = ""


class Service:
    def __init__(self, orders: Orders, ports: dict[int, int], transport: str) -> None:
        self.orders, self.ports = orders, ports
        self.protocol = 6 if transport == "tcp" else 17
        self.files = Files()
        self.counts = Counts()
        self.loading = False
        self.number = 0  # of requests since the load began
        self.seen: set[int] = set()  # xids: no two calls have the same, on whatever connection
        self.under_way: Counter[tuple[object, str]] = Counter()

    def answer(self, client: object, message: bytes) -> Answer:
        try:
            call = wire.Call(message)
            if call.program == NFS:
                return self._nfs(client, call)
            results = self._portmap(call) if call.program == PORTMAP else self._mount(call)
            return Answer(wire.reply(call.xid, wire.SUCCESS, results))
        except wire.Malformed:
            self.counts.malformed += 1
            return Answer()

    def answered(self, client: object, op: str) -> None:
        self.under_way[client, op] -= 1

    def _portmap(self, call: wire.Call) -> bytes:
        program, version, protocol, _ = (call.arguments.u32() for _ in range(4))
        call.arguments.end()
        known = protocol == self.protocol and not (program == NFS and version == self.orders.no_version)
        return wire.u32(self.ports.get(program, 0) if known else 0)

    def _mount(self, call: wire.Call) -> bytes:
        call.arguments.text()
        call.arguments.end()
        if call.procedure == 3:
            self.counts.unmounts += 1
            return b""
        if self.orders.refuse_mount:
            return wire.u32(self.orders.refuse_mount)
        self.counts.mounts += 1
        root = self.files.root
        if call.version == 1:
            return wire.u32(0) + nfs2.handle(root)
        return wire.u32(0) + nfs3.handle(root) + wire.u32(1, 1)

    def _note(self, client: object, call: wire.Call, op: str) -> None:
        known = call.xid in self.seen
        self.loading = self.loading or (not known and len(self.seen) >= self.orders.after)
        self.number += self.loading
        self.counts.identities.add(f"{call.flavor} {call.machine} {call.uid} {call.gid}")
        if known:
            self.counts.repeated += self.loading
            return
        self.seen.add(call.xid)
        (self.counts.asked if self.loading else self.counts.prepared)[op] += 1
        if self.loading:
            self.counts.clients.add(client)

    def _is_nth(self, every: int) -> bool:
        return bool(self.loading and every and self.number % every == 0)

    def _nfs(self, client: object, call: wire.Call) -> Answer:
        version = {2: nfs2, 3: nfs3}[call.version]
        op = version.NAMES[call.procedure]
        self._note(client, call, op)
        orders = self.orders
        if self._is_nth(orders.drop_every) or (orders.silent_after and self.number > orders.silent_after):
            self.counts.dropped += 1
            return Answer()
        message = self._carry_out(version, call, op)
        if self._is_nth(orders.forget_every):
            self.counts.dropped += 1
            return Answer()
        if self._is_nth(orders.close_every):
            self.counts.closed += 1
            return Answer(close=True)
        self.under_way[client, op] += 1
        self.counts.most_reads = max(self.counts.most_reads, self.under_way[client, "read"])
        self.counts.most_writes = max(self.counts.most_writes, self.under_way[client, "write"])
        return Answer(message, orders.delay_ms.get(op, 0) / 1000 if self.loading else 0, op=op)

    def _carry_out(self, version: ModuleType, call: wire.Call, op: str) -> bytes:
        wrong = self.orders.wrong.get(op) if self.loading else None
        if wrong == "garbage":
            return wire.u32(call.xid) + b"no reply of RPC."
        if wrong == "unavailable":
            return wire.reply(call.xid, wire.PROCEDURE_UNAVAILABLE)
        if self.loading and op in self.orders.status:
            return wire.reply(call.xid, 0, wire.u32(self.orders.status[op]) + version.failed(op))
        try:
            results = wire.u32(0) + version.results(self.files, op, call.arguments)
            call.arguments.end()
        except Refused as refused:
            results = wire.u32(refused.status) + version.failed(op)
            if wrong == "found":
                root = self.files.root
                rest = b"" if call.version == 2 else wire.u32(0)
                attributes = version.attributes(root) if call.version == 2 else wire.u32(0)
                results = wire.u32(0) + version.handle(root) + attributes + rest
        if wrong == "content":
            results = results[:-1024] + bytes(1024)
        if wrong == "short":
            results = results[:-4]
        return wire.reply(call.xid, wire.SUCCESS, results)
