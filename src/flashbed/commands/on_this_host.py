# SPDX-License-Identifier: Apache-2.0
"""The commands about this host and about the guest: parse, call, print; nothing else."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer

from flashbed.commands.terminal import out, print_table, write_artefact
from flashbed.common import paths

image_app = typer.Typer(
    help="The guest: kernel, modules and tools. Built by itself when a run needs it.", no_args_is_help=True
)


def list_command() -> None:
    """List studies, profiles and results."""
    from flashbed.commands import listing

    for title, columns, rows in listing.everything():
        print_table(title, columns, rows)
        out.print()


def show_command(
    key: Annotated[str, typer.Argument(metavar="KEY", help="The key of a repetition, or its first digits.")],
    file: Annotated[
        str | None, typer.Option(help="Print this artefact instead, such as out/fio.json or console.log.")
    ] = None,
) -> None:
    """Show one repetition: its inputs, its result, and its kept files."""
    from flashbed.commands import listing

    shown = listing.repetition(key)
    if file is not None:
        write_artefact(shown.read(file))
        return
    out.print(shown.describe())


def doctor_command() -> None:
    """Check what is missing on this machine, and name the command that installs it."""
    from flashbed.commands import doctor

    findings = list(doctor.examine())
    for finding in findings:
        state = "ok     " if finding.fine else "MISSING" if finding.needed else "caution"
        out.print(f"{state}  {finding.subject}: {finding.detail}")
        if not finding.fine:
            out.print(f"         -> {finding.remedy}")
    if any(finding.needed and not finding.fine for finding in findings):
        raise typer.Exit(3)


def cache_command(
    remove_unused: Annotated[
        int | None,
        typer.Option(
            "--remove-unused",
            min=1,
            metavar="DAYS",
            help="Remove entries that can be made again and were not used for DAYS days.",
        ),
    ] = None,
) -> None:
    """Show the content and size of the cache; remove entries that were not used for long.

    Results, imports and kept media are never removed. Nothing is removed while a run is under way.
    """
    from flashbed.commands import cached

    root = paths.cache_root()
    if remove_unused is not None:
        for line in cached.removed(root, remove_unused):
            out.print(line)
        return
    print_table(f"Cache: {root}", ("folder", "size", "what it is"), cached.parts(root))
    out.print(cached.advice(root))


def schema_command(
    kind: Annotated[
        str, typer.Argument(metavar="KIND", help="study, board, medium, translation, filesystem or scheduler.")
    ] = "study",
) -> None:
    """Print the JSON schema of a study or of a kind of profile, for editors."""
    from flashbed.commands import listing

    out.print_json(data=listing.schema(kind))


_Studies = Annotated[
    list[str] | None,
    typer.Argument(metavar="[STUDY]...", help="What these studies take. Default: all file systems of a kernel."),
]
_Kernel = Annotated[str, typer.Option(metavar="VERSION", help="Without studies: one of the lab's kernels.")]


@image_app.command("build")
def image_build(
    studies: _Studies = None,
    kernel: _Kernel = "6.1",
    update: Annotated[
        bool, typer.Option("--update", help="Use today's packages of the suite, and update the lock.")
    ] = False,
) -> None:
    """Fetch and build the guest, or repair it. Does nothing if it is complete."""
    from flashbed.commands import images

    images.check_kernel(kernel)
    if update:
        out.print(images.update_packages())
    for name, detail in images.build_for(studies) if studies else images.build(kernel):
        out.print(f"{name}: {detail}")


@image_app.command("lock")
def image_lock(
    study: Annotated[
        str | None,
        typer.Argument(
            metavar="[STUDY]", help="A study file: its lock is written beside it. Default: the repository's."
        ),
    ] = None,
) -> None:
    """Write a lock: the versions, digests and origins of everything that studies are measured with here.

    `flashbed run STUDY --locked` uses exactly these, here and elsewhere.
    """
    from flashbed.commands import images

    out.print(images.write_lock(study))


@image_app.command("export")
def image_export(
    studies: _Studies = None,
    to: Annotated[Path, typer.Option("-o", "--output", metavar="FILE", help="The file, NAME.flashbed.")] = Path(
        "image.flashbed"
    ),
    kernel: _Kernel = "6.1",
) -> None:
    """Put the emulator, the kernel and all programs of guests into one file, for hosts that build nothing."""
    from flashbed.commands import images

    images.check_kernel(kernel)
    out.print(images.export(to, studies or [], kernel))


@image_app.command("import")
def image_import(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="An image, as `flashbed image export` makes them.")],
) -> None:
    """Take in what another host has built. Its programs run on this one: take images from people whose programs you
    would run.
    """
    from flashbed.commands import images

    for line in images.take_in(file):
        out.print(line)


COMMANDS: dict[str, Callable[..., None]] = {
    "list": list_command,
    "show": show_command,
    "doctor": doctor_command,
    "cache": cache_command,
    "schema": schema_command,
}
"""The commands by name, in the order of --help."""
