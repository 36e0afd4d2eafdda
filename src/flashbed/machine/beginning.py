# SPDX-License-Identifier: Apache-2.0
"""Share a beginning between guests: one emulator boots a guest until it asks for its load, and forks there for each
guest (emulator/lab-beginning.h).

Knows no cell. A forked guest leaves the same bytes as a guest that ran from power-on.
"""

from __future__ import annotations

import shutil
import socket
import subprocess
import threading
from collections.abc import Callable, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

from flashbed.common import sparse
from flashbed.machine import process, qemu
from flashbed.machine.outcomes import Outcome
from flashbed.machine.process import End
from flashbed.machine.qemu import NO_OBSERVERS, Observers

READY = "ready"

EMULATOR_LOST = -9
"""The status of a forked guest whose emulator is gone, so that nothing is known of it."""


@dataclass
class _Forked:
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
        self._forked: dict[str, _Forked] = {}
        self.is_gone = False
        self.is_ready = False
        self.moved = threading.Event()
        """Set when the emulator is ready, or gone."""
        threading.Thread(target=self._listen, daemon=True).start()

    def give(self, order: str) -> None:
        with self._lock, suppress(OSError):  # if the emulator is gone, so are its guests
            self._line.sendall(f"{order}\n".encode())

    def begin(self, folder: Path) -> _Forked:
        forked = _Forked(folder, self)
        with self._lock:
            if self.is_gone:
                forked.ended.set()
            self._forked[str(folder)] = forked
        self.give(f"begin {folder}")
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
        return qemu.outcome_of(self._files, self._folder, _status(end, emulator.wait), limit_s)

    @property
    def is_gone(self) -> bool:
        """Return True if the emulator has ended, for any reason. Then no guest can be forked."""
        return self._orders.is_gone

    def run(self, load: bytes, folder: Path, limit_s: float, stop: threading.Event) -> Outcome:
        """Fork a guest in the empty directory `folder`, run it with this load for at most `limit_s` seconds of the
        host's time, and return its outcome. Its medium stays in `folder`. Raises HostResourceError, InterruptedByUser,
        OSError.
        """
        files = self._copied(folder)
        (folder / qemu.LOAD_ARCHIVE).write_bytes(load)
        forked = self._orders.begin(folder)
        try:
            end = process.watch(forked, folder, stop, limit_s)
        except BaseException:
            forked.end()
            forked.has_ended(process.KILL_GUEST_AFTER_S)  # it writes to the folder until then
            raise
        return qemu.outcome_of(files, folder, _status(end, lambda: forked.status), limit_s)

    def _copied(self, folder: Path) -> qemu.Files:
        """Copy every file that the emulator writes. The forked guest continues at the same positions in them."""
        for path in self._folder.iterdir():
            if path.is_dir():
                shutil.copytree(path, folder / path.name)
            elif path not in (self._files.initramfs, self._files.load):
                sparse.copy(path, folder / path.name)
        own = {name: folder / getattr(self._files, name).name for name in ("state", "data")}
        return replace(self._files, **own, load=folder / qemu.LOAD_ARCHIVE)

    def close(self) -> None:
        """End the emulator, and with it all guests forked from it."""
        self._held.close()


def _status(end: End, own: Callable[[], int]) -> int:
    return {End.LATE: process.TIMED_OUT, End.BROKEN: 0}[end] if end is not End.ITS_OWN else own()
