# SPDX-License-Identifier: Apache-2.0
"""The commands on a study: parse, call, print; nothing else."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from flashbed.commands.chosen_study import Kernels, Slice, StudyName, load, report_folder
from flashbed.commands.terminal import out
from flashbed.common.errors import CellsFailedError, InputError

if TYPE_CHECKING:
    from flashbed.execution.attempt import Site
    from flashbed.execution.run import Run

OutFolder = Annotated[
    Path | None, typer.Option("--out", metavar="DIR", help="Where the report goes. Default: reports/STUDY.")
]


def run_command(
    study: StudyName,
    folder: OutFolder = None,
    where: Slice = None,
    kernel: Kernels = None,
    jobs: Annotated[int | None, typer.Option(min=1, help="Guests at a time. Default: one for each core.")] = None,
    limit: Annotated[
        float, typer.Option(min=1, metavar="SECONDS", help="This host's time after which a guest counts as hung.")
    ] = 900,
    locked: Annotated[
        bool, typer.Option("--locked", help="Take what the study's lock names, and nothing else; see docs/pinned.md.")
    ] = False,
    skip_lines: Annotated[
        bool,
        typer.Option(
            "--skip-lines", help="Do not check whether the changed lines of your own kernel run: saves a compilation."
        ),
    ] = False,
    workers: Annotated[
        str | None,
        typer.Option(
            metavar="CLUSTER", help="Run the cells on a Dask cluster: tcp://HOST:PORT, or local:N; see docs/cluster.md."
        ),
    ] = None,
) -> None:
    """Measure the repetitions that have no result yet, and write the report.

    Stop it at any time: finished repetitions are kept, and the next run continues.

    Exit status: 0 all measured, 1 some cells failed, 2 the study is wrong, 3 a tool is missing, 4 no room on the disk,
    5 a repetition gave two different results, 130 interrupted.
    """
    from flashbed.commands import reporting
    from flashbed.execution import failures, run

    parsed = load(study, where, kernel)
    folder = folder or report_folder(parsed, where, kernel)
    reporting.check_folder(parsed, folder)
    reporting.warn(parsed)
    with _site(workers, jobs) as site:
        finished = run.run(
            parsed,
            jobs=jobs,
            limit_s=limit,
            locked=locked,
            lines=not skip_lines,
            site=site,
            on_cell=reporting.announcer(parsed),
        )
    if finished.measured_now == 0:
        out.print(f"{len(finished.records)} repetitions, all measured before")
    _report(finished, folder)
    reporting.agree(finished.different)
    if finished.failures:
        summary = (
            f"{len(finished.failures)} of {len(finished.records)} repetitions have no measurement; the report lists "
            f"them, and `flashbed show {finished.failures[0].repetition.key[:12]}` shows the first"
        )
        raise CellsFailedError("\n".join((summary, *failures.hints(parsed, finished.failures))))


def report_command(study: StudyName, folder: OutFolder = None, where: Slice = None, kernel: Kernels = None) -> None:
    """Write the report of the present results, without measuring anything."""
    from flashbed.commands import reporting
    from flashbed.execution import run

    parsed = load(study, where, kernel)
    folder = folder or report_folder(parsed, where, kernel)
    reporting.check_folder(parsed, folder)
    finished = run.stored(parsed)
    if not finished.records:
        raise InputError(f"{study}: nothing is measured yet. `flashbed run {study}` does it.")
    _report(finished, folder)
    reporting.agree(finished.different)


def allow_command(
    study: StudyName,
    owners: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="NAME...", help="Profiles and jobs whose commands are allowed. Default: only show the commands."
        ),
    ] = None,
) -> None:
    """Allow a study's own file systems to run their `check` on this computer, and its own jobs to run commands on the
    computers to which `export` takes them.

    Each command is allowed once; a changed command must be allowed again. Commands of shipped profiles need no
    permission.
    """
    from flashbed.study import host_commands

    parsed = load(study)
    for command in host_commands.chosen(parsed, owners or ()):
        command.allow()
    for command in (*host_commands.foreign(parsed), *host_commands.of_jobs(parsed)):
        out.print(f"{'allowed    ' if command.is_allowed else 'not allowed'}  {command.owner}  {command.described()}")


def export_command(
    study: StudyName,
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="A new folder for the jobs.")],
    where: Slice = None,
) -> None:
    """Write a study's fio jobs, to be run on another computer under any system with fio.

    README.txt in DIR says how; `flashbed import` imports the results. (The results of `flashbed run` are exported with
    each report: results.csv, .parquet, .json.)
    """
    from flashbed.external_results import exported_jobs

    wanted = load(study, where)
    count, folders = exported_jobs.export(wanted, folder)
    amount = f"{count} job{'s' * (count > 1)} in {folders} folder{'s' * (folders > 1)}"
    out.print(f"{folder}: {amount}; README.txt there says how to run them")
    if left_out := exported_jobs.left_out(wanted):
        out.print(f'{left_out} repetitions have none: flush = "close" needs the lab\'s own fio')


def import_command(
    study: StudyName,
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="A directory of `flashbed export`, with results.")],
    system: Annotated[str, typer.Option("--as", metavar="NAME", help='Where it was measured, such as "Windows XP".')],
) -> None:
    """Import fio's results from another computer, as a series of its own in the study's report.

    Their times are real. They are never compared with the lab's virtual times.
    """
    from flashbed.external_results import imported_results

    imported, planned = imported_results.take_in(load(study), folder, system)
    out.print(
        f"{imported} of {planned} jobs have results; kept as those of {system}. `flashbed report {study}` shows them"
    )


def _site(workers: str | None, jobs: int | None) -> AbstractContextManager[Site | None]:
    """Return where the cells run; None for this host."""
    if workers is None:
        return nullcontext()
    from flashbed.cluster import connecting

    return connecting.connected(workers, jobs)


def _report(done: Run, folder: Path) -> None:
    """Write the report of a run, and print its answer and its path."""
    from flashbed.commands import reporting
    from flashbed.report.evidence import changed_lines

    if done.study.slice_note:
        out.print(done.study.slice_note)
    for coverage in done.coverage:
        out.print(changed_lines(coverage))
    report = reporting.write(done, folder)
    for line in report.lines:
        out.print(line)
    out.print(f"Report: {report.path.absolute()}")


COMMANDS: dict[str, Callable[..., None]] = {
    "run": run_command,
    "report": report_command,
    "allow": allow_command,
    "export": export_command,
    "import": import_command,
}
"""The commands by name, in the order of --help."""
