# SPDX-License-Identifier: Apache-2.0
"""The parameters of a medium: what there are, and whether a study's media have the right ones.

The media core names them, with range and meaning, in one place (media/include/fb_params.h) and fbmedia tells; here is
only how a person reads of them. What is wrong is told with the file and the line that says it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from flashbed.common.errors import InputError, several
from flashbed.common.toml_lines import Keys
from flashbed.common.tomlfile import TomlFile, nearest
from flashbed.image.hosttools import MediaTool
from flashbed.profiles.library import Library, Selector, profile_schema
from flashbed.profiles.over_provisioning import flash_of
from flashbed.profiles.profile import Medium
from flashbed.study.loading import Study

UNITS = {
    "_ps_per_byte": "ps a byte",
    "_bytes": "bytes",
    "_ns": "ns",
    "_ppb": "1e-9",
    "_ppt": "1e-12",
    "_percent": "%",
    "_pages": "pages",
    "_blocks": "blocks",
    "_erases": "erases",
    "_bits": "bits",
    "rpm": "turns a minute",
}
"""The unit in which a parameter's name ends; any other is a number of what its name says."""


def unit(name: str) -> str:
    """The unit of a parameter, or nothing where its name says what it counts."""
    return next((words for ending, words in UNITS.items() if name.endswith(ending)), "")


def lines(
    parameters: Sequence[Mapping[str, Any]], kind: str | None = None, values: Mapping[str, Any] | None = None
) -> Iterator[str]:
    """Two lines a parameter, for a person: its range, unit, value if absent and kinds of media; its meaning. Only those
    of media of `kind`, if it is given. With the `values` of a medium, what it has stands first. Raises InputError for
    no kind.
    """
    kinds = kinds_of(parameters)
    if kind is not None and kind not in kinds:
        raise InputError(f'no kind of medium "{kind}"{nearest(kind, kinds)}')
    for parameter in parameters:
        if kind is None or kind in parameter["kinds"]:
            name, default = parameter["name"], parameter["default"]
            absent = "must be there" if default is None else f"if absent {default}"
            what = " ".join((_range(parameter), unit(name))).strip()
            has = "" if values is None else f" = {values.get(name, default)}"
            yield f"{name}{has}: {what}; {absent} ({', '.join(parameter['kinds'])})"
            yield f"    {parameter['meaning']}"


def kinds_of(parameters: Sequence[Mapping[str, Any]]) -> list[str]:
    """The kinds of media that there are."""
    return list(next(parameter["values"] for parameter in parameters if parameter["name"] == "kind"))


def schema(parameters: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The JSON schema of a medium's profile, with every parameter of the core by name."""
    whole = profile_schema("medium")
    known = whole["properties"]
    for parameter in parameters:
        name = parameter["name"]
        said = f"{parameter['meaning']} (kind {', '.join(parameter['kinds'])}{_of_unit(name)})"
        known[name] = known.get(name, {}) | _shape(parameter) | {"description": said}
    whole["additionalProperties"] = False
    whole.pop("patternProperties", None)
    whole["allOf"] = [
        {
            "if": {"properties": {"kind": {"const": kind}}},
            "then": {"required": [p["name"] for p in parameters if kind in p["kinds"] and p["default"] is None]},
        }
        for kind in kinds_of(parameters)
    ]
    return whole


def check_study(study: Study, tool: MediaTool) -> None:
    """Raises InputError for a medium of the study that the media core does not take: with the line of the profile, or
    of the study where its options say it.
    """
    selectors = study.axes.get("medium") or (study.fixed["medium"],)
    problems = [problem for text in selectors for problem in _of_selector(study, text, tool)]
    if problems:
        raise InputError(several(problems))


def cautions(study: Study) -> Iterator[str]:
    """What is unlikely of the study's media, a sentence each; the media core takes them all the same."""
    for text in study.axes.get("medium") or (study.fixed["medium"],):
        flash = flash_of(study.library.medium(text))
        if flash and flash.caution:
            yield told_of(study, text, ("capacity_bytes",), flash.caution)


def caution(library: Library, text: str) -> Iterator[str]:
    """The same of a medium that is named on the command line."""
    flash = flash_of(library.medium(text))
    if flash and flash.caution:
        yield library.file("medium", Selector.parse(text).name).message(("capacity_bytes",), flash.caution)


def check_selector(library: Library, text: str, tool: MediaTool) -> None:
    """The same for a medium that is named on the command line."""
    problems = [
        library.file("medium", Selector.parse(text).name).message(*problem)
        for problem in _wrong(library.medium(text), tool)
    ]
    if problems:
        raise InputError(several(problems))


def told_of(study: Study, text: str, keys: Keys, what: str) -> str:
    """What is wrong with a medium of a study, with the line of the study if its options say it, else of its profile."""
    selector = Selector.parse(text)
    if keys and keys[0] in selector.options:
        at: Keys = ("axes", "medium", study.axes["medium"].index(text)) if "medium" in study.axes else ("medium",)
        return TomlFile.read(study.path).message(at, f'"{selector.name}": {keys[0]}: {what}')
    return study.library.file("medium", selector.name).message(keys, what)


def _of_selector(study: Study, text: str, tool: MediaTool) -> Iterator[str]:
    for keys, what in _wrong(study.library.medium(text), tool):
        yield told_of(study, text, keys, what)


def _wrong(medium: Medium, tool: MediaTool) -> Iterator[tuple[Keys, str]]:
    """Every name that the core does not know, or of another kind; else the first value that it refuses."""
    by_name = {parameter["name"]: parameter for parameter in tool.parameters}
    mine = [name for name, parameter in by_name.items() if medium.kind in parameter["kinds"]]
    strange = [name for name in medium.core_parameters if name not in mine]
    for name in strange:
        if name in by_name:
            kinds = " or ".join(f'"{kind}"' for kind in by_name[name]["kinds"])
            yield (name,), f'is of kind = {kinds}, and this medium is of kind "{medium.kind}"'
        else:
            yield (name,), f"no such parameter{nearest(name, mine)} (flashbed medium params {medium.kind})"
    if strange:
        return
    try:
        tool.digest(medium.core_parameters)
    except InputError as error:
        said = re.fullmatch(r"fbmedia: (\w+)(?:=(\S+))?: (.*)", error.message, re.DOTALL)
        if said is None or said[1] not in by_name:
            yield (), error.message
        else:
            of = f"; {by_name[said[1]]['meaning']}" if said[3].startswith("missing") else ""
            yield (said[1],), f"{f'{said[2]}: ' if said[2] else ''}{said[3]}{of}"


def _range(parameter: Mapping[str, Any]) -> str:
    if "values" in parameter:
        return ", ".join(parameter["values"])
    return f"{parameter['min']} to {parameter['max']}"


def _of_unit(name: str) -> str:
    return f"; {unit(name)}" if unit(name) else ""


def _shape(parameter: Mapping[str, Any]) -> dict[str, Any]:
    default = {} if parameter["default"] is None else {"default": parameter["default"]}
    if "values" in parameter:
        return {"enum": list(parameter["values"]), **default}
    number = {"type": "integer", "minimum": parameter["min"], "maximum": parameter["max"]}
    if parameter["name"].endswith("_bytes"):
        return {"anyOf": [number, {"type": "string", "description": 'a size, such as "4k"'}], **default}
    return {**number, **default}
