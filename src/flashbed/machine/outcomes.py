# SPDX-License-Identifier: Apache-2.0
"""The result of a machine, which runs one cell. A guest that misbehaves is an outcome, not an exception. In an outcome,
replace addresses of the kernel by function names.

Knows no study and no workload.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from flashbed.guest_output import cpu_samples
from flashbed.guest_output.assessment import Status
from flashbed.machine.deaths import Death


@dataclass(frozen=True)
class Outcome:
    """The result of one run.

    `files` are the files that the guest left in /out, by name. `console` is the machine's console output.
    `medium_check` is the output of the file system's own checker on the final image: "" if the image is clean, None if
    the checker did not run. `death` is what `reason` says of a guest that ended without results, if it is known.
    """

    status: Status
    reason: str = ""
    console: bytes = b""
    files: Mapping[str, bytes] = field(default_factory=dict)
    medium_check: str | None = None
    death: Death | None = None


def with_functions(outcome: Outcome, symbols: Path | None) -> Outcome:
    """Return the outcome with the functions of its samples, if any, and with the function in which a CPU hung.

    `symbols` is the kernel's System.map. The guest writes the names of its modules, so an invalid line fails the cell.
    """
    try:
        return _named(outcome, symbols)
    except (ValueError, IndexError):
        return replace(
            outcome, status=Status.FAILED, reason=f"the guest's {cpu_samples.MODULE_SYMBOLS} has a line that is none"
        )


def _named(outcome: Outcome, symbols: Path | None) -> Outcome:
    files = dict(outcome.files)
    names = files.pop(cpu_samples.MODULE_SYMBOLS, b"").decode().splitlines()
    if (raw := files.pop(cpu_samples.RAW_SAMPLES, None)) is not None:
        names += symbols.read_text().splitlines() if symbols else []
        files[cpu_samples.NAMED_SAMPLES] = cpu_samples.named(raw.decode(), names).encode()
    return replace(outcome, files=files, reason=_reason(outcome, symbols))


def _reason(outcome: Outcome, symbols: Path | None) -> str:
    """Return the outcome's reason, with the function in which a CPU hung if `symbols` have it."""
    if symbols is None or outcome.death is None or outcome.death.hung_at is None:
        return outcome.reason
    name = cpu_samples.Functions(symbols.read_text().splitlines()).at(outcome.death.hung_at)
    return outcome.death.reason("" if name == cpu_samples.UNKNOWN else name)
