# SPDX-License-Identifier: Apache-2.0
"""Which kernel modules have to be loaded before which, as the modules themselves say (`depends` of their .modinfo).

Knows no kernel; a module that the kernel has built in is no file, and is left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from elftools.elf.elffile import ELFFile


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
        entries = section.data().split(b"\0") if section is not None else []
    return [(key, value) for key, _, value in (entry.decode(errors="replace").partition("=") for entry in entries)]


def in_order(modules: Mapping[str, Path], wanted: Iterable[str]) -> list[str]:
    """The modules to load for `wanted`, each behind those that it needs; without those that are no files."""
    order: list[str] = []
    others = aliases(modules)

    def add(name: str) -> None:
        name = name if name in modules else others.get(name, name)
        if name in modules and name not in order:
            for other in needs(modules[name]):
                add(other)
            order.append(name)

    for name in wanted:
        add(plain(name))
    return order
