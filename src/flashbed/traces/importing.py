# SPDX-License-Identifier: Apache-2.0
"""Import a file of any of the formats: strace's output, fio's iolog, blkparse's text."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path

from flashbed.common import own_file
from flashbed.common.errors import InputError
from flashbed.common.tomlfile import shown
from flashbed.traces import blkparse, call_trace, iolog, strace
from flashbed.traces.recording import Imported


class TraceFormat(StrEnum):
    """A format that can be imported."""

    STRACE = "strace"
    IOLOG = "iolog"
    BLKPARSE = "blkparse"


def format_of(text: str) -> TraceFormat:
    """Return the format of a text, by its first line."""
    first = text.partition("\n")[0]
    if iolog.IOLOG_HEAD.fullmatch(first):
        return TraceFormat.IOLOG
    return TraceFormat.BLKPARSE if blkparse.EVENT.fullmatch(first) else TraceFormat.STRACE


def imported(path: Path, chosen: TraceFormat | None, below: str | None) -> Imported:
    """Return the trace of a file; its first line tells the format unless it is chosen. `below` is the directory whose
    files are replayed, of strace's output only. Raises InputError.
    """
    try:
        text = own_file.read(path).decode("utf-8", "surrogateescape")
    except OSError as error:
        raise InputError(f"{shown(path, 300)} cannot be read: {error.strerror}") from None
    if not text.strip():
        raise InputError(f"{shown(path, 300)} is empty")
    trace_format = chosen or format_of(text)
    if below is not None and trace_format is not TraceFormat.STRACE:
        raise InputError(f"--below is for strace's output, and {shown(path, 300)} is read as {trace_format}")
    match trace_format:
        case TraceFormat.STRACE:
            made = strace.imported(text, str(path), below)
        case TraceFormat.IOLOG:
            made = iolog.imported(text, str(path))
        case TraceFormat.BLKPARSE:
            made = blkparse.imported(text, str(path))
    call_trace.parsed(call_trace.written(made.trace), f"the trace of {shown(path, 300)}")  # the limits of a trace
    return made
