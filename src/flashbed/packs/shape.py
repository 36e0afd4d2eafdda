# SPDX-License-Identifier: Apache-2.0
"""Whether what a pack says has the shape that packs have, so that whatever else it says is told in a sentence.

What becomes a path here is held to more: a digest has 64 digits, the name of a program no slash.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

DIGEST = re.compile(r"[0-9a-f]{64}")
NAME = re.compile(r"[A-Za-z0-9_+][A-Za-z0-9_.+-]*")
"""Of a program or a library."""

MOST_BYTES = 1 << 62

Test = Callable[[Any], bool]


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_word(value: Any) -> bool:
    """An argument of a program."""
    return isinstance(value, str) and value.isprintable()


def _is_digest(value: Any) -> bool:
    return isinstance(value, str) and DIGEST.fullmatch(value) is not None


def _is_name(value: Any) -> bool:
    return isinstance(value, str) and NAME.fullmatch(value) is not None


def _is_size(value: Any) -> bool:
    return type(value) is int and 0 <= value <= MOST_BYTES


def _or_none(test: Test) -> Test:
    return lambda value: value is None or test(value)


def _of(keys: Test, values: Test) -> Test:
    return lambda value: isinstance(value, dict) and all(keys(key) and values(one) for key, one in value.items())


def _with(**tests: Test) -> Test:
    """A table with these keys, whatever else is in it."""
    return lambda value: (
        isinstance(value, dict) and all(key in value and test(value[key]) for key, test in tests.items())
    )


def _list(test: Test) -> Test:
    return lambda value: isinstance(value, list) and all(map(test, value))


def _is_archive(value: Any) -> bool:
    return isinstance(value, list) and len(value) == 2 and _is_text(value[0]) and _is_digest(value[1])


_RECIPE: Mapping[str, Test] = {
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
}
_LATER = {"load": None}
"""What recipes of older packs lack, and what that means."""

_PROGRAM = _with(program=_is_digest, loader=_or_none(_is_digest), libraries=_of(_is_name, _is_digest))

_CONTENTS: Mapping[str, Test] = {
    "flashbed": _is_text,
    "key_version": _is_size,
    "study": _with(name=_is_text, title=_is_text),
    "members": _of(_is_text, _is_digest),
    "names": _of(_is_digest, _is_text),
    "programs": _of(_is_name, _PROGRAM),
    "recipes": lambda value: isinstance(value, list) and len(value) > 0,
}

_RESULT: Mapping[str, Test] = {
    "key": _is_digest,
    "outcome": _is_text,
    "check": _or_none(_is_text),
    "seed": _is_size,
    "cell": _with(seed=_is_size),
    "environment": _of(_is_text, _is_text),
}


def check_contents(told: Any) -> None:
    """What pack.json says. Raises ValueError, with what is wrong."""
    _check(told, _CONTENTS, "")
    for place, one in enumerate(told["recipes"]):
        _check({**_LATER, **one} if isinstance(one, dict) else one, _RECIPE, f"recipe {place + 1}: ")
        if other := sorted(one.keys() - _RECIPE.keys()):
            raise ValueError(f"recipe {place + 1}: {other[0]} is unknown")


def check_result(told: Any) -> None:
    """What a result says. Raises ValueError, with what is wrong."""
    _check(told, _RESULT, "")
    for name in ("machine", "kernel"):
        if name not in told["environment"]:
            raise ValueError(f"its environment has no {name}")


def _check(told: Any, tests: Mapping[str, Test], where: str) -> None:
    if not isinstance(told, dict):
        raise ValueError(f"{where}it is no table")
    for name, test in tests.items():
        if name not in told:
            raise ValueError(f"{where}{name} is missing")
        if not test(told[name]):
            raise ValueError(f"{where}{name} is not what it has to be")
