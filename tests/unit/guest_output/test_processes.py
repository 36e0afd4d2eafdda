# SPDX-License-Identifier: Apache-2.0
"""Processes and files, followed through notes of system calls."""

from __future__ import annotations

import struct

import pytest

from flashbed.guest_output import processes, system_calls
from flashbed.guest_output.births import CLONE_FILES, CLONE_VM
from flashbed.guest_output.processes import FileKind, Followed, GuestFile, SystemCall
from flashbed.guest_output.system_calls import Flag, Number
from tests.support.made_up_calls import (
    AT_FDCWD,
    CLONE_VFORK,
    FORK,
    PAIR,
    SIGCHLD,
    THREAD,
    MadeUpCalls,
    Task,
)

O_CLOEXEC, MS_BIND = 0x80000, 0x1000


@pytest.fixture
def guest() -> MadeUpCalls:
    return MadeUpCalls()


def followed(guest: MadeUpCalls) -> Followed:
    return processes.follow(system_calls.notes(guest.data()))


def calls(guest: MadeUpCalls, number: int = Number.WRITE) -> list[SystemCall]:
    return [call for call in followed(guest).calls if call.note.number == number][1 if number == Number.WRITE else 0 :]


def written(guest: MadeUpCalls) -> list[str]:
    """Return the path of each write after the runner's first write."""
    return [call.files[0].path if call.files else "" for call in calls(guest)]


def test_a_child_has_copies_of_its_parents_descriptors(guest: MadeUpCalls) -> None:
    parent = guest.fork(guest.runner)
    guest.open(parent, "/mnt/a", 3)
    child = guest.fork(parent)
    guest.call(parent, Number.CLOSE, 3)
    guest.open(parent, "/mnt/b", 3)
    guest.write(child, 3, b"x")
    guest.write(parent, 3, b"x")
    guest.exit(child)
    assert written(guest) == ["/mnt/a", "/mnt/b"]
    process = calls(guest)[0].thread.process
    assert (process.pid, process.parent and process.parent.pid) == (child.tid, parent.tid)
    assert process.ended_ns == guest.now_ns


def test_the_table_is_copied_when_the_clone_begins_and_not_when_it_ends(guest: MadeUpCalls) -> None:
    """Another thread opens a file while the parent is in its clone."""
    parent = guest.fork(guest.runner)
    other = guest.thread(parent)
    begun, child = guest.clone(parent)
    guest.open(other, "/mnt/late", 3)
    guest.end(begun, child.tid)
    guest.bear(begun, child)
    guest.write(child, 3, b"x")
    guest.write(other, 3, b"x")
    assert written(guest) == ["", "/mnt/late"]


def test_a_child_may_be_born_before_its_parents_clone_returns(guest: MadeUpCalls) -> None:
    parent = guest.fork(guest.runner)
    guest.open(parent, "/mnt/a", 3)
    begun, child = guest.clone(parent)
    guest.bear(begun, child)
    guest.write(child, 3, b"x")
    guest.end(begun, child.tid)
    (call,) = calls(guest)
    assert (call.files[0].path, call.thread.process.pid) == ("/mnt/a", child.tid)


def test_children_are_told_apart_by_their_thread_id(guest: MadeUpCalls) -> None:
    """The second child runs first."""
    parent = guest.fork(guest.runner)
    begun = []
    for _ in range(2):
        clone, child = guest.clone(parent)
        guest.end(clone, child.tid)
        begun.append((clone, child))
    for clone, child in reversed(begun):
        guest.bear(clone, child)
        guest.write(child, 1, b"x")
    assert [call.thread.process.pid for call in calls(guest)] == [child.tid for _, child in reversed(begun)]


def test_threads_share_descriptors_and_process(guest: MadeUpCalls) -> None:
    program = guest.fork(guest.runner)
    first, second = guest.thread(program), guest.thread(program)
    guest.open(first, "/mnt/a", 3)
    guest.write(second, 3, b"x")
    guest.exit(first, Number.EXIT)
    guest.write(program, 3, b"x")
    assert written(guest) == ["/mnt/a", "/mnt/a"]
    assert {call.thread.process.pid for call in calls(guest)} == {program.tid}
    assert len({id(call.thread) for call in calls(guest)}) == 2


def test_threads_that_clone3_makes_are_found_by_stack_and_thread_pointer(guest: MadeUpCalls) -> None:
    program = guest.fork(guest.runner)
    threads = []
    for number in range(2):
        child = guest._task(program.space)
        stack, tls = 0x500000 + number * 0x10000, 0x600000 + number * 0x10000
        arguments = struct.pack("<11Q", THREAD, 0, 0x77, 0x77, 0, stack, 0x8000, tls, 0, 0, 0)
        begun = guest.begin(program, Number.CLONE3, 0x1234, 88, text=arguments)
        guest.end(begun, child.tid)
        threads.append((child, stack + 0x8000, tls))
    for child, stack, tls in reversed(threads):
        guest._born(child, program.pc, stack, tls)
    guest.open(threads[1][0], "/mnt/a", 3)
    guest.write(threads[0][0], 3, b"x")
    (call,) = calls(guest)
    assert (call.files[0].path, call.thread.process.pid) == ("/mnt/a", program.tid)


def test_vfork_shares_the_space_and_not_the_descriptors(guest: MadeUpCalls) -> None:
    parent = guest.fork(guest.runner)
    guest.open(parent, "/mnt/a", 1)
    begun, child = guest.clone(parent, CLONE_VM | CLONE_VFORK | SIGCHLD)
    guest.bear(begun, child)
    guest.open(child, "/mnt/b", 3)
    guest.call(child, Number.DUP3, 3, 1, result=1)
    guest.execute(child, "/bin/cat", "cat")
    guest.end(begun, child.tid)
    guest.write(child, 1, b"x")
    guest.write(parent, 1, b"x")
    assert written(guest) == ["/mnt/b", "/mnt/a"]
    assert [call.thread.process.program for call in calls(guest)] == ["cat", ""]


def test_a_table_that_is_shared_without_being_a_thread_ends_with_exec(guest: MadeUpCalls) -> None:
    parent = guest.fork(guest.runner)
    child = guest.fork(parent, FORK | CLONE_FILES)
    guest.open(child, "/mnt/a", 3)
    guest.write(parent, 3, b"x")
    guest.execute(child, "/bin/x", "x")
    guest.call(child, Number.CLOSE, 3)
    guest.write(parent, 3, b"x")
    assert written(guest) == ["/mnt/a", "/mnt/a"]


def test_exec_closes_what_is_marked(guest: MadeUpCalls) -> None:
    program = guest.fork(guest.runner)
    guest.open(program, "/mnt/a", 3, O_CLOEXEC)
    guest.open(program, "/mnt/b", 4)
    guest.open(program, "/mnt/c", 5)
    guest.call(program, Number.FCNTL, 5, 2, 1)
    guest.call(program, Number.DUP, 3, result=6)
    guest.call(program, Number.FCNTL, 4, 1030, 7, result=7)
    guest.execute(program, "/bin/x", "x")
    for descriptor in range(3, 8):
        guest.write(program, descriptor, b"x")
    assert written(guest) == ["", "/mnt/b", "", "/mnt/a", ""]


def test_a_failed_exec_changes_nothing(guest: MadeUpCalls) -> None:
    program = guest.fork(guest.runner)
    guest.open(program, "/mnt/a", 3, O_CLOEXEC)
    guest.execute(program, "/bin/first", "first")
    guest.open(program, "/mnt/a", 3, O_CLOEXEC)
    guest.call(program, Number.EXECVE, result=-2, text=b"/bin/none\0none\0")
    guest.write(program, 3, b"x")
    (call,) = calls(guest)
    assert (call.thread.process.program, call.files[0].path) == ("first", "/mnt/a")


@pytest.mark.parametrize(
    ("path", "argument", "name", "whole"),
    [
        ("/usr/bin/python3", "python3", "python3", "/usr/bin/python3"),
        ("/proc/self/exe", "cat", "cat", "/bin/sh"),
        ("/bin/sh", "-sh", "sh", "/bin/sh"),
        ("/opt/daemon", "", "daemon", "/opt/daemon"),
        ("", "/usr/bin/x", "x", "/bin/sh"),
    ],
)
def test_a_program_is_named_as_people_name_it(
    guest: MadeUpCalls, path: str, argument: str, name: str, whole: str
) -> None:
    program = guest.fork(guest.runner)
    guest.execute(program, "/bin/sh", "sh")
    guest.execute(program, path, argument)
    guest.write(program, 1, b"x")
    (call,) = calls(guest)
    assert (call.thread.process.program, call.thread.process.path) == (name, whole)


def test_a_shells_redirection(guest: MadeUpCalls) -> None:
    """busybox keeps the old descriptor, writes, and restores it."""
    shell = guest.fork(guest.runner)
    guest.open(shell, "/out/measure.txt", 1)
    guest.open(shell, "/mnt/a", 3)
    guest.call(shell, Number.FCNTL, 1, 1030, 10, result=11)
    guest.call(shell, Number.DUP3, 3, 1, result=1)
    guest.call(shell, Number.CLOSE, 3)
    guest.write(shell, 1, b"in")
    guest.call(shell, Number.DUP3, 11, 1, result=1)
    guest.call(shell, Number.CLOSE, 11)
    guest.write(shell, 1, b"out")
    assert written(guest) == ["/mnt/a", "/out/measure.txt"]


def test_pipes_sockets_and_events_are_no_named_files(guest: MadeUpCalls) -> None:
    program = guest.fork(guest.runner)
    guest.call(program, Number.PIPE2, 0x1234, text=PAIR.pack(3, 4))
    guest.call(program, Number.SOCKETPAIR, 1, 1, 0, 0x1234, text=PAIR.pack(5, 6))
    guest.call(program, Number.SOCKET, 2, 1, 0, result=7)
    guest.call(program, Number.EVENTFD2, result=8)
    guest.call(program, Number.EPOLL_CREATE1, result=9)
    guest.call(program, Number.MEMFD_CREATE, 0x1234, text=b"cache\0", result=10)
    for descriptor in range(3, 11):
        guest.write(program, descriptor, b"x")
    files = [(call.files[0].kind, call.files[0].path) for call in calls(guest)]
    pairs = [(FileKind.PIPE, "pipe")] * 2 + [(FileKind.SOCKET, "socket")] * 3
    assert files == [*pairs, (FileKind.EVENT, "eventfd"), (FileKind.EVENT, "epoll"), (FileKind.OTHER, "memfd:cache")]


def test_a_range_of_descriptors_is_closed(guest: MadeUpCalls) -> None:
    program = guest.fork(guest.runner)
    for descriptor in range(3, 7):
        guest.open(program, f"/mnt/{descriptor}", descriptor)
    guest.call(program, Number.CLOSE_RANGE, 6, 0xFFFFFFFF, 4)
    guest.call(program, Number.CLOSE_RANGE, 4, 5, 0)
    for descriptor in range(3, 7):
        guest.write(program, descriptor, b"x")
    guest.execute(program, "/bin/x", "x")
    guest.write(program, 6, b"x")
    assert written(guest) == ["/mnt/3", "", "", "/mnt/6", ""]


def test_a_number_that_is_closed_and_given_again_at_once(guest: MadeUpCalls) -> None:
    """Another thread's open gets the number while the close is still at work, and ends first."""
    program = guest.fork(guest.runner)
    other = guest.thread(program)
    guest.open(program, "/mnt/old", 3)
    close = guest.begin(program, Number.CLOSE, 3)
    guest.open(other, "/mnt/new", 3)
    guest.end(close)
    guest.write(program, 3, b"x")
    assert written(guest) == ["/mnt/new"]


def test_paths_begin_in_the_working_directory_or_that_of_a_descriptor(guest: MadeUpCalls) -> None:
    program = guest.fork(guest.runner)
    guest.call(program, Number.CHDIR, text=b"/mnt/d/\0")
    guest.open(program, "a", 3)
    guest.open(program, "../b/./c", 4)
    guest.open(program, "/mnt/e", 5)
    guest.call(program, Number.OPENAT, 5, 0, 0, result=6, text=b"f\0")
    guest.call(program, Number.FCHDIR, 5)
    guest.open(program, "g", 7)
    guest.open(program, "../../../../h", 8)
    for descriptor in (3, 4, 6, 7, 8):
        guest.write(program, descriptor, b"x")
    assert written(guest) == ["/mnt/d/a", "/mnt/b/c", "/mnt/e/f", "/mnt/e/g", "/h"]


def chrooted(guest: MadeUpCalls) -> Task:
    """Return the task of a program whose root is /program on another file system, with /mnt bound into it."""
    setup = guest.fork(guest.runner)
    guest.call(setup, Number.MOUNT, 0, 0, 0, 0, text=b"/dev/pmem0\0/program\0")
    guest.call(setup, Number.MOUNT, 0, 0, 0, MS_BIND, text=b"/mnt\0/program/mnt\0")
    program = guest.fork(setup)
    guest.call(program, Number.CHROOT, text=b"/program\0")
    guest.call(program, Number.CHDIR, text=b"/\0")
    return program


def test_a_chroots_paths_are_those_of_the_guest(guest: MadeUpCalls) -> None:
    program = chrooted(guest)
    for descriptor, path in enumerate(("/mnt/db", "mnt/db", "/lib/x", "../../etc"), 3):
        guest.open(program, path, descriptor)
        guest.write(program, descriptor, b"x")
    child = guest.fork(program)
    guest.open(child, "/mnt/child", 7)
    guest.write(child, 7, b"x")
    expected = {"/mnt/db": True, "/program/lib/x": False, "/program/etc": False, "/mnt/child": True}
    files = [call.files[0] for call in calls(guest)]
    assert {file.path: file.is_on_medium for file in files} == expected
    assert written(guest)[:2] == ["/mnt/db", "/mnt/db"]


def test_a_root_on_the_medium_is_on_the_medium_and_what_is_bound_into_it_is_not(guest: MadeUpCalls) -> None:
    program = guest.fork(guest.runner)
    guest.call(program, Number.MOUNT, 0, 0, 0, 0, text=b"devtmpfs\0/dev\0")
    guest.call(program, Number.MOUNT, 0, 0, 0, MS_BIND, text=b"/dev\0/mnt/root/dev\0")
    guest.call(program, Number.MOUNT, 0, 0, 0, 0, text=b"tmpfs\0/mnt/root/tmp\0")
    guest.call(program, Number.CHROOT, text=b"/mnt/root\0")
    for descriptor, path in enumerate(("/bin/x", "/dev/null", "/tmp/y"), 3):
        guest.open(program, path, descriptor)
        guest.write(program, descriptor, b"x")
    assert [(call.files[0].path, call.files[0].is_on_medium) for call in calls(guest)] == [
        *(("/mnt/root/bin/x", True), ("/dev/null", False), ("/mnt/root/tmp/y", False))
    ]


def test_an_unmounted_directory_is_itself_again(guest: MadeUpCalls) -> None:
    program = guest.fork(guest.runner)
    guest.call(program, Number.MOUNT, 0, 0, 0, MS_BIND, text=b"/mnt\0/tmp/m\0")
    guest.open(program, "/tmp/m/a", 3)
    guest.call(program, Number.UMOUNT2, text=b"/tmp/m\0")
    guest.open(program, "/tmp/m/a", 4)
    for descriptor in (3, 4):
        guest.write(program, descriptor, b"x")
    assert written(guest) == ["/mnt/a", "/tmp/m/a"]


def test_a_rename_has_two_files_and_a_copy_too(guest: MadeUpCalls) -> None:
    program = guest.fork(guest.runner)
    guest.call(program, Number.RENAMEAT2, AT_FDCWD, 0, AT_FDCWD, 0, text=b"/mnt/a\0mnt/b\0")
    guest.open(program, "/mnt/b", 3)
    guest.call(program, Number.SENDFILE, 1, 3, result=9)
    assert [file.path for file in calls(guest, Number.RENAMEAT2)[0].files] == ["/mnt/a", "/mnt/b"]
    assert [file.path for file in calls(guest, Number.SENDFILE)[0].files] == ["/mnt/b", "/dev/console"]


def test_a_wait_that_a_signal_interrupted_has_the_result_of_the_handlers_return(guest: MadeUpCalls) -> None:
    parent = guest.fork(guest.runner)
    child = guest.fork(parent)
    begun = guest.begin(parent, Number.WAIT4)
    guest.exit(child)
    guest.end(begun, SIGCHLD, flags=Flag.ELSEWHERE)
    guest.call(parent, Number.RT_SIGRETURN, result=child.tid)
    (call,) = calls(guest, Number.WAIT4)
    assert call.result == child.tid


def test_handlers_nest(guest: MadeUpCalls) -> None:
    program = guest.fork(guest.runner)
    guest.call(program, Number.READ, 3, result=10, flags=Flag.ELSEWHERE, pc=0x2000)
    guest.call(program, Number.WAIT4, 7, result=17, flags=Flag.ELSEWHERE)
    guest.call(program, Number.RT_SIGRETURN, result=99)
    guest.call(program, Number.RT_SIGRETURN, result=-4)
    assert [calls(guest, number)[0].result for number in (Number.READ, Number.WAIT4)] == [-4, 99]


def test_a_call_that_begins_again_after_the_handler_counts_once(guest: MadeUpCalls) -> None:
    program = guest.fork(guest.runner)
    guest.call(program, Number.READ, 3, 0x100, 50, result=17, flags=Flag.ELSEWHERE)
    guest.call(program, Number.RT_SIGRETURN, result=3)
    guest.call(program, Number.FAULT)
    guest.call(program, Number.READ, 3, 0x100, 50, result=20)
    assert [call.result for call in calls(guest, Number.READ)] == [None, 20]


def test_a_call_whose_handler_never_returned_has_no_result(guest: MadeUpCalls) -> None:
    program = guest.fork(guest.runner)
    guest.call(program, Number.OPENAT, AT_FDCWD, text=b"/mnt/a\0", result=17, flags=Flag.ELSEWHERE)
    guest.write(program, 3, b"x")
    assert written(guest) == [""]


def test_a_stack_that_is_used_again_is_another_task(guest: MadeUpCalls) -> None:
    """A signal killed the first, which was in a call."""
    parent = guest.fork(guest.runner)
    killed = guest.fork(parent)
    guest.open(killed, "/mnt/a", 3)
    begun = guest.begin(killed, Number.READ, 0)
    guest.end(begun, flags=Flag.OPEN)
    guest.call(parent, Number.WAIT4, result=killed.tid)
    reaped_ns = guest.now_ns
    clone, child = guest.clone(parent, kernel_stack=(killed.stack - 0xFFFFFF8000000000) // 0x4000)
    guest.end(clone, child.tid)
    guest.bear(clone, child)
    guest.write(child, 3, b"x")
    assert written(guest) == [""]
    threads = [thread for thread in followed(guest).threads if thread.process.pid in (killed.tid, child.tid)]
    assert [thread.process.ended_ns for thread in threads] == [reaped_ns, None]
    assert threads[0].ended_ns == threads[1].born_ns


def test_a_program_that_replaces_itself_ends_its_other_threads(guest: MadeUpCalls) -> None:
    program = guest.fork(guest.runner)
    guest.thread(program)
    guest.execute(program, "/bin/x", "x")
    assert [thread.ended_ns for thread in followed(guest).threads[-2:]] == [None, guest.now_ns]


def test_a_task_whose_birth_nobody_noted_has_the_console(guest: MadeUpCalls) -> None:
    stranger = Task(0xFFFFFF9000000000, 0x1, 0)
    guest.write(stranger, 2, b"x")
    guest.write(stranger, 3, b"x")
    assert written(guest) == ["/dev/console", ""]
    assert calls(guest)[0].thread.process.pid is None


def test_names_that_are_not_utf_8_stay_apart_from_others(guest: MadeUpCalls) -> None:
    program = guest.fork(guest.runner)
    guest.call(program, Number.OPENAT, AT_FDCWD, result=3, text=b"/mnt/\xff\x1b[2J\0")
    guest.write(program, 3, b"x")
    assert written(guest) == ["/mnt/\ufffd\x1b[2J"]


@pytest.mark.parametrize("text", [b"", b"\0", b"no end", b"/a\0/b\0/c\0"])
def test_no_text_breaks_the_follower(guest: MadeUpCalls, text: bytes) -> None:
    program = guest.fork(guest.runner)
    for number in Number:
        if number not in (Number.EXIT, Number.EXIT_GROUP):
            guest.call(program, number, *[2**64 - 1] * 6, text=text)
            guest.call(program, number, *[3] * 6, text=text, flags=Flag.ELSEWHERE)
    assert followed(guest).calls


def test_unknown_files_are_no_file_on_the_medium(guest: MadeUpCalls) -> None:
    program = guest.fork(guest.runner)
    guest.call(program, Number.OPENAT, 99, result=3, text=b"relative\0")
    guest.write(program, 3, b"x")
    assert calls(guest)[0].files == (GuestFile("", FileKind.OTHER),)
