# SPDX-License-Identifier: Apache-2.0
"""What the file system's checker says becomes part of a result; that it was killed does not."""

from __future__ import annotations

import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from flashbed.execution import cell_medium
from flashbed.machine import checker
from flashbed.machine.base import Outcome


def cell(command: str) -> Any:
    """A cell with this checker, a line for the shell."""
    return SimpleNamespace(
        translation=SimpleNamespace(device=None),
        filesystem=SimpleNamespace(check_command=lambda data: ["sh", "-c", command, str(data)]),
    )


def checked(command: str, data: Path) -> Outcome:
    """The outcome of a guest that measured, with this checker."""
    return cell_medium.checked(cell(command), Outcome("measured"), data)


def test_what_it_says_is_told(tmp_path: Path) -> None:
    data = tmp_path / "data.img"
    assert checked("exit 0", data) == Outcome("measured", medium_check="")
    assert checked('echo "$0: bad"; exit 4', data).medium_check == "exit status 4: data.img: bad"
    assert checked("kill -SEGV $$", data).medium_check == "exit status -11: "


def test_a_file_system_without_a_checker_is_not_checked(tmp_path: Path) -> None:
    none = cell("")
    none.filesystem.check_command = lambda _: None
    assert cell_medium.checked(none, Outcome("measured"), tmp_path / "data.img") == Outcome("measured")


@pytest.mark.parametrize("signal", ["KILL", "TERM", "HUP"])
def test_a_checker_that_was_killed_has_said_nothing(tmp_path: Path, signal: str) -> None:
    outcome = checked(f"kill -{signal} $$", tmp_path / "data.img")
    assert (outcome.status, outcome.medium_check) == ("killed", None)
    assert re.fullmatch(r"killed \(signal \d+\) while sh .*: out of memory\?", outcome.reason)


def test_a_checker_that_there_is_not(tmp_path: Path) -> None:
    none = cell("")
    none.filesystem.check_command = lambda data: ["fsck.nosuch", str(data)]
    outcome = cell_medium.checked(none, Outcome("measured"), tmp_path / "data.img")
    assert outcome.status == "failed"
    assert outcome.reason.startswith("measured, and not checked: fsck.nosuch is not installed")


def test_an_image_that_keeps_its_checker_going(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A guest writes its medium as it likes."""
    monkeypatch.setattr(checker, "LONGEST_S", 0.3)
    outcome = checked("sleep 60", tmp_path / "data.img")
    said = "measured, and not checked: sh did not come to an end in 0 s of this host's time"
    assert (outcome.status, outcome.reason) == ("failed", said)


def test_an_image_that_makes_its_checker_say_gigabytes(tmp_path: Path) -> None:
    outcome = checked("cat /dev/zero", tmp_path / "data.img")
    assert outcome.status == "failed"
    assert re.match(r"measured, and not checked: sh .*1048576 bytes", outcome.reason)
