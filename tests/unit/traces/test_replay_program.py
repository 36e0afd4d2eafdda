# SPDX-License-Identifier: Apache-2.0
"""guest/replay.c, built for this host, makes the calls of a trace: files before it, order, results that differ."""

from __future__ import annotations

import struct
import subprocess
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from flashbed.common import paths
from flashbed.traces.call_trace import CALL_ARGUMENTS


class Record(NamedTuple):
    begin_ns: int
    took_ns: int
    result: int
    kind: int
    differs: int


Replay = Callable[..., list[Record]]


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    binary = tmp_path_factory.mktemp("replay") / "replay"
    flags = ("-std=gnu11", "-O2", "-Wall", "-Wextra", "-Werror", "-pthread")
    subprocess.run(["cc", *flags, "-o", binary, paths.guest() / "replay.c"], check=True)
    return binary


@pytest.fixture
def replay(program: Path, tmp_path: Path) -> Replay:
    """Replay the lines of a trace in tmp_path/mnt and return a record for each call."""

    def run(lines: str, pace: str = "fast", random_percent: int = 100) -> list[Record]:
        trace, mnt, records = tmp_path / "trace", tmp_path / "mnt", tmp_path / "records"
        trace.write_text("flashbed trace 1\n" + "".join(f"{line.strip()}\n" for line in lines.strip().splitlines()))
        mnt.mkdir()
        common = (trace, mnt, str(random_percent), "1")
        subprocess.run([program, "prepare", *common], check=True)
        subprocess.run([program, pace, *common, records], check=True, timeout=20)
        return [Record(*fields) for fields in struct.iter_unpack("<QQqII", records.read_bytes())]

    return run


def test_every_kind_of_call_does_what_it_says(replay: Replay, tmp_path: Path) -> None:
    lines = """
        path 0 dir d
        path 1 file 5000 d/old
        path 2 none new%20file
        path 3 none link
        path 4 none hard
        path 5 none moved
        path 6 none x
        0 0 0 open 0 1 O_RDWR 0 = 0
        0 1 0 read 0 8192 = 5000
        0 2 0 lseek 0 -1000 1 = 4000
        0 3 0 read 0 8192 = 1000
        0 4 0 pread 0 4999 100 = 1
        0 5 0 ftruncate 0 100 = 0
        0 6 0 close 0 = 0
        0 7 0 open 0 2 O_RDWR|O_CREAT|O_EXCL 640 = 0
        0 8 0 write 0 3000 = 3000
        0 9 0 pwrite 0 10000 10 = 10
        0 10 0 fsync 0 = 0
        0 11 0 fdatasync 0 = 0
        0 12 0 sync_file_range 0 0 4096 2 = 0
        0 13 0 fchmod 0 600 = 0
        0 14 0 fallocate 0 0 0 20000 = 0
        0 15 0 syncfs 0 = 0
        0 16 0 symlink d/old 3 = 0
        0 17 0 link 2 4 = 0
        0 18 0 rename 2 5 0 = 0
        0 19 0 mkdir 6 755 = 0
        0 20 0 rmdir 6 = 0
        0 21 0 stat 6 = ENOENT
        0 22 0 truncate 1 50 = 0
        0 23 0 chmod 1 640 = 0
        0 24 0 unlink 4 = 0
        0 25 0 open - 4 O_RDONLY 0 = ENOENT
        0 26 0 sync = 0
        0 27 0 close 0 = 0
    """
    records = replay(lines)
    calls = [line.split()[3] for line in lines.split("\n") if line.strip()[:1].isdigit()]
    assert [list(CALL_ARGUMENTS)[record.kind] for record in records] == calls
    assert not [call for call, record in zip(calls, records, strict=True) if record.differs]
    mnt = tmp_path / "mnt"
    assert sorted(str(path.relative_to(mnt)) for path in mnt.rglob("*")) == ["d", "d/old", "link", "moved"]
    assert ((mnt / "d/old").stat().st_size, (mnt / "moved").stat().st_size) == (50, 20000)
    assert oct((mnt / "moved").stat().st_mode & 0o777) == "0o600"


def test_a_result_that_differs_is_marked_and_the_replay_goes_on(replay: Replay) -> None:
    records = replay("""
        path 0 none a
        path 1 file 10 b
        0 0 0 open 0 0 O_RDONLY 0 = 0
        0 1 0 read 0 10 = 10
        0 2 0 open 1 1 O_RDONLY 0 = 0
        0 3 0 read 1 20 = 20
        0 4 0 open - 1 O_RDONLY 0 = EACCES
        0 5 0 close 1 = 0
    """)
    assert [record.differs for record in records] == [1, 1, 0, 1, 1, 0]
    assert [record.result for record in records] == [-2, -9, 0, 10, 0, 0]


def test_calls_wait_for_those_that_had_ended_before_and_for_no_others(replay: Replay) -> None:
    """Thread 1 makes the file that thread 0 opens afterwards; the trace has no other order between them."""
    lines = ["path 0 none a", *(f"path {n} none t{n}" for n in range(1, 9))]
    for turn in range(50):
        at = turn * 100
        lines.append(f"1 {at} 10 open {turn % 2} 0 O_WRONLY|O_CREAT|O_EXCL 644 = 0")
        lines.append(f"0 {at + 20} 10 unlink 0 = 0")
        lines += [f"{n} {at + 20} 10 stat {n} = ENOENT" for n in range(2, 9)]
        lines.append(f"1 {at + 40} 10 close {turn % 2} = 0")
    records = replay("\n".join(lines))
    assert not any(record.differs for record in records)


def test_no_call_begins_before_its_time(replay: Replay) -> None:
    records = replay(
        """
        path 0 none a
        0 0 200000 sync = 0
        1 50000 10 stat 0 = ENOENT
        1 300000 10 stat 0 = ENOENT
        """,
        pace="recorded",
    )
    assert all(record.begin_ns >= at_ns for record, at_ns in zip(records, (0, 50_000_000, 300_000_000), strict=True))


def test_content_is_as_random_as_told(replay: Replay, tmp_path: Path) -> None:
    lines = "path 0 file 1048576 a\npath 1 none b\n0 0 0 open 0 1 O_WRONLY|O_CREAT 644 = 0\n0 1 0 write 0 65536 = 65536"
    replay(lines, random_percent=25)
    for name in ("a", "b"):
        data = (tmp_path / "mnt" / name).read_bytes()
        assert 0.24 < len(zlib.compress(data)) / len(data) < 0.30


def test_a_line_that_is_wrong_is_named(program: Path, tmp_path: Path) -> None:
    trace = tmp_path / "trace"
    trace.write_text("flashbed trace 1\n0 0 0 mmap 1 = 0\n")
    done = subprocess.run(
        [program, "prepare", trace, tmp_path, "100", "1"], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (1, f"replay: {trace}:2: no call\n")
