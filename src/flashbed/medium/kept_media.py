# SPDX-License-Identifier: Apache-2.0
"""Create, age, power-cut and inspect kept media for `flashbed medium`.

A study starts cells from one with the medium's option `from` ("usb-stick-2g:from=worn"). Must not know what the media
core's parameters and counters mean: fbmedia says.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import chain
from pathlib import Path

from flashbed.common import locks, paths
from flashbed.common.errors import InputError, host_refusal
from flashbed.common.page import PageTable
from flashbed.common.tomlfile import nearest
from flashbed.common.units import format_size
from flashbed.image import hosttools
from flashbed.image.hosttools import MediaTool, Replay
from flashbed.medium import conditioning, parameter_list
from flashbed.profiles.condition import MEANINGS
from flashbed.profiles.library import Library, LookupProblem, Selector
from flashbed.profiles.stored_medium import Origin, StoredMedium, copy, locate


def create(name: str, profile: str) -> StoredMedium:
    """Create a medium as from the factory. Raises InputError if it exists already, or if there is no such profile."""
    stored = locate(name, Path())
    library = _library()
    try:
        medium = library.medium(profile)
    except LookupProblem as problem:
        raise InputError(str(problem)) from None
    if medium.start is not None:
        raise InputError(
            f"{profile}: a medium is made from a profile without `from`; to duplicate a kept medium, copy its folder"
        )
    if medium.aged:
        raise InputError(
            f'{profile}: condition: "aged" is a used file system, which each cell makes after mkfs: write it in a study'
        )
    tool = _tool()
    parameter_list.check_selector(library, profile, tool)
    with _new(stored) as unfinished:
        try:
            conditioning.make(tool, unfinished.state, medium.core_parameters, medium.condition)
        except conditioning.WornOutError as error:
            raise InputError(f"{profile}: condition: {error.message}") from None
        tool.create_content(unfinished.state, unfinished.data)
        made = f"created, {MEANINGS[medium.condition]}" if medium.conditioned else "created"
        unfinished.set_origin(Origin(profile, (made,)))
    return stored


def parameters(name: str | None) -> Iterator[str]:
    """Yield a description of every parameter of a medium's profile: of all kinds, of one kind, or of one profile with
    its values. Raises InputError if `name` is neither a kind nor a profile.
    """
    tool = _tool()
    kinds = parameter_list.kinds_of(tool.parameters)
    if name is None or name in kinds:
        return parameter_list.lines(tool.parameters, name)
    library = _library()
    try:
        medium = library.medium(name)
    except LookupProblem as problem:
        valid_names = [*kinds, *library.names("medium")]
        if Selector.name_of(name).strip() in valid_names:
            raise InputError(str(problem)) from None
        raise InputError(f'neither a kind nor a profile of a medium: "{name}"{nearest(name, valid_names)}') from None
    parameter_list.check_selector(library, name, tool)
    return chain(
        parameter_list.lines(tool.parameters, medium.kind, medium.core_parameters),
        (f"caution: {text}" for text in parameter_list.caution(library, name)),
    )


def _library() -> Library:
    """Return the profiles of ./profiles and those of the lab."""
    return Library((Path("profiles"), paths.profiles()))


def precondition(
    name: str, *, fill_request: int | None, overwrites: int, overwrite_request: int, seed: int, whole: bool
) -> list[tuple[str, Replay]]:
    """Fill a medium in order (unless `fill_request` is None), then overwrite it `overwrites` times at random. If
    `whole`, write its hidden capacity too.

    Return each step with its result. The content stays: only the model's state ages.
    """
    stored = locate(name, Path())
    stored.origin()
    steps: list[tuple[str, list[str]]] = []
    prefix, scope = ("the whole device: ", ["--whole"]) if whole else ("", [])
    if fill_request is not None:
        arguments = ["--no-percentiles", "--pattern", "sequential", "--request-bytes", str(fill_request)]
        steps.append((f"{prefix}filled in order, {format_size(fill_request)} a request", arguments))
    if overwrites:
        text = f"{prefix}{overwrites} times its size overwritten at random, {format_size(overwrite_request)} a request"
        steps.append((f"{text}, seed {seed}", _at_random(overwrites, overwrite_request, seed)))
    results, tool = [], _tool()
    for text, arguments in steps:
        with stored.changed() as change:
            results.append((text, tool.replay(stored.state, "--save", change.state, *scope, *arguments)))
            change.steps.append(text)
    return results


def age(name: str, days: int) -> tuple[StoredMedium, str]:
    """Let days pass while a medium is switched off. Return the medium and a description of the step."""
    stored = locate(name, Path())
    text, tool = f"{days} days switched off", _tool()
    with stored.changed() as change:
        copy(stored.state, change.state)
        tool.age(change.state, days)
        change.steps.append(text)
    return stored, text


def cut(
    name: str,
    *,
    at_request: int | None,
    after_ns: int | None,
    overwrites: int,
    overwrite_request: int,
    seed: int,
    kept_as: str | None,
) -> tuple[StoredMedium, str]:
    """Cut a medium's power while it is written at random, and keep its state for a restart.

    The cut is at request `at_request`, counted from 1, or `after_ns` after the first one. If neither is given, the seed
    draws the request. The requests write the present content, so the content stays; the state knows which sectors
    became unreadable. If `kept_as` is given, cut a copy of this name and leave the medium as it is. Return the medium
    that was cut, and a description of the cut. Raises InputError if the load makes fewer than `at_request` requests.
    """
    stored = locate(name, Path())
    stored.origin()
    requests = -(-_size(stored) // overwrite_request) * overwrites
    if at_request is not None and at_request > requests:
        raise InputError(
            f"--at-request {at_request}: {overwrites} overwrites make only {requests} requests; "
            "choose an earlier one, or more with --overwrite"
        )
    if after_ns is None:
        at_request = at_request or random.Random(seed).randrange(requests) + 1
        moment = ["--cut-at-request", str(at_request)]
    else:
        moment = ["--cut-after", str(after_ns)]
    if kept_as is not None:
        copy = locate(kept_as, Path())
        with _new(copy) as unfinished:
            stored.copy_to(unfinished)
            text = _cut(unfinished, overwrites, overwrite_request, seed, moment)
        return copy, text
    return stored, _cut(stored, overwrites, overwrite_request, seed, moment)


def _cut(stored: StoredMedium, overwrites: int, request: int, seed: int, moment: list[str]) -> str:
    arguments, tool = [*_at_random(overwrites, request, seed), *moment], _tool()
    with stored.changed() as change:
        cut_report = tool.replay(stored.state, "--save", change.state, *arguments).cut
        assert cut_report is not None  # the arguments ask for one
        text = (
            f"power cut at request {cut_report['requests']}, {cut_report['cut_ns'] / 1e9:.6f} s after the first, "
            f"while overwritten at random, {format_size(request)} a request, seed {seed}: "
            f"{cut_report['torn_parts']} parts of writes torn, {cut_report['unreadable_sectors']} sectors unreadable"
        )
        change.steps.append(text)
    return text


def inspect(name: str) -> tuple[list[str], list[PageTable]]:
    """Return lines about a medium, and tables of its counters, wear and power."""
    stored = locate(name, Path())
    stored.origin()
    stored.settle()
    tool = _tool()
    origin, state = stored.origin(), tool.inspect(stored.state)
    lines = [f"profile  {origin.profile}", *(f"made     {step}" for step in origin.made)]
    lines.append(f"digest   {stored.digest()}")
    if state.fault:
        lines.append(f"FAULT    {state.fault}")
    by_name = {counter.name: counter for counter in tool.counters}
    counters = [(name, str(value), by_name[name].unit, by_name[name].meaning) for name, value in state.counters.items()]
    tables = [PageTable("Counters", ("name", "value", "unit", "meaning"), counters)]
    if state.wear:
        tables.append(PageTable("Wear", ("name", "value"), [(name, str(value)) for name, value in state.wear.items()]))
    power = [(name, json.dumps(value)) for name, value in state.power.items()]
    return lines, [*tables, PageTable("Power", ("name", "value"), power)]


@contextmanager
def _new(stored: StoredMedium) -> Iterator[StoredMedium]:
    """Yield a temporary medium to fill. At the end it gets its name; if that fails, it is removed. Raises InputError if
    the directory exists already.
    """
    if stored.folder.parent == paths.cache_root() / "media":
        locks.sweep(stored.folder.parent, lambda lock: locks.remove(lock.with_suffix(".part")))
    with stored.locked():
        unfinished = StoredMedium(stored.folder.with_name(f".{stored.folder.name}.part"))
        try:
            if stored.folder.exists():
                raise InputError(f"{stored.folder}: exists already; remove it, or choose another name")
            locks.remove(unfinished.folder)
            unfinished.folder.mkdir(parents=True)
            yield unfinished
            unfinished.folder.rename(stored.folder)
        except OSError as error:
            raise host_refusal(stored.folder, error) from None
        finally:
            locks.remove(unfinished.folder)


def _at_random(overwrites: int, request: int, seed: int) -> list[str]:
    """Return flashbed-replay's arguments to write `overwrites` times a medium's size at random."""
    arguments = ["--pattern", "random", "--request-bytes", str(request)]
    return ["--no-percentiles", *arguments, "--passes", str(overwrites), "--seed", str(seed)]


def _size(stored: StoredMedium) -> int:
    """Return the visible capacity in bytes."""
    try:
        return stored.data.stat().st_size
    except OSError as error:
        raise InputError(f"{stored.data}: cannot be read: {error.strerror}; make the medium anew") from None


def _tool() -> MediaTool:
    return hosttools.media_tool()
