# SPDX-License-Identifier: Apache-2.0
"""The lab's own trace is written and read without loss, and a wrong line is one message with file and line."""

from __future__ import annotations

import re

import pytest

from flashbed.common import paths
from flashbed.traces.call_trace import (
    CALL_ARGUMENTS,
    OPEN_FLAGS,
    CallTrace,
    TracedCall,
    TraceError,
    TracePath,
    parsed,
    written,
)

TRACE = CallTrace(
    (TracePath(".", "dir"), TracePath("a b/é%", "file", 8192), TracePath("new", "none")),
    (
        TracedCall(0, 0, 5, "open", (0, 1, "O_RDWR|O_CREAT", 0o644), 0),
        TracedCall(0, 6, 1, "open", (-1, 2, "O_RDONLY", 0), "ENOENT"),
        TracedCall(1, 8, 9, "pwrite", (0, 4096, 512), 512),
        TracedCall(0, 10, 2, "lseek", (0, -100, 2), 8092),
        TracedCall(0, 20, 1, "symlink", ("../x y", 2), 0),
        TracedCall(0, 21, 1, "chmod", (1, 0o600), 0),
        TracedCall(0, 30, 100, "fdatasync", (0,), 0),
        TracedCall(0, 131, 1, "close", (0,), 0),
    ),
)


def test_a_trace_is_read_as_it_was_written() -> None:
    text = written(TRACE, ["made by\nhand"])
    assert text.splitlines()[:4] == [
        "flashbed trace 1",
        "# made by hand",
        "path 0 dir .",
        "path 1 file 8192 a%20b/%C3%A9%25",
    ]
    assert "1 8 9 pwrite 0 4096 512 = 512" in text.splitlines()
    assert "0 6 1 open - 2 O_RDONLY 0 = ENOENT" in text.splitlines()
    assert parsed(text, "a.trace") == TRACE


def test_the_calls_of_a_trace_are_counted() -> None:
    assert (TRACE.threads, TRACE.many("open"), TRACE.moved("write", "pwrite")) == (2, 2, 512)


def test_files_take_at_most_their_ends_and_what_is_appended() -> None:
    opened = "path 0 file 100 a\n0 0 0 open 7 0 O_RDWR 0 = 0\n"
    for line, most in {
        "pwrite 7 50 10 = 10": 100,
        "pwrite 7 1000 10 = 10": 1010,
        "pwrite 7 1000 10 = ENOSPC": 100,
        "write 7 10 = 10": 110,
        "ftruncate 7 5000 = 0": 5000,
        "truncate 0 6000 = 0": 6000,
        "fallocate 7 0 4096 4096 = 0": 8192,
    }.items():
        assert parsed(f"flashbed trace 1\n{opened}0 1 0 {line}\n", "a").most_bytes() == most, line


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", 'a.trace:1: the first line of a trace is "flashbed trace 1"; flashbed trace import makes one'),
        ("flashbed trace 1\npath 0 dir .\n", "a.trace: the trace has no call, so nothing would be replayed"),
        ("flashbed trace 1\npath 1 dir .\n", "a.trace:2: paths are numbered in order, and this one is 0, not 1"),
        (
            "flashbed trace 1\npath 0 dir ../x\n",
            "a.trace:2: a name is relative, without .., and has 1 to 1024 bytes: ../x",
        ),
        ("flashbed trace 1\n0 0 0 mmap 1 = 0\n", 'a.trace:2: no call "mmap"; a call is "THREAD BEGIN_US TOOK_US CALL'),
        ("flashbed trace 1\n0 0 0 read 1 = 0\n", 'a.trace:2: read has 2 arguments, and then "= RESULT"'),
        ("flashbed trace 1\n0 0 0 read 1 5 = 0\n", "a.trace:2: the trace has opened no file 1"),
        ("flashbed trace 1\n0 0 0 stat 0 = 0\n", "a.trace:2: the trace has no path 0"),
        ("flashbed trace 1\n0 0 x sync = 0\n", "a.trace:2: a whole number is expected, not 'x'"),
        ("flashbed trace 1\n0 5 0 sync = 0\n0 4 0 sync = 0\n", "a.trace:3: calls are ordered by their begin, and 4 is"),
        ("flashbed trace 1\n256 5 0 sync = 0\n", "a.trace:2: a trace has at most 256 threads at a time"),
        (
            "flashbed trace 1\npath 0 none a\n0 0 0 open 0 0 O_RDWR 0 = 0\n0 1 0 read 0 5 = 6\n",
            "a.trace:4: read of 5 bytes cannot return 6",
        ),
        (
            "flashbed trace 1\npath 0 none a\n0 0 0 open 0 0 O_FOO 0 = 0\n",
            "a.trace:3: a trace cannot have this flag of open(): ",
        ),
    ],
)
def test_a_wrong_line_is_one_message_with_file_and_line(text: str, message: str) -> None:
    with pytest.raises(TraceError) as raised:
        parsed(text, "a.trace")
    assert raised.value.message.startswith(message)


def test_the_replayer_has_the_same_calls_and_flags() -> None:
    source = (paths.guest() / "replay.c").read_text()
    calls = re.findall(r'\{ "([a-z_]+)", "([hpnfmt]*)" \}', source)
    assert calls == list(CALL_ARGUMENTS.items())
    assert re.findall(r'\{ "(O_[A-Z]+)", O_', source) == list(OPEN_FLAGS)
    numbers = re.search(r"enum kind \{([^}]*)KINDS", source)
    assert numbers is not None
    assert [word.lower() for word in re.findall(r"\w+", numbers[1])] == list(CALL_ARGUMENTS)
