# SPDX-License-Identifier: Apache-2.0
"""The workload `program`: commands of the user's, in a root directory of Debian packages and files of the user's.

guest/root mounts that root, and guest/launch.c runs the commands in it. It notes when they begin and end, their CPU
time and their memory. The values of a cell's axes fill {name} in a command. The emulator notes the calls of the
programs (guest_output/program_calls.py). A program may report figures of its own.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any, ClassVar, Literal, NamedTuple

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, WithJsonSchema

from flashbed.common.tomlfile import Problem, shown
from flashbed.guest_output import power_cuts
from flashbed.guest_output.own_figures import FIGURES, reported_figures
from flashbed.guest_output.power_cuts import ACKNOWLEDGED, Acknowledged
from flashbed.workload.base import (
    CHECK,
    Count,
    Needs,
    Parameters,
    Root,
    RootFile,
    SinglePhase,
    ToolParameters,
    WorkloadOutputError,
)

LAUNCH = "launch"
LAUNCH_REPORT = "launched"
"""The file of /out with a line for each process: status, begin and end (ns), CPU time (us), memory (KiB)."""

VARIABLES = {
    "PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
    "HOME": "/tmp",
    "LANG": "C.UTF-8",
    "FLASHBED_FIGURES": f"/out/{FIGURES}",
    "FLASHBED_ACK": f"/out/{ACKNOWLEDGED}",
}
"""The environment of all programs, beside the seed (FLASHBED_SEED)."""

ACKED = "FLASHBED_ACKED"
"""The variable by which a check finds the acknowledged lines."""

ON_MEDIUM, IN_MEMORY = "/mnt/program", "/program"
"""Where the guest has the root."""

COMMAND_PARAMETERS = ("prepare", "warm", "command", "check")
"""The parameters that are commands."""

LIMIT_S = 3600
AT_END = "end"

MOST_PROGRAMS = 64


def _named(value: Any) -> Any:
    """Return the names of a list, or of a text with commas between."""
    if isinstance(value, str):
        return tuple(part.strip() for part in value.split(",") if part.strip())
    return tuple(value) if isinstance(value, list) else value


def _listed(value: Any) -> Any:
    if not isinstance(value, list):
        return value
    return tuple(tuple(item) if isinstance(item, list) else item for item in value)


def _seconds(value: Any) -> Any:
    if isinstance(value, str) and re.fullmatch(r"[0-9]{1,9}(\.[0-9]{1,9})?", value):
        return float(value)
    return float(value) if type(value) is int else value


def _second_or_end(value: Any) -> Any:
    seconds = _seconds(value)
    if seconds == AT_END or (type(seconds) is float and 0 <= seconds <= 1e6):
        return seconds
    raise ValueError(f'must be a number of seconds, or "{AT_END}": when all programs without a stop have ended')


_NAMES = {"type": "array", "items": {"type": "string"}, "uniqueItems": True}
PackageNames = Annotated[tuple[str, ...], BeforeValidator(_named), WithJsonSchema(_NAMES)]
StudyFiles = Annotated[tuple[tuple[str, int, str], ...], BeforeValidator(_listed), WithJsonSchema(_NAMES)]
Seconds = Annotated[float, BeforeValidator(_seconds), WithJsonSchema({"type": ["number", "string"], "minimum": 0})]
Stop = Annotated[
    float | str,
    BeforeValidator(_second_or_end),
    WithJsonSchema({"anyOf": [{"type": "number", "minimum": 0}, {"const": AT_END}]}),
]


class ProgramProcess(BaseModel):
    """One of several programs that run at once."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    command: str = Field(min_length=1, description="what the root's shell runs")
    start: Seconds = Field(
        default=0.0, ge=0, le=1e6, description="seconds of virtual time after the measurement begins"
    )
    stop: Stop | None = Field(
        default=None,
        description="seconds of virtual time after which it is ended (SIGTERM); end: when all others have ended",
    )
    nice: int = Field(default=0, ge=-20, le=19, description="its nice value")
    environment: dict[str, str] = Field(default_factory=dict, description="further variables of its environment")


class ProgramParameters(ToolParameters):
    """The user's programs, and the root that they run in."""

    placeholders: ClassVar[bool] = True
    lists: ClassVar[tuple[str, ...]] = ("packages", "files")
    tables: ClassVar[tuple[str, ...]] = ("process",)
    on_no_axis: ClassVar[tuple[str, ...]] = (*lists, *tables, "check", "limit")  # results have columns of these names
    sized_by: ClassVar[str] = "command"

    packages: PackageNames = Field(default=(), description="Debian packages, with all that they depend on")
    files: StudyFiles = Field(
        default=(), description="files and directories beside the study, which programs find in /app"
    )
    prepare: str = Field(default="", description="a command before the file system is mounted for the measurement")
    warm: str = Field(default="", description="a command after that mount, before the measurement")
    command: str = Field(default="", description="what is measured")
    check: str = Field(default="", description="a command after the measurement; a status other than 0 fails the cell")
    root: Literal["memory", "medium"] = Field(
        default="memory",
        description="where the programs and libraries are: in memory that is not the board's, or on the medium",
    )
    limit: Count = Field(
        default=LIMIT_S, ge=1, le=10**6, description="most seconds of virtual time that a command takes"
    )
    process: Annotated[tuple[ProgramProcess, ...], BeforeValidator(_listed)] = Field(
        default=(), max_length=MOST_PROGRAMS, description="several programs at once, in place of command"
    )

    def problems(self) -> Iterator[Problem]:
        """Yield contradictions between parameters."""
        if not self.command and not self.process:
            yield Problem(("command",), "is missing; give the command to measure, or [[workload.process]] for several")
        if self.command and self.process:
            yield Problem(("command",), "cannot stand beside [[workload.process]]; make it one of the processes")
        if self.process and all(process.stop == AT_END for process in self.process):
            yield Problem(("process",), f'all have stop = "{AT_END}", and would wait for each other')
        for index, process in enumerate(self.process):
            at = ("process", index)
            if isinstance(process.stop, float) and process.stop <= process.start:
                yield Problem((*at, "stop"), f"must be later than start, which is {process.start:g}")
            for name in process.environment:
                if not re.fullmatch(r"[A-Za-z_]\w*", name, re.ASCII):
                    yield Problem((*at, "environment"), f'"{shown(name)}" cannot be the name of a variable')

    def bytes_on_medium(self) -> int:
        """Return 0: only the programs know what they write."""
        return 0

    def describe_bytes(self) -> str:
        return "what the programs write"

    @property
    def started(self) -> frozenset[str]:
        """Return the first words of all commands, also of those that an operator of the shell begins."""
        commands = (self.prepare, self.warm, self.command, self.check, *(process.command for process in self.process))
        simple = (part.split() for command in commands for part in re.split(r"[`|&;<>(){}\n]", command))
        return frozenset(words[0].strip("'\"") for words in simple if words)

    @property
    def place(self) -> str:
        """Return the directory that is the programs' root."""
        return ON_MEDIUM if self.root == "medium" else IN_MEMORY


class UserProgram(SinglePhase):
    """The workload `program`."""

    parameters: type[ToolParameters] = ProgramParameters
    built: tuple[str, ...] = (LAUNCH,)
    begins_with: tuple[str, ...] = ("cell",)
    own_files: tuple[str, ...] = ()

    def needs(self, parameters: Parameters) -> Needs:
        parsed = _parsed(parameters)
        files = tuple(RootFile(*file) for file in parsed.files)
        started = tuple(file.path for file in files if file.path in parsed.started)
        return Needs(calls=True, root=Root(parsed.packages, files, started), roots=(parsed.place,))

    def title(self, parameters: Parameters) -> str:
        return "programs of the user’s"

    def headline(self, values: Mapping[str, Sequence[str]]) -> tuple[str, ...]:
        return ("runtime_s",)

    def files(self, parameters: Parameters, seed: int) -> dict[str, bytes]:
        """Return the scripts. `warm` opens the root and `measure` closes it, so that the measurement has little of
        either. If there is a check, the guest's sequence goes on with it.
        """
        parsed = _parsed(parameters)
        steps = _Steps(parsed, seed)
        copied = " && copy_root" if parsed.root == "medium" else ""
        texts = {
            "prepare": f". /job/root\nload_root{copied} || exit\n{steps.whole(parsed.prepare, 'prepare')}",
            "warm": f". /job/root\nopen_root {parsed.place}\n{steps.launched(_alone(parsed.warm), 'warm')}",
            "measure": f". /job/root\n{steps.launched(_measured(parsed), 'measure')}{steps.closed}",
        }
        if parsed.check:
            texts["cell"] = f". /lib/flashbed/cell\nstep check sh /job/{CHECK}\n"
            texts[CHECK] = f". /job/root\nsh /job/mount || exit\n{steps.checked(parsed.check)}"
        return {name: text.encode() for name, text in texts.items()}

    def checks(self, parameters: Parameters) -> bool:
        return bool(parameters["check"])

    def check_files(self, parameters: Parameters, seed: int) -> dict[str, bytes]:
        """Return the check of a guest that has booted after a power cut, with its file system mounted."""
        parsed = _parsed(parameters)
        kept = f"cp /job/{ACKNOWLEDGED} /out || exit\n"
        text = f". /job/root\nload_root || exit\n{kept}{_Steps(parsed, seed).checked(parsed.check)}"
        return {CHECK: text.encode()}

    def acknowledged(self, out: Mapping[str, bytes]) -> Sequence[Acknowledged]:
        return power_cuts.acknowledged(out)

    def metrics(self, out: Mapping[str, bytes]) -> dict[str, float]:
        """Return run time, CPU time and memory, and the programs' own figures. Raises WorkloadOutputError, and
        ValueError for a figure that is none.
        """
        launched = list(_launched(out))
        return {
            "runtime_s": (max(process.end_ns for process in launched) - min(process.begin_ns for process in launched))
            / 1e9,
            "program_cpu_s": sum(process.cpu_us for process in launched) / 1e6,
            "program_memory_bytes": 1024.0 * max(process.memory_kib for process in launched),
            **reported_figures(out),
        }

    def prepares(self, values: Mapping[str, str]) -> bool:
        return bool(values.get("prepare")) or values.get("root") == "medium"

    def silent(self, parameters: Parameters) -> str:
        return "a program’s calls differ from one moment to the next, and so does its rate"


class _Launched(NamedTuple):
    """What launch noted of a command."""

    status: int
    begin_ns: int
    end_ns: int
    cpu_us: int
    memory_kib: int


def _launched(out: Mapping[str, bytes]) -> Iterator[_Launched]:
    """Yield the commands of the measurement. Raises WorkloadOutputError."""
    lines = out.get(LAUNCH_REPORT, b"").decode(errors="replace").splitlines()
    if not lines:
        raise WorkloadOutputError(f"{LAUNCH_REPORT} is missing: the programs did not come to their end")
    for line in lines:
        words = line.split(" ")
        if len(words) != len(_Launched._fields) or not all(re.fullmatch("[0-9]{1,18}", word) for word in words):
            raise WorkloadOutputError(f"{LAUNCH_REPORT}: a line is none of launch's")
        yield _Launched(*map(int, words))


def _parsed(parameters: Parameters) -> ProgramParameters:
    """Return the parameters of a cell, or of a result."""
    return ProgramParameters.model_validate(dict(parameters))


def _alone(command: str) -> list[ProgramProcess]:
    return [ProgramProcess(command=command)] if command else []


def _measured(parsed: ProgramParameters) -> Sequence[ProgramProcess]:
    return parsed.process or _alone(parsed.command)


class _Steps:
    """The shell commands of a cell's steps."""

    def __init__(self, parsed: ProgramParameters, seed: int) -> None:
        self._place, self._limit = parsed.place, parsed.limit
        self._variables = {**VARIABLES, "FLASHBED_SEED": str(seed)}

    @property
    def closed(self) -> str:
        """Return the lines after launch that close the root, which another script has opened, and tell the status."""
        return f"status=$?\nROOT={self._place}\nclose_root || exit\nexit $status\n"

    def whole(self, command: str, step: str) -> str:
        """Return the lines of a step that opens and closes the root for one command; "" without a command."""
        if not command:
            return ""
        return f"open_root {self._place} || exit\n{self.launched(_alone(command), step)}{self.closed}"

    def checked(self, command: str) -> str:
        """Return the lines of a check, which finds what was acknowledged in a file."""
        return f"touch /out/{ACKNOWLEDGED}\n{self.whole(command, CHECK)}"

    def launched(self, processes: Sequence[ProgramProcess], step: str) -> str:
        """Return the line that runs programs at once; "" if there are none."""
        if not processes:
            return ""
        variables = {**self._variables, **({ACKED: f"/out/{ACKNOWLEDGED}"} if step == CHECK else {})}
        words = [step, self._place, str(self._limit), *_assignments(variables)]
        for process in processes:
            stop = process.stop if isinstance(process.stop, str) else _ms(process.stop) if process.stop else "-"
            words += ["--", _ms(process.start), stop, str(process.nice), *_assignments(process.environment)]
            words += ["-c", process.command]
        return f"/bin/{LAUNCH} {shlex.join(words)}\n"


def _assignments(variables: Mapping[str, str]) -> list[str]:
    return [f"{name}={value}" for name, value in variables.items()]


def _ms(seconds: float) -> str:
    return str(round(seconds * 1000))


_PLACEHOLDER = re.compile(r"(\$?)\{(\{?)([A-Za-z_]\w*)\}(\}?)", re.ASCII)


def placeholders(value: object) -> Iterator[str]:
    """Yield the names of the placeholders in a text, or in the texts of a list or a table."""
    if isinstance(value, str):
        yield from (match[3] for match in _PLACEHOLDER.finditer(value) if _is_one(match))
    elif isinstance(value, Mapping):
        for inner in value.values():
            yield from placeholders(inner)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from placeholders(inner)


def prefilled(text: str, values: Mapping[str, str]) -> str:
    """Return a text with some placeholders replaced. All else stays as `filled` will read it, doubled braces too."""
    return _PLACEHOLDER.sub(
        lambda match: f"{match[2]}{values[match[3]]}{match[4]}" if _is_one(match) and match[3] in values else match[0],
        text,
    )


def filled(value: Any, values: Mapping[str, str]) -> Any:
    """Return a text, or the texts of a list or a table, with each placeholder replaced by its value. A placeholder
    without a value stays.
    """
    if isinstance(value, str):
        return _PLACEHOLDER.sub(lambda match: _of(match, values), value)
    if isinstance(value, Mapping):
        return {name: filled(inner, values) for name, inner in value.items()}
    if isinstance(value, list | tuple):
        return tuple(filled(inner, values) for inner in value)
    return value


def _is_one(match: re.Match[str]) -> bool:
    return not match[1] and not (match[2] and match[4])


def _of(match: re.Match[str], values: Mapping[str, str]) -> str:
    if match[1]:
        return match[0]
    if match[2] and match[4]:
        return f"{{{match[3]}}}"
    return f"{match[2]}{values[match[3]]}{match[4]}" if match[3] in values else match[0]
