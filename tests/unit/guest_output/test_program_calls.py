# SPDX-License-Identifier: Apache-2.0
"""The waits of programs, from made-up notes of their calls."""

from __future__ import annotations

import time

import pytest

from flashbed.guest_output import percentiles, program_calls, system_calls
from flashbed.guest_output.durability import Commits
from flashbed.guest_output.program_calls import CostlyFile, Operation, ProgramCalls, Spent, metrics
from flashbed.guest_output.system_calls import CALL_NOTES, Flag, Number
from flashbed.result.metrics import METRICS
from tests.support.made_up_calls import AT_FDCWD, GAP_NS, PAIR, SIGCHLD, MadeUpCalls, Task


@pytest.fixture
def guest() -> MadeUpCalls:
    return MadeUpCalls()


def costs(guest: MadeUpCalls) -> ProgramCalls:
    return program_calls.program_calls({CALL_NOTES: system_calls.trimmed(guest.data())})


def spent(of: ProgramCalls) -> dict[Spent, int]:
    return {spent: ns for spent, ns in of.spent_ns.items() if ns}


def measured(guest: MadeUpCalls, took_ns: int = 0) -> Task:
    """Return the measurement's process, which has /mnt/a open for writing as descriptor 3."""
    program = guest.measure()
    guest.open(program, "/mnt/a", 3, took_ns=took_ns)
    return program


def test_each_operation_on_the_medium_has_its_calls_bytes_and_latencies(guest: MadeUpCalls) -> None:
    program = measured(guest, took_ns=70)
    for took_ns in (1000, 3000, 2000):
        guest.write(program, 3, b"12345", took_ns=took_ns)
    guest.call(program, Number.FSYNC, 3, took_ns=50_000)
    guest.call(program, Number.FDATASYNC, 3, took_ns=40_000)
    guest.call(program, Number.SYNC, took_ns=60_000)
    guest.call(program, Number.PREAD64, 3, 0, 100, 0, result=40, took_ns=700)
    guest.call(program, Number.RENAMEAT, AT_FDCWD, 0, AT_FDCWD, 0, text=b"/mnt/a\0/mnt/b\0", took_ns=80)
    guest.call(program, Number.UNLINKAT, AT_FDCWD, text=b"/mnt/b\0", took_ns=90)
    guest.sync(program)
    of_program = costs(guest)
    assert {operation: (calls.calls, calls.moved_bytes) for operation, calls in of_program.operations.items()} == {
        Operation.READ: (1, 40),
        Operation.WRITE: (3, 15),
        Operation.FLUSH: (3, 0),
        Operation.OPEN: (1, 0),
        Operation.RENAME: (1, 0),
        Operation.UNLINK: (1, 0),
    }
    assert of_program.written_bytes == 15
    assert of_program.operations[Operation.WRITE].metrics("write") == {
        "write_calls": 3,
        "write_mean_us": 2.0,
        "write_p50_us": 2.0,
        "write_p95_us": 3.0,
        "write_p99_us": 3.0,
        "write_max_us": 3.0,
    }
    own = of_program.spent_ns[Spent.OWN_CPU]
    assert spent(of_program) == {
        Spent.OWN_CPU: own,
        Spent.READ: 700,
        Spent.WRITE: 6000,
        Spent.FLUSH: 150_000,
        Spent.NAMES: 70 + 80 + 90,
    }
    assert own == 11 * GAP_NS  # before each call, and before the exit
    assert (
        of_program.window_ns == sum(of_program.spent_ns.values()) + 2 * GAP_NS
    )  # the runner's clone and its child's birth


def test_an_operation_without_calls_has_no_latency(guest: MadeUpCalls) -> None:
    guest.sync(guest.measure())
    assert costs(guest).operations[Operation.FLUSH].metrics("flush") == {"flush_calls": 0}


def test_failed_calls_count_and_move_nothing(guest: MadeUpCalls) -> None:
    program = measured(guest)
    guest.call(program, Number.WRITE, 3, 0, 100, result=-28, took_ns=5)
    guest.call(program, Number.WRITE, 3, 0, 100, result=60, took_ns=5)
    guest.call(program, Number.OPENAT, AT_FDCWD, result=-2, text=b"/mnt/none\0")
    guest.sync(program)
    of_program = costs(guest)
    written, opened = of_program.operations[Operation.WRITE], of_program.operations[Operation.OPEN]
    assert (written.calls, written.failed, written.moved_bytes) == (2, 1, 60)
    assert (opened.calls, opened.failed) == (2, 1)


@pytest.mark.parametrize(
    ("protection", "kind", "mapped"), [(3, 1, 8192 + 4096), (3, 3, 8192 + 4096), (1, 1, 0), (3, 2, 0)]
)
def test_what_may_be_written_through_a_mapping_is_no_count(
    guest: MadeUpCalls, protection: int, kind: int, mapped: int
) -> None:
    program = measured(guest)
    guest.write(program, 3, b"x" * 100)
    guest.call(program, Number.MMAP, 0, 8192, protection, kind, 3, 4096, result=0x7000)
    guest.sync(program)
    of_program = costs(guest)
    assert of_program.mapped_bytes == mapped
    assert of_program.written_bytes == (None if mapped else 100)
    assert ("written_bytes" in metrics(of_program)) == (not mapped)


def test_a_small_mapping_beside_many_writes_changes_no_count(guest: MadeUpCalls) -> None:
    program = measured(guest)
    guest.call(program, Number.WRITE, 3, 0, 20 * 32768, result=20 * 32768)
    guest.call(program, Number.MMAP, 0, 32768, 3, 1, 3, 0, result=0x7000)
    guest.sync(program)
    assert costs(guest).written_bytes == 20 * 32768


def test_files_elsewhere_are_other_calls(guest: MadeUpCalls) -> None:
    program = guest.measure()
    guest.open(program, "/out/report", 3, took_ns=20)
    guest.write(program, 3, b"x", took_ns=30)
    guest.call(program, Number.NEWFSTATAT, AT_FDCWD, text=b"/etc/x\0", took_ns=40)
    guest.sync(program)
    of_program = costs(guest)
    assert spent(of_program)[Spent.OTHER] == 90
    assert of_program.written_bytes == 0
    assert not any(calls.calls for calls in of_program.operations.values())
    assert [(file.path, file.spent_ns, file.is_on_medium) for file in of_program.files] == [
        *(("/out/report", 50, False), ("/etc/x", 40, False))
    ]
    assert of_program.files[0].calls[Operation.WRITE].moved_bytes == 1


def test_waiting_is_for_time_processes_pipes_and_events(guest: MadeUpCalls) -> None:
    program = guest.measure()
    guest.call(program, Number.PIPE2, text=PAIR.pack(3, 4))
    guest.call(program, Number.READ, 3, result=1, took_ns=100)
    guest.call(program, Number.CLOCK_NANOSLEEP, took_ns=1000)
    guest.call(program, Number.FUTEX, took_ns=10_000)
    guest.sync(program)
    of_program = costs(guest)
    assert spent(of_program)[Spent.WAITING] == 11_100
    assert not of_program.operations[Operation.READ].calls


def test_page_faults_are_no_calls(guest: MadeUpCalls) -> None:
    program = measured(guest)
    guest.call(program, Number.FAULT, 0x1000, took_ns=500)
    guest.sync(program)
    of_program = costs(guest)
    assert spent(of_program)[Spent.FAULTS] == 500
    assert of_program.processes[0].calls == 1


def test_the_most_expensive_file_is_first(guest: MadeUpCalls) -> None:
    program = measured(guest, took_ns=5)
    guest.open(program, "/mnt/b", 4, took_ns=5)
    guest.write(program, 3, b"x", took_ns=10)
    guest.write(program, 4, b"xyz", took_ns=100)
    guest.call(program, Number.CLOSE, 4, took_ns=1)
    guest.call(program, Number.RENAMEAT2, AT_FDCWD, 0, AT_FDCWD, text=b"/mnt/b\0/mnt/c\0", took_ns=30)
    guest.sync(program)
    files = costs(guest).files
    assert [(file.path, file.spent_ns) for file in files] == [("/mnt/b", 106), ("/mnt/c", 30), ("/mnt/a", 15)]
    assert {name: calls.calls for name, calls in files[0].calls.items()} == {Operation.OPEN: 1, Operation.WRITE: 1}


def test_a_copy_counts_where_the_medium_is(guest: MadeUpCalls) -> None:
    program = measured(guest)
    guest.open(program, "/out/x", 4)
    guest.call(program, Number.SENDFILE, 4, 3, result=10, took_ns=100)
    guest.call(program, Number.SENDFILE, 3, 4, result=20, took_ns=200)
    guest.call(program, Number.COPY_FILE_RANGE, 3, 0, 3, 0, result=30, took_ns=400)
    guest.sync(program)
    of_program = costs(guest)
    moved = {name: calls.moved_bytes for name, calls in of_program.operations.items() if calls.moved_bytes}
    assert moved == {Operation.READ: 10, Operation.WRITE: 50}
    assert (spent(of_program)[Spent.READ], spent(of_program)[Spent.WRITE]) == (100, 600)


def test_each_process_has_its_program_and_its_times(guest: MadeUpCalls) -> None:
    shell = measured(guest)
    guest.execute(shell, "/bin/sh", "sh")
    child = guest.fork(shell, took_ns=25)
    begun = guest.begin(shell, Number.WAIT4)
    guest.execute(child, "/bin/cp", "cp", took_ns=40)
    guest.write(child, 3, b"xx", took_ns=60)
    guest.exit(child)
    guest.end(begun, SIGCHLD, flags=Flag.ELSEWHERE)
    guest.call(shell, Number.RT_SIGRETURN, result=child.tid)
    guest.sync(shell)
    first, second = costs(guest).processes
    assert (first.pid, first.parent, first.program) == (shell.tid, None, "sh")
    assert (second.pid, second.parent, second.program) == (child.tid, shell.tid, "cp")
    assert (first.written_bytes, second.written_bytes) == (0, 2)
    assert (first.calls, second.calls) == (5, 2)
    assert {name: ns for name, ns in second.spent_ns.items() if ns} == {
        Spent.OWN_CPU: 4 * GAP_NS,  # the parent's wait begins after its birth
        Spent.WRITE: 60,
        Spent.OTHER: 40,
    }
    assert first.spent_ns[Spent.CHILDREN] == 100 + 3 * GAP_NS
    assert second.begun_ns > first.begun_ns > 0


def test_threads_add_up(guest: MadeUpCalls) -> None:
    program = measured(guest)
    threads = [guest.thread(program) for _ in range(2)]
    begun = [guest.begin(thread, Number.FSYNC, 3) for thread in threads]
    for sibling in begun:
        guest.end(sibling, took_ns=1000)
    for thread in threads:
        guest.exit(thread, Number.EXIT)
    guest.sync(program)
    of_program = costs(guest)
    assert of_program.operations[Operation.FLUSH].took_ns == [1000 + GAP_NS, 2000]
    assert spent(of_program)[Spent.FLUSH] == 3000 + GAP_NS
    assert len(of_program.processes) == 1


def test_a_thread_that_dies_in_a_call_waited_until_its_process_ended(guest: MadeUpCalls) -> None:
    """The call is no call that ended, and is noted when the machine ends."""
    program = measured(guest)
    thread = guest.thread(program)
    begun = guest.begin(thread, Number.FUTEX)
    guest.call(program, Number.FSYNC, 3, took_ns=300)
    guest.sync(program, took_ns=99)
    guest.end(begun, took_ns=10**9, flags=Flag.OPEN)
    of_program = costs(guest)
    assert spent(of_program)[Spent.WAITING] == 300 + 2 * GAP_NS
    assert of_program.processes[0].calls == 3  # open, clone, fsync


def test_a_call_that_has_not_ended_has_no_latency(guest: MadeUpCalls) -> None:
    program = measured(guest)
    other = guest.fork(program)
    begun = guest.begin(other, Number.FSYNC, 3)
    guest.call(program, Number.NANOSLEEP, took_ns=500)
    guest.sync(program)
    guest.end(begun, flags=Flag.OPEN)
    of_program = costs(guest)
    assert not of_program.operations[Operation.FLUSH].calls
    assert spent(of_program)[Spent.FLUSH] == 500 + 2 * GAP_NS


def test_a_program_that_was_there_before_counts_from_the_beginning_on(guest: MadeUpCalls) -> None:
    daemon = guest.fork(guest.runner)
    guest.execute(daemon, "/bin/daemon", "daemon")
    guest.open(daemon, "/mnt/log", 3)
    guest.write(daemon, 3, b"before")
    begun = guest.begin(daemon, Number.FSYNC, 3)
    program = guest.measure()
    guest.end(begun, took_ns=100)
    guest.write(daemon, 3, b"in it", took_ns=7)
    guest.sync(program)
    of_program = costs(guest)
    assert of_program.written_bytes == 5
    assert not of_program.operations[Operation.FLUSH].calls
    assert [(process.program, process.begun_ns < 0) for process in of_program.processes] == [
        ("daemon", True),
        ("", False),
    ]
    assert spent(of_program)[Spent.FLUSH] == 100 + 2 * GAP_NS


def test_the_measurement_ends_with_its_process(guest: MadeUpCalls) -> None:
    """The runner's calls until its next step belong to no program."""
    program = measured(guest)
    guest.exit(program)
    ended_ns = guest.now_ns
    other = guest.fork(guest.runner)
    guest.write(other, 1, b"counters", took_ns=50)
    guest.sync(other)
    of_program = costs(guest)
    assert [process.pid for process in of_program.processes] == [program.tid]
    assert (
        of_program.window_ns
        == ended_ns - system_calls.window(system_calls.notes(system_calls.trimmed(guest.data())))[0]
    )


def test_programs_in_a_root_of_their_own_count_from_the_chroot_on(guest: MadeUpCalls) -> None:
    """The shell of the measurement, and what it does for itself, is none of them."""
    shell = measured(guest, took_ns=1000)
    program = guest.fork(shell)
    guest.execute(program, "/bin/busybox", "chroot")
    guest.write(program, 3, b"x")
    guest.call(program, Number.CHROOT, text=b"/program\0", took_ns=7)
    guest.call(program, Number.CHDIR, text=b"/\0", took_ns=20)
    child = guest.fork(program)
    guest.call(child, Number.CHROOT, text=b"/deeper\0", took_ns=30)
    guest.write(child, 3, b"xyz", took_ns=40)
    guest.exit(child)
    guest.exit(program)
    guest.sync(shell)
    data = system_calls.trimmed(guest.data())
    of_program = program_calls.of_notes(data, ["/program", "/mnt/.root"])
    assert [process.pid for process in of_program.processes] == [program.tid, child.tid]
    assert of_program.written_bytes == 3
    assert [process.calls for process in of_program.processes] == [2, 2]  # chdir and clone; chroot and write
    assert spent(of_program)[Spent.OTHER] == 20 + 30
    assert not program_calls.of_notes(data, ["/elsewhere"]).processes


def test_percentiles_are_the_nearest_rank() -> None:
    assert percentiles.of_samples("x", [float(n) for n in range(100, 0, -1)]) == {
        "x_mean_us": 50.5,
        "x_p50_us": 50.0,
        "x_p95_us": 95.0,
        "x_p99_us": 99.0,
        "x_max_us": 100.0,
    }


def test_notes_without_a_measurement_are_refused() -> None:
    with pytest.raises(ValueError, match="has no beginning"):
        program_calls.of_notes(MadeUpCalls().data())
    with pytest.raises(KeyError):
        program_calls.program_calls({})


def test_many_notes_take_little_time(guest: MadeUpCalls) -> None:
    """300,000 notes take 2 s; these are a tenth, with room for a busy host."""
    program = measured(guest)
    for _ in range(10_000):
        guest.write(program, 3, b"x" * 64, took_ns=100)
        guest.call(program, Number.FSYNC, 3, took_ns=100)
        guest.call(program, Number.FAULT, 0x1000, took_ns=5)
    guest.sync(program)
    begin = time.process_time()
    assert costs(guest).written_bytes == 640_000
    assert time.process_time() - begin < 1


def test_a_summary_has_the_times_and_the_files_that_cost_most(guest: MadeUpCalls) -> None:
    program = measured(guest, took_ns=70)
    guest.write(program, 3, b"12345", took_ns=1000)
    guest.call(program, Number.FSYNC, 3, took_ns=50_000)
    for number in range(program_calls.MOST_SUMMARY_FILES):
        guest.open(program, f"/mnt/{number}", 10 + number, took_ns=100 + number)
    guest.sync(program)
    of_program = costs(guest)
    summary = program_calls.summary(of_program)
    assert summary.spent_ns == of_program.spent_ns
    assert summary.files[0] == CostlyFile("/mnt/a", 51_070, calls=3, read_bytes=0, written_bytes=5, flushes=1)
    assert [file.path for file in summary.files[1:3]] == ["/mnt/9", "/mnt/8"]
    assert len(summary.files) == program_calls.MOST_SUMMARY_FILES


def test_the_shares_of_the_time_are_metrics(guest: MadeUpCalls) -> None:
    program = measured(guest)
    guest.write(program, 3, b"12345", took_ns=300)
    guest.call(program, Number.FSYNC, 3, took_ns=600)
    guest.sync(program)
    metrics = program_calls.metrics(costs(guest))
    assert (metrics["requested_bytes"], metrics["written_bytes"], metrics["flush_calls"]) == (5.0, 5.0, 1)
    shares = {spent: metrics[f"time_{spent}_percent"] for spent in Spent if spent is not Spent.CHILDREN}
    assert sum(shares.values()) == pytest.approx(100)
    assert shares[Spent.FLUSH] == 2 * shares[Spent.WRITE]
    assert not [name for name in metrics if name not in METRICS]


def test_flushes_of_files_on_the_medium_are_commits(guest: MadeUpCalls) -> None:
    program = measured(guest)
    guest.open(program, "/tmp/a", 4)
    guest.call(program, Number.FSYNC, 3, took_ns=600)
    guest.call(program, Number.FDATASYNC, 3, took_ns=600)
    guest.call(program, Number.FSYNC, 3, result=-5)
    guest.call(program, Number.FSYNC, 4)
    guest.sync(program)
    assert costs(guest).commits == Commits(2, 1, may_be_empty=True)
