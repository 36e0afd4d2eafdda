# SPDX-License-Identifier: Apache-2.0
"""The reason of a failed guest is its tool's message, or the name of the lab's limit."""

from __future__ import annotations

import errno

import pytest

from flashbed.machine import qemu
from flashbed.workload.base import WorkloadOutputError
from flashbed.workload.fio.output import metrics_of
from tests.support.facts import Facts


@pytest.mark.parametrize(
    ("output", "expected"),
    [
        (b"Bad option <rwx=write>\nDid you mean rw?\nfio: job a dropped\n", ": Bad option <rwx=write>"),
        (
            b"starting\nfio: io_u error on file a.0.0: No space left on device\n\n",
            ": fio: io_u error on file a.0.0: No ",
        ),
        (b"mke2fs 1.47\nsome word\n", ": some word"),
        (b"", ""),
        (b"\xff\n", ": \N{REPLACEMENT CHARACTER}"),
    ],
)
def test_a_step_that_failed(output: bytes, expected: str) -> None:
    reason = qemu.failed_step({"failed": b"measure: exit status 1\n", "measure.txt": output}).reason
    assert reason.startswith(f"step measure: exit status 1{expected}")
    assert expected or reason == "step measure: exit status 1"


def test_what_a_tool_said_at_length_is_cut() -> None:
    reason = qemu.failed_step({"failed": b"format: exit status 1\n", "format.txt": b"error " + b"x" * 5000}).reason
    assert len(reason) < 300


def test_more_results_than_the_guest_can_hand_out() -> None:
    console = b"flashbed: finish\noutbox: results larger than the outbox: No space left on device\n"
    reason = qemu._outcome(None, console, "").reason
    assert Facts("more than 16M", "its outbox").within(reason)


def test_an_error_number_of_fio_is_told_in_words() -> None:
    with pytest.raises(WorkloadOutputError, match="fio reported error 28 in job a: No space left on device"):
        metrics_of({"fio.json": b'{"jobs": [{"jobname": "a", "error": 28}]}'}, "fio.json")


def test_a_command_of_several_lines_comes_before_its_reason() -> None:
    """The reason was lost: the first line of the complaint is a part of the command."""
    output = b"error: echo begin\nhead -c 300M /dev/zero >/mnt/full\n: head: No space left on device\n"
    step = qemu.failed_step({"failed": b"measure: exit status 1\n", "measure.txt": output})
    assert step.complaint == Facts("error: echo begin", "head -c 300M", "No space left on device")
    assert step.has(errno.ENOSPC)
