# SPDX-License-Identifier: Apache-2.0
"""Load what other packages add by entry points: groups of commands (typer.Typer objects), and workload tools (classes
as in workload/base.py, called without arguments). docs/plugins.md has an example of each.

Must not know what they do.
"""

from __future__ import annotations

from importlib.metadata import EntryPoint, entry_points
from typing import Any

from flashbed.common.errors import SetupError

COMMANDS, WORKLOADS = "flashbed.commands", "flashbed.workloads"
"""The two groups of entry points."""


def commands() -> dict[str, Any]:
    """Return the groups of commands by name. Raises SetupError."""
    return {entry.name: _loaded(entry) for entry in _of(COMMANDS)}


def workloads() -> dict[str, Any]:
    """Return the workload tools by the name that studies use. Raises SetupError."""
    return {entry.name: _loaded(entry)() for entry in _of(WORKLOADS)}


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
