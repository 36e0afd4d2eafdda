# SPDX-License-Identifier: Apache-2.0
"""Pages that commands write have lines of at most 120 columns, and wrapping does not change their meaning."""

from __future__ import annotations

import pytest
from markdown_it import MarkdownIt

from pages.page_text import COLUMNS, wrapped
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


@pytest.mark.parametrize("page", ["accuracy", "papers", "reliability", "yaffs2-figures"])
def test_each_page_is_wrapped(page: str) -> None:
    text = (DOCS / f"generated/{page}.md").read_text()
    assert wrapped(text) == text
