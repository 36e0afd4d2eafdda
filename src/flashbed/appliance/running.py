# SPDX-License-Identifier: Apache-2.0
"""Runs an appliance under QEMU until it is told to end: shows its log, says how to use it, ends it cleanly."""

from __future__ import annotations

import contextlib
import re
import select
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from flashbed.appliance import disks, qemu
from flashbed.appliance.building import Appliance
from flashbed.appliance.qemu import Port
from flashbed.appliance.settings import Settings
from flashbed.common import children, locks
from flashbed.common.errors import HostResourceError, InputError, InterruptedByUser, SetupError

READY = re.compile(r"nas: ready ([0-9.]+) s after")
GOING_DOWN, DOWN = "nas: going down", "nas: down"
STOP_S = 30.0
ASK_AGAIN_S = 3.0
NFS, MOUNT, PORTMAP, SSH = 2049, 20048, 111, 22


@dataclass(frozen=True)
class Ports:
    """Where the appliance's ports are on this host, and on which address."""

    listen: str = "127.0.0.1"
    nfs: int = 20490
    mount: int = 20480
    portmap: int = 20111
    ssh: int = 20022

    def forwarded(self, settings: Settings) -> list[Port]:
        pairs = [(NFS, self.nfs), (MOUNT, self.mount), (PORTMAP, self.portmap)]
        found = [Port(protocol, *pair) for pair in pairs for protocol in ("tcp", "udp")]
        return [*found, *([Port("tcp", SSH, self.ssh)] if settings.users else [])]


def run(
    settings: Settings, appliance: Appliance, folder: Path, size_bytes: int, ports: Ports, say: Callable[[str], None]
) -> None:
    """Returns when the appliance is down, by Ctrl-C or by itself. Raises SetupError if it ends before it was ready."""
    images = disks.images(settings.disks, folder, size_bytes)
    forwarded = ports.forwarded(settings)
    _check_free(ports.listen, forwarded)
    command = qemu.command(appliance, images, forwarded, ports.listen, ["-serial", "stdio"])
    with _locked(folder), _started(command) as process:
        watched = _Watched(process, say)
        try:
            watched.until_ready()
            if watched.ready:
                for line in usage(settings, ports):
                    say(line)
            watched.until_end()
        except InterruptedByUser:
            say("flashbed: ending the appliance ...")
            watched.end()
    if not watched.ready and not watched.asked:
        raise SetupError("the appliance ended before it was ready; its last lines are above")
    say("flashbed: the appliance is down" + ("" if watched.down else ", and not by its own will: look at its log"))


def usage(settings: Settings, ports: Ports) -> Iterator[str]:
    """How a client on this host uses each export that it may."""
    yield ""
    for export in settings.exports:
        path = f"/{export.disk}"
        where = f"nfsport={ports.nfs}&mountport={ports.mount}"
        options = f"vers=3,nolock,proto=tcp,port={ports.nfs},mountproto=tcp,mountport={ports.mount}"
        if 4 in settings.nfs.versions:  # it needs no other port
            where, options = f"version=4&nfsport={ports.nfs}", f"vers=4,proto=tcp,port={ports.nfs}"
        yield f"nfs-ls 'nfs://{ports.listen}{path}?{where}'"
        yield f"sudo mount -t nfs -o {options} {ports.listen}:{path} /mnt"
    for user in settings.users:
        yield f"ssh -p {ports.ssh} {user.name}@{ports.listen}"
    yield "Ctrl-C ends it."
    yield ""


class _Watched:
    """QEMU, its serial line on pipes."""

    def __init__(self, process: subprocess.Popen[bytes], say: Callable[[str], None]) -> None:
        self._process = process
        self._say = say
        self._rest = b""
        self._ended = False
        self._going_down = False
        self.ready = False
        self.asked = False
        self.down = False

    def until_ready(self) -> None:
        while not self.ready and self._line():
            pass

    def until_end(self) -> None:
        while self._line():
            pass

    def end(self) -> None:
        """Asks as a person at the console would; pulls the plug if that does not help. A second Ctrl-C does at once."""
        self.asked = True
        deadline = time.monotonic() + STOP_S
        with contextlib.suppress(InterruptedByUser):
            while not self._ended and time.monotonic() < deadline:
                if not self._going_down:
                    self._ask_to_go_down()
                pause = time.monotonic() + ASK_AGAIN_S
                while time.monotonic() < pause and self._line(min(pause, deadline)):
                    pass
        if self._process.poll() is None:
            self._process.terminate()

    def _ask_to_go_down(self) -> None:
        """A shell that is just starting throws away what was typed before."""
        assert self._process.stdin is not None
        with contextlib.suppress(OSError):
            self._process.stdin.write(b"\npoweroff\n")
            self._process.stdin.flush()

    def _line(self, deadline: float | None = None) -> bool:
        """Shows the next line; False at the end, or when the time is up."""
        assert self._process.stdout is not None
        while b"\n" not in self._rest:
            left = None if deadline is None else max(0.0, deadline - time.monotonic())
            if not select.select([self._process.stdout], [], [], left)[0]:
                return False
            data = self._process.stdout.read1(4096)  # type: ignore[attr-defined]
            if not data:
                self._ended = True
                return False
            self._rest += data
        line, _, self._rest = self._rest.partition(b"\n")
        text = "".join(letter for letter in line.decode(errors="replace").strip() if letter.isprintable())
        self.ready |= READY.search(text) is not None
        self._going_down |= GOING_DOWN in text
        self.down |= DOWN in text
        if text:
            self._say(text)
        return True


@contextlib.contextmanager
def _started(command: Sequence[str]) -> Iterator[subprocess.Popen[bytes]]:
    """In a process group of its own, so that Ctrl-C reaches this program only."""
    guarded = children.guarded(command)
    with children.started(guarded, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=sys.stderr) as process:
        yield process


@contextlib.contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """Two machines on one disk would destroy its file system."""
    lock = locks.take(folder / ".lock")
    if lock is None:
        raise HostResourceError(f"{folder}: another appliance runs on these disks; give this one a --folder of its own")
    with lock:
        yield


def _check_free(listen: str, ports: Sequence[Port]) -> None:
    """QEMU's own message names no option."""
    for port in ports:
        kind = socket.SOCK_STREAM if port.protocol == "tcp" else socket.SOCK_DGRAM
        with socket.socket(socket.AF_INET, kind) as trial:
            if kind == socket.SOCK_STREAM:
                trial.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                trial.bind((listen, port.outside))
            except OSError as error:
                named = {NFS: "--nfs-port", MOUNT: "--mount-port", PORTMAP: "--portmap-port", SSH: "--ssh-port"}
                option = f"{named[port.inside]} {port.outside} ({port.protocol})"
                raise InputError(f"{option} of {listen}: {error.strerror}; give another") from None
