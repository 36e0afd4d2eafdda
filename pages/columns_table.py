# SPDX-License-Identifier: Apache-2.0
"""Write the table of the columns of results in docs/studies.md from the column schema.

    python -m pages.columns_table [--check]

--check writes nothing, and ends with status 1 if the page would change.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from flashbed.result import columns
from pages.page_text import table

PAGE = Path(__file__).resolve().parents[1] / "docs/studies.md"
BEGIN = "| column | what it holds |\n"


def columns_table() -> str:
    """Return the table, with a row per column."""
    lines = [(f"`{column.name}`", column.meaning) for column in columns.COLUMNS]
    return table(("column", "what it holds"), lines, left=(0, 1))


def with_columns(page: str) -> str:
    """Return the page with a renewed table of columns. Raises ValueError if the page has none."""
    before, begin, after = page.partition(BEGIN)
    if not begin:
        raise ValueError(f"{PAGE}: has no table that begins with {BEGIN.strip()}")
    rest = after[after.index("\n\n") + 1 :]
    return f"{before}{columns_table()}{rest}"


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n\n")[0])
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    before = PAGE.read_text()
    now = with_columns(before)
    if options.check and now != before:
        print(f"docs/{PAGE.name} has another table of columns than there are; run `make columns`", file=sys.stderr)
        return 1
    if not options.check:
        PAGE.write_text(now)
    return 0


if __name__ == "__main__":
    sys.exit(main())
