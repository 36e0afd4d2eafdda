# SPDX-License-Identifier: Apache-2.0
"""Share a beginning between guests: one emulator boots a guest until it asks for its load, and forks there for each
guest (emulator/lab-beginning.h). A forked guest can be cut at several moments: it is forked again at each, and the new
guest loses its power (emulator/lab-cuts.h).

Knows no cell. A forked guest leaves the same bytes as a guest that ran from power-on.
"""

from __future__ import annotations

import io
import os
import select
import shutil
import socket
import subprocess
import tarfile
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

from flashbed.common import sparse
from flashbed.machine import process, qemu
from flashbed.machine.outcomes import Outcome
from flashbed.machine.process import End
from flashbed.machine.qemu import NO_OBSERVERS, Observers

READY = "ready"

BEGIN, BOOT = "begin", "boot"
"""Orders: fork a guest that goes on with this medium, or one whose medium is another."""

CUT_ORDERS, CUT_ANSWERS = "cuts.orders", "cuts.answers"
"""The pipes of a guest that is cut at several moments (emulator/lab-cuts.h)."""

EMULATOR_LOST = -9
"""The status of a forked guest whose emulator is gone, so that nothing is known of it."""


def packed_load(files: Mapping[str, bytes]) -> bytes:
    """Return the files of a guest's load as a tar archive. The same files give the same bytes."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for name, data in sorted(files.items()):
            member = tarfile.TarInfo(name)
            member.size, member.mode = len(data), 0o755
            archive.addfile(member, io.BytesIO(data))
    return packed.getvalue()


@dataclass
class Forked:
    """A guest that was forked at the end of the beginning."""

    folder: Path
    orders: _ControlSocket
    status: int = EMULATOR_LOST
    ended: threading.Event = field(default_factory=threading.Event)

    def has_ended(self, within_s: float) -> bool:
        return self.ended.wait(within_s)

    def end(self) -> None:
        self.orders.give(f"end {self.folder}")


class _ControlSocket:
    """The control socket of the emulator: it takes orders and returns answers."""

    def __init__(self, line: socket.socket) -> None:
        self._line, self._lock = line, threading.Lock()
        self._forked: dict[str, Forked] = {}
        self.is_gone = False
        self.is_ready = False
        self.moved = threading.Event()
        """Set when the emulator is ready, or gone."""
        threading.Thread(target=self._listen, daemon=True).start()

    def give(self, order: str) -> None:
        """Send an order. If the emulator is gone, do nothing."""
        with self._lock, suppress(OSError):  # if the emulator is gone, so are its guests
            self._line.sendall(f"{order}\n".encode())

    def begin(self, folder: Path, order: str) -> Forked:
        """Order a fork of the guest, with the files of `folder`, and return it at once."""
        forked = Forked(folder, self)
        with self._lock:
            if self.is_gone:
                forked.ended.set()
            self._forked[str(folder)] = forked
        self.give(f"{order} {folder}")
        return forked

    def _listen(self) -> None:
        with self._line.makefile("r") as answers, suppress(OSError):
            for answer in answers:
                self._take(answer.rstrip("\n"))
        self.is_ready = False
        self.moved.set()
        with self._lock:
            self.is_gone = True
            for forked in self._forked.values():
                forked.ended.set()

    def _take(self, answer: str) -> None:
        if answer == READY:
            self.is_ready = True
            self.moved.set()
            return
        folder, _, status = answer.rpartition(" ")
        with self._lock:
            forked = self._forked.pop(folder)
        forked.status = int(status)
        forked.ended.set()


@dataclass
class _Opening:
    """An emulator before the end of the beginning."""

    orders: _ControlSocket
    process: subprocess.Popen[bytes]

    def has_ended(self, within_s: float) -> bool:
        return self.orders.moved.wait(within_s)

    def end(self) -> None:
        self.process.terminate()


class Beginning:
    """The beginning of guests with the same fixed arguments and files.

    It owns `folder`, which holds all files but the kernel. `files.load` is empty: each guest brings its own load.
    """

    def __init__(
        self, fixed: Sequence[str], files: qemu.Files, folder: Path, *, observers: Observers = NO_OBSERVERS
    ) -> None:
        self._fixed, self._files, self._folder, self._observers = fixed, files, folder, observers
        self._held = ExitStack()
        self._orders: _ControlSocket

    def reach(self, limit_s: float, stop: threading.Event) -> Outcome | None:
        """Run the guest until it asks for its load, and return None. If it does not get there within `limit_s` seconds
        of the host's time, return its outcome. Raises HostResourceError, InterruptedByUser.
        """
        try:
            outcome = self._reached(limit_s, stop)
        except BaseException:
            self.close()
            raise
        if outcome is not None:
            self.close()
        return outcome

    def _reached(self, limit_s: float, stop: threading.Event) -> Outcome | None:
        lab_end, emulator_end = socket.socketpair()
        self._held.callback(lab_end.close)
        with emulator_end:
            line = emulator_end.fileno()
            command = qemu.command(self._fixed, self._files, self._folder, observers=self._observers, orders=line)
            emulator = self._held.enter_context(process.started(command, self._folder, inherited=[line]))
        self._held.callback(emulator.terminate)
        self._orders = _ControlSocket(lab_end)
        end = process.watch(_Opening(self._orders, emulator), self._folder, stop, limit_s)
        if end is End.ITS_OWN and self._orders.is_ready:
            return None
        return qemu.outcome_of(self._files, self._folder, status_of(end, emulator.wait), limit_s)

    @property
    def is_gone(self) -> bool:
        """Return True if the emulator has ended, for any reason. Then no guest can be forked."""
        return self._orders.is_gone

    def run(self, load: bytes, folder: Path, limit_s: float, stop: threading.Event) -> Outcome:
        """Fork a guest in the empty directory `folder`, run it with this load for at most `limit_s` seconds of the
        host's time, and return its outcome. Its medium stays in `folder`. Raises HostResourceError, InterruptedByUser,
        OSError.
        """
        return _watched(*self.fork(load, folder), limit_s, stop)

    def boot(self, load: bytes, left: Path, folder: Path, limit_s: float, stop: threading.Event) -> Outcome:
        """Do as `run`, with another medium of the same parameters: that of a guest in the directory `left`, which loses
        it. Its power comes on. The beginning must not have used its medium.
        """
        for medium in (self._files.state, self._files.data):
            (left / medium.name).rename(folder / medium.name)
        return _watched(*self.fork(load, folder, order=BOOT), limit_s, stop)

    def fork(self, load: bytes, folder: Path, order: str = BEGIN) -> tuple[Forked, qemu.Files]:
        """Fork a guest in `folder`, and return it with its files. Raises OSError."""
        files = copied(self._files, self._folder, folder)
        (folder / qemu.LOAD_ARCHIVE).write_bytes(load)
        return self._orders.begin(folder, order), files

    def close(self) -> None:
        """End the emulator, and with it all guests forked from it."""
        self._held.close()


@dataclass(frozen=True)
class _Answer:
    """The next answer of a guest, which can be waited for as for a guest's end."""

    guest: Forked
    answers: int
    """A file descriptor."""

    def has_ended(self, within_s: float) -> bool:
        return bool(select.select([self.answers], [], [], within_s)[0]) or self.guest.has_ended(0)

    def end(self) -> None:
        self.guest.end()


@dataclass(frozen=True)
class Cutting:
    """A guest that stops at moments. `orders` and `answers` are file descriptors. It runs for at most `limit_s` seconds
    of the host's time to each moment, and so does the guest that is forked there.
    """

    guest: Forked
    files: qemu.Files
    orders: int
    answers: int
    limit_s: float
    stop: threading.Event

    def cut(self, after_ns: int, seed: int, folder: Path) -> Outcome:
        """Leave in the empty directory `folder` what remains if the power fails `after_ns` after the guest armed the
        cut, and return the outcome of that. `after_ns` must not decrease from cut to cut. If the guest ends before,
        return its own outcome. Raises HostResourceError, InterruptedByUser, OSError.
        """
        end, reached = self._answered(f"{after_ns} {seed}")
        if not reached:
            return self._outcome(end)
        files = copied(self.files, self.guest.folder, folder)
        end, status = self._answered(str(folder))
        if not status:
            return self._outcome(end)
        return qemu.outcome_of(files, folder, int(status), self.limit_s)

    def _answered(self, order: str) -> tuple[End, str]:
        """Give an order and return the answer. It is "" if none comes, with how the guest ended."""
        os.write(self.orders, f"{order}\n".encode())
        waited = process.watch(_Answer(self.guest, self.answers), self.guest.folder, self.stop, self.limit_s)
        line = b""
        while waited is End.ITS_OWN and not line.endswith(b"\n") and (more := os.read(self.answers, 64)):
            line += more
        return waited, line.decode().rstrip("\n")

    def _outcome(self, end: End) -> Outcome:
        self.guest.has_ended(process.KILL_GUEST_AFTER_S)
        return qemu.outcome_of(self.files, self.guest.folder, status_of(end, lambda: self.guest.status), self.limit_s)


@contextmanager
def cutting(
    beginning: Beginning, load: bytes, folder: Path, limit_s: float, stop: threading.Event
) -> Iterator[Cutting]:
    """Fork a guest of this beginning in the empty directory `folder`, and yield it. It waits where it arms the cut.
    Raises HostResourceError, OSError.
    """
    with ExitStack() as held:
        pipes = []
        for name, flags in ((CUT_ORDERS, os.O_RDWR), (CUT_ANSWERS, os.O_RDONLY | os.O_NONBLOCK)):
            os.mkfifo(folder / name)
            pipes.append(os.open(folder / name, flags))
            held.callback(os.close, pipes[-1])
        guest, files = beginning.fork(load, folder)
        held.callback(guest.has_ended, process.KILL_GUEST_AFTER_S)  # it writes to the folder until then
        held.callback(guest.end)
        orders, answers = pipes
        yield Cutting(guest, files, orders, answers, limit_s, stop)


def copied(files: qemu.Files, source: Path, folder: Path) -> qemu.Files:
    """Copy every file that the emulator writes in `source`, except those that `folder` has, and return those of
    `folder`. A forked guest continues at the same positions in them. Raises OSError.
    """
    for path in source.iterdir():
        if path.is_dir():
            shutil.copytree(path, folder / path.name)
        elif path.is_file() and path != files.initramfs and not (folder / path.name).exists():
            sparse.copy(path, folder / path.name)
    own = {name: folder / getattr(files, name).name for name in ("state", "data")}
    return replace(files, **own, load=folder / qemu.LOAD_ARCHIVE)


def _watched(guest: Forked, files: qemu.Files, limit_s: float, stop: threading.Event) -> Outcome:
    """Run a forked guest to its end."""
    try:
        end = process.watch(guest, guest.folder, stop, limit_s)
    except BaseException:
        guest.end()
        guest.has_ended(process.KILL_GUEST_AFTER_S)  # it writes to the folder until then
        raise
    return qemu.outcome_of(files, guest.folder, status_of(end, lambda: guest.status), limit_s)


def status_of(end: End, own: Callable[[], int]) -> int:
    return {End.LATE: process.TIMED_OUT, End.BROKEN: 0}[end] if end is not End.ITS_OWN else own()
