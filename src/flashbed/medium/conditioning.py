# SPDX-License-Identifier: Apache-2.0
"""Bring new media into the condition that a study names, on the host. Each state is made once and kept.

The content stays: only the model's state ages. Must not know what a state means: flashbed-replay writes it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path

from flashbed.common import paths
from flashbed.common.errors import InputError
from flashbed.image.cache import Cache, Entry, digest_tree
from flashbed.image.hosttools import MediaTool
from flashbed.profiles.condition import STEPS, Condition
from flashbed.profiles.stored_medium import STATE, copy


class WornOutError(InputError):
    """The medium wears out before it reaches its condition."""


def state(tool: MediaTool, parameters: Mapping[str, int | str], condition: Condition) -> Path:
    """Return the file with the state of a device in that condition. Do not change the file.

    Raises InputError if a parameter is refused, WornOutError if the medium wears out first, HostResourceError if the
    disk is full.
    """
    return _state(tool, tuple(sorted(parameters.items())), condition, paths.cache_root())


@cache
def _state(
    tool: MediaTool, parameters: tuple[tuple[str, int | str], ...], condition: Condition, cache_root: Path
) -> Path:
    """Return the state file. It is looked up once per process, because hashing a state of 128 MiB for each cell costs
    seconds.
    """
    medium_parameters = dict(parameters)
    return _entry(
        tool, medium_parameters, condition, cache_root, lambda to: make(tool, to, medium_parameters, condition)
    ).path(STATE)


def _entry(
    tool: MediaTool,
    parameters: Mapping[str, int | str],
    condition: Condition,
    cache_root: Path,
    make_it: Callable[[Path], object],
) -> Entry:
    """Return the kept state; if it is missing, make it by `make_it(file)`."""
    recipe = {"program": tool.build_digest, "parameters": dict(parameters), "steps": STEPS[condition]}

    def fill(folder: Path) -> None:
        make_it(folder / STATE)

    return Cache(cache_root / "conditions").entry(condition, recipe, fill)


def take_over(
    tool: MediaTool, parameters: Mapping[str, int | str], condition: Condition, made: Callable[[], Path]
) -> None:
    """Keep a state that another host made, for `state`. If this host has it already, do nothing."""
    if (tool, condition, key := tuple(sorted(parameters.items()))) not in _taken_over:
        _entry(tool, parameters, condition, paths.cache_root(), lambda to: copy(made(), to))
        _taken_over.add((tool, condition, key))


_taken_over: set[tuple[MediaTool, Condition, tuple[tuple[str, int | str], ...]]] = set()
"""The states that this process has looked up."""


@cache
def writer_digest() -> str:
    """Return the digest of the program that writes to media on the host. It is part of the key of each cell that starts
    from such a state, because the program decides where random writes go. The media core is in the guest, and so in
    every key.
    """
    return digest_tree(paths.media() / "host")


def make(tool: MediaTool, to: Path, parameters: Mapping[str, int | str], condition: Condition) -> None:
    """Write the state of a new medium to `to` and bring it into that condition.

    Raises InputError, WornOutError, HostResourceError.
    """
    tool.create(to, parameters)
    for arguments in STEPS[condition]:
        tool.replay(to, "--save", to, "--whole", "--no-percentiles", *arguments)
    if STEPS[condition] and tool.inspect(to).wear.get("read_only"):
        raise WornOutError(
            f'"{condition}": the medium is worn out, and read-only, before it is written so often; give it more '
            "endurance_erases or spare_blocks"
        )
