# SPDX-License-Identifier: Apache-2.0
"""Tables of text, and a page of them as one HTML file that needs nothing else. Must not know what they are of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Table:
    """`left`: how many columns are words and stand to the left; the others are numbers."""

    title: str
    columns: Sequence[str]
    rows: Sequence[tuple[str, ...]]
    left: int = 1
    note: str = ""


def render(title: str, lines: Sequence[str], tables: Sequence[Table]) -> str:
    """The whole page."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    loader = PackageLoader("flashbed.common", ".")
    environment = Environment(loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True)
    return environment.get_template("page.html.j2").render(title=title, lines=lines, tables=tables)
