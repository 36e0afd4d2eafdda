# SPDX-License-Identifier: Apache-2.0
"""Read a TOML file, and report its errors in one message: file, line, key, and the nearest valid key.

Lines come from a second, positional parser, which runs only if there is an error. Must not know what the files mean:
the models have the rules.
"""

import difflib
import re
import tomllib
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

from pydantic import BaseModel, BeforeValidator, ValidationError, WithJsonSchema

from flashbed.common import foreign, own_file
from flashbed.common.errors import InputError, several
from flashbed.common.units import LARGEST_INT64, by_size, parse_size

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


if TYPE_CHECKING:
    from pydantic_core import ErrorDetails


Model = TypeVar("Model", bound=BaseModel)

DEEPEST = 16
"""The deepest nesting of tables and lists. The lab's own files have four levels."""

NEAR = 0.65
"""The least similarity, by difflib's ratio, of a suggested word. With one letter of three changed a word may be meant
(rom and ram, 0.67); with two of five it is another word (btrfs and ubifs, 0.6).
"""

_TOO_DEEP = f"tables or lists are nested more than {DEEPEST} deep; use fewer levels"

_TOO_LARGE = f"is out of range: a whole number is from {-LARGEST_INT64 - 1} to {LARGEST_INT64}"


@dataclass(frozen=True)
class Problem:
    """An error at a place in a file. The `problems()` of a model yield these once its fields are valid."""

    keys: Keys
    text: str


@dataclass(frozen=True)
class TomlFile:
    """A TOML file: its data, and messages about its values."""

    path: Path
    text: str
    data: dict[str, Any]

    @classmethod
    def read(cls, path: Path) -> "TomlFile":
        """Read a file. Raises InputError if it is missing, is not UTF-8, or has a syntax error."""
        try:
            text = own_file.read(path).decode("utf-8-sig")
        except FileNotFoundError:
            why = "is a link to a missing file" if path.is_symlink() else "no such file"
            raise InputError(f"{path}: {why}") from None
        except IsADirectoryError:
            raise InputError(f"{path}: is a folder; name the TOML file in it") from None
        except UnicodeDecodeError as error:
            line = error.object[: error.start].count(b"\n") + 1
            raise InputError(f"{path}:{line}: not UTF-8 (byte {error.start}); save it as UTF-8") from None
        except OSError as error:
            raise InputError(f"{path}: cannot be read: {error.strerror}") from None
        try:
            file = cls(path, text, tomllib.loads(text))
        except tomllib.TOMLDecodeError as error:
            raise InputError(_syntax_message(path, text, error)) from None
        except RecursionError:
            raise InputError(f"{path}:{_deepest_line(text)}: {_TOO_DEEP}") from None
        except ValueError:  # Python limits the digits of a number
            raise InputError(f"{path}:{_longest_number_line(text)}: {_TOO_LARGE}") from None
        file._check_values()
        return file

    def _check_values(self) -> None:
        """Check the bounds of TOML that the parser does not enforce. Raises InputError."""
        left: list[tuple[Keys, Any]] = [((), self.data)]
        while left:
            keys, value = left.pop()
            if len(keys) > DEEPEST:
                raise InputError(f"{self.path}:{_deepest_line(self.text)}: {dotted(keys[:3])}...: {_TOO_DEEP}")
            if isinstance(value, dict):
                left += [((*keys, key), inner) for key, inner in value.items()]
            elif isinstance(value, list):
                left += [((*keys, index), inner) for index, inner in enumerate(value)]
            elif type(value) is int and not -LARGEST_INT64 - 1 <= value <= LARGEST_INT64:
                raise self.error(keys, _TOO_LARGE)

    def validate(self, model: type[Model]) -> Model:
        """Return the file as `model`, after checking the model's `problems()` if it has any. Raises InputError."""
        try:
            valid = model.model_validate(self.data)
        except ValidationError as error:
            lines = [self._describe(details, model) for details in error.errors()]
            raise InputError(several(lines)) from None
        problems = list(getattr(valid, "problems", tuple)())
        if problems:
            raise InputError(several(map(self.problem_message, problems)))
        return valid

    def error(self, keys: Keys, text: str) -> InputError:
        """Return the error to raise for a value of this file."""
        return InputError(self.message(keys, text))

    def problem_message(self, problem: Problem) -> str:
        """Return the message of a problem on one line. A problem may quote the file."""
        return self.message(problem.keys, problem.text.replace("\n", "\\n"))

    def message(self, keys: Keys, text: str) -> str:
        """Return a message with its place, such as "studies/quick.toml:12: axes.filesystem[0]: text"."""
        return f"{self.place(keys)}: {text}"

    def place(self, keys: Keys) -> str:
        """Return the file, line and key of a value, such as "studies/quick.toml:12: axes.filesystem[0]"."""
        line = f"{self.path}:{self._line(keys)}"
        return f"{line}: {dotted(keys)}" if keys else line

    def _line(self, keys: Keys) -> int:
        """Return the line of a value, else of the nearest enclosing value, else 1."""
        for length in range(len(keys), 0, -1):
            if keys[:length] in self._lines:
                return self._lines[keys[:length]]
        return 1

    @cached_property
    def _lines(self) -> dict[Keys, int]:
        return lines_of(self.text)

    def _describe(self, details: "ErrorDetails", model: type[BaseModel]) -> str:
        keys = tuple(details["loc"])
        kind = details["type"]
        if kind == "missing":
            return self.message(keys, "is missing")
        keys = self._known(keys)
        if kind == "extra_forbidden" and len(keys) == 1 and (now := getattr(model, "replaced", {}).get(keys[0])):
            return self.message(keys, f"is no longer a key; {now}")
        if kind == "extra_forbidden":
            return self.message(keys, "no such key" + nearest(str(keys[-1]), _fields_beside(model, keys)))
        return self.message(keys, validation_message(details))

    def _known(self, keys: Keys) -> Keys:
        """Return the part of pydantic's location that is in the file. pydantic also names the branches of unions."""
        value: Any = self.data
        for index, key in enumerate(keys):
            try:
                value = value[key]
            except (KeyError, IndexError, TypeError):
                return keys[:index]
        return keys


def dotted(keys: Iterable[str | int]) -> str:
    """Return the keys as text: ("axes", "filesystem", 0) -> "axes.filesystem[0]"."""
    text = ""
    for key in keys:
        if isinstance(key, int):
            text += f"[{key}]"
        else:
            part = shown(key) if re.fullmatch(r"[\w-]+", key) else f'"{shown(key)}"'
            text += f".{part}" if text else part
    return text


def nearest(word: str, valid: Iterable[str]) -> str:
    """Return the end of a message about an unknown word: the nearest valid words, else all of them. Sizes are sorted by
    size.
    """
    choices = list(by_size(sorted(set(valid))))
    if not choices:
        return ""
    close = difflib.get_close_matches(word, choices, n=3, cutoff=NEAR)
    close = close or [choice for choice in choices if len(word) > 2 and word in choice][:3]
    if close:
        return "; did you mean " + " or ".join(f'"{choice}"' for choice in close) + "?"
    return "; there are: " + ", ".join(choices)


def _deepest_line(text: str) -> int:
    """Return the line with the most open brackets or dots in a key. Brackets in strings count too: it is only for a
    message.
    """
    open_brackets, deepest, deepest_line = 0, -1, 1
    for number, line in enumerate(text.split("\n"), start=1):
        open_brackets = max(0, open_brackets + line.count("[") + line.count("{"))
        depth = max(open_brackets, line.partition("=")[0].count("."))
        if depth > deepest:
            deepest, deepest_line = depth, number
        open_brackets = max(0, open_brackets - line.count("]") - line.count("}"))
    return deepest_line


def _longest_number_line(text: str) -> int:
    lengths = [max(map(len, re.findall(r"[0-9_]+", line)), default=0) for line in text.split("\n")]
    return lengths.index(max(lengths)) + 1


def _syntax_message(path: Path, text: str, error: tomllib.TOMLDecodeError) -> str:
    reason = str(error)
    match = re.search(r"\(at line (\d+), column (\d+)\)$", reason)
    if match:
        reason = reason[: match.start()].strip()
        return f"{path}:{match[1]}: not valid TOML: {reason} (column {match[2]})"
    last, reason = text.count("\n") + 1, reason.removesuffix("(at end of document)").strip()
    return f"{path}:{last}: not valid TOML: {reason} (at the end of the file)"


def shown(value: object, most: int = 60) -> str:
    """Return a value for a message: on one line, cut after `most` characters."""
    text = foreign.plain(str(value).replace("\n", "\\n"))
    return text if len(text) <= most else f"{text[:most]}..."


def validation_message(details: "ErrorDetails") -> str:
    """Return pydantic's message in the terms of a TOML file."""
    kind, value = details["type"], details["input"]
    if kind == "value_error":
        return str(details["ctx"]["error"]).replace("\n", "\\n")
    message = (
        details["msg"]
        .replace("String should have", "must have")
        .replace("List should have", "must have")
        .replace(" after validation", "")
        .replace("Input should be", "must be")
        .replace("valid dictionary", "table")
    )
    message = message.replace("valid list", "list").replace("valid tuple", "list").replace("valid string", "string")
    message = message.replace("valid integer", "whole number").replace("valid boolean", "true or false")
    message = message.replace("a true or false", "true or false").replace("'", '"')
    message = message.replace("greater than or equal to", "at least").replace("less than or equal to", "at most")
    message = re.sub(r"must be a table or instance of \w+", "must be a table", message)
    shown_value = (
        f'"{shown(value)}"' if isinstance(value, str) else str(value).lower() if isinstance(value, bool) else value
    )
    return f"{message}, not {shown_value}" if isinstance(value, str | int | float) else message


def _fields_beside(model: type[BaseModel], keys: Sequence[str | int]) -> list[str]:
    """Return the keys that are valid in the table of an unknown key."""
    table: type[BaseModel] | None = model
    for key in keys[:-1]:
        if isinstance(key, str) and table is not None:
            field = table.model_fields.get(key) or _by_alias(table, key)
            table = _model_in(field.annotation) if field else _model_in(table)
    return [field.alias or name for name, field in table.model_fields.items()] if table else []


def _by_alias(model: type[BaseModel], key: str) -> Any:
    return next((field for field in model.model_fields.values() if field.alias == key), None)


def _model_in(annotation: Any) -> type[BaseModel] | None:
    """Return the model in an annotation such as `dict[str, Model]`, or in a union; None if there is none."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    for part in getattr(annotation, "__args__", ()):
        inner = _model_in(part)
        if inner:
            return inner
    return None


def _size_from_toml(value: Any) -> Any:
    return parse_size(value) if isinstance(value, str) else value


Size = Annotated[
    int,
    BeforeValidator(_size_from_toml),
    WithJsonSchema(
        {
            "anyOf": [
                {"type": "integer", "minimum": 0},
                {"type": "string", "pattern": r"^\d+\s*[kKmMgGtT]?(i?[bB])?$"},
            ],
            "description": 'bytes, or a size such as "16k" or "2G"',
        }
    ),
]
"""A pydantic field of bytes that also takes a size as text."""
