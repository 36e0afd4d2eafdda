# SPDX-License-Identifier: Apache-2.0
"""Read the lines of strace's output: which thread called what, when, with which arguments and result.

The packages on PyPI that parse strace's output (strace-parser 0.2, stracetools 0.1) need -xx or lose the paths of -yy
and the calls that other threads interrupt, and none is widely used. So the lab has its own parser. Must not know what
the calls mean.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from flashbed.traces.call_trace import TraceError

_LINE = re.compile(r"(?:\[pid +([0-9]+)\] |([0-9]+) +)?([0-9]{1,12})\.([0-9]{1,9}) (.*)")
_CALL = re.compile(r"(\w+)\((.*)\) *= (.*)")
_TOOK = re.compile(r"(.*) <([0-9]+)\.([0-9]{1,9})>")
_BEGUN = re.compile(r"(\w+)\((.*?),? *<unfinished \.\.\.>(?:\) *= \?)?")
_RESUMED = re.compile(r"<\.\.\. (\w+) resumed>(.*)")
_ENDED = re.compile(r"\+\+\+ (?:exited with|killed by|superseded by execve in pid)\b.*\+\+\+")

_ESCAPES = {b"n": b"\n", b"t": b"\t", b"r": b"\r", b"v": b"\v", b"f": b"\f", b"a": b"\a", b"b": b"\b"}
_ESCAPE = re.compile(rb"\\(?:x([0-9a-fA-F]{2})|([0-7]{1,3})|(.))")
_STRING = re.compile(r'"(?:[^"\\]|\\.)*"(?:\.\.\.)?')
_DESCRIPTOR = re.compile(r"(-?[0-9]+|AT_FDCWD)(?:<(.*)>)?(?:\(deleted\))?")

CLOSING = {"(": ")", "[": "]", "{": "}"}


@dataclass(frozen=True)
class StraceCall:
    """A call, or a part of one. Times are in us since the epoch, or since what the tracer counts from."""

    line: int
    thread: int
    begin_us: int
    state: Literal["begun", "done", "ended"]
    """begun: it has not returned yet, and `result` is ""; ended: the thread has ended, and there is no call."""
    name: str = ""
    arguments: tuple[str, ...] = ()
    result: str = ""
    """As printed, without the time."""
    took_us: int | None = None
    """None without -T."""


@dataclass(frozen=True)
class Descriptor:
    """A descriptor of an argument or a result: its number (None for AT_FDCWD), and its path with -y or -yy."""

    number: int | None
    path: str | None
    deleted: bool = False


def calls_of(text: str, file: str) -> Iterator[StraceCall]:
    """Yield calls in the order of strace's lines. A call that is interrupted by others' lines comes twice: as it
    begins, and when it is done. Raises TraceError with file and line.
    """
    begun: dict[int, tuple[str, str, int]] = {}
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.startswith("strace: "):
            continue
        match = _LINE.fullmatch(line)
        if match is None:
            raise TraceError(f"{file}:{number}: the line has no thread and time; use strace -f -ttt -T -yy -o FILE")
        thread, at_us, rest = int(match[1] or match[2] or 0), _us(match[3], match[4]), match[5]
        if rest.startswith("---"):
            continue  # a signal
        if _ENDED.fullmatch(rest):
            begun.pop(thread, None)
            yield StraceCall(number, thread, at_us, "ended")
        elif match := _RESUMED.fullmatch(rest):
            if thread not in begun or begun[thread][0] != match[1]:
                continue  # it began before strace was attached
            name, arguments, begin_us = begun.pop(thread)
            yield _done(file, number, thread, begin_us, _joined(name, arguments, match[2]))
        elif match := _BEGUN.fullmatch(rest):
            begun[thread] = (match[1], match[2], at_us)
            yield StraceCall(number, thread, at_us, "begun", match[1], tuple(split(match[2])))
        else:
            yield _done(file, number, thread, at_us, rest)


def _us(seconds: str, fraction: str) -> int:
    return int(seconds) * 1_000_000 + int(fraction.ljust(9, "0")) // 1000


def _joined(name: str, first: str, second: str) -> str:
    """Return a call's line from its two parts. strace drops the comma between arguments of both in some versions."""
    second = second.lstrip()
    comma = ", " if first and second and not second.startswith((")", ",")) else ""
    return f"{name}({first}{comma}{second}"


def _done(file: str, number: int, thread: int, begin_us: int, text: str) -> StraceCall:
    took_us = None
    if match := _TOOK.fullmatch(text):
        text, took_us = match[1], _us(match[2], match[3])
    match = _CALL.fullmatch(text)
    if match is None:
        raise TraceError(f"{file}:{number}: the line has no call as strace writes it: {text[:80]}; is it complete?")
    arguments = tuple(split(match[2]))
    return StraceCall(number, thread, begin_us, "done", match[1], arguments, match[3].strip(), took_us)


def split(text: str) -> list[str]:
    """Return the arguments of a call. Commas in strings, brackets and paths of descriptors do not separate."""
    parts, start, place, depth = [], 0, 0, 0
    while place < len(text):
        letter = text[place]
        if letter == '"':
            string = _STRING.match(text, place)
            place = string.end() if string else len(text)
            continue
        if letter == "<":
            place = _after_path(text, place)
            continue
        if letter in CLOSING:
            depth += 1
        elif letter in CLOSING.values():
            depth -= 1
        elif letter == "," and depth == 0:
            parts.append(text[start:place].strip())
            start = place + 1
        place += 1
    last = text[start:].strip()
    return [*parts, last] if last or parts else []


def _after_path(text: str, place: int) -> int:
    """Return the place behind a descriptor's <...>. It may contain another, and the arrow of a connection."""
    depth = 0
    for at in range(place, len(text)):
        if text[at] == "<":
            depth += 1
        elif text[at] == ">" and not (text[at - 1] == "-" and text[at + 1 : at + 2].strip(",)]>} ")):
            depth -= 1
            if not depth:
                return at + 1
    return len(text)


def string(argument: str) -> str | None:
    """Return the text of a quoted string; None if the argument is none, such as NULL."""
    if not _STRING.fullmatch(argument):
        return None
    return _unescaped(argument.removesuffix("...")[1:-1])


def _unescaped(text: str) -> str:
    def byte(match: re.Match[bytes]) -> bytes:
        if match[1] or match[2]:
            return bytes([int(match[1], 16) if match[1] else int(match[2], 8) & 0xFF])
        return _ESCAPES.get(match[3], match[3])

    if "\\" not in text:
        return text
    return _ESCAPE.sub(byte, text.encode("utf-8", "surrogateescape")).decode("utf-8", "surrogateescape")


def descriptor(argument: str) -> Descriptor | None:
    """Return the descriptor of an argument such as "3", "3</tmp/file>" or "AT_FDCWD</tmp>"; None if it is none."""
    match = _DESCRIPTOR.fullmatch(argument)
    if match is None:
        return None
    path = match[2]
    deleted = argument.endswith("(deleted)") or bool(path and path.endswith(" (deleted)"))
    path = _unescaped(path.removesuffix(" (deleted)")) if path else None
    return Descriptor(None if match[1] == "AT_FDCWD" else int(match[1]), path, deleted)


def without_strings(argument: str) -> str:
    """Return the argument with empty strings, so that their content is not taken for numbers."""
    return _STRING.sub('""', argument)
