# SPDX-License-Identifier: Apache-2.0
"""Compute what programs waited for in a measurement, from the emulator's notes of their system calls and page faults.

Programs are the processes of the guest except its runner and the runner's parents; or those that a chroot has put into
some directories, from then on. The measurement ends with the process that the runner started for it. Calls on the
medium are those whose descriptor or path is below /mnt, and sync. Accesses to mapped memory are no calls; they are page
faults if the page is absent. Must not know who shows it.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple

from flashbed.guest_output import percentiles, processes, system_calls
from flashbed.guest_output.durability import Commits, commits_of_calls
from flashbed.guest_output.processes import FileKind, GuestFile, Process, SystemCall, Thread
from flashbed.guest_output.system_calls import CALL_NOTES, COPIES, WRITE_CALLS, Number, Window


class Operation(StrEnum):
    """A kind of call on the medium that has latencies."""

    READ = "read"
    WRITE = "write"
    FLUSH = "flush"
    OPEN = "open"
    RENAME = "rename"
    UNLINK = "unlink"


class Spent(StrEnum):
    """Where a thread's time went."""

    OWN_CPU = "own_cpu"
    """The remainder: the program's own instructions, interrupts meanwhile, and waiting for a CPU that others use."""
    READ = "read"
    WRITE = "write"
    FLUSH = "flush"
    NAMES = "names"
    """Calls by path, and of directories, on the medium: open, rename, unlink, stat."""
    FAULTS = "faults"
    """Page faults, anywhere: of the program's own pages, of memory that it gets, of files that it maps."""
    WAITING = "waiting"
    """For time, locks, pipes, sockets, events."""
    CHILDREN = "children"
    """For the end of another process, as a shell does. What that process does counts as its own time."""
    OTHER = "other"


_READS = (Number.READ, Number.READV, Number.PREAD64, Number.PREADV, Number.PREADV2)
_OPERATIONS: Mapping[int, Operation] = {
    **dict.fromkeys(_READS, Operation.READ),
    **dict.fromkeys(WRITE_CALLS, Operation.WRITE),
    **dict.fromkeys((Number.FSYNC, Number.FDATASYNC, Number.SYNC_FILE_RANGE, Number.SYNCFS), Operation.FLUSH),
    **dict.fromkeys((Number.SYNC, Number.MSYNC), Operation.FLUSH),
    **dict.fromkeys((Number.OPENAT, Number.OPENAT2), Operation.OPEN),
    **dict.fromkeys((Number.RENAMEAT, Number.RENAMEAT2), Operation.RENAME),
    Number.UNLINKAT: Operation.UNLINK,
}
_COMMITS = frozenset({Number.FSYNC, Number.FDATASYNC})
_WITHOUT_FILE = frozenset({Number.SYNC, Number.MSYNC})
"""Flushes of what is on the medium, wherever the program is."""

_SPENT = {Operation.READ: Spent.READ, Operation.WRITE: Spent.WRITE, Operation.FLUSH: Spent.FLUSH}
_NAMES = frozenset(
    {
        *range(Number.SETXATTR, Number.FREMOVEXATTR + 1),
        *processes.OF_PATHS,
        *(Number.FSTAT, Number.FSTATFS, Number.GETDENTS64, Number.FTRUNCATE, Number.FALLOCATE),
        *(Number.FCHMOD, Number.FCHOWN, Number.FCHDIR),
    }
) - {Number.EXECVE, Number.EXECVEAT}
_WAITS = frozenset(
    {
        *(Number.EPOLL_PWAIT, Number.EPOLL_PWAIT2, Number.FLOCK, Number.PSELECT6, Number.PPOLL),
        *(Number.FUTEX, Number.FUTEX_WAITV, Number.NANOSLEEP, Number.CLOCK_NANOSLEEP),
        *(Number.SCHED_YIELD, Number.RT_SIGSUSPEND, Number.RT_SIGTIMEDWAIT, Number.ACCEPT, Number.ACCEPT4),
        *(Number.CONNECT, Number.SENDTO, Number.RECVFROM, Number.SENDMSG, Number.RECVMSG),
    }
)
_WAITS_FOR_CHILDREN = frozenset({Number.WAIT4, Number.WAITID})
_MOVES = frozenset((*_READS, *WRITE_CALLS, *COPIES))
_EXITS = frozenset({Number.EXIT, Number.EXIT_GROUP})
_FAULT = int(Number.FAULT)
_WAITED_ON = (FileKind.PIPE, FileKind.SOCKET, FileKind.EVENT)


@dataclass
class Calls:
    """Calls of one operation. Those that failed are among them, those that had not ended are not."""

    calls: int = 0
    failed: int = 0
    moved_bytes: int = 0
    took_ns: list[int] = field(default_factory=list)
    """How long each one took."""

    def add(self, took_ns: int, result: int, moves: bool) -> None:
        """Count a call that took `took_ns` and returned `result`: the moved bytes, if the call `moves` some; < 0 is an
        error.
        """
        self.calls += 1
        self.took_ns.append(took_ns)
        if result < 0:
            self.failed += 1
        elif moves:
            self.moved_bytes += result

    def metrics(self, prefix: str) -> dict[str, float]:
        """Return the number of calls, and mean, percentiles (nearest rank) and maximum of their durations, in us."""
        waits = percentiles.of_samples(prefix, [ns / 1e3 for ns in self.took_ns]) if self.took_ns else {}
        return {f"{prefix}_calls": self.calls, **waits}


@dataclass
class FileCosts:
    """The calls on one file, by its path or a descriptor. A file that was renamed counts by the name with which it was
    opened.
    """

    path: str
    is_on_medium: bool
    calls: dict[Operation, Calls] = field(default_factory=dict)
    spent_ns: int = 0


@dataclass
class ProcessCosts:
    """A process, and where the time of its threads went, in ns."""

    pid: int | None
    parent: int | None
    program: str
    begun_ns: int
    """Since the measurement began; negative if the process was there before."""
    calls: int = 0
    written_bytes: int = 0
    """Bytes that it wrote to files on the medium."""
    spent_ns: dict[Spent, int] = field(default_factory=lambda: dict.fromkeys(Spent, 0))


@dataclass(frozen=True)
class ProgramCalls:
    """What the programs of a measurement did."""

    window_ns: int
    """The length of the measurement."""
    operations: Mapping[Operation, Calls]
    """Calls on the medium; an operation without calls is there too."""
    files: Sequence[FileCosts]
    """Files on which the most time was spent first."""
    processes: Sequence[ProcessCosts]
    """In the order in which they began."""
    spent_ns: Mapping[Spent, int]
    """The sum over all threads."""
    commits: Commits
    """The calls of fsync and fdatasync on the medium that succeeded."""
    mapped_bytes: int = 0
    """The bytes of files on the medium that were mapped so that programs can write to them without a call."""

    @property
    def written_bytes(self) -> int | None:
        """Return the bytes that write calls put into files on the medium; None if programs may have written a good part
        of theirs through mappings, of which nothing is noted.
        """
        by_calls = self.operations[Operation.WRITE].moved_bytes
        return None if self.mapped_bytes > MOST_MAPPED * by_calls else by_calls


MOST_MAPPED = 0.05
"""The largest share of the bytes written by calls that may be mapped for writing too. For its write-ahead log SQLite
maps an index of 32 KiB, which says nothing about what it writes.
"""

MOST_SUMMARY_FILES = 10
"""The most files that a summary lists."""


@dataclass(frozen=True)
class CostlyFile:
    """What the calls on a file cost, in all."""

    path: str
    spent_ns: int
    calls: int
    read_bytes: int
    written_bytes: int
    flushes: int


@dataclass(frozen=True)
class CallSummary:
    """Where the time of a measurement's programs went. It is small enough to be kept with a result."""

    spent_ns: Mapping[Spent, int]
    """The sum over all threads."""
    files: Sequence[CostlyFile]
    """The files on which the most time was spent, the most first."""


def summary(of: ProgramCalls) -> CallSummary:
    """Return the times of programs, and the files that cost them most."""
    return CallSummary(of.spent_ns, [_costly(file) for file in of.files[:MOST_SUMMARY_FILES] if file.spent_ns])


def _costly(file: FileCosts) -> CostlyFile:
    read, written, flushes = (
        file.calls.get(operation, Calls()) for operation in (Operation.READ, Operation.WRITE, Operation.FLUSH)
    )
    calls = sum(of_operation.calls for of_operation in file.calls.values())
    return CostlyFile(file.path, file.spent_ns, calls, read.moved_bytes, written.moved_bytes, flushes.calls)


def metrics(of: ProgramCalls) -> dict[str, float]:
    """Return calls and latencies by operation, the bytes that calls moved on the medium, and the percentage of the
    programs' time by what it was spent on.
    """
    spent_ns = work_ns(of.spent_ns)
    whole_ns = sum(spent_ns.values())
    return {
        **metrics_of_operations(of.operations, of.written_bytes),
        **{f"time_{spent}_percent": 100.0 * ns / whole_ns for spent, ns in spent_ns.items() if whole_ns},
    }


def work_ns(spent_ns: Mapping[Spent, int]) -> dict[Spent, int]:
    """Return what time was spent on, without waiting for other processes."""
    return {spent: ns for spent, ns in spent_ns.items() if spent is not Spent.CHILDREN}


def metrics_of_operations(operations: Mapping[Operation, Calls], written_bytes: int | None) -> dict[str, float]:
    """Return calls and latencies by operation, the bytes that reads and writes moved, and the bytes written if they are
    known.
    """
    moved = {operation: operations[operation].moved_bytes for operation in (Operation.READ, Operation.WRITE)}
    return {
        "requested_bytes": float(sum(moved.values())),
        **({} if written_bytes is None else {"written_bytes": float(written_bytes)}),
        **{name: value for each, calls in operations.items() for name, value in calls.metrics(each).items()},
    }


def program_calls(out: Mapping[str, bytes], roots: Collection[str] = ()) -> ProgramCalls:
    """Return what the programs of a guest did, from its files; if `roots` are given, only those whose root directory a
    chroot made one of these. Raises KeyError if nothing was noted, and ValueError.
    """
    return of_notes(out[CALL_NOTES], roots)


def of_notes(data: bytes, roots: Collection[str] = ()) -> ProgramCalls:
    """Return what programs did, from trimmed notes. Raises ValueError."""
    notes = system_calls.notes(data)
    window = system_calls.window(notes)
    followed = processes.follow(notes, window.begin_ns)
    runner = next(call.thread.process for call in followed.calls if call.note.task == window.runner)
    return _Costs(_measured(window, runner, followed.threads), runner, roots).of(followed)


def _measured(window: Window, runner: Process, threads: Sequence[Thread]) -> Window:
    """Return the time until the first process that the runner started in the window ends."""
    for thread in threads:
        process = thread.process
        if process.parent is runner and thread.born_ns >= window.begin_ns and process.ended_ns is not None:
            return window._replace(end_ns=min(window.end_ns, process.ended_ns))
        if process.parent is runner and thread.born_ns >= window.begin_ns:
            break
    return window


class _Life(NamedTuple):
    """The part of a thread's life that is in the measurement."""

    begun_ns: int
    ended_ns: int
    costs: ProcessCosts


class _Costs:
    """Sums of what calls took in a measurement."""

    def __init__(self, window: Window, runner: Process, roots: Collection[str]) -> None:
        self._window, self._roots = window, roots
        self._operations = {operation: Calls() for operation in Operation}
        self._files: dict[str, FileCosts] = {}
        self._processes: dict[int, ProcessCosts] = {}
        self._commits: list[tuple[int, int]] = []
        self._mapped: dict[str, int] = {}
        """By the path of a file: the end of what was mapped for writing."""
        self._lives: dict[int, _Life] = {}
        """By the thread's identity: of programs only."""
        self._others: set[int] = set()
        """The runner and its parents."""
        ancestor: Process | None = runner
        while ancestor is not None:
            self._others.add(id(ancestor))
            ancestor = ancestor.parent

    def of(self, followed: processes.Followed) -> ProgramCalls:
        window = self._window
        for thread in followed.threads:
            if id(thread.process) not in self._others and (life := self._life(thread)) is not None:
                self._lives[id(thread)] = life
        for call in followed.calls:
            if (life := self._lives.get(id(call.thread))) is not None:
                self._add(call, life)
        began = sorted(self._processes.values(), key=lambda process: process.begun_ns)
        return ProgramCalls(
            window.end_ns - window.begin_ns,
            self._operations,
            sorted(self._files.values(), key=lambda file: (-file.spent_ns, file.path)),
            began,
            {spent: sum(process.spent_ns[spent] for process in began) for spent in Spent},
            commits_of_calls(self._commits),
            sum(self._mapped.values()),
        )

    def _life(self, thread: Thread) -> _Life | None:
        """Return a thread's life, all of which counts as its own time; calls are taken off. Return None if it is not in
        the measurement.
        """
        ends = (self._window.end_ns, thread.ended_ns, thread.process.ended_ns)
        ended_ns = min(end for end in ends if end is not None)
        begun_ns = max(thread.born_ns, self._window.begin_ns)
        if self._roots:
            entered_ns = next((since for root, since in thread.process.roots if root in self._roots), ended_ns + 1)
            begun_ns = max(begun_ns, entered_ns)
        if ended_ns < begun_ns:
            return None
        costs = self._process(thread.process, thread.born_ns)
        costs.spent_ns[Spent.OWN_CPU] += ended_ns - begun_ns
        return _Life(begun_ns, ended_ns, costs)

    def _process(self, process: Process, born_ns: int) -> ProcessCosts:
        costs = self._processes.get(id(process))
        if costs is None:
            parent = process.parent.pid if process.parent else None
            begun_ns = born_ns - self._window.begin_ns
            costs = self._processes[id(process)] = ProcessCosts(process.pid, parent, process.program, begun_ns)
        return costs

    def _add(self, call: SystemCall, life: _Life) -> None:
        note, process = call.note, life.costs
        begin_ns, end_ns = note.begin_ns, note.end_ns
        took_ns = min(end_ns, life.ended_ns) - max(begin_ns, life.begun_ns)
        if took_ns < 0 or end_ns <= life.begun_ns or note.number in _EXITS:
            return
        spent_ns = process.spent_ns
        spent_ns[Spent.OWN_CPU] -= took_ns
        if note.number == _FAULT:
            spent_ns[Spent.FAULTS] += took_ns
            return
        operation, file = _meaning(call)
        spent_ns[_spent(call, operation, file)] += took_ns
        costs = self._file(file) if file is not None and file.kind is FileKind.NAMED else None
        if costs is not None:
            costs.spent_ns += took_ns
        if call.result is None or begin_ns < life.begun_ns:
            return
        process.calls += 1
        if note.maps_for_writing and file is not None and file.is_on_medium:
            self._mapped[file.path] = max(self._mapped.get(file.path, 0), note.a1 + note.a5)
        if operation is None:
            return
        counted = [] if costs is None else [costs.calls.setdefault(operation, Calls())]
        if file is None or file.is_on_medium:
            counted.append(self._operations[operation])
        if note.number in _COMMITS and call.result == 0 and file is not None and file.is_on_medium:
            self._commits.append((begin_ns, end_ns))
        moves = operation in (Operation.READ, Operation.WRITE)
        for calls in counted:
            calls.add(end_ns - begin_ns, call.result, moves)
        if operation is Operation.WRITE and file is not None and file.is_on_medium:
            process.written_bytes += max(call.result, 0)

    def _file(self, file: GuestFile) -> FileCosts:
        costs = self._files.get(file.path)
        if costs is None:
            costs = self._files[file.path] = FileCosts(file.path, file.is_on_medium)
        return costs


def _meaning(call: SystemCall) -> tuple[Operation | None, GuestFile | None]:
    """Return the operation of a call, if it has latencies, and the file to which its costs belong: of a rename the new
    name, and of a copy the file that is on the medium.
    """
    number, files = call.note.number, call.files
    if number in _WITHOUT_FILE:
        return Operation.FLUSH, None
    if not files:
        return None, None
    if number in COPIES:
        source, target = files
        if target.is_on_medium:
            return Operation.WRITE, target
        return (Operation.READ, source) if source.kind is FileKind.NAMED else (None, source)
    operation, file = _OPERATIONS.get(number), files[-1]
    return (operation if file.kind is FileKind.NAMED else None), file


def _spent(call: SystemCall, operation: Operation | None, file: GuestFile | None) -> Spent:
    number = call.note.number
    if operation is not None and (file is None or file.is_on_medium):
        return _SPENT.get(operation, Spent.NAMES)
    if number in _WAITS_FOR_CHILDREN:
        return Spent.CHILDREN
    if number in _WAITS or (number in _MOVES and file is not None and file.kind in _WAITED_ON):
        return Spent.WAITING
    if number in _NAMES and any(file.is_on_medium for file in call.files):
        return Spent.NAMES
    return Spent.OTHER
