# SPDX-License-Identifier: Apache-2.0
"""The commands on small kernels: parse, call, print; nothing else."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from flashbed.commands.terminal import check_page, out, print_table, tell_page, write_page

if TYPE_CHECKING:
    from flashbed_appliance.shrinking.report import KernelReport

kernel_app = typer.Typer(
    help="Kernels that contain only what one purpose needs: built, measured, compared.", no_args_is_help=True
)

KernelArchitecture = Annotated[str, typer.Option("--architecture", "-a", metavar="NAME", help="x86_64 or arm64.")]
Html = Annotated[Path | None, typer.Option("--html", metavar="FILE", help="Also write the report as one HTML file.")]


@kernel_app.command("shrink")
def kernel_shrink(
    purpose: Annotated[
        str,
        typer.Option(
            "--for", metavar="WORD", help="nas (the appliance's kernel), a study, or fragments, as in nas+my.config."
        ),
    ] = "nas",
    architecture: KernelArchitecture = "arm64",
    option: Annotated[
        list[str] | None, typer.Option(metavar="CONFIG_NAME", help="Price this option only. May be repeated.")
    ] = None,
    prices: Annotated[
        bool, typer.Option(help="Measure the price of each option: a build and a boot each, cached once done.")
    ] = True,
    anew: Annotated[
        bool, typer.Option("--anew", help="Also measure on this host what flashbed's own price list has.")
    ] = False,
    html: Html = None,
) -> None:
    """Build a kernel that contains only what one purpose needs, and report where its bytes are.

    The report has sizes by compression and by source directory, and the price of each option in bytes and in RAM.
    Measurements are cached, so an interrupted sweep resumes where it stopped.
    """
    from flashbed_appliance.shrinking import report

    if anew and not prices:
        raise typer.BadParameter("--anew measures prices and --no-prices does not; leave one out")
    check_page(html)
    _show(report.of_one(purpose, architecture, option or [], measure=prices, anew=anew), html)


@kernel_app.command("compare")
def kernel_compare(
    a: Annotated[str, typer.Argument(metavar="A", help="nas, a study, or fragments joined by +, such as nas+pc.")],
    b: Annotated[str, typer.Argument(metavar="B", help="The other kernel, in the same form.")],
    architecture: KernelArchitecture = "arm64",
    html: Html = None,
) -> None:
    """Report where two kernels differ: options, sizes, source directories. Builds what is missing."""
    from flashbed_appliance.shrinking import report

    check_page(html)
    _show(report.of_two(a, b, architecture), html)


def _show(report: KernelReport, html: Path | None) -> None:
    if html is not None:
        write_page(html, report.title, report.lines, report.tables)  # before printing: the reader of a pipe may be gone
    for line in report.lines:
        out.print(line)
    for table in report.tables:
        if table.rows:
            out.print()
            print_table(table.title, table.columns, table.rows)
            if table.note:
                out.print(table.note)
    if html is not None:
        tell_page(html)
