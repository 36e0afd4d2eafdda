# SPDX-License-Identifier: Apache-2.0
"""Files by their digest, on any host of a cluster: whole or not there. What is in them nobody here knows.

All processes of a host that have one cache have one shelf, and a file comes to it once.
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
class Article:
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


class Shelf:
    """Files in the folder `root`, which is made if it is not there."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._looked_at: set[str] = set()

    def path(self, article: Article) -> Path:
        """Where it is, or would be."""
        return self.root / article.digest / article.name

    def has(self, article: Article) -> bool:
        """Whether it is there, and is what its digest says; looked at once by each process."""
        path = self.path(article)
        if article.digest in self._looked_at and path.is_file():
            return True
        try:
            whole = digest_file(path) == article.digest
        except OSError:
            return False
        if whole:
            self._looked_at.add(article.digest)
        return whole

    def fetched(self, article: Article, pull: Pull) -> Path:
        """The file; it is pulled if it is not there yet. Raises HostResourceError."""
        if not self.has(article):
            with locks.wait_for(self.root / f"{article.digest}.lock"):
                if not self.has(article):
                    incoming = Incoming(self, article)
                    while not incoming.is_whole:
                        incoming.add(pull(incoming.size))
                    incoming.finish()
        return self.path(article)

    def piece(self, article: Article, offset: int) -> Piece:
        """Some bytes of a file that is there. Raises OSError."""
        with self.path(article).open("rb") as file:
            file.seek(offset)
            return in_message(file.read(PIECE_BYTES))

    def sweep(self) -> None:
        """Removes what was begun by processes that were killed, an hour ago or before."""
        with contextlib.suppress(OSError):
            for left in self.root.glob(f"*{PART}"):
                if time.time() - left.stat().st_mtime > locks.STALE_S:
                    left.unlink()


class Incoming:
    """A file on its way to a shelf, piece by piece. What is all zero takes no room: media have holes."""

    def __init__(self, shelf: Shelf, article: Article) -> None:
        self._shelf, self._article = shelf, article
        self._part = shelf.root / f"{article.digest}.{secrets.token_hex(4)}{PART}"
        self.size = 0

    @property
    def is_whole(self) -> bool:
        """Whether all of it has come; an empty file needs a piece, too, for it has to be made."""
        return self.size >= self._article.size and self._part.exists()

    def add(self, piece: Piece) -> None:
        """The next piece. Raises HostResourceError."""
        size = piece if isinstance(piece, int) else len(piece)
        if not size and self.size < self._article.size:
            raise HostResourceError(f"{self._article.name}: ends after {self.size} of {self._article.size} bytes")
        with self._refusals():
            self._shelf.root.mkdir(parents=True, exist_ok=True)
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
            if digest_file(self._part) != self._article.digest:
                self._part.unlink()
                raise HostResourceError(
                    f"{self._article.name}: was damaged on its way, or where it came from; remove shared/ there"
                )
            self._part.chmod(0o755)
            to = self._shelf.path(self._article)
            to.parent.mkdir(exist_ok=True)
            self._part.replace(to)

    @contextlib.contextmanager
    def _refusals(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            with contextlib.suppress(OSError):
                self._part.unlink()
            raise host_refusal(self._shelf.root, error) from None


def shelf() -> Shelf:
    """That of this host; one for all orders of a process, for it knows what it has looked at."""
    return _shelf(paths.cache_root() / "shared")


@cache
def _shelf(root: Path) -> Shelf:
    return Shelf(root)
