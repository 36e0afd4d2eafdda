# SPDX-License-Identifier: Apache-2.0
"""Which lines a program had acknowledged when."""

from __future__ import annotations

import pytest

from flashbed.guest_output.power_cuts import Acknowledged, acknowledged, until
from flashbed.guest_output.system_calls import CALL_NOTES, Number
from tests.support.made_up_calls import MadeUpCalls

PATH, NAME = "/out/told", "told"


class Program:
    """A measurement's process with the file open as 3, and another as 4."""

    def __init__(self) -> None:
        self.guest = MadeUpCalls()
        self.task = self.guest.measure()
        self.guest.open(self.task, PATH, 3)
        self.guest.open(self.task, "/mnt/other", 4)

    def write(self, data: bytes, descriptor: int = 3) -> int:
        """Return when the write returned."""
        self.guest.write(self.task, descriptor, data, took_ns=100)
        return self.guest.now_ns

    def lines(self, content: bytes = b"") -> list[Acknowledged]:
        self.guest.sync(self.task)
        return list(acknowledged({CALL_NOTES: self.guest.data(), NAME: content}, NAME))


def test_a_line_counts_from_the_return_of_the_write_that_ended_it() -> None:
    program = Program()
    program.write(b"row ")
    program.write(b"not told\n", descriptor=4)
    first = program.write(b"1\nrow 2")
    second = program.write(b"\n")
    program.write(b"row 3, never ended")
    lines = program.lines()
    assert lines == [Acknowledged(first, b"row 1"), Acknowledged(second, b"row 2")]
    assert until(lines, first - 1) == []
    assert until(lines, first) == lines[:1]


def test_the_data_of_a_long_write_are_in_the_file() -> None:
    program = Program()
    text = b"".join(b"row %d\n" % number for number in range(100))
    program.write(b"row -\n")
    program.guest.call(program.task, Number.WRITE, 3, 0, len(text), result=len(text))
    lines = program.lines(b"row -\n" + text)
    assert [line.line for line in lines] == [b"row -", *(b"row %d" % number for number in range(100))]
    assert len({line.at_ns for line in lines[1:]}) == 1


def test_a_write_that_neither_notes_nor_file_have_is_refused() -> None:
    program = Program()
    program.guest.call(program.task, Number.WRITE, 3, 0, 500, result=500)
    with pytest.raises(ValueError, match="500 bytes were written at once"):
        program.lines(b"short\n")


def test_a_write_that_failed_acknowledges_nothing() -> None:
    program = Program()
    program.guest.call(program.task, Number.WRITE, 3, 0, 4, result=-28, text=b"row\n")
    assert program.lines() == []
