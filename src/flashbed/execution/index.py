# SPDX-License-Identifier: Apache-2.0
"""results.sqlite: which keys the store has, and how long each took on this host.

It is rebuilt from the folders when it is missing or damaged; only the times are lost then. Must not know what a
result is, nor how folders are laid out.
"""

import contextlib
import logging
import secrets
import sqlite3
import statistics
import threading
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TypeVar

from flashbed.common import locks
from flashbed.common.errors import FlashbedError, HostResourceError, SetupError, host_refusal, no_room

_log = logging.getLogger("flashbed")

VERSION = 1
_BUSY_S = 60
_TABLE = "CREATE TABLE repetition (key TEXT PRIMARY KEY, wall_seconds REAL) WITHOUT ROWID"
_ADD = """
INSERT INTO repetition VALUES (?, ?)
ON CONFLICT (key) DO UPDATE SET wall_seconds = coalesce(wall_seconds, excluded.wall_seconds)
"""

_FOREIGN = (
    "SELECT 1 FROM repetition WHERE typeof(key) != 'text' OR typeof(wall_seconds) NOT IN ('real', 'null') LIMIT 1"
)

_HEADER, _JOURNAL = b"SQLite format 3\0\x10\0\x01\x01", slice(18, 20)
"""How a database begins that has pages of 4 KiB and a rollback journal, and where the latter stands."""

T = TypeVar("T")


class _Damaged(Exception):
    """The file is not the database that it should be."""


class Index:
    """The index at `path`; `keys` lists what the folders hold, for a rebuild."""

    def __init__(self, path: Path, keys: Callable[[], Iterable[str]]) -> None:
        """Raises SetupError for an index of a newer flashbed, HostResourceError if the host refuses."""
        self._path = path
        self._keys = keys
        self._connection: sqlite3.Connection | None = None
        self._lock = threading.RLock()  # one connection, whatever thread
        self._do(lambda _: None)

    def add(self, key: str, wall_seconds: float | None) -> None:
        """Notes a repetition; a time that is known stays. Raises HostResourceError."""
        self._do(lambda connection: connection.execute(_ADD, (key, wall_seconds)).close())

    def wall_seconds(self, key: str) -> float | None:
        """How long it took, or None."""
        statement = "SELECT wall_seconds FROM repetition WHERE key = ?"
        row = self._do(lambda connection: connection.execute(statement, (key,)).fetchone())
        return row[0] if row else None

    def typical_wall_seconds(self) -> float | None:
        """The median of all times, or None without any."""
        statement = "SELECT wall_seconds FROM repetition WHERE wall_seconds IS NOT NULL"
        rows = self._do(lambda connection: connection.execute(statement).fetchall())
        return statistics.median(row[0] for row in rows) if rows else None

    def close(self) -> None:
        """Closes the file; the next use opens it again."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _do(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """Does `work`; a database that is missing or found damaged on the way is made anew, once."""
        with self._lock:
            try:
                return self._attempt(work)
            except _Damaged:
                self.close()
                self._make_anew()
            try:
                return self._attempt(work)
            except _Damaged as damage:
                raise HostResourceError(
                    f"{self._path}: damaged again after a rebuild ({damage}); is the disk sound?"
                ) from None

    def _attempt(self, work: Callable[[sqlite3.Connection], T]) -> T:
        with self._in_plain_words():
            if self._connection is None:
                self._connection = self._open()
            return work(self._connection)

    def _open(self) -> sqlite3.Connection:
        """A connection to a database that is there and sound. Raises _Damaged, SetupError."""
        if not self._path.exists():
            raise _Damaged("missing")
        connection = _connect(self._path)
        try:
            version = connection.execute("PRAGMA user_version").fetchone()[0]
            if version > VERSION:
                raise SetupError(
                    f"{self._path}: written by a newer flashbed (index version {version}, this one knows {VERSION}); "
                    "use that flashbed, or another folder for results"
                )
            if version < VERSION:
                raise _Damaged("incomplete")
            if fault := _fault(self._path, connection):
                raise _Damaged(fault)
        except BaseException:
            connection.close()
            raise
        return connection

    def _make_anew(self) -> None:
        """Under a lock, so that of several processes that find the damage one mends it."""
        with self._in_plain_words(), locks.wait_for(self._path.with_suffix(".lock")):
            try:
                with self._in_plain_words():
                    self._open().close()
                return  # another process was first
            except _Damaged as found:
                damage = str(found)
            if self._path.exists():
                damage = f"{damage}; moved to {self._move_aside().name}"
            keys = list(self._keys())
            # Made under another name: who looks meanwhile finds no half-made index.
            made = self._path.with_suffix(".new")
            made.unlink(missing_ok=True)
            with contextlib.closing(_connect(made)) as connection:
                connection.execute("BEGIN")
                connection.execute(_TABLE)
                connection.executemany("INSERT INTO repetition VALUES (?, NULL)", ((key,) for key in keys))
                connection.execute(f"PRAGMA user_version = {VERSION}")
                connection.execute("COMMIT")
            made.rename(self._path)
        if keys or damage != "missing":
            _log.warning("%s: %s; made anew from %d results", self._path, damage, len(keys))

    def _move_aside(self) -> Path:
        aside = self._path.with_name(f"{self._path.name}.damaged-{secrets.token_hex(4)}")
        for ending in ("-journal", "-wal", "-shm", ""):
            with contextlib.suppress(FileNotFoundError):
                self._path.with_name(self._path.name + ending).rename(aside.with_name(aside.name + ending))
        return aside

    @contextlib.contextmanager
    def _in_plain_words(self) -> Iterator[None]:
        """SQLite's errors as ours."""
        try:
            yield
        except FlashbedError:
            raise
        except sqlite3.Error as error:
            raise self._translated(error) from error
        except OSError as error:
            raise host_refusal(self._path, error) from error

    def _translated(self, error: sqlite3.Error) -> Exception:
        code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR)
        primary = code & 0xFF
        if primary in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_ERROR):
            return _Damaged(str(error))
        if code == sqlite3.SQLITE_READONLY_DBMOVED:
            return _Damaged("missing")
        if primary == sqlite3.SQLITE_FULL:
            return no_room(self._path)
        if primary == sqlite3.SQLITE_BUSY:
            return HostResourceError(
                f"{self._path}: kept locked by another process for {_BUSY_S} s; end it and run again"
            )
        return HostResourceError(f"{self._path}: {error}; is the folder writable, and the disk sound?")


def _fault(path: Path, connection: sqlite3.Connection) -> str:
    """What is wrong with an index that SQLite could open; "" if nothing is.

    Each use may meet another part of it, so all of it is looked at: a thousand rows take a millisecond.
    """
    with path.open("rb") as file:
        header = file.read(len(_HEADER))
    if header[_JOURNAL] != _HEADER[_JOURNAL]:
        return "its header asks for a journal that it never had"
    if (said := connection.execute("PRAGMA quick_check(1)").fetchone()[0]) != "ok":
        return str(said)
    return "a row that no flashbed wrote" if connection.execute(_FOREIGN).fetchone() else ""


def _connect(path: Path) -> sqlite3.Connection:
    # A rollback journal, not WAL: a row a cell is little to write, and WAL does not work on network file systems.
    return sqlite3.connect(path, timeout=_BUSY_S, isolation_level=None, check_same_thread=False)
