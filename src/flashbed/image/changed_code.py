# SPDX-License-Identifier: Apache-2.0
"""Locate the lines that a patch changed in the built kernel: the addresses of their code, if they have any.

The changed files are compiled once more, with line numbers, by the commands of the kernel's build. Line numbers change
no instruction, and the kernel's symbols give the address of each function. The diff is git's own, without context. Only
the headers of its files and hunks are read, so a library that parses diffs would be a dependency for ten lines. This
module must not know who checks whether an address ran.
"""

from __future__ import annotations

import json
import posixpath
import re
from bisect import bisect_right
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from enum import StrEnum
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

RECIPE_VERSION = 4
"""Raise it if `locate` or `Changed.as_json` gives something else for the same kernel and lines."""

MOST_OBJECTS = 40
"""A header that more objects include is not followed, because each of them would be compiled again."""

INSTRUCTION_BYTES = 4

MODULE_AREA_BYTES = 2 << 30
"""The size of the area below the kernel that modules are loaded to, on arm64 with addresses of 39 bits. Linux 6.1 uses
128 MiB of it.
"""

_FILE = re.compile(r"^\+\+\+ (?:b/)?(\S+)")
_HUNK = re.compile(r"^@@ -\d+(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")
_SET_ADDRESS = 2
"""DW_LNE_set_address, which begins each sequence of a line program."""

_COMMAND = re.compile(r"^(?:saved)?cmd_(\S+) := (.*)$", re.MULTILINE)


class Obstacle(StrEnum):
    """Why a changed file or line has no known address. The values are in cache entries."""

    NOT_IN_KERNEL = "not in kernel"
    TOO_MANY_OBJECTS = "too many objects"
    NOT_COMPILED = "not compiled"
    """The object cannot be compiled with line numbers."""
    NO_CODE = "no code"


@dataclass(frozen=True)
class NotLocated:
    """Why a changed file or line has no known address."""

    why: Obstacle
    objects: int = 0
    """For TOO_MANY_OBJECTS, the number of objects that the file is part of."""


@dataclass(frozen=True)
class Changed:
    """The changed lines of a kernel. A line is named "fs/ext2/inode.c:787"."""

    code: Mapping[str, Sequence[int]] = field(default_factory=dict)
    """The addresses of each line's instructions. A line without its own has those of a line beside it (`with_code`)."""
    functions: Sequence[tuple[int, int]] = ()
    """The begin and end of each function that contains any of these instructions."""
    not_located: Mapping[str, NotLocated] = field(default_factory=dict)
    """Maps changed files and lines that have no known address to the reason."""
    modules: Sequence[ModuleSection] = ()
    """The sections of modules that contain changed lines, with addresses of their own."""
    module_area: tuple[int, int] = (0, 0)
    """The begin and end of the addresses to which the kernel loads modules."""

    @property
    def watched(self) -> Sequence[tuple[int, int]]:
        """Return the begin and end of each piece of code to watch."""
        return [*self.functions, *([self.module_area] if self.modules else [])]

    @cached_property
    def digest(self) -> str:
        """Return the digest of the code to watch."""
        watched = [sorted(map(list, self.functions)), [section.as_json() for section in self.modules]]
        return digest_bytes(json.dumps(watched).encode())

    def as_json(self) -> dict[str, Any]:
        """Return the fields as `from_json` reads them."""
        return {
            "code": self.code,
            "functions": self.functions,
            "not_located": {place: asdict(reason) for place, reason in self.not_located.items()},
            "modules": [section.as_json() for section in self.modules],
            "module_area": self.module_area,
        }


def from_json(text: str) -> Changed:
    """Return the changed lines from the JSON text of `Changed.as_json`."""
    fields = json.loads(text)
    functions = [(begin, end) for begin, end in fields["functions"]]
    modules = tuple(ModuleSection.from_json(section) for section in fields["modules"])
    not_located = {
        place: NotLocated(Obstacle(reason["why"]), reason["objects"]) for place, reason in fields["not_located"].items()
    }
    return Changed(fields["code"], functions, not_located, modules, tuple(fields["module_area"]))


@dataclass(frozen=True)
class Module:
    """A module that was built with line numbers."""

    parts: tuple[str, ...]
    """Directories and files of the kernel's tree, with its source among others'."""
    lines: Sequence[Section]
    sections: Sequence[ModuleSection]

    def holds(self, file: str) -> bool:
        """Return True if a source file is part of it. A header of the same directories may be."""
        if not file.endswith(".c"):
            return lies_in(file, self.parts)
        return any(place.startswith(f"{file}:") for section in self.lines for place, _, _ in section.instructions)


def lies_in(file: str, parts: Iterable[str]) -> bool:
    """Return True if a file is one of these, or lies below one."""
    return any(file == part or file.startswith(f"{part}/") for part in parts)


def changed_lines(diff: str) -> dict[str, list[int]]:
    """Return the line numbers that a `git diff --unified=0` adds or changes in each file. If a hunk only removes lines,
    its number is that of the line behind them.
    """
    lines_by_file: dict[str, list[int]] = {}
    lines: list[int] = []
    left = 0  # lines of the hunk that are still to be skipped: one of them may look like a header
    for line in diff.split("\n"):
        if left:
            left -= not line.startswith("\\")
        elif match := _FILE.match(line):
            lines = lines_by_file.setdefault(match[1], []) if match[1] != "/dev/null" else []
        elif match := _HUNK.match(line):
            removed, first, added = (int(1 if number is None else number) for number in match.groups())
            lines.extend(range(first, first + added) if added else [first + 1])
            left = removed + added
    return lines_by_file


def locate(
    tree: Path,
    table: Path,
    lines: Mapping[str, Sequence[int]],
    environment: toolchain.Environment,
    scratch: Path,
    modules: Sequence[Module] = (),
) -> Changed:
    """Locate lines in a kernel and its modules. The kernel was compiled in `tree`, and its System.map is `table`."""
    commands = _commands(tree, lines)
    symbols = _symbols(table.read_text())
    not_located = {file: reason for file in lines if (reason := _why_skipped(file, commands[file], modules))}
    followed = [file for file in lines if file not in not_located]
    located = _Located({file: {} for file in followed})
    objects = {name: command for file in followed for name, command in commands[file].items()}
    for name, command in objects.items():
        compiled = _with_lines(tree, command, name, environment, scratch)
        if compiled is None:
            not_located[name] = NotLocated(Obstacle.NOT_COMPILED)
        for section in compiled or ():
            if (base := section.base(symbols)) is not None:
                begins = located.add(section, base)
                located.functions |= {(base + begin, base + section.end_of(begin)) for begin in begins}
    used = []
    for module in modules:
        loaded = {section.name: section for section in module.sections}
        for section in module.lines:
            if section.name in loaded and located.add(section, loaded[section.name].base):
                used.append(loaded[section.name])
    code: dict[str, list[int]] = {}
    for file, addresses in located.addresses.items():
        text = (tree / file).read_text(errors="replace").splitlines()
        for line in lines[file]:
            if never_code(text, line):
                continue
            if (beside := with_code(text, line, addresses)) is None:
                not_located[f"{file}:{line}"] = NotLocated(Obstacle.NO_CODE)
            else:
                code[f"{file}:{line}"] = sorted(addresses[beside])
    begin = min(symbols.get("_text", [0]))
    return Changed(code, located.holding(code.values()), not_located, used, (begin - MODULE_AREA_BYTES, begin))


def _why_skipped(file: str, commands: Collection[str], modules: Iterable[Module]) -> NotLocated | None:
    """Return why a file's lines are not located; None if they are."""
    if not commands and not any(module.holds(file) for module in modules):
        return NotLocated(Obstacle.NOT_IN_KERNEL)
    if len(commands) > MOST_OBJECTS:
        return NotLocated(Obstacle.TOO_MANY_OBJECTS, len(commands))
    return None


@dataclass
class _Located:
    """The code of files, collected over all objects that they are part of."""

    addresses: dict[str, dict[int, set[int]]]
    """The addresses of instructions by file and line. Only these files are followed."""
    functions: set[tuple[int, int]] = field(default_factory=set)
    """The begin and end of functions."""

    def add(self, section: Section, base: int) -> set[int]:
        """Add a section whose address is `base`. Return the offsets of its functions that have code of the files."""
        holding = set()
        for place, offset, function in section.instructions:
            file, _, number = place.rpartition(":")
            if file in self.addresses:
                self.addresses[file].setdefault(int(number), set()).add(base + offset)
                holding.add(function)
        return holding

    def holding(self, code: Iterable[Iterable[int]]) -> list[tuple[int, int]]:
        """Return the functions that contain any of these addresses, sorted."""
        code_addresses = {address for addresses in code for address in addresses}
        return sorted((begin, end) for begin, end in self.functions if any(begin <= at < end for at in code_addresses))


def never_code(text: Sequence[str], number: int) -> bool:
    """Return True if a line cannot become code: it is empty, a bracket or a comment."""
    line = text[number - 1].strip() if number <= len(text) else ""
    return line in ("", "{", "}", "};", "else", "} else {") or line.startswith(("*", "/*", "//"))


def with_code(text: Sequence[str], number: int, with_own: Collection[int]) -> int | None:
    """Return the line whose code counts as that of line `number`: itself, if it has code of its own; else the last line
    before it in its function that has some; else the next. A compiler may attribute the code of two lines to one of
    them. Return None outside of functions.

    `with_own` has the lines with code of their own.
    """
    if number in with_own:
        return number
    line = text[number - 1] if number <= len(text) else ""
    before = text[number - 2] if 1 < number <= len(text) + 1 else ""
    if line.startswith("#") or before.endswith("\\"):
        return None  # a macro: its code belongs to the lines that use it
    for places in (range(number - 1, 0, -1), range(number + 1, len(text) + 1)):
        for place in places:
            if text[place - 1].startswith("}"):
                break
            if place in with_own:
                return place
    return None


@dataclass
class Section:
    """An executable section of an object: its functions, and the line of each instruction."""

    name: str
    end: int
    """Its size in bytes."""
    functions: dict[int, set[str]] = field(default_factory=dict)
    """The names of the function that begins at each offset."""
    instructions: list[tuple[str, int, int]] = field(default_factory=list)
    """Each instruction: its file and line, its offset, and the offset of its function."""

    def end_of(self, function: int) -> int:
        """Return the end of the function that begins at this offset."""
        return min((start for start in self.functions if start > function), default=self.end)

    def base(self, symbols: Mapping[str, Sequence[int]]) -> int | None:
        """Return the section's address: the only one that fits the symbols of all its functions. Return None if none
        fits, or several do.
        """
        bases: set[int] | None = None
        for offset, names in self.functions.items():
            fitting = {address - offset for name in names for address in symbols.get(name, ())}
            if fitting:  # a function of several names may be known by one of them
                bases = fitting if bases is None else bases & fitting
        return bases.pop() if bases and len(bases) == 1 else None


def sections(file: Path) -> list[Section]:
    """Return the executable sections of an object or module that was compiled with line numbers."""
    with file.open("rb") as stream:
        elf = ELFFile(stream)
        by_index = {
            index: Section(section.name, section["sh_size"])
            for index, section in enumerate(elf.iter_sections())
            if section["sh_flags"] & SH_FLAGS.SHF_EXECINSTR and section["sh_type"] == "SHT_PROGBITS"
        }
        symbols = list(_table_of_symbols(elf).iter_symbols())
        for symbol in symbols:
            kind, section_of = symbol["st_info"]["type"], symbol["st_shndx"]
            is_mark = symbol.name.startswith("$")  # $x: code, $d: data
            if section_of in by_index and kind != "STT_SECTION" and not is_mark:
                by_index[section_of].functions.setdefault(symbol["st_value"], set()).add(symbol.name)
        for section_of, rows in _rows_of_lines(elf, symbols).items():
            if section_of in by_index:
                _add_lines(by_index[section_of], rows)
        return list(by_index.values())


def _add_lines(section: Section, rows: Iterable[tuple[int, int, str]]) -> None:
    """Add the instructions of rows (begin, end, file and line). The section's functions are known already."""
    starts = sorted({0, *section.functions})
    for begin, end, place in sorted(rows):
        for offset in range(begin, end, INSTRUCTION_BYTES):
            section.instructions.append((place, offset, starts[bisect_right(starts, offset) - 1]))


def _rows_of_lines(elf: ELFFile, symbols: Sequence[Symbol]) -> dict[Any, list[tuple[int, int, str]]]:
    """Return the begin, end, and file and line of each row of the line programs, by the index of its section.

    A program only has the offset at which each of its sequences begins. The relocation of the offset has the section.
    """
    sections_of_sequences = _sections_of_sequences(elf, symbols)
    rows_by_section: dict[Any, list[tuple[int, int, str]]] = {}
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
                rows = rows_by_section.setdefault(next(sections_of_sequences), [])
            if (state := entry.state) is None:
                continue
            if before is not None and before.line and before.address < state.address:
                rows.append((before.address, state.address, f"{names[before.file]}:{before.line}"))
            before = None if state.end_sequence else state
    return rows_by_section


def _sections_of_sequences(elf: ELFFile, symbols: Sequence[Symbol]) -> Iterator[Any]:
    """Yield the index of the section of each sequence of the line programs, in their order."""
    addresses = (ENUM_RELOC_TYPE_AARCH64["R_AARCH64_ABS64"], ENUM_RELOC_TYPE_x64["R_X86_64_64"])
    table = elf.get_section_by_name(".rela.debug_line")
    relocations = table.iter_relocations() if isinstance(table, RelocationSection) else iter(())
    for relocation in sorted(relocations, key=lambda relocation: relocation["r_offset"]):
        if relocation["r_info_type"] in addresses:
            yield symbols[relocation["r_info_sym"]]["st_shndx"]


def _names_of_files(program: LineProgram) -> dict[int, str]:
    """Return the path of each file of a line program, relative to the tree, by its number in the program."""
    header = program.header
    counted_from = 0 if header["version"] >= 5 else 1  # before DWARF 5, directory 0 is the compiler's own
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
    """Return the objects that each file is part of, with the command that compiled each object."""
    commands: dict[str, dict[str, str]] = {file: {} for file in files}
    patterns = {file: re.compile(rf"(?<![\w./-]){re.escape(file)}(?![\w./-])") for file in commands}
    for kept in sorted(tree.rglob(".*.o.cmd")):
        text = kept.read_text(errors="replace")
        if (command := _COMMAND.search(text)) is None or " -c " not in command[2]:
            continue
        for file, pattern in patterns.items():
            if file in text and pattern.search(text):
                commands[file][command[1]] = command[2]
    return commands


def _with_lines(
    tree: Path, command: str, name: str, environment: toolchain.Environment, scratch: Path
) -> list[Section] | None:
    """Compile the object `name` once more, with line numbers. Return its sections, or None if it does not compile."""
    to = scratch / "with-lines.o"
    # Unquote the command as make does, and leave out what follows the compiler
    words = command.partition(" ; ")[0].replace("$$", "$").replace("\\#", "#").replace("$(pound)", "#")
    words = re.sub(r"-Wp,-MM?D,\S+", "", words)
    changed = re.sub(rf" -o {re.escape(name)}(?= )", f" -g1 -o {to}", words)
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
    """Return the addresses of functions by name from a System.map. Static functions may share a name."""
    addresses: dict[str, list[int]] = {}
    for address, kind, name in _rows(table):
        if kind in "tTwW":
            addresses.setdefault(name, []).append(address)
    return addresses


def _rows(table: str) -> Iterator[tuple[int, str, str]]:
    for line in table.splitlines():
        address, kind, name = line.split()[:3]
        yield int(address, 16), kind, name
