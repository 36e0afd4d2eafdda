# SPDX-License-Identifier: Apache-2.0
"""What `flashbed medium` does: makes a medium that is kept, ages it on the host, looks at it.

A study starts cells from it with the option `from` of the medium ("usb-stick-2g:from=worn"). Must not know what the
media core's parameters and counters mean: fbmedia tells.
"""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from flashbed import paths
from flashbed.errors import InputError, host_refusal
from flashbed.image import hosttools
from flashbed.image.cache import Cache
from flashbed.image.hosttools import MediaTool
from flashbed.library import Library, LookupProblem
from flashbed.stored_medium import StoredMedium, locate
from flashbed.units import format_size

Rows = list[tuple[str, ...]]
Table = tuple[str, Sequence[str], Rows]


def create(name: str, profile: str) -> StoredMedium:
    """A new medium, as from the factory. Raises InputError if there is one already, or no such profile."""
    stored = locate(name, Path())
    try:
        medium = Library((Path("profiles"), paths.profiles())).medium(profile)
    except LookupProblem as problem:
        raise InputError(str(problem)) from None
    if medium.start is not None:
        raise InputError(f"{profile}: a medium is made from its profile alone; copy the folder to have it twice")
    if stored.folder.exists():
        raise InputError(f"{stored.folder}: exists already; remove it, or choose another name")
    try:
        stored.folder.mkdir(parents=True)
        _tool().create(stored.state, medium.core_parameters)
        with stored.data.open("wb") as data:
            data.truncate(medium.size_bytes)
        stored.tell({"profile": profile, "made": ["created"]})
    except OSError as error:
        shutil.rmtree(stored.folder, ignore_errors=True)
        raise host_refusal(stored.folder, error) from None
    except BaseException:
        shutil.rmtree(stored.folder, ignore_errors=True)
        raise
    return stored


def precondition(
    name: str, *, fill_request: int | None, overwrites: int, overwrite_request: int, seed: int
) -> list[tuple[str, dict[str, Any]]]:
    """Writes all of a medium in order (unless `fill_request` is None), then `overwrites` times its size at random.

    Returns what was done and what came of it, in flashbed-replay's words. The content stays as it is: only the model's
    state ages.
    """
    stored = locate(name, Path())
    about = stored.about()
    steps: list[tuple[str, list[str]]] = []
    if fill_request is not None:
        words = ["--pattern", "sequential", "--request-bytes", str(fill_request)]
        steps.append((f"filled in order, {format_size(fill_request)} a request", words))
    if overwrites:
        words = ["--pattern", "random", "--request-bytes", str(overwrite_request), "--passes", str(overwrites)]
        text = f"{overwrites} times its size overwritten at random, {format_size(overwrite_request)} a request"
        steps.append((f"{text}, seed {seed}", [*words, "--seed", str(seed)]))
    done, tool = [], _tool()
    for text, words in steps:
        done.append((text, tool.replay(stored.state, "--save", stored.state, *words)))
        about["made"].append(text)
        stored.tell(about)
    return done


def inspect(name: str) -> tuple[list[str], Sequence[Table]]:
    """Lines about a medium, and tables: title, columns, rows."""
    stored = locate(name, Path())
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
    return lines, tables


def _tool() -> MediaTool:
    return hosttools.build(Cache(paths.cache_root() / "image"))
