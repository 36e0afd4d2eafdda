# SPDX-License-Identifier: Apache-2.0
"""Read the log of requests that a block device got during a measurement. The emulator keeps it, or the guest's module
of a translation over a raw chip.

Knows the format of requests.bin (kernel/common/request_log.h) and the guest's notes of when it measured; must not know
what the log is used for.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from pathlib import Path

from flashbed.guest_output import cpu_load, medium_counters

REQUEST_LOG = "requests.bin"
FLUSH = "flush"
OPERATIONS = ("read", "write", "discard", FLUSH)
_ENTRY = struct.Struct("<4Q2I")

OF_TRANSLATION = "translation.before"
"""A file beside the log of a translation, whose times are the guest's. Times of the emulator's log are the
machine's.
"""


@dataclass(frozen=True)
class Request:
    """A request as the device got it. Times are in ns since the measurement began. A flush has no address."""

    operation: str
    begun_ns: int
    done_ns: int
    offset_bytes: int | None
    length_bytes: int


@dataclass(frozen=True)
class RequestLog:
    """The first requests from the beginning of a measurement to the unmount after it, in order of arrival."""

    requests: tuple[Request, ...]
    measured_ns: int
    """The length of the measurement. Later requests are from the sync and the unmount after it."""


def read(out: Path) -> RequestLog:
    """Return the log in the directory `out` of a repetition's artefacts. Raises OSError, or ValueError if it is
    damaged.
    """
    names = (cpu_load.IDLE_BEFORE, cpu_load.IDLE_MEASURED, medium_counters.CLOCK)
    noted = {name: (out / name).read_bytes() for name in names if (out / name).exists()}
    window_ns = cpu_load.window_ns if (out / OF_TRANSLATION).exists() else medium_counters.window_ns
    began, ended = window_ns(noted)
    return RequestLog(parsed((out / REQUEST_LOG).read_bytes(), began, str(out / REQUEST_LOG)), ended - began)


def parsed(data: bytes, began_ns: int, name: str = REQUEST_LOG) -> tuple[Request, ...]:
    """Return the requests of a log, with times since `began_ns`. Raises ValueError."""
    if len(data) % _ENTRY.size:
        raise ValueError(f"{name}: is not a row of entries of {_ENTRY.size} bytes")
    entries = list(_ENTRY.iter_unpack(data))
    if any(operation >= len(OPERATIONS) for *_, operation, _ in entries):
        raise ValueError(f"{name}: has an operation of an unknown kind")
    return tuple(
        Request(
            OPERATIONS[operation],
            now - began_ns,
            done - began_ns,
            None if OPERATIONS[operation] == FLUSH else offset,
            length,
        )
        for now, done, offset, length, operation, _ in entries
    )
