# SPDX-License-Identifier: Apache-2.0
"""The shell completes commands, options and studies, as `flashbed --install-completion` sets it up."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAMS = Path(sys.executable).parent


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a home in which bash completion is installed. The command detects which shell called it."""
    folder = tmp_path_factory.mktemp("home")
    assert "bash completion installed" in in_bash(folder, "flashbed --install-completion; exit $?")
    return folder


def in_bash(home: Path, script: str) -> str:
    bash = shutil.which("bash")
    assert bash
    environment = {**os.environ, "HOME": str(home), "PATH": f"{PROGRAMS}:{os.environ['PATH']}"}
    return subprocess.run(
        [bash, "-c", script], env=environment, cwd=home, capture_output=True, text=True, check=True
    ).stdout


def completed(home: Path, *words: str) -> list[str]:
    """Return bash's completions of the last word. Each call starts a bash."""
    script = f"""
        source ~/.bashrc
        COMP_WORDS=({" ".join(f"'{word}'" for word in words)}) COMP_CWORD={len(words) - 1}
        function=$(complete -p flashbed | sed 's/.*-F \\([^ ]*\\).*/\\1/')
        $function flashbed
        printf '%s\\n' "${{COMPREPLY[@]}}"
    """
    return in_bash(home, script).split()


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        (("flashbed", "ru"), ["run"]),
        (("flashbed", "image", "l"), ["lock"]),
        (("flashbed", "run", "kim"), ["kim2007", "kim2007-processes"]),
        (("flashbed", "run", "min"), ["mine.toml"]),
        (("flashbed", "run", "quick", "--work"), ["--workers"]),
        (("flashbed", "nothing-like-it"), []),
    ],
)
def test_bash_completes(home: Path, words: tuple[str, ...], offered: list[str]) -> None:
    (home / "mine.toml").touch()
    assert completed(home, *words) == offered
