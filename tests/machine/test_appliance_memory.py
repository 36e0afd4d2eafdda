# SPDX-License-Identifier: Apache-2.0
"""Calls that name something new each time do not use up the appliance's memory, from a client and from strangers."""

from __future__ import annotations

import socket
import struct
import time
from pathlib import Path

import pytest

from tests.support.appliance_console import Console, machine
from tests.support.appliance_machines import some_ports
from tests.support.nfs_calls import BAD_HANDLE, NFS, OK, STALE, Server, header, text

# It builds a kernel of its own first.
pytestmark = pytest.mark.long

SETTINGS = """
[network]
address = "{address}"

[disks.data]
device = "/dev/vda"

[[exports]]
disk       = "data"
read_write = ["{client}"]
any_port   = true
"""

MOST_ENTRIES = 2000
"""exportd's own limit (appliance/user/exportd/kernel.c)."""

LOST_KIB = 1500
"""What may be gone afterwards: the limit's 400 KB, and what a first call brings. Without a limit 20,000 took 3,600."""

CACHES = ("auth.unix.ip", "nfsd.export", "nfsd.fh")


def is_well(console: Console, log: list[str], before: int) -> None:
    for cache in CACHES:
        assert console.entries(cache) <= MOST_ENTRIES + len(CACHES)
    assert before - console.free_kib() < LOST_KIB
    assert "started again" not in "".join(log)


def test_handles_that_are_made_up_do_not(architecture: str, tmp_path: Path) -> None:
    """The number of an export counts up in each: the kernel asks about each, and keeps what it is told."""
    ports = some_ports()
    server = Server("127.0.0.1", ports.nfs, ports.mount, ports.portmap)
    with machine(architecture, tmp_path, SETTINGS.format(address="dhcp", client="10.0.2.2"), ports) as (console, log):
        status, root = server.mount_path(b"/data")
        assert status == OK
        before = console.free_kib()
        with socket.create_connection(("127.0.0.1", ports.nfs), timeout=20) as line:
            for number in range(30_000):
                call = header(number, NFS, 3, 1) + text(root[:4] + struct.pack("<I", 77 + number) + root[8:])
                line.sendall(struct.pack(">I", 0x80000000 | len(call)) + call)
                answer = line.recv(4096)
                assert len(answer) >= 4, f"hung up at call {number}:\n{''.join(log)}"
                assert struct.unpack(">I", answer[-4:])[0] in (STALE, BAD_HANDLE), answer.hex()
        is_well(console, log, before)
        assert server.attributes(root) == OK
        assert server.mount_path(b"/data") == (OK, root)


def test_addresses_that_are_forged_do_not(architecture: str, tmp_path: Path) -> None:
    """Strangers are on no list: what is kept of each is that there is nothing for it."""
    settings_text = SETTINGS.format(address="10.0.0.1/8", client="192.0.2.1")
    with socket.create_server(("127.0.0.1", 0)) as listening:
        netdev = f"socket,id=net0,connect=127.0.0.1:{listening.getsockname()[1]}"
        with machine(architecture, tmp_path, settings_text, some_ports(), netdev) as (console, log):
            wire, _ = listening.accept()
            with wire:
                before = console.free_kib()
                for number in range(20_000):
                    frame = call_from(0x0A010001 + number, header(number, NFS, 3, 1) + text(bytes(28)))
                    wire.sendall(struct.pack(">I", len(frame)) + frame)
                    if number % 10 == 9:
                        time.sleep(0.01)  # about what the card takes
                time.sleep(3)
                assert console.entries("auth.unix.ip") > 0
                is_well(console, log, before)
                assert "asks, whom no line names" in "".join(log)


def call_from(address: int, call: bytes) -> bytes:
    """Return a frame for QEMU's first network card, with a datagram from that IPv4 address to the NFS server."""
    datagram = struct.pack(">4H", 700, 2049, 8 + len(call), 0) + call
    head = struct.pack(">BBHHHBBHII", 0x45, 0, 20 + len(datagram), 1, 0, 64, 17, 0, address, 0x0A000001)
    total = sum(struct.unpack(">10H", head))
    checksum = ~(total + (total >> 16)) & 0xFFFF
    head = head[:10] + struct.pack(">H", checksum) + head[12:]
    return bytes.fromhex("525400123456 525400aabbcc 0800") + head + datagram
