# SPDX-License-Identifier: Apache-2.0
"""What the parameters of all tools share: how a study's texts become numbers, and what the lab asks of any of them."""

import re
from collections.abc import Iterator, Sequence
from typing import Annotated, Any, ClassVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from flashbed.common.size_field import Size
from flashbed.common.tomlfile import Problem
from flashbed.common.units import format_size


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
