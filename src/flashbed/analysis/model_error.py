# SPDX-License-Identifier: Apache-2.0
"""How far the models are from published figures of real devices, as model_error.toml lists it.

`make accuracy` writes that file. Must not know how a figure was measured, nor what a verdict makes of an error.
"""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

Load = Literal["random read", "random write", "sequential read", "sequential write", "flush"]

FILE = Path(__file__).with_name("model_error.toml")


@dataclass(frozen=True)
class ModelError:
    """The error of one class of medium under one kind of load.

    `factor` is the stated error: 9 of 10 published figures (all of them, if there are fewer than 10) are at most this
    many times above or below the model. `lowest` and `highest` are the least and the largest ratio of the model's rate
    to a published one, over all `figures`.
    """

    factor: float
    lowest: float
    highest: float
    figures: int


def _read() -> tuple[dict[str, str], dict[tuple[str, str], ModelError]]:
    tables = tomllib.loads(FILE.read_text(encoding="utf-8"))
    classes = {medium: name for name, said in tables.items() for medium in said["media"]}
    errors = {
        (name, load): ModelError(**said[load]) for name, said in tables.items() for load in said if load != "media"
    }
    return classes, errors


_CLASSES, _ERRORS = _read()


def class_of(medium: str) -> str | None:
    """Return the class of a shipped medium, given as in a study ("emmc-64g:used_bytes=2G"); None if it has none.

    A profile of the user's own has no class, whatever its numbers are.
    """
    return _CLASSES.get(medium.partition(":")[0])


def of_class(medium_class: str) -> Mapping[str, ModelError]:
    """Return the errors of a class by kind of load; a kind that no published figure tells of is missing."""
    return {load: error for (name, load), error in _ERRORS.items() if name == medium_class}


def model_error(medium: str, load: Load) -> ModelError | None:
    """Return the error of a shipped medium under a load; None if no published figure tells of it."""
    medium_class = class_of(medium)
    return _ERRORS.get((medium_class, load)) if medium_class else None
