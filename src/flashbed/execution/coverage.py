# SPDX-License-Identifier: Apache-2.0
"""Find out whether the lines that a patch changed ran in the guests of a study. If none ran, equal results say nothing
of the patch. The report puts the result into words.

The code that ran is kept beside the results, by their keys. It is no part of a result, because a kernel may be compared
with several others. Must not know how lines are mapped to addresses.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from flashbed.common import atomic
from flashbed.common.errors import host_refusal
from flashbed.image import own_kernel
from flashbed.image.changed_code import Changed, NotLocated
from flashbed.image.kernel_sources import ChangeUnknown
from flashbed.image.module_code import ExecutedCode

_ADDRESS = re.compile(r"^0x([0-9a-f]+): *$")
_CODE = re.compile(r"^OBJD-T: ((?:[0-9a-f]{2})+)$")

Ranges = Sequence[tuple[int, int]]


@dataclass(frozen=True)
class LineCoverage:
    """How many of a kernel's changed lines that became code ran in any guest."""

    kernel: str
    lines: int
    ran: int
    first: str = ""
    """The first cell in which any of them ran."""
    never: Sequence[str] = ()
    """Lines that did not run."""
    not_located: Mapping[str, NotLocated] | None = None
    """Maps changed files without code that could be watched to the reason."""
    unknown: ChangeUnknown | None = None
    """Why it is not known which lines are changed; None if it is known."""


def keep(key: str, changed: Changed, log: Path) -> None:
    """Keep which watched code ran in a guest, by the emulator's log. Raises HostResourceError."""
    text = log.read_text(errors="replace") if log.exists() else ""
    place = _place(key)
    pieces = list(executed(text))
    ranges = {(address, address + len(code)) for address, code in pieces}
    in_modules = [piece for piece in pieces if changed.module_area[0] <= piece[0] < changed.module_area[1]]
    for section in changed.modules:
        ranges |= set(section.ran(in_modules))
    document = {"watched": changed.digest, "ran": sorted(ranges)}
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        atomic.write(place, json.dumps(document).encode())
    except OSError as error:
        raise host_refusal(place, error) from None


def kept(key: str, changed: Changed) -> Ranges | None:
    """Return the code that ran in a guest; None if this code was not watched in it."""
    with suppress(OSError, ValueError, KeyError, TypeError):
        document = json.loads(_place(key).read_text())
        if document["watched"] == changed.digest:
            return [(begin, end) for begin, end in document["ran"]]
    return None


def executed(log: str) -> Iterator[ExecutedCode]:
    """Yield each piece of code in the emulator's log (`-d in_asm`)."""
    address, code = 0, b""
    for line in log.splitlines():
        if match := _ADDRESS.match(line):
            if code:
                yield address, code
            address, code = int(match[1], 16), b""
        elif match := _CODE.match(line):
            code += bytes.fromhex(match[1])
    if code:
        yield address, code


def line_coverage(kernel: str, changed: Changed, guests: Iterable[tuple[str, Ranges]]) -> LineCoverage:
    """Return which changed lines of a kernel ran in its guests, which are pairs of a cell's label and code."""
    left = dict(changed.code)
    first = ""
    for cell, ranges in guests:
        newly_run = [place for place, addresses in left.items() if _any(addresses, ranges)]
        first = first or (cell if newly_run else "")
        for place in newly_run:
            del left[place]
    ran = len(changed.code) - len(left)
    never = sorted(left, key=_in_order)
    return LineCoverage(kernel, len(changed.code), ran, first, never, changed.not_located)


def _in_order(place: str) -> tuple[str, int]:
    file, _, number = place.rpartition(":")
    return file, int(number)


def _any(addresses: Iterable[int], ranges: Ranges) -> bool:
    return any(begin <= address < end for address in addresses for begin, end in ranges)


def _place(key: str) -> Path:
    return own_kernel.objects_root() / "ran" / f"{key}.json"
