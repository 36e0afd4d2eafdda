# SPDX-License-Identifier: Apache-2.0
"""Describes in sentences how the results in a pack differ: before anything runs, from the pack's own recipes; and
afterwards, from the outcome of the new run.

A result's key is the hash of its inputs, which include digests of files of the pack. So if somebody changed a kernel, a
program, a seed or a result in a pack, the check finds it. The run itself shows changes that no digest in a result
covers. Must not know the format of a pack.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from flashbed.common.digest import digest_json
from flashbed.machine.base import Outcome
from flashbed.replay.recipe import Recipe

JOB = "job"
"""The archive whose digest is in no result; a result has the digests of the files in it."""


def doubts(recipe: Recipe, result: Mapping[str, Any], key_version: int) -> Iterator[str]:
    """Yield a sentence for each difference between a result and its recipe."""
    environment = result["environment"]
    if result["key"] != recipe.key:
        yield "the result belongs to another repetition"
    if digest_json({"version": key_version, "cell": result["cell"], "environment": environment}) != result["key"]:
        yield "the result's key does not match its inputs: one of them was changed"
    if result["seed"] != result["cell"]["seed"]:
        yield f"the result has seed {result['seed']}, and its inputs have {result['cell']['seed']}"
    yield from _machine(environment["machine"], " ".join(recipe.machine))
    yield from _other("kernel", environment["kernel"], recipe.kernel)
    for name, digest in recipe.archives:
        if name != JOB:
            yield from _other(f"archive {name}", environment.get(name), digest)


def _machine(wanted: str, found: str) -> Iterator[str]:
    if wanted == found:
        return
    pairs = zip(wanted.split(), found.split(), strict=False)
    mine, its = next(((a, b) for a, b in pairs if a != b), (wanted, found))
    yield f"the machine is not the measured one: {its} instead of {mine}"


def _other(what: str, wanted: str | None, found: str) -> Iterator[str]:
    if wanted is None:
        yield f"the {what} was not part of the measurement"
    elif wanted != found:
        yield f"the {what} is not the measured one: {found[:12]} instead of {wanted[:12]}"


MOST_LETTERS = 60
MOST_SENTENCES = 4
RESULT, CONSOLE, OUT = "result.json", "console.log", "out/"


def differences(kept: Mapping[str, bytes], result: Mapping[str, Any], found: Outcome) -> list[str]:
    """Return sentences on the differences; none if all bytes are the same. `kept` are the files of the result, and
    `found` is the outcome on this host.
    """
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
            yield f"{name}: {'is missing' if name not in its else 'is new'}"
        elif mine[name] != its[name]:
            yield f"{name}: {_first(mine[name], its[name])}"


def _said(check: str | None) -> str:
    return "nothing (not checked)" if check is None else f'"{_short(check)}"' if check else "clean"


def _first(mine: bytes, its: bytes) -> str:
    """Describe the first line that differs, or the first byte if a file is no text."""
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
