# SPDX-License-Identifier: Apache-2.0
"""A client of the appliance that records what it wrote and what the server confirmed, and a machine that can be killed
at any moment.
"""

from __future__ import annotations

import random
import re
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field

from flashbed_appliance.nas import running
from tests.support.careful_names import Names
from tests.support.nfs_calls import OK, Server

FILES, BLOCKS, BLOCK = 4, 256, 512
PIECE = 4096
"""The size of one call. A server with 24 MB of memory takes little more."""

NAMES_SHARE = 0.3
"""The changes of directory entries per write."""

LIMIT_S = 120


@dataclass
class File:
    """A client's knowledge of a file: the confirmed content of each block, and other possible contents."""

    handle: bytes
    sure: list[bytes] = field(default_factory=lambda: [bytes(BLOCK)] * BLOCKS)
    maybe: list[set[bytes]] = field(default_factory=lambda: [set() for _ in range(BLOCKS)])
    last: dict[int, bytes] = field(default_factory=dict)
    """The last write to each block since the last commit."""

    verifier: bytes | None = None
    """The verifier of all writes since the last commit; None if they had different ones."""

    def about_to_write(self, first: int, data: bytes) -> None:
        for number in range(len(data) // BLOCK):
            block = data[number * BLOCK : (number + 1) * BLOCK]
            self.maybe[first + number].add(block)
            self.last[first + number] = block

    def committed(self) -> None:
        for number, block in self.last.items():
            self.sure[number] = block
            self.maybe[number] = set()
        self.last = {}

    def began_anew(self) -> None:
        """Forget what was written. After a power cut any content that is there is certain, but it may be in memory
        only: a client writes it again.
        """
        self.last, self.verifier = {}, None


@dataclass
class Client:
    server: Server
    dice: random.Random
    files: list[File] = field(default_factory=list)
    names: Names | None = None
    commits: int = 0

    def make_files(self) -> None:
        status, root = self.server.mount_path(b"/data")
        assert status == OK
        for number in range(FILES):
            status, handle = self.server.create(root, b"file %d" % number)
            assert status == OK
            file = File(handle)
            self._write_whole(handle, bytes(BLOCK * BLOCKS))
            self.files.append(file)
        status, folder = self.server.make_folder(root, b"names")
        assert status == OK
        self.names = Names(self.server, self.dice, folder)

    def write_on(self) -> None:
        """Write, and make and remove names, until the server is gone."""
        assert self.names is not None
        with suppress(OSError):
            while True:
                self.write(1)
                if self.dice.random() < NAMES_SHARE:
                    self.names.change()

    def write(self, many: int) -> None:
        """Write so many times, and now and then commit a file."""
        for _ in range(many):
            self._write(self.dice.choice(self.files))
            if self.dice.random() < 0.2:
                self._commit(self.dice.choice(self.files))

    def _write(self, file: File) -> None:
        many = self.dice.randint(1, PIECE // BLOCK)
        first = self.dice.randrange(BLOCKS - many + 1)
        data = self.dice.randbytes(many * BLOCK)
        fresh = not file.last
        file.about_to_write(first, data)
        verifier = self.server.write(file.handle, first * BLOCK, data)
        if fresh:
            file.verifier = verifier
        elif verifier != file.verifier:
            file.verifier = None

    def _commit(self, file: File) -> None:
        if self.server.commit(file.handle) == file.verifier:
            file.committed()
            self.commits += 1

    def look(self) -> None:
        """Check that everything committed is there, that each other block is whole, and the names. Then write
        everything again, stable.
        """
        assert self.names is not None
        self.names.look()
        for file in self.files:
            data = b"".join(self.server.read(file.handle, at, PIECE) for at in range(0, BLOCKS * BLOCK, PIECE))
            assert len(data) == BLOCKS * BLOCK
            for number in range(BLOCKS):
                block = data[number * BLOCK : (number + 1) * BLOCK]
                assert block == file.sure[number] or block in file.maybe[number], f"block {number}"
                file.sure[number], file.maybe[number] = block, set()
            file.began_anew()
            self._write_whole(file.handle, data)

    def _write_whole(self, handle: bytes, data: bytes) -> None:
        for at in range(0, len(data), PIECE):
            self.server.write(handle, at, data[at : at + PIECE], stable=True)


@contextmanager
def started(
    command: list[str],
    log: list[str],
    typed: str = "",
    limit_s: float = LIMIT_S,
    ready: re.Pattern[str] = running.READY,
) -> Iterator[subprocess.Popen[str]]:
    """Yield a machine once it has reported that it is ready. `log` gets its lines. `typed` goes to the boot loader,
    which reads the serial line before Linux does. After `limit_s` seconds the machine is killed.
    """
    guarded = ["setpriv", "--pdeathsig", "KILL", *command]
    with subprocess.Popen(
        guarded, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, errors="replace"
    ) as machine:
        assert machine.stdout is not None
        late = threading.Timer(limit_s, machine.kill)
        late.start()
        assert machine.stdin is not None
        machine.stdin.write(typed)
        machine.stdin.flush()
        for line in machine.stdout:
            log.append(line)
            if ready.search(line):
                break
        reader = threading.Thread(target=lambda: log.extend(machine.stdout or ()), daemon=True)
        reader.start()
        try:
            yield machine
        finally:
            late.cancel()
            machine.kill()
            reader.join()
