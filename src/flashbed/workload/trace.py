# SPDX-License-Identifier: Apache-2.0
"""The workload `trace`: the system calls of a trace (traces/call_trace.py), repeated by a program of the lab
(guest/replay.c).

The program notes each call's begin, duration and result. It does not know which calls mean what; this module does.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping, Sequence
from typing import ClassVar, Literal, NamedTuple

from pydantic import Field

from flashbed.guest_output.durability import Commits, commits_of_calls
from flashbed.guest_output.program_calls import Calls, Operation, metrics_of_operations
from flashbed.traces.call_trace import CALL_ARGUMENTS
from flashbed.workload.base import (
    Count,
    Parameters,
    SinglePhase,
    ToolParameters,
    WithoutPackages,
    WorkloadOutputError,
)


class TraceParameters(ToolParameters):
    """How a trace is replayed."""

    sized_by: ClassVar[str] = "trace"

    trace: str = Field(default="", description="a trace that flashbed trace import made, relative to the study")
    pace: Literal["recorded", "fast"] = Field(
        default="recorded",
        description="recorded: no call begins before its time in the trace; fast: each begins as soon as the calls "
        "have ended that had ended before it",
    )
    compressible: Count = Field(
        default=0, ge=0, le=100, description="of each 4 KiB that is written, so many percent are zero, the rest random"
    )

    def bytes_on_medium(self) -> int:
        """Return 0: the trace's calls tell it, and the parameters do not have them."""
        return 0

    def describe_bytes(self) -> str:
        return f"trace = {self.trace}"


REPLAY_PROGRAM = "replay"
TRACE = "trace"
CALL_RECORDS = "replay.bin"
"""A record for each call, in the trace's order: begin and duration in ns, result, the call's number in CALL_ARGUMENTS,
and 1 if the result differs from the trace. Little-endian.
"""

_RECORD = struct.Struct("<QQqII")
_NAMES = tuple(CALL_ARGUMENTS)

OPERATION_OF_CALL: Mapping[str, Operation] = {
    **dict.fromkeys(("read", "pread"), Operation.READ),
    **dict.fromkeys(("write", "pwrite"), Operation.WRITE),
    **dict.fromkeys(("fsync", "fdatasync", "syncfs", "sync", "sync_file_range"), Operation.FLUSH),
    "open": Operation.OPEN,
    "rename": Operation.RENAME,
    "unlink": Operation.UNLINK,
}
"""The calls with latencies of their own, as for a program."""

_COMMITS = ("fsync", "fdatasync")


class _Record(NamedTuple):
    name: str
    begin_ns: int
    took_ns: int
    result: int
    differs: bool


class TraceReplay(SinglePhase, WithoutPackages):
    """The workload `trace`."""

    parameters: type[ToolParameters] = TraceParameters
    built: tuple[str, ...] = (REPLAY_PROGRAM,)
    begins_with: tuple[str, ...] = (TRACE,)
    own_files: tuple[str, ...] = (TRACE,)

    def title(self, parameters: Parameters) -> str:
        return "a trace of system calls, repeated by a program of the lab"

    def headline(self, values: Mapping[str, Sequence[str]]) -> tuple[str, ...]:
        """Return the run time, unless the trace decides it."""
        return ("runtime_s",) if set(values.get("pace", ())) == {"fast"} else ("medium_written_bytes",)

    def files(self, parameters: Parameters, seed: int) -> dict[str, bytes]:
        """Return the scripts. The lab adds /job/trace."""
        parsed = TraceParameters.model_validate(dict(parameters))
        common = f"/job/{TRACE} /mnt {100 - parsed.compressible} {seed}"
        return {
            "prepare": f"/bin/{REPLAY_PROGRAM} prepare {common}\n".encode(),
            "measure": f"/bin/{REPLAY_PROGRAM} {parsed.pace} {common} /out/{CALL_RECORDS}\n".encode(),
        }

    def metrics(self, out: Mapping[str, bytes]) -> dict[str, float]:
        """Return the time from the first call's begin to the last one's end, the bytes that calls moved, calls and
        latencies by operation, and how many results differ from the trace. Raises WorkloadOutputError.
        """
        records = list(_records(out))
        calls = {operation: Calls() for operation in Operation}
        for record in records:
            if (operation := OPERATION_OF_CALL.get(record.name)) is not None:
                moves = operation in (Operation.READ, Operation.WRITE)
                calls[operation].add(record.took_ns, record.result, moves)
        began_ns = min(record.begin_ns for record in records)
        ended_ns = max(record.begin_ns + record.took_ns for record in records)
        return {
            "runtime_s": (ended_ns - began_ns) / 1e9,
            "differing_calls": float(sum(record.differs for record in records)),
            **metrics_of_operations(calls, calls[Operation.WRITE].moved_bytes),
        }

    def commits(self, parameters: Parameters, out: Mapping[str, bytes]) -> Commits:
        """Return the flushes of files that succeeded. Raises WorkloadOutputError."""
        records = [record for record in _records(out) if record.name in _COMMITS and record.result == 0]
        return commits_of_calls((record.begin_ns, record.begin_ns + record.took_ns) for record in records)

    def silent(self, parameters: Parameters) -> str:
        return "a trace's calls differ from one moment to the next, and so does their rate"


def _records(out: Mapping[str, bytes]) -> Iterator[_Record]:
    """Yield the calls' records. Raises WorkloadOutputError."""
    data = out.get(CALL_RECORDS, b"")
    if not data:
        raise WorkloadOutputError(f"{CALL_RECORDS} is missing: the replay did not come to its end")
    if len(data) % _RECORD.size:
        raise WorkloadOutputError(f"{CALL_RECORDS} has {len(data)} bytes, and a record {_RECORD.size}")
    for number, (begin_ns, took_ns, result, kind, differs) in enumerate(_RECORD.iter_unpack(data)):
        if kind >= len(_NAMES) or differs > 1 or max(begin_ns, took_ns) >> 62:
            raise WorkloadOutputError(f"{CALL_RECORDS}: record {number} is none of the replay's")
        yield _Record(_NAMES[kind], begin_ns, took_ns, result, bool(differs))
