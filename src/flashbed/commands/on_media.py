# SPDX-License-Identifier: Apache-2.0
"""The commands on kept media: parse, call, print; nothing else."""

from __future__ import annotations

from typing import Annotated

import typer

from flashbed.commands.terminal import out, print_table
from flashbed.common.errors import InputError
from flashbed.common.units import parse_duration_ns, parse_size

medium_app = typer.Typer(
    help="Media that are kept: made, aged on this host, cut off from power, looked at. A study starts from one with "
    '`from`: "usb-stick-2g:from=worn".',
    no_args_is_help=True,
)

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
    seed: Annotated[int, typer.Option(min=0, help="Seed of their addresses.")] = 1,
    whole: Annotated[bool, typer.Option("--whole", help="Also the part beyond used_bytes.")] = False,
) -> None:
    """Age a medium. Only its wear and mapping change; the stored data stay."""
    from flashbed.medium import kept_media

    steps = kept_media.precondition(
        name,
        fill_request=_request_bytes("--fill-request", fill_request) if fill else None,
        overwrites=overwrite,
        overwrite_request=_request_bytes("--request", request),
        seed=seed,
        whole=whole,
    )
    for text, result in steps:
        amplification = result.write_amplification
        tail = "" if amplification is None else f", write amplification {amplification:.3f}"
        out.print(f"{text}: {result.duration_ns / 1e9:.3f} s of the medium's time{tail}")


@medium_app.command("cut")
def medium_cut(
    name: MediumName,
    at_request: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="Cut at request N. Default: the seed draws one.")
    ] = None,
    after: Annotated[
        str | None, typer.Option(metavar="TIME", help="Or cut this long after the first request, such as 20ms.")
    ] = None,
    overwrite: Annotated[int, typer.Option(min=1, metavar="N", help="Write up to N times its size at random.")] = 1,
    request: Annotated[str, typer.Option(metavar="SIZE", help="Size of these requests.")] = "4k",
    seed: Annotated[int, typer.Option(min=0, help="Seed of addresses, of the cut and of torn writes.")] = 1,
    kept_as: Annotated[
        str | None, typer.Option("--as", metavar="NAME", help="Cut a copy of this name; the medium stays as it is.")
    ] = None,
) -> None:
    """Cut a medium's power while it is written, and keep its state for a restart.

    The stored data stay, except for sectors that are unreadable until they are written again.
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
    days: Annotated[int, typer.Option(min=0, metavar="N", help="Days switched off.")],
) -> None:
    """Let time pass while a medium is switched off: data on worn flash fade."""
    from flashbed.medium import kept_media

    stored, text = kept_media.age(name, days)
    out.print(f"{stored.folder}: {text}")


@medium_app.command("inspect")
def medium_inspect(name: MediumName) -> None:
    """Show a medium's counters over its life, and its wear."""
    from flashbed.medium import kept_media

    lines, tables = kept_media.inspect(name)
    for line in lines:
        out.print(line)
    for table in tables:
        out.print()
        print_table(table.title, table.columns, table.rows)


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
    """List every parameter of a medium's profile: unit, range, default, meaning; for a profile also its value."""
    from flashbed.medium import kept_media

    for line in kept_media.parameters(which):
        out.print(line)


def _request_bytes(option: str, text: str) -> int:
    try:
        size = parse_size(text)
    except ValueError as error:
        raise InputError(f"{option} {text}: {error}") from None
    if not size:
        raise InputError(f"{option} {text}: must be above 0")
    return size


def _duration_ns(option: str, text: str) -> int:
    try:
        return parse_duration_ns(text)
    except ValueError as error:
        raise InputError(f"{option} {text}: {error}") from None
