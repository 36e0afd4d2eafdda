# SPDX-License-Identifier: Apache-2.0
"""Replace addresses by function names in the emulator's samples of a guest's CPUs."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from flashbed.guest_output import profile
from flashbed.machine import deaths
from flashbed.machine.base import Outcome


def named(outcome: Outcome, symbols: Path | None) -> Outcome:
    """Return the outcome with the profile of its samples, if any, and with the function in which a CPU hung.

    `symbols` is the kernel's System.map. The guest writes the names of its modules, so an invalid line fails the cell.
    """
    try:
        return _named(outcome, symbols)
    except (ValueError, IndexError):
        return replace(outcome, status="failed", reason=f"the guest's {profile.MODULE_SYMBOLS} has a line that is none")


def _named(outcome: Outcome, symbols: Path | None) -> Outcome:
    files = dict(outcome.files)
    names = files.pop(profile.MODULE_SYMBOLS, b"").decode().splitlines()
    if (raw := files.pop(profile.RAW, None)) is not None:
        names += symbols.read_text().splitlines() if symbols else []
        files[profile.PROFILE] = profile.named(raw.decode(), names).encode()
    return replace(outcome, files=files, reason=_with_function(outcome.reason, symbols))


def _with_function(reason: str, symbols: Path | None) -> str:
    if symbols is None or not (place := deaths.PLACE.search(reason)):
        return reason
    name = profile.Functions(symbols.read_text().splitlines()).at(int(place[1], 16))
    return reason if name == profile.UNKNOWN else reason.replace(place[0], f"in {name}")
