# SPDX-License-Identifier: Apache-2.0
"""Describe a board's CPUs on QEMU's command line, and list the CPU models that QEMU accepts. Must not know what a CPU
executes, nor how fast.

A board with one CPU has no -smp argument, and GIC version 2.
"""

from __future__ import annotations

import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

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


def offered(emulator: Path) -> list[str]:
    """Return the names of the emulator's CPUs that have 64 bits."""
    help_ = [str(emulator), "-machine", "virt", "-cpu", "help"]
    named = subprocess.run(help_, capture_output=True, text=True, stdin=subprocess.DEVNULL).stdout.split()
    return [name for name in named if _OF_64_BITS.fullmatch(name)]
