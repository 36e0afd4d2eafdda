# SPDX-License-Identifier: Apache-2.0
"""Which kernel modules have to be loaded before which, as the modules themselves say (`depends` of their .modinfo).

Knows no kernel; a module that the kernel has built in is no file, and is left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from elftools.elf.elffile import ELFFile

RECIPE_VERSION = 1
"""Raise it if `names_of` or `in_order` returns something else for the same modules."""


def found_in(folder: Path) -> dict[str, Path]:
    """All modules below a folder, by the name that the kernel knows them by."""
    return {plain(path.stem): path for path in sorted(folder.rglob("*.ko"))}


def plain(name: str) -> str:
    """A file may be called md-mod.ko; the module's name is md_mod."""
    return name.replace("-", "_")


def needs(module: Path) -> list[str]:
    """The modules that this one calls, and those that it asks to be there before it: by name, or by an alias."""
    found = []
    for key, value in _said(module):
        if key == "depends":
            found += [plain(name) for name in value.split(",") if name]
        if key == "softdep":
            before, _, _ = value.partition("post:")
            found += [plain(name) for name in before.replace("pre:", "").split()]
    return found


def aliases(modules: Mapping[str, Path]) -> dict[str, str]:
    """Which module answers to which other name: crc32c_generic to crc32c."""
    return {plain(value): name for name, file in modules.items() for key, value in _said(file) if key == "alias"}


def _said(module: Path) -> list[tuple[str, str]]:
    with module.open("rb") as file:
        section = ELFFile(file).get_section_by_name(".modinfo")
        return _pairs(section.data()) if section is not None else []


def _pairs(data: bytes) -> list[tuple[str, str]]:
    entries = (entry.decode(errors="replace").partition("=") for entry in data.split(b"\0"))
    return [(key, value) for key, _, value in entries]


BUILT_IN = ""
"""In place of a module, for a name that the kernel itself answers to."""


def names_of(folder: Path) -> dict[str, str]:
    """Which module of a package's folder /lib/modules/VERSION answers to which name that is not for a device."""
    built_in = _pairs((folder / "modules.builtin.modinfo").read_bytes())
    known = {plain(key.partition(".")[0]): BUILT_IN for key, _ in built_in if key}
    known |= {plain(value): BUILT_IN for key, value in built_in if key.endswith(".alias")}
    files = found_in(folder)
    known |= aliases(files) | {name: name for name in files}
    return {name: module for name, module in known.items() if not set(name) & set(":*?[")}


@dataclass(frozen=True)
class ModuleFiles:
    """The modules that a kernel has as files, by name; and what it answers to, each name with a module or BUILT_IN."""

    files: Mapping[str, Path]
    names: Mapping[str, str]

    def in_order(self, wanted: Iterable[str]) -> list[str]:
        """As the function; a name that the kernel does not know is raised as LookupError."""
        asked = list(wanted)
        if unknown := next((name for name in asked if plain(name) not in self.names), None):
            raise LookupError(unknown)
        return in_order(self.files, asked, self.names)


def in_order(modules: Mapping[str, Path], wanted: Iterable[str], others: Mapping[str, str] | None = None) -> list[str]:
    """The modules to load for `wanted`, each behind those that it needs; without those that are no files. `others`: as
    `aliases`, if that is known.
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
