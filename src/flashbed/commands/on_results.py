# SPDX-License-Identifier: Apache-2.0
"""The command that compares sets of results: parse, call, print; nothing else."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from flashbed.commands.terminal import check_page, out, tell_page, write_page

if TYPE_CHECKING:
    from flashbed.comparing.presentation import Presented


SHOWN = 40
"""The most figures shown on a terminal."""

Set = (
    "The folder of a report or its results.json; a folder of such folders; a pack; or a part, as in REPORT@kernel=6.12."
)


def compare_command(
    a: Annotated[str, typer.Argument(metavar="A", help=f"The old results. {Set}")],
    b: Annotated[str, typer.Argument(metavar="B", help="The new results, in the same form.")],
    limit: Annotated[
        list[str] | None,
        typer.Option(
            metavar="METRIC=PERCENT",
            help="Fail if a figure is worse by more, such as bandwidth=2. May be repeated. Default: 0.25 for "
            "throughput, latency, what the study asks about and cpu_time; 2 for percentiles.",
        ),
    ] = None,
    exact: Annotated[bool, typer.Option("--exact", help="Fail if anything differs at all.")] = False,
    html: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Also write the comparison as one HTML file.")
    ] = None,
) -> None:
    """Compare two sets of results, cell by cell: what differs, where the difference begins, and whether chance explains
    it.

    Exit status: 0 the same, or no worse than the limits; 5 worse (with --exact: not the same); 2 a set or a limit is
    wrong; 6 the two have nothing to compare. docs/compare.md says more.
    """
    from flashbed.comparing import limits, presentation, result_set
    from flashbed.comparing.cells import compare

    check_page(html)
    mine, theirs = result_set.pairs(a, b)
    for name in sorted(mine.keys() ^ theirs.keys()):
        out.print(f"{name}: only in {'A' if name in mine else 'B'}, not compared")
    compared = [compare(mine[name], theirs[name]) for name in mine if name in theirs]
    if not any(pair.cells for pair in compared):
        raise limits.NotComparable(f"{a} and {b} have no cell with a seed in common")
    if not any(pair.figures for pair in compared):
        raise limits.NotComparable(f"{a} and {b} have no cell that was measured in both")
    chosen_limits = limits.parse(limit or ())
    limits.check(chosen_limits, compared)
    chosen_limits = chosen_limits or limits.default(compared)
    shown = [presentation.presented(pair, chosen_limits) for pair in compared]
    for comparison in shown:
        _show(comparison)
    if html is not None:
        _write_page(html, [(pair.a.study, part) for pair, part in zip(compared, shown, strict=True)])
    if any(comparison.is_worse for comparison in shown):
        raise limits.Regression(presentation.failure(shown))
    if exact and not all(cell.is_same for pair in compared for cell in pair.cells):
        raise limits.Regression("not the same")
    if exact and any(pair.only_a or pair.only_b for pair in compared):
        raise limits.Regression("not the same: one set has repetitions that the other has not")


def _write_page(file: Path, shown: Sequence[tuple[str, Presented]]) -> None:
    """Write all comparisons as one page: first the summary, then all figures, folded. Each has its study's name."""
    lead = [
        f"{study}: {line}" if len(shown) > 1 else line
        for study, comparison in shown
        for line in (*comparison.lost, *comparison.summary)
    ]
    facts = [line for _, comparison in shown for line in comparison.facts if line not in lead]
    tables = [table for _, comparison in shown for table in (comparison.table, comparison.all_figures)]
    is_bad = any(comparison.is_worse for _, comparison in shown)
    write_page(file, "Two sets of results", facts, tables, lead, is_bad=is_bad)
    tell_page(file)


def _show(comparison: Presented) -> None:
    """Print one comparison on the terminal."""
    from flashbed.comparing import presentation

    for line in comparison.facts:
        out.print(line)
    for line in (*comparison.lost, *comparison.broken):
        out.print(f"WORSE: {line}")
    table = comparison.table
    for row in table.rows[:SHOWN]:
        out.print(presentation.row_line(row))
    if len(table.rows) > SHOWN:
        out.print(f"and {len(table.rows) - SHOWN} more; --html FILE has all")
    if table.rows:
        out.print(table.note)


COMMANDS: dict[str, Callable[..., None]] = {"compare": compare_command}
"""The commands by name, in the order of --help."""
