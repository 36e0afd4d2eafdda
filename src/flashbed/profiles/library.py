# SPDX-License-Identifier: Apache-2.0
"""Find profiles by their selector in a study: "usb-stick-2g", "fat16:cluster=16k", "mq-deadline:fifo_batch=1".

A profile is named after its file. Directories are searched in order, so a user's own profiles come before those of the
lab. Must not know what a profile means. An unknown name raises LookupProblem, and the study adds the line.
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
from flashbed.common.tomlfile import TomlFile, nearest, shown, validation_message
from flashbed.common.units import LARGEST_INT64
from flashbed.profiles.condition import NEVER_WRITTEN
from flashbed.profiles.filesystem import FileSystem, ResolvedFileSystem
from flashbed.profiles.profile import Board, Medium, Profile, Scheduler, Translation
from flashbed.profiles.stored_medium import locate

ProfileKind = Literal["board", "medium", "filesystem", "scheduler", "translation"]

FOLDERS: dict[ProfileKind, str] = {
    "board": "boards",
    "medium": "media",
    "filesystem": "filesystems",
    "scheduler": "schedulers",
    "translation": "translations",
}
_MODELS: dict[ProfileKind, type[Profile]] = {
    "board": Board,
    "medium": Medium,
    "filesystem": FileSystem,
    "scheduler": Scheduler,
    "translation": Translation,
}
_TITLES: dict[ProfileKind, str] = {
    "board": "board",
    "medium": "medium",
    "filesystem": "file system",
    "scheduler": "scheduler",
    "translation": "translation",
}
_SELECTOR = re.compile(r"([A-Za-z0-9_.+-]+)(?::(.+))?")
FROM = "from"
"""The option of a medium that names the kept medium from which cells start."""

_NOT_SETTINGS = {"title", "source", "kind", "name", "module", "module_source", "tunables"}

P = TypeVar("P", bound=Profile)
T = TypeVar("T")


class LookupProblem(ValueError):
    """A selector of no profile, or an option that does not exist or fit. The message is for the user."""


@dataclass(frozen=True)
class Selector:
    """The name of a profile and the chosen options, in the order written."""

    name: str
    options: dict[str, str] = field(default_factory=dict)

    @classmethod
    def parse(cls, text: str) -> "Selector":
        """Parse "name" or "name:key=value,flag". Raises LookupProblem."""
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

    @staticmethod
    def name_of(text: str) -> str:
        """Return the name in a selector that may be wrong, or the text itself if it has no options."""
        return text.partition(":")[0]

    @staticmethod
    def options_of(text: str) -> list[str]:
        """Return the options in a selector as they are written: "cluster=16k", "nojournal"."""
        return [option.strip() for option in text.partition(":")[2].split(",") if option.strip()]


class Library:
    """Profiles in a list of directories. The first directory with a name wins. Each file is read once."""

    def __init__(self, folders: tuple[Path, ...], base: Path | None = None) -> None:
        """Make a library of `folders`. Relative paths in selectors start at `base`, by default the working
        directory.
        """
        self.folders = folders
        self._base = base or Path()
        self._profiles: dict[tuple[ProfileKind, str], tuple[TomlFile, Profile]] = {}
        self._resolved: dict[tuple[ProfileKind, str], Any] = {}

    @classmethod
    def beside(cls, study: Path) -> "Library":
        """Return the library of a study: first profiles/ beside its file, then the lab's."""
        own = study.parent / "profiles"
        shipped = paths.profiles()
        same = os.path.realpath(own) == os.path.realpath(shipped)  # Path.resolve() raises for a circular link
        return cls((shipped,) if same else (own, shipped), study.parent)

    def names(self, kind: ProfileKind) -> list[str]:
        """Return the names of all profiles of a kind."""
        stems = {file.stem for folder in self.folders for file in (folder / FOLDERS[kind]).glob("*.toml")}
        return sorted(stems)

    def title(self, kind: ProfileKind, name: str) -> str:
        """Return the title of a profile."""
        return self._load(kind, name)[1].title

    def board(self, text: str) -> Board:
        """Return a board. Raises LookupProblem for the selector, InputError for the profile's file."""
        return self._once("board", text, lambda: self._adjusted("board", Selector.parse(text), Board))

    def file(self, kind: ProfileKind, name: str) -> TomlFile:
        """Return a profile's file, for messages about it. Raises LookupProblem if there is none."""
        return self._load(kind, name)[0]

    def texts(self, selectors: Mapping[str, Iterable[str]]) -> dict[str, str]:
        """Return the text of each profile's file that `selectors` names, by "kind name". `selectors` maps a kind to
        selectors; keys that are no kind of profile are skipped. Raises LookupProblem, InputError.
        """
        named = [(kind, Selector.parse(text).name) for kind in FOLDERS for text in selectors.get(kind, ())]
        return {f"{kind} {name}": self.file(kind, name).text for kind, name in named}

    def medium(self, text: str) -> Medium:
        """Return a medium. Raises LookupProblem for the selector, InputError for the profile's file."""
        return self._once("medium", text, lambda: self._medium(text))

    def filesystem(self, text: str) -> ResolvedFileSystem:
        """Return a file system. Raises LookupProblem for the selector, InputError for the profile's file."""
        return self._once("filesystem", text, lambda: self._filesystem(text))

    def scheduler(self, text: str) -> Scheduler:
        """Return a scheduler. Raises LookupProblem for the selector, InputError for the profile's file."""
        return self._once("scheduler", text, lambda: self._scheduler(text))

    def translation(self, text: str) -> Translation:
        """Return a translation. Raises LookupProblem for the selector, InputError for the profile's file."""
        return self._once("translation", text, lambda: self._translation(text))

    def _once(self, kind: ProfileKind, text: str, resolve: Callable[[], T]) -> T:
        """Resolve a selector once. A study of thousands of cells has few selectors."""
        if (kind, text) not in self._resolved:
            self._resolved[kind, text] = resolve()
        resolved: T = self._resolved[kind, text]
        return resolved

    def _medium(self, text: str) -> Medium:
        """Return a medium. With "stick:from=PATH", cells start from a copy of a kept medium."""
        selector = Selector.parse(text)
        stored = selector.options.pop(FROM, None)
        medium = self._adjusted("medium", selector, Medium)
        if stored is None:
            return medium
        if medium.condition != NEVER_WRITTEN:
            raise LookupProblem(
                f'"{selector.name}": {FROM} names a kept medium, which has its own condition; leave out one of the two'
            )
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

    def _adjusted(self, kind: ProfileKind, selector: Selector, model: type[P]) -> P:
        """Return a board or a medium with the numbers that the study changes."""
        file, profile = self._load(kind, selector.name)
        known = set(model.model_fields) | set(profile.numbers())
        for name in selector.options:
            if now := model.replaced.get(name):
                raise LookupProblem(f'"{selector.name}": {name} is no longer a setting; {now}')
            if name not in known - _NOT_SETTINGS:
                raise LookupProblem(f'"{selector.name}": no setting "{name}"{nearest(name, known - _NOT_SETTINGS)}')
        return _again(selector.name, file, model, {key: _number(value) for key, value in selector.options.items()})

    def _load(self, kind: ProfileKind, name: str) -> tuple[TomlFile, Profile]:
        if (kind, name) not in self._profiles:
            file = TomlFile.read(self._find(kind, name))
            self._profiles[kind, name] = (file, file.validate(_MODELS[kind]))
        return self._profiles[kind, name]

    def _find(self, kind: ProfileKind, name: str) -> Path:
        for folder in self.folders:
            path = folder / FOLDERS[kind] / f"{name}.toml"
            if own_file.is_there(path):
                return path  # reading it reports a missing file or a circular link
        searched = ", ".join(str(folder / FOLDERS[kind]) for folder in self.folders)
        raise LookupProblem(
            f'no {_TITLES[kind]} "{shown(name)}"{nearest(name, self.names(kind))} (searched in {searched})'
        )


def profile_schema(kind: ProfileKind) -> dict[str, Any]:
    """Return the JSON schema of a kind of profile, for editors."""
    schema = _MODELS[kind].model_json_schema()
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema, "title": f"flashbed {_TITLES[kind]}"}


def _module_source(file: TomlFile, directory: str | None) -> Path | None:
    """Return the directory of a module's source, relative to the parent of profiles/. Raises InputError."""
    if directory is None:
        return None
    folder = Path(os.path.abspath(file.path)).parents[2] / directory  # noqa: PTH100 (a link stays the name that was given)
    if not folder.is_dir():
        raise file.error(("module_source",), f"{shown(folder, 300)} is no folder")
    return folder


def _changed(
    name: str, word: str, table: Mapping[str, int], options: Mapping[str, str], others: tuple[str, ...] = ()
) -> dict[str, int | str]:
    """Return a profile's table with the numbers that the study changes. Raises LookupProblem."""
    for option in options:
        if option not in table:
            raise LookupProblem(f'"{name}": no {word} "{option}"{nearest(option, [*table, *others])}')
    return {**table, **{option: _number(value) for option, value in options.items()}}


def _number(text: str) -> int | str:
    """Return a number of up to 64 bits; return other text unchanged, and the model refuses it."""
    return int(text) if re.fullmatch(r"-?[0-9]{1,19}", text) and abs(int(text)) <= LARGEST_INT64 else text


def _again(name: str, file: TomlFile, model: type[P], changed: dict[str, Any]) -> P:
    """Return the profile with changed values, validated like a file. The study is the source of these values."""
    source = {key: "the study" for key in changed if key in model.model_fields} | file.data.get("source", {})
    try:
        profile = model.model_validate(file.data | changed | ({"source": source} if source else {}))
    except ValidationError as error:
        details = error.errors()[0]
        raise LookupProblem(f'"{name}": {".".join(map(str, details["loc"]))} {validation_message(details)}') from None
    for problem in getattr(profile, "problems", tuple)():
        raise LookupProblem(f'"{name}": {".".join(map(str, problem.keys))} {problem.text}')
    return profile
