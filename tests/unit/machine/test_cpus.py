# SPDX-License-Identifier: Apache-2.0
"""A board's CPUs on QEMU's command line, and the causes of a guest's death with several CPUs."""

from __future__ import annotations

import pytest

from flashbed.machine import deaths, qemu
from flashbed.machine.qemu import Cpus


def command(cpus: Cpus) -> str:
    return " ".join(qemu.fixed_arguments(qemu.Setup(1000, 64 << 20, "cortex-a53", 1, cpus)))


def test_one_cpu_is_no_argument() -> None:
    assert "-smp" not in command(Cpus())
    assert "gic-version=2 " in command(Cpus())
    assert command(Cpus()) == " ".join(qemu.fixed_arguments(qemu.Setup(1000, 64 << 20, "cortex-a53", 1)))


@pytest.mark.parametrize(
    ("cpus", "packed", "gic"),
    [
        (Cpus(2), "cpus=2,sockets=1,cores=2,threads=1", 2),
        (Cpus(8), "cpus=8,sockets=1,cores=8,threads=1", 2),
        (Cpus(9), "cpus=9,sockets=1,cores=9,threads=1", 3),
        (Cpus(120, 4, 2), "cpus=120,sockets=4,cores=15,threads=2", 3),
    ],
)
def test_more_cpus_are_packed_as_the_board_says(cpus: Cpus, packed: str, gic: int) -> None:
    """Arm's GICv2 serves at most eight CPUs."""
    assert f"-smp {packed} " in command(cpus)
    assert f"gic-version={gic} " in command(cpus)


@pytest.mark.parametrize(
    ("cpus", "priced"),
    [
        (Cpus(4, 2), "mips=1000"),
        (Cpus(4, 2, 1, 40), "mips=1000,line_same=40"),
        (Cpus(4, 2, 1, 40, 120), "mips=1000,line_same=40,line_other=120"),
    ],
)
def test_a_shared_line_has_the_boards_price(cpus: Cpus, priced: str) -> None:
    arguments = command(cpus).split()
    assert arguments[arguments.index("-icount") + 1] == priced


@pytest.mark.parametrize(
    ("console", "cause"),
    [
        (b"Kernel panic - not syncing: RCU Stall\r\n", "kept the CPU for 10 s of its time (RCU Stall)"),
        (b"Kernel panic - not syncing: hung_task: blocked tasks\r\n", "a task was blocked for 600 s"),
        (b"Kernel panic - not syncing: sysrq triggered crash\r\n", "panicked (sysrq triggered crash)"),
    ],
)
def test_what_a_guest_died_of(console: bytes, cause: str) -> None:
    death = deaths.death(b"[    1.0] fine\r\n" + console, "")
    assert death is not None
    assert cause in death.reason()
