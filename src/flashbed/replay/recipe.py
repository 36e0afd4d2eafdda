# SPDX-License-Identifier: Apache-2.0
"""A recipe is a repetition as plain data: the machine's arguments and the digests of the files that it starts from.

This module also validates the structure of recipes, pack.json and results, and reports an error in a sentence. Values
that become paths are restricted: a digest has 64 digits, and a program's name has no slash. A recipe is independent of
studies and profiles. Must not know the layout of files in a pack.
"""

from __future__ import annotations

import json
import re
import tarfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from flashbed.guest_output.power_cuts import MOST_CUTS

QEMU_PROGRAM = "qemu-system-aarch64"
"""The name of the program that every recipe needs, in a pack."""

JOB = "job"
"""The archive whose digest is in no result; a result has the digests of the files in it."""

BY_KEY = ("key", "label")
"""The fields of a recipe that identify it, and change nothing in the guest."""

OF_LOAD = ("load", "check", "cuts")
"""The fields of a recipe that do not affect its guest before its load comes."""


@dataclass(frozen=True)
class Check:
    """The checker that examines the medium's content after the guest: a program of the pack, and its arguments."""

    program: str
    arguments: tuple[str, ...]
    """DATA stands for the path of the content."""

    DATA = "{data}"


@dataclass(frozen=True)
class Cuts:
    """The power cuts of a repetition, and what the guests after a cut have besides the files of the guest before it."""

    number: int
    seed: int
    job: str
    """The archive that takes the place of JOB."""
    checks: tuple[tuple[str, str], ...]
    """The files of their load by name, but for the acknowledged lines."""


@dataclass(frozen=True)
class Recipe:
    """Everything that a repetition runs with. Files are named by their SHA-256."""

    key: str
    label: str
    machine: tuple[str, ...]
    """The emulator's arguments that affect results."""
    kernel: str
    symbols: str | None
    """The kernel's System.map, if the CPUs were sampled."""
    archives: tuple[tuple[str, str], ...]
    """The archives of the guest's initramfs, by part: "base", its programs, its modules, "job"."""
    state: str
    content: str | int
    """The content of the medium: a file, or the size in bytes of an empty one."""
    ram_bytes: int
    content_bytes: int
    check: Check | None
    load: str | None = None
    """The archive that only the load needs; None in an older pack, whose "job" contains it."""
    calls: bool = False
    """The emulator noted the system calls of programs."""
    root: str | None = None
    """The image of the root of programs; None if the cell ran none."""
    cuts: Cuts | None = None
    """None if the power is not cut."""

    @property
    def files(self) -> Iterator[str]:
        """Return the digests of all files."""
        yield self.kernel
        yield self.state
        yield from (digest for _, digest in self.archives)
        yield from (file for file in (self.symbols, self.content, self.load, self.root) if isinstance(file, str))
        if self.cuts is not None:
            yield self.cuts.job
            yield from (digest for _, digest in self.cuts.checks)

    @property
    def guest(self) -> str:
        """Return a text that is equal for recipes with the same guest: one run serves them all."""
        return self._without(*BY_KEY)

    @property
    def beginning(self) -> str:
        """Return a text that is equal for recipes whose guests are equal until their load begins; "" for a recipe of an
        older pack, whose guest has its load from power-on.
        """
        return self._without(*BY_KEY, *OF_LOAD) if self.load is not None else ""

    def _without(self, *names: str) -> str:
        return json.dumps({name: value for name, value in asdict(self).items() if name not in names}, sort_keys=True)

    def to_json(self) -> dict[str, Any]:
        """Return the recipe as a JSON value."""
        return asdict(self)

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Recipe:
        """Return the recipe of a JSON value. Raises KeyError or TypeError if it is none."""
        check, cuts = value["check"], value.get("cuts")
        return cls(
            **{
                **value,
                "machine": tuple(map(str, value["machine"])),
                "archives": _named(value["archives"]),
                "check": check and Check(str(check["program"]), tuple(map(str, check["arguments"]))),
                "cuts": cuts and Cuts(**{**cuts, "checks": _named(cuts["checks"])}),
            }
        )


def _named(archives: Iterable[Sequence[str]]) -> tuple[tuple[str, str], ...]:
    return tuple((str(name), str(digest)) for name, digest in archives)


DIGEST = re.compile(r"[0-9a-f]{64}")
PROGRAM_NAME = re.compile(r"[A-Za-z0-9_+][A-Za-z0-9_.+-]*")
"""The name of a program or a library."""

LONGEST_NAME = tarfile.LENGTH_NAME
"""The longest name of a file that a guest gets in its load."""

LARGEST_NUMBER = 1 << 62

ShapeTest = Callable[[Any], bool]


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_word(value: Any) -> bool:
    """True for an argument of a program."""
    return isinstance(value, str) and value.isprintable()


def _is_digest(value: Any) -> bool:
    return isinstance(value, str) and DIGEST.fullmatch(value) is not None


def _is_name(value: Any) -> bool:
    return isinstance(value, str) and PROGRAM_NAME.fullmatch(value) is not None


def _is_size(value: Any) -> bool:
    return type(value) is int and 0 <= value <= LARGEST_NUMBER


def _or_none(test: ShapeTest) -> ShapeTest:
    return lambda value: value is None or test(value)


def _of(keys: ShapeTest, values: ShapeTest) -> ShapeTest:
    return lambda value: isinstance(value, dict) and all(keys(key) and values(item) for key, item in value.items())


def _with(**tests: ShapeTest) -> ShapeTest:
    """Return a test for a table with these keys; it may have others."""
    return lambda value: (
        isinstance(value, dict) and all(key in value and test(value[key]) for key, test in tests.items())
    )


def _list(test: ShapeTest) -> ShapeTest:
    return lambda value: isinstance(value, list) and all(map(test, value))


def _is_archive(value: Any) -> bool:
    return isinstance(value, list) and len(value) == 2 and _is_text(value[0]) and _is_digest(value[1])


_CUTS: Mapping[str, ShapeTest] = {
    "number": lambda value: _is_size(value) and 1 <= value <= MOST_CUTS,
    "seed": _is_size,
    "job": _is_digest,
    "checks": _list(lambda value: _is_archive(value) and _is_name(value[0]) and len(value[0]) <= LONGEST_NAME),
}


def _is_cuts(value: Any) -> bool:
    return _with(**_CUTS)(value) and value.keys() == _CUTS.keys()


_RECIPE: Mapping[str, ShapeTest] = {
    "key": _is_digest,
    "label": _is_text,
    "machine": _list(_is_word),
    "kernel": _is_digest,
    "symbols": _or_none(_is_digest),
    "archives": _list(_is_archive),
    "state": _is_digest,
    "content": lambda value: _is_digest(value) or _is_size(value),
    "ram_bytes": _is_size,
    "content_bytes": _is_size,
    "check": _or_none(_with(program=_is_name, arguments=_list(_is_word))),
    "load": _or_none(_is_digest),
    "calls": lambda value: isinstance(value, bool),
    "root": _or_none(_is_digest),
    "cuts": _or_none(_is_cuts),
}
_LATER = {"load": None, "calls": False, "root": None, "cuts": None}
"""Defaults of fields that recipes of older packs lack."""

_PROGRAM = _with(program=_is_digest, loader=_or_none(_is_digest), libraries=_of(_is_name, _is_digest))

_CONTENTS: Mapping[str, ShapeTest] = {
    "flashbed": _is_text,
    "key_version": _is_size,
    "study": _with(name=_is_text, title=_is_text),
    "members": _of(_is_text, _is_digest),
    "names": _of(_is_digest, _is_text),
    "programs": _of(_is_name, _PROGRAM),
    "recipes": lambda value: isinstance(value, list) and len(value) > 0,
}

_RESULT: Mapping[str, ShapeTest] = {
    "key": _is_digest,
    "outcome": _is_text,
    "check": _or_none(_is_text),
    "seed": _is_size,
    "cell": _with(seed=_is_size),
    "coordinates": _of(_is_text, _is_text),
    "environment": _of(_is_text, _is_text),
}


def check_contents(contents: Any) -> None:
    """Validate pack.json. Raises ValueError with the reason."""
    _check_table(contents, _CONTENTS, "")
    for number, recipe in enumerate(contents["recipes"], 1):
        _check_table({**_LATER, **recipe} if isinstance(recipe, dict) else recipe, _RECIPE, f"recipe {number}: ")
        if unknown := sorted(recipe.keys() - _RECIPE.keys()):
            raise ValueError(f"recipe {number}: {unknown[0]} is unknown")
        if recipe.get("cuts") and recipe.get("load") is None:
            raise ValueError(f"recipe {number}: has power cuts and no load")


def check_result(result: Any) -> None:
    """Validate a result. Raises ValueError with the reason."""
    _check_table(result, _RESULT, "")
    for name in ("machine", "kernel"):
        if name not in result["environment"]:
            raise ValueError(f"its environment has no {name}")


def _check_table(table: Any, tests: Mapping[str, ShapeTest], where: str) -> None:
    if not isinstance(table, dict):
        raise ValueError(f"{where}not a table")
    for name, test in tests.items():
        if name not in table:
            raise ValueError(f"{where}{name} is missing")
        if not test(table[name]):
            raise ValueError(f"{where}{name} has an invalid value")
