# SPDX-License-Identifier: Apache-2.0
"""Commands of a study that would run outside of any guest: the lab's own, and what its user allows.

A study is data, also one that was downloaded with profiles and jobs beside it. On this computer runs what a shipped
profile runs, and nothing else, until it is allowed, once, by the name of its profile: its checker, and what builds a
module or a kernel that it brings. A job of fio that runs a
command, or reads or writes files outside of the folder that it is run in, is not handed out to be run by hand until
that is allowed by the name of its file. In a guest it may do as it likes. What is allowed is the whole text of a
command or a line: another text must be allowed anew. Must not know what a command does, nor who runs it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from flashbed.common import atomic, paths
from flashbed.common.digest import digest_bytes
from flashbed.common.errors import InputError, host_refusal, several
from flashbed.common.toml_lines import Keys
from flashbed.common.tomlfile import TomlFile, nearest
from flashbed.profiles.library import Kind, Library, Selector
from flashbed.study.loading import Study
from flashbed.workload.fio.jobs import reaches_in

FOLDER = "allowed"
"""In the cache: a file for each command that is allowed, named by the digest of its text, with the text in it."""

KEY = "check"
"""The key of a file system's profile that has a command for the host."""


@dataclass(frozen=True)
class HostCommand:
    """A command of a profile or a job that is none of the lab's own."""

    owner: str
    """The name of the profile, or of the job's file as the study says it."""
    where: str
    """File, line and key."""
    text: str

    def described(self) -> str:
        """With file and line."""
        return f"{self.where}: {self.text}"

    @property
    def is_allowed(self) -> bool:
        """Whether this user has allowed just this text."""
        try:
            return _place(self.text).read_bytes() == self.text.encode()
        except OSError:
            return False

    def allow(self) -> None:
        """Until its file is removed. Raises HostResourceError."""
        place = _place(self.text)
        try:
            place.parent.mkdir(parents=True, exist_ok=True)
            atomic.write(place, self.text.encode())
        except OSError as error:
            raise host_refusal(place, error) from None


def foreign(study: Study) -> list[HostCommand]:
    """The commands of a study's profiles for this computer that are none of the lab's own, allowed or not."""
    selectors = study.axes.get("filesystem") or (study.fixed["filesystem"],)
    names = dict.fromkeys(Selector.parse(text).name for text in selectors)
    found = []
    for name in names:
        file, text = _command(study.library, name)
        if text and text not in known(paths.profiles()):
            found.append(HostCommand(name, file.message((KEY,), "").removesuffix(": "), text))
    return [*found, *_builds_of_kernels(study), *_builds_of_modules(study)]


def _builds_of_kernels(study: Study) -> Iterator[HostCommand]:
    """The makefiles of a kernel run here. Who asks for one on the command line has asked for that; a folder is allowed
    by its place, a patch by its content.
    """
    for text, choice in study.kernels.items():
        if not choice.is_own or study.kernels_asked_for:
            continue
        keys: Keys = ("axes", "kernel", study.axes["kernel"].index(text)) if "kernel" in study.axes else ("kernel",)
        patches = "".join(f" with {one.path.name} ({digest_bytes(one.data)})" for one in choice.patches)
        source = f"-C {choice.tree.folder.resolve()}" if choice.tree else f"of Linux {choice.version}"
        yield HostCommand(
            text, TomlFile.read(study.path).message(keys, "").removesuffix(": "), f"make {source}{patches}"
        )


def _builds_of_modules(study: Study) -> Iterator[HostCommand]:
    """So do those of a module that a profile has a source of."""
    kinds: tuple[Kind, ...] = ("filesystem", "scheduler")
    for kind in kinds:
        for text in study.axes.get(kind) or (study.fixed[kind],):
            source = getattr(study.library, kind)(text).module_source
            if source is not None:
                name = Selector.parse(text).name
                file = study.library.file(kind, name)
                where = file.message(("module_source",), "").removesuffix(": ")
                yield HostCommand(name, where, f"make -C {Path(source).resolve()}")


def of_jobs(study: Study) -> list[HostCommand]:
    """What the study's own jobs of fio would run or reach where they are carried out by hand, allowed or not: with the
    values of each cell in place of their variables.
    """
    found: dict[tuple[str, str], HostCommand] = {}
    cells = list(study.combinations()) if study.job else []
    for name, job in (study.job or {}).items():
        place = study.path.parent / name if study.path.parent != Path() else Path(name)
        for line, text in reaches_in(job, cells):
            found.setdefault((name, text), HostCommand(name, f"{place}:{line}", text))
    return list(found.values())


def check(study: Study) -> None:
    """Raises InputError, with all that wants to be allowed and how, unless all that profiles run here is."""
    _refuse(study, foreign(study), "This would run on this computer, as you, and is none of the lab's own commands.")


def check_kernels(study: Study) -> None:
    """Raise InputError if the study names a kernel out of a source that is not allowed yet: such a source is not even
    read.
    """
    _refuse(study, list(_builds_of_kernels(study)), "Results on this kernel are of its source, which is not read yet.")


def check_jobs(study: Study) -> None:
    """The same for what jobs run where they are carried out."""
    _refuse(study, of_jobs(study), "Wherever the jobs are carried out, fio would do this as the user who starts them.")


def _refuse(study: Study, commands: Sequence[HostCommand], why: str) -> None:
    waiting = [command for command in commands if not command.is_allowed]
    if waiting:
        names = " ".join(dict.fromkeys(command.owner for command in waiting))
        raise InputError(
            several(command.described() for command in waiting)
            + f"\n{why} If you trust it: flashbed allow {study.path} {names}"
        )


def chosen(study: Study, owners: Sequence[str]) -> Iterator[HostCommand]:
    """The foreign commands of these profiles and jobs. Raises InputError for one that has none."""
    found = [*foreign(study), *of_jobs(study)]
    known_owners = list(dict.fromkeys(command.owner for command in found))
    for owner in owners:
        if owner not in known_owners:
            raise InputError(
                f'{study.path}: no file system and no job "{owner}" with a command to allow'
                f"{nearest(owner, known_owners)}"
            )
    return (command for command in found if command.owner in owners)


@cache
def known(shipped: Path) -> frozenset[str]:
    """The fixed list: what the profiles in the folder `shipped`, the lab's, run on the host."""
    library = Library((shipped,))
    return frozenset(_command(library, name)[1] for name in library.names("filesystem"))


def _command(library: Library, profile: str) -> tuple[TomlFile, str]:
    file = library.file("filesystem", profile)
    return file, str(file.data.get(KEY, ""))


def _place(text: str) -> Path:
    return paths.cache_root() / FOLDER / digest_bytes(text.encode())
