# SPDX-License-Identifier: Apache-2.0
"""Tim Bray's Bonnie: its parameters and its sequence. A program of the lab (guest/bonnie.c) carries it out, one call
for each phase.

Bonnie's order: putc() into a new file, rewrite, blocks into a new file, getc(), blocks, seeks. bonnie++ has another
order.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from pydantic import Field

from flashbed.common.tomlfile import Problem, Size
from flashbed.common.units import MIB, describe_size
from flashbed.guest_output.durability import Commits
from flashbed.guest_output.limit import Direction
from flashbed.workload.base import (
    MARK,
    MOST_PROCESSES,
    REMOUNT,
    Count,
    FileParameters,
    Parameters,
    Phase,
    Phased,
    ToolParameters,
    WithoutPackages,
    WorkloadOutputError,
)


class BonnieParameters(FileParameters):
    """The original Bonnie's sequence on one file per process. Sizes are in bytes."""

    chunk: Size = Field(default=16384, ge=512, le=MIB, description="size of a block, bytes; 16 KiB in Bonnie")
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
        """Yield a problem unless the file is a whole number of blocks: one call reads or writes one block."""
        if self.file % self.chunk:
            size, chunk = describe_size(self.file), describe_size(self.chunk)
            yield Problem(("file",), f"{size} must be a multiple of chunk, {chunk}")


BONNIE = "bonnie"
TIMES = "bonnie.txt"
"""The program's output, one line for each phase and process: the phase, its begin and end, CPU time (all ns), and bytes
or seeks.
"""


# Bonnie removes the old file before it starts its clock: on some file systems removing takes longer than writing a file
_REMOVE = "rm -f /mnt/bonnie.[0-9]*\n"

# All processes of a phase end before the next phase begins. The first failure ends all.
_RUN = f"""\
run() {{{{
	k=0
	started=
	while [ $k -lt {{processes}} ]; do
		/bin/{BONNIE} "$1" /mnt/bonnie.$k {{numbers}} $(({{seed}} + k)) {{memory}} >>/out/{TIMES} 2>>/out/bonnie.err &
		started="$started $!"
		k=$((k + 1))
	done
	for one in $started; do
		wait $one || {{{{ cat /out/bonnie.err; exit 1; }}}}
	done
}}}}
"""


@dataclass(frozen=True)
class _PhaseLine:
    """A process's line about one phase."""

    began_ns: int
    ended_ns: int
    cpu_ns: int
    count: int


class Bonnie(WithoutPackages, Phased):
    """The workload `bonnie`."""

    parameters: type[ToolParameters] = BonnieParameters
    built: tuple[str, ...] = (BONNIE,)
    own_files: tuple[str, ...] = ()

    def sequence(self, parameters: Parameters) -> str:
        return "Bonnie's sequence"

    def title(self, parameters: Parameters) -> str:
        return f"{self.sequence(parameters)}, carried out by a program of the lab"

    def headline(self, values: Mapping[str, Sequence[str]]) -> tuple[str, ...]:
        return ("block_output", "block_input", "random_seeks")

    def files(self, parameters: Parameters, seed: int) -> dict[str, bytes]:
        """Return the scripts. They make the files in the measurement and keep them, because nothing is measured after
        the seeks.
        """
        parsed = BonnieParameters.model_validate(dict(parameters))
        script = _RUN.format(
            processes=parsed.processes,
            numbers=f"{parsed.file} {parsed.chunk} {parsed.seeks} {parsed.seek_processes}",
            seed=seed * MOST_PROCESSES,
            memory=f"{int(parsed.caches != 'kept')} {int(parsed.caches == 'cold')}",
        )
        names = [phase.name for phase in self.phases(parameters)]
        for name, after in zip(names, [*names[1:], None], strict=True):
            script += f"{MARK} {name}\nrun {name}\n"
            between = _REMOVE if after == "block_output" else ""
            between += f"{REMOUNT}\n" if parsed.caches == "cold" and after else ""
            if between:
                script += f"{MARK} {name}.ended\n{between}"
        return {"prepare": b"true\n", "measure": b"set -e\n" + script.encode()}

    def metrics(self, out: Mapping[str, bytes]) -> dict[str, float]:
        """Return rates in MiB/s (seeks: per second) and CPU load in percent, summed over all processes.

        A phase lasts from the first process that begins it to the last that ends it. Raises WorkloadOutputError.
        """
        metrics: dict[str, float] = {}
        for name, processes in _parsed(out).items():
            ns = max(process.ended_ns for process in processes) - min(process.began_ns for process in processes)
            if ns <= 0:
                raise WorkloadOutputError(f"{TIMES}: {name} took {ns} ns")
            count = sum(process.count for process in processes) / (1 if name == "random_seeks" else MIB)
            metrics[name] = count / ns * 1e9
            metrics[f"{name}_cpu_percent"] = 100.0 * sum(process.cpu_ns for process in processes) / ns
        return metrics

    def commits(self, parameters: Parameters, out: Mapping[str, bytes]) -> Commits:
        """Return one commit per process and writing phase; none if caches are kept."""
        parsed = BonnieParameters.model_validate(dict(parameters))
        writing = sum(phase.direction != "read" for phase in self.phases(parameters))
        return Commits(writing * parsed.processes if parsed.caches != "kept" else 0, parsed.processes)

    def phases(self, parameters: Parameters) -> Sequence[Phase]:
        parsed = BonnieParameters.model_validate(dict(parameters))
        size = parsed.file * parsed.processes
        phases: list[tuple[str, Direction, int]] = [
            ("char_output", "write", size),
            ("rewrite", "either", 2 * size),
            ("block_output", "write", size),
            ("char_input", "read", size),
            ("block_input", "read", size),
            ("random_seeks", "read", parsed.seeks * parsed.chunk * parsed.processes),
        ]
        return [Phase(*phase) for phase in phases]


def _parsed(out: Mapping[str, bytes]) -> dict[str, list[_PhaseLine]]:
    """Return each process's lines by phase. Raises WorkloadOutputError."""
    phases: dict[str, list[_PhaseLine]] = {}
    for line in out.get(TIMES, b"").decode(errors="replace").splitlines():
        try:
            name, *numbers = line.split()
            phases.setdefault(name, []).append(_PhaseLine(*map(int, numbers)))
        except (TypeError, ValueError):
            raise WorkloadOutputError(f"{TIMES} is not what bonnie writes: {line}") from None
    if not phases:
        raise WorkloadOutputError(f"{TIMES} is missing: bonnie did not get as far as its first result")
    return phases
