# SPDX-License-Identifier: Apache-2.0
"""What `flashbed medium` does: makes a medium that is kept, ages it on the host, cuts its power, looks at it.

A study starts cells from it with the option `from` of the medium ("usb-stick-2g:from=worn"). Must not know what the
media core's parameters and counters mean: fbmedia tells.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import Any

from flashbed import image
from flashbed.common import locks, paths
from flashbed.common.errors import InputError, host_refusal
from flashbed.common.tomlfile import nearest
from flashbed.common.units import format_size
from flashbed.image.hosttools import MediaTool
from flashbed.medium import conditioning, parameter_list
from flashbed.profiles.condition import MEANINGS
from flashbed.profiles.library import Library, LookupProblem
from flashbed.profiles.stored_medium import StoredMedium, copy, locate

Rows = list[tuple[str, ...]]
Table = tuple[str, Sequence[str], Rows]


def create(name: str, profile: str) -> StoredMedium:
    """A new medium, as from the factory. Raises InputError if there is one already, or no such profile."""
    stored = locate(name, Path())
    library = _library()
    try:
        medium = library.medium(profile)
    except LookupProblem as problem:
        raise InputError(str(problem)) from None
    if medium.start is not None:
        raise InputError(f"{profile}: a medium is made from its profile alone; copy the folder to have it twice")
    if medium.aged:
        raise InputError(
            f'{profile}: condition: "aged" is a used file system, which each cell makes after mkfs: write it in a study'
        )
    tool = _tool()
    parameter_list.check_selector(library, profile, tool)
    with _new(stored) as begun:
        try:
            conditioning.make(tool, begun.state, medium.core_parameters, medium.condition)
        except conditioning.WornOutError as error:
            raise InputError(f"{profile}: condition: {error.message}") from None
        tool.create_content(begun.state, begun.data)
        made = f"created, {MEANINGS[medium.condition]}" if medium.conditioned else "created"
        begun.tell({"profile": profile, "made": [made]})
    return stored


def parameters(which: str | None) -> Iterator[str]:
    """Every parameter of a medium's profile, in lines for a person: of all, of a kind, or of a profile, with the values
    that it has. Raises InputError for what is neither.
    """
    tool = _tool()
    kinds = parameter_list.kinds_of(tool.parameters)
    if which is None or which in kinds:
        return parameter_list.lines(tool.parameters, which)
    library = _library()
    try:
        medium = library.medium(which)
    except LookupProblem as problem:
        known = [*kinds, *library.names("medium")]
        if which.partition(":")[0].strip() in known:
            raise InputError(str(problem)) from None
        raise InputError(f'no kind and no profile of a medium "{which}"{nearest(which, known)}') from None
    parameter_list.check_selector(library, which, tool)
    return chain(
        parameter_list.lines(tool.parameters, medium.kind, medium.core_parameters),
        (f"caution: {said}" for said in parameter_list.caution(library, which)),
    )


def _library() -> Library:
    """The profiles beside where one stands, and the lab's."""
    return Library((Path("profiles"), paths.profiles()))


def precondition(
    name: str, *, fill_request: int | None, overwrites: int, overwrite_request: int, seed: int, whole: bool
) -> list[tuple[str, dict[str, Any]]]:
    """Writes all of a medium in order (unless `fill_request` is None), then `overwrites` times its size at random;
    `whole`: also what it does not show.

    Returns what was done and what came of it, in flashbed-replay's words. The content stays as it is: only the model's
    state ages.
    """
    stored = locate(name, Path())
    stored.about()
    steps: list[tuple[str, list[str]]] = []
    what, scope = ("the whole device: ", ["--whole"]) if whole else ("", [])
    if fill_request is not None:
        words = ["--no-percentiles", "--pattern", "sequential", "--request-bytes", str(fill_request)]
        steps.append((f"{what}filled in order, {format_size(fill_request)} a request", words))
    if overwrites:
        text = f"{what}{overwrites} times its size overwritten at random, {format_size(overwrite_request)} a request"
        steps.append((f"{text}, seed {seed}", _at_random(overwrites, overwrite_request, seed)))
    done, tool = [], _tool()
    for text, words in steps:
        with stored.changed() as (state, about):
            done.append((text, tool.replay(stored.state, "--save", state, *scope, *words)))
            about["made"].append(text)
    return done


def age(name: str, days: int) -> tuple[StoredMedium, str]:
    """Lets days pass while a medium lies switched off. Returns the medium, and what was done."""
    stored = locate(name, Path())
    text, tool = f"{days} days switched off", _tool()
    with stored.changed() as (state, about):
        copy(stored.state, state)
        tool.age(state, days)
        about["made"].append(text)
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
    """Lets a medium's power fail while it is written at random, and keeps it as a restart finds it.

    At a request, counted from 1, or so long after the first one, or, if neither is given, at a request drawn from the
    seed. The requests write what is there already, so the content stays; what the cut made unreadable is in the state.
    `kept_as`: the medium itself stays as it is, and a copy of this name is cut. Returns what was cut, and what came
    of it.
    """
    stored = locate(name, Path())
    stored.about()
    requests = -(-_size(stored) // overwrite_request) * overwrites
    if at_request is not None and at_request > requests:
        raise InputError(
            f"--at-request {at_request}: overwriting it {overwrites} times makes only {requests} requests; "
            "choose an earlier one, or more with --overwrite"
        )
    if after_ns is None:
        at_request = at_request or random.Random(seed).randrange(requests) + 1
        moment = ["--cut-at-request", str(at_request)]
    else:
        moment = ["--cut-after", str(after_ns)]
    if kept_as is not None:
        other = locate(kept_as, Path())
        with _new(other) as begun:
            stored.copy_to(begun)
            text = _cut(begun, overwrites, overwrite_request, seed, moment)
        return other, text
    return stored, _cut(stored, overwrites, overwrite_request, seed, moment)


def _cut(stored: StoredMedium, overwrites: int, request: int, seed: int, moment: list[str]) -> str:
    words, tool = [*_at_random(overwrites, request, seed), *moment], _tool()
    with stored.changed() as (state, about):
        told = tool.replay(stored.state, "--save", state, *words)["cut"]
        text = (
            f"power cut at request {told['requests']}, {told['cut_ns'] / 1e9:.6f} s after the first, "
            f"while overwritten at random, {format_size(request)} a request, seed {seed}: "
            f"{told['torn_parts']} parts of writes torn, {told['unreadable_sectors']} sectors unreadable"
        )
        about["made"].append(text)
    return text


def inspect(name: str) -> tuple[list[str], Sequence[Table]]:
    """Lines about a medium, and tables: title, columns, rows."""
    stored = locate(name, Path())
    stored.about()
    stored.settle()
    tool = _tool()
    about, found = stored.about(), tool.inspect(stored.state)
    lines = [f"profile  {about['profile']}", *(f"made     {text}" for text in about["made"])]
    lines.append(f"digest   {stored.digest()}")
    if found["fault"]:
        lines.append(f"FAULT    {found['fault']}")
    known = {counter["name"]: counter for counter in tool.counters}
    rows: Rows = []
    for key, value in found["counters"].items():
        rows.append((key, str(value), known[key]["unit"], known[key]["meaning"]))
    tables: list[Table] = [("Counters", ("name", "value", "unit", "meaning"), rows)]
    if found["wear"]:
        tables.append(("Wear", ("name", "value"), [(key, str(value)) for key, value in found["wear"].items()]))
    tables.append(("Power", ("name", "value"), [(key, json.dumps(value)) for key, value in found["power"].items()]))
    return lines, tables


@contextmanager
def _new(stored: StoredMedium) -> Iterator[StoredMedium]:
    """Where to make it: what is begun there is finished and gets its name, or nothing is left of it. Raises InputError
    if the folder is there already.
    """
    if stored.folder.parent == paths.cache_root() / "media":
        locks.sweep(stored.folder.parent, lambda lock: locks.remove(lock.with_suffix(".part")))
    with stored.locked():
        begun = StoredMedium(stored.folder.with_name(f".{stored.folder.name}.part"))
        try:
            if stored.folder.exists():
                raise InputError(f"{stored.folder}: exists already; remove it, or choose another name")
            locks.remove(begun.folder)
            begun.folder.mkdir(parents=True)
            yield begun
            begun.folder.rename(stored.folder)
        except OSError as error:
            raise host_refusal(stored.folder, error) from None
        finally:
            locks.remove(begun.folder)


def _at_random(overwrites: int, request: int, seed: int) -> list[str]:
    """flashbed-replay's words for writing `overwrites` times a medium's size at random."""
    words = ["--pattern", "random", "--request-bytes", str(request)]
    return ["--no-percentiles", *words, "--passes", str(overwrites), "--seed", str(seed)]


def _size(stored: StoredMedium) -> int:
    """Of what it shows, bytes."""
    try:
        return stored.data.stat().st_size
    except OSError as error:
        raise InputError(f"{stored.data}: cannot be read: {error.strerror}; make the medium anew") from None


def _tool() -> MediaTool:
    return image.media_tool()
