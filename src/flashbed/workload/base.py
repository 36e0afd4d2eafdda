# SPDX-License-Identifier: Apache-2.0
"""The interface of a workload: it turns a study's texts into parameters, parameters into files for the guest's /job,
and the guest's output into metrics.

A workload knows its tool and nothing of machines, media or file systems.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Literal, NamedTuple, Protocol, runtime_checkable

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from flashbed.common.tomlfile import Problem, Size
from flashbed.common.units import SECTOR_BYTES, format_size
from flashbed.guest_output.durability import NO_COMMITS, Commits
from flashbed.guest_output.limit import Direction
from flashbed.guest_output.power_cuts import Acknowledged
from flashbed.guest_output.steadiness import Series


def _number_as_text(value: Any) -> Any:
    """Return a number as text: values of an axis reach a model as text."""
    return int(value) if isinstance(value, str) and re.fullmatch("[0-9]{1,19}", value) else value


def _bool_as_text(value: Any) -> Any:
    return {"true": True, "false": False}.get(value, value) if isinstance(value, str) else value


def some_of(valid: Sequence[str]) -> BeforeValidator:
    """Return a validator that accepts some of the names `valid`, as a list or as text with commas, and sorts them as in
    `valid`.
    """

    def ordered(value: Any) -> Any:
        names = [part.strip() for part in value.split(",")] if isinstance(value, str) else value
        if not isinstance(names, list | tuple) or not names or not set(names) <= set(valid):
            raise ValueError(f'must be some of "{", ".join(valid)}", with commas between')
        return tuple(name for name in valid if name in names)

    return BeforeValidator(ordered)


def not_in_sectors(key: str, size: int) -> Iterator[Problem]:
    """Yield a problem if a request of `size` bytes with direct I/O is not a whole number of sectors."""
    if size % SECTOR_BYTES:
        yield Problem((key,), f"with direct = true it must be a multiple of {SECTOR_BYTES} bytes, not {size}")


MOST_PROCESSES = 256

Count = Annotated[int, BeforeValidator(_number_as_text)]
Switch = Annotated[bool, BeforeValidator(_bool_as_text)]


class ToolParameters(BaseModel):
    """The parameters of a tool. Sizes are in bytes."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    sized_by: ClassVar[str] = "file"
    """The parameter that decides the size of the tool's files."""
    lists: ClassVar[tuple[str, ...]] = ()
    """The parameters that are lists of names."""
    tables: ClassVar[tuple[str, ...]] = ()
    """The parameters that are lists of tables."""
    on_no_axis: ClassVar[tuple[str, ...]] = ()
    """The parameters that are the same in all cells of a study."""
    placeholders: ClassVar[bool] = False
    """True if {axis} in a text stands for a value of the axis, which may have any name."""

    def problems(self) -> Iterator[Problem]:
        """Yield contradictions between parameters."""
        return iter(())

    def bytes_on_medium(self) -> int:
        """Return the bytes that the tool's files take."""
        raise NotImplementedError

    def canonical(self) -> dict[str, Any]:
        """Return all parameters with defaults, sizes in bytes. Equal workloads give equal values, however a study
        writes them.
        """
        return self.model_dump()

    def describe_bytes(self) -> str:
        """Return the size of the tool's files, for messages."""
        raise NotImplementedError


class FileParameters(ToolParameters):
    """The parameters of a tool that works on files of one size."""

    file: Size = Field(gt=0, description="size of each process's file, bytes")
    processes: Count = Field(
        default=1, ge=1, le=MOST_PROCESSES, description="processes at the same time, each with its own file"
    )

    def bytes_on_medium(self) -> int:
        return self.file * self.processes

    def describe_bytes(self) -> str:
        if self.processes == 1:
            return f"file = {format_size(self.file)}"
        return f"file = {format_size(self.file)} for each of {self.processes} processes"


Parameters = Mapping[str, object]

Writes = Literal["allocates", "overwrites", ""]
"""How writes find their file: they allocate blocks of a new file, or they change existing data. Empty if there are no
writes, or if it is unknown.
"""

MARK = "/lib/flashbed/mark"
"""A script of the guest: `mark NAME` writes the medium's counters to /out/counters.NAME."""


REMOUNT = "/lib/flashbed/remount"
"""A script of the guest: it unmounts and mounts the file system, with cold caches, during a measurement."""


KERNEL_MODULES = "/lib/flashbed/kernel"
"""A directory of the guest with modules for the cell and for the tool. It exists only with a distribution's kernel."""


PROGRESS, PROGRESS_NOTES = "/lib/flashbed/progress", "progress"
"""A script of the guest: until it is killed, it logs to /out/progress what the block device has read and written."""


class WorkloadOutputError(Exception):
    """The tool's output is missing or invalid; `problem` says what was expected. `file` is the file of the output, if
    the problem is that of one file.
    """

    def __init__(self, problem: str, file: str = "") -> None:
        super().__init__(f"{file}: {problem}" if file else problem)
        self.problem, self.file = problem, file


@dataclass(frozen=True)
class Phase:
    """A part of a measurement. It begins at the mark of its name. It ends at the mark `NAME.ended`; without that mark,
    at the next phase's mark or at the end of the measurement.
    """

    name: str
    direction: Direction
    requested_bytes: float


class RootFile(NamedTuple):
    """A file of the user's in a root."""

    path: str
    """The absolute path in the root, such as /app/logger.py."""
    mode: int
    """The kind and the permissions as in st_mode: a regular file, a symbolic link or an empty directory."""
    sha256: str
    """The digest of the content; of a symbolic link, that of its target."""


class Root(NamedTuple):
    """A root directory for programs of the user's (guest/root): Debian packages with all that they depend on, the
    packages of every root (image/program_root.py), and the user's files.
    """

    packages: tuple[str, ...] = ()
    files: tuple[RootFile, ...] = ()
    programs: tuple[str, ...] = ()
    """The programs that commands start, by absolute path or by a name in PATH. If one is missing, or cannot run in the
    root, no guest boots. Other files are not examined.
    """


class Needs(NamedTuple):
    """The Debian packages of a tool in the guest, and the programs wanted out of them, by absolute path.

    `samples`: a program of the guest asks for samples of the CPUs. `modules`: kernel modules that the tool loads
    itself. `calls`: the emulator notes the system calls of programs. `roots`: the directories that a chroot makes the
    root of the programs whose calls count; () if those of all programs do. `root`: the root of programs of the user's.
    """

    packages: tuple[str, ...] = ()
    programs: tuple[str, ...] = ()
    samples: bool = False
    modules: tuple[str, ...] = ()
    calls: bool = False
    roots: tuple[str, ...] = ()
    root: Root | None = None


class Workload(Protocol):
    """A tool that the lab can run.

    The guest runs /job/prepare, unmounts and mounts the file system, runs /job/warm if it exists, and times
    /job/measure.
    """

    parameters: type[ToolParameters]
    built: tuple[str, ...]
    """The programs that the lab builds for the guest (image/guest_programs.py)."""
    begins_with: tuple[str, ...]
    """The files that `prepare` needs, besides itself. The guest gets all others just before `measure`, so they do not
    affect the preparation.
    """
    own_files: tuple[str, ...]
    """Which of the keys `job` and `program`, for files of the user's, are allowed in [workload]."""

    def needs(self, parameters: Parameters) -> Needs:
        """Return the Debian packages that the tool needs, and what it needs of the emulator."""

    def title(self, parameters: Parameters) -> str:
        """Return the tool's name for people. It says if another tool stands in."""

    def headline(self, values: Mapping[str, Sequence[str]]) -> tuple[str, ...]:
        """Return the default metrics of a study, the most important first.

        `values` maps each parameter that the study names to its values as text, and the keys of a user's job to its
        text.
        """

    def files(self, parameters: Parameters, seed: int) -> dict[str, bytes]:
        """Return the files of /job, including the shell scripts `prepare` and `measure`. The file system is mounted on
        /mnt.
        """

    def metrics(self, out: Mapping[str, bytes]) -> dict[str, float]:
        """Return the metrics from the files of /out. Raises WorkloadOutputError."""

    def phases(self, parameters: Parameters) -> Sequence[Phase]:
        """Return the phases that the measurement marks, in order."""

    def writes(self, parameters: Parameters) -> Writes:
        """Return how the writes find their file."""

    def series(self, parameters: Parameters, out: Mapping[str, bytes]) -> Sequence[Series]:
        """Return the progress over time by which the rate is judged; [] if it is unknown. Raises
        WorkloadOutputError.
        """

    def silent(self, parameters: Parameters) -> str:
        """Return why a run may have no series, as a clause for people."""

    def prepares(self, values: Mapping[str, str]) -> bool:
        """Return True if the tool writes files before the file system is mounted for the measurement. `values` maps
        parameters to their values as text.
        """

    def commits(self, parameters: Parameters, out: Mapping[str, bytes]) -> Commits:
        """Return how often the load requested that its writes be durable. Raises WorkloadOutputError."""


CHECK = "check"
"""The script of /job that looks for acknowledged data in the guest after the cut."""


@runtime_checkable
class Checked(Protocol):
    """A workload whose data can be checked after a power cut."""

    def checks(self, parameters: Parameters) -> bool:
        """Return True if these parameters have a check."""

    def check_files(self, parameters: Parameters, seed: int) -> dict[str, bytes]:
        """Return the files of /job for the guest after the cut, the script CHECK among them. The file system is mounted
        on /mnt then, and the lines are in /job/acknowledged. The script runs by `sh /job/check`. Its exit status is
        INTACT, LOST or UNREADABLE (guest_output/power_cuts.py).
        """

    def acknowledged(self, out: Mapping[str, bytes]) -> Sequence[Acknowledged]:
        """Return what the program acknowledged, from the files of /out of a guest that ran to its end, in the order of
        time. Raises KeyError, ValueError.
        """


class WithoutPackages:
    """The common part of tools that need no Debian package in the guest."""

    begins_with: tuple[str, ...] = ()

    def needs(self, parameters: Parameters) -> Needs:
        return Needs()


class SinglePhase:
    """The common part of tools whose measurement is not split, and whose rate over time is unknown."""

    def phases(self, parameters: Parameters) -> Sequence[Phase]:
        """Return (): these tools count calls, and the page cache decides how much reaches the medium."""
        return ()

    def writes(self, parameters: Parameters) -> Writes:
        return ""

    def series(self, parameters: Parameters, out: Mapping[str, bytes]) -> Sequence[Series]:
        return ()

    def commits(self, parameters: Parameters, out: Mapping[str, bytes]) -> Commits:
        return NO_COMMITS

    def prepares(self, values: Mapping[str, str]) -> bool:
        return True


class Phased:
    """The common part of tools whose measurement is a sequence of different phases."""

    def sequence(self, parameters: Parameters) -> str:
        """Return the name of the sequence of phases: "IOzone", "Bonnie's sequence"."""
        raise NotImplementedError

    def prepares(self, values: Mapping[str, str]) -> bool:
        """Return False: the files are made in the measurement."""
        return False

    def writes(self, parameters: Parameters) -> Writes:
        """Return "": the names of the phases say which."""
        return ""

    def series(self, parameters: Parameters, out: Mapping[str, bytes]) -> Sequence[Series]:
        """Return []: each phase does something else."""
        return ()

    def silent(self, parameters: Parameters) -> str:
        """Return the reason: the marks give the bytes of each phase, but nothing gives the rate within one."""
        return f"{self.sequence(parameters)} tells no rate within a phase"
