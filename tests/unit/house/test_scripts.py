# SPDX-License-Identifier: Apache-2.0
"""The commands beside the lab describe themselves on request, and start nothing for an unknown argument."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

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
        f"bench/{name}.py"
        for name in ("cell_price", "first_answer", "kernel_objects", "large_study", "several_cpus", "study_cost")
    }
    assert set(SCRIPTS) == {"faults/campaign.py", *bench, *pages}


@pytest.mark.parametrize("script", SCRIPTS)
def test_it_tells_how_it_is_called(script: str, tmp_path: Path) -> None:
    """accuracy.py began to build for any argument."""
    done = call(script, "--help", cache=tmp_path / "cache")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith(f"usage: {Path(script).name}")
    assert not (tmp_path / "cache").exists()


REFUSED = [
    (script, words) for script in SCRIPTS for words in (("--chekc",), ("-x",), ("no-such-study", "a-word-too-many"))
]

CALLS = """
import contextlib, io, json, os, runpy, sys
for script, words in json.load(sys.stdin):
    sys.argv = [script, *words]
    status, said = 0, io.StringIO()
    with contextlib.redirect_stderr(said):
        try:
            runpy.run_module(script.removesuffix(".py").replace("/", "."), run_name="__main__", alter_sys=True)
        except SystemExit as left:
            status = left.code
    print(json.dumps([status, said.getvalue(), os.path.exists(os.environ["FLASHBED_CACHE"])]))
"""


@pytest.fixture(scope="module")
def refusals(tmp_path_factory: pytest.TempPathFactory) -> dict[tuple[str, tuple[str, ...]], list[Any]]:
    """Return the exit status, the error and whether the cache exists after each call. One process makes all calls,
    because the imports of a script take half a second.
    """
    environment = {"PATH": "/usr/bin:/bin", "FLASHBED_CACHE": str(tmp_path_factory.mktemp("scripts") / "cache")}
    done = subprocess.run(
        [sys.executable, "-c", CALLS],
        input=json.dumps(REFUSED),
        capture_output=True,
        text=True,
        env=environment,
        cwd=REPOSITORY,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    return dict(zip(REFUSED, map(json.loads, done.stdout.splitlines()), strict=True))


@pytest.mark.parametrize(("script", "words"), REFUSED)
def test_a_word_that_it_does_not_know_is_refused(
    script: str, words: tuple[str, ...], refusals: dict[tuple[str, tuple[str, ...]], list[Any]]
) -> None:
    status, said, makes_cache = refusals[script, words]
    assert status == 2
    assert "unrecognized arguments" in said
    assert not makes_cache
