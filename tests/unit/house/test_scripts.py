# SPDX-License-Identifier: Apache-2.0
"""The commands beside the lab describe themselves on request, and start nothing for an unknown argument."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.repository import REPOSITORY

FOLDERS = ("bench", "pages", "faults")
SCRIPTS = sorted(
    str(path.relative_to(REPOSITORY))
    for folder in FOLDERS
    for path in (REPOSITORY / folder).glob("*.py")
    if '__name__ == "__main__"' in path.read_text()
)


def call(script: str, *words: str, cache: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", script.removesuffix(".py").replace("/", "."), *words]
    environment = {"PATH": "/usr/bin:/bin", "FLASHBED_CACHE": str(cache)}
    return subprocess.run(command, capture_output=True, text=True, env=environment, cwd=REPOSITORY, timeout=60)


def test_there_are_scripts() -> None:
    pages = {
        f"pages/{name}.py"
        for name in (
            *("accuracy", "columns_table", "kernel_size", "papers"),
            *("planted_bugs", "reliability", "result_tables", "yaffs2"),
        )
    }
    bench = {
        f"bench/{name}.py" for name in ("cell_price", "first_answer", "kernel_objects", "several_cpus", "study_cost")
    }
    assert set(SCRIPTS) == {"faults/campaign.py", *bench, *pages}


@pytest.mark.parametrize("script", SCRIPTS)
def test_it_tells_how_it_is_called(script: str, tmp_path: Path) -> None:
    """accuracy.py began to build for any argument."""
    done = call(script, "--help", cache=tmp_path / "cache")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith(f"usage: {Path(script).name}")
    assert not (tmp_path / "cache").exists()


@pytest.mark.parametrize("script", SCRIPTS)
@pytest.mark.parametrize("words", [("--chekc",), ("-x",), ("no-such-study", "a-word-too-many")])
def test_a_word_that_it_does_not_know_is_refused(script: str, words: tuple[str, ...], tmp_path: Path) -> None:
    done = call(script, *words, cache=tmp_path / "cache")
    assert done.returncode == 2
    assert "unrecognized arguments" in done.stderr
    assert not (tmp_path / "cache").exists()
