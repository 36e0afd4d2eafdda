# SPDX-License-Identifier: Apache-2.0
"""Describe in sentences how the results in a pack differ: before anything runs, from the pack's own recipes; and
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


def _machine(wanted: str, here: str) -> Iterator[str]:
    if wanted == here:
        return
    pairs = zip(wanted.split(), here.split(), strict=False)
    measured_word, word_here = next(((a, b) for a, b in pairs if a != b), (wanted, here))
    yield f"the machine is not the measured one: {word_here} instead of {measured_word}"


def _other(what: str, measured: str | None, here: str) -> Iterator[str]:
    if measured is None:
        yield f"the {what} was not part of the measurement"
    elif measured != here:
        yield f"the {what} is not the measured one: {here[:12]} instead of {measured[:12]}"


MOST_LETTERS = 60
MOST_SENTENCES = 4
RESULT, CONSOLE, OUT = "result.json", "console.log", "out/"


def differences(kept: Mapping[str, bytes], result: Mapping[str, Any], outcome: Outcome) -> list[str]:
    """Return sentences on the differences; none if all bytes are the same. `kept` are the files of the result, and
    `outcome` is the outcome on this host.
    """
    sentences = list(_all(kept, result, outcome))
    more = len(sentences) - MOST_SENTENCES
    return [*sentences[:MOST_SENTENCES], *([f"and {more} more"] if more > 0 else [])]


def _all(kept: Mapping[str, bytes], result: Mapping[str, Any], outcome: Outcome) -> Iterator[str]:
    if outcome.status != result["outcome"]:
        yield f"was {result['outcome']}, and is {outcome.status} here: {outcome.reason}"
    elif outcome.medium_check != result["check"]:
        yield f"the checker said {_said(result['check'])}, and says {_said(outcome.medium_check)}"
    kept_files = {name: data for name, data in kept.items() if name != RESULT}
    new_files = {CONSOLE: outcome.console, **{f"{OUT}{name}": data for name, data in outcome.files.items()}}
    for name in sorted(kept_files.keys() | new_files.keys()):
        if name not in new_files or name not in kept_files:
            yield f"{name}: {'is missing' if name not in new_files else 'is new'}"
        elif kept_files[name] != new_files[name]:
            yield f"{name}: {_first(kept_files[name], new_files[name])}"


def _said(check: str | None) -> str:
    return "nothing (not checked)" if check is None else f'"{_short(check)}"' if check else "clean"


def _first(old: bytes, new: bytes) -> str:
    """Describe the first line that differs, or the first byte if a file is no text."""
    try:
        old_lines, new_lines = old.decode().splitlines(), new.decode().splitlines()
    except UnicodeDecodeError:
        pairs = zip(old, new, strict=False)
        at = next((place for place, (a, b) in enumerate(pairs) if a != b), min(len(old), len(new)))
        return f"{len(old)} bytes, {len(new)} here, and they differ from byte {at} on"
    for number, (a, b) in enumerate(zip(old_lines, new_lines, strict=False), start=1):
        if a != b:
            return f"line {number} was {_short(a)}, and is {_short(b)}"
    return f"had {len(old_lines)} lines, and has {len(new_lines)}"


def _short(text: str) -> str:
    plain = "".join(letter if letter.isprintable() else " " for letter in text.strip())
    return plain if len(plain) <= MOST_LETTERS else f"{plain[:MOST_LETTERS]}..."
