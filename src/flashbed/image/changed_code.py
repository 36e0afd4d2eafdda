# SPDX-License-Identifier: Apache-2.0
"""Where the lines that a patch changed lie in the kernel that was built: at which addresses, if anywhere.

The changed files are compiled once more, with line numbers, by the commands that the kernel's build used; that changes
no instruction, and the kernel's own symbols say where a function lies. The diff is git's own, without context, and only
the heads of its files and hunks are read: a parser of all that a diff can be would be a dependency for ten lines. Must
not know who looks whether an address ran.
"""

from __future__ import annotations

import json
import posixpath
import re
from bisect import bisect_right
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from elftools.dwarf.lineprogram import LineProgram
from elftools.elf.constants import SH_FLAGS
from elftools.elf.elffile import ELFFile
from elftools.elf.enums import ENUM_RELOC_TYPE_AARCH64, ENUM_RELOC_TYPE_x64
from elftools.elf.relocation import RelocationSection
from elftools.elf.sections import Symbol, SymbolTableSection

from flashbed.common.digest import digest_bytes
from flashbed.common.errors import SetupError
from flashbed.image import toolchain
from flashbed.image.command import run
from flashbed.image.module_code import ModuleSection

RECIPE_VERSION = 1
"""Raise it if the same kernel and the same diff give other addresses, lines or reasons."""

MOST_OBJECTS = 40
"""A header that more objects include is not followed: each of them would be compiled again."""

INSTRUCTION_BYTES = 4

ROOM_BYTES = 2 << 30
"""Modules lie in so much below the kernel, on arm64 with addresses of 39 bits; Linux 6.1 takes 128 MiB of it."""

_FILE = re.compile(r"^\+\+\+ (?:b/)?(\S+)")
_HUNK = re.compile(r"^@@ -\d+(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")
_SET_ADDRESS = 2
"""DW_LNE_set_address, with which each sequence of a line program begins."""

_COMMAND = re.compile(r"^(?:saved)?cmd_(\S+) := (.*)$", re.MULTILINE)


@dataclass(frozen=True)
class Changed:
    """The changed lines of a kernel, "fs/ext2/inode.c:787"."""

    code: Mapping[str, Sequence[int]] = field(default_factory=dict)
    """Each with the addresses of its instructions; one that has none of its own, with those of the line beside it."""
    functions: Sequence[tuple[int, int]] = ()
    """Begin and end of each function that has any of them."""
    not_told: Mapping[str, str] = field(default_factory=dict)
    """Changed files and lines of which nothing can be told, and why."""
    modules: Sequence[ModuleSection] = ()
    """Code of modules that lines of theirs became part of, with addresses of their own."""
    room: tuple[int, int] = (0, 0)
    """Where the kernel puts modules."""

    @property
    def watched(self) -> Sequence[tuple[int, int]]:
        """Begin and end of all code that is to be watched."""
        return [*self.functions, *([self.room] if self.modules else [])]

    @cached_property
    def digest(self) -> str:
        """Of what is to be watched."""
        told = [sorted(map(list, self.functions)), [section.as_json() for section in self.modules]]
        return digest_bytes(json.dumps(told).encode())

    def as_json(self) -> dict[str, Any]:
        modules = [section.as_json() for section in self.modules]
        told = {"code": self.code, "functions": self.functions, "not_told": self.not_told}
        return {**told, "modules": modules, "room": self.room}


def from_json(text: str) -> Changed:
    """What `as_json` gave."""
    told = json.loads(text)
    functions = [(begin, end) for begin, end in told["functions"]]
    modules = tuple(ModuleSection.from_json(section) for section in told["modules"])
    return Changed(told["code"], functions, told["not_told"], modules, tuple(told["room"]))


@dataclass(frozen=True)
class Module:
    """A module that was built with line numbers."""

    folder: str
    """In the kernel's tree."""
    lines: Sequence[Section]
    sections: Sequence[ModuleSection]


def changed_lines(diff: str) -> dict[str, list[int]]:
    """The lines of each file that a `git diff --unified=0` adds or changes; where it only removes some, the line behind
    them.
    """
    found: dict[str, list[int]] = {}
    lines: list[int] = []
    due = 0  # lines of a hunk, which say nothing here whatever they look like
    for line in diff.split("\n"):
        if due:
            due -= not line.startswith("\\")
        elif match := _FILE.match(line):
            lines = found.setdefault(match[1], []) if match[1] != "/dev/null" else []
        elif match := _HUNK.match(line):
            removed, first, many = (int(1 if number is None else number) for number in match.groups())
            lines.extend(range(first, first + many) if many else [first + 1])
            due = removed + many
    return found


def look(
    tree: Path,
    table: Path,
    lines: Mapping[str, Sequence[int]],
    environment: toolchain.Environment,
    scratch: Path,
    modules: Sequence[Module] = (),
) -> Changed:
    """Where these lines are in the kernel that was compiled in `tree`, and whose System.map is `table`; or in one of
    its modules.
    """
    commands = _commands(tree, lines)
    symbols = _symbols(table.read_text())
    not_told = {file: why for file in lines if (why := _why_not(file, commands[file], modules))}
    followed = [file for file in lines if file not in not_told]
    found = _Found({file: {} for file in followed})
    for made, command in {made: command for file in followed for made, command in commands[file].items()}.items():
        compiled = _with_lines(tree, command, made, environment, scratch)
        if compiled is None:
            not_told[made] = "cannot be compiled with line numbers"
        for section in compiled or ():
            if (base := section.base(symbols)) is not None:
                found.functions |= {(base + begin, base + section.end_of(begin)) for begin in found.add(section, base)}
    used = []
    for module in modules:
        lying = {section.name: section for section in module.sections}
        for section in module.lines:
            if section.name in lying and found.add(section, lying[section.name].base):
                used.append(lying[section.name])
    code: dict[str, list[int]] = {}
    for file, addresses in found.addresses.items():
        text = (tree / file).read_text(errors="replace").splitlines()
        for line in lines[file]:
            if says_nothing(text, line):
                continue
            if (beside := with_code(text, line, addresses)) is None:
                not_told[f"{file}:{line}"] = "became no code"
            else:
                code[f"{file}:{line}"] = sorted(addresses[beside])
    begin = min(symbols.get("_text", [0]))
    return Changed(code, found.holding(code.values()), not_told, used, (begin - ROOM_BYTES, begin))


def _why_not(file: str, commands: Collection[str], modules: Iterable[Module]) -> str | None:
    """Why nothing is looked for in a file; None if it is looked for."""
    if not commands and not any(file.startswith(f"{module.folder}/") for module in modules):
        return "is no part of this kernel"
    if len(commands) > MOST_OBJECTS:
        return f"is part of {len(commands)} objects, too many to look at"
    return None


@dataclass
class _Found:
    """The code of files, over all objects that they are part of."""

    addresses: dict[str, dict[int, set[int]]]
    """By file and line; other files are not followed."""
    functions: set[tuple[int, int]] = field(default_factory=set)

    def add(self, section: Section, base: int) -> set[int]:
        """The section lies at `base`. Returns the offsets of the functions that have any code of the files."""
        holding = set()
        for place, offset, function in section.instructions:
            file, _, number = place.rpartition(":")
            if file in self.addresses:
                self.addresses[file].setdefault(int(number), set()).add(base + offset)
                holding.add(function)
        return holding

    def holding(self, code: Iterable[Iterable[int]]) -> list[tuple[int, int]]:
        """The functions that have any of the code, sorted."""
        wanted = {address for addresses in code for address in addresses}
        return sorted((begin, end) for begin, end in self.functions if any(begin <= at < end for at in wanted))


def says_nothing(text: Sequence[str], number: int) -> bool:
    """Whether a line is empty, a bracket, or a comment: nobody asks whether it ran."""
    line = text[number - 1].strip() if number <= len(text) else ""
    return line in ("", "{", "}", "};", "else", "} else {") or line.startswith(("*", "/*", "//"))


def with_code(text: Sequence[str], number: int, found: Collection[int]) -> int | None:
    """The line itself, if it has code of its own; else the last before it in its function that has some, else the next.
    A compiler may give the code of two lines to one of them. None outside of functions.
    """
    if number in found:
        return number
    line = text[number - 1] if number <= len(text) else ""
    before = text[number - 2] if 1 < number <= len(text) + 1 else ""
    if line.startswith("#") or before.endswith("\\"):
        return None  # of a macro, each place that uses it has the code
    for places in (range(number - 1, 0, -1), range(number + 1, len(text) + 1)):
        for place in places:
            if text[place - 1].startswith("}"):
                break
            if place in found:
                return place
    return None


@dataclass
class Section:
    """An executable section of an object: its functions, and the line of each instruction."""

    name: str
    end: int
    """Its bytes."""
    functions: dict[int, set[str]] = field(default_factory=dict)
    """The names of the function that begins at each offset."""
    instructions: list[tuple[str, int, int]] = field(default_factory=list)
    """Place, offset, and the offset of its function."""

    def end_of(self, function: int) -> int:
        """The offset behind the function that begins there."""
        return min((start for start in self.functions if start > function), default=self.end)

    def base(self, symbols: Mapping[str, Sequence[int]]) -> int | None:
        """Where the section lies, by the symbols of the whole: the one place that fits all its functions. None if there
        is no such place, or several.
        """
        places: set[int] | None = None
        for offset, names in self.functions.items():
            found = {address - offset for name in names for address in symbols.get(name, ())}
            if found:  # a function of several names may be known by one of them
                places = found if places is None else places & found
        return places.pop() if places and len(places) == 1 else None


def sections(file: Path) -> list[Section]:
    """The executable sections of an object or a module that was compiled with line numbers."""
    with file.open("rb") as stream:
        elf = ELFFile(stream)
        found = {
            index: Section(section.name, section["sh_size"])
            for index, section in enumerate(elf.iter_sections())
            if section["sh_flags"] & SH_FLAGS.SHF_EXECINSTR and section["sh_type"] == "SHT_PROGBITS"
        }
        symbols = list(_table_of_symbols(elf).iter_symbols())
        for symbol in symbols:
            kind, section_of = symbol["st_info"]["type"], symbol["st_shndx"]
            if section_of in found and kind != "STT_SECTION" and not symbol.name.startswith("$"):  # $x: code, $d: data
                found[section_of].functions.setdefault(symbol["st_value"], set()).add(symbol.name)
        for section_of, rows in _rows_of_lines(elf, symbols).items():
            if section_of in found:
                _add_lines(found[section_of], rows)
        return list(found.values())


def _add_lines(section: Section, rows: Iterable[tuple[int, int, str]]) -> None:
    """Begin, end and place of each row; functions are known already."""
    starts = sorted({0, *section.functions})
    for begin, end, place in sorted(rows):
        for offset in range(begin, end, INSTRUCTION_BYTES):
            section.instructions.append((place, offset, starts[bisect_right(starts, offset) - 1]))


def _rows_of_lines(elf: ELFFile, symbols: Sequence[Symbol]) -> dict[Any, list[tuple[int, int, str]]]:
    """Begin, end and place of each row of the line programs, by the index of its section.

    A program says an offset only, where each of its sequences begins; the relocation of the offset says the section.
    """
    begins = _begins_of_sequences(elf, symbols)
    found: dict[Any, list[tuple[int, int, str]]] = {}
    dwarf = elf.get_dwarf_info(relocate_dwarf_sections=True)
    for unit in dwarf.iter_CUs():
        program = dwarf.line_program_for_CU(unit)
        if program is None:
            continue
        names = _names_of_files(program)
        rows: list[tuple[int, int, str]] = []
        before = None
        for entry in program.get_entries():
            if entry.is_extended and entry.command == _SET_ADDRESS:
                rows = found.setdefault(next(begins), [])
            if (state := entry.state) is None:
                continue
            if before is not None and before.line and before.address < state.address:
                rows.append((before.address, state.address, f"{names[before.file]}:{before.line}"))
            before = None if state.end_sequence else state
    return found


def _begins_of_sequences(elf: ELFFile, symbols: Sequence[Symbol]) -> Iterator[Any]:
    """The index of the section of each sequence of the line programs, in their order."""
    addresses = (ENUM_RELOC_TYPE_AARCH64["R_AARCH64_ABS64"], ENUM_RELOC_TYPE_x64["R_X86_64_64"])
    table = elf.get_section_by_name(".rela.debug_line")
    found = table.iter_relocations() if isinstance(table, RelocationSection) else iter(())
    for one in sorted(found, key=lambda one: one["r_offset"]):
        if one["r_info_type"] in addresses:
            yield symbols[one["r_info_sym"]]["st_shndx"]


def _names_of_files(program: LineProgram) -> dict[int, str]:
    """The name from the top of the tree of each file of a line program, by its number there."""
    header = program.header
    counted_from = 0 if header["version"] >= 5 else 1  # before DWARF 5, folder 0 is the compiler's own
    folders = [b""] * counted_from + list(header["include_directory"])
    return {
        number: posixpath.normpath(posixpath.join(folders[file.dir_index], file.name).decode(errors="replace"))
        for number, file in enumerate(header["file_entry"], counted_from)
    }


def _table_of_symbols(elf: ELFFile) -> SymbolTableSection:
    table = elf.get_section_by_name(".symtab")
    assert isinstance(table, SymbolTableSection), "an object that a compiler made has symbols"
    return table


def _commands(tree: Path, files: Iterable[str]) -> dict[str, dict[str, str]]:
    """By changed file, the objects that it is part of, each with the command that compiled it."""
    found: dict[str, dict[str, str]] = {file: {} for file in files}
    wanted = {file: re.compile(rf"(?<![\w./-]){re.escape(file)}(?![\w./-])") for file in found}
    for made in sorted(tree.rglob(".*.o.cmd")):
        text = made.read_text(errors="replace")
        if (command := _COMMAND.search(text)) is None or " -c " not in command[2]:
            continue
        for file, pattern in wanted.items():
            if file in text and pattern.search(text):
                found[file][command[1]] = command[2]
    return found


def _with_lines(
    tree: Path, command: str, made: str, environment: toolchain.Environment, scratch: Path
) -> list[Section] | None:
    """The sections of an object made once more, with line numbers; None if it cannot be."""
    to = scratch / "with-lines.o"
    # As make would have it: what follows the compiler in a command does not count
    words = command.partition(" ; ")[0].replace("$$", "$").replace("\\#", "#").replace("$(pound)", "#")
    words = re.sub(r"-Wp,-MM?D,\S+", "", words)
    changed = re.sub(rf" -o {re.escape(made)}(?= )", f" -g1 -o {to}", words)
    if changed == words:
        return None
    try:
        run(["sh", "-c", changed], cwd=tree, env=environment())
        return sections(to)
    except SetupError:
        return None
    finally:
        to.unlink(missing_ok=True)


def _symbols(table: str) -> dict[str, list[int]]:
    """The addresses of each function by name, of a System.map; static functions may share one."""
    found: dict[str, list[int]] = {}
    for address, kind, name in _rows(table):
        if kind in "tTwW":
            found.setdefault(name, []).append(address)
    return found


def _rows(table: str) -> Iterator[tuple[int, str, str]]:
    for line in table.splitlines():
        address, kind, name = line.split()[:3]
        yield int(address, 16), kind, name
