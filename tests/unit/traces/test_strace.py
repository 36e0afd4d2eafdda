# SPDX-License-Identifier: Apache-2.0
"""strace's output becomes the calls on files below a directory: descriptors, names, threads, initial sizes."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from flashbed.common.errors import InputError
from flashbed.traces import strace, strace_lines
from flashbed.traces.call_trace import TracedCall, TracePath, parsed, written
from flashbed.traces.recording import Imported

SECOND = 1_700_000_000


def made(text: str, below: str | None = "/w") -> Imported:
    """Import lines of calls; each gets a time, 1 ms after the one before, and the thread that it begins with."""
    lines = []
    for number, line in enumerate(text.strip().splitlines()):
        thread, _, rest = line.strip().partition(" ")
        lines.append(f"{thread} {SECOND}.{number * 1000:06d} {rest}")
    imported = strace.imported("\n".join(lines) + "\n", "a.strace", below)
    assert parsed(written(imported.trace), "again") == imported.trace
    return imported


def calls(imported: Imported) -> list[str]:
    """Return the calls' text, without thread and times."""
    lines = written(imported.trace).splitlines()
    return [line.split(" ", 3)[3] for line in lines if line[0].isdigit()]


def files(imported: Imported) -> dict[str, tuple[str, int]]:
    return {path.name: (path.kind, path.size) for path in imported.trace.paths}


def test_calls_have_their_times_and_results() -> None:
    imported = made("""
        1 openat(AT_FDCWD</w>, "a", O_RDWR|O_CREAT|O_EXCL|O_CLOEXEC, 0644) = 3</w/a> <0.000011>
        1 write(3</w/a>, "x, (y) = 3\\"...", 100) = 100 <0.000020>
        1 fdatasync(3</w/a>) = 0 <0.001500>
        1 close(3</w/a>) = 0 <0.000001>
    """)
    assert imported.trace.paths == (TracePath("a", "none"),)
    assert imported.trace.calls == (
        TracedCall(0, 0, 11, "open", (0, 0, "O_RDWR|O_CREAT|O_EXCL", 0o644), 0),
        TracedCall(0, 1000, 20, "write", (0, 100), 100),
        TracedCall(0, 2000, 1500, "fdatasync", (0,), 0),
        TracedCall(0, 3000, 1, "close", (0,), 0),
    )


def test_a_file_that_is_read_was_there_with_the_size_that_the_reads_need() -> None:
    imported = made("""
        1 openat(AT_FDCWD</w>, "a", O_RDONLY) = 3</w/a> <0.000011>
        1 read(3</w/a>, "x"..., 4096) = 4096 <0.000020>
        1 pread64(3</w/a>, "x"..., 100, 10000) = 100 <0.000020>
        1 read(3</w/a>, "x"..., 4096) = 4096 <0.000020>
        1 openat(AT_FDCWD</w>, "b", O_RDWR|O_CREAT, 0644) = 4</w/b> <0.000011>
        1 write(4</w/b>, "x"..., 100) = 100 <0.000020>
        1 pread64(4</w/b>, "x"..., 100, 0) = 100 <0.000020>
        1 openat(AT_FDCWD</w>, "c", O_RDWR|O_CREAT, 0644) = 5</w/c> <0.000011>
        1 fstat(5</w/c>, {st_mode=S_IFREG|0644, st_size=77, ...}) = 0 <0.000001>
        1 openat(AT_FDCWD</w>, "d", O_RDWR|O_TRUNC) = 6</w/d> <0.000011>
        1 lseek(3</w/a>, 0, SEEK_END) = 20000 <0.000001>
    """)
    assert files(imported) == {"a": ("file", 20000), "b": ("none", 0), "c": ("file", 77), "d": ("file", 0)}


def test_names_that_were_not_there_are_not_made() -> None:
    imported = made("""
        1 newfstatat(AT_FDCWD</w>, "a-journal", 0x7ff, 0) = -1 ENOENT (No such file or directory) <0.000008>
        1 open("/w/a-journal", O_RDWR|O_CREAT, 0644) = 3</w/a-journal> <0.000011>
        1 unlink("/w/a-journal") = 0 <0.000011>
        1 unlink("/w/old") = 0 <0.000011>
        1 rename("/w/x", "/w/y") = 0 <0.000011>
        1 mkdir("/w/d", 0755) = 0 <0.000011>
        1 openat(AT_FDCWD</w>, "d/e", O_WRONLY|O_CREAT, 0644) = 4</w/d/e> <0.000011>
        1 openat(AT_FDCWD</w>, "k/l", O_WRONLY|O_CREAT, 0644) = 5</w/k/l> <0.000011>
    """)
    assert files(imported) == {
        **{"a-journal": ("none", 0), "old": ("file", 0), "x": ("file", 0), "y": ("none", 0), "d": ("none", 0)},
        **{"d/e": ("none", 0), "k": ("dir", 0), "k/l": ("none", 0)},
    }


def test_descriptors_are_followed_through_dup_fork_and_execve() -> None:
    imported = made("""
        1 openat(AT_FDCWD</w>, "a", O_WRONLY|O_CREAT|O_EXCL, 0644) = 3 <0.000011>
        1 openat(AT_FDCWD</w>, "b", O_WRONLY|O_CREAT|O_EXCL|O_CLOEXEC, 0644) = 4 <0.000011>
        1 dup2(3, 1) = 1 <0.000001>
        1 clone(child_stack=NULL, flags=CLONE_CHILD_CLEARTID|SIGCHLD <unfinished ...>
        2 close(3) = 0 <0.000001>
        1 <... clone resumed>) = 2 <0.000100>
        1 close(3) = 0 <0.000001>
        2 execve("/bin/x", ["x"], 0x7ff /* 3 vars */) = 0 <0.000300>
        2 write(1, "hello"..., 5) = 5 <0.000010>
        2 exit_group(0) = ?
        2 +++ exited with 0 +++
        1 --- SIGCHLD {si_signo=SIGCHLD, si_code=CLD_EXITED} ---
        1 write(1, "hello"..., 6) = 6 <0.000010>
        1 write(4, "b"..., 7) = 7 <0.000010>
        1 exit_group(0) = ?
        1 +++ exited with 0 +++
    """)
    assert calls(imported) == [
        "open 0 0 O_WRONLY|O_CREAT|O_EXCL 644 = 0",
        "open 1 1 O_WRONLY|O_CREAT|O_EXCL 644 = 0",
        "write 0 5 = 5",
        "write 0 6 = 6",
        "write 1 7 = 7",
        "close 0 = 0",
        "close 1 = 0",
    ]
    assert imported.trace.threads == 2


def test_threads_share_descriptors_and_their_calls_overlap() -> None:
    imported = made("""
        1 openat(AT_FDCWD</w>, "a", O_RDWR|O_CREAT|O_EXCL, 0644) = 3</w/a> <0.000011>
        1 clone3({flags=CLONE_VM|CLONE_FS|CLONE_FILES|CLONE_THREAD, exit_signal=0}, 88) = 2 <0.000011>
        2 pwrite64(3</w/a>, "x"..., 4096, 0 <unfinished ...>
        1 fsync(3</w/a> <unfinished ...>
        2 <... pwrite64 resumed>) = 4096 <0.002500>
        1 <... fsync resumed>) = 0 <0.005000>
    """)
    assert imported.trace.calls[1:] == (
        TracedCall(1, 2000, 2500, "pwrite", (0, 0, 4096), 4096),
        TracedCall(0, 3000, 5000, "fsync", (0,), 0),
    )


def test_a_thread_that_ended_gives_its_number_to_a_later_one() -> None:
    text = "".join(
        f'{pid} openat(AT_FDCWD</w>, "f{pid}", O_WRONLY|O_CREAT, 0644) = 3</w/f{pid}> <0.000011>\n'
        f"{pid} +++ exited with 0 +++\n"
        for pid in range(1, 400)
    )
    imported = made(text)
    assert imported.trace.threads == 1
    assert {call.arguments[0] for call in imported.trace.calls if call.name == "open"} == {0}


def test_the_spellings_of_32_bit_arm_and_of_old_versions() -> None:
    imported = made("""
        1 open("/w/a", O_RDWR|O_LARGEFILE) = 3 <0.000011>
        1 _llseek(3, 4096, [4096], SEEK_SET) = 0 <0.000001>
        1 readv(3, [{"abc"..., 100}, {iov_base="}, 7}", iov_len=20}], 2) = 120 <0.000010>
        1 ftruncate64(3, 8192) = 0 <0.000010>
        1 pwrite64(3, "x"..., 10, 5) = 10 <0.000010>
        1 sync_file_range2(3, SYNC_FILE_RANGE_WRITE, 0, 8192) = 0 <0.000010>
        1 creat("/w/b", 0600) = 4 <0.000011>
        1 fcntl64(4, F_DUPFD_CLOEXEC, 10) = 10 <0.000001>
        1 unlinkat(AT_FDCWD, "/w/d", AT_REMOVEDIR) = 0 <0.000001>
        1 renameat2(AT_FDCWD, "/w/b", AT_FDCWD, "/w/a", RENAME_NOREPLACE) = -1 EEXIST (File exists) <0.000001>
    """)
    assert calls(imported) == [
        "open 0 0 O_RDWR 0 = 0",
        "lseek 0 4096 0 = 4096",
        "read 0 120 = 120",
        "ftruncate 0 8192 = 0",
        "pwrite 0 5 10 = 10",
        "sync_file_range 0 0 8192 2 = 0",
        "open 1 1 O_WRONLY|O_CREAT|O_TRUNC 600 = 0",
        "rmdir 2 = 0",
        "rename 1 0 1 = EEXIST",
    ]
    assert files(imported)["a"] == ("file", 4216)


def test_what_is_elsewhere_and_what_cannot_be_replayed_is_counted() -> None:
    imported = made("""
        1 openat(AT_FDCWD</w>, "a", O_RDWR|O_CREAT, 0644) = 3</w/a> <0.000011>
        1 openat(AT_FDCWD</w>, "/etc/passwd", O_RDONLY) = 4</etc/passwd> <0.000011>
        1 read(4</etc/passwd>, "x", 10) = 10 <0.000011>
        1 mmap(NULL, 4096, PROT_READ, MAP_SHARED, 3</w/a>, 0) = 0x7f00 <0.000011>
        1 mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, 4</etc/passwd>, 0) = 0x7f00 <0.000011>
        1 copy_file_range(4</etc/passwd>, NULL, 3</w/a>, NULL, 100, 0) = 100 <0.000011>
        1 io_uring_enter(7, 1, 0, 0, NULL, 8) = 1 <0.000011>
        1 getrandom("x", 1, 0) = 1 <0.000011>
        1 rename("/w/a", "/tmp/a") = 0 <0.000011>
        1 pipe2([5<pipe:[1]>, 6<pipe:[1]>], 0) = 0 <0.000011>
        1 write(6<pipe:[1]>, "x", 1) = 1 <0.000011>
        1 fsync(3</tmp/a>) = 0 <0.000011>
    """)
    assert calls(imported) == ["open 0 0 O_RDWR|O_CREAT 644 = 0", "fsync 0 = 0"]
    assert (imported.elsewhere, imported.across) == (2, 1)
    assert imported.not_replayed == {"mmap": 1, "copy_file_range": 1, "io_uring_enter": 1}
    assert [remark.split()[:2] for remark in imported.remarks] == [["1", "descriptors"]]


def test_without_a_directory_most_of_the_changed_files_decide() -> None:
    text = """
        1 write(1</log/out>, "x", 1) = 1 <0.000011>
        1 mkdir("/data/db/x", 0755) = 0 <0.000011>
        1 unlink("/data/db/a") = 0 <0.000011>
        1 write(2</dev/null>, "x", 1) = 1 <0.000011>
    """
    assert made(text, None).below == "/data/db"
    with pytest.raises(InputError, match="no call changes a file; name the directory"):
        made('1 openat(AT_FDCWD</w>, "a", O_RDONLY) = 3</w/a> <0.000011>', None)
    with pytest.raises(InputError, match="no call is about a file below /elsewhere"):
        made(text, "/elsewhere")


def test_a_line_that_is_none_of_strace_is_one_message() -> None:
    with pytest.raises(InputError, match=r"^a.strace:2: .*strace -f -ttt"):
        strace.imported(f"1 {SECOND}.000000 sync() = 0 <0.1>\nopen() = 3\n", "a.strace", None)
    with pytest.raises(InputError, match=r"^a.strace:1: .*openat\(AT_FD;"):
        strace.imported(f"1 {SECOND}.000000 openat(AT_FD", "a.strace", None)


def test_arguments_are_separated_outside_of_strings_brackets_and_paths() -> None:
    text = r'3</a, b>, "x\", y"..., {a=1, b=[2, 3]}, 4<TCP:[1.2.3.4:5->6.7.8.9:1]>, 5</c->, 6</dev/x<char 1:2>>'
    assert strace_lines.split(text) == [
        *("3</a, b>", r'"x\", y"...', "{a=1, b=[2, 3]}", "4<TCP:[1.2.3.4:5->6.7.8.9:1]>", "5</c->"),
        "6</dev/x<char 1:2>>",
    ]
    assert strace_lines.string(r'"a\303\251\n\x41\"b"') == 'aé\nA"b'


@pytest.mark.skipif(not shutil.which("sqlite3") or not shutil.which("strace"), reason="needs strace and sqlite3")
@pytest.mark.parametrize("journal", ["DELETE", "TRUNCATE"])
def test_sqlite_as_this_hosts_strace_traces_it(tmp_path: Path, journal: str) -> None:
    folder, log = tmp_path / "data", tmp_path / "log"
    folder.mkdir()
    script = f"PRAGMA journal_mode={journal}; CREATE TABLE t(a, b); " + "INSERT INTO t VALUES(1, randomblob(900)); " * 9
    traced = ["strace", "-f", "-ttt", "-T", "-yy", "-o", str(log), "sqlite3", str(folder / "x.db"), script]
    done = subprocess.run(traced, capture_output=True, check=False)
    if b"ptrace" in done.stderr.lower():
        pytest.skip("this host does not let a process be traced")
    text = log.read_text(errors="surrogateescape")
    imported = strace.imported(text, "log", str(folder))
    of_files = [line for line in text.splitlines() if f"<{folder}" in line]
    assert imported.trace.many("pwrite") == sum(" pwrite64(" in line for line in of_files) > 50
    assert imported.trace.many("fdatasync") == sum(" fdatasync(" in line for line in of_files) >= 30
    assert imported.trace.many("unlink") == (10 if journal == "DELETE" else 0)
    assert imported.trace.many("ftruncate") == sum(" ftruncate(" in line for line in of_files)
    assert imported.not_replayed == {}
    assert imported.remarks == []
