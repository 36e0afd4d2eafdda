# SPDX-License-Identifier: Apache-2.0
"""Import strace's output: follow each process's descriptors and names to the files that its calls are about.

A descriptor is followed through open(), dup(), fcntl(), clone(), execve() and close(). If strace printed its path
(-y, -yy), the path is compared with what was followed.
"""

from __future__ import annotations

import errno
import posixpath
import re
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from flashbed.common.descriptors import DescriptorTable
from flashbed.common.errors import InputError
from flashbed.traces import recording, strace_lines
from flashbed.traces.call_trace import LARGEST_LENGTH, OPEN_FLAGS, Argument
from flashbed.traces.recording import FileNames, Imported, Observed, OpenFile, is_below
from flashbed.traces.strace_lines import StraceCall, descriptor, string, without_strings

SPELLINGS = {
    "_llseek": "lseek",
    "llseek": "lseek",
    "pread": "pread64",
    "pwrite": "pwrite64",
    "fcntl64": "fcntl",
    "truncate64": "truncate",
    "ftruncate64": "ftruncate",
    "fstat64": "fstat",
    "stat64": "stat",
    "lstat64": "lstat",
    "fstatat64": "newfstatat",
    "sendfile64": "sendfile",
    "mmap2": "mmap",
    "fadvise64_64": "fadvise64",
    "arm_fadvise64_64": "fadvise64",
    "arm_sync_file_range": "sync_file_range2",
    "umount2": "umount",
    "chown32": "chown",
    "fchown32": "fchown",
}
"""The same call on other architectures and in older versions of strace."""

WITHOUT_EFFECT = frozenset(
    [
        "fstatfs",
        "statfs",
        "statfs64",
        "fstatfs64",
        "flock",
        "getcwd",
        "execve",
        "execveat",
        "readlink",
        "readlinkat",
        "poll",
        "ppoll",
        "select",
        "pselect6",
        "epoll_ctl",
        "inotify_add_watch",
        "umask",
        "chroot",
    ]
)
"""Calls on files that ask the medium for nothing, or next to nothing."""

_DESCRIPTORS_AT: Mapping[str, tuple[int, ...]] = {
    "mmap": (4,),
    "sendfile": (0, 1),
    "copy_file_range": (0, 2),
    "splice": (0, 2),
    "tee": (0, 1),
}
"""The places of descriptors in the arguments of calls that are not replayed; 0 in all others."""

_WITH_PATH = frozenset(
    [
        "mknod",
        "mknodat",
        "utime",
        "utimes",
        "futimesat",
        "utimensat",
        "setxattr",
        "lsetxattr",
        "getxattr",
        "lgetxattr",
        "removexattr",
    ]
)
"""Calls on a path that are not replayed."""

_WITHOUT_DESCRIPTORS = frozenset(["io_submit", "io_uring_enter"])
"""Calls that request transfers of any file, and strace shows not which."""

_ERROR = re.compile(r"-1 (E[A-Z0-9]+)\b.*")
_NUMBER = re.compile(r"(0x[0-9a-f]+|-?[0-9]+)(?:<.*| \(.*)?")
_LENGTH_OF_VECTOR = re.compile(r"(?:iov_len=|, )([0-9]+)\}")
_MODE, _SIZE = re.compile(r"stx?_mode=(S_IF[A-Z]+)"), re.compile(r"stx?_size=([0-9]+)")
_SPECIAL = re.compile(r"<(?:char|block) [0-9]+:[0-9]+>$")


_OPEN_BEFORE = "files that were open before the trace began: they are opened for reading and writing"
_NOT_WRITTEN = (
    "reads of bytes that no call of the trace wrote (another program did, mmap(), or a call that is not replayed)"
)


@dataclass(eq=False)
class _ProcessDescriptors(DescriptorTable[OpenFile]):
    """The descriptors of a process, shared by its threads."""

    threads: int = 1


@dataclass(eq=False)
class _Directory:
    """A process's working directory; "." until something tells it."""

    path: str = "."


@dataclass(eq=False)
class _Thread:
    """A thread from its birth to its end. A later one may have its number."""

    descriptors: _ProcessDescriptors
    directory: _Directory


class _Follower:
    """The state of all processes while the calls are read in order."""

    def __init__(self) -> None:
        self.names = FileNames()
        self.observed: list[Observed] = []
        self.not_replayed: list[tuple[str, list[str]]] = []
        """The names of calls that cannot be replayed, each with the paths of its files; [] if any file may be meant."""
        self.remarks: list[tuple[str, str]] = []
        """What is not as it should be, each with the file's path; "" if any file may be meant."""
        self._threads: dict[int, _Thread] = {}
        self._births: list[tuple[int, StraceCall]] = []
        """Calls of clone() that have not returned: their child may already run."""

    def take(self, call: StraceCall) -> None:
        """Follow one call."""
        thread = self._threads.get(call.thread) or self._born(call.thread)
        name = SPELLINGS.get(call.name, call.name)
        if call.state == "ended":
            self._end(call, thread)
        elif call.state == "begun":
            if name in _FORKS:
                self._births.append((call.thread, call))
        elif call.result.startswith("?") or "ERESTART" in call.result:
            return
        elif name in _FORKS:
            self._births = [birth for birth in self._births if birth[0] != call.thread]
            if (child := _number(call.result)) is not None and child > 0 and child not in self._threads:
                self._threads[child] = _child(thread, name, call.arguments)
        else:
            handler = _HANDLERS.get(name, _not_replayed)
            try:
                handler(self, thread, replace(call, name=name))
            except (IndexError, ValueError):
                self.remarks.append((f"calls of {name}() with arguments that are not understood", ""))

    def _born(self, number: int) -> _Thread:
        """Return the state of a thread that appears: the child of the oldest clone() that has not returned."""
        if self._births:
            parent, call = self._births.pop(0)
            thread = _child(self._threads[parent], call.name, call.arguments)
        else:
            thread = _Thread(_ProcessDescriptors(), _Directory())
        self._threads[number] = thread
        return thread

    def _end(self, call: StraceCall, thread: _Thread) -> None:
        del self._threads[call.thread]
        thread.descriptors.threads -= 1
        if not thread.descriptors.threads:
            for number in sorted(thread.descriptors.files):
                self.close(thread, number, call)

    # Descriptors and names

    def resolved(self, thread: _Thread, path: str, at: str = "AT_FDCWD") -> str:
        """Return the absolute path of a name, relative to the directory of the descriptor `at`; relative to the unknown
        working directory if nothing tells it.
        """
        base = thread.directory.path
        if (of := descriptor(at)) is not None:
            if of.number is None and of.path:
                base = thread.directory.path = of.path
            elif of.number is not None:
                file = thread.descriptors.files.get(of.number)
                base = of.path or (file.path if file else base)
        return posixpath.normpath(posixpath.join(base, path))

    def file(self, thread: _Thread, argument: str, call: StraceCall) -> OpenFile | None:
        """Return the open file of a descriptor; None if it is no file. If it was opened before strace was attached, it
        is opened at its first call.
        """
        of = descriptor(argument)
        if of is None or of.number is None:
            return None
        if of.number in thread.descriptors.files:
            file = thread.descriptors.files[of.number]
            if of.path and of.path.startswith("/") and not of.deleted and of.path != file.path:
                self.remarks.append(("descriptors whose path strace gives differently, as after a rename", file.path))
            return file
        if of.path is None or not of.path.startswith("/") or _SPECIAL.search(of.path) or of.deleted:
            return None
        self.remarks.append((_OPEN_BEFORE, of.path))
        node = self.names.exists(of.path)
        file = OpenFile(of.path, node, references=1)
        thread.descriptors.put(of.number, file, closed_by_exec=False)
        self.note(thread, replace(call, took_us=0), "open", (file, of.path, "O_RDWR", 0), 0)
        return file

    def close(self, thread: _Thread, number: int, call: StraceCall) -> None:
        """Drop a descriptor. The last one of an open file closes it."""
        file = thread.descriptors.files[number]
        thread.descriptors.remove(number)
        file.references -= 1
        if not file.references:
            took_us = call.took_us if call.name == "close" else 0
            self.note(thread, replace(call, took_us=took_us), "close", (file,), 0)

    def note(
        self,
        thread: _Thread,
        call: StraceCall,
        name: str,
        arguments: tuple[OpenFile | Argument | None, ...],
        result: int | str,
    ) -> None:
        self.observed.append(Observed(thread, call.begin_us, call.took_us or 0, name, arguments, result))


def _child(parent: _Thread, name: str, arguments: tuple[str, ...]) -> _Thread:
    """Return the state of a child at its birth."""
    flags = " ".join(arguments)
    directory = parent.directory if "CLONE_FS" in flags else _Directory(parent.directory.path)
    if "CLONE_FILES" in flags:
        parent.descriptors.threads += 1
        return _Thread(parent.descriptors, directory)
    for file in parent.descriptors.files.values():
        file.references += 1
    return _Thread(parent.descriptors.copy(), directory)


def _number(text: str) -> int | None:
    match = _NUMBER.fullmatch(text)
    return int(match[1], 0) if match else None


def _result(call: StraceCall) -> int | str:
    """Return a number, or the name of the error. Raises ValueError."""
    if match := _ERROR.fullmatch(call.result):
        if match[1] not in errno.errorcode.values():
            raise ValueError
        return match[1]
    if (number := _number(call.result)) is None or number < 0:
        raise ValueError
    return number


def _mode(text: str) -> int:
    return int(text, 8) & 0o7777 if re.fullmatch("0[0-7]*", text) else 0


_Handler = Callable[[_Follower, _Thread, StraceCall], None]


def _path_of(follower: _Follower, thread: _Thread, at: str, argument: str) -> str:
    """Return the absolute path of an argument. Raises ValueError if it is none."""
    path = string(argument)
    if not path:
        raise ValueError
    return follower.resolved(thread, path, at)


def _both_paths(
    follower: _Follower, thread: _Thread, arguments: tuple[str, ...], *, has_directories: bool
) -> tuple[str, str]:
    """Return the two paths that a call begins with. Raises ValueError or IndexError if it does not."""
    if has_directories:
        old_at, old, new_at, new, *_ = arguments
        return _path_of(follower, thread, old_at, old), _path_of(follower, thread, new_at, new)
    return _path_of(follower, thread, "AT_FDCWD", arguments[0]), _path_of(follower, thread, "AT_FDCWD", arguments[1])


def _open(follower: _Follower, thread: _Thread, call: StraceCall) -> None:
    arguments = list(call.arguments)
    at = arguments.pop(0) if call.name in ("openat", "openat2") else "AT_FDCWD"
    flags = "O_WRONLY|O_CREAT|O_TRUNC" if call.name == "creat" else arguments[1]
    mode = _mode(arguments[-1])
    if call.name == "openat2":
        how = re.search(r"flags=([A-Z_|]+)(?:, mode=(0[0-7]*))?", arguments[1])
        flags, mode = (how[1], _mode(how[2] or "")) if how else ("", 0)
    words = flags.split("|")
    kept = "|".join(flag for flag in OPEN_FLAGS if flag in words)
    path, result = _path_of(follower, thread, at, arguments[0]), _result(call)
    if isinstance(result, str):
        if result == "ENOENT":
            follower.names.absent(path)
        elif result == "EEXIST":
            follower.names.exists(path)
        follower.note(thread, call, "open", (None, path, kept, mode), result)
        return
    opened = descriptor(call.result)
    if "O_TMPFILE" in words:
        node = recording.TracedFile(existed=False)
        follower.names.exists(path, is_directory=True)
    else:
        if opened is not None and opened.path and not opened.deleted:
            if not opened.path.startswith("/") or _SPECIAL.search(opened.path):
                return
            path = opened.path
        if "O_CREAT" not in words:
            node = follower.names.exists(path, is_directory="O_DIRECTORY" in words)
        else:
            node = follower.names.created(path) if "O_EXCL" in words else follower.names.node(path)
            node.may_be_new |= node.existed is None
        if "O_TRUNC" in words:
            node.cut(0)
    file = OpenFile(path, node, appends="O_APPEND" in words, references=1)
    thread.descriptors.put(result, file, "O_CLOEXEC" in words)
    follower.note(thread, call, "open", (file, path, kept, mode), 0)


def _close(follower: _Follower, thread: _Thread, call: StraceCall) -> None:
    of = descriptor(call.arguments[0])
    if of is None or of.number is None or isinstance(_result(call), str):
        return
    follower.file(thread, call.arguments[0], call)
    if of.number in thread.descriptors.files:
        follower.close(thread, of.number, call)


def _close_range(follower: _Follower, thread: _Thread, call: StraceCall) -> None:
    first, last = int(call.arguments[0]), int(call.arguments[1].replace("~0U", str(1 << 32)), 0)
    if isinstance(_result(call), str) or "CLOSE_RANGE_CLOEXEC" in call.arguments[2]:
        return
    for number in thread.descriptors.between(first, last):
        follower.close(thread, number, call)


def _length(argument: str) -> int:
    """Return the bytes of a length or of a vector of buffers."""
    if argument.startswith("["):
        return sum(map(int, _LENGTH_OF_VECTOR.findall(without_strings(argument))))
    return int(argument)


def _transfer(follower: _Follower, thread: _Thread, call: StraceCall) -> None:
    file, result = follower.file(thread, call.arguments[0], call), _result(call)
    if file is None:
        return
    is_vector = "v" in call.name
    writes, at_offset = "write" in call.name, call.name.startswith("p")
    length = _length(call.arguments[1 if is_vector else 2])
    flags = call.arguments[4] if call.name.endswith("v2") else "0"
    if flags != "0" or length > LARGEST_LENGTH:
        follower.not_replayed.append((call.name, [file.path]))
        return
    offset = int(call.arguments[3]) if at_offset else file.position
    name = ("p" if at_offset and offset >= 0 else "") + ("write" if writes else "read")
    length = max(length, result) if isinstance(result, int) else length
    arguments = (file, offset, length) if name.startswith("p") else (file, length)
    follower.note(thread, call, name, arguments, result)
    if isinstance(result, str):
        return
    if writes and file.appends:
        file.node.grows(file.node.size + result)
        offset = file.node.size - result
    elif writes:
        file.node.grows(offset + result)
    elif result and not file.node.is_directory and not file.node.has_bytes(offset + result):
        follower.remarks.append((_NOT_WRITTEN, file.path))
    if not name.startswith("p"):
        file.position = offset + result


_WHENCES = ("SEEK_SET", "SEEK_CUR", "SEEK_END", "SEEK_DATA", "SEEK_HOLE")


def _lseek(follower: _Follower, thread: _Thread, call: StraceCall) -> None:
    file, result = follower.file(thread, call.arguments[0], call), _result(call)
    if file is None:
        return
    whence = call.arguments[-1]
    offset = int(call.arguments[1])
    if len(call.arguments) == 4 and isinstance(result, int):  # _llseek() puts the position into its third argument
        result = int(call.arguments[2].strip("[]"))
    if isinstance(result, int):
        if whence == "SEEK_END":
            file.node.has_bytes(result - offset)
        if file.node.is_directory:
            return
        file.position = result
    follower.note(thread, call, "lseek", (file, offset, _WHENCES.index(whence)), result)


def _flush(follower: _Follower, thread: _Thread, call: StraceCall) -> None:
    if call.name == "sync":
        follower.note(thread, call, "sync", (), 0)
    elif (file := follower.file(thread, call.arguments[0], call)) is not None:
        follower.note(thread, call, call.name, (file,), _result(call))


_RANGE_FLAGS = {
    "SYNC_FILE_RANGE_WAIT_BEFORE": 1,
    "SYNC_FILE_RANGE_WRITE": 2,
    "SYNC_FILE_RANGE_WAIT_AFTER": 4,
}
_FALLOCATE_FLAGS = {
    "FALLOC_FL_KEEP_SIZE": 1,
    "FALLOC_FL_PUNCH_HOLE": 2,
    "FALLOC_FL_NO_HIDE_STALE": 4,
    "FALLOC_FL_COLLAPSE_RANGE": 8,
    "FALLOC_FL_ZERO_RANGE": 16,
    "FALLOC_FL_INSERT_RANGE": 32,
    "FALLOC_FL_UNSHARE_RANGE": 64,
}
_RENAME_FLAGS = {"RENAME_NOREPLACE": 1, "RENAME_EXCHANGE": 2, "RENAME_WHITEOUT": 4}


def _flags(text: str, values: Mapping[str, int]) -> int:
    """Return the number of flags as strace prints them. Raises ValueError."""
    return sum(values[word] if word in values else int(word, 0) for word in text.split("|"))


def _sync_file_range(follower: _Follower, thread: _Thread, call: StraceCall) -> None:
    if (file := follower.file(thread, call.arguments[0], call)) is None:
        return
    rest = list(call.arguments[1:4])
    flags = rest.pop(0 if call.name == "sync_file_range2" else 2)
    numbers = (*map(int, rest), _flags(flags, _RANGE_FLAGS))
    follower.note(thread, call, "sync_file_range", (file, *numbers), _result(call))


def _fallocate(follower: _Follower, thread: _Thread, call: StraceCall) -> None:
    if (file := follower.file(thread, call.arguments[0], call)) is None:
        return
    mode, result = _flags(call.arguments[1], _FALLOCATE_FLAGS), _result(call)
    offset, length = map(int, call.arguments[2:4])
    follower.note(thread, call, "fallocate", (file, mode, offset, length), result)
    if mode == 0 and isinstance(result, int):
        file.node.grows(offset + length)


def _truncate(follower: _Follower, thread: _Thread, call: StraceCall) -> None:
    size, result = int(call.arguments[1]), _result(call)
    if call.name == "ftruncate":
        if (file := follower.file(thread, call.arguments[0], call)) is None:
            return
        follower.note(thread, call, "ftruncate", (file, size), result)
        node = file.node
    else:
        path = _path_of(follower, thread, "AT_FDCWD", call.arguments[0])
        follower.note(thread, call, "truncate", (path, size), result)
        if isinstance(result, str):
            return
        node = follower.names.exists(path)
    if isinstance(result, int):
        node.cut(size)


def _rename(follower: _Follower, thread: _Thread, call: StraceCall) -> None:
    arguments = call.arguments
    old, new = _both_paths(follower, thread, arguments, has_directories=call.name != "rename")
    flags, result = _flags(arguments[4], _RENAME_FLAGS) if call.name == "renameat2" else 0, _result(call)
    follower.note(thread, call, "rename", (old, new, flags), result)
    if result == "ENOENT":
        follower.names.absent(old)
    elif result == 0 and not flags & _RENAME_FLAGS["RENAME_EXCHANGE"]:
        follower.names.renamed(old, new)


def _link(follower: _Follower, thread: _Thread, call: StraceCall) -> None:
    arguments = call.arguments
    old, new = _both_paths(follower, thread, arguments, has_directories=call.name != "link")
    result = _result(call)
    follower.note(thread, call, "link", (old, new), result)
    if result == 0:
        follower.names.linked(old, new)


def _symlink(follower: _Follower, thread: _Thread, call: StraceCall) -> None:
    target, at = string(call.arguments[0]) or "", call.arguments[1] if call.name == "symlinkat" else "AT_FDCWD"
    path, result = _path_of(follower, thread, at, call.arguments[-1]), _result(call)
    if target.startswith("/"):
        target = posixpath.relpath(target, posixpath.dirname(path))  # the trace has another root
    follower.note(thread, call, "symlink", (target, path), result)
    if result == 0:
        follower.names.created(path)


def _remove(follower: _Follower, thread: _Thread, call: StraceCall) -> None:
    arguments = call.arguments
    at, argument = arguments[:2] if call.name == "unlinkat" else ("AT_FDCWD", arguments[0])
    is_directory = call.name == "rmdir" or "AT_REMOVEDIR" in arguments[-1]
    path, result = _path_of(follower, thread, at, argument), _result(call)
    follower.note(thread, call, "rmdir" if is_directory else "unlink", (path,), result)
    if result == "ENOENT":
        follower.names.absent(path)
    elif result == 0:
        follower.names.exists(path, is_directory=is_directory)
        follower.names.removed(path)


def _mkdir(follower: _Follower, thread: _Thread, call: StraceCall) -> None:
    arguments = call.arguments
    at, argument = arguments[:2] if call.name == "mkdirat" else ("AT_FDCWD", arguments[0])
    path, result = _path_of(follower, thread, at, argument), _result(call)
    follower.note(thread, call, "mkdir", (path, _mode(arguments[-1])), result)
    if result == "EEXIST":
        follower.names.exists(path, is_directory=True)
    elif result == 0:
        follower.names.created(path, is_directory=True)


def _stat(follower: _Follower, thread: _Thread, call: StraceCall) -> None:
    """Note what a stat() says of a size. Of a path, it is replayed: it may read the medium."""
    arguments, result = call.arguments, _result(call)
    has_directory = call.name in ("newfstatat", "statx", "faccessat", "faccessat2")
    at, argument = arguments[:2] if has_directory else ("AT_FDCWD", arguments[0])
    of_file = call.name == "fstat" or (has_directory and string(argument) == "" and descriptor(at) is not None)
    text = without_strings(" ".join(arguments))
    mode, size = _MODE.search(text), _SIZE.search(text)
    if of_file:
        file = follower.file(thread, arguments[0], call)
        node = file.node if file else None
    else:
        path = _path_of(follower, thread, at, argument)
        follower.note(thread, call, "stat", (path,), result)
        if result == "ENOENT":
            follower.names.absent(path)
        node = follower.names.exists(path) if result == 0 else None
    if node is not None and result == 0 and mode:
        node.is_directory = mode[1] == "S_IFDIR"
        if size and mode[1] == "S_IFREG":
            node.has_bytes(int(size[1]))


def _change(follower: _Follower, thread: _Thread, call: StraceCall) -> None:
    """Note a change of a mode or an owner."""
    arguments, result = call.arguments, _result(call)
    if call.name in ("fchmod", "fchown"):
        if (file := follower.file(thread, arguments[0], call)) is None:
            return
        numbers = [_mode(arguments[1])] if call.name == "fchmod" else list(map(int, arguments[1:3]))
        follower.note(thread, call, call.name, (file, *numbers), result)
        return
    at, *rest = arguments if call.name in ("fchmodat", "fchownat") else ("AT_FDCWD", *arguments)
    path = _path_of(follower, thread, at, rest[0])
    if "mod" in call.name:
        follower.note(thread, call, "chmod", (path, _mode(rest[1])), result)
    else:
        follower.note(thread, call, "chown", (path, *map(int, rest[1:3])), result)


def _duplicate(follower: _Follower, thread: _Thread, call: StraceCall) -> None:
    file, result = follower.file(thread, call.arguments[0], call), _result(call)
    if isinstance(result, str):
        return
    command = call.arguments[1] if call.name == "fcntl" else "F_DUPFD"
    if command == "F_SETFD" and file is not None:
        number = int(call.arguments[0].partition("<")[0])
        thread.descriptors.mark(number, "FD_CLOEXEC" in call.arguments[2])
    if command not in ("F_DUPFD", "F_DUPFD_CLOEXEC"):
        return
    if result in thread.descriptors.files and thread.descriptors.files[result] is not file:
        follower.close(thread, result, call)  # dup2() closes what it replaces
    if file is not None and result not in thread.descriptors.files:
        file.references += 1
        thread.descriptors.put(result, file, command != "F_DUPFD" or "O_CLOEXEC" in call.arguments[-1])


def _other_descriptors(follower: _Follower, thread: _Thread, call: StraceCall) -> None:
    """Follow nothing: pipes and sockets are no files."""


def _execute(follower: _Follower, thread: _Thread, call: StraceCall) -> None:
    if _result(call) == 0:
        for number in thread.descriptors.to_close():
            follower.close(thread, number, call)


def _change_directory(follower: _Follower, thread: _Thread, call: StraceCall) -> None:
    if _result(call) != 0:
        return
    if call.name == "chdir":
        thread.directory.path = _path_of(follower, thread, "AT_FDCWD", call.arguments[0])
    elif (of := descriptor(call.arguments[0])) is not None and of.number is not None:
        file = thread.descriptors.files.get(of.number)
        thread.directory.path = of.path or (file.path if file else thread.directory.path)


def _where(follower: _Follower, thread: _Thread, call: StraceCall) -> None:
    if (path := string(call.arguments[0])) is not None and path.startswith("/"):
        thread.directory.path = path


def _not_replayed(follower: _Follower, thread: _Thread, call: StraceCall) -> None:
    """Note a call that is not replayed, if it is about a file."""
    if call.name in WITHOUT_EFFECT:
        return
    if call.name in _WITHOUT_DESCRIPTORS:
        follower.not_replayed.append((call.name, []))
        return
    followed: list[str] = []
    for place in _DESCRIPTORS_AT.get(call.name, (0,)):
        of = descriptor(call.arguments[place]) if place < len(call.arguments) else None
        if of is not None and of.number in thread.descriptors.files:
            followed.append(thread.descriptors.files[of.number].path)
    if followed:
        follower.not_replayed.append((call.name, followed))
    elif call.name in _WITH_PATH:
        at, path = call.arguments[:2] if call.name.endswith("at") else ("AT_FDCWD", call.arguments[0])
        follower.not_replayed.append((call.name, [follower.resolved(thread, string(path) or ".", at)]))


_FORKS = frozenset(["fork", "vfork", "clone", "clone3"])

_HANDLERS: Mapping[str, _Handler] = {
    **dict.fromkeys(["open", "openat", "openat2", "creat"], _open),
    "close": _close,
    "close_range": _close_range,
    **dict.fromkeys(
        ["read", "readv", "pread64", "preadv", "preadv2", "write", "writev", "pwrite64", "pwritev", "pwritev2"],
        _transfer,
    ),
    "lseek": _lseek,
    **dict.fromkeys(["fsync", "fdatasync", "syncfs", "sync"], _flush),
    **dict.fromkeys(["sync_file_range", "sync_file_range2"], _sync_file_range),
    "fallocate": _fallocate,
    **dict.fromkeys(["truncate", "ftruncate"], _truncate),
    **dict.fromkeys(["rename", "renameat", "renameat2"], _rename),
    **dict.fromkeys(["link", "linkat"], _link),
    **dict.fromkeys(["symlink", "symlinkat"], _symlink),
    **dict.fromkeys(["unlink", "unlinkat", "rmdir"], _remove),
    **dict.fromkeys(["mkdir", "mkdirat"], _mkdir),
    **dict.fromkeys(["stat", "lstat", "fstat", "newfstatat", "statx", "access", "faccessat", "faccessat2"], _stat),
    **dict.fromkeys(["fchmod", "fchown", "chmod", "chown", "fchmodat", "fchownat"], _change),
    **dict.fromkeys(["dup", "dup2", "dup3", "fcntl"], _duplicate),
    **dict.fromkeys(["pipe", "pipe2", "socket", "accept", "accept4", "epoll_create1", "eventfd2"], _other_descriptors),
    **dict.fromkeys(["execve", "execveat"], _execute),
    **dict.fromkeys(["chdir", "fchdir"], _change_directory),
    "getcwd": _where,
}


def imported(text: str, file: str, below: str | None) -> Imported:
    """Return the trace of strace's output. `file` is its name in messages; `below` is the directory whose files are
    replayed, by default the one that has most of the files that the calls change. Raises InputError.
    """
    follower = _Follower()
    has_times = False
    for call in strace_lines.calls_of(text, file):
        has_times |= call.took_us is not None
        follower.take(call)
    try:
        chosen = posixpath.normpath(below) if below else recording.most_below(follower.observed)
        made = recording.made(follower.observed, follower.names, chosen)
    except InputError as error:
        raise InputError(f"{file}: {error.message}") from None
    made.not_replayed.update(
        name for name, paths in follower.not_replayed if not paths or any(is_below(path, chosen) for path in paths)
    )
    remarks = Counter(remark for remark, path in follower.remarks if not path or is_below(path, chosen))
    made.remarks += [f"{count} {remark}" for remark, count in remarks.items()]
    if not has_times:
        made.remarks.append("no call has a duration (strace -T): calls of different threads follow one another")
    return made
