# SPDX-License-Identifier: Apache-2.0
"""A board's CPUs in the words of QEMU's command line, and which CPUs that takes. Must not know what a CPU
executes, nor how fast.

A board with one CPU has no argument for it, and the interrupt controller of before.
"""

from __future__ import annotations

import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

MOST_OF_GIC_2 = 8
"""CPUs that Arm's Generic Interrupt Controller version 2 serves (its architecture specification, IHI 0048)."""

_OF_64_BITS = re.compile(r"a64fx|cortex-a(35|5[0-9]|7[0-9]|[0-9]{3})|neoverse-\w+|max")
"""Arm's names of its application cores with AArch64; Cortex-A5 to A17 have 32 bits."""


@dataclass(frozen=True)
class Cpus:
    """How many there are, and how they are packed: so many sockets with as many in each, so many threads a core. What
    it costs to hand a cache line from core to core, ns: within a socket, and between two; None: nothing, and as within.
    """

    number: int = 1
    sockets: int = 1
    threads_per_core: int = 1
    line_transfer_ns: int | None = None
    line_transfer_other_ns: int | None = None

    @property
    def interrupt_controller(self) -> int:
        """The version of the GIC that serves them."""
        return 2 if self.number <= MOST_OF_GIC_2 else 3

    def arguments(self) -> list[str]:
        """For QEMU; none for one CPU."""
        if self.number == 1:
            return []
        cores = self.number // self.sockets // self.threads_per_core
        packed = f"sockets={self.sockets},cores={cores},threads={self.threads_per_core}"
        return ["-smp", f"cpus={self.number},{packed}"]

    def prices(self) -> str:
        """What joins `-icount mips=N`; nothing where lines cost nothing."""
        named = {"line_same": self.line_transfer_ns, "line_other": self.line_transfer_other_ns}
        return "".join(f",{name}={ns}" for name, ns in named.items() if ns is not None)


ONE_CPU = Cpus()


def offered(emulator: Path) -> list[str]:
    """Return the names of the emulator's CPUs that have 64 bits."""
    help_ = [str(emulator), "-machine", "virt", "-cpu", "help"]
    named = subprocess.run(help_, capture_output=True, text=True, stdin=subprocess.DEVNULL).stdout.split()
    return [name for name in named if _OF_64_BITS.fullmatch(name)]
