# SPDX-License-Identifier: Apache-2.0
"""Brings new media into the condition that a study names, on the host; each state is made once and kept.

Content stays as it is: only the model's state ages. Must not know what a state means: flashbed-replay writes to it.
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
from flashbed.profiles.stored_medium import copy

STATE = "state.bin"


class WornOutError(InputError):
    """A medium that does not live through what its condition asks for."""


def state(tool: MediaTool, parameters: Mapping[str, int | str], condition: Condition) -> Path:
    """The file with the state of a device in that condition; not to be changed.

    Raises InputError if a parameter is refused, WornOutError if the medium does not live through it, HostResourceError
    if the disk is full.
    """
    return _state(tool, tuple(sorted(parameters.items())), condition, paths.cache_root())


@cache
def _state(
    tool: MediaTool, parameters: tuple[tuple[str, int | str], ...], condition: Condition, cache_root: Path
) -> Path:
    """Looked at once in a process: to hash a state of 128 MiB anew for each cell that starts from it costs seconds."""
    wanted = dict(parameters)
    return _entry(tool, wanted, condition, cache_root, lambda to: make(tool, to, wanted, condition)).path(STATE)


def _entry(
    tool: MediaTool,
    parameters: Mapping[str, int | str],
    condition: Condition,
    cache_root: Path,
    make_it: Callable[[Path], object],
) -> Entry:
    """The kept state, made by `make_it(file)` if it is not there."""
    recipe = {"program": tool.build_digest, "parameters": dict(parameters), "steps": STEPS[condition]}

    def fill(folder: Path) -> None:
        make_it(folder / STATE)

    return Cache(cache_root / "conditions").entry(condition, recipe, fill)


def take_over(
    tool: MediaTool, parameters: Mapping[str, int | str], condition: Condition, made: Callable[[], Path]
) -> None:
    """Keeps a state that was made on another host, for `state`; nothing if it is here already."""
    if (tool, condition, words := tuple(sorted(parameters.items()))) not in _taken_over:
        _entry(tool, parameters, condition, paths.cache_root(), lambda to: copy(made(), to))
        _taken_over.add((tool, condition, words))


_taken_over: set[tuple[MediaTool, Condition, tuple[tuple[str, int | str], ...]]] = set()
"""Looked at by this process."""


@cache
def writer_digest() -> str:
    """Stands for what writes to a medium on the host, in the key of a cell that starts from such a state: where random
    writes go is decided there. The media core itself is in the guest, and so in every key.
    """
    return digest_tree(paths.media() / "host")


def make(tool: MediaTool, to: Path, parameters: Mapping[str, int | str], condition: Condition) -> None:
    """Writes the state of a new medium to `to` and brings it into that condition.

    Raises as `state` does.
    """
    tool.create(to, parameters)
    for words in STEPS[condition]:
        tool.replay(to, "--save", to, "--whole", "--no-percentiles", *words)
    if STEPS[condition] and tool.inspect(to)["wear"]["read_only"]:
        raise WornOutError(
            f'"{condition}": the medium is worn out, and read-only, before it is written so often; give it more '
            "endurance_erases or spare_blocks"
        )
