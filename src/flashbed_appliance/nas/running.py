# SPDX-License-Identifier: Apache-2.0
"""Run an appliance under QEMU: show its log, print how to use it (usage.py), and shut it down cleanly."""

from __future__ import annotations

import contextlib
import os
import re
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NoReturn

from flashbed.common import programs
from flashbed.common.errors import FlashbedError, InterruptedByUser, SetupError
from flashbed.common.foreign import without_controls
from flashbed_appliance.nas import ports, qemu, usage
from flashbed_appliance.nas.building import Appliance
from flashbed_appliance.nas.ports import Ports
from flashbed_appliance.nas.settings import Settings

READY = re.compile(r"nas: ready ([0-9.]+) s after")
LEFT_OUT = re.compile(r"exportd: an export is left out: [^:]*: *(/[^ ]+)")

GOING_DOWN, DOWN = "nas: going down", "nas: down"
START_S, STOP_S = 300.0, 30.0
"""Host seconds. If the shutdown is requested, a kernel may first take START_S to finish its start; an appliance that
serves may take STOP_S to go down.
"""

ASK_AGAIN_S = 3.0

HANGUPS, INTERRUPTS = (signal.SIGHUP, signal.SIGQUIT), (signal.SIGINT, signal.SIGTERM)


def run(
    settings: Settings, appliance: Appliance, images: Sequence[Path], where: Ports, say: Callable[[str], None]
) -> None:
    """Run the appliance until it is down. It goes down by itself, at Ctrl-C, or if the terminal or the reader of `say`
    is gone. Call this within preparing.prepared, which yields `images`.

    Raises SetupError if the appliance ends before it was ready, InterruptedByUser if QEMU had to be killed, and
    FlashbedError if QEMU ended before the appliance reported that it is down.
    """
    forwarded = where.forwarded(settings)
    ports.check(where.listen, forwarded)  # again: a kernel may have taken minutes
    command = qemu.command(appliance, images, forwarded, where.listen, ["-serial", "stdio"])
    with _ended_by_hangup(), _woken_by_signals() as woken, _started(command) as process:
        watched = _Watched(process, say, woken)
        try:
            watched.tell("flashbed: starting the appliance ...")  # its kernel is silent until it has a serial line
            watched.until_ready()
            if watched.ready:
                for line in usage.lines(settings, where, watched.left_out):
                    watched.tell(line)
            watched.until_end()
        except InterruptedByUser:
            # Kernel, shell and session manager may each send SIGHUP for one closed terminal: that is no second Ctrl-C
            signal.signal(signal.SIGHUP, signal.SIG_IGN)
            watched.end()
    if not watched.ready and not watched.asked:
        raise SetupError("the appliance ended before it was ready; its last lines are above")
    if not watched.down:
        if watched.unplugged:
            raise InterruptedByUser("QEMU was killed before the appliance was down; its disks are as after a power cut")
        raise FlashbedError(
            "QEMU ended before the appliance was down; its last lines are above, and its disks are as after a power "
            "cut. Start it again"
        )
    watched.tell("flashbed: the appliance is down")


class _Watched:
    """A running QEMU whose serial line is on pipes. A signal makes the file descriptor `woken` readable."""

    def __init__(self, process: subprocess.Popen[bytes], say: Callable[[str], None], woken: int) -> None:
        self._process = process
        self._say = say
        self._woken = woken
        self._rest = b""
        self._heard = True
        self._ended = False
        self._going_down = False
        self.ready = False
        self.left_out: set[str] = set()
        self.asked = False
        self.unplugged = False
        self.down = False

    def until_ready(self) -> None:
        """Show lines until the appliance serves or its output ends."""
        while not self.ready and self._line():
            pass

    def until_end(self) -> None:
        """Show lines until the output ends."""
        while self._line():
            pass

    def end(self) -> None:
        """Type `poweroff` on the console. If that does not help, or at a second Ctrl-C, kill QEMU."""
        self.asked = True
        with contextlib.suppress(InterruptedByUser):
            self.tell("flashbed: ending the appliance ...")
            self._end_within(START_S, until=lambda: self.ready)  # nothing reads the console earlier
            self._end_within(STOP_S)
        if not self._ended:
            for number in INTERRUPTS:
                signal.signal(number, signal.SIG_IGN)  # nothing is left to interrupt
            self.unplugged = True
            self._process.terminate()

    def _end_within(self, limit_s: float, until: Callable[[], bool] = lambda: False) -> None:
        deadline = time.monotonic() + limit_s
        while not (self._ended or until()) and time.monotonic() < deadline:
            if not self._going_down:
                self._ask_to_go_down()
            pause = time.monotonic() + ASK_AGAIN_S
            while time.monotonic() < pause and not until() and self._line(min(pause, deadline)):
                pass

    def tell(self, text: str) -> None:
        """Print a line. If the reader is gone, raise InterruptedByUser, unless the appliance is going down already: a
        broken pipe does not interrupt the shutdown.
        """
        if not self._heard:
            return
        try:
            self._say(text)
        except OSError:
            self._heard = False
            if not (self.asked or self._ended):
                raise InterruptedByUser("the reader of the appliance's log is gone") from None

    def _ask_to_go_down(self) -> None:
        """Type `poweroff`. The caller repeats it, because a shell that is just starting discards earlier input."""
        assert self._process.stdin is not None
        with contextlib.suppress(OSError):
            self._process.stdin.write(b"\npoweroff\n")
            self._process.stdin.flush()

    def _line(self, deadline: float | None = None) -> bool:
        """Show the next line. Return False at the end of the output or at the deadline (time.monotonic())."""
        assert self._process.stdout is not None
        while b"\n" not in self._rest:
            left = None if deadline is None else max(0.0, deadline - time.monotonic())
            readable, _, _ = select.select([self._process.stdout.fileno(), self._woken], [], [], left)
            if not readable:
                return False
            if self._woken in readable:  # its handler raises, if it is not ignored
                os.read(self._woken, 4096)
                continue
            data = self._process.stdout.read1(4096)  # type: ignore[attr-defined]
            if not data:
                self._ended = True
                return False
            self._rest += data
        line, _, self._rest = self._rest.partition(b"\n")
        plain = without_controls(line.decode(errors="replace"))
        text = "".join(letter for letter in plain.strip() if letter.isprintable())
        self.ready |= READY.search(text) is not None
        self.left_out.update(LEFT_OUT.findall(text))
        self._going_down |= GOING_DOWN in text
        self.down |= DOWN in text
        if text:
            self.tell(text)
        return True


@contextlib.contextmanager
def _ended_by_hangup() -> Iterator[None]:
    """In the block, SIGHUP and SIGQUIT shut the appliance down as Ctrl-C does; their default would kill it. A signal
    that is ignored, as under `nohup`, stays ignored. Afterwards all handlers are restored.
    """
    before = {number: signal.getsignal(number) for number in (*HANGUPS, *INTERRUPTS)}
    try:
        for number in HANGUPS:
            if before[number] != signal.SIG_IGN:
                signal.signal(number, _interrupt)
        yield
    finally:
        for number, how in before.items():
            signal.signal(number, how)


@contextlib.contextmanager
def _woken_by_signals() -> Iterator[int]:
    """Yield a file descriptor that each signal makes readable. A signal that comes right before `select` begins does
    not end it.
    """
    woken, waking = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
    before = signal.set_wakeup_fd(waking, warn_on_full_buffer=False)
    try:
        yield woken
    finally:
        signal.set_wakeup_fd(before)
        os.close(woken)
        os.close(waking)


def _interrupt(number: int, _: object) -> NoReturn:
    if number == signal.SIGHUP:
        signal.signal(number, signal.SIG_IGN)  # the next may arrive before `run` has handled this one
    raise InterruptedByUser("interrupted")


@contextlib.contextmanager
def _started(command: Sequence[str]) -> Iterator[subprocess.Popen[bytes]]:
    """Start QEMU in a process group of its own, so that Ctrl-C reaches this program only."""
    guarded = programs.guarded(command)
    with programs.started(guarded, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=sys.stderr) as process:
        yield process
