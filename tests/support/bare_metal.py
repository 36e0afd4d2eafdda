# SPDX-License-Identifier: Apache-2.0
"""Programs of tests/emulator, alone on the emulated machine: nothing of Linux, nothing of the lab but its emulator.

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
from flashbed.image.toolchain import PREFIX
from tests.support.repository import REPOSITORY

SOURCES = REPOSITORY / "tests/emulator"

LOCKS = {"test-and-set": 0, "ticket": 1, "queue": 2, "queue of plain accesses": 3}
"""The kinds that lock.c knows."""

EXCLUSIVE, LSE = "armv8-a", "armv8.1-a"
"""What atomic operations are compiled to: loops of exclusive loads and stores, or one instruction each."""

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
    """Its CPUs and what the emulator's clock is told. `topology` as in QEMU's -smp, with its leading comma."""

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
    """Goes when the process ends."""
    return tempfile.TemporaryDirectory(prefix="bare-metal-")


@cache
def built(name: str, architecture: str = EXCLUSIVE) -> Path:
    """The program's ELF file."""
    place = Path(_folder().name) / f"{name}-{architecture}"
    sources = [SOURCES / "start.S", SOURCES / "bare.c", SOURCES / f"{name}.c"]
    script = SOURCES / "bare.ld"
    words: list[str | Path] = [f"{PREFIX}gcc", *OPTIONS, f"-march={architecture}", "-T", script, *sources, "-o", place]
    subprocess.run(words, check=True)
    return place


def command(machine: Machine, program: Path, *numbers: int) -> list[str]:
    """Of the emulator, for a program and the numbers on its command line."""
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
    """The numbers that it prints, by line."""
    done = subprocess.run(
        command(machine, program, *numbers), check=True, capture_output=True, text=True, timeout=limit_s
    )
    return [[int(word) for word in line.split()] for line in (done.stdout + done.stderr).splitlines()]


def ns_per_turn(machine: Machine, lock: str, held: int, outside: int, ns: int, architecture: str = LSE) -> float:
    """Virtual nanoseconds from one CPU's taking a lock to the next one's, over `ns` nanoseconds.

    `held`, `outside`: instructions while a CPU holds the lock, and between two turns of it.
    """
    numbers = (LOCKS[lock], machine.cpus, held // 2, outside // 2, ns)
    lines = run(machine, built("lock", architecture), *numbers)
    return max(took for _, took in lines) / sum(turns for turns, _ in lines)
