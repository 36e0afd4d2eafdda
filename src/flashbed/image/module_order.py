# SPDX-License-Identifier: Apache-2.0
"""Put the modules of a kernel that a cell loads in order, by their own `depends` and `softdep` in .modinfo.

A cell asks for drivers, a scheduler and a file system by the names that Linux requests. The names are the same for each
kernel, whether it has a module for one or has it built in. A module that is built into the kernel has no file, and is
left out. Builds nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from elftools.elf.elffile import ELFFile

from flashbed.common.digest import FileState, state_of
from flashbed.image.initramfs import InitramfsFile
from flashbed.workload.base import KERNEL_MODULES

RECIPE_VERSION = 1
"""Raise it if `names_of` or `in_order` returns something else for the same modules."""


def found_in(folder: Path) -> dict[str, Path]:
    """Return all module files below a directory, by the kernel's name of the module."""
    return {plain(path.stem): path for path in sorted(folder.rglob("*.ko"))}


def plain(name: str) -> str:
    """Return the kernel's name of a module: that of md-mod.ko is md_mod."""
    return name.replace("-", "_")


def needs(module: Path) -> list[str]:
    """Return the names or aliases of the modules that must be loaded before this one, or that it wants loaded before
    it (`softdep`).
    """
    names = []
    for key, value in _modinfo(module):
        if key == "depends":
            names += [plain(name) for name in value.split(",") if name]
        if key == "softdep":
            before, _, _ = value.partition("post:")
            names += [plain(name) for name in before.replace("pre:", "").split()]
    return names


def aliases(modules: Mapping[str, Path]) -> dict[str, str]:
    """Map each alias to its module: crc32c to crc32c_generic."""
    return {plain(value): name for name, file in modules.items() for key, value in _modinfo(file) if key == "alias"}


def _modinfo(module: Path) -> list[tuple[str, str]]:
    return _modinfo_of(module, state_of(module))


@cache
def _modinfo_of(module: Path, _: FileState) -> list[tuple[str, str]]:
    with module.open("rb") as file:
        section = ELFFile(file).get_section_by_name(".modinfo")
        return _pairs(section.data()) if section is not None else []


def _pairs(data: bytes) -> list[tuple[str, str]]:
    entries = (entry.decode(errors="replace").partition("=") for entry in data.split(b"\0"))
    return [(key, value) for key, _, value in entries]


BUILT_IN = ""
"""In place of a module, for a name of something that is built into the kernel."""


def names_of(folder: Path) -> dict[str, str]:
    """Map each name and alias, except those of devices, to its module in a package's /lib/modules/VERSION."""
    built_in = _pairs((folder / "modules.builtin.modinfo").read_bytes())
    known = {plain(key.partition(".")[0]): BUILT_IN for key, _ in built_in if key}
    known |= {plain(value): BUILT_IN for key, value in built_in if key.endswith(".alias")}
    files = found_in(folder)
    known |= aliases(files) | {name: name for name in files}
    return {name: module for name, module in known.items() if not set(name) & set(":*?[")}


@dataclass(frozen=True)
class ModuleFiles:
    """The modules of a kernel."""

    files: Mapping[str, Path]
    """The file of each module, by the module's name."""
    names: Mapping[str, str]
    """Maps each name and alias to a module, or to BUILT_IN."""

    def in_order(self, wanted: Iterable[str]) -> list[str]:
        """Return the modules to load for `wanted`, in order. Raise LookupError with a name that the kernel lacks."""
        names = list(wanted)
        if unknown := next((name for name in names if plain(name) not in self.names), None):
            raise LookupError(unknown)
        return in_order(self.files, names, self.names)


def in_order(modules: Mapping[str, Path], wanted: Iterable[str], others: Mapping[str, str] | None = None) -> list[str]:
    """Return the modules to load for `wanted`, each after those that it needs. Names without a file are left out.
    `others` maps aliases to modules; by default they are read from the files.
    """
    order: list[str] = []
    others = aliases(modules) if others is None else others

    def add(name: str) -> None:
        name = name if name in modules else others.get(name, name)
        if name in modules and name not in order:
            for other in needs(modules[name]):
                add(other)
            order.append(name)

    for name in wanted:
        add(plain(name))
    return order


CELL_FOLDER, TOOL_FOLDER = "cell", "tool"
"""Directories of the guest below KERNEL_MODULES."""

FILESYSTEM_ALIAS, SCHEDULER_ALIAS = "fs-", "-iosched"
"""Parts of the aliases by which Linux requests a file system or a scheduler, such as fs-vfat and bfq-iosched."""

ASKED_FOR = {"vfat": ("nls_cp437", "nls_ascii")}
"""Modules that a module requests when it mounts, so that its .modinfo lacks them: CONFIG_FAT_DEFAULT_CODEPAGE and
_IOCHARSET.
"""


def plain_name(name: str) -> str:
    """Return the file system, scheduler or driver of a requested name: ext4 of fs-ext4."""
    return name.removeprefix(FILESYSTEM_ALIAS).removesuffix(SCHEDULER_ALIAS)


def files(known: ModuleFiles, of_cell: Sequence[str], of_tool: Sequence[str] = ()) -> list[InitramfsFile]:
    """Return the modules for the names that a cell and then its tool request, named in the order in which they load.
    Raise LookupError with a name that the kernel has neither as a module nor built in.
    """
    asks = [name for module in known.in_order(of_cell) for name in ASKED_FOR.get(module, ())]
    first = known.in_order([*of_cell, *asks])
    both = known.in_order([*first, *of_tool])
    return [
        InitramfsFile(f"{KERNEL_MODULES}/{group}/{number:02}-{file.name}", file, 0o644)
        for group, names in ((CELL_FOLDER, first), (TOOL_FOLDER, both[len(first) :]))
        for number, file in enumerate(known.files[name] for name in names)
    ]
