# SPDX-License-Identifier: Apache-2.0
"""List the parameters of a medium, and check those of a study's media.

The media core defines them, with range and meaning, in one place (media/include/fb_params.h), and fbmedia prints them.
This module formats them for people. An error names the file and line of the value.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from flashbed.common.errors import InputError, several
from flashbed.common.tomlfile import Keys, nearest
from flashbed.image.hosttools import MediaTool, Parameter
from flashbed.profiles.library import Library, Selector, profile_schema
from flashbed.profiles.profile import Medium, flash_of
from flashbed.study.loading import Study

_REFUSAL = re.compile(r"fbmedia: (\w+)(?:=(\S+))?: (.*)", re.DOTALL)
"""fbmedia's message about a parameter: its name, its value if it has one, and the reason. fbmedia reports a refusal
only as this text, and its exit status 2 does not say which parameter it refused.
"""

_MISSING = "missing"
"""The beginning of the reason if a parameter was not given."""

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
"""The unit of a parameter, by the end of its name. Any other parameter is a count."""


def unit(name: str) -> str:
    """Return the unit of a parameter; "" if it is a count."""
    return next((text for ending, text in UNITS.items() if name.endswith(ending)), "")


def lines(
    parameters: Sequence[Parameter], kind: str | None = None, values: Mapping[str, Any] | None = None
) -> Iterator[str]:
    """Yield two lines for each parameter: its range, unit, default and kinds of media; then its meaning.

    If `kind` is given, yield only its parameters. With the `values` of a medium, each line begins with its value.
    Raises InputError for an unknown kind.
    """
    kinds = kinds_of(parameters)
    if kind is not None and kind not in kinds:
        raise InputError(f'no kind of medium "{kind}"{nearest(kind, kinds)}')
    for parameter in parameters:
        if kind is None or kind in parameter.kinds:
            name, default = parameter.name, parameter.default
            absent = "must be there" if default is None else f"if absent {default}"
            description = " ".join((_range(parameter), unit(name))).strip()
            has = "" if values is None else f" = {values.get(name, default)}"
            yield f"{name}{has}: {description}; {absent} ({', '.join(parameter.kinds)})"
            yield f"    {parameter.meaning}"


def kinds_of(parameters: Sequence[Parameter]) -> list[str]:
    """Return the kinds of media."""
    return list(next(parameter.values for parameter in parameters if parameter.name == "kind"))


def schema(parameters: Sequence[Parameter]) -> dict[str, Any]:
    """Return the JSON schema of a medium's profile, with every parameter of the core."""
    profile = profile_schema("medium")
    properties = profile["properties"]
    for parameter in parameters:
        name = parameter.name
        description = f"{parameter.meaning} (kind {', '.join(parameter.kinds)}{_of_unit(name)})"
        properties[name] = properties.get(name, {}) | _shape(parameter) | {"description": description}
    profile["additionalProperties"] = False
    profile.pop("patternProperties", None)
    profile["allOf"] = [
        {
            "if": {"properties": {"kind": {"const": kind}}},
            "then": {"required": [p.name for p in parameters if kind in p.kinds and p.default is None]},
        }
        for kind in kinds_of(parameters)
    ]
    return profile


def check_study(study: Study, tool: MediaTool) -> None:
    """Check the study's media against the media core. Raises InputError with the line of the profile, or of the study
    if its options have the value.
    """
    problems = [problem for text in study.values_of("medium") for problem in _of_selector(study, text, tool)]
    if problems:
        raise InputError(several(problems))


def cautions(study: Study) -> Iterator[str]:
    """Yield a caution for each implausible medium of the study. The media core accepts them."""
    for text in study.values_of("medium"):
        flash = flash_of(study.library.medium(text))
        if flash and flash.caution:
            yield message_of(study, text, ("capacity_bytes",), flash.caution)


def caution(library: Library, text: str) -> Iterator[str]:
    """Yield a caution if a medium named on the command line is implausible. The media core accepts it."""
    flash = flash_of(library.medium(text))
    if flash and flash.caution:
        yield library.file("medium", Selector.parse(text).name).message(("capacity_bytes",), flash.caution)


def check_selector(library: Library, text: str, tool: MediaTool) -> None:
    """Check a medium named on the command line against the media core. Raises InputError."""
    problems = [
        library.file("medium", Selector.parse(text).name).message(*problem)
        for problem in _wrong(library.medium(text), tool)
    ]
    if problems:
        raise InputError(several(problems))


def message_of(study: Study, text: str, keys: Keys, problem: str) -> str:
    """Return a message about a medium of a study, with the line of the study if its options have the value, else with
    the line of its profile.
    """
    selector = Selector.parse(text)
    if keys and keys[0] in selector.options:
        return f'{study.place_of("medium", text)}: "{selector.name}": {keys[0]}: {problem}'
    return study.library.file("medium", selector.name).message(keys, problem)


def _of_selector(study: Study, text: str, tool: MediaTool) -> Iterator[str]:
    for keys, problem in _wrong(study.library.medium(text), tool):
        yield message_of(study, text, keys, problem)


def _wrong(medium: Medium, tool: MediaTool) -> Iterator[tuple[Keys, str]]:
    """Yield each parameter that the core does not know or that belongs to another kind; if there is none, the first
    refused value.
    """
    by_name = {parameter.name: parameter for parameter in tool.parameters}
    own = [name for name, parameter in by_name.items() if medium.kind in parameter.kinds]
    unknown = [name for name in medium.core_parameters if name not in own]
    for name in unknown:
        if name in by_name:
            kinds = " or ".join(f'"{kind}"' for kind in by_name[name].kinds)
            yield (name,), f'is of kind = {kinds}, and this medium is of kind "{medium.kind}"'
        else:
            yield (name,), f"no such parameter{nearest(name, own)} (flashbed medium params {medium.kind})"
    if unknown:
        return
    try:
        tool.digest(medium.core_parameters)
    except InputError as error:
        refusal = _REFUSAL.fullmatch(error.message)
        if refusal is None or refusal[1] not in by_name:
            yield (), error.message
        else:
            meaning = f"; {by_name[refusal[1]].meaning}" if refusal[3].startswith(_MISSING) else ""
            yield (refusal[1],), f"{f'{refusal[2]}: ' if refusal[2] else ''}{refusal[3]}{meaning}"


def _range(parameter: Parameter) -> str:
    if parameter.values:
        return ", ".join(parameter.values)
    return f"{parameter.min} to {parameter.max}"


def _of_unit(name: str) -> str:
    return f"; {unit(name)}" if unit(name) else ""


def _shape(parameter: Parameter) -> dict[str, Any]:
    default = {} if parameter.default is None else {"default": parameter.default}
    if parameter.values:
        return {"enum": list(parameter.values), **default}
    number = {"type": "integer", "minimum": parameter.min, "maximum": parameter.max}
    if parameter.name.endswith("_bytes"):
        return {"anyOf": [number, {"type": "string", "description": 'a size, such as "4k"'}], **default}
    return {**number, **default}
