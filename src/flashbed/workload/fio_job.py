# SPDX-License-Identifier: Apache-2.0
"""What can be told of a fio job file of the user's before fio reads it: its shape, and what the lab does not allow.

fio itself judges options and values, in the guest, and its words are then the reason. Must not know what an option
means.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

_SECTION = re.compile(r"\[([^\]]+)\]")
_INCLUDE = re.compile(r"include\s")
_VARIABLE = re.compile(r"\$\{(\w+)\}")
_OTHER_VARIABLE = re.compile(r"\$\{(?!\w+\})[^}]*\}?")
_RUNS = re.compile(r"(?:exec_prerun|exec_postrun|program)\s*=")
_PLACE = re.compile(
    r"(?:name|directory|filename_format|opendir|read_\w+|write_\w+|merge_blktrace_file|replay_redirect|mem|cgroup|"
    r"buffer_pattern|verify_pattern)\s*=(.*)"
)
"""Options with names of files or folders, several of them between colons. Logs are named after `name`."""
_ENGINE = re.compile(r"ioengine\s*=(.*)")
_STAYS = frozenset(
    (
        *("sync", "psync", "vsync", "pvsync", "pvsync2", "libaio", "io_uring", "io_uring_cmd"),
        *("posixaio", "solarisaio", "windowsaio", "mmap", "splice", "sg", "libzbc", "mtd"),
        *("dev-dax", "libpmem", "pmemblk", "null", "cpuio", "falloc", "ftruncate", "e4defrag"),
        *("filecreate", "filestat", "filedelete", "dircreate", "dirstat", "dirdelete"),
    )
)
"""The engines of fio that are a part of it and stay on this computer (its HOWTO, "I/O engine"). Of the others one runs
a program, some are loaded from a file, and most talk to a server.
"""

LONGEST_LINE = 4000
"""Bytes. fio reads longer lines in pieces, of 8191 bytes in its version 3.33, and takes each for a line of its own."""

PREPARE = "prepare"
"""How the name of a job begins that is run before anything is measured."""


def section_of(line: str) -> str | None:
    """The name of the section that a line of a job file begins, None if it begins none."""
    found = _SECTION.match(line.strip())
    return found[1] if found else None


def job_faults(text: str) -> Iterator[tuple[int, str]]:
    """Lines with what is wrong in them, in order."""
    sections: list[str] = []
    if text.startswith("\N{ZERO WIDTH NO-BREAK SPACE}"):
        yield 1, "begins with a byte order mark, which fio takes for a part of the first line; save it without one"
        return
    number = 0
    for number, line in enumerate(text.split("\n"), start=1):
        said = line.strip()
        if "\0" in said:
            yield number, "has a NUL in it; a job file is a text"
        if len(line.encode()) > LONGEST_LINE:
            yield number, f"is longer than {LONGEST_LINE} bytes, and fio would take it for several lines"
        if found := _OTHER_VARIABLE.search(said):
            yield number, f'"{found[0][:60]}": the name of a variable has letters, digits and _'
        if not said or said[0] in "#;":
            continue
        if said.startswith("["):
            name = section_of(said)
            if name is None:
                yield number, f'"{said[:60]}": a section has a name between [ and ]'
            else:
                sections.append(name)
        elif _INCLUDE.match(said):
            yield number, "fio's include does not reach files of this computer; put its lines here"
        elif not sections:
            yield number, f'"{said[:60]}" stands outside of a section; begin with [global] or the name of a job'
    if not [name for name in sections if name != "global" and not name.startswith(PREPARE)]:
        yield number, f"has no job: a section with a name other than global and {PREPARE}..."


def split_off_preparation(text: str) -> tuple[str, str]:
    """The sections that prepare, and the rest; each part has every [global], and what is said before any. The first is
    "" where no section prepares; the second is then the text itself.
    """
    inside: list[str] = []
    outside: list[str] = []
    to: tuple[list[str], ...] = (inside, outside)
    found = False
    for line in text.splitlines(keepends=True):
        if name := section_of(line):
            is_one = name.startswith(PREPARE)
            found |= is_one
            to = (inside, outside) if name == "global" else (inside,) if is_one else (outside,)
        for part in to:
            part.append(line)
    return ("".join(inside), "".join(outside)) if found else ("", text)


def filled_in(text: str, variables: Iterable[tuple[str, object]]) -> str:
    """A job, or a line of it, with these values in place of ${name}, as fio puts them in."""
    for name, value in variables:
        text = text.replace(f"${{{name}}}", str(value))
    return text


def reaches_in(text: str, cells: Sequence[Mapping[str, str]]) -> Iterator[tuple[int, str]]:
    """Return the lines by which fio may reach beyond the folder that it runs in, in order, each with its number.

    Such a line runs a command, loads foreign code, or reads or writes a file elsewhere. It has the values of a cell in
    place of its variables.
    """
    for number, line in enumerate(text.split("\n"), start=1):
        names = _VARIABLE.findall(line)
        values = {tuple(cell[name] for name in names): None for cell in cells} if names else {(): None}
        for these in values:
            said = filled_in(line.strip(), zip(names, these, strict=True))
            is_comment = said[:1] in ("#", ";") and len(said.encode()) <= LONGEST_LINE
            if not is_comment and _reaches(said):
                yield number, said


def _reaches(line: str) -> bool:
    if _RUNS.search(line):
        return True
    if (engine := _ENGINE.search(line)) and engine[1].strip() not in _STAYS:
        return True
    places = [found[1] for found in _PLACE.finditer(line)]
    if section := section_of(line):  # files are named after it
        places.append(section)
    return any(_leads_out(part.strip(" \t'\"")) for place in places for part in place.split(":"))


def _leads_out(name: str) -> bool:
    """Whether a file of this name may lie elsewhere than below the folder; on Windows, backslashes part names too."""
    return name.startswith("/") or "\\" in name or ".." in name.split("/")
