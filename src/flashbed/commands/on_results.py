# SPDX-License-Identifier: Apache-2.0
"""The commands on results: compare two sets, run a power cut of one again. Parse, call, print; nothing else."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated

import typer

from flashbed.commands.terminal import check_page, out, tell_page, write_page

if TYPE_CHECKING:
    from flashbed.comparing.presentation import Presented
    from flashbed.execution.cut_again import Explained
    from flashbed.guest_output.request_log import Request


MOST_FIGURES_SHOWN = 40
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
    from flashbed.comparing import presentation, regression_limits, result_set
    from flashbed.comparing.compared_cells import compare_sets

    check_page(html)
    mine, theirs = result_set.pairs(a, b)
    for name in sorted(mine.keys() ^ theirs.keys()):
        out.print(f"{name}: only in {'A' if name in mine else 'B'}, not compared")
    compared = [compare_sets(mine[name], theirs[name]) for name in mine if name in theirs]
    if not any(pair.cells for pair in compared):
        raise regression_limits.NotComparable(f"{a} and {b} have no cell with a seed in common")
    if not any(pair.figures for pair in compared):
        raise regression_limits.NotComparable(f"{a} and {b} have no cell that was measured in both")
    chosen_limits = regression_limits.parse(limit or ())
    regression_limits.check(chosen_limits, compared)
    chosen_limits = chosen_limits or regression_limits.default(compared)
    shown = [presentation.presented(pair, chosen_limits) for pair in compared]
    for comparison in shown:
        _show(comparison)
    if html is not None:
        _write_page(html, [(pair.a.study, part) for pair, part in zip(compared, shown, strict=True)])
    if any(comparison.is_worse for comparison in shown):
        raise regression_limits.Regression(presentation.failure(shown))
    if exact and not all(cell.is_same for pair in compared for cell in pair.cells):
        raise regression_limits.Regression("not the same")
    if exact and any(pair.only_a or pair.only_b for pair in compared):
        raise regression_limits.Regression("not the same: one set has repetitions that the other has not")


def _write_page(file: Path, shown: Sequence[tuple[str, Presented]]) -> None:
    """Write all comparisons as one page: first the summary, then all figures, folded. Each has its study's name."""
    lead = [
        f"{study}: {line}" if len(shown) > 1 else line
        for study, comparison in shown
        for line in (*comparison.new_defects, *comparison.summary)
    ]
    facts = [line for _, comparison in shown for line in comparison.facts if line not in lead]
    tables = [table for _, comparison in shown for table in (comparison.table, comparison.all_figures)]
    is_bad = any(comparison.is_worse for _, comparison in shown)
    write_page(file, "Two sets of results", facts, tables, lead, is_bad=is_bad)
    tell_page(file)


def _show(comparison: Presented) -> None:
    """Print one comparison on the terminal."""
    for line in comparison.facts:
        out.print(line)
    for line in (*comparison.new_defects, *comparison.broken):
        out.print(f"WORSE: {line}")
    differences = comparison.differences
    for difference in differences[:MOST_FIGURES_SHOWN]:
        out.print(difference.line)
    if len(differences) > MOST_FIGURES_SHOWN:
        out.print(f"and {len(differences) - MOST_FIGURES_SHOWN} more; --html FILE has all")
    if differences:
        out.print(comparison.table.note)


COMMANDS: dict[str, Callable[..., None]] = {"compare": compare_command}
"""The commands by name, in the order of --help."""


cut_app = typer.Typer(help="The power cuts of results: run one again, and see what it left.", no_args_is_help=True)


@cut_app.callback()
def _group() -> None:
    """Without this, Typer calls a single command without its name."""


@cut_app.command("show")
def cut_show(
    key: Annotated[str, typer.Argument(metavar="KEY", help="The key of a repetition, or its first digits.")],
    number: Annotated[
        int | None, typer.Argument(min=0, metavar="N", help="The cut, from 0 on. Default: list the cuts.")
    ] = None,
    study: Annotated[
        str | None,
        typer.Option(
            metavar="STUDY",
            help="The study that has the repetition. Default: look in the studies of this directory, and in the "
            "shipped ones.",
        ),
    ] = None,
    requests: Annotated[int, typer.Option(min=0, metavar="N", help="How many of the last requests to print.")] = 20,
) -> None:
    """Run one power cut again, to the bit, and print what explains it: the last requests before it, the files when the
    command began and after the cut, and what the mount said.

    Without N, list the cuts of the repetition with their outcomes. Nothing is stored. Exit status: 5 if the cut now
    has another outcome than the stored one, which must never happen.
    """
    from flashbed.execution import attempt, cut_again, run

    record = cut_again.find(key, study)
    if number is None:
        for line in cut_again.listed(record):
            out.print(line)
        return
    limits = attempt.Limits(run.DEFAULT_LIMIT_S, 0)
    with TemporaryDirectory(prefix="flashbed-cut-") as folder:
        explained = cut_again.again(record, number, limits, Path(folder))
    for line in _explained(explained, requests):
        out.print(line)


def _explained(explained: Explained, most: int) -> Iterator[str]:
    cut = explained.cut
    yield f"{cut.outcome}, {cut.moment_ns / 1e6:.6f} ms after the command began"
    if cut.note:
        yield f"  {cut.note}"
    if cut.recovery_s is not None:
        yield f"  mounted after {cut.recovery_s:.6f} s"
    last = f", the last one: {explained.acknowledged[-1]}" if explained.acknowledged else ""
    yield f"  {cut.acknowledged} lines had been acknowledged{last}"
    yield "The last requests before the cut (ms since the command began):"
    shown = explained.requests[-most:] if most else []
    yield from (f"  {_request(request, cut.moment_ns)}" for request in shown)
    if not shown:
        yield "  none that the lab records; a raw chip has cycles instead"
    if not explained.is_whole:
        yield "  there were more requests than are recorded; these are not the last ones"
    yield "Writes that were not on the medium (number, offset, bytes, what became of it):"
    yield from (f"  {line}" for line in explained.fates or ["none"])
    for title, text in (
        ("The files when the command began", explained.tree_before),
        ("The files after the cut", explained.tree_after),
        ("Mount and repair", explained.mount_log),
        ("The check", explained.check_log),
        ("The kernel", explained.kernel_log),
    ):
        yield f"{title}:"
        yield from (f"  {line}" for line in text.splitlines() or ["nothing"])


def _request(request: Request, cut_ns: int) -> str:
    begun, done = request.begun_ns / 1e6, request.done_ns / 1e6
    where = "" if request.offset_bytes is None else f" {request.length_bytes} bytes at {request.offset_bytes}"
    ended = f"done {done:.6f}" if request.done_ns <= cut_ns else "under way at the cut"
    return f"{begun:.6f}  {request.operation}{where}, {ended}"
