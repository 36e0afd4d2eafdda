# SPDX-License-Identifier: Apache-2.0
"""Write a report from made-up results and read it as a page, for tests."""

from __future__ import annotations

from html.parser import HTMLParser
from pathlib import Path

import pandas

from flashbed.study.loading import Study
from tests.support.made_up_results import (
    MANIFEST,
    rows_of,
)
from tests.support.tabled import bring_up_to_date


class Page(HTMLParser):
    """The text of a page without scripts and styles, its elements, and the content of each table."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self._silent = 0
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        self._silent += tag in ("script", "style")

    def handle_endtag(self, tag: str) -> None:
        self._silent -= tag in ("script", "style")

    def handle_data(self, data: str) -> None:
        if not self._silent:
            self.text += data

    def count(self, tag: str) -> int:
        return sum(name == tag for name, _ in self.elements)

    def internal_links(self) -> set[str]:
        links = {(attributes.get("href") or "") for tag, attributes in self.elements if tag == "a"}
        return {link for link in links if link.startswith("#")}

    def places(self) -> set[str]:
        """Return the targets of internal links."""
        return {f"#{attributes['id']}" for _, attributes in self.elements if "id" in attributes}


def written(folder: Path, study: Study, frame: pandas.DataFrame) -> Page:
    return Page(bring_up_to_date(study, rows_of(frame), MANIFEST, folder).read_text(encoding="utf-8"))
