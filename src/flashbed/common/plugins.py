# SPDX-License-Identifier: Apache-2.0
"""What other packages add to the lab, by entry points: groups of commands (typer.Typer objects), and tools that make
load (classes as workload/base.py has them, called without arguments). docs/plugins.md has an example of each.

Must not know what they are.
"""

from __future__ import annotations

from importlib.metadata import EntryPoint, entry_points
from typing import Any

from flashbed.common.errors import SetupError

COMMANDS, WORKLOADS = "flashbed.commands", "flashbed.workloads"
"""The groups of entry points."""


def commands() -> dict[str, Any]:
    """Groups of commands, by the word that each is called by. Raises SetupError."""
    return {found.name: _loaded(found) for found in _of(COMMANDS)}


def workloads() -> dict[str, Any]:
    """Tools that make load, by the word that studies have for each. Raises SetupError."""
    return {found.name: _loaded(found)() for found in _of(WORKLOADS)}


def _of(group: str) -> list[EntryPoint]:
    """In the order of their names, whichever package was installed first."""
    return sorted(entry_points(group=group), key=lambda found: found.name)


def _loaded(found: EntryPoint) -> Any:
    try:
        return found.load()
    except Exception as error:
        whose = f" of the package {found.dist.name}" if found.dist else ""
        what = f"the entry point {found.name} = {found.value}{whose} cannot be loaded ({type(error).__name__}: {error})"
        raise SetupError(f"{what}; mend or uninstall it") from error
