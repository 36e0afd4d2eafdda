# SPDX-License-Identifier: Apache-2.0
"""The parts that a cell needs in its guest beside the common ones, and the names of their archives. Builds nothing."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from flashbed.common.digest import digest_json
from flashbed.common.errors import InputError
from flashbed.workload.base import Root


class ProgramSet(NamedTuple):
    """What a cell needs in its guest beside the common parts: tools, modules, and programs that make load.

    `built` names programs that the lab builds from source; the others are in packages.
    """

    packages: tuple[str, ...]
    programs: tuple[str, ...]
    modules: tuple[str, ...] = ()
    built: tuple[str, ...] = ("fio",)
    own_modules: tuple[tuple[str, Path], ...] = ()
    """The modules that are built from a user's directory."""
    of_kernel: tuple[str, ...] = ()
    """What the cell needs of its kernel, by module names or aliases: drivers, scheduler, file system."""
    of_kernel_for_tool: tuple[str, ...] = ()
    """What the tool itself loads of a distribution's kernel."""
    root: Root | None = None
    """The root of programs of the user's. It is a file of its own beside the archives."""
    root_files: tuple[tuple[str, Path], ...] = ()
    """The user's files in the root, by digest."""


class PartError(InputError):
    """A package, program or module that no guest can have. Has the key of the profile that names it, and its name."""

    def __init__(self, message: str, key: str, name: str) -> None:
        super().__init__(message)
        self.key, self.name = key, name


def part_names(program_set: ProgramSet) -> list[str]:
    """Return the names of a cell's archives for this program set, without the base."""
    return [tools_name(program_set), *map(module_part, program_set.modules), *filter(None, [of_kernel(program_set)])]


def file_names(program_set: ProgramSet) -> list[str]:
    """Return the names of a cell's archives, without the base, and of its root."""
    return [*part_names(program_set), *([root_part(program_set.root)] if program_set.root is not None else [])]


def of_kernel(program_set: ProgramSet) -> str:
    """Return the name of the archive with the kernel's own modules; "" if the cell needs none. Modules that the cell
    chooses may need some, too.
    """
    names = (*program_set.of_kernel, *program_set.modules, *program_set.of_kernel_for_tool)
    return "-".join(("kernel-modules", *names)) if names else ""


def root_part(root: Root) -> str:
    """Return the name of a root's image."""
    return f"root-{digest_json(root)[:16]}"


def tools_name(program_set: ProgramSet) -> str:
    """Return the name of the archive with the cell's programs."""
    return "-".join(("tools", *program_set.built, *(Path(name).name for name in program_set.programs)))


def module_part(module: str) -> str:
    """Return the name of a module's archive, which is also its name in a key."""
    return f"module-{module}"
