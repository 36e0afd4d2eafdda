# SPDX-License-Identifier: Apache-2.0
"""Examples of the docs work as printed: every block whose fence says `tested`, page by page, in the order printed.

A `toml` block becomes the file that its first line names; `sh` and `python` are carried out where those files lie.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.support.repository import REPOSITORY

FENCE = re.compile(r"^```(?P<language>\w+) tested\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL)
FILE = re.compile(r"# (\S+\.toml)\n")
PAGES = sorted(
    str(page.relative_to(REPOSITORY))
    for page in (*REPOSITORY.glob("*.md"), *(REPOSITORY / "docs").glob("*.md"))
    if FENCE.search(page.read_text())
)


class Block(NamedTuple):
    """An example, and the line of the page at which it begins."""

    line: int
    language: str
    text: str


def blocks(page: str) -> list[Block]:
    """Return the examples of a page that are marked as tested."""
    text = (REPOSITORY / page).read_text()
    return [Block(text.count("\n", 0, m.start()) + 2, m["language"], m["text"]) for m in FENCE.finditer(text)]


def test_pages_with_examples_are_found() -> None:
    assert {"README.md", "docs/profiles.md"} <= set(PAGES)


@pytest.mark.parametrize("page", PAGES)
def test_examples_work_as_printed(page: str, fresh_cache: Path, tmp_path: Path) -> None:
    folder = tmp_path / "user"
    folder.mkdir()
    programs = Path(sys.executable).parent
    environment = {
        **os.environ,
        "FLASHBED_CACHE": str(fresh_cache),
        "PATH": f"{programs}:{os.environ['PATH']}",
    }
    commands = {"sh": ["sh", "-eu", "-c"], "python": [sys.executable, "-c"]}
    for block in blocks(page):
        if block.language == "toml":
            named = FILE.match(block.text)
            assert named, f"{page}:{block.line}: its first line names no file"
            (folder / named[1]).parent.mkdir(parents=True, exist_ok=True)
            (folder / named[1]).write_text(block.text)
            continue
        done = subprocess.run(
            [*commands[block.language], block.text],
            cwd=folder,
            env=environment,
            capture_output=True,
            text=True,
            timeout=600,
        )
        assert done.returncode == 0, f"{page}:{block.line}: {done.stderr}"
    for study in folder.glob("*.toml"):
        check = f"import pathlib, flashbed.study.loading as loading; loading.load_study(pathlib.Path({study.name!r}))"
        done = subprocess.run([sys.executable, "-c", check], cwd=folder, capture_output=True, text=True)
        assert done.returncode == 0, f"{page}: {study.name}: {done.stderr}"
