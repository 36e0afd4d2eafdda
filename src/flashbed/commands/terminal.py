# SPDX-License-Identifier: Apache-2.0
"""What all commands print to."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.table import Table

out = Console(highlight=False, markup=False, soft_wrap=True)


def print_table(title: str, columns: Sequence[str], rows: Sequence[tuple[str, ...]]) -> None:
    table = Table(*columns, title=title, title_justify="left", box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for row in rows:
        table.add_row(*row)
    out.print(table)
