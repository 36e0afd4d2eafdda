# SPDX-License-Identifier: Apache-2.0
"""An object directory in which kernels are compiled one after the other, each from the objects of the first one.

Knows the files of Linux's build: which of them a build has changed, which contain the directory's path, and which
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

FileStatus = tuple[int, int, int, str]
"""The status of a file: mode, size in bytes, mtime in ns, and its target if it is a symbolic link."""


@dataclass
class Workbench:
    """The object directory of a kernel, and the place of its copy, from which a build's changes are undone.

    `dependents` has the number of objects that depend on each option. `environment` is that of a build's commands.
    """

    objects: Path
    copy: Path
    dependents: Counter[str] = field(default_factory=Counter)
    environment: Mapping[str, str] = field(default_factory=dict)
    _copied: dict[Path, FileStatus] = field(default_factory=dict)

    def restored(self) -> Path:
        """Restore the object directory to its state of the first call, and return it. The mtimes of files are restored
        too; those of directories are not, because no rule of Linux's build uses them.
        """
        if not self._copied:
            locks.remove(self.copy)
            run(["cp", "-a", "--reflink=auto", self.objects, self.copy])
            self._copied = _states(self.copy)
            return self.objects
        now = _states(self.objects)
        # Children first: a directory must be empty to be removed, and may have become a file
        for path in sorted((path for path, state in now.items() if self._copied.get(path) != state), reverse=True):
            _remove(self.objects / path)
        for path in sorted(path for path, state in self._copied.items() if now.get(path) != state):
            _copy(self.copy / path, self.objects / path)
        return self.objects

    def affected(self, config: Mapping[str, str]) -> int:
        """Return how many objects at least must be compiled for another configuration than the first kernel's."""
        first = fragment.values((self.copy / ".config").read_text())
        names = {*first, *config}
        return max((self.dependents[name] for name in names if first.get(name) != config.get(name)), default=0)


def copied(objects: Path, to: Path) -> None:
    """Copy an object directory so that a build in the copy reuses its objects.

    For some of its own tools Linux's build records the directory in which they were compiled. In another directory it
    would build them anew, and every object with them; so the copy's records get the new path.
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
    """Count the objects of a build that depend on each option (CONFIG_...), by the dependencies that Linux's build
    records. An option that occurs where the compiler's flags for all objects are set counts for all of them.
    """
    counts: Counter[str] = Counter()
    notes = list(objects.rglob(".*.cmd"))
    for file in notes:
        counts.update({f"CONFIG_{name}" for name in _OPTION.findall(file.read_text(errors="replace"))})
    for pattern in _FLAGS:
        for file in source.glob(pattern):
            counts.update(dict.fromkeys(_NAMED.findall(file.read_text(errors="replace")), len(notes)))
    return counts


def compiled(objects: Path) -> Iterator[tuple[Path, str]]:
    """Yield each object that a build compiled from C, with its command. The build's own programs are left out."""
    for note in sorted(objects.rglob(".*.o.cmd")):
        own = {"tools", "scripts"} & set(note.relative_to(objects).parts)
        command = note.read_text(errors="replace").partition("\n")[0].partition(" := ")[2]
        if not own and ".c " in f"{command} ":
            yield note.with_name(note.name.removeprefix(".").removesuffix(".cmd")), command


def _states(folder: Path) -> dict[Path, FileStatus]:
    """Return the state of everything below a directory; for a directory, only that it is one."""
    states: dict[Path, FileStatus] = {}
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
            states[path.relative_to(folder)] = state
    return states


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
