# SPDX-License-Identifier: Apache-2.0
"""Run a cell in QEMU without any source of chance: the guest's time is the number of instructions that it executed.

Knows a cell's board with its CPUs, medium and files. docs/time.md explains each option of the command line. A board
with one CPU has no -smp argument, and GIC version 2.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from flashbed.common import foreign
from flashbed.common.errors import NO_MEMORY, HostResourceError, lacks_memory
from flashbed.common.units import describe_size, rough_size
from flashbed.guest_output import system_calls
from flashbed.guest_output.assessment import Status
from flashbed.guest_output.cpu_samples import RAW_SAMPLES
from flashbed.machine import deaths, outbox, process
from flashbed.machine.outcomes import Outcome

MOST_OF_GIC_2 = 8
"""The most CPUs of Arm's Generic Interrupt Controller version 2 (its architecture specification, IHI 0048)."""

_OF_64_BITS = re.compile(r"a64fx|cortex-a(35|5[0-9]|7[0-9]|[0-9]{3})|neoverse-\w+|max")
"""Arm's names of application cores with AArch64. Cortex-A5 to A17 have 32 bits."""


@dataclass(frozen=True)
class Cpus:
    """The number of CPUs and their topology: sockets, and threads per core.

    `line_transfer_ns` is the time to hand a cache line to another core of the same socket, `line_transfer_other_ns` to
    a core of another socket. None means no cost within a socket, and the same cost between sockets as within one.
    """

    number: int = 1
    sockets: int = 1
    threads_per_core: int = 1
    line_transfer_ns: int | None = None
    line_transfer_other_ns: int | None = None

    @property
    def interrupt_controller(self) -> int:
        """Return the version of the GIC that serves these CPUs."""
        return 2 if self.number <= MOST_OF_GIC_2 else 3

    def arguments(self) -> list[str]:
        """Return the arguments for QEMU; [] for one CPU."""
        if self.number == 1:
            return []
        cores = self.number // self.sockets // self.threads_per_core
        packed = f"sockets={self.sockets},cores={cores},threads={self.threads_per_core}"
        return ["-smp", f"cpus={self.number},{packed}"]

    def prices(self) -> str:
        """Return the suffix of `-icount mips=N` with the costs of a line transfer; "" if it costs nothing."""
        named = {"line_same": self.line_transfer_ns, "line_other": self.line_transfer_other_ns}
        return "".join(f",{name}={ns}" for name, ns in named.items() if ns is not None)


ONE_CPU = Cpus()


def offered_cpus(emulator: Path) -> list[str]:
    """Return the names of the emulator's CPUs that have 64 bits."""
    help_ = [str(emulator), "-machine", "virt", "-cpu", "help"]
    named = subprocess.run(help_, capture_output=True, text=True, stdin=subprocess.DEVNULL).stdout.split()
    return [name for name in named if _OF_64_BITS.fullmatch(name)]


DRIVE = "medium"
"""The medium's drive name on the command line."""

MEDIUM_NOTES = "notes"
"""The directory of a run for the emulator's notes of the medium (emulator/lab-medium-notes.h)."""

OUTBOX, LOAD_ARCHIVE = "outbox.bin", "load"
OUTBOX_SLOT = 4
"""The PCI slot of the outbox. guest/init has the same number."""

ROOT_SLOT = 5
"""The PCI slot of the root of programs. kernel/program_region has the same number."""

FAILED = "failed"
"""The guest's file with the step that failed and its exit status."""

RAM_TOO_SMALL = re.compile("could not load initrd|Not enough space for DTB|could not load kernel")

OF_LAUNCH = "error: "
"""The beginning of guest/launch's complaints."""

TELLING = re.compile(r"error|fail|bad |no space|cannot|can't|unknown|invalid|not |dropped", re.IGNORECASE)
"""Matches the line in a tool's output that says why it failed."""


@dataclass(frozen=True)
class Setup:
    """The machine: million instructions per second, memory in bytes, QEMU's name of its CPU, and the seed of its random
    numbers.
    """

    mips: int
    ram_bytes: int
    cpu: str
    seed: int
    cpus: Cpus = ONE_CPU
    controller: tuple[str, ...] = ()
    """The devices between the medium and the board, one for each -device."""
    kernel_words: tuple[str, ...] = ()
    """Further arguments of the kernel's command line."""
    medium_options: str = ""
    """The options of the emulator's medium (emulator/lab-medium.h), such as "digest=1,record=2"."""


@dataclass(frozen=True)
class Observers:
    """What the emulator notes of the programs of a guest, which notices nothing of it."""

    samples: bool = False
    """The positions of the CPUs, when the guest asks for them."""
    calls: bool = False
    """All system calls and page faults."""


NO_OBSERVERS = Observers()


@dataclass(frozen=True)
class Files:
    """The emulator and the files of a run.

    The run changes `state` and `data`. The guest gets `load` at the end of its beginning (emulator/lab-load.h). `root`
    is the image of a root of programs (image/program_root.py).
    """

    kernel: Path
    initramfs: Path
    state: Path
    data: Path
    emulator: Path
    load: Path | None = None
    root: Path | None = None


def refusal(emulator: Path, cpu: str) -> str:
    """Return why this emulator cannot start a guest on this CPU; "" if it can. Raises HostResourceError if the host has
    too little memory.
    """
    machine = ["-machine", "virt,gic-version=2", "-accel", "tcg", "-nodefaults", "-no-user-config", "-display", "none"]
    # Only a 64-bit CPU has this property. With another, QEMU starts, but an arm64 kernel never does
    trial = [str(emulator), *machine, "-cpu", f"{cpu},aarch64=on", "-S", "-monitor", "stdio"]
    trial_run = subprocess.run(trial, input="quit\n", capture_output=True, text=True)
    if trial_run.returncode == 0:
        return ""
    complaint = trial_run.stderr.strip().removeprefix(f"{emulator.name}: ")
    if lacks_memory(OSError(complaint)):
        raise HostResourceError(NO_MEMORY)
    choices = f"there are: {', '.join(offered_cpus(emulator))}"
    if complaint.endswith(".aarch64' not found"):
        return f'"{cpu}" has 32 bits, and guests need 64; {choices}'
    return f'QEMU cannot start "{cpu}" ({complaint}); {choices}'


def fixed_arguments(setup: Setup) -> list[str]:
    """Return the part of the command line that affects results, without paths. It is part of a cell's key."""
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
    """Return the machine's arguments, without those for notes beside the results."""
    arguments = [str(files.emulator), *fixed, "-serial", f"file:{folder / process.CONSOLE}"]
    arguments += ["-kernel", str(files.kernel), "-initrd", str(files.initramfs)]
    # A forked guest gets files in place of those beside its load. Linux knows them by their canonical paths
    arguments += ["-icount", f"load={escaped(files.load.resolve())}"] if files.load else []
    for name, path in {"state": files.state, "data": files.data, "notes": folder / MEDIUM_NOTES}.items():
        arguments += ["-set", f"drive.{DRIVE}.{name}={path}"]
    arguments += _shared("outbox", folder / OUTBOX, OUTBOX_SLOT, "share=on")
    # Not shared: the guest's kernel writes to the room for struct pages, and each guest has that for itself
    return arguments + (_shared("root", files.root, ROOT_SLOT, "share=off") if files.root else [])


def _shared(name: str, file: Path, slot: int, mode: str) -> list[str]:
    """Return the arguments that give the guest a file as the memory of a PCI device."""
    backend = f"memory-backend-file,id={name},{mode},mem-path={escaped(file)},size={file.stat().st_size}"
    return ["-object", backend, "-device", f"ivshmem-plain,memdev={name},addr={slot}"]


def run(
    fixed: Sequence[str],
    files: Files,
    folder: Path,
    limit_s: float,
    stop: threading.Event,
    watched: Sequence[tuple[int, int]] = (),
    *,
    observers: Observers = NO_OBSERVERS,
) -> Outcome:
    """Run a guest in `folder` for at most `limit_s` seconds of the host's time, or until `stop` is set; return its
    outcome.

    The emulator notes the executed code of the ranges `watched` in a file (process.RAN). If QEMU refuses to start the
    guest, that is an outcome, because other guests may start. Raises HostResourceError if the host's disk is full,
    InterruptedByUser.
    """
    status = process.execute(command(fixed, files, folder, watched=watched, observers=observers), folder, limit_s, stop)
    return outcome_of(files, folder, status, limit_s)


def command(
    fixed: Sequence[str],
    files: Files,
    folder: Path,
    *,
    watched: Sequence[tuple[int, int]] = (),
    observers: Observers = NO_OBSERVERS,
    orders: int | None = None,
) -> list[str]:
    """Create the files of `folder` that the emulator writes, and return the emulator's command. It reads orders from
    the file descriptor `orders` (emulator/lab-beginning.h).
    """
    (folder / MEDIUM_NOTES).mkdir(exist_ok=True)
    with (folder / OUTBOX).open("wb") as file:
        file.truncate(outbox.BYTES)
    (folder / process.CONSOLE).touch()
    (folder / RAW_SAMPLES).touch()
    if observers.calls:
        (folder / system_calls.RAW_CALLS).touch()
    ordered = [] if orders is None else ["-icount", f"orders={orders}"]
    return [
        *(*_machine(fixed, files, folder), *ordered, *_noting(folder, observers)),
        *_watching(watched, folder / process.RAN),
    ]


def outcome_of(files: Files, folder: Path, status: int, limit_s: float) -> Outcome:
    """Return the outcome of the run in `folder`, given the emulator's exit status. Raises HostResourceError if the
    host's disk is full.
    """
    console, complaint = process.head_of(folder / process.CONSOLE), process.complaint(folder)
    if status in (-signal.SIGBUS, 128 + signal.SIGBUS):
        free = rough_size(shutil.disk_usage(folder).free)
        raise HostResourceError(f"{folder}: the disk filled up while a guest was writing its medium ({free} free)")
    if status == process.TIMED_OUT:
        return Outcome(Status.TIMED_OUT, f"no end after {limit_s:.0f} s of this host's time", console)
    if status < 0 or status == 128 + signal.SIGKILL:
        number = status % 128 if status > 0 else -status
        guess = ": out of memory?" if number == signal.SIGKILL else ""
        return Outcome(Status.KILLED, f"killed (signal {number}){guess}", console)
    if longest := process.flooded(folder):
        most = describe_size(process.most_written(longest))
        return Outcome(Status.FAILED, f"the guest made {longest} longer than {most}", console)
    if status == 1 and not console:
        why = foreign.line(complaint.replace(f"{folder}/", "").removeprefix(f"{files.emulator.name}: "))
        small = ": the board's ram is too small for the kernel and its programs" if RAM_TOO_SMALL.search(why) else ""
        return Outcome(Status.FAILED, f"{files.emulator.name} did not start{small} ({why})", console)
    try:
        outcome = _outcome(outbox.read(folder / OUTBOX), console, complaint)
    except outbox.RefusedError as error:
        return Outcome(Status.FAILED, f"the guest handed out {error}", console)
    try:
        noted = outbox.noted(folder / MEDIUM_NOTES)
    except outbox.RefusedError as error:
        return Outcome(Status.FAILED, f"the guest had noted {error}", console)
    if raw := (folder / RAW_SAMPLES).read_bytes():
        noted[RAW_SAMPLES] = raw
    if outcome.status == Status.MEASURED and (folder / system_calls.RAW_CALLS).exists():
        try:
            noted[system_calls.CALL_NOTES] = system_calls.trimmed((folder / system_calls.RAW_CALLS).read_bytes())
        except ValueError as error:
            return replace(
                outcome, status=Status.FAILED, reason=f"the notes of its system calls cannot be read: {error}"
            )
    return replace(outcome, files={**outcome.files, **noted})


def _noting(folder: Path, observers: Observers) -> list[str]:
    """Return the arguments for notes beside the results. QEMU merges a second -icount with the first."""
    files = {"price": process.PRICE}
    files |= {"profile": RAW_SAMPLES} if observers.samples else {}
    files |= {"calls": system_calls.RAW_CALLS} if observers.calls else {}
    return ["-icount", ",".join(f"{name}={escaped(folder / file)}" for name, file in files.items())]


def _watching(ranges: Sequence[tuple[int, int]], log: Path) -> list[str]:
    """Return the arguments that log code when the emulator translates it, which is when the guest first executes it."""
    if not ranges:
        return []
    return ["-d", "in_asm", "-D", str(log), "-dfilter", ",".join(f"{begin:#x}..{end - 1:#x}" for begin, end in ranges)]


def _outcome(files: dict[str, bytes] | None, console: bytes, complaint: str) -> Outcome:
    if b"Initramfs unpacking failed" in console:
        why = "the board's ram is too small for the guest's programs (Initramfs unpacking failed)"
        return Outcome(Status.FAILED, why, console, files or {})
    if files is None:
        death = deaths.death(console, complaint)
        why = death.reason() if death else f"the guest ended without results. {foreign.line(complaint)}".strip()
        return Outcome(Status.FAILED, why, console, death=death)
    if FAILED in files:
        return Outcome(Status.FAILED, failed_step(files).reason, console, files)
    return Outcome(Status.MEASURED, "", console, files)


@dataclass(frozen=True)
class FailedStep:
    """The step of guest/steps that failed, its exit status in words, and its tool's message; "" if it printed none."""

    name: str
    status: str
    complaint: str

    @property
    def reason(self) -> str:
        """Return the reason of the outcome."""
        return ": ".join(("step " + self.name, *filter(None, (self.status, self.complaint))))

    def has(self, number: int) -> bool:
        """True if the tool reports this error number of the kernel."""
        return os.strerror(number) in self.complaint


def failed_step(files: Mapping[str, bytes]) -> FailedStep:
    """Return the step that a guest's file `failed` names. Of its tool's output take the first line that tells a reason,
    else the last line. Of guest/launch's output take all from its complaint on: that quotes a command, which may have
    several lines, before its reason.
    """
    name, _, status = foreign.line(files[FAILED].decode(errors="replace")).partition(": ")
    output = files.get(f"{name}.txt", b"").decode(errors="replace")
    lines = [line for line in output.splitlines() if line.strip()]
    complaint = next((line for line in lines if TELLING.search(line)), lines[-1]) if lines else ""
    if complaint.startswith(OF_LAUNCH):
        complaint = output[output.index(complaint) :]
    return FailedStep(name, status, foreign.line(complaint))


def escaped(path: Path) -> str:
    """Return the path with its commas doubled: a single comma ends a value of QEMU's options."""
    return str(path).replace(",", ",,")
