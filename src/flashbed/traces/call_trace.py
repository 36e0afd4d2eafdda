# SPDX-License-Identifier: Apache-2.0
"""The lab's own trace of system calls: its types, its text, and its limits. docs/traces.md describes the text.

guest/replay.c reads the same text; both have the same table of calls.
"""

from __future__ import annotations

import errno
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal
from urllib.parse import quote_from_bytes, unquote_to_bytes

from flashbed.common.errors import InputError
from flashbed.common.units import LARGEST_INT64

TRACE_HEAD = "flashbed trace 1"

CALL_ARGUMENTS: Mapping[str, str] = {
    "open": "hpfm",
    "close": "h",
    "read": "hn",
    "write": "hn",
    "pread": "hnn",  # offset, length
    "pwrite": "hnn",
    "lseek": "hnn",  # offset, whence
    "fsync": "h",
    "fdatasync": "h",
    "syncfs": "h",
    "sync": "",
    "sync_file_range": "hnnn",
    "ftruncate": "hn",
    "truncate": "pn",
    "fallocate": "hnnn",
    "rename": "ppn",
    "unlink": "p",
    "mkdir": "pm",
    "rmdir": "p",
    "link": "pp",
    "symlink": "tp",
    "stat": "p",
    "fchmod": "hm",
    "chmod": "pm",
    "fchown": "hnn",
    "chown": "pnn",
}
"""The kinds of each call's arguments: h, the number of an open file; p, a path's number; n, a decimal number; f, flags
of open(); m, a mode in octal; t, a text.
"""

OPEN_FLAGS = (
    "O_RDONLY",
    "O_WRONLY",
    "O_RDWR",
    "O_CREAT",
    "O_EXCL",
    "O_TRUNC",
    "O_APPEND",
    "O_DIRECT",
    "O_DSYNC",
    "O_SYNC",
    "O_DIRECTORY",
    "O_NOFOLLOW",
    "O_NOATIME",
    "O_PATH",
    "O_TMPFILE",
)
"""The flags of open() that matter to a file system. Others, such as O_CLOEXEC, are left out of a trace."""

NO_FILE = -1
"""The open file of an open() that failed; written as "-"."""

MOST_CALLS = 1_000_000
MOST_THREADS = 256
MOST_HANDLES = 1 << 16

LARGEST_LENGTH = 64 << 20
"""The most bytes of one read or write: the guest has a buffer of this size, and a board has little memory."""

LONGEST_PATH = 1024

Argument = int | str


class TraceError(InputError):
    """A trace cannot be used; the text names the file and the line."""


@dataclass(frozen=True)
class TracePath:
    """A name in the file system, relative to the directory of the replay, and what it is before the first call."""

    name: str
    kind: Literal["file", "dir", "none"]
    size: int = 0
    """Bytes; of a file only."""


@dataclass(frozen=True)
class TracedCall:
    """A system call. Times are in us since the trace's start."""

    thread: int
    begin_us: int
    took_us: int
    name: str
    arguments: tuple[Argument, ...]
    result: int | str
    """What the call returned, or the name of its error. open() has 0: its open file is its first argument."""

    @property
    def end_us(self) -> int:
        return self.begin_us + self.took_us


@dataclass(frozen=True)
class CallTrace:
    """Calls ordered by their begin, and the paths that they name."""

    paths: tuple[TracePath, ...]
    calls: tuple[TracedCall, ...]

    @property
    def threads(self) -> int:
        """Return the number of threads. Their numbers begin with 0."""
        return max((call.thread for call in self.calls), default=-1) + 1

    def moved(self, *names: str) -> int:
        """Return the bytes that all calls of these names moved."""
        return sum(call.result for call in self.calls if call.name in names and isinstance(call.result, int))

    def many(self, *names: str) -> int:
        """Return the number of calls of these names."""
        return sum(call.name in names for call in self.calls)

    def most_bytes(self) -> int:
        """Return an upper bound of the bytes that files take at any time: a file that was deleted still counts."""
        ends = {index: path.size for index, path in enumerate(self.paths)}
        written = 0
        opened: dict[Argument, int] = {}
        for call in self.calls:
            if isinstance(call.result, str):
                continue
            if call.name == "open":
                opened[call.arguments[0]] = int(call.arguments[1])
            elif call.name == "write":
                written += call.result
            elif call.name in _ENDS:
                end = sum(int(call.arguments[place]) for place in _ENDS[call.name])
                end += call.result if call.name == "pwrite" else 0
                path = int(call.arguments[0]) if call.name == "truncate" else opened[call.arguments[0]]
                ends[path] = max(ends[path], end)
        return sum(ends.values()) + written


_ENDS = {"pwrite": (1,), "ftruncate": (1,), "truncate": (1,), "fallocate": (2, 3)}
"""Calls that say where a file ends at least: the places of the arguments whose sum it is, without the result."""


def written(trace: CallTrace, comments: Iterable[str] = ()) -> str:
    """Return the text of a trace. Each of `comments` becomes a line."""
    lines = [TRACE_HEAD, *(f"# {' '.join(comment.split())}" for comment in comments)]
    for number, path in enumerate(trace.paths):
        size = f" {path.size}" if path.kind == "file" else ""
        lines.append(f"path {number} {path.kind}{size} {_quoted(path.name)}")
    for call in trace.calls:
        words = (_word(kind, value) for kind, value in zip(CALL_ARGUMENTS[call.name], call.arguments, strict=True))
        head = f"{call.thread} {call.begin_us} {call.took_us}"
        lines.append(" ".join((head, call.name, *words, "=", str(call.result))))
    return "\n".join(lines) + "\n"


def parsed(text: str, file: str) -> CallTrace:
    """Return the trace of a text. `file` is its name in messages. Raises TraceError with file and line."""
    lines = text.split("\n")
    if lines[0].rstrip() != TRACE_HEAD:
        raise TraceError(f'{file}:1: the first line of a trace is "{TRACE_HEAD}"; flashbed trace import makes one')
    paths: list[TracePath] = []
    calls: list[TracedCall] = []
    handles: set[int] = set()
    for number, line in enumerate(lines[1:], 2):
        if not line or line.startswith("#"):
            continue
        try:
            words = line.split(" ")
            if words[0] == "path":
                if calls:
                    raise ValueError("all paths come before the first call")
                paths.append(_path(words, len(paths)))
            else:
                call = _call(words)
                _check(call, calls[-1] if calls else None, paths, handles)
                calls.append(call)
            if len(calls) > MOST_CALLS:
                raise ValueError(f"a trace has at most {MOST_CALLS} calls; import a part of it")
        except ValueError as error:
            raise TraceError(f"{file}:{number}: {error}") from None
    if not calls:
        raise TraceError(f"{file}: the trace has no call, so nothing would be replayed")
    return CallTrace(tuple(paths), tuple(calls))


def _path(words: list[str], expected: int) -> TracePath:
    sized = len(words) > 2 and words[2] == "file"
    if len(words) != 4 + sized or words[2] not in ("file", "dir", "none"):
        raise ValueError('a path is "path NUMBER file SIZE NAME", "path NUMBER dir NAME" or "path NUMBER none NAME"')
    if _whole(words[1]) != expected:
        raise ValueError(f"paths are numbered in order, and this one is {expected}, not {words[1]}")
    name = _unquoted(words[-1])
    if name.startswith("/") or ".." in name.split("/") or not 0 < len(name.encode()) <= LONGEST_PATH:
        raise ValueError(f"a name is relative, without .., and has 1 to {LONGEST_PATH} bytes: {words[-1][:80]}")
    return TracePath(name, words[2], _whole(words[3]) if sized else 0)  # type: ignore[arg-type]


def _call(words: list[str]) -> TracedCall:
    name = words[3] if len(words) > 3 else ""
    if name not in CALL_ARGUMENTS:
        raise ValueError(f'no call "{name}"; a call is "THREAD BEGIN_US TOOK_US CALL ARGUMENTS = RESULT"')
    kinds = CALL_ARGUMENTS[name]
    if len(words) != 4 + len(kinds) + 2 or words[-2] != "=":
        raise ValueError(f'{name} has {len(kinds)} arguments, and then "= RESULT"')
    arguments = tuple(_value(kind, word) for kind, word in zip(kinds, words[4:-2], strict=True))
    result: int | str = words[-1]
    if result not in errno.errorcode.values():
        result = _whole(words[-1])
    thread, begin_us, took_us = map(_whole, words[:3])
    return TracedCall(thread, begin_us, took_us, name, arguments, result)


def _check(call: TracedCall, before: TracedCall | None, paths: list[TracePath], handles: set[int]) -> None:
    """Raise ValueError if the call cannot follow those before. `handles` are the open files; it is updated."""
    if before is not None and call.begin_us < before.begin_us:
        raise ValueError(f"calls are ordered by their begin, and {call.begin_us} is before {before.begin_us}")
    if call.thread >= MOST_THREADS:
        raise ValueError(f"a trace has at most {MOST_THREADS} threads at a time")
    is_done = isinstance(call.result, int)
    for kind, value in zip(CALL_ARGUMENTS[call.name], call.arguments, strict=True):
        if kind == "p" and not 0 <= int(value) < len(paths):
            raise ValueError(f"the trace has no path {value}")
        if kind != "h":
            continue
        if call.name == "open":
            if (value == NO_FILE) == is_done:
                raise ValueError('open() has the number of its open file if it succeeds, and "-" if it fails')
            if is_done and (not 0 <= int(value) < MOST_HANDLES or value in handles):
                raise ValueError(f"open file {value} is open already, or is not below {MOST_HANDLES}")
            handles.update({int(value)} if is_done else ())
        elif value not in handles:
            raise ValueError(f"the trace has opened no file {value}")
        elif call.name == "close":
            handles.discard(int(value))
    if call.name in ("read", "write", "pread", "pwrite"):
        length = int(call.arguments[-1])
        if not 0 <= length <= LARGEST_LENGTH:
            raise ValueError(f"a call moves at most {LARGEST_LENGTH} bytes, not {length}")
        if is_done and int(call.result) > length:
            raise ValueError(f"{call.name} of {length} bytes cannot return {call.result}")


def _whole(word: str) -> int:
    if not re.fullmatch("[0-9]{1,19}", word) or int(word) > LARGEST_INT64:
        raise ValueError(f"a whole number is expected, not {word[:40]!r}")
    return int(word)


def _value(kind: str, word: str) -> Argument:
    match kind:
        case "h" if word == "-":
            return NO_FILE
        case "n" if word.startswith("-"):
            return -_whole(word[1:])
        case "m":
            if not re.fullmatch("[0-7]{1,7}", word):
                raise ValueError(f"a mode is octal, not {word[:40]!r}")
            return int(word, 8)
        case "f":
            if unknown := [flag for flag in word.split("|") if flag not in OPEN_FLAGS]:
                raise ValueError(f"a trace cannot have this flag of open(): {unknown[0][:40]!r}")
            return word
        case "t":
            return _unquoted(word)
    return _whole(word)


def _word(kind: str, value: Argument) -> str:
    match kind:
        case "h" if value == NO_FILE:
            return "-"
        case "m":
            return f"{value:o}"
        case "t":
            return _quoted(str(value))
    return str(value)


def _quoted(name: str) -> str:
    """Return a name as one word of printable ASCII: other bytes, "%" and blanks as %XX."""
    return quote_from_bytes(name.encode("utf-8", "surrogateescape"), safe="/._-~+,:=@!^()[]{}$&'*;?\"<>|`#\\")


def _unquoted(word: str) -> str:
    if not word.isascii() or "\0" in (name := unquote_to_bytes(word).decode("utf-8", "surrogateescape")):
        raise ValueError("a name has printable ASCII only, other bytes as %XX, and no NUL")
    return name
