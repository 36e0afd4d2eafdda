# SPDX-License-Identifier: Apache-2.0
"""What all commands print to."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.table import Table as Grid

from flashbed.common.page import Table

out = Console(highlight=False, markup=False, soft_wrap=True)


def say(line: str) -> None:
    """At once, for who follows along. Raises OSError if nobody reads it any more."""
    try:
        print(line, flush=True)
    except OSError:
        # What stays in the buffer would fail again, with a message, when Python ends
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)
        raise


def write_page(file: Path, title: str, lines: Sequence[str], tables: Sequence[Table]) -> None:
    """As one HTML file, and says where it is."""
    from flashbed.common.page import render

    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(render(title, lines, tables))
    out.print(f"Report: {file.absolute()}")


def print_table(title: str, columns: Sequence[str], rows: Sequence[tuple[str, ...]]) -> None:
    table = Grid(*columns, title=title, title_justify="left", box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for row in rows:
        table.add_row(*row)
    out.print(table)
