# SPDX-License-Identifier: Apache-2.0
"""The checker's output becomes part of a result. If the checker is killed, there is no verdict."""

from __future__ import annotations

import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from flashbed.execution import cell_medium
from flashbed.guest_output.assessment import Status
from flashbed.machine import checker
from flashbed.machine.outcomes import Outcome


def cell(command: str) -> Any:
    """Return a cell whose checker is this shell command."""
    return SimpleNamespace(
        translation=SimpleNamespace(device=None),
        filesystem=SimpleNamespace(check_command=lambda data: ["sh", "-c", command, str(data)]),
    )


def checked(command: str, data: Path) -> Outcome:
    """Return the outcome of a guest that measured, after this checker ran."""
    return cell_medium.checked(cell(command), Outcome(Status.MEASURED), data)


def test_the_output_of_a_checker_is_the_verdict(tmp_path: Path) -> None:
    data = tmp_path / "data.img"
    assert checked("exit 0", data) == Outcome(Status.MEASURED, medium_check="")
    assert checked('echo "$0: bad"; exit 4', data).medium_check == "exit status 4: data.img: bad"
    assert checked("kill -SEGV $$", data).medium_check == "exit status -11: "


def test_a_file_system_without_a_checker_is_not_checked(tmp_path: Path) -> None:
    unchecked = cell("")
    unchecked.filesystem.check_command = lambda _: None
    assert cell_medium.checked(unchecked, Outcome(Status.MEASURED), tmp_path / "data.img") == Outcome(Status.MEASURED)


@pytest.mark.parametrize("signal", ["KILL", "TERM", "HUP"])
def test_a_killed_checker_gives_no_verdict(tmp_path: Path, signal: str) -> None:
    outcome = checked(f"kill -{signal} $$", tmp_path / "data.img")
    assert (outcome.status, outcome.medium_check) == ("killed", None)
    assert re.fullmatch(r"killed \(signal \d+\) while sh .*: out of memory\?", outcome.reason)


def test_a_missing_checker_fails_the_cell(tmp_path: Path) -> None:
    with_missing_checker = cell("")
    with_missing_checker.filesystem.check_command = lambda data: ["fsck.nosuch", str(data)]
    outcome = cell_medium.checked(with_missing_checker, Outcome(Status.MEASURED), tmp_path / "data.img")
    assert outcome.status == "failed"
    assert outcome.reason.startswith("measured, and not checked: fsck.nosuch is not installed")


def test_a_checker_that_does_not_end_fails_the_cell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A guest can write an image that makes its checker loop."""
    monkeypatch.setattr(checker, "CHECKER_LIMIT_S", 0.3)
    outcome = checked("sleep 60", tmp_path / "data.img")
    reason = "measured, and not checked: sh did not come to an end in 0 s of this host's time"
    assert (outcome.status, outcome.reason) == ("failed", reason)


def test_a_checker_that_prints_gigabytes_fails_the_cell(tmp_path: Path) -> None:
    outcome = checked("cat /dev/zero", tmp_path / "data.img")
    assert outcome.status == "failed"
    assert re.match(r"measured, and not checked: sh .*1048576 bytes", outcome.reason)
