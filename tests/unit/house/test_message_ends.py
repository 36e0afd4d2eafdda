# SPDX-License-Identifier: Apache-2.0
"""The end of messages, by the rule in common/errors.py: one sentence has no full stop, several have one each."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import flashbed

LAB = Path(flashbed.__file__).parent

TELLS = re.compile(r"(Error|Problem|InterruptedByUser|NotBuilt|_log\.warning)$")
"""The end of the name of a callable that takes a message as its first argument."""

ANOTHER_BEGINS = re.compile(r"[.?] +\S")


def text(node: ast.expr) -> str:
    """Return the text in the source, with an x for each inserted value."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        return "".join(text(value) for value in node.values)
    return "x"


def messages(source: str) -> Iterator[str]:
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Call) and node.args and TELLS.search(ast.unparse(node.func)):
            yield text(node.args[0])


def ends_alike(message: str) -> bool:
    several, end = ANOTHER_BEGINS.search(message), message.rstrip()
    return bool(several) == (end.endswith(".") and not end.endswith("..."))


def test_messages_end_alike() -> None:
    found = [(file.name, told) for file in sorted(LAB.rglob("*.py")) for told in messages(file.read_text())]
    assert len([told for _, told in found if told != "x"]) > 200
    assert [one for one in found if not ends_alike(one[1])] == []


def test_one_that_ends_otherwise_would_be_found() -> None:
    said = (
        'raise InputError(f"{path}: is none. Make {one}")\nraise SetupError("git is not there.")\n_log.warning("a; b")'
    )
    assert [ends_alike(told) for told in messages(said)] == [False, False, True]
