# SPDX-License-Identifier: Apache-2.0
"""What a cell wants in its guest, besides what all have, and what the archives with it are called. Nothing is built
here.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from flashbed.common.errors import InputError


class ProgramSet(NamedTuple):
    """What a cell needs in its guest, besides what all have: tools, modules, and what makes load.

    `built` names programs that are built from their sources, the others lie in packages.
    """

    packages: tuple[str, ...]
    programs: tuple[str, ...]
    modules: tuple[str, ...] = ()
    built: tuple[str, ...] = ("fio",)
    own_modules: tuple[tuple[str, Path], ...] = ()
    """Those of the modules that are made from a folder of the user's."""
    of_kernel: tuple[str, ...] = ()
    """What of a distribution's kernel the cell needs, by names that it answers to: drivers, scheduler, file system."""
    of_kernel_for_tool: tuple[str, ...] = ()
    """Likewise what the tool loads itself."""


class PartError(InputError):
    """A package, a program or a module that no guest can have: the key of a profile that names it, and its name."""

    def __init__(self, message: str, key: str, name: str) -> None:
        super().__init__(message)
        self.key, self.name = key, name


def part_names(wanted: ProgramSet) -> list[str]:
    """Of the archives, besides the base, of a cell that uses this program set."""
    return [tools_name(wanted), *map(module_part, wanted.modules), *filter(None, [of_kernel(wanted)])]


def of_kernel(wanted: ProgramSet) -> str:
    """Of the archive with the modules of a distribution's kernel; "" if it asks for none."""
    names = (*wanted.of_kernel, *wanted.of_kernel_for_tool)
    return "-".join(("kernel-modules", *names)) if names else ""


def tools_name(wanted: ProgramSet) -> str:
    """Of the archive with its programs."""
    return "-".join(("tools", *wanted.built, *(Path(name).name for name in wanted.programs)))


def module_part(module: str) -> str:
    """What the archive with a module that cells choose is called, also among the digests in their keys."""
    return f"module-{module}"
