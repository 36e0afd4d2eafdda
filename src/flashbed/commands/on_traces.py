# SPDX-License-Identifier: Apache-2.0
"""The commands on traces of system calls: parse, call, print; nothing else."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from flashbed.commands.terminal import out
from flashbed.traces.importing import TraceFormat

trace_app = typer.Typer(
    help='Traces of system calls, which a study replays (tool = "trace").',
    no_args_is_help=True,
)


@trace_app.callback()
def _group() -> None:
    """Keep `import` a command of its own while it is the only one."""


@trace_app.command("import")
def trace_import(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="strace's output, a fio iolog, or blkparse's text.")],
    to: Annotated[Path, typer.Option("--out", "-o", metavar="OUT.trace", help="The trace.")],
    chosen: Annotated[TraceFormat | None, typer.Option("--format", help="Default: the first line tells.")] = None,
    below: Annotated[
        str | None,
        typer.Option(
            metavar="DIR",
            help="The directory whose files are replayed. Default: the one with most of the files that are changed.",
        ),
    ] = None,
) -> None:
    """Make a trace from what was observed on a board, and tell what it does not have.

    strace: `strace -f -ttt -T -yy -o FILE PROGRAM`. docs/traces.md says what each way costs the board.
    """
    from flashbed.common import atomic
    from flashbed.guest_output.program_calls import Operation
    from flashbed.traces import call_trace, importing
    from flashbed.workload.trace import OPERATION_OF_CALL

    imported_trace = importing.imported(file, chosen, below)
    trace = imported_trace.trace
    comments = [f"from {file.name}", *([f"below {imported_trace.below}"] if imported_trace.below else [])]
    atomic.write_named(to, call_trace.written(trace, comments).encode("ascii"))
    seconds = max(call.end_us for call in trace.calls) / 1e6
    out.print(f"{to}: {len(trace.calls)} calls of {trace.threads} threads at a time, in {seconds:.3f} s")
    calls_of = {
        operation: [name for name, of in OPERATION_OF_CALL.items() if of is operation] for operation in Operation
    }
    for title, operation in (("read", Operation.READ), ("written", Operation.WRITE)):
        names = calls_of[operation]
        out.print(f"  {title}: {trace.moved(*names)} bytes in {trace.many(*names)} calls")
    out.print(f"  flushed: {trace.many(*calls_of[Operation.FLUSH])} times")
    if imported_trace.below:
        out.print(f"  below {imported_trace.below}; {imported_trace.elsewhere} calls on other files are left out")
    if imported_trace.across:
        out.print(f"  {imported_trace.across} calls with a name inside and one outside are left out")
    for name, many in sorted(imported_trace.not_replayed.items()):
        out.print(f"  {many} calls of {name}() cannot be replayed")
    for remark in imported_trace.remarks:
        out.print(f"  {remark}")
