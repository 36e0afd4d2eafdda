# SPDX-License-Identifier: Apache-2.0
"""Make a trace from calls that somebody observed: what was there before the first call, which of them are replayed,
and the numbers of threads and open files.

Must not know who observed the calls.
"""

from __future__ import annotations

import heapq
import posixpath
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator
from dataclasses import dataclass, field

from flashbed.common.errors import InputError
from flashbed.traces import call_trace
from flashbed.traces.call_trace import CALL_ARGUMENTS, Argument, CallTrace, TracedCall, TracePath

NOT_ON_A_MEDIUM = ("/dev", "/proc", "/sys")
"""Directories that lie on no medium: the default choice of a directory ignores them."""

CHANGING = frozenset(
    ["write", "pwrite", "ftruncate", "truncate", "fallocate", "rename", "unlink", "mkdir", "rmdir", "link", "symlink"]
)
"""Calls that tell which files a program owns. It may flush a directory without owning it."""


@dataclass(eq=False)
class TracedFile:
    """A file or a directory, as far as the calls tell."""

    existed: bool | None = None
    """True if it was there before the first call; None if nothing has told it yet."""
    may_be_new: bool = False
    """True if open() may have created it: O_CREAT without O_EXCL does not tell."""
    is_directory: bool = False
    initial_size: int = 0
    size: int = 0
    """Bytes that it has at least."""
    is_cut: bool = False
    """True once it was truncated: what is read later says nothing of its initial size."""

    def has_bytes(self, end: int) -> bool:
        """Note that the file has `end` bytes at least. Return False if neither the calls nor an initial size explain
        them.
        """
        if end <= self.size:
            return True
        if self.is_cut or self.existed is False:
            return False
        self.existed, self.initial_size, self.size = True, end, end
        return True

    def grows(self, end: int) -> None:
        """Note that the file has `end` bytes at least, because a call wrote up to there."""
        self.size = max(self.size, end)

    def cut(self, size: int) -> None:
        """Note that a call set the size of the file, bytes."""
        self.is_cut, self.size = True, size


@dataclass(eq=False)
class OpenFile:
    """An open file: several descriptors of several processes may refer to it."""

    path: str
    node: TracedFile
    position: int = 0
    appends: bool = False
    references: int = 0


@dataclass
class Observed:
    """A call. `arguments` have OpenFile and paths (absolute) where a trace has numbers."""

    thread: Hashable
    begin_us: int
    took_us: int
    name: str
    arguments: tuple[OpenFile | Argument | None, ...]
    result: int | str

    def paths(self) -> Iterator[str]:
        """Yield the paths of the call, and of the open files that it names."""
        for kind, value in zip(CALL_ARGUMENTS[self.name], self.arguments, strict=True):
            if kind == "p":
                yield str(value)
            elif isinstance(value, OpenFile):
                yield value.path


@dataclass
class Imported:
    """A trace, and what of the source it does not have."""

    trace: CallTrace
    below: str = ""
    """The directory that became the root of the trace; "" if the source names no directories."""
    elsewhere: int = 0
    """Calls on files outside of `below`."""
    across: int = 0
    """Calls on two names, one of them outside of `below`."""
    not_replayed: Counter[str] = field(default_factory=Counter)
    """Calls on files below it that the replay cannot repeat, by name."""
    remarks: list[str] = field(default_factory=list)


class FileNames:
    """The names of the file system: which node has which name now, and had at the beginning."""

    def __init__(self) -> None:
        self._now: dict[str, TracedFile | None] = {}
        self._first: dict[str, TracedFile] = {}

    def node(self, path: str) -> TracedFile:
        """Return the node of a name. One that nobody named before may have existed."""
        node = self._now.get(path)
        if node is None:
            node = TracedFile(existed=False if path in self._now else None)
            self._now[path] = node
            self._first.setdefault(path, node)
        return node

    def exists(self, path: str, *, is_directory: bool = False) -> TracedFile:
        """Note that the name is there now."""
        node = self.node(path)
        if node.existed is None and not node.may_be_new:
            node.existed = True
        node.is_directory |= is_directory
        return node

    def created(self, path: str, *, is_directory: bool = False) -> TracedFile:
        """Note that the name was not there and is now."""
        self.absent(path)
        node = self.node(path)
        node.is_directory = is_directory
        return node

    def absent(self, path: str) -> None:
        """Note that the name is not there now."""
        if path not in self._now:
            self._first[path] = TracedFile(existed=False)
        self._now[path] = None

    def holds_others(self, path: str) -> None:
        """Note that the name is a directory which was there before, unless the calls made it."""
        if self.node(path).existed is None:
            self.exists(path, is_directory=True)

    def removed(self, path: str) -> None:
        """Note that the name was there, and is gone."""
        self.exists(path)
        self._now[path] = None

    def renamed(self, old: str, new: str) -> None:
        """Note a rename; names below a directory move with it."""
        self.exists(old)
        self.node(new)
        for name in [name for name in self._now if name.startswith(f"{old}/")]:
            self._now[new + name[len(old) :]] = self._now[name]
            self._now[name] = None
        self._now[new], self._now[old] = self._now[old], None

    def linked(self, old: str, new: str) -> None:
        node = self.exists(old)
        self.absent(new)
        self._now[new] = node

    def initial(self, path: str, name: str) -> TracePath:
        """Return the entry of a trace for `path`, under its name there."""
        node = self._first.get(path)
        if node is None or not node.existed:
            return TracePath(name, "none")
        return TracePath(name, "dir") if node.is_directory else TracePath(name, "file", node.initial_size)


def is_below(path: str, directory: str) -> bool:
    """Return True if `path` is the directory or below it."""
    return directory in ("/", ".", path) or path.startswith(f"{directory}/")


def most_below(calls: Iterable[Observed]) -> str:
    """Return the deepest directory that has more than half of the files that the calls change. Raises InputError if
    they change none.
    """
    changed = {path for call in calls if call.name in CHANGING for path in call.paths()}
    paths_of_medium = {path for path in changed if not any(is_below(path, no) for no in NOT_ON_A_MEDIUM)}
    above: Counter[str] = Counter()
    for path in paths_of_medium:
        while (parent := posixpath.dirname(path)) != path:
            above[parent or "."] += 1
            path = parent
    most = [path for path, many in above.items() if 2 * many > len(paths_of_medium)]
    if not most:
        raise InputError("no call changes a file; name the directory whose files are to be replayed (--below)")
    return max(most, key=lambda path: (path.count("/"), len(path)))


def common(calls: Iterable[Observed]) -> str:
    """Return the deepest directory that all files of the calls lie below."""
    parents = {posixpath.dirname(path) or "." for call in calls for path in call.paths()}
    if not parents or len({path.startswith("/") for path in parents}) > 1:
        return "/"
    return posixpath.commonpath(parents) or "."


def made(calls: list[Observed], names: FileNames, below: str) -> Imported:
    """Return the trace of the calls on files below a directory, which becomes its root. Raises InputError if there is
    none.
    """
    kept: list[Observed] = []
    elsewhere = across = 0
    for call in calls:
        inside = [is_below(path, below) for path in call.paths()]
        if all(inside):
            kept.append(call)
        elif any(inside):
            across += 1
        else:
            elsewhere += 1
    if not any(call.name != "sync" for call in kept):
        raise InputError(f"no call is about a file below {below}; name another directory (--below)")
    kept.sort(key=lambda call: (call.begin_us, call.begin_us + call.took_us))
    trace = _numbered(kept, names, below)
    return Imported(trace, below, elsewhere, across)


def _numbered(calls: list[Observed], names: FileNames, below: str) -> CallTrace:
    start_us = calls[0].begin_us
    threads = _numbers((call.thread, call.begin_us, call.begin_us + call.took_us, False) for call in calls)
    files = _numbers(
        (value, call.begin_us, call.begin_us + call.took_us, call.name != "close")
        for call in calls
        for value in call.arguments
        if isinstance(value, OpenFile)
    )
    if max(threads.values()) >= call_trace.MOST_THREADS:
        raise InputError(f"more than {call_trace.MOST_THREADS} threads run at a time; trace fewer")
    paths: dict[str, int] = {}
    for path in _with_parents(calls, names, below):
        paths.setdefault(path, len(paths))

    def number(kind: str, value: OpenFile | Argument | None) -> Argument:
        if isinstance(value, OpenFile):
            return files[value]
        if value is None:
            return call_trace.NO_FILE
        return paths[str(value)] if kind == "p" else value

    return CallTrace(
        tuple(
            TracePath(".", "dir") if path == below else names.initial(path, posixpath.relpath(path, below))
            for path in paths
        ),
        tuple(
            TracedCall(
                threads[call.thread],
                call.begin_us - start_us,
                call.took_us,
                call.name,
                tuple(
                    number(kind, value) for kind, value in zip(CALL_ARGUMENTS[call.name], call.arguments, strict=True)
                ),
                call.result,
            )
            for call in calls
        ),
    )


def _with_parents(calls: list[Observed], names: FileNames, below: str) -> Iterator[str]:
    """Yield each path of the calls, after the directories between it and `below`. A directory that no call makes
    existed before.
    """
    for call in calls:
        for kind, value in zip(CALL_ARGUMENTS[call.name], call.arguments, strict=True):
            if kind != "p":
                continue
            between: list[str] = []
            parent = posixpath.dirname(str(value)) or "."
            while parent != below and is_below(parent, below) and len(parent) > 1:
                between.append(parent)
                parent = posixpath.dirname(parent) or "."
            if call.result != "ENOENT":
                for parent in between:
                    names.holds_others(parent)
            yield from reversed(between)
            yield str(value)


def _numbers(uses: Iterable[tuple[Hashable, int, int, bool]]) -> dict[Hashable, int]:
    """Return small numbers for items, so that two have the same only if the first was used last before the second was
    used first. `uses` are ordered by their begin: item, begin, end, and True if it may be used once more after the
    last use.
    """
    spans: dict[Hashable, tuple[int, int, bool]] = {}
    for item, begin_us, end_us, is_open in uses:
        first, last, _ = spans.get(item, (begin_us, end_us, True))
        spans[item] = (first, max(last, end_us), is_open)
    numbers: dict[Hashable, int] = {}
    free: list[int] = []
    busy: list[tuple[int, int]] = []
    used = 0
    for item, (first, last, is_open) in spans.items():
        while busy and busy[0][0] < first:
            heapq.heappush(free, heapq.heappop(busy)[1])
        if free:
            numbers[item] = heapq.heappop(free)
        else:
            numbers[item], used = used, used + 1
        if not is_open:
            heapq.heappush(busy, (last, numbers[item]))
    return numbers
