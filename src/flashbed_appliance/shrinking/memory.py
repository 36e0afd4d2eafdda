# SPDX-License-Identifier: Apache-2.0
"""How much memory a kernel leaves: it is booted in QEMU with one small program, which prints /proc/meminfo and
/proc/zoneinfo. Linux's MemFree leaves out the free pages that lie on the lists of each CPU; they come and go by 31
at a time, and count here.

arm64 runs in the lab's emulator. x86_64 needs Debian's qemu-system-x86, which is no part of the lab: without it there
are no figures of memory. Time passes by instructions, so that a kernel tells the same each time.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

from flashbed.common import children, paths
from flashbed.common.digest import digest_file
from flashbed.common.errors import SetupError
from flashbed.image import emulator
from flashbed.image.command import run
from flashbed_appliance.shrinking.architecture import Architecture

RAM_MIB = 24
SHIFT = 3
"""An instruction takes 2^3 ns. A kernel that waits for its clocks to be measured takes a fifth of the instructions that
it takes at 1 ns.
"""

LIMIT_S = 240
"""Of the host's time: a kernel that says nothing for so long does not boot."""

_FIELD = re.compile(r"^(MemTotal|MemFree):\s+(\d+) kB", re.MULTILINE)

_LISTED = re.compile(r"^ +count: +(\d+)", re.MULTILINE)
"""Pages on a list of a CPU."""
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


@dataclass(frozen=True)
class BootMemory:
    """KiB of a machine of RAM_MIB: what the kernel gives to all (MemTotal), and what is free when programs start
    (MemFree, and the pages on the lists of CPUs).
    """

    total_kib: int
    free_kib: int


def machine(target: Architecture) -> list[str] | None:
    """The start of the command that boots a kernel of that architecture; None if nothing here can."""
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
        # A triple fault is what makes this machine's QEMU end
        words = ["console=ttyS0 panic=-1 reboot=t no_timer_check"]
        return [_DEBIANS, "-machine", machine_words, "-cpu", "qemu64", *common, "-append", *words]
    return None


def identity(target: Architecture) -> str:
    """What figures of memory depend on besides the kernel."""
    command = machine(target)
    if command is None:
        return "none"
    program = emulator.digest() if target.name == "arm64" else run([_DEBIANS, "--version"]).splitlines()[0]
    return " ".join([program, *command[1:], digest_file(_source())])


def left(target: Architecture, image: Path) -> BootMemory | None:
    """What a kernel leaves, of `image` as QEMU loads it (bzImage, Image). None where nothing here can boot it.

    Raises SetupError with the last lines of its console if it does not come so far.
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
        with children.started(
            children.guarded(full, LIMIT_S),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        ) as process:
            said = process.communicate()[1]
        return told(console.read_text(errors="replace"), said)


def told(console: str, complaint: str = "") -> BootMemory:
    """What a console says of memory. Raises SetupError if it does not."""
    found = {match[1]: int(match[2]) for match in _FIELD.finditer(console)}
    if len(found) != 2:
        last = "\n".join((console or complaint).splitlines()[-12:])
        raise SetupError(f"the kernel did not come to its first program; the last that it said:\n{last}")
    listed = sum(int(match[1]) for match in _LISTED.finditer(console))
    return BootMemory(found["MemTotal"], found["MemFree"] + PAGE_KIB * listed)


def _source() -> Path:
    return paths.appliance() / "probe/memory.c"


def _program(target: Architecture, folder: Path) -> bytes:
    made = folder / "init"
    run([f"{target.prefix}gcc", *FLAGS, "-o", made, _source()])
    run([f"{target.prefix}strip", made])
    return made.read_bytes()


def _archive(init: bytes) -> bytes:
    """An initramfs with this program, a console and the folder that /proc is mounted on: cpio's "newc" format."""
    entries = (
        ("dev", 0o040755, (0, 0), b""),
        ("dev/console", 0o020600, (5, 1), b""),
        ("proc", 0o040755, (0, 0), b""),
        ("init", 0o100755, (0, 0), init),
        ("TRAILER!!!", 0, (0, 0), b""),
    )
    made = b""
    for number, (name, mode, device, content) in enumerate(entries, start=1):
        fields = (number, mode, 0, 0, 1, 0, len(content), 0, 0, *device, len(name) + 1, 0)
        made += b"070701" + b"".join(b"%08x" % field for field in fields)
        made = _padded(made + name.encode() + b"\0")
        made = _padded(made + content)
    return made


def _padded(text: bytes) -> bytes:
    return text + b"\0" * (-len(text) % 4)
