# SPDX-License-Identifier: Apache-2.0
"""Measure how much memory a kernel leaves free: boot it in QEMU with one small program that prints /proc/meminfo and
/proc/zoneinfo. MemFree leaves out the free pages on the per-CPU lists, to and from which pages move 31 at a time; here
they count as free.

arm64 runs in the lab's emulator. x86_64 needs Debian's qemu-system-x86, which is no part of the lab: without it there
are no figures of memory. Instructions are the clock, so free memory hardly varies: it was the same in 16 of 17 boots,
and one page (4 KiB) less in the other. The cause of that page is not known.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import tempfile
from pathlib import Path

from flashbed.common import programs
from flashbed.common.digest import digest_file
from flashbed.common.errors import SetupError
from flashbed.image import cpio, emulator
from flashbed.image.command import run
from flashbed_appliance.data_files import appliance_data
from flashbed_appliance.shrinking.architecture import Architecture

RAM_MIB = 24
SHIFT = 3
"""An instruction takes 2^3 ns. A kernel that waits while it calibrates its clocks then executes a fifth of the
instructions that it executes at 1 ns.
"""

LIMIT_S = 240
"""Host seconds after which a kernel counts as one that does not boot."""

_MEM_FREE = re.compile(r"^MemFree:\s+(\d+) kB", re.MULTILINE)

_LISTED = re.compile(r"^ +count: +(\d+)", re.MULTILINE)
"""The number of pages on a list of a CPU."""
PAGE_KIB = 4

_DEBIANS = "qemu-system-x86_64"

FLAGS = (
    "-Os",
    "-static",
    "-nostdlib",
    "-ffreestanding",
    "-fno-stack-protector",
    "-fno-asynchronous-unwind-tables",
    "-fno-pie",
    "-no-pie",
    "-Wl,--build-id=none",
)


def machine(target: Architecture) -> list[str] | None:
    """Return the start of the command that boots a kernel of that architecture; None if there is no QEMU for it."""
    common = ["-accel", "tcg,thread=single", "-icount", f"shift={SHIFT}", "-m", f"{RAM_MIB}M", "-nodefaults"]
    common += ["-no-user-config", "-display", "none", "-no-reboot"]
    if target.name == "arm64":
        words = ["console=ttyAMA0 nokaslr panic=-1"]
        return [
            str(emulator.program()),
            "-machine",
            "virt,gic-version=2",
            "-cpu",
            "cortex-a53",
            *common,
            "-append",
            *words,
        ]
    if shutil.which(_DEBIANS):
        machine_words = "microvm,acpi=off,pit=on,pic=on,rtc=on,isa-serial=on"
        # A triple fault makes this machine's QEMU end
        words = ["console=ttyS0 panic=-1 reboot=t no_timer_check"]
        return [_DEBIANS, "-machine", machine_words, "-cpu", "qemu64", *common, "-append", *words]
    return None


def identity(target: Architecture) -> str:
    """Return what figures of memory depend on besides the kernel: QEMU, its options, and the program."""
    command = machine(target)
    if command is None:
        return "none"
    program = emulator.digest() if target.name == "arm64" else run([_DEBIANS, "--version"]).splitlines()[0]
    return " ".join([program, *command[1:], digest_file(_source())])


def free_kib(target: Architecture, image: Path) -> int | None:
    """Boot `image` (bzImage, Image) in a machine with RAM_MIB and return the memory in KiB that is free when programs
    start; None if this host has no QEMU for it.

    Raises SetupError, with the last lines of the console, if the kernel does not reach its first program.
    """
    command = machine(target)
    if command is None:
        return None
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        console = folder / "console.log"
        console.touch()
        archive = folder / "initramfs.cpio"
        archive.write_bytes(_archive(_program(target, folder)))
        full = [*command, "-kernel", str(image), "-initrd", str(archive), "-serial", f"file:{console}"]
        with programs.started(
            programs.guarded(full, LIMIT_S),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        ) as process:
            complaint = process.communicate()[1]
        return reported(console.read_text(errors="replace"), complaint)


def reported(console: str, complaint: str = "") -> int:
    """Return the free memory in KiB that a console reports: MemFree plus the pages on the per-CPU lists. Raises
    SetupError if it reports none.
    """
    mem_free = _MEM_FREE.search(console)
    if mem_free is None:
        last = "\n".join((console or complaint).splitlines()[-12:])
        raise SetupError(f"the kernel did not reach its first program; its last lines:\n{last}")
    listed = sum(int(match[1]) for match in _LISTED.finditer(console))
    return int(mem_free[1]) + PAGE_KIB * listed


def _source() -> Path:
    return appliance_data() / "probe/memory.c"


def _program(target: Architecture, folder: Path) -> bytes:
    made = folder / "init"
    run([f"{target.prefix}gcc", *FLAGS, "-o", made, _source()])
    run([f"{target.prefix}strip", made])
    return made.read_bytes()


def _archive(init: bytes) -> bytes:
    """Return an initramfs with this program, a console and a mount point for /proc."""
    nodes = (cpio.folder("/dev"), cpio.character_device("/dev/console", 5, 1), cpio.folder("/proc"))
    return cpio.archive([*nodes, cpio.program("/init", init)])
