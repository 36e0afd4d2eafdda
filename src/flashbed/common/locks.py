# SPDX-License-Identifier: Apache-2.0
"""Lock across processes, on a file beside the guarded object. An open file holds the lock, so the lock ends with its
process, however that ends.

Uses flock() and no process IDs: flock() works between containers that share a directory, and on a network home the
server keeps it (docs/design.md). Must not know what is guarded.
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
    """A lock that this process holds. Release it; when the process ends, the kernel releases it."""

    def __init__(self, path: Path, descriptor: int) -> None:
        self.path = path
        self._descriptor = descriptor

    def release(self) -> None:
        """Release the lock and remove its file. A process that opened the file before then finds it gone (`take`)."""
        with contextlib.suppress(OSError):
            self.path.unlink()
        os.close(self._descriptor)

    def __enter__(self) -> Lock:
        return self

    def __exit__(self, *_: object) -> None:
        self.release()


def take(path: Path) -> Lock | None:
    """Return the lock on `path`, or None if another process holds it. Create the file and its directory if missing.

    Raises HostResourceError if the host refuses the file or supports no locks there.
    """
    return _take(path, wait=False)


def wait_for(path: Path, say: Callable[[], object] = lambda: None) -> Lock:
    """Wait for the lock on `path` and return it. If another process holds it, call `say` once. Raises
    HostResourceError.
    """
    if (lock := take(path)) is None:
        say()
        lock = _take(path, wait=True)
        assert lock is not None
    return lock


def sweep(folder: Path, remove: Callable[[Path], object] = lambda _: None) -> None:
    """Remove the locks in a directory that nobody holds: their processes were killed. Before each removal, call
    `remove` with the lock file while holding its lock. Skip what the host refuses.
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
            # A network file system locks only files that are open for writing
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
                f"{path.parent}: this file system supports no locks ({error.strerror}); mount it with locks, or set "
                "FLASHBED_CACHE to a folder elsewhere"
            ) from None
        raise host_refusal(path, error) from None


def _is_there(path: Path, descriptor: int) -> bool:
    """Return True if the open file still has its name. The previous holder of the lock may have removed it."""
    try:
        mine, current = os.fstat(descriptor), path.stat()
    except OSError as error:
        if error.errno in (errno.ENOENT, errno.ESTALE):
            return False
        raise
    return (mine.st_dev, mine.st_ino) == (current.st_dev, current.st_ino)


@contextlib.contextmanager
def scratch(root: Path) -> Iterator[Path]:
    """Yield an empty directory in `root`, which holds only such directories. It is removed at the end.

    If this process is killed, the next process that makes a scratch directory there removes it. Raises
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
    """Remove the scratch directories in `root` whose lock nobody holds."""
    sweep(root, lambda path: remove(path.with_suffix("")))
    # A directory without a lock file belongs to a flashbed from before these locks, and may be in use
    with contextlib.suppress(OSError):
        for folder in root.iterdir():
            stale = time.time() - folder.stat().st_mtime > STALE_S
            if stale and folder.suffix != ".lock" and not folder.with_name(f"{folder.name}.lock").exists():
                remove(folder)


def remove(folder: Path) -> None:
    """Remove a directory and its content, as far as the host allows."""
    shutil.rmtree(folder, ignore_errors=True)
