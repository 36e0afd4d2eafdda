# SPDX-License-Identifier: Apache-2.0
"""Write the table of the columns of results in docs/studies.md from the column schema.

    python -m pages.columns_table [--check]

--check writes nothing, and ends with status 1 if the page would change.
"""

from __future__ import annotations

import argparse
import sys

from flashbed.result import columns
from pages.page_text import REPOSITORY, table, written

PAGE = REPOSITORY / "docs/studies.md"
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
    return 0 if written(PAGE, with_columns(PAGE.read_text()), check=options.check, target="columns") else 1


if __name__ == "__main__":
    sys.exit(main())
