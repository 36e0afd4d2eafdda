# SPDX-License-Identifier: Apache-2.0
"""Programs of tests/emulator, alone on the emulated machine: without Linux, and of the lab only its emulator.

Tests and the benchmark share it. A program prints numbers; its time is the machine's.
"""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from flashbed.image import emulator
from flashbed.image.toolchain import CROSS_PREFIX
from tests.support.repository import REPOSITORY

SOURCES = REPOSITORY / "tests/emulator"

LOCKS = {"test-and-set": 0, "ticket": 1, "queue": 2, "queue of plain accesses": 3}
"""The kinds of lock in lock.c."""

EXCLUSIVE, LSE = "armv8-a", "armv8.1-a"
"""How atomic operations are compiled: loops of exclusive loads and stores, or one instruction each."""

OPTIONS: Sequence[str] = (
    "-O2",
    "-Wall",
    "-Wextra",
    "-Werror",
    "-ffreestanding",
    "-nostdlib",
    "-static",
    "-no-pie",
    "-fno-pic",
    "-fno-stack-protector",
    "-mgeneral-regs-only",
    "-mstrict-align",
    "-mno-outline-atomics",
    "-Wl,--build-id=none,--no-warn-rwx-segments",
)


@dataclass(frozen=True)
class Machine:
    """The CPUs, and the settings of the emulator's clock. `topology` is as in QEMU's -smp, with its leading comma."""

    cpus: int
    mips: int = 1000
    slice: int = 100
    line_same: int = 0
    line_other: int = 0
    topology: str = ""
    cpu: str = "max"

    @property
    def icount(self) -> str:
        lines = f",line_same={self.line_same},line_other={self.line_other}" if self.line_same else ""
        return f"mips={self.mips},slice={self.slice}{lines}"


@cache
def _folder() -> tempfile.TemporaryDirectory[str]:
    """Return a directory that is removed when the process ends."""
    return tempfile.TemporaryDirectory(prefix="bare-metal-")


@cache
def built(name: str, architecture: str = EXCLUSIVE) -> Path:
    """Return the program's ELF file."""
    place = Path(_folder().name) / f"{name}-{architecture}"
    sources = [SOURCES / "start.S", SOURCES / "bare.c", SOURCES / f"{name}.c"]
    script = SOURCES / "bare.ld"
    words: list[str | Path] = [
        f"{CROSS_PREFIX}gcc",
        *OPTIONS,
        f"-march={architecture}",
        "-T",
        script,
        *sources,
        "-o",
        place,
    ]
    subprocess.run(words, check=True)
    return place


def command(machine: Machine, program: Path, *numbers: int) -> list[str]:
    """Return the emulator's command for a program and the numbers on its command line."""
    return [
        str(emulator.program()),
        *("-machine", "virt,gic-version=3"),
        *("-cpu", f"{machine.cpu},cntfrq=1000000000"),
        *("-smp", f"{machine.cpus}{machine.topology}"),
        *("-m", "128"),
        *("-nodefaults", "-display", "none", "-serial", "none", "-monitor", "none"),
        *("-icount", machine.icount),
        *("-semihosting-config", "enable=on,target=native"),
        *("-kernel", str(program), "-append", " ".join(map(str, numbers))),
    ]


def run(machine: Machine, program: Path, *numbers: int, limit_s: float = 300) -> list[list[int]]:
    """Return the printed numbers, by line."""
    done = subprocess.run(
        command(machine, program, *numbers), check=True, capture_output=True, text=True, timeout=limit_s
    )
    return [[int(word) for word in line.split()] for line in (done.stdout + done.stderr).splitlines()]


def ns_per_turn(machine: Machine, lock: str, held: int, outside: int, ns: int, architecture: str = LSE) -> float:
    """Return the virtual ns from one CPU taking a lock to the next CPU taking it, over `ns` nanoseconds.

    `held` and `outside` are the instructions of a CPU while it holds the lock, and between two turns.
    """
    numbers = (LOCKS[lock], machine.cpus, held // 2, outside // 2, ns)
    lines = run(machine, built("lock", architecture), *numbers)
    return max(took for _, took in lines) / sum(turns for turns, _ in lines)
