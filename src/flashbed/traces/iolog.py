# SPDX-License-Identifier: Apache-2.0
"""Import fio's iolog (write_iolog): calls of one process on its files.

The format is fio's, "Trace file format" in its HOWTO: version 2 has "FILE ACTION [OFFSET LENGTH]" and the action wait,
us since the one before; version 3 begins each line with the time in us (as fio 3.33 writes it). Python has no library
for it. A log has no durations and no results: calls follow one another, and each is taken to have succeeded.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from flashbed.common.errors import InputError
from flashbed.traces import recording
from flashbed.traces.call_trace import LARGEST_LENGTH, TraceError
from flashbed.traces.recording import FileNames, Imported, Observed, OpenFile

IOLOG_HEAD = re.compile(r"fio version ([23]) iolog\s*")

_FLUSHES = {"sync": "fsync", "datasync": "fdatasync"}


class _Log:
    """The state of a log while it is read."""

    def __init__(self) -> None:
        self.names = FileNames()
        self.observed: list[Observed] = []
        self.files: dict[str, OpenFile] = {}
        self.now_us = 0

    def note(self, name: str, arguments: tuple[OpenFile | int | str | None, ...], result: int = 0) -> None:
        self.observed.append(Observed(0, self.now_us, 0, name, arguments, result))

    def open(self, path: str) -> OpenFile:
        """Return the open file of a name. What is read must be there; what is only written is made."""
        if path not in self.files:
            node = self.names.node(path)
            node.may_be_new |= node.existed is None
            self.files[path] = file = OpenFile(path, node, references=1)
            self.note("open", (file, path, "O_RDWR|O_CREAT", 0o644))
        return self.files[path]

    def close(self, path: str) -> None:
        if (file := self.files.pop(path, None)) is not None:
            self.note("close", (file,))

    def transfer(self, path: str, action: str, offset: int, length: int) -> None:
        file = self.open(path)
        if action == "trim":
            self.note("fallocate", (file, 3, offset, length))  # FALLOC_FL_KEEP_SIZE | FALLOC_FL_PUNCH_HOLE
            return
        self.note("pread" if action == "read" else "pwrite", (file, offset, length), length)
        if action == "read":
            file.node.has_bytes(offset + length)
        else:
            file.node.grows(offset + length)


def imported(text: str, file: str) -> Imported:
    """Return the trace of a log; `file` is its name in messages. Raises InputError with file and line."""
    lines = text.splitlines()
    head = IOLOG_HEAD.fullmatch(lines[0]) if lines else None
    if head is None:
        raise TraceError(f"{file}:1: the file is not an iolog of fio of version 2 or 3")
    has_times, log = head[1] == "3", _Log()
    for number, line in enumerate(lines[1:], 2):
        words = line.split()
        if not words:
            continue
        try:
            if has_times:
                log.now_us = max(log.now_us, int(words.pop(0)))
            _take(log, *words)
        except (TypeError, ValueError, KeyError):
            raise TraceError(f"{file}:{number}: the line does not belong to an iolog: {line[:80]}") from None
    try:
        made = recording.made(log.observed, log.names, recording.common(log.observed))
    except InputError as error:
        raise InputError(f"{file}: {error.message}") from None
    made.remarks.append("an iolog has no durations and no results: calls follow one another, and all succeed")
    return made


def _take(log: _Log, path: str, action: str, *numbers: str) -> None:
    """Note one line. Raises TypeError, ValueError or KeyError if it is none."""
    if action == "wait":
        log.now_us += int(numbers[0])
        return
    simple: dict[str, Callable[[str], object]] = {"open": log.open, "close": log.close, "add": str}
    if action in simple:
        simple[action](path)
    elif action in _FLUSHES:
        log.note(_FLUSHES[action], (log.open(path),))
    elif action == "unlink":
        log.close(path)
        log.note("unlink", (path,))
        log.names.removed(path)
    elif action in ("read", "write", "trim"):
        offset, length = map(int, numbers[:2])
        if offset < 0 or not 0 < length <= LARGEST_LENGTH:
            raise ValueError
        log.transfer(path, action, offset, length)
    elif action == "sync_file_range":
        log.note("sync_file_range", (log.open(path), int(numbers[0]), int(numbers[1]), 2))  # SYNC_FILE_RANGE_WRITE
    else:
        raise KeyError(action)
