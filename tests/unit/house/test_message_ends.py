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
    messages_of_lab = [
        (file.name, message) for file in sorted(LAB.rglob("*.py")) for message in messages(file.read_text())
    ]
    assert len([message for _, message in messages_of_lab if message != "x"]) > 200
    assert [place for place in messages_of_lab if not ends_alike(place[1])] == []


def test_one_that_ends_otherwise_would_be_found() -> None:
    source = (
        'raise InputError(f"{path}: is none. Make {one}")\nraise SetupError("git is not there.")\n_log.warning("a; b")'
    )
    assert [ends_alike(message) for message in messages(source)] == [False, False, True]
