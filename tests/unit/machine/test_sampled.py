# SPDX-License-Identifier: Apache-2.0
"""Addresses of the emulator's samples become functions of the kernel."""

from __future__ import annotations

from pathlib import Path

import pytest

from flashbed.guest_output.assessment import Status
from flashbed.machine import outcomes, qemu
from flashbed.machine.outcomes import Outcome

MAP = "ffffffc008000000 T _text\nffffffc008428000 T queued_spin_lock_slowpath\nffffffc008428400 T other\n"
SAID = "qemu-system-aarch64: CPU 3 {} for 3000 ms, at 0x{}\n"


@pytest.mark.parametrize("how", ["takes no interrupts", "lets no other task run"])
@pytest.mark.parametrize(
    ("address", "where"),
    [
        ("ffffffc008428350", "in queued_spin_lock_slowpath"),
        ("ffffffc000435004", "at 0xffffffc000435004"),
        ("00000000004000a0", "in [user]"),
    ],
)
def test_a_hang_is_told_with_the_kernels_function(how: str, address: str, where: str, tmp_path: Path) -> None:
    """A module lies below the kernel, and System.map does not have its functions."""
    symbols = tmp_path / "System.map"
    symbols.write_text(MAP)
    outcome = qemu._outcome(None, b"[    1.0] fine\r\n", SAID.format(how, address))
    assert f"for 3000 ms, at 0x{address}" in outcome.reason
    expected = f"the guest hung: one of its CPUs went round without an end (CPU 3 {how} for 3000 ms, {where})"
    assert outcomes.with_functions(outcome, symbols).reason == expected
    assert outcomes.with_functions(outcome, None).reason == outcome.reason


def test_an_address_in_the_message_of_a_tool_stays(tmp_path: Path) -> None:
    """Only the address of a CPU that hung is one of the kernel's code."""
    symbols = tmp_path / "System.map"
    symbols.write_text(MAP)
    outcome = Outcome(Status.FAILED, "step format: exit status 1: bad block at 0xffffffc008428350")
    assert outcomes.with_functions(outcome, symbols) == outcome
