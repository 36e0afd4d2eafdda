# SPDX-License-Identifier: Apache-2.0
"""A report on kernels as one HTML file that needs nothing else. Must not know what its tables are of."""

from __future__ import annotations

from collections.abc import Sequence

from jinja2 import Environment, PackageLoader, StrictUndefined

from flashbed.shrinking.tables import Table


def render(title: str, lines: Sequence[str], tables: Sequence[Table]) -> str:
    """The whole page."""
    loader = PackageLoader("flashbed.shrinking", ".")
    environment = Environment(loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True)
    return environment.get_template("page.html.j2").render(title=title, lines=lines, tables=tables)
