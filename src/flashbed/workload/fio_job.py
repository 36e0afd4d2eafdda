# SPDX-License-Identifier: Apache-2.0
"""What can be told of a fio job file of the user's before fio reads it: its shape, and what the lab does not allow.

fio itself judges options and values, in the guest, and its words are then the reason. Must not know what an option
means.
"""

import re
from collections.abc import Iterator

_SECTION = re.compile(r"\[([^\]]+)\]")
_INCLUDE = re.compile(r"include\s")


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
        if not said or said[0] in "#;":
            continue
        if said.startswith("["):
            found = _SECTION.match(said)
            if found is None:
                yield number, f'"{said[:60]}": a section has a name between [ and ]'
            else:
                sections.append(found[1])
        elif _INCLUDE.match(said):
            yield number, "fio's include does not reach files of this computer; put its lines here"
        elif not sections:
            yield number, f'"{said[:60]}" stands outside of a section; begin with [global] or the name of a job'
    if not set(sections) - {"global"}:
        yield number, "has no job: a section with a name other than global"
