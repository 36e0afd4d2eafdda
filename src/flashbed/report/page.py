# SPDX-License-Identifier: Apache-2.0
"""Lines and tables of text as one HTML file in the style of reports, which needs nothing else. Must not know what they
are of.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from flashbed.common.page import PageTable

STYLES = ("report.css", "page.css", "print.css")

MOST_OPEN = 10
"""So many of the lines that stand out are shown at once; the rest is folded."""


def render(
    title: str, lines: Sequence[str], tables: Sequence[PageTable], lead: Sequence[str] = (), *, is_bad: bool = False
) -> str:
    """The whole page; `lead` are lines that stand out, `is_bad` whether they say that something is."""
    from jinja2 import Environment, PackageLoader, StrictUndefined
    from markupsafe import Markup

    loader = PackageLoader("flashbed.report", ".")
    environment = Environment(loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True)
    here = Path(__file__).parent
    return environment.get_template("page.html.j2").render(
        title=title,
        lines=lines,
        lead=lead,
        is_bad=is_bad,
        most_open=MOST_OPEN,
        tables=tables,
        style=Markup("\n".join((here / name).read_text(encoding="utf-8") for name in STYLES)),  # our own files
    )
