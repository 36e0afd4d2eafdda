# SPDX-License-Identifier: Apache-2.0
"""The commands on packs: parse, call, print; nothing else."""

from __future__ import annotations

import shlex
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer

from flashbed.commands.chosen_study import Kernels, Slice, StudyName, load, report_folder
from flashbed.commands.terminal import out
from flashbed.common import programs
from flashbed.common.errors import CellsFailedError, InterruptedByUser


def pack_command(
    study: StudyName,
    to: Annotated[
        Path | None, typer.Option("--out", "-o", metavar="FILE", help="The pack. Default: STUDY.flashbed.")
    ] = None,
    where: Slice = None,
    kernel: Kernels = None,
    jobs: Annotated[int | None, typer.Option(min=1, help="Guests at a time, for what is not measured yet.")] = None,
    locked: Annotated[
        bool, typer.Option("--locked", help="Take what the study's lock names, and nothing else; see docs/pinned.md.")
    ] = False,
) -> None:
    """Pack a study's results, and everything that they depend on, into one file that any x86_64 Linux with Python can
    run again.

    Measures missing repetitions first. `flashbed verify FILE` runs the pack again; without flashbed, `python3 FILE`
    does the same. Exit status as of `flashbed run`.
    """
    from flashbed.commands import reporting
    from flashbed.execution import run
    from flashbed.packs import making
    from flashbed.replay import pack_file

    parsed = load(study, where, kernel)
    to = to or Path(f"{report_folder(parsed, where, kernel).name}{pack_file.PACK_SUFFIX}")
    making.check(parsed)
    making.prepare(to)
    try:
        measured = run.run(parsed, jobs=jobs, locked=locked)
        reporting.agree(measured.different)
        with tempfile.TemporaryDirectory() as scratch:
            report = reporting.write(measured, Path(scratch) / "report").path.parent
            count = making.make(measured, report, to, Path(scratch))
    except InterruptedByUser:
        kept = "interrupted; no pack was written; what was measured is kept, and the next run goes on from there"
        raise InterruptedByUser(kept) from None
    size = to.stat().st_size
    again = f"`flashbed verify {shlex.quote(str(to))}` runs it again"
    out.print(f"Pack: {to.absolute()} ({count} repetitions, {size} bytes); {again}")
    if measured.failures:
        raise CellsFailedError(f"{len(measured.failures)} repetitions have no measurement, and are not in the pack")


def verify_command(
    pack: Annotated[Path, typer.Argument(metavar="FILE", help="A pack, as `flashbed pack` makes them.")],
    cells: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="Run only N cells, spread over the study. Default: all.")
    ] = None,
    jobs: Annotated[int | None, typer.Option(min=1, help="Guests at a time. Default: one for each core.")] = None,
    limit: Annotated[
        float, typer.Option(min=1, metavar="SECONDS", help="This host's time after which a guest counts as hung.")
    ] = 900,
    folder: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Directory of temporary files. Default: TMPDIR, or /tmp.")
    ] = None,
) -> None:
    """Run a pack again, with its own emulator, kernel and programs, and compare each byte.

    It runs programs of the pack: take packs only from people whose programs you would run.

    Exit status: 0 same bytes; 5 something differs; 2 the pack is damaged, or is none; 3 its programs do not start here;
    4 a guest could not be run here; 130 interrupted.
    """
    from flashbed.replay import verifying

    settings = verifying.VerifyOptions(cells, jobs or programs.cores(), limit, folder)
    try:
        verifying.verify(pack, settings, out.print)
    except InterruptedByUser:
        raise InterruptedByUser("interrupted; verify keeps nothing, so the next one begins anew") from None


COMMANDS: dict[str, Callable[..., None]] = {"pack": pack_command, "verify": verify_command}
"""The commands by name, in the order of --help."""
