# SPDX-License-Identifier: Apache-2.0
"""What a workload is to the lab: its parameters (how a study's texts become numbers), files for the guest's /job, and
numbers out of what comes back.

A workload knows its tool and nothing of machines, media or file systems.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Literal, NamedTuple, Protocol

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from flashbed.common.size_field import Size
from flashbed.common.tomlfile import Problem
from flashbed.common.units import format_size
from flashbed.guest_output.durability import NO_COMMITS, Commits
from flashbed.guest_output.steadiness import Series


def _number_as_text(value: Any) -> Any:
    """Axis values reach a model as text."""
    return int(value) if isinstance(value, str) and re.fullmatch("[0-9]{1,19}", value) else value


def _bool_as_text(value: Any) -> Any:
    return {"true": True, "false": False}.get(value, value) if isinstance(value, str) else value


def some_of(known: Sequence[str]) -> BeforeValidator:
    """Takes some of the names `known`, as a list or as a text with commas between, and puts them in that order."""

    def ordered(value: Any) -> Any:
        names = [part.strip() for part in value.split(",")] if isinstance(value, str) else value
        if not isinstance(names, list | tuple) or not names or not set(names) <= set(known):
            raise ValueError(f'must be some of "{", ".join(known)}", with commas between')
        return tuple(name for name in known if name in names)

    return BeforeValidator(ordered)


def not_in_sectors(key: str, size: int) -> Iterator[Problem]:
    """The problem of a request of `size` bytes past the page cache that is not a number of whole sectors."""
    if size % SECTOR_BYTES:
        yield Problem((key,), f"with direct = true it must be a multiple of {SECTOR_BYTES} bytes, not {size}")


MOST_PROCESSES = 256

SECTOR_BYTES = 512
"""The least that a request past the page cache may be."""

Count = Annotated[int, BeforeValidator(_number_as_text)]
Switch = Annotated[bool, BeforeValidator(_bool_as_text)]


class ToolParameters(BaseModel):
    """A tool's parameters; sizes in bytes."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    sized_by: ClassVar[str] = "file"
    """The parameter that says how much its files take."""

    def problems(self) -> Iterator[Problem]:
        """Contradictions between parameters."""
        return iter(())

    def bytes_on_medium(self) -> int:
        """What its files take, bytes."""
        raise NotImplementedError

    def canonical(self) -> dict[str, Any]:
        """All parameters, defaults too, sizes in bytes: the same for each way to write the same workload."""
        return self.model_dump()

    def describe_bytes(self) -> str:
        """The size of its files, for messages."""
        raise NotImplementedError


class FileParameters(ToolParameters):
    """Of a tool that works on files of one size."""

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

MARK = "/lib/flashbed/mark"
"""A script of the guest: `mark NAME` notes the medium's counters in /out/counters.NAME."""


REMOUNT = "/lib/flashbed/remount"
"""Another: mounts the file system anew, with cold caches, in the middle of a measurement."""


KERNEL_MODULES = "/lib/flashbed/kernel"
"""A folder of the guest's that is there with a distribution's kernel alone: modules for the cell, and for the tool."""


PROGRESS, PROGRESS_NOTES = "/lib/flashbed/progress", "progress"
"""Another: notes in /out/progress what the block device has read and written, over time, until it is killed."""


class WorkloadOutputError(Exception):
    """The tool's output is missing or makes no sense; the text says what was expected."""


@dataclass(frozen=True)
class Phase:
    """A part of a measurement, from the mark of its name to `NAME.ended`, else to the next phase's mark or the end."""

    name: str
    direction: Literal["read", "write", "either"]
    """Which way its bytes go."""
    requested_bytes: float


class Needs(NamedTuple):
    """Debian packages for the guest, and the programs (absolute paths there) that are wanted out of them. `samples`:
    where the CPUs are is sampled, when a program of the guest asks for it. `modules`: what the tool loads itself where
    the kernel has it as modules.
    """

    packages: tuple[str, ...] = ()
    programs: tuple[str, ...] = ()
    samples: bool = False
    modules: tuple[str, ...] = ()


class Workload(Protocol):
    """A tool that the lab can run. The guest runs /job/prepare, mounts the file system anew, runs /job/warm if there is
    one, and times /job/measure.
    """

    parameters: type[ToolParameters]
    built: tuple[str, ...]
    """Programs that the lab builds for the guest (image/programs.py)."""
    begins_with: tuple[str, ...]
    """Which of its files `prepare` needs, besides itself. All others come to the guest before `measure` only, and have
    no part in what is done until then.
    """
    own_files: tuple[str, ...]
    """Which of the keys `job` and `program`, files of the user's, may stand in [workload]."""

    def needs(self, parameters: Parameters) -> Needs:
        """What it takes out of Debian's packages, and of the emulator beyond a machine."""

    def title(self, parameters: Parameters) -> str:
        """The tool's name, for people: it tells if another tool stands in."""

    def headline(self, said: Mapping[str, Sequence[str]]) -> tuple[str, ...]:
        """Return the metrics that a study is judged by if it names none, the first the most important. `said` has the
        values of each parameter that the study names, as texts, and of a user's jobs their texts.
        """

    def files(self, parameters: Parameters, seed: int) -> dict[str, bytes]:
        """Files for /job, `prepare` and `measure` (shell scripts) among them. The file system is mounted on /mnt."""

    def metrics(self, out: Mapping[str, bytes]) -> dict[str, float]:
        """Metrics from the files that the guest left in /out. Raises WorkloadOutputError."""

    def phases(self, parameters: Parameters) -> Sequence[Phase]:
        """The phases of the measurement that it marks, in their order."""

    def writes(self, parameters: Parameters) -> str:
        """ "allocates" where its writes give blocks to a new file, "overwrites" where they change what was laid out
        before; "" where it does not write, or where nothing tells.
        """

    def series(self, parameters: Parameters, out: Mapping[str, bytes]) -> Sequence[Series]:
        """What it moved over time, by which its rate is judged; none where nothing tells. Raises
        WorkloadOutputError.
        """

    def silent(self, parameters: Parameters) -> str:
        """Why a run may have no series, for people, as a clause."""

    def prepares(self, said: Mapping[str, str]) -> bool:
        """True if it lays files out before the file system is mounted for the measurement. `said` has what a study says
        of its parameters, as texts.
        """

    def commits(self, parameters: Parameters, out: Mapping[str, bytes]) -> Commits:
        """How often its load asked that what it had written be durable. Raises WorkloadOutputError."""


class OfOurs:
    """What tools have in common whose program the lab builds."""

    begins_with: tuple[str, ...] = ()

    def needs(self, parameters: Parameters) -> Needs:
        return Needs()


class OfCalls:
    """What tools have in common that count calls, most of which memory answers."""

    def phases(self, parameters: Parameters) -> Sequence[Phase]:
        """None: how much it asks for is what is measured, and memory decides how much of that reaches the medium."""
        return ()

    def writes(self, parameters: Parameters) -> str:
        return ""

    def series(self, parameters: Parameters, out: Mapping[str, bytes]) -> Sequence[Series]:
        return ()

    def commits(self, parameters: Parameters, out: Mapping[str, bytes]) -> Commits:
        return NO_COMMITS

    def prepares(self, said: Mapping[str, str]) -> bool:
        return True


class InPhases:
    """What tools have in common whose measurement is phases that each ask for something else."""

    def title(self, parameters: Parameters) -> str:
        raise NotImplementedError

    def prepares(self, said: Mapping[str, str]) -> bool:
        """No: its files are made in the measurement."""
        return False

    def writes(self, parameters: Parameters) -> str:
        """Both: the names of its phases say which."""
        return ""

    def series(self, parameters: Parameters, out: Mapping[str, bytes]) -> Sequence[Series]:
        """None: its phases each ask for something else."""
        return ()

    def silent(self, parameters: Parameters) -> str:
        """The marks between the phases have the bytes of each, and nothing has those within one."""
        return f"{self.title(parameters).partition(',')[0]} tells no rate within a phase"
