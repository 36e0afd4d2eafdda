# SPDX-License-Identifier: Apache-2.0
"""Locks between processes, on files beside what they guard: held by an open file, so they go with the process that
has them, however it ends.

flock(), and nothing that knows a process ID: it holds between containers that share a folder, and the kernel hands it
to the server of a network home (docs/design.md). Must not know what is guarded.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import shutil
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from flashbed.common.errors import HostResourceError, host_refusal

STALE_S = 3600.0
_NOT_KEPT = {errno.ENOLCK, errno.ENOTSUP, errno.ENOSYS}


class Lock:
    """A lock that this process has. To be released; a process that ends releases it too."""

    def __init__(self, path: Path, descriptor: int) -> None:
        self.path = path
        self._descriptor = descriptor

    def release(self) -> None:
        """Gives it up, and takes its file away: what was opened before that is not the file any more (`take`)."""
        with contextlib.suppress(OSError):
            self.path.unlink()
        os.close(self._descriptor)

    def __enter__(self) -> Lock:
        return self

    def __exit__(self, *_: object) -> None:
        self.release()


def take(path: Path) -> Lock | None:
    """The lock of that file, which is made with its folder if it is not there; None if another has it.

    Raises HostResourceError if the host refuses the file, or keeps no locks there.
    """
    return _take(path, wait=False)


def wait_for(path: Path, say: Callable[[], object] = lambda: None) -> Lock:
    """The lock of that file as soon as it is free; `say` is called once if another has it. Raises as `take` does."""
    if (lock := take(path)) is None:
        say()
        lock = _take(path, wait=True)
        assert lock is not None
    return lock


def sweep(folder: Path, remove: Callable[[Path], object] = lambda _: None) -> None:
    """Takes away the locks in a folder that nobody has: their processes were killed. `remove` is called for each of
    these files before that, under its lock. What the host refuses stays.
    """
    with contextlib.suppress(OSError, HostResourceError):
        for path in folder.glob("*.lock"):
            with contextlib.suppress(OSError, HostResourceError):
                if (lock := take(path)) is not None:
                    with lock:
                        remove(path)


def _take(path: Path, *, wait: bool) -> Lock | None:
    try:
        while True:
            path.parent.mkdir(parents=True, exist_ok=True)
            # A network home locks only what is open for writing
            descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
            kept = False
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
                if kept := _is_there(path, descriptor):
                    return Lock(path, descriptor)
            except BlockingIOError:
                return None
            finally:
                if not kept:
                    os.close(descriptor)
    except OSError as error:
        if error.errno in _NOT_KEPT:
            raise HostResourceError(
                f"{path.parent}: this file system keeps no locks ({error.strerror}); mount it with locks, or set "
                "FLASHBED_CACHE to a folder elsewhere"
            ) from None
        raise host_refusal(path, error) from None


def _is_there(path: Path, descriptor: int) -> bool:
    """Whether an open file still has its name: who had the lock before may have taken the file away."""
    try:
        mine, there = os.fstat(descriptor), path.stat()
    except OSError as error:
        if error.errno in (errno.ENOENT, errno.ESTALE):
            return False
        raise
    return (mine.st_dev, mine.st_ino) == (there.st_dev, there.st_ino)


@contextlib.contextmanager
def scratch(root: Path) -> Iterator[Path]:
    """An empty folder in `root`, a folder for nothing else; it goes with its process.

    It is removed at the end, or, if this process is killed, by the next that makes one there. Raises
    HostResourceError.
    """
    clean(root)
    lock = None
    while lock is None:
        name = os.urandom(6).hex()
        lock = take(root / f"{name}.lock")
    with lock:
        folder = root / name
        try:
            folder.mkdir()
        except OSError as error:
            raise host_refusal(folder, error) from None
        try:
            yield folder
        finally:
            remove(folder)


def clean(root: Path) -> None:
    """Removes the scratch folders in `root` that nobody has any more."""
    sweep(root, lambda path: remove(path.with_suffix("")))
    # What has no lock is of a flashbed that knew none, and may still be at work
    with contextlib.suppress(OSError):
        for folder in root.iterdir():
            stale = time.time() - folder.stat().st_mtime > STALE_S
            if stale and folder.suffix != ".lock" and not folder.with_name(f"{folder.name}.lock").exists():
                remove(folder)


def remove(folder: Path) -> None:
    """Removes a folder with all that is in it, as far as the host allows."""
    shutil.rmtree(folder, ignore_errors=True)
