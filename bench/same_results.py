# SPDX-License-Identifier: Apache-2.0
"""Whether two sets of results say the same: compares the results.csv of reports, row by row, and names what differs.

    flashbed report quick --out before/quick     # with the code, or the cache (FLASHBED_CACHE), of before
    flashbed report quick --out after/quick
    python bench/same_results.py before after

Each argument is a results.csv or a folder with reports of studies in it. Keys of repetitions may differ: they change
with what a result depends on, also where it changes no figure. Ends with 0 if all else is the same, byte for byte, with
1 if not, and with 2 if there is nothing to compare.
"""

from __future__ import annotations

import argparse
import csv
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

NAME = "results.csv"
NOT_COMPARED = "key"

Rows = Sequence[Sequence[tuple[str, str]]]


def tables(place: Path) -> dict[str, Path]:
    """The tables at a place, by the name of the folder that each lies in."""
    if place.is_file():
        return {"": place}
    return {str(path.parent.relative_to(place)): path for path in sorted(place.rglob(NAME))}


def rows(path: Path) -> Rows:
    """Column and value of each row, without its key."""
    with path.open(newline="") as file:
        return [[item for item in row.items() if item[0] != NOT_COMPARED] for row in csv.DictReader(file)]


def differences(before: Rows, after: Rows) -> Iterator[str]:
    """A line for each row that differs: its place in the table, then each column with both values."""
    if len(before) != len(after):
        yield f"{len(before)} rows, and {len(after)}"
    for number, (old, new) in enumerate(zip(before, after, strict=False), start=2):
        if old != new:
            was, now = dict(old), dict(new)
            names = [name for name in {**was, **now} if was.get(name) != now.get(name)]
            told = ", ".join(f"{name}: {was.get(name, 'absent')} / {now.get(name, 'absent')}" for name in names)
            yield f"line {number}: {told or 'other order of columns'}"


def main(words: Sequence[str] | None = None) -> int:
    said = argparse.ArgumentParser(description="Compare the results.csv of two sets of reports.")
    said.add_argument("before", type=Path)
    said.add_argument("after", type=Path)
    asked = said.parse_args(words)
    old, new = tables(asked.before), tables(asked.after)
    both = [name for name in old if name in new]
    for name in sorted(set(old) ^ set(new)):
        print(f"{name}: only in {asked.before if name in old else asked.after}, not compared", file=sys.stderr)
    if not both:
        print("nothing to compare", file=sys.stderr)
        return 2
    status = 0
    for name in both:
        found = list(differences(rows(old[name]), rows(new[name])))
        print(f"{name or NAME}: {f'{len(found)} differ' if found else 'the same'}")
        for line in found:
            print(f"  {line}")
        status |= bool(found)
    return status


if __name__ == "__main__":
    sys.exit(main())
