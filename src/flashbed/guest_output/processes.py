# SPDX-License-Identifier: Apache-2.0
"""Follow the guest's processes through the notes of their system calls: which program a process executes, and which
file each descriptor is.

Paths are those of the guest's first root directory: relative paths, chroots and bind mounts are resolved, symbolic
links are not. A descriptor that a process got over a socket is unknown. Must not know what a call costs.
"""

from __future__ import annotations

import posixpath
import struct
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum, auto
from functools import lru_cache

from flashbed.common.descriptors import DescriptorTable
from flashbed.guest_output import births
from flashbed.guest_output.births import CLONE_FILES, CLONE_FS, CLONE_THREAD, clone_arguments
from flashbed.guest_output.system_calls import Flag, Note, Number

MOUNT_POINT = "/mnt"
"""Where the file system under test is mounted."""

_AT_FDCWD = -100
_O_CLOEXEC = 0x80000
_F_DUPFD, _F_SETFD, _F_DUPFD_CLOEXEC = 0, 2, 1030
_FIONCLEX, _FIOCLEX = 0x5450, 0x5451
_CLOSE_RANGE_UNSHARE, _CLOSE_RANGE_CLOEXEC = 2, 4
_MS_REMOUNT, _MS_BIND, _MS_MOVE = 0x20, 0x1000, 0x2000
_MS_PROPAGATION = 0xF << 17
_MFD_CLOEXEC = 1
_EXECUTES_ITSELF = "/proc/self/exe"

_PAIR = struct.Struct("<2i")
_HOW = struct.Struct("<3Q")


_BORN, _FAULT = int(Number.BORN), int(Number.FAULT)
_CLONES, _EXITS = frozenset({Number.CLONE, Number.CLONE3}), frozenset({Number.EXIT, Number.EXIT_GROUP})


class FileKind(Enum):
    """What a descriptor is."""

    NAMED = auto()
    """A file that was opened by its path."""
    PIPE = auto()
    SOCKET = auto()
    EVENT = auto()
    """A descriptor on which a program waits: eventfd, epoll, timerfd, signalfd, inotify."""
    OTHER = auto()


@dataclass(frozen=True)
class GuestFile:
    """An open file, by the path with which it was opened."""

    path: str
    kind: FileKind = FileKind.NAMED
    is_on_medium: bool = False


_NEW: Mapping[int, tuple[GuestFile, int]] = {
    Number.EVENTFD2: (GuestFile("eventfd", FileKind.EVENT), 1),
    Number.EPOLL_CREATE1: (GuestFile("epoll", FileKind.EVENT), 0),
    Number.TIMERFD_CREATE: (GuestFile("timerfd", FileKind.EVENT), 1),
    Number.INOTIFY_INIT1: (GuestFile("inotify", FileKind.EVENT), 0),
    Number.SIGNALFD4: (GuestFile("signalfd", FileKind.EVENT), 3),
    Number.PIDFD_OPEN: (GuestFile("pidfd", FileKind.EVENT), -1),
    Number.SOCKET: (GuestFile("socket", FileKind.SOCKET), 1),
    Number.ACCEPT: (GuestFile("socket", FileKind.SOCKET), -1),
    Number.ACCEPT4: (GuestFile("socket", FileKind.SOCKET), 3),
}
"""What calls make that return one descriptor, and which argument has O_CLOEXEC. pidfd_open always sets it."""

_PIPE, _SOCKET, _CONSOLE = (
    GuestFile("pipe", FileKind.PIPE),
    GuestFile("socket", FileKind.SOCKET),
    GuestFile("/dev/console"),
)

OF_PATHS: Mapping[int, Sequence[tuple[int, int]]] = {
    **dict.fromkeys((Number.SETXATTR, Number.STATFS, Number.TRUNCATE), ((-1, 0),)),
    **dict.fromkeys((Number.CHDIR, Number.CHROOT, Number.UMOUNT2, Number.EXECVE), ((-1, 0),)),
    **dict.fromkeys((Number.MKNODAT, Number.MKDIRAT, Number.UNLINKAT, Number.FACCESSAT, Number.FCHMODAT), ((0, 1),)),
    **dict.fromkeys(
        (Number.FCHOWNAT, Number.OPENAT, Number.READLINKAT, Number.NEWFSTATAT, Number.UTIMENSAT), ((0, 1),)
    ),
    **dict.fromkeys((Number.EXECVEAT, Number.STATX, Number.OPENAT2, Number.FACCESSAT2), ((0, 1),)),
    **dict.fromkeys((Number.LINKAT, Number.RENAMEAT, Number.RENAMEAT2), ((0, 1), (2, 3))),
    Number.SYMLINKAT: ((1, 2),),
}
"""For each path of a call: the argument that is its directory (-1: the working directory), and that of the path."""

_WITH_DESCRIPTOR: Mapping[int, int] = {
    **dict.fromkeys((Number.READ, Number.READV, Number.PREAD64, Number.PREADV, Number.PREADV2, Number.SPLICE), 0),
    **dict.fromkeys((Number.WRITE, Number.WRITEV, Number.PWRITE64, Number.PWRITEV, Number.PWRITEV2), 0),
    **dict.fromkeys((Number.FSYNC, Number.FDATASYNC, Number.SYNC_FILE_RANGE, Number.SYNCFS), 0),
    **dict.fromkeys((Number.FTRUNCATE, Number.FALLOCATE, Number.FSTAT, Number.FSTATFS, Number.GETDENTS64), 0),
    **dict.fromkeys((Number.FCHMOD, Number.FCHOWN, Number.FLOCK, Number.FCNTL, Number.IOCTL, Number.CLOSE), 0),
    **dict.fromkeys((Number.COPY_FILE_RANGE,), 0),
    Number.SENDFILE: 1,
    Number.MMAP: 4,
}
"""The argument that is the descriptor which a call works on; of a copy, the one that it reads."""

_COPIES_TO: Mapping[int, int] = {Number.SENDFILE: 0, Number.SPLICE: 2, Number.COPY_FILE_RANGE: 2}
"""The argument that is the descriptor which a copy writes."""


@dataclass
class Process:
    """A process. `pid` is unknown of a process that no clone made. `program` is the name of the last program."""

    pid: int | None
    parent: Process | None
    program: str = ""
    path: str = ""
    ended_ns: int | None = None
    roots: tuple[tuple[str, int], ...] = ()
    """The root directories that it or its parents changed to, and when."""


@dataclass
class Thread:
    """A task from its birth on. `tid` is None if no clone made it, and `ended_ns` if nobody noted its end."""

    process: Process
    born_ns: int
    tid: int | None = None
    ended_ns: int | None = None
    _table: DescriptorTable[GuestFile] = field(default_factory=lambda: DescriptorTable[GuestFile]())
    _places: _Places = field(default_factory=lambda: _Places())


@dataclass(slots=True)
class SystemCall:
    """A call, or a page fault. `result` is None if it has none: the call never returned, or it began again. `files` are
    the files of its descriptor or its path; of a copy or a rename two.
    """

    note: Note
    result: int | None
    thread: Thread
    files: tuple[GuestFile, ...]


@dataclass
class _Places:
    """Root and working directory of one or several processes."""

    root: str = "/"
    working: str = "/"


class _Mounts:
    """What is mounted where."""

    def __init__(self) -> None:
        self._at = {MOUNT_POINT: MOUNT_POINT}
        """By mount point: what is there, which for a bind mount is another directory."""
        self._known: dict[str, GuestFile] = {}

    def file(self, path: str) -> GuestFile:
        """Return the file of an absolute path."""
        if (file := self._known.get(path)) is None:
            file = self._known[path] = self._find(path)
        return file

    def _find(self, path: str) -> GuestFile:
        original = self._original(path)
        return GuestFile(original, is_on_medium=self._point_of(original) == MOUNT_POINT)

    def _original(self, path: str) -> str:
        point = self._point_of(path)
        return path if point == "/" else self._at[point] + path[len(point) :]

    def _point_of(self, path: str) -> str:
        while path != "/" and path not in self._at:
            path = posixpath.dirname(path)
        return path

    def mount(self, point: str, source: str | None) -> None:
        """Note a mount at `point`; `source` is the path that is bound or moved there, None for a file system."""
        original = self._original(point)
        self._at[original if source is None else point] = original if source is None else self._original(source)
        self._known.clear()

    def unmount(self, point: str) -> None:
        """Note that a mount ends. The root of the guest stays."""
        if point != MOUNT_POINT:
            self._at.pop(point, None)
        self._known.clear()


def _number(argument: int) -> int:
    """Return an argument that is an int of C."""
    return ((argument & 0xFFFFFFFF) ^ 0x80000000) - 0x80000000


@lru_cache(maxsize=4096)
def _below(root: str, path: str) -> str:
    """Return a path that begins at a root directory; ".." does not leave that."""
    whole = posixpath.normpath("/" + path.lstrip("/"))
    return whole if root == "/" else root + whole.rstrip("/")


def _text(words: bytes) -> str:
    return words.decode(errors="replace")


class _Following:
    """The processes at a moment, and the calls so far."""

    def __init__(self, notes: Sequence[Note], from_ns: int) -> None:
        self._notes, self._from_ns = notes, from_ns
        self._results = births.results(notes)
        self._parents = births.parents(notes, self._results)
        self._clones = {clone: born for born, clone in self._parents.items()}
        self._children: dict[int, Thread] = {}
        self._threads: dict[int, Thread] = {}
        self._by_pid: dict[int, Process] = {}
        self._mounts = _Mounts()
        self.calls: list[SystemCall] = []
        self.threads: list[Thread] = []
        self._effects: dict[int, Callable[[Note, int, Thread], None]] = {
            **dict.fromkeys((Number.OPENAT, Number.OPENAT2), self._open),
            **dict.fromkeys(_NEW, self._make),
            **dict.fromkeys((Number.PIPE2, Number.SOCKETPAIR), self._make_pair),
            Number.MEMFD_CREATE: self._make_memory,
            Number.DUP: self._duplicate,
            Number.DUP3: self._duplicate,
            Number.FCNTL: self._control,
            Number.IOCTL: self._control_device,
            Number.CLOSE: self._close,
            Number.CLOSE_RANGE: self._close_range,
            Number.UNSHARE: self._unshare,
            Number.CHDIR: self._change_directory,
            Number.FCHDIR: self._change_directory,
            Number.CHROOT: self._change_root,
            Number.MOUNT: self._mount,
            Number.UMOUNT2: self._unmount,
            **dict.fromkeys((Number.EXECVE, Number.EXECVEAT), self._execute),
            Number.WAIT4: self._reap,
        }

    def follow(self) -> None:
        """Go through all notes in the order in which their effects happened."""
        notes = self._notes
        at_begin = (*_WITH_DESCRIPTOR, Number.CLONE, Number.CLONE3, Number.CLOSE_RANGE, Number.EXIT, Number.EXIT_GROUP)
        begins = frozenset(at_begin) - {Number.FCNTL, Number.IOCTL}
        moments = [note.begin_ns if note.number in begins else note.end_ns for note in notes]
        for place in sorted(range(len(notes)), key=moments.__getitem__):
            self._take(place, notes[place])

    def _take(self, place: int, note: Note) -> None:
        number, flags = note.number, note.flags
        if number == _BORN:
            self._bear(place, note)
            return
        thread = self._threads.get(note.task) or self._appear(note)
        result: int | None = note.result
        if flags:
            result = None if flags & Flag.OPEN else self._results[place]
        files: tuple[GuestFile, ...] = () if number == _FAULT else self._files(note, thread)
        if note.end_ns > self._from_ns:
            self.calls.append(SystemCall(note, result, thread, files))
        if number in _CLONES:
            self._clone(place, note, thread, result)
        elif number in _EXITS:
            self._exit(note, thread)
        elif result is not None and result >= 0 and (effect := self._effects.get(number)):
            effect(note, result, thread)

    # Tasks

    def _bear(self, place: int, note: Note) -> None:
        thread = self._children.pop(place, None) or self._unknown(note)
        thread.born_ns = note.begin_ns
        self._end_of_stack(note)
        self._threads[note.task] = thread
        self.threads.append(thread)

    def _appear(self, note: Note) -> Thread:
        """Return the thread of a task whose birth was not noted."""
        thread = self._threads[note.task] = self._unknown(note)
        self.threads.append(thread)
        return thread

    def _unknown(self, note: Note) -> Thread:
        standard = DescriptorTable(dict.fromkeys(range(3), _CONSOLE))
        return Thread(Process(None, None), note.begin_ns, _table=standard)

    def _end_of_stack(self, note: Note) -> None:
        """Note that the task which had this stack before is gone."""
        earlier = self._threads.get(note.task)
        if earlier is not None and earlier.ended_ns is None:
            earlier.ended_ns = note.begin_ns

    def _clone(self, place: int, note: Note, thread: Thread, result: int | None) -> None:
        born = self._clones.get(place)
        if born is None:
            return
        flags = clone_arguments(note).flags
        process = thread.process
        if not flags & CLONE_THREAD:
            process = Process(result, process, process.program, process.path, roots=process.roots)
            if result is not None:
                self._by_pid[result] = process
        self._children[born] = Thread(
            process,
            note.begin_ns,
            result,
            _table=thread._table if flags & CLONE_FILES else thread._table.copy(),
            _places=thread._places if flags & CLONE_FS else replace(thread._places),
        )

    def _exit(self, note: Note, thread: Thread) -> None:
        thread.ended_ns = note.begin_ns
        if note.number == Number.EXIT_GROUP:
            thread.process.ended_ns = note.begin_ns

    def _reap(self, note: Note, result: int, thread: Thread) -> None:
        """Note the latest possible end of a process that a signal has killed."""
        process = self._by_pid.get(result)
        if process is not None and process.ended_ns is None:
            process.ended_ns = note.end_ns

    def _execute(self, note: Note, result: int, thread: Thread) -> None:
        if result:
            return
        path, _, argument = note.text.partition(b"\0")
        process = thread.process
        if path and _text(path) != _EXECUTES_ITSELF:
            directory = _number(note.a0) if note.number == Number.EXECVEAT else _AT_FDCWD
            process.path = self._resolved(_text(path), directory, thread).path
        process.program = (
            _text(argument.rstrip(b"\0")).rpartition("/")[2].lstrip("-") or process.path.rpartition("/")[2]
        )
        thread._table = thread._table.copy()
        for descriptor in thread._table.to_close():
            thread._table.remove(descriptor)
        thread._places = replace(thread._places)
        for other in self._threads.values():
            if other is not thread and other.process is process and other.ended_ns is None:
                other.ended_ns = note.end_ns

    def _unshare(self, note: Note, result: int, thread: Thread) -> None:
        if note.a0 & CLONE_FILES:
            thread._table = thread._table.copy()
        if note.a0 & CLONE_FS:
            thread._places = replace(thread._places)

    # Paths

    def _files(self, note: Note, thread: Thread) -> tuple[GuestFile, ...]:
        if (argument := _WITH_DESCRIPTOR.get(note.number)) is not None:
            files = thread._table.files
            file = files.get(_number(note.argument(argument)))
            if (target := _COPIES_TO.get(note.number)) is not None:
                written = files.get(_number(note.argument(target)))
                return (file or _UNKNOWN, written or _UNKNOWN)
            return () if file is None else (file,)
        if (arguments := OF_PATHS.get(note.number)) is None or not note.text:
            return ()
        texts = note.text.split(b"\0")[-1 - len(arguments) : -1] if note.number == Number.SYMLINKAT else None
        words = texts or note.text.split(b"\0", len(arguments))
        return tuple(
            self._resolved(_text(word), _AT_FDCWD if directory < 0 else _number(note.argument(directory)), thread)
            for (directory, _), word in zip(arguments, words, strict=False)
        )

    def _resolved(self, path: str, directory: int, thread: Thread) -> GuestFile:
        root = thread._places.root
        if path.startswith("/"):
            return self._mounts.file(_below(root, path))
        if directory == _AT_FDCWD:
            base = thread._places.working
        elif file := thread._table.files.get(directory):
            if not path:
                return file
            base = file.path
        else:
            return _UNKNOWN
        inside = base.startswith(f"{root}/") or base == root
        return self._mounts.file(_below(root if inside else "/", f"{base[len(root) :] if inside else base}/{path}"))

    def _change_directory(self, note: Note, result: int, thread: Thread) -> None:
        if note.number == Number.CHDIR:
            thread._places.working = self._path(note.text, thread)
        elif file := thread._table.files.get(_number(note.a0)):
            thread._places.working = file.path

    def _change_root(self, note: Note, result: int, thread: Thread) -> None:
        thread._places.root = root = self._path(note.text, thread)
        thread.process.roots += ((root, note.end_ns),)

    def _path(self, text: bytes, thread: Thread) -> str:
        return self._resolved(_text(text.partition(b"\0")[0]), _AT_FDCWD, thread).path

    def _mount(self, note: Note, result: int, thread: Thread) -> None:
        if note.a3 & (_MS_REMOUNT | _MS_PROPAGATION) or note.text.count(b"\0") < 2:
            return
        source, target, _ = note.text.split(b"\0", 2)
        bound = self._path(source, thread) if note.a3 & (_MS_BIND | _MS_MOVE) else None
        self._mounts.mount(self._unmapped(target, thread), bound)

    def _unmount(self, note: Note, result: int, thread: Thread) -> None:
        self._mounts.unmount(self._unmapped(note.text.partition(b"\0")[0], thread))

    def _unmapped(self, text: bytes, thread: Thread) -> str:
        """Return the path of a mount point itself, not of what is mounted there."""
        places = thread._places
        return _below(
            *((places.root, _text(text)) if text.startswith(b"/") else ("/", f"{places.working}/{_text(text)}"))
        )

    # Descriptors

    def _open(self, note: Note, result: int, thread: Thread) -> None:
        path, _, how = note.text.partition(b"\0")
        flags = note.a2
        if note.number == Number.OPENAT2:
            flags = _HOW.unpack(how)[0] if len(how) == _HOW.size else 0
        file = self._resolved(_text(path), _number(note.a0), thread) if note.text else _UNKNOWN
        thread._table.put(result, file, bool(flags & _O_CLOEXEC))

    def _make(self, note: Note, result: int, thread: Thread) -> None:
        file, argument = _NEW[note.number]
        thread._table.put(result, file, argument < 0 or bool(note.argument(argument) & _O_CLOEXEC))

    def _make_pair(self, note: Note, result: int, thread: Thread) -> None:
        if len(note.text) != _PAIR.size:
            return
        is_pipe = note.number == Number.PIPE2
        for descriptor in _PAIR.unpack(note.text):
            thread._table.put(descriptor, _PIPE if is_pipe else _SOCKET, bool(note.a1 & _O_CLOEXEC))

    def _make_memory(self, note: Note, result: int, thread: Thread) -> None:
        name = _text(note.text.partition(b"\0")[0])
        thread._table.put(result, GuestFile(f"memfd:{name}", FileKind.OTHER), bool(note.a1 & _MFD_CLOEXEC))

    def _duplicate(self, note: Note, result: int, thread: Thread) -> None:
        flags = note.a2 if note.number == Number.DUP3 else 0
        self._copy(note.a0, result, thread, bool(flags & _O_CLOEXEC))

    def _copy(self, descriptor: int, to: int, thread: Thread, closed_by_exec: bool) -> None:
        file = thread._table.files.get(_number(descriptor), _UNKNOWN)
        thread._table.put(to, file, closed_by_exec)

    def _control(self, note: Note, result: int, thread: Thread) -> None:
        command = _number(note.a1)
        if command in (_F_DUPFD, _F_DUPFD_CLOEXEC):
            self._copy(note.a0, result, thread, command == _F_DUPFD_CLOEXEC)
        elif command == _F_SETFD:
            thread._table.mark(_number(note.a0), bool(note.a2 & 1))

    def _control_device(self, note: Note, result: int, thread: Thread) -> None:
        if note.a1 in (_FIOCLEX, _FIONCLEX):
            thread._table.mark(_number(note.a0), note.a1 == _FIOCLEX)

    def _close(self, note: Note, result: int, thread: Thread) -> None:
        thread._table.remove(_number(note.a0))

    def _close_range(self, note: Note, result: int, thread: Thread) -> None:
        if note.a2 & _CLOSE_RANGE_UNSHARE:
            thread._table = thread._table.copy()
        table = thread._table
        for descriptor in table.between(note.a0 & 0xFFFFFFFF, note.a1 & 0xFFFFFFFF):
            if note.a2 & _CLOSE_RANGE_CLOEXEC:
                table.mark(descriptor, True)
            else:
                table.remove(descriptor)


_UNKNOWN = GuestFile("", FileKind.OTHER)
"""A file whose descriptor came from nowhere that was noted."""


@dataclass(frozen=True)
class Followed:
    """All calls and page faults that ended after a moment, and all threads that there were."""

    calls: Sequence[SystemCall]
    threads: Sequence[Thread]


def follow(notes: Sequence[Note], from_ns: int = 0) -> Followed:
    """Return the calls that ended after `from_ns`, with their processes and files."""
    following = _Following(notes, from_ns)
    following.follow()
    return Followed(following.calls, following.threads)
