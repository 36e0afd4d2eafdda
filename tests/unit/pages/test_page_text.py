# SPDX-License-Identifier: Apache-2.0
"""Pages that commands write have lines of at most 120 columns, and wrapping does not change their meaning."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from markdown_it import MarkdownIt

from pages.page_text import COLUMNS, wrapped, written
from tests.support.repository import REPOSITORY

LONG = "word " * 60 + "end"
DOCS = REPOSITORY / "docs"


def meant(page: str) -> str:
    """Return the page as its reader sees it: HTML, in which a line end is a space."""
    html: str = MarkdownIt("commonmark").enable("table").render(page)
    return html.replace("\n", " ")


@pytest.mark.parametrize(
    "page",
    [
        f"{LONG}\n",
        f"# Title\n{LONG}\n\n{LONG}\n",
        f"- {LONG}\n- short\n- {LONG}\n",
        f"9. {LONG}\n10. {LONG}\n",
        f"Before.\n- {LONG}\n",
        "word " * 22 + "of 12345 - 3 + 4 * 2. 12. # 5) > 6 " * 5 + "\n",
        f"| a | b |\n| --- | --- |\n| {LONG} | x |\n\n{LONG}\n",
        f"{LONG} `code that is {LONG}` {LONG}\n",
        f"```\n{LONG}\n- {LONG}\n\nmore\n```\n{LONG}\n",
        f"Before.\n\n```\n{LONG}\nmore\n```\n\nBehind.\n",
        f"![picture of {LONG}](file.png)\n",
    ],
)
def test_a_wrapped_page_means_what_it_meant(page: str) -> None:
    text = wrapped(page)
    assert meant(text) == meant(page)
    assert wrapped(text) == text
    lines = text.splitlines()
    printed = [at for at, line in enumerate(lines) if line.startswith("```")]
    prose = lines[printed[1] :] if printed else lines
    assert not [line for line in prose if len(line) > COLUMNS and not line.startswith(("|", "!["))]


def test_lines_that_fit_stay() -> None:
    page = "# Title\nOne.\nTwo.\n\n- item\n  goes on\n"
    assert wrapped(page) == page


def test_a_long_numbered_heading_keeps_its_number() -> None:
    first, blank, *rest = wrapped(f"### 5. {LONG}\n\nMore.\n").splitlines()
    assert (first, blank) == ("### 5", "")
    assert " ".join(rest[:-2]) == LONG
    assert rest[-2:] == ["", "More."]


@pytest.mark.parametrize("page", sorted(str(page.relative_to(DOCS)) for page in DOCS.rglob("*.md")))
def test_each_page_is_wrapped(page: str) -> None:
    """Commands also write tables into pages that people write, and wrap all of the page."""
    text = (DOCS / page).read_text()
    assert wrapped(text) == text


def test_a_page_is_named_by_its_path(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for page in (DOCS / "studies.md", tmp_path / "page.md"):
        assert not written(page, "another", check=True, target="columns")
        shown = page.relative_to(REPOSITORY) if page.is_relative_to(REPOSITORY) else page
        assert capsys.readouterr().err.startswith(f"{shown} is not")
    assert not (tmp_path / "page.md").exists()


def test_a_page_is_written_only_if_it_changes(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    assert written(page, LONG, check=False, target="columns")
    assert page.read_text() == wrapped(LONG)
    os.utime(page, (1, 1))
    assert written(page, LONG, check=False, target="columns")
    assert written(page, LONG, check=True, target="columns")
    assert page.stat().st_mtime == 1
