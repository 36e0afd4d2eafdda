# SPDX-License-Identifier: Apache-2.0
"""README.md and docs/trust.md give the same accuracy as docs/generated/accuracy.md, and their links lead somewhere."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.support.facts import Facts
from tests.support.repository import REPOSITORY

PAGES = ("README.md", "docs/trust.md")


ROW = re.compile(r"^\| \d+ \| .* \| (\d+\.\d+)((?:, \w+)*) \| [^|]*\|$", re.MULTILINE)

COUNTS = re.compile(r"^\| ([a-z][^|]+?)" + r" \| (\d+)" * 8 + r" \|$", re.MULTILINE)


def like_devices() -> str:
    return (REPOSITORY / "docs/generated/accuracy.md").read_text().partition("\n## What the models compute")[0]


def rows() -> list[tuple[float, str]]:
    """Return the factor (above 1) by which each row of a profile's class is off, and its marks: fitted, wide."""
    text = like_devices().partition("\n### Other devices")[0]
    rows_ = [(float(ratio), marks) for ratio, marks in ROW.findall(text)]
    return [(max(ratio, 1 / ratio), marks) for ratio, marks in rows_]


def counts() -> dict[str, list[int]]:
    """Return eight numbers by set of rows. The first four count rows by the nearest figure: all, within 30 %, within a
    factor of 2, beyond 3. The other four count single figures in the same way.
    """
    return {title: list(map(int, cells)) for title, *cells in COUNTS.findall(like_devices())}


def test_there_are_rows() -> None:
    assert len(rows()) > 50
    assert len(counts()) == 5


@pytest.mark.parametrize("page", PAGES)
def test_the_figures_of_accuracy_are_those_of_its_page(page: str) -> None:
    text = " ".join((REPOSITORY / page).read_text().split())
    ratios = [ratio for ratio, _ in rows()]
    near = sum(ratio <= 1.3 for ratio in ratios)
    assert f"{len(ratios)} published figures" in text or f"{len(ratios)} rows of published measurements" in text
    assert f"within 30 % of {near}" in text or f"{near} are within 30 %" in text
    assert f"the other {len(ratios) - near}" in text
    assert f"off by up to {max(ratios):.1f} times" in text
    marks = [marks for ratio, marks in rows() if ratio <= 1.3]
    fitted, wide = (sum(word in words for words in marks) for word in ("fitted", "wide"))
    tests = len(marks) - fitted - wide
    assert Facts(f"of the {len(marks)}", f"in {fitted}", f"in {wide}", f"remaining {tests}").within(text)


@pytest.mark.parametrize("page", PAGES)
def test_what_to_expect_of_another_device_is_what_the_page_counts(page: str) -> None:
    """This also holds after the next row or model, because the counts in prose are written nowhere else."""
    text = " ".join((REPOSITORY / page).read_text().split())
    *_, figures, near, twice, far = counts()["all"]
    assert Facts(f"{near} of {figures} published rates", "30 %", str(twice), "2", str(far), "3").within(text)
    held = [sum(pair) for pair in zip(*(counts()[f"held out, {half}kept back"] for half in ("not ", "")), strict=True)]
    assert Facts(f"the {held[4]} rates", str(held[6]), "2", str(held[7]), "3").within(text)
    assert 0.6 < held[6] / held[4] < 0.9


def test_no_paper_that_a_study_judges_is_evidence_for_the_models() -> None:
    """kim2007 attributes to memory a figure that was once a row for a disk."""
    sources = (REPOSITORY / "pages/devices.toml").read_text()
    names = ("Choi", "Kim and Lee", "Lee, Kang", "Seo, Joo", "Kookmin", "Hanyang")
    assert [name for name in names if name in sources] == []


PROSE_PAGES = [*REPOSITORY.glob("*.md"), *(REPOSITORY / "docs").rglob("*.md")]


def anchors(page: Path) -> set[str]:
    """Return the fragments of the headings of a page, as GitHub and GitLab make them."""
    headings = re.findall(r"^#+ (.*)$", page.read_text(), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PROSE_PAGES, ids=lambda page: str(page.relative_to(REPOSITORY)))
def test_links_lead_somewhere(page: Path) -> None:
    prose = re.sub(r"^ *```.*?^ *```", "", page.read_text(), flags=re.MULTILINE | re.DOTALL)
    links = re.findall(r"\]\((?!\w+:)([^)#\s]*)(?:#([^)\s]*))?\)", prose)
    targets = [(page.parent / name if name else page, anchor) for name, anchor in links]
    assert [str(path) for path, _ in targets if not path.exists()] == []
    assert [f"{path}#{anchor}" for path, anchor in targets if anchor and anchor not in anchors(path)] == []


def test_pages_link_to_others() -> None:
    assert len(PROSE_PAGES) > 25
    assert (REPOSITORY / "README.md").read_text().count("](docs/") > 10
