# SPDX-License-Identifier: Apache-2.0
"""A folder in which kernels are compiled one after the other, each from the objects of the same first one.

Knows the files of Linux's build: which of them a build has changed, where they say in which folder they lie, and which
options each object depends on.
"""

from __future__ import annotations

import os
import re
import shutil
import stat
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from flashbed.common import locks
from flashbed.image.command import run
from flashbed_appliance.shrinking import fragment

_OPTION = re.compile(r"include/config/(\w+)")
_NAMED = re.compile(r"\bCONFIG_\w+")
_FLAGS = ("Makefile", "arch/*/Makefile", "scripts/Makefile.*")

State = tuple[int, int, int, str]
"""Of a file: mode, bytes, time of its last change in ns, and where it leads if it is a symbolic link."""


@dataclass
class Workbench:
    """A folder of the objects of a kernel, and where a copy of it is to be, from which what a build changed is put
    back. `dependents`: how many objects depend on each option. `environment`: of what is run in it.
    """

    objects: Path
    copy: Path
    dependents: Counter[str] = field(default_factory=Counter)
    environment: Mapping[str, str] = field(default_factory=dict)
    _copied: dict[Path, State] = field(default_factory=dict)

    def restored(self) -> Path:
        """The folder as it was the first time this was called, the times of its files among it. Those of folders are
        not: no rule of Linux's build asks for them.
        """
        if not self._copied:
            locks.remove(self.copy)
            run(["cp", "-a", "--reflink=auto", self.objects, self.copy])
            self._copied = _states(self.copy)
            return self.objects
        now = _states(self.objects)
        # What is below others first: a folder goes when it is empty, and may have become a file
        for path in sorted((path for path, state in now.items() if self._copied.get(path) != state), reverse=True):
            _remove(self.objects / path)
        for path in sorted(path for path, state in self._copied.items() if now.get(path) != state):
            _copy(self.copy / path, self.objects / path)
        return self.objects

    def affected(self, config: Mapping[str, str]) -> int:
        """How many objects are to be compiled for another configuration than the first kernel's, at least."""
        first = fragment.values((self.copy / ".config").read_text())
        names = {*first, *config}
        return max((self.dependents[name] for name in names if first.get(name) != config.get(name)), default=0)


def copied(objects: Path, to: Path) -> None:
    """The same objects in another folder, where a build takes them for its own.

    Linux's build notes for some tools of its own in which folder they were compiled, would make them anew elsewhere,
    and every object with them.
    """
    locks.remove(to)
    run(["cp", "-a", "--reflink=auto", objects, to])
    old, new = f"{objects}/".encode(), f"{to}/".encode()
    for ending in (".*.cmd", ".*.d"):
        for file in to.rglob(ending):
            text = file.read_bytes()
            if old in text:
                about = file.stat()
                file.write_bytes(text.replace(old, new))
                os.utime(file, ns=(about.st_atime_ns, about.st_mtime_ns))


def dependents(objects: Path, source: Path) -> Counter[str]:
    """How many objects of a build depend on each option (CONFIG_...), by what Linux's build noted for each: all of
    them, if an option is named where the compiler's flags for all are made.
    """
    found: Counter[str] = Counter()
    notes = list(objects.rglob(".*.cmd"))
    for file in notes:
        found.update({f"CONFIG_{name}" for name in _OPTION.findall(file.read_text(errors="replace"))})
    for pattern in _FLAGS:
        for file in source.glob(pattern):
            found.update(dict.fromkeys(_NAMED.findall(file.read_text(errors="replace")), len(notes)))
    return found


def compiled(objects: Path) -> Iterator[tuple[Path, str]]:
    """Each object that a build compiled from C, and by which command; without the programs that a build makes for
    itself.
    """
    for note in sorted(objects.rglob(".*.o.cmd")):
        own = {"tools", "scripts"} & set(note.relative_to(objects).parts)
        command = note.read_text(errors="replace").partition("\n")[0].partition(" := ")[2]
        if not own and ".c " in f"{command} ":
            yield note.with_name(note.name.removeprefix(".").removesuffix(".cmd")), command


def _states(folder: Path) -> dict[Path, State]:
    """Of all below a folder; of a folder only that it is one."""
    found: dict[Path, State] = {}
    for place, names, files in os.walk(folder):
        for name in (*names, *files):
            path = Path(place, name)
            about = path.lstat()
            is_link = stat.S_ISLNK(about.st_mode)
            if stat.S_ISDIR(about.st_mode):
                state = (stat.S_IFDIR, 0, 0, "")
            else:
                target = str(path.readlink()) if is_link else ""
                state = (about.st_mode, about.st_size, about.st_mtime_ns, target)
            found[path.relative_to(folder)] = state
    return found


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        path.rmdir()
    else:
        path.unlink()


def _copy(source: Path, to: Path) -> None:
    if source.is_dir() and not source.is_symlink():
        to.mkdir()
        shutil.copystat(source, to)
    else:
        shutil.copy2(source, to, follow_symlinks=False)
