# SPDX-License-Identifier: Apache-2.0
"""The exit status and the last lines of a completed run."""

from __future__ import annotations

import errno
import os
import re
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from flashbed import cli
from flashbed.commands import on_studies
from flashbed.execution import run as run_module
from flashbed.result.store import Different

FLASHBED = Path(sys.executable).with_name("flashbed")


def leave(monkeypatch: pytest.MonkeyPatch, **done: Any) -> int:
    """Return the exit status of `flashbed run` after a run with this outcome."""
    repetition = SimpleNamespace(key="ab" * 32)
    record = SimpleNamespace(repetition=repetition)
    came_to = SimpleNamespace(**{"records": [record], "failures": [], "measured_now": 1, "different": [], **done})
    monkeypatch.setattr(on_studies, "load", lambda *_: SimpleNamespace(tool="fio"))
    monkeypatch.setattr(on_studies, "report_folder", lambda *_: None)
    monkeypatch.setattr("flashbed.commands.reporting.check_folder", lambda *_: None)
    monkeypatch.setattr(on_studies, "_report", lambda *_: None)
    monkeypatch.setattr("flashbed.commands.reporting.warn", lambda _: None)
    monkeypatch.setattr(run_module, "run", lambda *_, **__: came_to)
    monkeypatch.setattr(sys, "argv", ["flashbed", "run", "quick"])
    with pytest.raises(SystemExit) as left:
        cli.main()
    return int(left.value.code or 0)


def test_two_results_of_one_repetition(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    assert leave(monkeypatch) == 0
    failed = [SimpleNamespace(repetition=SimpleNamespace(key="cd" * 32, cell=None), folder=Path("/no/such/folder"))]
    assert leave(monkeypatch, failures=failed) == 1
    capsys.readouterr()
    different = [Different("ab" * 32, Path("/results/cells/ab/abab"), Path("/results/different/abab.1"))]
    assert leave(monkeypatch, failures=failed, different=different) == 5
    stderr = capsys.readouterr().err
    assert "THE SAME REPETITION GAVE DIFFERENT RESULTS" in stderr
    assert "\n  /results/cells/ab/abab\n  /results/different/abab.1\n" in stderr


@pytest.mark.parametrize(
    ("words", "message", "of"),
    [
        ("run --nowhere-near", "No such option: --nowhere-near", " run"),
        ("run --whre a=b", "No such option: --whre", " run"),
        ("rnu", "No such command 'rnu'. Did you mean", ""),
        ("run", "Missing argument 'STUDY'.", " run"),
        ("run quick --jobs x", "Invalid value for '--jobs': ", " run"),
        ("pack --nowhere-near", "No such option: --nowhere-near", " pack"),
        ("image build --nowhere-near", "No such option: --nowhere-near", " image build"),
        ("image biuld", "No such command 'biuld'. Did you mean", " image"),
        ("image", "no command is named.", " image"),
        ("", "no command is named.", ""),
    ],
)
def test_what_no_command_has_is_told_in_whole_sentences(
    words: str, message: str, of: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["flashbed", *words.split()])
    with pytest.raises(SystemExit) as left:
        cli.main()
    stderr = capsys.readouterr().err
    assert left.value.code == 2
    assert stderr.startswith(f"flashbed: {message}")
    assert re.search(rf"[^.?][.?] See `flashbed{of} --help`\.\n$", stderr)


@pytest.mark.parametrize("words", ["image build --kernel 5.0", "image build --update --kernel 5.0"])
def test_a_kernel_that_there_is_not_is_told_before_debian_is_asked(
    words: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PATH", "")
    monkeypatch.setattr(sys, "argv", ["flashbed", *words.split()])
    with pytest.raises(SystemExit) as left:
        cli.main()
    assert left.value.code == 2
    message = 'must be such as "6.1", not "5.0"; there are: 6.1, 6.12, 6.1-nas, 6.1-debian'
    assert capsys.readouterr().err == f"flashbed: --kernel: {message}\n"


def test_what_the_host_refuses_is_no_traceback(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def refuse(*_: object) -> None:
        raise OSError(errno.EROFS, "Read-only file system", "/reports/quick")

    monkeypatch.setattr(on_studies, "load", refuse)
    monkeypatch.setattr(sys, "argv", ["flashbed", "run", "quick"])
    with pytest.raises(SystemExit) as left:
        cli.main()
    assert left.value.code == 4
    message = "flashbed: /reports/quick: Read-only file system; mend that, or use another folder\n"
    assert capsys.readouterr().err == message


def test_a_full_standard_error_takes_the_message_and_not_the_status(tmp_path: Path) -> None:
    with Path("/dev/full").open("w") as full:
        done = subprocess.run([FLASHBED, "report", "none-of-that-name"], stderr=full, cwd=tmp_path)
    assert done.returncode == 2


def test_a_width_of_nothing_is_no_width(tmp_path: Path) -> None:
    env = {**os.environ, "COLUMNS": "0", "FLASHBED_CACHE": str(tmp_path)}
    done = subprocess.run([FLASHBED, "list"], capture_output=True, text=True, env=env, check=True)
    assert "quick" in done.stdout
