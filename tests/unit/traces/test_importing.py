# SPDX-License-Identifier: Apache-2.0
"""fio's iologs and blkparse's text become traces; the first line tells the format; the command tells what it made."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from flashbed.cli import app
from flashbed.common.errors import InputError
from flashbed.traces import importing
from flashbed.traces.call_trace import parsed, written
from flashbed.traces.importing import TraceFormat
from flashbed.traces.recording import Imported

VERSION_2 = """fio version 2 iolog
/d/a add
/d/a open
/d/a read 8192 4096
/d/a wait 2000
/d/a write 0 512
/d/a datasync 0 0
/d/b open
/d/b write 4096 512
/d/b trim 4096 512
/d/b sync 0 0
/d/b close
/d/a close
"""

VERSION_3 = """fio version 3 iolog
10 x.0.0 add
15 x.0.0 open
20 x.0.0 write 0 4096
1020 x.0.0 sync 0 0
2000 x.0.0 close
"""

BLKPARSE = """  8,0    3        1     1.000000000   697  Q   W 64 + 8 [kjournald]
  8,0    3        2     1.000001000   697  D   W 64 + 8 [kjournald]
  8,0    3        3     1.000101000   697  D   R 128 + 16 [cat]
  8,0    3        4     1.000301000   697  C   W 64 + 8 [0]
  8,0    3        5     1.000401000   697  C   R 128 + 16 [0]
  8,0    3        6     1.000501000   697  D   D 1024 + 8 [x]
  8,0    3        7     1.000502000   697  C   D 1024 + 8 [0]
  8,0    1        8     1.000601000   697  D FWS 64 + 8 [x]
CPU3 (sda):
 Reads Queued:           1,        8KiB  Writes Queued:           1,        4KiB
"""


def made(tmp_path: Path, text: str, *, below: str | None = None) -> Imported:
    file = tmp_path / "log"
    file.write_text(text)
    imported = importing.imported(file, None, below)
    assert parsed(written(imported.trace), "again") == imported.trace
    return imported


def lines(imported: Imported) -> list[str]:
    return [line for line in written(imported.trace).splitlines()[1:] if line[0] != "#"]


def test_an_iolog_of_version_2_has_waits(tmp_path: Path) -> None:
    assert lines(made(tmp_path, VERSION_2)) == [
        "path 0 file 12288 a",
        "path 1 none b",
        "0 0 0 open 0 0 O_RDWR|O_CREAT 644 = 0",
        "0 0 0 pread 0 8192 4096 = 4096",
        "0 2000 0 pwrite 0 0 512 = 512",
        "0 2000 0 fdatasync 0 = 0",
        "0 2000 0 open 1 1 O_RDWR|O_CREAT 644 = 0",
        "0 2000 0 pwrite 1 4096 512 = 512",
        "0 2000 0 fallocate 1 3 4096 512 = 0",
        "0 2000 0 fsync 1 = 0",
        "0 2000 0 close 1 = 0",
        "0 2000 0 close 0 = 0",
    ]


def test_an_iolog_of_version_3_has_times(tmp_path: Path) -> None:
    assert lines(made(tmp_path, VERSION_3)) == [
        "path 0 none x.0.0",
        "0 0 0 open 0 0 O_RDWR|O_CREAT 644 = 0",
        "0 5 0 pwrite 0 0 4096 = 4096",
        "0 1005 0 fsync 0 = 0",
        "0 1985 0 close 0 = 0",
    ]


def test_blkparse_becomes_calls_on_one_file_with_as_many_threads_as_requests_were_pending(tmp_path: Path) -> None:
    imported = made(tmp_path, BLKPARSE)
    assert lines(imported) == [
        "path 0 file 528384 device",
        "0 0 0 open 0 0 O_RDWR|O_DIRECT 0 = 0",
        "0 0 300 pwrite 0 32768 4096 = 4096",
        "1 100 300 pread 0 65536 8192 = 8192",
        "0 500 1 fallocate 0 3 524288 4096 = 0",
        "0 600 0 pwrite 0 32768 4096 = 4096",
        "0 600 0 fdatasync 0 = 0",
    ]
    assert [remark.split()[0] for remark in imported.remarks] == ["1"]


@pytest.mark.parametrize(
    ("text", "where"),
    [
        ("fio version 2 iolog\n/a add\n/a frob 0 1\n", "log:3: "),
        ("fio version 3 iolog\n/a add\n", "log:2: "),
        ("fio version 2 iolog\n/a write 0 0\n", "log:2: "),
        ("fio version 2 iolog\n", "log: "),
        ("  8,0 3 1 1.000000000 697 D W 64 + 8 [x]\n  8,16 3 1 1.000000000 697 D W 64 + 8 [x]\n", "log:2: "),
        ("  8,0 3 1 1.000000000 697 D W 64 + 8 [x]\nnonsense\n", "log:2: "),
        ("  8,0 3 1 1.000000000 697 Q W 64 + 8 [x]\n", "log: "),
        ("nonsense\n", "log:1: "),
        ("", "log is empty"),
    ],
)
def test_bad_input_is_one_message_with_file_and_line(tmp_path: Path, text: str, where: str) -> None:
    with pytest.raises(InputError) as raised:
        made(tmp_path, text)
    assert where in raised.value.message
    assert "\n" not in raised.value.message


def test_a_directory_is_chosen_for_strace_only(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="--below is for strace"):
        made(tmp_path, VERSION_2, below="/d")
    assert importing.format_of("1 1.5 sync() = 0\n") is TraceFormat.STRACE


def test_the_command_writes_the_trace_and_tells_what_is_in_it(tmp_path: Path) -> None:
    log, trace = tmp_path / "log", tmp_path / "a.trace"
    log.write_text(
        '1 10.000000 openat(AT_FDCWD</w>, "a", O_RDWR|O_CREAT, 0644) = 3</w/a> <0.000011>\n'
        '1 10.000100 write(3</w/a>, "x"..., 100) = 100 <0.000020>\n'
        "1 10.000200 fsync(3</w/a>) = 0 <0.000800>\n"
        "1 10.002000 mmap(NULL, 4096, PROT_READ, MAP_SHARED, 3</w/a>, 0) = 0x7f00 <0.000011>\n"
    )
    done = CliRunner().invoke(app, ["trace", "import", str(log), "-o", str(trace), "--below", "/w"])
    assert done.exit_code == 0, done.output
    assert parsed(trace.read_text(), "trace").many("open", "write", "fsync") == 3
    for fact in ("3 calls of 1 threads", "100 bytes in 1 calls", "flushed: 1 times", "below /w", "1 calls of mmap()"):
        assert fact in " ".join(done.output.split())


STRACE = """1 10.000000 execve("/bin/x", ["x"], 0x7ff /* 3 vars */) = 0 <0.000300>
1 10.000000 openat(AT_FDCWD</w>, "a", O_RDWR|O_CREAT, 0644) = 3</w/a> <0.000011>
1 10.000100 write(3</w/a>, "x"..., 100) = 100 <0.000020>
1 10.000150 writev(3</w/a>, [{iov_base="x", iov_len=7}], 1) = 7 <0.000020>
1 10.000200 clone(child_stack=NULL, flags=CLONE_FILES|CLONE_FS <unfinished ...>
2 10.000250 fsync(3</w/a>) = 0 <0.000800>
1 10.000300 <... clone resumed>) = 2 <0.000100>
1 10.002000 fallocate(3</w/a>, FALLOC_FL_KEEP_SIZE, 0, 4096) = 0 <0.000011>
1 10.003000 renameat2(AT_FDCWD</w>, "a", AT_FDCWD</w>, "b", RENAME_NOREPLACE) = 0 <0.000011>
1 10.004000 utimensat(AT_FDCWD</w>, "b", NULL, 0) = 0 <0.000011>
2 10.005000 +++ exited with 0 +++
"""


@settings(max_examples=300, deadline=None)
@given(st.data())
def test_damaged_input_is_a_trace_or_a_message(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    text = data.draw(st.sampled_from([STRACE, VERSION_2, VERSION_3, BLKPARSE]))
    for _ in range(data.draw(st.integers(1, 4))):
        at, cut = data.draw(st.integers(0, len(text))), data.draw(st.integers(0, 12))
        text = text[:at] + data.draw(st.text("0<>(){}[],\"'\\ \n|-:aEO_/=9", max_size=5)) + text[at + cut :]
    file = tmp_path_factory.getbasetemp() / "damaged"
    file.write_text(text)
    message = ""
    try:
        importing.imported(file, None, None)
    except InputError as error:
        message = error.message
    assert message.isprintable()
