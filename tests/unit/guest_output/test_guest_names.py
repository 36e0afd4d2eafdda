# SPDX-License-Identifier: Apache-2.0
"""guest_output/ reads only files that guest/{cell,steps,mark} write or have the emulator note."""

from __future__ import annotations

import re

from flashbed.common import paths
from flashbed.guest_output import cpu_load, filesystem_costs, medium_counters, wear


def noted(cell: str, mark: str) -> set[str]:
    """Return the names in /out of the emulator's notes of the medium, by the words of the two programs' protocol."""
    header = (paths.emulator() / "lab-medium-notes.h").read_text()
    at_a_mark = re.findall(r"^ \*     (\w+)\.NAME +at a mark", header, re.MULTILINE) if "medium mark" in mark else []
    moments = re.findall(r"/mark ([\w.]+)$", cell, re.MULTILINE)
    names = {f"{kind}.{moment}" for kind in at_a_mark for moment in moments}
    assert re.search(r"^ \*     erases\.NAME", header, re.MULTILINE)
    return names | {f"erases.{moment}" for moment in re.findall(r"^medium erases (\w+)$", cell, re.MULTILINE)}


def written() -> set[str]:
    """Return the names in /out of moments: the only argument of a function of guest/steps or of guest/mark."""
    steps, cell, mark = ((paths.guest() / name).read_text() for name in ("steps", "cell", "mark"))
    cell = steps + cell
    functions = dict(re.findall(r"^(\w+)\(\) \{.*\n((?:\t.*\n)+)\}", cell, re.MULTILINE))
    functions["mark"] = mark
    names = set()
    for function, body in functions.items():
        moments = re.findall(rf"(?:^|[ \t/]){function} ([\w.]+)(?=$| [#&])", cell, re.MULTILINE)
        names |= {f"{moment}.{kind}" for kind in re.findall(r'>"/out/\$1\.(\w+)"', body) for moment in moments}
        names |= {f"{kind}.{moment}" for kind in re.findall(r'>"/out/(\w+)\.\$1"', body) for moment in moments}
    names |= set(re.findall(r">/out/([\w.]+)", cell))
    return names | noted(cell, mark) | {f"{step}.txt" for step in re.findall(r"\bstep (\w+)", cell)}


def test_what_is_read_by_name_is_written() -> None:
    read = {
        name
        for module in (cpu_load, medium_counters, filesystem_costs, wear)
        for name in vars(module).values()
        if isinstance(name, str)
        and re.fullmatch(r"(idle|counters|block|erases|wear|translation|mount|cut)\.\w+|\w+\.txt", name)
    }
    assert len(read) > 14
    by_the_aging_script = {filesystem_costs.AGING_NOTES}  # which takes the name from there
    assert read - written() == by_the_aging_script
