# SPDX-License-Identifier: Apache-2.0
"""In what a repetition that was run again differs from what was kept of it, in sentences."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from flashbed.machine.base import Outcome

MOST_LETTERS = 60
MOST_SENTENCES = 4
RESULT, CONSOLE, OUT = "result.json", "console.log", "out/"


def differences(kept: Mapping[str, bytes], result: Mapping[str, Any], found: Outcome) -> list[str]:
    """Empty for the same bytes. `kept` are the files of the result, `found` what the guest gave here."""
    sentences = list(_all(kept, result, found))
    more = len(sentences) - MOST_SENTENCES
    return [*sentences[:MOST_SENTENCES], *([f"and {more} more"] if more > 0 else [])]


def _all(kept: Mapping[str, bytes], result: Mapping[str, Any], found: Outcome) -> Iterator[str]:
    if found.status != result["outcome"]:
        yield f"was {result['outcome']}, and is {found.status} here: {found.reason}"
    elif found.medium_check != result["check"]:
        yield f"the checker said {_said(result['check'])}, and says {_said(found.medium_check)}"
    mine = {name: data for name, data in kept.items() if name != RESULT}
    its = {CONSOLE: found.console, **{f"{OUT}{name}": data for name, data in found.files.items()}}
    for name in sorted(mine.keys() | its.keys()):
        if name not in its or name not in mine:
            yield f"{name}: {'is not there' if name not in its else 'was not there'}"
        elif mine[name] != its[name]:
            yield f"{name}: {_first(mine[name], its[name])}"


def _said(check: str | None) -> str:
    return "nothing (not checked)" if check is None else f'"{_short(check)}"' if check else "clean"


def _first(mine: bytes, its: bytes) -> str:
    """The first line that differs, or the first byte of what is no text."""
    try:
        lines, others = mine.decode().splitlines(), its.decode().splitlines()
    except UnicodeDecodeError:
        pairs = zip(mine, its, strict=False)
        at = next((place for place, (a, b) in enumerate(pairs) if a != b), min(len(mine), len(its)))
        return f"{len(mine)} bytes, {len(its)} here, and they differ from byte {at} on"
    for number, (a, b) in enumerate(zip(lines, others, strict=False), start=1):
        if a != b:
            return f"line {number} was {_short(a)}, and is {_short(b)}"
    return f"had {len(lines)} lines, and has {len(others)}"


def _short(text: str) -> str:
    plain = "".join(letter if letter.isprintable() else " " for letter in text.strip())
    return plain if len(plain) <= MOST_LETTERS else f"{plain[:MOST_LETTERS]}..."
