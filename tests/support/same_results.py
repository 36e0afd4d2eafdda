# SPDX-License-Identifier: Apache-2.0
"""Compare results before and after a change of the lab: the same cells, results.csv byte for byte.

    .venv/bin/python tests/support/same_results.py BEFORE AFTER [STUDY...]

BEFORE and AFTER are two checkouts, each with its .venv, or the folders of two such environments. Each runs a slice of
each study (slices.toml) and writes its report. The cache is shared, the store of results is not, so both measure.

    .venv/bin/python tests/support/same_results.py BEFORE AFTER --stored RESULTS [--whole] [STUDY...]

needs no guest: both write their reports from a folder of stored results, such as BEFORE made. The column `key` is left
out of the comparison, for a change may move keys and no figure.

Exit status: 0 the same bytes; 1 another column, row or value, of which the first are printed; 2 something could not be
compared.
"""

from __future__ import annotations

import argparse
import csv
import io
import os
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

SLICES = Path(__file__).with_name("slices.toml")
KEY = "key"
MOST_SHOWN = 5
"""The most differences of a study that are printed."""
OWN = ("results", "failures", "work")
"""The parts of a cache that each side has for itself."""


class NotComparableError(Exception):
    """A side has no results; the text says why."""


def differences(before: bytes, after: bytes) -> Iterator[str]:
    """Yield the differences of two tables without the column `key`: columns first, then values row by row. Yield
    nothing if only the keys differ.
    """
    (old, old_keys), (new, new_keys) = _parsed(before), _parsed(after)
    if _without(before, old_keys) == _without(after, new_keys):
        return
    yield from _of_columns(list(old[0] if old else ()), list(new[0] if new else ()))
    if len(old) != len(new):
        yield f"{len(old)} rows before, {len(new)} after"
    differs = False
    for number, (old_row, new_row) in enumerate(zip(old, new, strict=False), 2):
        for column in old_row:
            if column != KEY and column in new_row and old_row[column] != new_row[column]:
                differs = True
                yield f"line {number}, {column}: {old_row[column]!r} before, {new_row[column]!r} after"
    if not differs:
        yield "the bytes differ, though no value does that both have"


def _parsed(table: bytes) -> tuple[list[dict[str, str]], set[str]]:
    rows = list(csv.DictReader(io.StringIO(table.decode(), newline="")))
    return rows, {row[KEY] for row in rows if row.get(KEY)}


def _without(table: bytes, keys: set[str]) -> bytes:
    for key in keys:
        table = table.replace(key.encode(), KEY.encode())
    return table


def _of_columns(old: list[str], new: list[str]) -> Iterator[str]:
    for change, names in (("gone", set(old) - set(new)), ("new", set(new) - set(old))):
        if names:
            yield f"columns that are {change}: {', '.join(sorted(names))}"
    if sorted(old) == sorted(new) and old != new:
        yield "the columns have another order"


def flashbed_of(place: Path) -> Path:
    """Return the command of a checkout, or of an environment. Raises NotComparableError."""
    for folder in (place / ".venv", place):
        command = folder / "bin" / "flashbed"
        if command.is_file():
            return command.absolute()
    raise NotComparableError(f"{place}: has neither .venv/bin/flashbed nor bin/flashbed")


def cache_with(shared: Path, folder: Path, results: Path | None = None) -> Path:
    """Make a cache in `folder` with everything of `shared` except the parts of each side; and with the store, if it is
    given.
    """
    folder.mkdir(parents=True, exist_ok=True)
    for entry in sorted(shared.iterdir()) if shared.is_dir() else ():
        if entry.name not in OWN:
            _link(folder / entry.name, entry)
    if results is not None:
        _link(folder / OWN[0], results.absolute())
    return folder


def _link(path: Path, target: Path) -> None:
    """Make a link. Raises NotComparableError if something else is there."""
    if not path.is_symlink() and path.exists():
        raise NotComparableError(f"{path}: is in the way; name an empty folder with --work")
    path.unlink(missing_ok=True)
    path.symlink_to(target)


def table_of(flashbed: Path, cache: Path, command: Sequence[str], report: Path) -> bytes:
    """Return the results.csv that a side writes. Raises NotComparableError."""
    call = [str(flashbed), *command, "--out", str(report)]
    environment = {**os.environ, "FLASHBED_CACHE": str(cache)}
    table = report / "results.csv"
    table.unlink(missing_ok=True)  # from an earlier run, kept by --work
    done = subprocess.run(call, cwd=cache, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if not table.is_file():
        last = done.stdout.decode(errors="replace").strip().splitlines()[-3:]
        raise NotComparableError(f"{' '.join(call)}: ended with {done.returncode}: {' '.join(last)}")
    return table.read_bytes()


def compared(sides: Sequence[tuple[Path, Path]], command: Sequence[str], folder: Path) -> list[str]:
    """Return the differences of one study. Each side is a command and its cache. Raises NotComparableError."""
    tables = [
        table_of(flashbed, cache, command, folder / name)
        for name, (flashbed, cache) in zip(("before", "after"), sides, strict=True)
    ]
    return list(differences(*tables))


def slices_of() -> dict[str, dict[str, list[str]]]:
    """Return by study the values that its slice has on each narrowed axis."""
    slices: dict[str, dict[str, list[str]]] = {}
    for study, words in tomllib.loads(SLICES.read_text(encoding="utf-8")).items():
        for word in words:
            axis, _, value = word.partition("=")
            slices.setdefault(study, {}).setdefault(axis, []).append(value)
    return slices


def words_of(where: Mapping[str, Sequence[str]]) -> list[str]:
    """Return the slice as flashbed's options."""
    return [word for axis, values in where.items() for value in values for word in ("--where", f"{axis}={value}")]


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("before", type=Path)
    parser.add_argument("after", type=Path)
    parser.add_argument("studies", nargs="*", metavar="STUDY", help="default: each study of slices.toml")
    parser.add_argument("--stored", type=Path, metavar="RESULTS", help="measure nothing; take this store of results")
    parser.add_argument("--whole", action="store_true", help="whole studies, and no slices")
    parser.add_argument("--work", type=Path, metavar="DIR", help="keep stores and reports here")
    options = parser.parse_intermixed_args(arguments)
    slices = slices_of()
    ended = 0
    with tempfile.TemporaryDirectory(prefix="same-results-") as scratch:
        work = (options.work or Path(scratch)).absolute()
        shared = Path(os.environ.get("FLASHBED_CACHE") or Path.home() / ".cache" / "flashbed")
        try:
            sides = [
                (flashbed_of(place), cache_with(shared, work / f"{name}-cache", options.stored))
                for name, place in (("before", options.before), ("after", options.after))
            ]
        except NotComparableError as error:
            print(error)
            return 2
        for study in options.studies or slices:
            slice_values = {} if options.whole else slices.get(study, {})
            command = ["report" if options.stored else "run", study, *words_of(slice_values)]
            try:
                lines = compared(sides, command, work / "reports" / Path(study).stem)
            except NotComparableError as error:
                print(f"{study}: not compared: {error}", flush=True)
                ended = 2
                continue
            print(f"{study}: {'differs' if lines else 'the same'}", flush=True)
            for line in lines[:MOST_SHOWN]:
                print(f"  {line}", flush=True)
            ended = ended or bool(lines)
    return int(ended)


if __name__ == "__main__":
    sys.exit(main())
