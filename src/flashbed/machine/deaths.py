# SPDX-License-Identifier: Apache-2.0
"""Recognise from a guest's console why it died.

guest/init decides what panics; the emulator ends a guest whose CPU hangs (emulator/lab-watch.h). Must not know how a
guest is run.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from flashbed.common import foreign
from flashbed.common.units import describe_size
from flashbed.machine import outbox

STALL_S = 10
"""Seconds of the guest's time for which a kernel may run nothing else; then it counts as stalled.

A host that executes 570 million instructions a second of a loop needs 49 s for them on the fastest shipped board of one
CPU, 2830 MIPS. Linux's default of 21 s would take twice that. If another task waits for the CPU, the emulator's limit
is shorter.
"""

PANIC = rb"Kernel panic - not syncing: "

OUT_OF_MEMORY = "the guest ran out of memory"

HUNG = "the guest hung: one of its CPUs went round without an end"

DEATHS = (
    (
        re.compile(PANIC + rb"(Out of memory.*|System is deadlocked on memory.*)"),
        OUT_OF_MEMORY,
    ),
    (
        re.compile(PANIC + rb"(hung_task.*)"),
        "the guest hung: a task was blocked for 600 s of its time",
    ),
    (
        re.compile(PANIC + rb"(RCU Stall.*)"),
        f"the guest stalled: its kernel kept the CPU for {STALL_S} s of its time",
    ),
    (re.compile(PANIC + rb"(.*)"), "the guest's kernel panicked"),
    (
        re.compile(rb"outbox: (results larger than the outbox).*"),
        f"what the guest has to hand out is more than {describe_size(outbox.BYTES)}, the size of its outbox: "
        "let the job log less, or the programs print less",
    ),
)

_HANGS = re.compile(r"(CPU \d+ (?:takes no interrupts|lets no other task run) for \d+ ms), at 0x([0-9a-f]{16})")
"""The emulator's message about a hung CPU, and the address at which the CPU was (emulator/lab-watch.c)."""


@dataclass(frozen=True)
class Death:
    """Why a guest ended without results. `message` is that of the kernel or the emulator."""

    meaning: str
    message: str
    hung_at: int | None = None
    """The address at which a CPU hung; None if no CPU did."""

    def reason(self, function: str = "") -> str:
        """Return the reason of the outcome. `function` is the name of the function at `hung_at`, if it is known."""
        if self.hung_at is None:
            return f"{self.meaning} ({self.message})"
        where = f"in {function}" if function else f"at {self.hung_at:#018x}"
        return f"{self.meaning} ({self.message}, {where})"


def death(console: bytes, complaint: str) -> Death | None:
    """Return why the guest ended without results, from its console or from QEMU's complaint; None if neither says."""
    for pattern, meaning in DEATHS:
        if match := pattern.search(console):
            return Death(meaning, foreign.line(match[1].decode(errors="replace")))
    if hung := _HANGS.search(complaint):
        return Death(HUNG, hung[1], int(hung[2], 16))
    return None
