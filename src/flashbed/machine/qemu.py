# SPDX-License-Identifier: Apache-2.0
"""Runs a cell in QEMU with every source of chance closed: the guest's time is the number of instructions that it
executed.

Knows a cell's board, medium and files. docs/time.md explains each option of
the command line.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from flashbed.common import children, foreign_text
from flashbed.common.errors import NO_MEMORY, HostResourceError, InterruptedByUser, lacks_memory
from flashbed.common.units import describe_size, rough_size
from flashbed.guest_output.profile import RAW
from flashbed.machine import cpus, deaths, outbox
from flashbed.machine.base import Outcome
from flashbed.machine.cpus import ONE_CPU, Cpus

KILL_AFTER_S = 5
STOP_POLL_S = 0.2

PANIC_ENDS_S = 10.0
"""Of the host's time, from a panic on: a guest whose CPUs can be stopped has ended by then."""
TIMED_OUT = 124

RAN = "ran.log"
"""What a run leaves in its folder besides results: the code of the ranges asked for that it executed."""

PRICE = "price.txt"
"""What a run leaves in its folder besides results: what each step took of this host (emulator/lab-price.h)."""

CONSOLE = "console.log"
GROWING = (CONSOLE, RAW, RAN, PRICE)
"""What a guest can make grow in its folder."""

STATE_SLOT, DATA_SLOT, OUTBOX_SLOT, UNDO_SLOT = 2, 3, 4, 5
"""PCI slots, fixed: guest/cell and guest/init know them too."""

SMALLEST_WINDOW_BYTES = 1 << 20

NO_ROOM = re.compile("could not load initrd|Not enough space for DTB|could not load kernel")

TELLING = re.compile(r"error|fail|bad |no space|cannot|can't|unknown|invalid|not |dropped", re.IGNORECASE)
"""How a line of a tool reads that says why it gave up."""

MOST_WRITTEN = 64 << 20
"""Bytes of each file that grows while a guest runs: its console, and what the emulator notes. They lie in memory."""


@dataclass(frozen=True)
class Setup:
    """The machine itself: how many million instructions a second it executes, its memory in bytes, QEMU's name of its
    CPU, the seed of its random numbers.
    """

    mips: int
    ram_bytes: int
    cpu: str
    seed: int
    cpus: Cpus = ONE_CPU


@dataclass(frozen=True)
class Files:
    """What the machine starts from, and the program that it is. `state` and `data` are changed by the run, and `undo`,
    which a medium needs whose power is to be cut.
    """

    kernel: Path
    initramfs: Path
    state: Path
    data: Path
    emulator: Path
    undo: Path | None = None


def refusal(emulator: Path, cpu: str) -> str:
    """Why this emulator starts no guest on this CPU; "" if it does. Raises HostResourceError for a host that gives it
    too little memory.
    """
    machine = ["-machine", "virt,gic-version=2", "-accel", "tcg", "-nodefaults", "-no-user-config", "-display", "none"]
    # Only a CPU that knows 64 bits has this property: on others QEMU starts, and an arm64 kernel never does
    trial = [str(emulator), *machine, "-cpu", f"{cpu},aarch64=on", "-S", "-monitor", "stdio"]
    done = subprocess.run(trial, input="quit\n", capture_output=True, text=True)
    if done.returncode == 0:
        return ""
    said = done.stderr.strip().removeprefix(f"{emulator.name}: ")
    if lacks_memory(OSError(said)):
        raise HostResourceError(NO_MEMORY)
    there = f"there are: {', '.join(cpus.offered(emulator))}"
    if said.endswith(".aarch64' not found"):
        return f'"{cpu}" has 32 bits, and guests need 64; {there}'
    return f'QEMU cannot start "{cpu}" ({said}); {there}'


def fixed_arguments(setup: Setup) -> list[str]:
    """The part of the command line that shapes results; the rest is paths. Part of a cell's key."""
    return [
        *("-machine", f"virt,gic-version={setup.cpus.interrupt_controller}"),
        *("-cpu", setup.cpu),
        *setup.cpus.arguments(),
        *("-m", f"{setup.ram_bytes >> 20}M"),
        *("-accel", "tcg,thread=single"),
        *("-icount", f"mips={setup.mips}{setup.cpus.prices()}"),
        *("-rtc", "base=2020-01-01T00:00:00,clock=vm"),
        *("-seed", str(setup.seed)),
        *("-nodefaults", "-no-user-config", "-display", "none", "-no-reboot"),
        *(
            "-append",
            "console=ttyAMA0 loglevel=4 nokaslr panic=-1 random.trust_bootloader=on "
            f"rcupdate.rcu_cpu_stall_timeout={deaths.STALL_S}",
        ),
    ]


def _command(fixed: Sequence[str], files: Files, box: Path, console: Path) -> list[str]:
    arguments = [str(files.emulator), *fixed, "-serial", f"file:{console}"]
    arguments += ["-kernel", str(files.kernel), "-initrd", str(files.initramfs)]
    regions = {STATE_SLOT: files.state, DATA_SLOT: files.data, OUTBOX_SLOT: box}
    if files.undo is not None:
        regions[UNDO_SLOT] = files.undo
    for slot, path in regions.items():
        backend = f"memory-backend-file,id=m{slot},share=on,mem-path={_escaped(path)},size={path.stat().st_size}"
        arguments += ["-object", backend, "-device", f"ivshmem-plain,memdev=m{slot},addr={slot}"]
    return arguments


def run(
    fixed: Sequence[str],
    files: Files,
    folder: Path,
    limit_s: float,
    stop: threading.Event,
    watched: Sequence[tuple[int, int]] = (),
) -> Outcome:
    """Runs the guest of these fixed arguments in `folder` for at most `limit_s` seconds of the host's time, or until
    `stop` is set. Code that it executes in the ranges `watched` is noted in a file there (RAN); the guest does not feel
    that.

    If QEMU refuses to start the guest, that is an outcome, too: others may start. Raises HostResourceError if the
    host's disk filled up under it, InterruptedByUser.
    """
    box, console, profile = folder / "outbox.bin", folder / CONSOLE, folder / RAW
    with box.open("wb") as file:
        file.truncate(outbox.BYTES)
    console.touch()
    profile.touch()
    sizes = {path: path.stat().st_size for path in (files.state, files.data)}
    for path, size in sizes.items():
        os.truncate(path, _window(size))
    notes = f"profile={_escaped(profile)},price={_escaped(folder / PRICE)}"
    # A second -icount joins the first
    command = [*_command(fixed, files, box, console), "-icount", notes, *_watching(watched, folder / RAN)]
    status, complaint = _execute(command, console, limit_s, stop)
    for path, size in sizes.items():
        os.truncate(path, size)
    said = _beginning(console)
    if status in (-signal.SIGBUS, 128 + signal.SIGBUS):
        free = rough_size(shutil.disk_usage(folder).free)
        raise HostResourceError(f"{folder}: the disk filled up while a guest was writing its medium ({free} free)")
    if status == TIMED_OUT:
        return Outcome("timed out", f"no end after {limit_s:.0f} s of this host's time", said)
    if status < 0 or status == 128 + signal.SIGKILL:
        number = status % 128 if status > 0 else -status
        guess = ": out of memory?" if number == signal.SIGKILL else ""
        return Outcome("killed", f"killed (signal {number}){guess}", said)
    if longest := next((name for name in GROWING if _is_flooded(folder / name)), None):
        return Outcome("failed", f"the guest made {longest} longer than {describe_size(MOST_WRITTEN)}", said)
    if status == 1 and not said:
        why = foreign_text.line(complaint.replace(f"{folder}/", "").removeprefix(f"{files.emulator.name}: "))
        small = ": the board's ram is too small for the kernel and its programs" if NO_ROOM.search(why) else ""
        return Outcome("failed", f"{files.emulator.name} did not start{small} ({why})", said)
    try:
        outcome = _outcome(outbox.read(box), said, complaint)
    except outbox.RefusedError as error:
        return Outcome("failed", f"the guest handed out {error}", said)
    if raw := profile.read_bytes():
        outcome = replace(outcome, files={**outcome.files, RAW: raw})
    return outcome


def _watching(ranges: Sequence[tuple[int, int]], log: Path) -> list[str]:
    """What makes the emulator write down code when it first executes it: it translates it only then."""
    if not ranges:
        return []
    return ["-d", "in_asm", "-D", str(log), "-dfilter", ",".join(f"{begin:#x}..{end - 1:#x}" for begin, end in ranges)]


def _outcome(files: dict[str, bytes] | None, console: bytes, complaint: str) -> Outcome:
    if b"Initramfs unpacking failed" in console:
        why = "the board's ram is too small for the guest's programs (Initramfs unpacking failed)"
        return Outcome("failed", why, console, files or {})
    if files is None:
        return Outcome("failed", deaths.cause(console, complaint), console)
    if "failed" in files:
        return Outcome("failed", step_reason(files), console, files)
    return Outcome("measured", "", console, files)


def step_reason(files: Mapping[str, bytes]) -> str:
    """The step that failed, and what its tool said about it: the first telling line, else the last of all."""
    failed = foreign_text.line(files["failed"].decode(errors="replace"))
    said = files.get(f"{failed.partition(':')[0]}.txt", b"").decode(errors="replace")
    lines = [line for line in said.splitlines() if line.strip()]
    if not lines:
        return f"step {failed}"
    why = next((line for line in lines if TELLING.search(line)), lines[-1])
    return f"step {failed}: {foreign_text.line(why)}"


def _execute(arguments: list[str], console: Path, limit_s: float, stop: threading.Event) -> tuple[int, str]:
    """Exit status, or TIMED_OUT, and standard error. The guest dies with this process, even if that is killed."""
    begin = time.monotonic()
    with children.started(
        children.guarded(arguments, limit_s, KILL_AFTER_S),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    ) as process:
        complaint, ended = _wait(process, console, stop)
    if ended:
        return 0, complaint.decode(errors="replace")
    # Who has to kill what is out of time kills itself, too: its status is then the same as for a guest that was killed
    late = time.monotonic() - begin >= limit_s and process.returncode in (124, -signal.SIGKILL, 128 + signal.SIGKILL)
    return TIMED_OUT if late else process.returncode, complaint.decode(errors="replace")


def _wait(process: subprocess.Popen[bytes], console: Path, stop: threading.Event) -> tuple[bytes, bool]:
    """What it said, and whether it had to be ended: after a panic, or because it writes without an end.

    A panic stops the other CPUs first, and waits a second for each that takes no interrupts. Many CPUs that spin make
    minutes of the host's time of that.
    """
    seen = _Growing(console)
    panicked_at: float | None = None
    while True:
        try:
            return process.communicate(timeout=STOP_POLL_S)[1], False
        except subprocess.TimeoutExpired:
            if stop.is_set():
                raise InterruptedByUser("stopped") from None
        flooded = any(_is_flooded(console.parent / name) for name in GROWING)
        if not flooded and panicked_at is None and seen.has(deaths.PANIC):
            panicked_at = time.monotonic()
        if flooded or (panicked_at is not None and time.monotonic() - panicked_at > PANIC_ENDS_S):
            process.terminate()
            return process.communicate()[1], True


def _is_flooded(path: Path) -> bool:
    return path.exists() and path.stat().st_size > MOST_WRITTEN


def _beginning(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(MOST_WRITTEN)


class _Growing:
    """A file that another program writes to."""

    def __init__(self, path: Path) -> None:
        self._path, self._at, self._rest = path, 0, b""

    def has(self, words: bytes) -> bool:
        """Whether what came since the last look has them, or completes them."""
        with self._path.open("rb") as file:
            file.seek(self._at)
            new = file.read()
        self._at += len(new)
        text = self._rest + new
        self._rest = text[-len(words) :]
        return words in text


def _escaped(path: Path) -> str:
    """As a value among QEMU's options."""
    return str(path).replace(",", ",,")


def _window(size: int) -> int:
    """The size of the PCI window that holds so many bytes: a power of two."""
    return max(SMALLEST_WINDOW_BYTES, 1 << (size - 1).bit_length())
