# SPDX-License-Identifier: Apache-2.0
"""bonnie++: its parameters, the scripts that call it, and its CSV lines.

With -y p, bonnie++ waits for a line of input before each phase. A script sends that line to all processes at once, so
that all are in the same phase, and marks the moment, so that the medium's counters can be split by phase. Format:
bon_time.cpp of bonnie++ 2.00a.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import fsum
from typing import Literal

from pydantic import Field

from flashbed.common.tomlfile import Problem, Size
from flashbed.common.units import MIB, describe_size
from flashbed.guest_output.durability import Commits
from flashbed.guest_output.limit import Direction
from flashbed.workload.base import (
    MARK,
    MOST_PROCESSES,
    Count,
    FileParameters,
    Needs,
    Parameters,
    Phase,
    Phased,
    Switch,
    ToolParameters,
    WorkloadOutputError,
)


class BonniePlusParameters(FileParameters):
    """bonnie++ on one file per process: it writes, reads and writes again, reads, then seeks. Sizes are in bytes."""

    chunk: Size = Field(default=8192, ge=256, le=MIB, description="size of a block, a power of two, bytes")
    per_character: Size = Field(
        default=3 * MIB,
        ge=0,
        description="how much is written and read a byte at a time, at most the file, bytes; 0: none",
    )
    flush: Literal["fsync", "fsync-each"] = Field(
        default="fsync",
        description="fsync: once at the end of each phase, inside its time, as bonnie++ always does; fsync-each: also "
        "after each block that the seeks change (its -b)",
    )
    direct: Switch = Field(
        default=False, description="block output past the page cache (O_DIRECT); all else goes through it, as in its -D"
    )
    seeks: Count = Field(default=8192, ge=1, description="random reads of a block; each tenth or so changes it")
    seek_processes: Count = Field(default=5, ge=1, le=64, description="threads of a process that seek at the same time")

    def problems(self) -> Iterator[Problem]:
        """Yield contradictions between parameters, and sizes that bonnie++ cannot express."""
        for name, size in (("file", self.file), ("per_character", self.per_character)):
            if size % MIB:
                yield Problem((name,), f"bonnie++ counts in MiB, so {describe_size(size)} must be a multiple of 1M")
        if self.chunk & (self.chunk - 1):
            yield Problem(("chunk",), f"must be a power of two, not {self.chunk}")
        if self.direct and self.per_character:
            yield Problem(
                ("direct",),
                "true needs per_character = 0: single bytes cannot be written past the page cache",
            )


BONNIE_PLUS = "/usr/sbin/bonnie++"
_K_A_MIB = 1024.0

PHASES = ("char_output", "block_output", "rewrite", "char_input", "block_input", "random_seeks")
"""The phases in order of time, of the CSV line, and of bonnie++'s own numbers (from 0)."""

CSV_LINES, CSV_VERSION = "bonnie.csv", "1.98"
"""The file of CSV lines, and the version that begins each line."""

SEEKERS_FIELD, FIRST_FIELD = 8, 9
"""The fields of the number of seeking threads and of the first phase's rate. The phase's CPU load follows its rate."""

TOO_FAST = "+"
"""The character that fills a field if the phase took less than half a second."""

_SEEDS = 1 << 31
"""Each seed has one number for each possible process, so that no two seeds share a process's number."""

# Make the first mark before the tool starts, because its clock is running when it first waits. The processes keep their
# inputs open themselves (<>), so that none sees an end of file. If one process fails, the others wait for a line, so
# the first failure ends all.
_MEASURE = f"""\
cd /tmp
mkfifo said
{MARK} {{first}}
k=0
while [ $k -lt {{processes}} ]; do
	mkfifo hear.$k
	{{{{ {BONNIE_PLUS} {{options}} -z $(({{seed}} + k)); echo "status $?"; }}}} <>hear.$k >said 2>>/out/bonnie.err &
	k=$((k + 1))
done
waiting=0
while read -r line; do
	case $line in
	[0-5]:)
		waiting=$((waiting + 1))
		[ $waiting -lt {{processes}} ] && continue
		waiting=0
		case $line in
{{marks}}		esac
		for hear in hear.*; do echo >$hear; done ;;
	{CSV_VERSION},*) echo "$line" >>/out/{CSV_LINES} ;;
	"status 0") ;;
	status*) cat /out/bonnie.err; exit 1 ;;
	esac
done <said
"""


class BonniePlus(Phased):
    """The workload `bonnie++`."""

    parameters: type[ToolParameters] = BonniePlusParameters
    built: tuple[str, ...] = ()
    begins_with: tuple[str, ...] = ()
    own_files: tuple[str, ...] = ()

    def needs(self, parameters: Parameters) -> Needs:
        return Needs(("bonnie++",), (BONNIE_PLUS,))

    def sequence(self, parameters: Parameters) -> str:
        return "bonnie++"

    def title(self, parameters: Parameters) -> str:
        return self.sequence(parameters)

    def headline(self, values: Mapping[str, Sequence[str]]) -> tuple[str, ...]:
        return ("block_output", "block_input", "random_seeks")

    def files(self, parameters: Parameters, seed: int) -> dict[str, bytes]:
        """Return the scripts. bonnie++ makes its files in the measurement and removes them.

        -r 0 disables the rule that a file must be twice the RAM; -n 0 skips the creation of small files.
        """
        parsed = BonniePlusParameters.model_validate(dict(parameters))
        options = [
            f"-d /mnt -u 0:0 -q -y p -m flashbed -n 0 -r 0 -f{_characters(parsed) // MIB}",
            f"-s {parsed.file // MIB}:{parsed.chunk}:{parsed.seeks}:{parsed.seek_processes}",
            *(["-b"] if parsed.flush == "fsync-each" else []),
            *(["-D"] if parsed.direct else []),
        ]
        first, *others = (phase.name for phase in self.phases(parameters))
        marks = "".join(f"\t\t{PHASES.index(name)}:) {MARK} {name} ;;\n" for name in others)
        arguments = {
            "processes": parsed.processes,
            "options": " ".join(options),
            "seed": seed * MOST_PROCESSES % _SEEDS,
        }
        script = _MEASURE.format(first=first, marks=marks, **arguments)
        return {"prepare": b"true\n", "measure": script.encode()}

    def metrics(self, out: Mapping[str, bytes]) -> dict[str, float]:
        """Return rates in MiB/s (seeks: per second) and CPU load in percent, summed over all processes.

        A phase that was skipped, or too fast for bonnie++ to measure, is absent. For seeks, bonnie++ adds up what each
        thread reports for the whole process, so the sum is divided by the threads. Raises WorkloadOutputError.
        """
        lines = [line.split(",") for line in out.get(CSV_LINES, b"").decode(errors="replace").splitlines()]
        if not lines:
            raise WorkloadOutputError(f"{CSV_LINES} is missing: bonnie++ did not get as far as writing its results")
        metrics: dict[str, float] = {}
        for number, name in enumerate(PHASES):
            place = FIRST_FIELD + 2 * number
            rates, loads = ([_number(line, at) for line in lines] for at in (place, place + 1))
            if None not in rates:
                metrics[name] = fsum(rate or 0.0 for rate in rates) / (1.0 if name == "random_seeks" else _K_A_MIB)
            if None not in loads:
                metrics[f"{name}_cpu_percent"] = fsum(load or 0.0 for load in loads)
        if "random_seeks_cpu_percent" in metrics:
            metrics["random_seeks_cpu_percent"] /= _number(lines[0], SEEKERS_FIELD) or 1.0
        return metrics

    def commits(self, parameters: Parameters, out: Mapping[str, bytes]) -> Commits:
        """Return one commit per process and writing phase. bonnie++ does not report how many seeks are flushed."""
        parsed = BonniePlusParameters.model_validate(dict(parameters))
        writing = sum(phase.direction != "read" for phase in self.phases(parameters))
        return Commits(writing * parsed.processes, parsed.processes)

    def phases(self, parameters: Parameters) -> Sequence[Phase]:
        parsed = BonniePlusParameters.model_validate(dict(parameters))
        characters, blocks = _characters(parsed) * parsed.processes, parsed.file * parsed.processes
        transfers: list[tuple[Direction, int]] = [
            ("write", characters),
            ("write", blocks),
            ("either", 2 * blocks),
            ("read", characters),
            ("read", blocks),
            ("read", parsed.seeks * parsed.chunk * parsed.processes),
        ]
        marks = zip(PHASES, transfers, strict=True)
        return [Phase(name, direction, size) for name, (direction, size) in marks if size]


def _characters(parsed: BonniePlusParameters) -> int:
    """Return how many bytes a process transfers one at a time."""
    return min(parsed.per_character, parsed.file)


def _number(line: Sequence[str], place: int) -> float | None:
    """Return the number in a field; None if the field is empty or says "too fast". Raises WorkloadOutputError."""
    try:
        field = line[place]
        return float(field) if field.strip(TOO_FAST) else None
    except (IndexError, ValueError):
        raise WorkloadOutputError(f"{CSV_LINES} is not what bonnie++ writes: {','.join(line)}") from None
