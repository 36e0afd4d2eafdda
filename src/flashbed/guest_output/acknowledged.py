# SPDX-License-Identifier: Apache-2.0
"""Read which lines a program acknowledged, and when, from the emulator's notes of its writes to a file.

The file is in the guest's memory, and a power cut takes it. The notes say when each write returned, so that the lines
of a guest that ran to its end say what another guest, equal until its power was cut, had acknowledged by then.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from flashbed.guest_output import processes, system_calls
from flashbed.guest_output.system_calls import CALLS, Number

_WRITES = (Number.WRITE, Number.WRITEV)


class Acknowledged(NamedTuple):
    """A line, without its newline, and when the write returned that ended it: virtual time from power-on, ns."""

    at_ns: int
    line: bytes


def acknowledged(out: Mapping[str, bytes], path: str, name: str) -> Sequence[Acknowledged]:
    """Return the lines that programs wrote, in the order of their writes, to the guest's file `path`; `name` is what it
    is called in /out. Return [] if nothing was written. Raises KeyError if calls were not noted, and ValueError.
    """
    content = out.get(name, b"")
    lines: list[Acknowledged] = []
    begun = b""
    for at_ns, data in _writes(out[CALLS], path, content):
        *ended, begun = (begun + data).split(b"\n")
        lines.extend(Acknowledged(at_ns, line) for line in ended)
    return lines


def until(lines: Sequence[Acknowledged], at_ns: int) -> Sequence[Acknowledged]:
    """Return the lines that were acknowledged at this moment."""
    return [line for line in lines if line.at_ns <= at_ns]


def _writes(notes: bytes, path: str, content: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield the end and the data of each write to the file. The emulator notes the data of short writes only; those of
    a longer one are looked up in the file's content, to which each write appended.
    """
    of = system_calls.notes(notes)
    at = 0
    for call in processes.follow(of, system_calls.window(of).begin_ns).calls:
        written = call.result
        if call.note.number not in _WRITES or not call.files or call.files[0].path != path or not written:
            continue
        if written < 0:
            continue
        data = call.note.text[:written]
        if len(data) < written:
            data = content[at : at + written]
        if len(data) < written:
            raise ValueError(f"{path}: {written} bytes were written at once, and the file does not have them")
        at += written
        yield call.note.end_ns, data
