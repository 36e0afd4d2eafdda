# SPDX-License-Identifier: Apache-2.0
"""Runs a cell in QEMU with every source of chance closed: the guest's time is the number of instructions that it
executed.

Knows a cell's board, medium and files. docs/time.md explains each option of
the command line.
"""

from __future__ import annotations

import re
import shutil
import signal
import subprocess
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from flashbed.common import foreign_text
from flashbed.common.errors import NO_MEMORY, HostResourceError, lacks_memory
from flashbed.common.units import describe_size, rough_size
from flashbed.guest_output.profile import RAW
from flashbed.machine import cpus, deaths, outbox, process
from flashbed.machine.base import Outcome
from flashbed.machine.cpus import ONE_CPU, Cpus

DRIVE = "medium"
"""What the command line calls the medium."""

NOTES = "notes"
"""The folder of a run in which the emulator notes what the medium counts (emulator/lab-medium-notes.h)."""

OUTBOX, LOAD = "outbox.bin", "load"
OUTBOX_SLOT = 4
"""PCI slot of the outbox, fixed: guest/init knows it too."""

NO_ROOM = re.compile("could not load initrd|Not enough space for DTB|could not load kernel")

TELLING = re.compile(r"error|fail|bad |no space|cannot|can't|unknown|invalid|not |dropped", re.IGNORECASE)
"""How a line of a tool reads that says why it gave up."""


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
    controller: tuple[str, ...] = ()
    """What joins the medium to the board, each as -device has it."""
    kernel_words: tuple[str, ...] = ()
    """More of them on the kernel's command line."""
    medium_options: str = ""
    """Of the emulator's medium (emulator/lab-medium.h), as "digest=1,record=2"."""


@dataclass(frozen=True)
class Files:
    """What the machine starts from, and the program that it is. `state` and `data` are changed by the run. `load` is
    what the guest gets when its beginning is over (emulator/lab-load.h).
    """

    kernel: Path
    initramfs: Path
    state: Path
    data: Path
    emulator: Path
    load: Path | None = None


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
        *_medium(setup),
        *(
            "-append",
            "console=ttyAMA0 loglevel=4 nokaslr panic=-1 random.trust_bootloader=on "
            + " ".join((f"rcupdate.rcu_cpu_stall_timeout={deaths.STALL_S}", *setup.kernel_words)),
        ),
    ]


def _medium(setup: Setup) -> list[str]:
    options = f",{setup.medium_options}" if setup.medium_options else ""
    devices = (word for device in setup.controller for word in ("-device", device))
    return ["-drive", f"if=none,id={DRIVE},driver=flashbed{options}", *devices]


def _machine(fixed: Sequence[str], files: Files, folder: Path) -> list[str]:
    """The machine, without what is noted of it beside results."""
    arguments = [str(files.emulator), *fixed, "-serial", f"file:{folder / process.CONSOLE}"]
    arguments += ["-kernel", str(files.kernel), "-initrd", str(files.initramfs)]
    # A forked guest gets files in the place of those beside its load, which Linux tells by their canonical paths
    arguments += ["-icount", f"load={_escaped(files.load.resolve())}"] if files.load else []
    for name, path in {"state": files.state, "data": files.data, "notes": folder / NOTES}.items():
        arguments += ["-set", f"drive.{DRIVE}.{name}={path}"]
    box = folder / OUTBOX
    backend = f"memory-backend-file,id=outbox,share=on,mem-path={_escaped(box)},size={box.stat().st_size}"
    return [*arguments, "-object", backend, "-device", f"ivshmem-plain,memdev=outbox,addr={OUTBOX_SLOT}"]


def run(
    fixed: Sequence[str],
    files: Files,
    folder: Path,
    limit_s: float,
    stop: threading.Event,
    watched: Sequence[tuple[int, int]] = (),
    *,
    samples: bool = False,
) -> Outcome:
    """Runs the guest of these fixed arguments in `folder` for at most `limit_s` seconds of the host's time, or until
    `stop` is set. Code that it executes in the ranges `watched` is noted in a file there (process.RAN). With `samples`
    the guest can have it noted where its CPUs are. It does not feel any of that.

    If QEMU refuses to start the guest, that is an outcome, too: others may start. Raises HostResourceError if the
    host's disk filled up under it, InterruptedByUser.
    """
    status = process.execute(command(fixed, files, folder, watched=watched, samples=samples), folder, limit_s, stop)
    return outcome_of(files, folder, status, limit_s)


def command(
    fixed: Sequence[str],
    files: Files,
    folder: Path,
    *,
    watched: Sequence[tuple[int, int]] = (),
    samples: bool = False,
    orders: int | None = None,
) -> list[str]:
    """Makes the files of `folder` that the emulator writes, and returns how it is called. It takes `orders` from this
    file descriptor (emulator/lab-beginning.h).
    """
    (folder / NOTES).mkdir(exist_ok=True)
    with (folder / OUTBOX).open("wb") as file:
        file.truncate(outbox.BYTES)
    (folder / process.CONSOLE).touch()
    (folder / RAW).touch()
    ordered = [] if orders is None else ["-icount", f"orders={orders}"]
    return [
        *(*_machine(fixed, files, folder), *ordered, *_noting(folder, samples)),
        *_watching(watched, folder / process.RAN),
    ]


def outcome_of(files: Files, folder: Path, status: int, limit_s: float) -> Outcome:
    """What came of the run in `folder`, by the emulator's exit status. Raises HostResourceError if the host's disk
    filled up under it.
    """
    said, complaint = process.beginning(folder / process.CONSOLE), process.complaint(folder)
    if status in (-signal.SIGBUS, 128 + signal.SIGBUS):
        free = rough_size(shutil.disk_usage(folder).free)
        raise HostResourceError(f"{folder}: the disk filled up while a guest was writing its medium ({free} free)")
    if status == process.TIMED_OUT:
        return Outcome("timed out", f"no end after {limit_s:.0f} s of this host's time", said)
    if status < 0 or status == 128 + signal.SIGKILL:
        number = status % 128 if status > 0 else -status
        guess = ": out of memory?" if number == signal.SIGKILL else ""
        return Outcome("killed", f"killed (signal {number}){guess}", said)
    if longest := next((name for name in process.GROWING if process.is_flooded(folder / name)), None):
        return Outcome("failed", f"the guest made {longest} longer than {describe_size(process.MOST_WRITTEN)}", said)
    if status == 1 and not said:
        why = foreign_text.line(complaint.replace(f"{folder}/", "").removeprefix(f"{files.emulator.name}: "))
        small = ": the board's ram is too small for the kernel and its programs" if NO_ROOM.search(why) else ""
        return Outcome("failed", f"{files.emulator.name} did not start{small} ({why})", said)
    try:
        outcome = _outcome(outbox.read(folder / OUTBOX), said, complaint)
    except outbox.RefusedError as error:
        return Outcome("failed", f"the guest handed out {error}", said)
    try:
        noted = outbox.noted(folder / NOTES)
    except outbox.RefusedError as error:
        return Outcome("failed", f"the guest had noted {error}", said)
    if raw := (folder / RAW).read_bytes():
        noted[RAW] = raw
    return replace(outcome, files={**outcome.files, **noted})


def _noting(folder: Path, samples: bool) -> list[str]:
    """What the emulator is to note beside results. A second -icount joins the first."""
    price, profile = (_escaped(folder / name) for name in (process.PRICE, RAW))
    return ["-icount", f"price={price}" + (f",profile={profile}" if samples else "")]


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


def _escaped(path: Path) -> str:
    """As a value among QEMU's options."""
    return str(path).replace(",", ",,")
