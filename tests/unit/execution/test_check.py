# SPDX-License-Identifier: Apache-2.0
"""What the file system's checker says becomes part of a result; that it was killed does not."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from flashbed.common.errors import SetupError
from flashbed.execution.cell_medium import check
from flashbed.machine import checker


def cell(command: str) -> Any:
    """A cell with this checker, a line for the shell."""
    return SimpleNamespace(
        translation=SimpleNamespace(device=None),
        filesystem=SimpleNamespace(check_command=lambda data: ["sh", "-c", command, str(data)]),
    )


def test_what_it_says_is_told(tmp_path: Path) -> None:
    data = tmp_path / "data.img"
    assert check(cell("exit 0"), data) == ""
    assert check(cell('echo "$0: bad"; exit 4'), data) == "exit status 4: data.img: bad"
    assert check(cell("kill -SEGV $$"), data) == "exit status -11: "


@pytest.mark.parametrize("signal", ["KILL", "TERM", "HUP"])
def test_a_checker_that_was_killed_has_said_nothing(tmp_path: Path, signal: str) -> None:
    with pytest.raises(checker.Killed, match=r"killed \(signal \d+\) while sh .*: out of memory"):
        check(cell(f"kill -{signal} $$"), tmp_path / "data.img")


def test_a_checker_that_there_is_not(tmp_path: Path) -> None:
    none = cell("")
    none.filesystem.check_command = lambda data: ["fsck.nosuch", str(data)]
    with pytest.raises(SetupError, match=r"fsck\.nosuch is not installed"):
        check(none, tmp_path / "data.img")


def test_an_image_that_keeps_its_checker_going(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A guest writes its medium as it likes."""
    monkeypatch.setattr(checker, "LONGEST_S", 0.3)
    with pytest.raises(checker.NoVerdict, match=r"sh did not come to an end in 0 s of this host's time"):
        check(cell("sleep 60"), tmp_path / "data.img")


def test_an_image_that_makes_its_checker_say_gigabytes(tmp_path: Path) -> None:
    with pytest.raises(checker.NoVerdict, match=r"^sh .*1048576 bytes"):
        check(cell("cat /dev/zero"), tmp_path / "data.img")
