# SPDX-License-Identifier: Apache-2.0
"""What is shown of what is under way: lines in a file, on a terminal one picture however many stages there are."""

from __future__ import annotations

import io
import sys

import pytest

from flashbed.common import progress


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_lines_where_there_is_no_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    with progress.stage("Building", total=2) as stage:
        stage.advance()
        stage.note("a warning")
        stage.advance()
    assert sys.stderr.getvalue() == "Building ...\na warning\nBuilding: 2/2, about 0 s left\n"


def test_two_stages_at_once_share_the_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setenv("TERM", "xterm")
    with progress.stage("Kernel", total=2) as outer:
        with progress.stage("Emulator", total=1) as inner:
            inner.advance()
        outer.advance()
        outer.note("a warning")
    said = terminal.getvalue()
    last = said.rpartition("Kernel")[2]
    assert "1/2" in last
    assert "Emulator" in last
    assert "a warning" in said
    with progress.stage("Later", total=1):
        pass
    assert "Kernel" not in terminal.getvalue()[len(said) :]
