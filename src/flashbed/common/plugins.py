# SPDX-License-Identifier: Apache-2.0
"""Load what other packages add by entry points: groups of commands (typer.Typer objects), and workload tools (classes
as in workload/base.py, called without arguments). docs/plugins.md has an example of each.

Must not know what they do.
"""

from __future__ import annotations

from importlib.metadata import EntryPoint, entry_points
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from flashbed.common.digest import digest_package
from flashbed.common.errors import SetupError

COMMAND_GROUP, WORKLOAD_GROUP = "flashbed.commands", "flashbed.workloads"
"""The two groups of entry points."""


def commands() -> dict[str, Any]:
    """Return the groups of commands by name. Raises SetupError."""
    return {entry.name: _loaded(entry) for entry in _of(COMMAND_GROUP)}


def workloads() -> dict[str, Any]:
    """Return the workload tools by the name that studies use. Raises SetupError."""
    return {entry.name: _loaded(entry)() for entry in _of(WORKLOAD_GROUP)}


def digests() -> list[str]:
    """Return the entry points, and the digest of the files of each top-level package that they name. Nothing of another
    package is executed.
    """
    entries = [(group, entry) for group in (COMMAND_GROUP, WORKLOAD_GROUP) for entry in _of(group)]
    packages = sorted({entry.module.partition(".")[0] for _, entry in entries})
    return [
        *(f"{group}: {entry.name} = {entry.value}" for group, entry in entries),
        *(f"{package} {_digest(package)}" for package in packages),
    ]


def _digest(package: str) -> str:
    """Return the digest of a package's files; "" if it cannot be found. Then its entry points cannot be loaded."""
    try:
        spec = find_spec(package)
    except (ImportError, ValueError):
        spec = None
    places = [Path(place) for place in (spec.submodule_search_locations or [spec.origin or ""] if spec else ())]
    return " ".join(digest_package(place) for place in places if place.exists())


def _of(group: str) -> list[EntryPoint]:
    """Return the entry points of a group, sorted by name, so that the order of installation does not matter."""
    return sorted(entry_points(group=group), key=lambda point: point.name)


def _loaded(entry: EntryPoint) -> Any:
    try:
        return entry.load()
    except Exception as error:
        whose = f" of the package {entry.dist.name}" if entry.dist else ""
        problem = (
            f"the entry point {entry.name} = {entry.value}{whose} cannot be loaded ({type(error).__name__}: {error})"
        )
        raise SetupError(f"{problem}; mend or uninstall it") from error
