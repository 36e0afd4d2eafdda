# SPDX-License-Identifier: Apache-2.0
"""Find the line of each key and value in a TOML text."""

import tomllib
from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tree_sitter import Node


Keys = tuple[str | int, ...]
"""The path to a value, such as ("axes", "filesystem", 0)."""


def lines_of(text: str) -> dict[Keys, int]:
    """Return the line of each key and value, as far as the text can be parsed."""
    # Imported here because only a file with an error needs the positional parser.
    import tree_sitter
    import tree_sitter_toml

    parser = tree_sitter.Parser(tree_sitter.Language(tree_sitter_toml.language()))
    tree = parser.parse(text.encode())
    lines: dict[Keys, int] = {}
    counts: dict[Keys, int] = {}
    for child in tree.root_node.named_children:
        # The two parsers disagree on odd files. An odd file must not hide the original message
        with suppress(ValueError, StopIteration, RecursionError):
            _collect_statement(child, lines, counts)
    return lines


def _collect_statement(node: "Node", lines: dict[Keys, int], counts: dict[Keys, int]) -> None:
    if node.type == "pair":
        _collect_pair(node, (), lines)
    elif node.type in ("table", "table_array_element"):
        key = next(child for child in node.named_children if child.type != "comment")
        path = _inside_arrays(_key_parts(key), counts)
        if node.type == "table_array_element":
            index = counts.get(path, -1) + 1
            counts[path] = index
            lines.setdefault(path, node.start_point.row + 1)
            path = (*path, index)
        lines.setdefault(path, node.start_point.row + 1)
        for child in node.named_children:
            if child.type == "pair":
                _collect_pair(child, path, lines)


def _inside_arrays(parts: list[str], counts: dict[Keys, int]) -> Keys:
    """Return the keys with the index of the last table of each array: [figure.where] after [[figure]] is in the last
    figure.
    """
    path: Keys = ()
    for position, part in enumerate(parts):
        path = (*path, part)
        if path in counts and position < len(parts) - 1:
            path = (*path, counts[path])
    return path


def _collect_pair(node: "Node", around: Keys, lines: dict[Keys, int]) -> None:
    key, value = (child for child in node.named_children if child.type != "comment")
    path = around
    for part in _key_parts(key):
        path = (*path, part)
        lines.setdefault(path, node.start_point.row + 1)
    _collect_value(value, path, lines)


def _collect_value(node: "Node", path: Keys, lines: dict[Keys, int]) -> None:
    lines.setdefault(path, node.start_point.row + 1)
    children = [child for child in node.named_children if child.type != "comment"]
    if node.type == "array":
        for index, child in enumerate(children):
            _collect_value(child, (*path, index), lines)
    elif node.type == "inline_table":
        for child in children:
            _collect_pair(child, path, lines)


def _key_parts(node: "Node") -> list[str]:
    if node.type == "dotted_key":
        return [part for child in node.named_children for part in _key_parts(child)]
    text = (node.text or b"").decode()
    return [str(next(iter(tomllib.loads(f"{text} = 0"))))]
