# SPDX-License-Identifier: Apache-2.0
"""The commands: parse, call, print; nothing else.

Heavy modules are imported where they are used, so that `flashbed --help` and a cached run answer at once.
"""

from __future__ import annotations

import logging
import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, NoReturn

import typer
from rich.console import Console
from rich.table import Table

from flashbed.common.errors import (
    CellsFailedError,
    DifferentResultsError,
    FlashbedError,
    HostResourceError,
    InputError,
    InterruptedByUser,
    host_refusal,
)

app = typer.Typer(
    help="Compare embedded-Linux storage stacks on a real kernel, in virtual time, on modelled media.\n\n"
    "Start with `flashbed run quick`. `flashbed list` shows what else there is.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
image_app = typer.Typer(
    help="The guest: kernel, modules and tools. Built by itself when a run needs it.", no_args_is_help=True
)
app.add_typer(image_app, name="image")

medium_app = typer.Typer(
    help="Media that are kept: made, aged on this host, cut off from power, looked at. A study starts from one with "
    '`from`: "usb-stick-2g:from=worn".',
    no_args_is_help=True,
)
app.add_typer(medium_app, name="medium")

out = Console(highlight=False, markup=False, soft_wrap=True)

StudyName = Annotated[
    str, typer.Argument(metavar="STUDY", help="A study file, or the name of a shipped study (see `flashbed list`).")
]
OutFolder = Annotated[
    Path | None, typer.Option("--out", metavar="DIR", help="Where the report goes. Default: reports/STUDY.")
]
Slice = Annotated[
    list[str] | None,
    typer.Option(
        "--where",
        metavar="AXIS=VALUE",
        help="Only cells with this value, such as filesystem=fat16. May be repeated: values of one axis add up.",
    ),
]


def _print_version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        out.print(f"flashbed {version('flashbed')}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", help="Show the version and exit.", callback=_print_version, is_eager=True)
    ] = False,
) -> None:
    pass


@app.command("run")
def run_command(
    study: StudyName,
    folder: OutFolder = None,
    where: Slice = None,
    jobs: Annotated[int | None, typer.Option(min=1, help="Guests at a time. Default: one for each core.")] = None,
    limit: Annotated[
        float, typer.Option(min=1, metavar="SECONDS", help="This host's time after which a guest counts as hung.")
    ] = 900,
) -> None:
    """Measure what is not measured yet, and write the report.

    Stop it at any time: finished repetitions are kept, and the next run goes on. Exit status: 0 all measured, 1 some
    cells
    failed, 2 the study is wrong, 3 a tool is missing, 4 no room on the disk, 5 a repetition gave two different
    results, 130 interrupted.
    """
    from flashbed.execution import run

    parsed = _load(study, where)
    _check_folder(parsed, folder, where)
    done = run.run(parsed, jobs=jobs, limit_s=limit)
    if done.fresh == 0:
        out.print(f"{len(done.records)} repetitions, all measured before")
    _report(done, folder, where)
    _agree(done.different)
    if done.failures:
        raise CellsFailedError(
            f"{len(done.failures)} of {len(done.records)} repetitions have no measurement; the report lists them, "
            f"and `flashbed show {done.failures[0].repetition.key[:12]}` shows the first"
        )


@app.command("report")
def report_command(study: StudyName, folder: OutFolder = None, where: Slice = None) -> None:
    """Write the report of what has been measured, without measuring anything."""
    from flashbed.execution import run

    parsed = _load(study, where)
    _check_folder(parsed, folder, where)
    done = run.stored(parsed)
    if not done.records:
        raise InputError(f"{study}: nothing is measured yet. `flashbed run {study}` does it.")
    _report(done, folder, where)
    _agree(done.different)


@app.command("allow")
def allow_command(
    study: StudyName,
    owners: Annotated[
        list[str] | None,
        typer.Argument(metavar="NAME...", help="Profiles and jobs whose commands to allow. Default: only show them."),
    ] = None,
) -> None:
    """Let file systems of a study's own profiles run their `check` on this computer, and jobs of its own run commands
    where `export` takes them, once and for all.

    What shipped profiles run needs no leave. A command that changes must be allowed anew.
    """
    from flashbed.execution import host_commands

    parsed = _load(study)
    for command in host_commands.chosen(parsed, owners or ()):
        command.allow()
    for command in (*host_commands.foreign(parsed), *host_commands.of_jobs(parsed)):
        out.print(f"{'allowed    ' if command.is_allowed else 'not allowed'}  {command.owner}  {command.described()}")


@app.command("export")
def export_command(
    study: StudyName,
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="A new folder for the jobs.")],
    where: Slice = None,
) -> None:
    """Write a study's fio jobs, to be run on another computer under any system that has fio.

    README.txt in DIR says how; `flashbed import` brings the results home. (The results of `flashbed run` are exported
    with each report: results.csv, .parquet, .json.)
    """
    from flashbed.external_results import jobs

    count, folders = jobs.export(_load(study, where), folder)
    there = f"{count} job{'s' * (count > 1)} in {folders} folder{'s' * (folders > 1)}"
    out.print(f"{folder}: {there}; README.txt there says how to run them")


@app.command("import")
def import_command(
    study: StudyName,
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="What `flashbed export` wrote, with results in it.")],
    system: Annotated[str, typer.Option("--as", metavar="NAME", help='Where it was measured, such as "Windows XP".')],
) -> None:
    """Take in what fio measured elsewhere, as a series of its own in the study's report.

    Its times are real ones: they are never compared with the lab's virtual ones.
    """
    from flashbed.external_results import results

    found, planned = results.take_in(_load(study), folder, system)
    out.print(
        f"{found} of {planned} jobs have results; kept as those of {system}. `flashbed report {study}` shows them"
    )


@app.command("list")
def list_command() -> None:
    """Show the studies, profiles and results that there are."""
    from flashbed.commands import listing

    for title, columns, rows in listing.everything():
        _print_table(title, columns, rows)
        out.print()


@app.command("show")
def show_command(
    key: Annotated[str, typer.Argument(metavar="KEY", help="The key of a repetition, or its first digits.")],
    file: Annotated[
        str | None, typer.Option(help="Print this artefact instead, such as out/fio.json or console.log.")
    ] = None,
) -> None:
    """Show everything about one repetition: what it was, what came of it, and the files kept."""
    from flashbed.commands import listing

    found = listing.repetition(key)
    if file is not None:
        sys.stdout.buffer.write(found.read(file))
        return
    out.print(found.describe())


@app.command("doctor")
def doctor_command() -> None:
    """Say what is missing on this machine, and the command that mends it."""
    from flashbed.commands import doctor

    findings = list(doctor.examine())
    for finding in findings:
        out.print(f"{'ok     ' if finding.fine else 'MISSING'}  {finding.subject}: {finding.detail}")
        if not finding.fine:
            out.print(f"         -> {finding.remedy}")
    if not all(finding.fine for finding in findings):
        raise typer.Exit(3)


@app.command("schema")
def schema_command(
    kind: Annotated[
        str, typer.Argument(metavar="KIND", help="study, board, medium, translation, filesystem or scheduler.")
    ] = "study",
) -> None:
    """Print the JSON schema of a study or of a kind of profile, for editors."""
    from flashbed.commands import listing

    out.print_json(data=listing.schema(kind))


@image_app.command("build")
def image_build(
    kernel: Annotated[str, typer.Option(metavar="VERSION", help="Version of Debian's linux-source package.")] = "6.1",
    update: Annotated[
        bool, typer.Option("--update", help="Take the package versions that the mirror has today.")
    ] = False,
) -> None:
    """Fetch and build the guest, or mend what is broken of it. Does nothing if all is there."""
    from flashbed.commands import listing

    for name, detail in listing.build_image(kernel, update=update):
        out.print(f"{name}: {detail}")


MediumName = Annotated[
    str,
    typer.Argument(metavar="MEDIUM", help="A name, kept in the cache; or, with a slash in it, the path of a folder."),
]


@medium_app.command("create")
def medium_create(
    name: MediumName,
    profile: Annotated[str, typer.Argument(metavar="PROFILE", help="As in a study: usb-stick-2g:used_bytes=64M.")],
) -> None:
    """Make a new medium, as from the factory."""
    from flashbed.medium import kept_media

    out.print(f"{kept_media.create(name, profile).folder}: a new {profile}")


@medium_app.command("precondition")
def medium_precondition(
    name: MediumName,
    fill: Annotated[bool, typer.Option(help="First write all of it, in order.")] = True,
    fill_request: Annotated[str, typer.Option(metavar="SIZE", help="Size of these requests.")] = "128k",
    overwrite: Annotated[int, typer.Option(min=0, metavar="N", help="Then write N times its size at random.")] = 1,
    request: Annotated[str, typer.Option(metavar="SIZE", help="Size of these requests.")] = "4k",
    seed: Annotated[int, typer.Option(min=0, help="Where they go.")] = 1,
    whole: Annotated[bool, typer.Option("--whole", help="Also what the medium does not show (used_bytes).")] = False,
) -> None:
    """Age a medium: its state only; what is stored on it stays."""
    from flashbed.medium import kept_media

    steps = kept_media.precondition(
        name,
        fill_request=_request_bytes("--fill-request", fill_request) if fill else None,
        overwrites=overwrite,
        overwrite_request=_request_bytes("--request", request),
        seed=seed,
        whole=whole,
    )
    for text, found in steps:
        amplification = found["write_amplification"]
        tail = "" if amplification is None else f", write amplification {amplification:.3f}"
        out.print(f"{text}: {found['duration_ns'] / 1e9:.3f} s of the medium's time{tail}")


@medium_app.command("cut")
def medium_cut(
    name: MediumName,
    at_request: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="While request N is under way. Default: one drawn by seed.")
    ] = None,
    after: Annotated[
        str | None, typer.Option(metavar="TIME", help="Or so long after the first request, such as 20ms.")
    ] = None,
    overwrite: Annotated[int, typer.Option(min=1, metavar="N", help="Write up to N times its size at random.")] = 1,
    request: Annotated[str, typer.Option(metavar="SIZE", help="Size of these requests.")] = "4k",
    seed: Annotated[int, typer.Option(min=0, help="Where they go, when the power fails, what is torn.")] = 1,
    kept_as: Annotated[
        str | None, typer.Option("--as", metavar="NAME", help="Cut a copy of this name; the medium stays as it is.")
    ] = None,
) -> None:
    """Let a medium's power fail while it is written, and keep it as a restart finds it.

    What is stored on it stays, but for sectors that cannot be read any more until they are written again.
    """
    from flashbed.medium import kept_media

    if at_request is not None and after is not None:
        raise InputError("--at-request and --after: the power fails once; give one of them")
    stored, text = kept_media.cut(
        name,
        at_request=at_request,
        after_ns=None if after is None else _duration_ns("--after", after),
        overwrites=overwrite,
        overwrite_request=_request_bytes("--request", request),
        seed=seed,
        kept_as=kept_as,
    )
    out.print(f"{stored.folder}: {text}")


@medium_app.command("age")
def medium_age(
    name: MediumName,
    days: Annotated[int, typer.Option(min=0, metavar="N", help="How long it lies switched off.")],
) -> None:
    """Let time pass while a medium lies switched off: what is stored on worn flash fades."""
    from flashbed.medium import kept_media

    stored, text = kept_media.age(name, days)
    out.print(f"{stored.folder}: {text}")


@medium_app.command("inspect")
def medium_inspect(name: MediumName) -> None:
    """Show what a medium has counted in its life, and how worn it is."""
    from flashbed.medium import kept_media

    lines, tables = kept_media.inspect(name)
    for line in lines:
        out.print(line)
    for title, columns, rows in tables:
        out.print()
        _print_table(title, columns, rows)


@medium_app.command("params")
def medium_params(
    which: Annotated[
        str | None,
        typer.Argument(
            metavar="KIND|PROFILE",
            help="flash, disk, null or nand; or a profile, as in a study: sd-good:used_bytes=64M. Default: all kinds.",
        ),
    ] = None,
) -> None:
    """List every parameter of a medium's profile: unit, range, value if absent, meaning; of a profile also the value
    that it has.
    """
    from flashbed.medium import kept_media

    for line in kept_media.parameters(which):
        out.print(line)


def _selection(texts: Sequence[str] | None) -> dict[str, list[str]]:
    """ "filesystem=fat16:cluster=16k" -> filesystem: [fat16:cluster=16k]"""
    found: dict[str, list[str]] = {}
    for text in texts or []:
        axis, equals, value = text.partition("=")
        if not equals:
            raise InputError(f"--where {text}: write AXIS=VALUE, such as filesystem=fat16")
        found.setdefault(axis, []).append(value)
    return found


def _request_bytes(option: str, text: str) -> int:
    from flashbed.common.units import parse_size

    try:
        size = parse_size(text)
    except ValueError as error:
        raise InputError(f"{option} {text}: {error}") from None
    if not size:
        raise InputError(f"{option} {text}: must be above 0")
    return size


def _duration_ns(option: str, text: str) -> int:
    from flashbed.common.units import parse_duration_ns

    try:
        return parse_duration_ns(text)
    except ValueError as error:
        raise InputError(f"{option} {text}: {error}") from None


def _print_table(title: str, columns: Sequence[str], rows: Sequence[tuple[str, ...]]) -> None:
    table = Table(*columns, title=title, title_justify="left", box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for row in rows:
        table.add_row(*row)
    out.print(table)


def _load(name: str, where: Sequence[str] | None = None) -> Any:
    from flashbed.execution import run
    from flashbed.study import slicing
    from flashbed.study.loading import load_study

    return slicing.narrowed(load_study(run.find_study(name)), _selection(where))


def _folder(study: Any, folder: Path | None, where: Sequence[str] | None) -> Path:
    from flashbed.study import slicing

    return folder or Path("reports") / slicing.folder_name(study.name, _selection(where))


def _check_folder(study: Any, folder: Path | None, where: Sequence[str] | None) -> None:
    """Raises InputError before anything is measured, if the report had to be written over something else."""
    from flashbed.commands import reporting

    reporting.check_folder(study, _folder(study, folder, where))


def _report(done: Any, folder: Path | None, where: Sequence[str] | None) -> None:
    from flashbed.commands import reporting

    if done.study.slice_note:
        out.print(done.study.slice_note)
    path = reporting.write(done, _folder(done.study, folder, where))
    out.print(f"Report: {path.absolute()}")


def _agree(different: Sequence[Any]) -> None:
    """Raises DifferentResultsError if any repetition gave two results."""
    if not different:
        return
    pairs = "".join(f"\n  {one.kept}\n  {one.other}\n" for one in different)
    raise DifferentResultsError(
        "THE SAME REPETITION GAVE DIFFERENT RESULTS. This must never happen; do not trust either until it is explained."
        f"{pairs}Compare the two folders and tell the project. Then remove the second; remove the first, too, to "
        "measure it again."
    )


def _interrupt(*_: object) -> NoReturn:
    raise InterruptedByUser("interrupted; what was finished is kept, and the next run goes on")


def main() -> None:
    """Entry point. Every error of ours is one message and an exit status; see errors.py."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, _interrupt)
    logging.basicConfig(format="flashbed: %(message)s", level=logging.WARNING)
    try:
        sys.exit(app(standalone_mode=False) or 0)
    except FlashbedError as error:
        _leave(error.message, error.exit_code)
    except BrokenPipeError:
        sys.exit(130)
    except OSError as error:
        _leave(host_refusal(Path(), error).message, HostResourceError.exit_code)
    except Exception as error:
        usage = getattr(error, "format_message", None)
        if usage is None:
            raise
        _leave(f"{usage()} See `flashbed --help`.", 2)


def _leave(message: str, status: int) -> NoReturn:
    # What a file says may be in a message, and must not move the cursor
    plain = "".join(
        letter if letter.isprintable() or letter in "\n\t" else f"\\x{ord(letter):02x}" for letter in message
    )
    print(f"flashbed: {plain}", file=sys.stderr)
    sys.exit(status)
