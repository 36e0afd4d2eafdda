# SPDX-License-Identifier: Apache-2.0
"""Files by their digest, on any host of a cluster: whole or not there. What is in them nobody here knows.

All processes of a host that have one cache have one store of files, and a file comes to it once.
"""

from __future__ import annotations

import contextlib
import secrets
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from flashbed.common import locks, paths
from flashbed.common.digest import digest_file
from flashbed.common.errors import HostResourceError, host_refusal

PIECE_BYTES = 4 << 20
"""Of a file, in one message."""

PART = ".part"


@dataclass(frozen=True)
class FileId:
    """A file that is wanted somewhere: SHA-256, the name that it is to have there, and its size in bytes."""

    digest: str
    name: str
    size: int


Piece = bytes | int
"""In a message; a number for so many zeros, of which media mostly are."""

Pull = Callable[[int], Piece]
"""Gives a piece of a file from this offset on; at its end fewer bytes."""


def in_message(piece: bytes) -> Piece:
    return piece if piece != bytes(len(piece)) else len(piece)


class FileStore:
    """Files in the folder `root`, which is made if it is not there."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._looked_at: set[str] = set()

    def path(self, file_id: FileId) -> Path:
        """Where it is, or would be."""
        return self.root / file_id.digest / file_id.name

    def has(self, file_id: FileId) -> bool:
        """Whether it is there, and is what its digest says; looked at once by each process."""
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
        """The file; it is pulled if it is not there yet. Raises HostResourceError."""
        if not self.has(file_id):
            with locks.wait_for(self.root / f"{file_id.digest}.lock"):
                if not self.has(file_id):
                    incoming = Incoming(self, file_id)
                    while not incoming.is_whole:
                        incoming.add(pull(incoming.size))
                    incoming.finish()
        return self.path(file_id)

    def piece(self, file_id: FileId, offset: int) -> Piece:
        """Some bytes of a file that is there. Raises OSError."""
        with self.path(file_id).open("rb") as file:
            file.seek(offset)
            return in_message(file.read(PIECE_BYTES))

    def sweep(self) -> None:
        """Removes what was begun by processes that were killed, an hour ago or before."""
        with contextlib.suppress(OSError):
            for left in self.root.glob(f"*{PART}"):
                if time.time() - left.stat().st_mtime > locks.STALE_S:
                    left.unlink()


class Incoming:
    """A file on its way to a store of files, piece by piece. What is all zero takes no room: media have holes."""

    def __init__(self, file_store: FileStore, file_id: FileId) -> None:
        self._file_store, self._file_id = file_store, file_id
        self._part = file_store.root / f"{file_id.digest}.{secrets.token_hex(4)}{PART}"
        self.size = 0

    @property
    def is_whole(self) -> bool:
        """Whether all of it has come; an empty file needs a piece, too, for it has to be made."""
        return self.size >= self._file_id.size and self._part.exists()

    def add(self, piece: Piece) -> None:
        """The next piece. Raises HostResourceError."""
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
        """Gives it its name. Raises HostResourceError if it is not what its digest says."""
        with self._refusals():
            if digest_file(self._part) != self._file_id.digest:
                self._part.unlink()
                raise HostResourceError(
                    f"{self._file_id.name}: was damaged on its way, or where it came from; remove shared/ there"
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
    """That of this host; one for all orders of a process, for it knows what it has looked at."""
    return _file_store(paths.cache_root() / "shared")


@cache
def _file_store(root: Path) -> FileStore:
    return FileStore(root)
