# SPDX-License-Identifier: Apache-2.0
"""Reads a TOML file, and turns what is wrong in it into one message: file, line, key, and the nearest valid key.

Lines come from a second, positional parse (toml_lines.py) that is made only when there is an error to tell. Must not
know what the files mean: the models bring the rules.
"""

import difflib
import re
import tomllib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from pydantic import BaseModel, ValidationError

from flashbed.common import foreign_text, own_file
from flashbed.common.errors import InputError, several
from flashbed.common.toml_lines import Keys, lines_of
from flashbed.common.units import by_size

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails


Model = TypeVar("Model", bound=BaseModel)

DEEPEST = 16
"""Tables and lists within each other; what the lab reads has four."""

NEAR = 0.65
"""How alike a word is that may have been meant, by difflib's ratio: with one letter of three changed it may be (rom and
ram, 0.67), with two of five it is another word (btrfs and ubifs, 0.6).
"""

LARGEST = 2**63 - 1
"""TOML's whole numbers have 64 bits; the parser takes any."""

_TOO_DEEP = f"tables or lists lie more than {DEEPEST} deep within each other; nothing here needs that"

_TOO_LARGE = f"is too large: a whole number goes from {-LARGEST - 1} to {LARGEST}"


@dataclass(frozen=True)
class Problem:
    """What is wrong at a place in a file; a model's `problems()` yields these after its fields are valid."""

    keys: Keys
    text: str


@dataclass(frozen=True)
class TomlFile:
    """A TOML file that was read: its data, and messages about them."""

    path: Path
    text: str
    data: dict[str, Any]

    @classmethod
    def read(cls, path: Path) -> "TomlFile":
        """Raises InputError: no such file, not UTF-8, or a syntax error with its line."""
        try:
            text = own_file.read(path).decode("utf-8-sig")
        except FileNotFoundError:
            why = "is a link to a file that is not there" if path.is_symlink() else "no such file"
            raise InputError(f"{path}: {why}") from None
        except IsADirectoryError:
            raise InputError(f"{path}: is a folder; name the TOML file in it") from None
        except UnicodeDecodeError as error:
            line = error.object[: error.start].count(b"\n") + 1
            raise InputError(f"{path}:{line}: not a UTF-8 text (byte {error.start}); save it as UTF-8") from None
        except OSError as error:
            raise InputError(f"{path}: cannot be read: {error.strerror}") from None
        try:
            file = cls(path, text, tomllib.loads(text))
        except tomllib.TOMLDecodeError as error:
            raise InputError(_syntax_message(path, text, error)) from None
        except RecursionError:
            raise InputError(f"{path}:{_deepest_line(text)}: {_TOO_DEEP}") from None
        except ValueError:  # Python's limit on the digits of a number
            raise InputError(f"{path}:{_longest_number_line(text)}: {_TOO_LARGE}") from None
        file._check_values()
        return file

    def _check_values(self) -> None:
        """TOML's own bounds, which the parser does not keep. Raises InputError."""
        left: list[tuple[Keys, Any]] = [((), self.data)]
        while left:
            keys, value = left.pop()
            if len(keys) > DEEPEST:
                raise InputError(f"{self.path}:{_deepest_line(self.text)}: {dotted(keys[:3])}...: {_TOO_DEEP}")
            if isinstance(value, dict):
                left += [((*keys, key), inner) for key, inner in value.items()]
            elif isinstance(value, list):
                left += [((*keys, index), inner) for index, inner in enumerate(value)]
            elif type(value) is int and not -LARGEST - 1 <= value <= LARGEST:
                raise self.error(keys, _TOO_LARGE)

    def validate(self, model: type[Model]) -> Model:
        """The file as `model`, its `problems()` (if it has any) looked at too. Raises InputError."""
        try:
            valid = model.model_validate(self.data)
        except ValidationError as error:
            lines = [self._describe(details, model) for details in error.errors()]
            raise InputError(several(lines)) from None
        problems = list(getattr(valid, "problems", tuple)())
        if problems:
            raise InputError(several(map(self.told, problems)))
        return valid

    def error(self, keys: Keys, text: str) -> InputError:
        """The error to raise for a value of this file."""
        return InputError(self.message(keys, text))

    def told(self, problem: Problem) -> str:
        """The message of a problem, on one line: it may quote what the file says."""
        return self.message(problem.keys, problem.text.replace("\n", "\\n"))

    def message(self, keys: Keys, text: str) -> str:
        """ "studies/quick.toml:12: axes.filesystem[0]: text" """
        where = f"{self.path}:{self._line(keys)}"
        return f"{where}: {dotted(keys)}: {text}" if keys else f"{where}: {text}"

    def _line(self, keys: Keys) -> int:
        """The line of a value, or of the nearest thing around it, at last the first line."""
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
            return self.message(keys, f"is no key any more; {now}")
        if kind == "extra_forbidden":
            return self.message(keys, "no such key" + nearest(str(keys[-1]), _fields_beside(model, keys)))
        return self.message(keys, plain(details))

    def _known(self, keys: Keys) -> Keys:
        """The part of pydantic's location that is in the file: it also names the branches of unions."""
        value: Any = self.data
        for index, key in enumerate(keys):
            try:
                value = value[key]
            except (KeyError, IndexError, TypeError):
                return keys[:index]
        return keys


def dotted(keys: Iterable[str | int]) -> str:
    """("axes", "filesystem", 0) -> "axes.filesystem[0]"."""
    text = ""
    for key in keys:
        if isinstance(key, int):
            text += f"[{key}]"
        else:
            told = shown(key) if re.fullmatch(r"[\w-]+", key) else f'"{shown(key)}"'
            text += f".{told}" if text else told
    return text


def nearest(word: str, valid: Iterable[str]) -> str:
    """The end of a message about an unknown word: the nearest valid one, else all of them, sizes by size."""
    choices = list(by_size(sorted(set(valid))))
    if not choices:
        return ""
    close = difflib.get_close_matches(word, choices, n=3, cutoff=NEAR)
    close = close or [choice for choice in choices if len(word) > 2 and word in choice][:3]
    if close:
        return "; did you mean " + " or ".join(f'"{choice}"' for choice in close) + "?"
    return "; there are: " + ", ".join(choices)


def _deepest_line(text: str) -> int:
    """The line in which most brackets are open or most keys are joined, strings not told apart: for a message only."""
    open_brackets, deepest, found = 0, -1, 1
    for number, line in enumerate(text.split("\n"), start=1):
        open_brackets = max(0, open_brackets + line.count("[") + line.count("{"))
        depth = max(open_brackets, line.partition("=")[0].count("."))
        if depth > deepest:
            deepest, found = depth, number
        open_brackets = max(0, open_brackets - line.count("]") - line.count("}"))
    return found


def _longest_number_line(text: str) -> int:
    lengths = [max(map(len, re.findall(r"[0-9_]+", line)), default=0) for line in text.split("\n")]
    return lengths.index(max(lengths)) + 1


def _syntax_message(path: Path, text: str, error: tomllib.TOMLDecodeError) -> str:
    said = str(error)
    match = re.search(r"\(at line (\d+), column (\d+)\)$", said)
    if match:
        said = said[: match.start()].strip()
        return f"{path}:{match[1]}: not valid TOML: {said} (column {match[2]})"
    last, said = text.count("\n") + 1, said.removesuffix("(at end of document)").strip()
    return f"{path}:{last}: not valid TOML: {said} (at the end of the file)"


def shown(value: object, most: int = 60) -> str:
    """A value for a message, in one line, cut where it is long."""
    text = foreign_text.plain(str(value).replace("\n", "\\n"))
    return text if len(text) <= most else f"{text[:most]}..."


def plain(details: "ErrorDetails") -> str:
    """pydantic's message in the words of a TOML file."""
    kind, value = details["type"], details["input"]
    if kind == "value_error":
        return str(details["ctx"]["error"]).replace("\n", "\\n")
    said = (
        details["msg"]
        .replace("String should have", "must have")
        .replace("List should have", "must have")
        .replace(" after validation", "")
        .replace("Input should be", "must be")
        .replace("valid dictionary", "table")
    )
    said = said.replace("valid list", "list").replace("valid tuple", "list").replace("valid string", "string")
    said = said.replace("valid integer", "whole number").replace("valid boolean", "true or false")
    said = said.replace("a true or false", "true or false").replace("'", '"')
    said = said.replace("greater than or equal to", "at least").replace("less than or equal to", "at most")
    said = re.sub(r"must be a table or instance of \w+", "must be a table", said)
    told = f'"{shown(value)}"' if isinstance(value, str) else str(value).lower() if isinstance(value, bool) else value
    return f"{said}, not {told}" if isinstance(value, str | int | float) else said


def _fields_beside(model: type[BaseModel], keys: Sequence[str | int]) -> list[str]:
    """The keys that are valid where an unknown key stands."""
    here: type[BaseModel] | None = model
    for key in keys[:-1]:
        if isinstance(key, str) and here is not None:
            field = here.model_fields.get(key) or _by_alias(here, key)
            here = _model_in(field.annotation) if field else _model_in(here)
    return [field.alias or name for name, field in here.model_fields.items()] if here else []


def _by_alias(model: type[BaseModel], key: str) -> Any:
    return next((field for field in model.model_fields.values() if field.alias == key), None)


def _model_in(annotation: Any) -> type[BaseModel] | None:
    """The model in an annotation such as `Model | None` or `dict[str, Model]`; the same model for itself."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    for part in getattr(annotation, "__args__", ()):
        found = _model_in(part)
        if found:
            return found
    return None
