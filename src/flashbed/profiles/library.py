# SPDX-License-Identifier: Apache-2.0
"""Finds profiles by what a study writes: "usb-stick-2g", "fat16:cluster=16k", "mq-deadline:fifo_batch=1".

A profile's name is its file's name. Folders are searched in order, so that a user's own profiles win over those
shipped. Must not know what a profile means; a wrong word is told as LookupProblem, and the study says in which line.
"""

import os
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, TypeVar

from pydantic import ValidationError

from flashbed.common import own_file, paths
from flashbed.common.errors import InputError
from flashbed.common.tomlfile import LARGEST, TomlFile, nearest, plain, shown
from flashbed.profiles.filesystem import FileSystem, ResolvedFileSystem
from flashbed.profiles.profile import Board, Medium, Profile, Scheduler
from flashbed.profiles.stored_medium import locate
from flashbed.profiles.translation import Translation

Kind = Literal["board", "medium", "filesystem", "scheduler", "translation"]

FOLDERS: dict[Kind, str] = {
    "board": "boards",
    "medium": "media",
    "filesystem": "filesystems",
    "scheduler": "schedulers",
    "translation": "translations",
}
_MODELS: dict[Kind, type[Profile]] = {
    "board": Board,
    "medium": Medium,
    "filesystem": FileSystem,
    "scheduler": Scheduler,
    "translation": Translation,
}
_TITLES: dict[Kind, str] = {
    "board": "board",
    "medium": "medium",
    "filesystem": "file system",
    "scheduler": "scheduler",
    "translation": "translation",
}
_SELECTOR = re.compile(r"([A-Za-z0-9_.+-]+)(?::(.+))?")
FROM = "from"
"""The option of a medium that names where cells start from."""

_NOT_SETTINGS = {"title", "source", "kind", "name", "module", "module_source", "tunables"}

P = TypeVar("P", bound=Profile)
T = TypeVar("T")


class LookupProblem(ValueError):
    """A selector that names nothing, or an option that does not exist or fit; the message is for the user."""


@dataclass(frozen=True)
class Selector:
    """A profile's name and the options chosen, in the order written."""

    name: str
    options: dict[str, str] = field(default_factory=dict)

    @classmethod
    def parse(cls, text: str) -> "Selector":
        """Reads "name" or "name:key=value,flag". Raises LookupProblem."""
        match = _SELECTOR.fullmatch(text)
        if match is None:
            raise LookupProblem(f'"{shown(text)}" is not a profile; write "name" or "name:option=value,option=value"')
        options: dict[str, str] = {}
        for part in (match[2] or "").split(",") if match[2] else []:
            key, equals, value = (piece.strip() for piece in part.partition("="))
            if not key or (equals and not value):
                raise LookupProblem(f'"{text}": "{part}" is not an option; write option=value')
            if key in options:
                raise LookupProblem(f'"{text}" sets "{key}" twice')
            options[key] = value if equals else "on"
        return cls(match[1], options)


class Library:
    """Profiles in a row of folders, the first that has a name wins; each file is read once."""

    def __init__(self, folders: tuple[Path, ...], base: Path | None = None) -> None:
        """`base` is where relative paths in selectors start; the present folder, if it is not given."""
        self.folders = folders
        self._base = base or Path()
        self._profiles: dict[tuple[Kind, str], tuple[TomlFile, Profile]] = {}
        self._resolved: dict[tuple[Kind, str], Any] = {}

    @classmethod
    def beside(cls, study: Path) -> "Library":
        """profiles/ beside a study's file first, then those shipped."""
        own = study.parent / "profiles"
        shipped = paths.profiles()
        same = os.path.realpath(own) == os.path.realpath(shipped)  # Path.resolve() raises for links in a circle
        return cls((shipped,) if same else (own, shipped), study.parent)

    def names(self, kind: Kind) -> list[str]:
        """The names of all profiles of a kind."""
        found = {file.stem for folder in self.folders for file in (folder / FOLDERS[kind]).glob("*.toml")}
        return sorted(found)

    def title(self, kind: Kind, name: str) -> str:
        """What a profile says of itself in a line."""
        return self._load(kind, name)[1].title

    def board(self, text: str) -> Board:
        """Raises LookupProblem for the selector, InputError for the profile's own file."""
        return self._once("board", text, lambda: self._adjusted("board", Selector.parse(text), Board))

    def file(self, kind: Kind, name: str) -> TomlFile:
        """The file of a profile, for messages about it. Raises LookupProblem if there is none."""
        return self._load(kind, name)[0]

    def texts(self, selectors: Mapping[str, Iterable[str]]) -> dict[str, str]:
        """Return the text of each profile's file that `selectors` name, by "kind name"; each kind has its selectors,
        and what is no kind of profile is left out. Raises LookupProblem, InputError.
        """
        named = [(kind, Selector.parse(text).name) for kind in FOLDERS for text in selectors.get(kind, ())]
        return {f"{kind} {name}": self.file(kind, name).text for kind, name in named}

    def medium(self, text: str) -> Medium:
        """Raises LookupProblem for the selector, InputError for the profile's own file."""
        return self._once("medium", text, lambda: self._medium(text))

    def filesystem(self, text: str) -> ResolvedFileSystem:
        """Raises LookupProblem for the selector, InputError for the profile's own file."""
        return self._once("filesystem", text, lambda: self._filesystem(text))

    def scheduler(self, text: str) -> Scheduler:
        """Raises LookupProblem for the selector, InputError for the profile's own file."""
        return self._once("scheduler", text, lambda: self._scheduler(text))

    def translation(self, text: str) -> Translation:
        """Raises LookupProblem for the selector, InputError for the profile's own file."""
        return self._once("translation", text, lambda: self._translation(text))

    def _once(self, kind: Kind, text: str, resolve: Callable[[], T]) -> T:
        """A study of thousands of cells has few selectors."""
        if (kind, text) not in self._resolved:
            self._resolved[kind, text] = resolve()
        resolved: T = self._resolved[kind, text]
        return resolved

    def _medium(self, text: str) -> Medium:
        """ "stick:from=PATH" starts cells from a copy of a medium that is kept."""
        selector = Selector.parse(text)
        stored = selector.options.pop(FROM, None)
        medium = self._adjusted("medium", selector, Medium)
        if stored is None:
            return medium
        if medium.condition != "fresh":
            raise LookupProblem(f'"{selector.name}": {FROM} names a medium in a condition of its own; leave one out')
        try:
            return medium.starting_from(locate(stored, self._base))
        except InputError as error:
            raise LookupProblem(f'"{selector.name}": {FROM}: {error.message}') from None

    def _filesystem(self, text: str) -> ResolvedFileSystem:
        selector = Selector.parse(text)
        file, profile = self._load("filesystem", selector.name)
        assert isinstance(profile, FileSystem)
        try:
            resolved = profile.resolve(selector.options)
        except ValueError as error:
            raise LookupProblem(f'"{selector.name}": {error}') from None
        return replace(resolved, module_source=_module_source(file, profile.module_source))

    def _scheduler(self, text: str) -> Scheduler:
        selector = Selector.parse(text)
        file, profile = self._load("scheduler", selector.name)
        assert isinstance(profile, Scheduler)
        options = dict(selector.options)
        depth = {name: _number(options.pop(name)) for name in ("nr_requests",) if name in options}
        tunables = _changed(selector.name, "tunable", profile.tunables, options, ("nr_requests",))
        source = _module_source(file, profile.module_source)
        own = {} if source is None else {"module_source": str(source)}
        return _again(selector.name, file, Scheduler, {"tunables": tunables, **depth, **own})

    def _translation(self, text: str) -> Translation:
        selector = Selector.parse(text)
        file, profile = self._load("translation", selector.name)
        assert isinstance(profile, Translation)
        parameters = _changed(selector.name, "parameter", profile.parameters, selector.options)
        return _again(selector.name, file, Translation, {"parameters": parameters})

    def _adjusted(self, kind: Kind, selector: Selector, model: type[P]) -> P:
        """A board or a medium, with some of its numbers as the study wants them."""
        file, profile = self._load(kind, selector.name)
        known = set(model.model_fields) | set(profile.numbers())
        for name in selector.options:
            if now := model.replaced.get(name):
                raise LookupProblem(f'"{selector.name}": {name} is no setting any more; {now}')
            if name not in known - _NOT_SETTINGS:
                raise LookupProblem(f'"{selector.name}": no setting "{name}"{nearest(name, known - _NOT_SETTINGS)}')
        return _again(selector.name, file, model, {key: _number(value) for key, value in selector.options.items()})

    def _load(self, kind: Kind, name: str) -> tuple[TomlFile, Profile]:
        if (kind, name) not in self._profiles:
            file = TomlFile.read(self._find(kind, name))
            self._profiles[kind, name] = (file, file.validate(_MODELS[kind]))
        return self._profiles[kind, name]

    def _find(self, kind: Kind, name: str) -> Path:
        for folder in self.folders:
            path = folder / FOLDERS[kind] / f"{name}.toml"
            if own_file.is_there(path):
                return path  # where it is no file, or a link in a circle, reading it says so
        searched = ", ".join(str(folder / FOLDERS[kind]) for folder in self.folders)
        raise LookupProblem(
            f'no {_TITLES[kind]} "{shown(name)}"{nearest(name, self.names(kind))} (searched in {searched})'
        )


def profile_schema(kind: Kind) -> dict[str, Any]:
    """The JSON schema of a kind of profile, for editors."""
    schema = _MODELS[kind].model_json_schema()
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema, "title": f"flashbed {_TITLES[kind]}"}


def _module_source(file: TomlFile, said: str | None) -> Path | None:
    """The folder of a module's source that a profile names, seen from where the folder profiles/ lies. Raises
    InputError.
    """
    if said is None:
        return None
    folder = Path(os.path.abspath(file.path)).parents[2] / said  # noqa: PTH100 (a link stays the name that was given)
    if not folder.is_dir():
        raise file.error(("module_source",), f"{shown(folder, 300)} is no folder")
    return folder


def _changed(
    name: str, word: str, table: Mapping[str, int], options: Mapping[str, str], others: tuple[str, ...] = ()
) -> dict[str, int | str]:
    """A profile's table with some of its numbers as the study wants them. Raises LookupProblem."""
    for option in options:
        if option not in table:
            raise LookupProblem(f'"{name}": no {word} "{option}"{nearest(option, [*table, *others])}')
    return {**table, **{option: _number(value) for option, value in options.items()}}


def _number(text: str) -> int | str:
    """A whole number of up to 64 bits; any other text as it is, for the model to refuse."""
    return int(text) if re.fullmatch(r"-?[0-9]{1,19}", text) and abs(int(text)) <= LARGEST else text


def _again(name: str, file: TomlFile, model: type[P], changed: dict[str, Any]) -> P:
    """The profile with changed values, checked as if the file said so; the study is their source."""
    source = {key: "the study" for key in changed if key in model.model_fields} | file.data.get("source", {})
    try:
        profile = model.model_validate(file.data | changed | ({"source": source} if source else {}))
    except ValidationError as error:
        details = error.errors()[0]
        raise LookupProblem(f'"{name}": {".".join(map(str, details["loc"]))} {plain(details)}') from None
    for problem in getattr(profile, "problems", tuple)():
        raise LookupProblem(f'"{name}": {".".join(map(str, problem.keys))} {problem.text}')
    return profile
