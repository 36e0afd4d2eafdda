# SPDX-License-Identifier: Apache-2.0
"""Texts for readers: each C file begins with a summary, pages are wrapped, tests that a page names exist."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

from flashbed.common import paths
from flashbed.study.loading import load_study
from flashbed.study.plan import plan
from tests.support.repository import REPOSITORY

OPENING = re.compile(r"(?://|/\*) SPDX-License-Identifier: [^\n]+\n/\*")


def tracked(*patterns: str) -> list[Path]:
    """Return the repository's files of these names."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", *patterns]
    listed = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, check=True).stdout
    return [REPOSITORY / name for name in listed.splitlines() if (REPOSITORY / name).is_file()]


def test_each_c_file_says_first_what_is_in_it() -> None:
    files = tracked("*.c", "*.h")
    assert len(files) > 200
    silent = {str(file.relative_to(REPOSITORY)) for file in files if not OPENING.match(file.read_text())}
    assert not silent


def test_each_page_beside_the_docs_is_wrapped() -> None:
    """Tables, images and output of commands are exempt. A test of the house checks the pages of docs/."""
    docs = (REPOSITORY, REPOSITORY / "docs", REPOSITORY / "docs/generated")
    pages = [page for page in tracked("*.md") if page.parent not in docs]
    assert pages
    for page in pages:
        prose = re.sub(r"^```.*?^```", "", page.read_text(), flags=re.MULTILINE | re.DOTALL)
        assert not [line for line in prose.splitlines() if len(line) > 120 and not line.startswith(("|", "!["))], page


def test_each_fact_about_other_drivers_has_a_test() -> None:
    page = (REPOSITORY / "docs/yaffs2.md").read_text()
    table = page.partition("| fact | what the module does | test |")[2].partition("\n\n")[0]
    rows = [line for line in table.splitlines()[2:] if line.startswith("| ")]
    assert len(rows) > 15
    run = "".join(file.read_text() for file in tracked("kernel/yaffs2/tests/other_*_test.c"))
    for row in rows:
        named = re.findall(r"`(\w+)`", row.rsplit("|", 2)[1])
        assert named, row
        assert not [name for name in named if f"TEST({name})," not in run], row


def test_what_the_page_on_security_names_is_there() -> None:
    named = re.findall(r"`([\w/]+\.py)`", (REPOSITORY / "SECURITY.md").read_text())
    assert len(named) > 20
    places = (REPOSITORY, REPOSITORY / "src/flashbed")
    assert not [name for name in named if not any((place / name).is_file() for place in places)]


def test_a_page_counts_the_repetitions_that_its_study_has() -> None:
    stated = re.findall(
        r"^flashbed run (\w+) +#.* (\d+) repetitions", (REPOSITORY / "docs/logger.md").read_text(), re.M
    )
    assert stated
    assert stated == [(name, str(len(plan(load_study(paths.studies() / f"{name}.toml"))))) for name, _ in stated]


def test_the_page_on_profiles_says_what_decides_the_cost_of_a_flush() -> None:
    page = (REPOSITORY / "docs/profiles.md").read_text()
    keys = ("write_buffer_bytes", "flush_units", "power_loss_protection", "flush_ignored")
    header = (REPOSITORY / "media/include/fb_params.h").read_text()
    assert not [key for key in keys if f"P({key}," not in header]
    assert not [key for key in keys if f"`{key}`" not in page]
