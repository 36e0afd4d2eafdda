# SPDX-License-Identifier: Apache-2.0
"""Read the emulator's notes of the guest's system calls and page faults (emulator/lab-calls.h), and trim them to the
measurement.

The emulator notes from power-on. The measurement is between two lines that the guest's runner writes to the console. Of
the notes before it, only those are kept that say which processes there are and which files they have open.

The guest chose the texts, so they may be anything. Must not know what the notes are used for.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from enum import IntEnum
from typing import NamedTuple

RAW_CALLS, CALL_NOTES = "calls.raw", "calls.bin"
"""The emulator's file from power-on; the same, trimmed."""

MOST_RAW = 128 << 20
"""The most bytes that a guest may have noted: about a million notes."""

_NOTE = struct.Struct("<5Q6Qq4H")
_STEP, _MEASURE, _SYNC = b"flashbed: ", b"flashbed: measure\n", b"flashbed: sync\n"


_PROT_WRITE, _MAP_TYPE, _MAP_SHARED, _MAP_SHARED_VALIDATE = 2, 0xF, 1, 3


class Number(IntEnum):
    """The system calls of arm64 Linux that have a meaning here (include/uapi/asm-generic/unistd.h), and the notes that
    are no calls.
    """

    SETXATTR = 5
    FREMOVEXATTR = 16
    GETCWD = 17
    EVENTFD2 = 19
    EPOLL_CREATE1 = 20
    EPOLL_PWAIT = 22
    DUP = 23
    DUP3 = 24
    FCNTL = 25
    INOTIFY_INIT1 = 26
    IOCTL = 29
    FLOCK = 32
    MKNODAT = 33
    MKDIRAT = 34
    UNLINKAT = 35
    SYMLINKAT = 36
    LINKAT = 37
    RENAMEAT = 38
    UMOUNT2 = 39
    MOUNT = 40
    STATFS = 43
    FSTATFS = 44
    TRUNCATE = 45
    FTRUNCATE = 46
    FALLOCATE = 47
    FACCESSAT = 48
    CHDIR = 49
    FCHDIR = 50
    CHROOT = 51
    FCHMOD = 52
    FCHMODAT = 53
    FCHOWNAT = 54
    FCHOWN = 55
    OPENAT = 56
    CLOSE = 57
    PIPE2 = 59
    GETDENTS64 = 61
    READ = 63
    WRITE = 64
    READV = 65
    WRITEV = 66
    PREAD64 = 67
    PWRITE64 = 68
    PREADV = 69
    PWRITEV = 70
    SENDFILE = 71
    PSELECT6 = 72
    PPOLL = 73
    SIGNALFD4 = 74
    SPLICE = 76
    READLINKAT = 78
    NEWFSTATAT = 79
    FSTAT = 80
    SYNC = 81
    FSYNC = 82
    FDATASYNC = 83
    SYNC_FILE_RANGE = 84
    TIMERFD_CREATE = 85
    UTIMENSAT = 88
    EXIT = 93
    EXIT_GROUP = 94
    WAITID = 95
    UNSHARE = 97
    FUTEX = 98
    NANOSLEEP = 101
    CLOCK_NANOSLEEP = 115
    SCHED_YIELD = 124
    RT_SIGSUSPEND = 133
    RT_SIGTIMEDWAIT = 137
    RT_SIGRETURN = 139
    SOCKET = 198
    SOCKETPAIR = 199
    ACCEPT = 202
    CONNECT = 203
    SENDTO = 206
    RECVFROM = 207
    SENDMSG = 211
    RECVMSG = 212
    CLONE = 220
    EXECVE = 221
    MMAP = 222
    MSYNC = 227
    ACCEPT4 = 242
    WAIT4 = 260
    SYNCFS = 267
    RENAMEAT2 = 276
    MEMFD_CREATE = 279
    EXECVEAT = 281
    COPY_FILE_RANGE = 285
    PREADV2 = 286
    PWRITEV2 = 287
    STATX = 291
    PIDFD_OPEN = 434
    CLONE3 = 435
    CLOSE_RANGE = 436
    OPENAT2 = 437
    FACCESSAT2 = 439
    EPOLL_PWAIT2 = 441
    FUTEX_WAITV = 449
    FAULT = 0xFFFE
    BORN = 0xFFFF


WRITE_CALLS = (Number.WRITE, Number.WRITEV, Number.PWRITE64, Number.PWRITEV, Number.PWRITEV2)
COPIES = (Number.SENDFILE, Number.SPLICE, Number.COPY_FILE_RANGE)
"""Calls that move data into a file: from memory, and from another file."""


class Flag(IntEnum):
    """How a noted call ended; no flag if it returned to its program."""

    ELSEWHERE = 1
    """It returned to another place, as to a signal's handler. `result` is not its result."""
    OPEN = 2
    """It never returned."""


class Note(NamedTuple):
    """A note. Times are the guest's, in ns. `a0` to `a5` are the arguments."""

    begin_ns: int
    end_ns: int
    task: int
    space: int
    pc: int
    a0: int
    a1: int
    a2: int
    a3: int
    a4: int
    a5: int
    result: int
    number: int
    flags: int
    cpu: int
    text: bytes

    @property
    def maps_for_writing(self) -> bool:
        """Return True if the call maps a file so that the program can write to it without a call."""
        if self.number != Number.MMAP:
            return False
        return bool(self.a2 & _PROT_WRITE) and self.a3 & _MAP_TYPE in (_MAP_SHARED, _MAP_SHARED_VALIDATE)

    def argument(self, number: int) -> int:
        """Return an argument by its number."""
        return (self.a0, self.a1, self.a2, self.a3, self.a4, self.a5)[number]


_OF_DESCRIPTORS = frozenset(
    {
        *(Number.OPENAT, Number.OPENAT2, Number.DUP, Number.DUP3, Number.FCNTL, Number.IOCTL, Number.CLOSE),
        *(Number.CLOSE_RANGE, Number.PIPE2, Number.SOCKETPAIR, Number.SOCKET, Number.ACCEPT, Number.ACCEPT4),
        *(Number.EVENTFD2, Number.EPOLL_CREATE1, Number.INOTIFY_INIT1, Number.SIGNALFD4, Number.TIMERFD_CREATE),
        *(Number.MEMFD_CREATE, Number.PIDFD_OPEN),
    }
)
"""Calls that change only which descriptors a process has."""

_OF_PROCESSES = frozenset(
    {
        *(Number.BORN, Number.CLONE, Number.CLONE3, Number.EXECVE, Number.EXECVEAT, Number.EXIT, Number.EXIT_GROUP),
        *(Number.UNSHARE, Number.CHDIR, Number.FCHDIR, Number.CHROOT, Number.MOUNT, Number.UMOUNT2),
        Number.RT_SIGRETURN,
    }
)
_ENDS_A_PROCESS, _MAKES_TASKS = Number.EXIT_GROUP, (Number.CLONE, Number.CLONE3)


def notes(data: bytes, name: str = CALL_NOTES) -> list[Note]:
    """Return the notes of a file, in its order: that of their ends. Raises ValueError if it is damaged."""
    return [note for note, _, _ in _walk(data, name)]


def _walk(data: bytes, name: str) -> Iterator[tuple[Note, int, int]]:
    """Yield each note, and where it begins and ends in the file. Raises ValueError."""
    at, whole, size, make, unpack = 0, len(data), _NOTE.size, Note._make, _NOTE.unpack_from
    while at < whole:
        if at + size > whole:
            raise ValueError(f"{name}: its last note is not complete")
        fields = unpack(data, at)
        end = at + size + fields[-1]
        if end > whole or fields[1] < fields[0]:
            raise ValueError(f"{name}: the note at byte {at} is damaged")
        yield make((*fields[:-1], data[at + size : end])), at, end
        at = end


class _Before:
    """The notes that are kept of the time before the measurement."""

    def __init__(self) -> None:
        self._kept: dict[int, int] = {}
        self._of_task: dict[int, list[int]] = {}
        """The places of the notes of each task's descriptors, until it has children."""

    def add(self, note: Note, at: int, end: int) -> None:
        """Keep the note of the bytes `at` to `end` if it may say which processes there were, or which files they had
        open.
        """
        if note.number in _OF_DESCRIPTORS:
            self._of_task.setdefault(note.task, []).append(at)
        elif note.number in _MAKES_TASKS or note.number == Number.BORN:
            self._of_task.pop(note.task, None)
        elif note.number == _ENDS_A_PROCESS:
            for place in self._of_task.pop(note.task, ()):
                del self._kept[place]
        elif note.number not in _OF_PROCESSES and not note.flags & Flag.ELSEWHERE:
            return
        self._kept[at] = end

    def places(self) -> list[tuple[int, int]]:
        """Return begin and end of each kept note, in the order of the notes."""
        return sorted(self._kept.items())


def trimmed(raw: bytes) -> bytes:
    """Return the notes of the measurement, and before them those of earlier calls that say which processes there were
    and which files they had open; b"" if the guest did not get to its measurement. Raises ValueError.
    """
    runner: int | None = None
    began = ended_ns = None
    before = _Before()
    late: list[tuple[int, int]] = []
    rest = len(raw)
    for note, at, end in _walk(raw, RAW_CALLS):
        if note.number == Number.WRITE and note.text.startswith(_STEP):
            runner = note.task if runner is None else runner
            if began is None and note.task == runner and note.text == _MEASURE:
                began = at
            elif began is not None and ended_ns is None and note.task == runner and note.text == _SYNC:
                ended_ns, rest = note.begin_ns, end
        if began is None:
            before.add(note, at, end)
        elif ended_ns is not None and note.begin_ns < ended_ns and note.number != Number.BORN:
            late.append((at, end))
    if began is None:
        return b""
    return b"".join(raw[begin:end] for begin, end in (*before.places(), (began, rest), *late))


class Window(NamedTuple):
    """The time of the measurement, ns, and the task of the guest's runner."""

    begin_ns: int
    end_ns: int
    runner: int


def window(of: list[Note]) -> Window:
    """Return the measurement of trimmed notes. If the guest ended in it, so do the notes. Raises ValueError."""
    steps = [note for note in of if note.number == Number.WRITE and note.text in (_MEASURE, _SYNC)]
    if not steps or steps[0].text != _MEASURE:
        raise ValueError(f"{CALL_NOTES}: has no beginning of the measurement")
    first = steps[0]
    ends = (note.begin_ns for note in steps if note.task == first.task and note.text == _SYNC)
    return Window(first.end_ns, next(ends, max(note.end_ns for note in of)), first.task)
