# SPDX-License-Identifier: Apache-2.0
"""Store files by digest on any host of a cluster; a file is complete or missing. Must not know what files contain.

All processes of a host with the same cache share one store, and a file is sent to it once. The scheduler has a store,
too, by a plugin: client and workers both reach it, so a lost worker loses none of the files of orders.
"""

from __future__ import annotations

import asyncio
import contextlib
import secrets
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from distributed import SchedulerPlugin
from distributed.scheduler import Scheduler

from flashbed.common import locks, paths
from flashbed.common.digest import digest_file, identity
from flashbed.common.errors import FlashbedError, HostResourceError, host_refusal

MESSAGE_BYTES = 4 << 20
"""Bytes of a file in one message."""

PART_SUFFIX = ".part"


@dataclass(frozen=True)
class FileId:
    """A file that another host needs: its SHA-256, its name there, and its size in bytes."""

    digest: str
    name: str
    size: int


FilePiece = bytes | int
"""A piece of a file in a message; a number stands for so many zero bytes, because media are mostly zeros."""

Pull = Callable[[int], FilePiece]
"""Returns the piece of a file from this offset on; at its end fewer bytes."""


def in_message(piece: bytes) -> FilePiece:
    """Return a piece as it travels: its size if it is all zeros."""
    return piece if piece != bytes(len(piece)) else len(piece)


class FileStore:
    """A store of files in the directory `root`, which is created if it is missing."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._looked_at: set[str] = set()

    def path(self, file_id: FileId) -> Path:
        """Return the path of a file, whether it is stored or not."""
        return self.root / file_id.digest / file_id.name

    def has(self, file_id: FileId) -> bool:
        """True if the file is stored and matches its digest. Each process checks a file once."""
        path = self.path(file_id)
        if file_id.digest in self._looked_at and path.is_file():
            return True
        try:
            whole = digest_file(path) == file_id.digest
        except OSError:
            return False
        if whole:
            self._looked_at.add(file_id.digest)
        return whole

    def fetched(self, file_id: FileId, pull: Pull) -> Path:
        """Return the path of a file, and pull it first if it is missing. Raises HostResourceError."""
        if not self.has(file_id):
            with locks.wait_for(self.root / f"{file_id.digest}.lock"):
                if not self.has(file_id):
                    incoming = Incoming(self, file_id)
                    while not incoming.is_whole:
                        incoming.add(pull(incoming.size))
                    incoming.finish()
        return self.path(file_id)

    def piece(self, file_id: FileId, offset: int) -> FilePiece:
        """Return the piece of a stored file at `offset`. Raises OSError."""
        with self.path(file_id).open("rb") as file:
            file.seek(offset)
            return in_message(file.read(MESSAGE_BYTES))

    def sweep(self) -> None:
        """Remove partial files of killed processes that are older than locks.STALE_S."""
        with contextlib.suppress(OSError):
            for left in self.root.glob(f"*{PART_SUFFIX}"):
                if time.time() - left.stat().st_mtime > locks.STALE_S:
                    left.unlink()


class Incoming:
    """A file that is being received piece by piece. Pieces of zeros become holes."""

    def __init__(self, file_store: FileStore, file_id: FileId) -> None:
        self._file_store, self._file_id = file_store, file_id
        self._part = file_store.root / f"{file_id.digest}.{secrets.token_hex(4)}{PART_SUFFIX}"
        self.size = 0

    @property
    def is_whole(self) -> bool:
        """True if all pieces were received. An empty file needs one piece too, which creates it."""
        return self.size >= self._file_id.size and self._part.exists()

    def add(self, piece: FilePiece) -> None:
        """Add the next piece. Raises HostResourceError."""
        size = piece if isinstance(piece, int) else len(piece)
        if not size and self.size < self._file_id.size:
            raise HostResourceError(f"{self._file_id.name}: ends after {self.size} of {self._file_id.size} bytes")
        with self._refusals():
            self._file_store.root.mkdir(parents=True, exist_ok=True)
            with self._part.open("r+b" if self.size else "wb") as file:
                if isinstance(piece, int):
                    file.truncate(self.size + piece)
                else:
                    file.seek(self.size)
                    file.write(piece)
        self.size += size

    def finish(self) -> None:
        """Move the file to its place. Raises HostResourceError if it does not match its digest."""
        with self._refusals():
            if digest_file(self._part) != self._file_id.digest:
                self._part.unlink()
                raise HostResourceError(
                    f"{self._file_id.name}: was damaged in transfer or at its source; remove shared/ there"
                )
            self._part.chmod(0o755)
            to = self._file_store.path(self._file_id)
            to.parent.mkdir(exist_ok=True)
            self._part.replace(to)

    @contextlib.contextmanager
    def _refusals(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            with contextlib.suppress(OSError):
                self._part.unlink()
            raise host_refusal(self._file_store.root, error) from None


def file_store() -> FileStore:
    """Return this host's store. A process has one for all orders, because it remembers which files it has checked."""
    return _file_store(paths.cache_root() / "shared")


@cache
def _file_store(root: Path) -> FileStore:
    return FileStore(root)


LACKS, KEEP, GIVE = "flashbed_lacks", "flashbed_keep", "flashbed_give"
"""The names of its handlers."""


class Keeper(SchedulerPlugin):
    """The plugin. Each client registers it; the first registration of a lab stays."""

    def __init__(self) -> None:
        self.lab = identity()
        self.name = f"flashbed {self.lab}"
        self.idempotent = True

    async def start(self, scheduler: Scheduler) -> None:
        self._file_store: FileStore = file_store()
        self._file_store.sweep()
        self._incoming: dict[tuple[str, str], Incoming] = {}
        scheduler.handlers |= {LACKS: self.lacks, KEEP: self.keep, GIVE: self.give}

    async def lacks(self, file_ids: list[list[Any]]) -> list[str]:
        """Return the digests of the files that are missing here."""
        requested = [FileId(*fields) for fields in file_ids]
        return [file_id.digest for file_id in requested if not await asyncio.to_thread(self._file_store.has, file_id)]

    async def keep(self, file_id: list[Any], who: str, piece: FilePiece) -> str:
        """Add the next piece of a file that the client `who` sends. Return an error message, or ""."""
        requested = FileId(*file_id)
        incoming = self._incoming.setdefault((requested.digest, who), Incoming(self._file_store, requested))
        try:
            incoming.add(piece)
            if incoming.is_whole:
                await asyncio.to_thread(incoming.finish)  # hashing gigabytes here would block all workers
        except FlashbedError as error:
            del self._incoming[requested.digest, who]
            return error.message
        if incoming.is_whole:
            del self._incoming[requested.digest, who]
        return ""

    async def give(self, file_id: list[Any], offset: int) -> FilePiece | None:
        """Return a piece of a file; None if the file is missing here."""
        try:
            return self._file_store.piece(FileId(*file_id), offset)
        except OSError:
            return None
