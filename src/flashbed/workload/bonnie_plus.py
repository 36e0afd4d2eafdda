# SPDX-License-Identifier: Apache-2.0
"""bonnie++: writes the scripts that call it and reads its CSV lines.

bonnie++ waits before each phase for a line of input if asked to (-y p). A script hands that line to all processes at
the same time, so that they are in the same phase, and marks the moment, so that the medium's counters can be told
phase by phase. Format: bon_time.cpp of bonnie++ 2.00a.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import fsum
from typing import Literal

from flashbed.guest_output.durability import Commits
from flashbed.workload.base import MARK, InPhases, Needs, Parameters, Phase, WorkloadOutputError
from flashbed.workload.bonnie_plus_parameters import BonniePlusParameters
from flashbed.workload.parameters import MOST_PROCESSES, ToolParameters

PROGRAM = "/usr/sbin/bonnie++"
_MIB = 1 << 20
_K_A_MIB = 1024.0

PHASES = ("char_output", "block_output", "rewrite", "char_input", "block_input", "random_seeks")
"""In the order of the CSV line, of the numbers by which bonnie++ names them (from 0), and of time."""

SAID, FORMAT = "bonnie.csv", "1.98"
"""The file of the CSV lines, and what each begins with."""

SEEKERS_FIELD, FIRST_FIELD = 8, 9
"""Where the number of seeking threads stands, and the first phase's rate; its CPU load follows."""

TOO_FAST = "+"
"""What a field of a phase of less than half a second consists of."""

_SEEDS = 1 << 31
"""A seed has as many numbers as there may be processes, so that no process of one seed is one of another."""

# The first mark is made before the tool starts, for its clock already runs when it first waits. The processes hold
# their inputs open themselves (<>), so that none sees an end of file. A process that has failed leaves the others
# waiting for a line, so the first failure ends all.
_MEASURE = f"""\
cd /tmp
mkfifo said
{MARK} {{first}}
k=0
while [ $k -lt {{processes}} ]; do
	mkfifo hear.$k
	{{{{ {PROGRAM} {{options}} -z $(({{seed}} + k)); echo "status $?"; }}}} <>hear.$k >said 2>>/out/bonnie.err &
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
	{FORMAT},*) echo "$line" >>/out/{SAID} ;;
	"status 0") ;;
	status*) cat /out/bonnie.err; exit 1 ;;
	esac
done <said
"""


class BonniePlus(InPhases):
    """The workload `bonnie++`."""

    parameters: type[ToolParameters] = BonniePlusParameters
    built: tuple[str, ...] = ()
    begins_with: tuple[str, ...] = ()
    own_files: tuple[str, ...] = ()

    def needs(self, parameters: Parameters) -> Needs:
        return Needs(("bonnie++",), (PROGRAM,))

    def title(self, parameters: Parameters) -> str:
        return "bonnie++"

    def headline(self, said: Mapping[str, Sequence[str]]) -> tuple[str, ...]:
        return ("block_output", "block_input", "random_seeks")

    def files(self, parameters: Parameters, seed: int) -> dict[str, bytes]:
        """Its files are made in the measurement, and gone after it.

        -r 0 puts its rule aside that a file must be twice the RAM; -n 0 leaves out the creation of small files.
        """
        said = BonniePlusParameters.model_validate(dict(parameters))
        options = [
            f"-d /mnt -u 0:0 -q -y p -m flashbed -n 0 -r 0 -f{_characters(said) // _MIB}",
            f"-s {said.file // _MIB}:{said.chunk}:{said.seeks}:{said.seek_processes}",
            *(["-b"] if said.flush == "fsync-each" else []),
            *(["-D"] if said.direct else []),
        ]
        first, *others = (phase.name for phase in self.phases(parameters))
        marks = "".join(f"\t\t{PHASES.index(name)}:) {MARK} {name} ;;\n" for name in others)
        words = {"processes": said.processes, "options": " ".join(options), "seed": seed * MOST_PROCESSES % _SEEDS}
        script = _MEASURE.format(first=first, marks=marks, **words)
        return {"prepare": b"true\n", "measure": script.encode()}

    def metrics(self, out: Mapping[str, bytes]) -> dict[str, float]:
        """Rates in MiB/s (seeks a second) and CPU load in percent, of all processes together.

        What a process did too fast to be measured is absent, and what it did not do. Of the seeks, bonnie++ adds up
        what each thread says of the whole process, so its sum is divided by the threads.
        """
        lines = [line.split(",") for line in out.get(SAID, b"").decode(errors="replace").splitlines()]
        if not lines:
            raise WorkloadOutputError(f"{SAID} is missing: bonnie++ did not get as far as writing its results")
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
        """One at the end of each phase that writes, by each process. How many seeks are flushed, it does not tell."""
        said = BonniePlusParameters.model_validate(dict(parameters))
        writing = sum(phase.direction != "read" for phase in self.phases(parameters))
        return Commits(writing * said.processes, said.processes)

    def phases(self, parameters: Parameters) -> Sequence[Phase]:
        said = BonniePlusParameters.model_validate(dict(parameters))
        characters, blocks = _characters(said) * said.processes, said.file * said.processes
        both: list[tuple[Literal["read", "write", "either"], int]] = [
            ("write", characters),
            ("write", blocks),
            ("either", 2 * blocks),
            ("read", characters),
            ("read", blocks),
            ("read", said.seeks * said.chunk * said.processes),
        ]
        found = zip(PHASES, both, strict=True)
        return [Phase(name, direction, size) for name, (direction, size) in found if size]


def _characters(said: BonniePlusParameters) -> int:
    """How many bytes a process handles one at a time."""
    return min(said.per_character, said.file)


def _number(line: Sequence[str], place: int) -> float | None:
    """The number in a field; None if it is empty or too fast to be measured. Raises WorkloadOutputError."""
    try:
        field = line[place]
        return float(field) if field.strip(TOO_FAST) else None
    except (IndexError, ValueError):
        raise WorkloadOutputError(f"{SAID} is not what bonnie++ writes: {','.join(line)}") from None
