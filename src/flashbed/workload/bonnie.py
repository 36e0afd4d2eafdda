# SPDX-License-Identifier: Apache-2.0
"""Tim Bray's Bonnie: its parameters, and its sequence, carried out by a program of ours (guest/bonnie.c), a call of it
a phase.

Bonnie's order: putc() into a new file, rewrite, blocks into a new file, getc(), blocks, seeks. bonnie++ has another.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from pydantic import Field

from flashbed.common.size_field import Size
from flashbed.common.tomlfile import Problem
from flashbed.common.units import describe_size
from flashbed.guest_output.durability import Commits
from flashbed.workload.base import (
    MARK,
    MOST_PROCESSES,
    REMOUNT,
    Count,
    FileParameters,
    InPhases,
    OfOurs,
    Parameters,
    Phase,
    ToolParameters,
    WorkloadOutputError,
)

_MIB = 1 << 20


class BonnieParameters(FileParameters):
    """The sequence of the original Bonnie on one file a process, in its order; sizes in bytes."""

    chunk: Size = Field(default=16384, ge=512, le=_MIB, description="size of a block, bytes; 16 KiB in Bonnie")
    caches: Literal["kept", "flushed", "cold"] = Field(
        default="kept",
        description="kept: as Bonnie leaves them; a phase ends when its last call returns; flushed: a flush ends each "
        "phase that writes, inside its time; cold: also, each phase begins with the file system mounted anew, and a "
        "seek has memory give up the block that it read",
    )
    seeks: Count = Field(
        default=4000, ge=1, description="random reads of a block, of all seekers of a process together"
    )
    seek_processes: Count = Field(default=3, ge=1, le=64, description="seekers of a process")

    def problems(self) -> Iterator[Problem]:
        """A file is of whole blocks, for a block is read and written in one call."""
        if self.file % self.chunk:
            size, chunk = describe_size(self.file), describe_size(self.chunk)
            yield Problem(("file",), f"{size} must be a multiple of chunk, {chunk}")


PROGRAM = "bonnie"
SAID = "bonnie.txt"
"""A line a phase and process: the phase, when it began and ended, CPU time (all ns), bytes or seeks done."""


# Bonnie removes the old file before it looks at the clock: on some file systems that takes longer than to write one
_REMOVE = "rm -f /mnt/bonnie.[0-9]*\n"

# All processes of a phase have ended before the next one begins. The first that fails ends all.
_RUN = f"""\
run() {{{{
	k=0
	started=
	while [ $k -lt {{processes}} ]; do
		/bin/{PROGRAM} "$1" /mnt/bonnie.$k {{numbers}} $(({{seed}} + k)) {{memory}} >>/out/{SAID} 2>>/out/bonnie.err &
		started="$started $!"
		k=$((k + 1))
	done
	for one in $started; do
		wait $one || {{{{ cat /out/bonnie.err; exit 1; }}}}
	done
}}}}
"""


@dataclass(frozen=True)
class _Done:
    """What a process said of a phase."""

    began_ns: int
    ended_ns: int
    cpu_ns: int
    count: int


class Bonnie(OfOurs, InPhases):
    """The workload `bonnie`."""

    parameters: type[ToolParameters] = BonnieParameters
    built: tuple[str, ...] = (PROGRAM,)
    own_files: tuple[str, ...] = ()

    def title(self, parameters: Parameters) -> str:
        return "Bonnie's sequence, carried out by a program of the lab"

    def headline(self, said: Mapping[str, Sequence[str]]) -> tuple[str, ...]:
        return ("block_output", "block_input", "random_seeks")

    def files(self, parameters: Parameters, seed: int) -> dict[str, bytes]:
        """Its files are made in the measurement and stay, as nothing measured comes after the seeks."""
        said = BonnieParameters.model_validate(dict(parameters))
        script = _RUN.format(
            processes=said.processes,
            numbers=f"{said.file} {said.chunk} {said.seeks} {said.seek_processes}",
            seed=seed * MOST_PROCESSES,
            memory=f"{int(said.caches != 'kept')} {int(said.caches == 'cold')}",
        )
        names = [phase.name for phase in self.phases(parameters)]
        for name, after in zip(names, [*names[1:], None], strict=True):
            script += f"{MARK} {name}\nrun {name}\n"
            between = _REMOVE if after == "block_output" else ""
            between += f"{REMOUNT}\n" if said.caches == "cold" and after else ""
            if between:
                script += f"{MARK} {name}.ended\n{between}"
        return {"prepare": b"true\n", "measure": b"set -e\n" + script.encode()}

    def metrics(self, out: Mapping[str, bytes]) -> dict[str, float]:
        """Rates in MiB/s (seeks a second) and CPU load in percent, of all processes together: from the first that began
        a phase to the last that ended it.
        """
        metrics: dict[str, float] = {}
        for name, processes in _said(out).items():
            ns = max(one.ended_ns for one in processes) - min(one.began_ns for one in processes)
            if ns <= 0:
                raise WorkloadOutputError(f"{SAID}: {name} took {ns} ns")
            count = sum(one.count for one in processes) / (1 if name == "random_seeks" else _MIB)
            metrics[name] = count / ns * 1e9
            metrics[f"{name}_cpu_percent"] = 100.0 * sum(one.cpu_ns for one in processes) / ns
        return metrics

    def commits(self, parameters: Parameters, out: Mapping[str, bytes]) -> Commits:
        """One at the end of each phase that writes, by each process, unless caches are kept."""
        said = BonnieParameters.model_validate(dict(parameters))
        writing = sum(phase.direction != "read" for phase in self.phases(parameters))
        return Commits(writing * said.processes if said.caches != "kept" else 0, said.processes)

    def phases(self, parameters: Parameters) -> Sequence[Phase]:
        said = BonnieParameters.model_validate(dict(parameters))
        size = said.file * said.processes
        both: list[tuple[str, Literal["read", "write", "either"], int]] = [
            ("char_output", "write", size),
            ("rewrite", "either", 2 * size),
            ("block_output", "write", size),
            ("char_input", "read", size),
            ("block_input", "read", size),
            ("random_seeks", "read", said.seeks * said.chunk * said.processes),
        ]
        return [Phase(*phase) for phase in both]


def _said(out: Mapping[str, bytes]) -> dict[str, list[_Done]]:
    """What each process said of each phase. Raises WorkloadOutputError."""
    found: dict[str, list[_Done]] = {}
    for line in out.get(SAID, b"").decode(errors="replace").splitlines():
        try:
            name, *numbers = line.split()
            found.setdefault(name, []).append(_Done(*map(int, numbers)))
        except (TypeError, ValueError):
            raise WorkloadOutputError(f"{SAID} is not what bonnie writes: {line}") from None
    if not found:
        raise WorkloadOutputError(f"{SAID} is missing: bonnie did not get as far as its first result")
    return found
