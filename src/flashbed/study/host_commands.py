# SPDX-License-Identifier: Apache-2.0
"""Commands of a study that run outside of any guest, and the user's permission for them.

A study is data, also if it was downloaded with its profiles and jobs. On this computer only commands of shipped
profiles run, until the user allows others, once, by the name of their profile: a checker, and the build of the
profile's module or kernel. A fio job that runs a command, or that reads or writes files outside of its directory, is
not exported for running by hand until it is allowed by the name of its file. In a guest it may do anything. A
permission is for the whole text of a command or a line: a changed text must be allowed again. Must not know what a
command does, nor who runs it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from flashbed.common import atomic, paths
from flashbed.common.digest import digest_bytes
from flashbed.common.errors import InputError, host_refusal, several
from flashbed.common.tomlfile import TomlFile, nearest
from flashbed.profiles.library import Library, ProfileKind, Selector
from flashbed.study.loading import Study
from flashbed.workload.fio.jobs import reaches_in

FOLDER = "allowed"
"""A directory of the cache with one file for each allowed command. The file has the text, and is named by its
digest.
"""

KEY = "check"
"""The key of a file system's profile that has a command for the host."""


@dataclass(frozen=True)
class HostCommand:
    """A command of a profile or a job that is not the lab's own."""

    owner: str
    """The name of the profile, or of the job's file as in the study."""
    where: str
    """File, line and key."""
    text: str

    def described(self) -> str:
        """Return the command with its file and line."""
        return f"{self.where}: {self.text}"

    @property
    def is_allowed(self) -> bool:
        """Return True if this user has allowed exactly this text."""
        try:
            return _place(self.text).read_bytes() == self.text.encode()
        except OSError:
            return False

    def allow(self) -> None:
        """Allow the text until its file is removed. Raises HostResourceError."""
        place = _place(self.text)
        try:
            place.parent.mkdir(parents=True, exist_ok=True)
            atomic.write(place, self.text.encode())
        except OSError as error:
            raise host_refusal(place, error) from None


def foreign(study: Study) -> list[HostCommand]:
    """Return the commands for this computer in a study's profiles that are not the lab's own, allowed or not."""
    names = dict.fromkeys(Selector.parse(text).name for text in study.values_of("filesystem"))
    commands = []
    for name in names:
        file, text = _command(study.library, name)
        if text and text not in known(paths.profiles()):
            commands.append(HostCommand(name, file.place((KEY,)), text))
    return [*commands, *_builds_of_kernels(study), *_builds_of_modules(study)]


def _builds_of_kernels(study: Study) -> Iterator[HostCommand]:
    """Yield the builds of a study's kernels, whose makefiles run here. A kernel on the command line is allowed by that.
    A directory is allowed by its path, a patch by its content.
    """
    for text, choice in study.kernels.items():
        if not choice.is_own or study.kernels_asked_for:
            continue
        patches = "".join(f" with {patch.path.name} ({digest_bytes(patch.data)})" for patch in choice.patches)
        source = f"-C {choice.tree.folder.resolve()}" if choice.tree else f"of Linux {choice.version}"
        yield HostCommand(text, study.place_of("kernel", text), f"make {source}{patches}")


def _builds_of_modules(study: Study) -> Iterator[HostCommand]:
    """Yield the builds of modules whose source a profile names. Their makefiles run here."""
    kinds: tuple[ProfileKind, ...] = ("filesystem", "scheduler")
    for kind in kinds:
        for text in study.values_of(kind):
            source = getattr(study.library, kind)(text).module_source
            if source is not None:
                name = Selector.parse(text).name
                where = study.library.file(kind, name).place(("module_source",))
                yield HostCommand(name, where, f"make -C {Path(source).resolve()}")


def of_jobs(study: Study) -> list[HostCommand]:
    """Return what the study's fio jobs would run or reach when they are run by hand, allowed or not. Each cell's values
    replace the variables.
    """
    commands: dict[tuple[str, str], HostCommand] = {}
    cells = list(study.combinations()) if study.job else []
    for name, job in (study.job or {}).items():
        place = study.path.parent / name if study.path.parent != Path() else Path(name)
        for line, text in reaches_in(job, cells):
            commands.setdefault((name, text), HostCommand(name, f"{place}:{line}", text))
    return list(commands.values())


def check(study: Study) -> None:
    """Raise InputError unless the user allows all commands of profiles that run here. The message lists them and says
    how to allow them.
    """
    _refuse(study, foreign(study), "This would run on this computer, as you, and is none of the lab's own commands.")


def check_kernels(study: Study) -> None:
    """Raise InputError if the study names a kernel source that is not allowed yet. Such a source is not even read."""
    _refuse(study, list(_builds_of_kernels(study)), "Results on this kernel are of its source, which is not read yet.")


def check_jobs(study: Study) -> None:
    """Raise InputError unless the user allows all that the study's fio jobs run or reach when they are run by hand."""
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
    """Yield the foreign commands of these profiles and jobs. Raises InputError for one that has none."""
    commands = [*foreign(study), *of_jobs(study)]
    known_owners = list(dict.fromkeys(command.owner for command in commands))
    for owner in owners:
        if owner not in known_owners:
            raise InputError(
                f'{study.path}: no file system and no job "{owner}" with a command to allow'
                f"{nearest(owner, known_owners)}"
            )
    return (command for command in commands if command.owner in owners)


@cache
def known(shipped: Path) -> frozenset[str]:
    """Return the commands that the profiles in the directory `shipped`, the lab's, run on the host."""
    library = Library((shipped,))
    return frozenset(_command(library, name)[1] for name in library.names("filesystem"))


def _command(library: Library, profile: str) -> tuple[TomlFile, str]:
    file = library.file("filesystem", profile)
    return file, str(file.data.get(KEY, ""))


def _place(text: str) -> Path:
    return paths.cache_root() / FOLDER / digest_bytes(text.encode())
