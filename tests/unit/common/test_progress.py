# SPDX-License-Identifier: Apache-2.0
"""Progress: lines in a file, and one display on a terminal for any number of stages."""

from __future__ import annotations

import errno
import io
import re
import sys

import pytest

from flashbed.common import progress


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_lines_where_there_is_no_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    output = io.StringIO()
    monkeypatch.setattr(sys, "stderr", output)
    with progress.stage("Building", total=2) as stage:
        stage.advance()
        stage.note("a warning")
        stage.advance()
    assert output.getvalue() == "Building ...\na warning\nBuilding: 2/2, about 0 s left\n"


def test_two_stages_at_once_share_the_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setenv("TERM", "xterm")
    with progress.stage("Kernel", total=2) as outer:
        with progress.stage("Emulator", total=1) as inner:
            inner.advance()
        outer.advance()
        outer.note("a warning")
    output = terminal.getvalue()
    last = output.rpartition("Kernel")[2]
    assert re.search(r"1/2, 0:00:0\d elapsed, (about 0:00:0\d|time) left", last)
    assert "Emulator" in last
    assert "a warning" in output
    with progress.stage("Later", total=1):
        pass
    assert "Kernel" not in terminal.getvalue()[len(output) :]


def test_where_the_end_is_not_known_only_what_has_elapsed_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setenv("TERM", "xterm")
    with progress.stage("Building") as stage:
        stage.note("begun")
    with progress.stage("Linking") as stage:
        stage.advance(3)
    output = terminal.getvalue()
    assert re.search(r"Building.* 0:00:0\d elapsed", output)
    assert re.search(r"Linking.* 3 steps, 0:00:0\d elapsed", output)
    assert "left" not in output
    assert "?" not in output.replace("\x1b[?25", "")


def test_work_goes_on_where_its_lines_find_no_room(monkeypatch: pytest.MonkeyPatch) -> None:
    class Full(io.StringIO):
        def flush(self) -> None:
            raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(sys, "stderr", Full())
    with progress.stage("Building", total=1) as stage:
        stage.advance()
