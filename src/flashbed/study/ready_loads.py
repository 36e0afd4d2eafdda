# SPDX-License-Identifier: Apache-2.0
"""Read a ready-made load: commands for `tool = "program"` with parameters, in a directory with the files that they use.

A study names it (`load = "sqlite"`) and chooses values of its parameters, fixed or as axes. The rest of the house sees
a study with these commands. Must not know how a program runs.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from flashbed.common import own_file, paths
from flashbed.common.tomlfile import Keys, Problem, TomlFile, nearest, shown
from flashbed.study.format import LOAD_KEY, StudyFile, as_written
from flashbed.workload import WORKLOADS
from flashbed.workload.program import COMMAND_PARAMETERS, placeholders, prefilled

LOAD_TOML = "load.toml"
"""The file of a load's directory."""

TOOL = "program"

Text = Annotated[str, BeforeValidator(as_written)]


class LoadParameter(BaseModel):
    """A parameter of a load. Its name stands in the commands, in braces."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    default: Text = Field(description="the value if the study names none")
    meaning: str = Field(min_length=1, description="what it is, for people")
    values: list[Text] = Field(default_factory=list, description="the values that there are; empty: any")


class LoadFile(BaseModel):
    """The file load.toml of a load."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    title: str = Field(min_length=1, description="what it does, for people")
    version: int = Field(ge=1, description="raised when the load does something else")
    source: str = Field(min_length=1, description="whose code makes the requests, and where the load comes from")
    packages: list[str] = Field(default_factory=list, description="as in [workload]")
    files: list[str] = Field(default_factory=list, description="as in [workload], relative to this file")
    loads: list[str] = Field(default_factory=list, description="shipped loads that commands use, in /app/NAME")
    prepare: str = ""
    warm: str = ""
    command: str = Field(min_length=1)
    check: str = ""
    parameters: dict[str, LoadParameter] = Field(default_factory=dict)

    def problems(self) -> Iterator[Problem]:
        """Yield a problem for each parameter that is in no command, and for each placeholder without a parameter."""
        used = {name for key in COMMAND_PARAMETERS for name in placeholders(getattr(self, key))}
        for name, parameter in self.parameters.items():
            at = ("parameters", name)
            if name not in used:
                yield Problem(at, f"is in no command, as {{{name}}}{nearest(name, used)}")
            if parameter.values and parameter.default not in parameter.values:
                yield Problem((*at, "default"), f"is none of its values: {', '.join(parameter.values)}")
        for index, name in enumerate(self.loads):
            if not own_file.is_file(paths.loads() / name / LOAD_TOML):
                yield Problem(("loads", index), f'no shipped load "{shown(name)}"')
        for name in sorted(used - set(self.parameters)):
            yield Problem((), f"a command has {{{name}}}, which is no parameter{nearest(name, self.parameters)}")


@dataclass(frozen=True)
class ReadyLoad:
    """A load and its directory."""

    folder: Path
    content: LoadFile

    def in_study(self, study: StudyFile) -> StudyFile:
        """Return the study with the load's commands and packages in place of its name. Keys of the study count before
        the load's. A parameter on an axis stays a placeholder; for any other the study's value is filled in, or the
        default.
        """
        own = {name: value for name, value in study.workload.items() if name != LOAD_KEY}
        names = self.content.parameters
        texts = {name: as_written(own.pop(name, names[name].default)) for name in names if name not in study.axes}
        commands = {key: prefilled(getattr(self.content, key), texts) for key in COMMAND_PARAMETERS}
        given = {key: text for key, text in commands.items() if text and key not in study.axes}
        packages = tuple(dict.fromkeys((*self.content.packages, *_names(own.pop("packages", ())))))
        more = {"packages": packages} if packages else {}
        return study.model_copy(update={"workload": {"tool": TOOL, **given, **more, **own}})

    def problems(self, study: StudyFile) -> Iterator[Problem]:
        """Yield a problem for each value of a parameter that the load does not have."""
        if study.workload.get("tool", TOOL) != TOOL:
            yield Problem(("workload", "tool"), f'a load is for tool = "{TOOL}"; leave it out')
        for name, parameter in self.content.parameters.items():
            given: dict[Keys, object] = {
                ("axes", name, index): value for index, value in enumerate(study.axes.get(name, ()))
            }
            given |= {("workload", name): as_written(study.workload[name])} if name in study.workload else {}
            for at, value in given.items() if parameter.values else ():
                if value not in parameter.values:
                    yield Problem(at, f'"{shown(value)}" is none of {", ".join(parameter.values)}')


def _names(value: object) -> tuple[str, ...]:
    return (value,) if isinstance(value, str) else tuple(value) if isinstance(value, tuple) else ()


def shipped_loads() -> Mapping[str, LoadFile]:
    """Return the loads that flashbed ships, by name."""
    return {
        file.parent.name: TomlFile.read(file).validate(LoadFile)
        for file in sorted(paths.loads().glob(f"*/{LOAD_TOML}"))
    }


def read_load(folder: Path, study: StudyFile) -> ReadyLoad | Problem | None:
    """Return the load that a study in `folder` names, or why there is none; None if it names none. Raises InputError
    for an error in the load's file.
    """
    tool = str(study.workload.get("tool", ""))
    is_of_tool = tool in WORKLOADS and LOAD_KEY in WORKLOADS[tool].parameters.model_fields
    if LOAD_KEY not in study.workload or is_of_tool:
        return None
    name = str(study.workload[LOAD_KEY])
    place = folder / name if "/" in name else paths.loads() / name
    if not own_file.is_file(place / LOAD_TOML):
        shipped = sorted(file.parent.name for file in paths.loads().glob(f"*/{LOAD_TOML}"))
        choices = (
            f"; there are: {', '.join(shipped)}, and a directory of yours with {LOAD_TOML}, such as ./{shown(name)}"
        )
        return Problem(("workload", LOAD_KEY), f'no load "{shown(name)}"{nearest(name, shipped)}{choices}')
    return ReadyLoad(place, TomlFile.read(place / LOAD_TOML).validate(LoadFile))
