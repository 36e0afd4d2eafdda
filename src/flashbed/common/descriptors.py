# SPDX-License-Identifier: Apache-2.0
"""The table of a process's file descriptors, as Linux keeps it: which file each number is, and which of them execve()
closes.

Must not know what a file is, nor where the calls come from.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Generic, Self, TypeVar

Opened = TypeVar("Opened")
"""What a descriptor refers to."""


@dataclass(eq=False)
class DescriptorTable(Generic[Opened]):
    """The descriptors of one process, or of several that share them (CLONE_FILES)."""

    files: dict[int, Opened] = field(default_factory=dict)
    closed_by_exec: set[int] = field(default_factory=set)

    def copy(self) -> Self:
        """Return the table of a new process that shares nothing."""
        return type(self)(dict(self.files), set(self.closed_by_exec))

    def put(self, descriptor: int, file: Opened, closed_by_exec: bool) -> None:
        """Let a descriptor refer to a file."""
        self.files[descriptor] = file
        self.mark(descriptor, closed_by_exec)

    def mark(self, descriptor: int, closed_by_exec: bool) -> None:
        """Set whether execve() closes a descriptor (FD_CLOEXEC)."""
        (self.closed_by_exec.add if closed_by_exec else self.closed_by_exec.discard)(descriptor)

    def remove(self, descriptor: int) -> None:
        """Close a descriptor; an unknown one, too."""
        self.files.pop(descriptor, None)
        self.closed_by_exec.discard(descriptor)

    def between(self, first: int, last: int) -> list[int]:
        """Return the open descriptors in a range, as close_range() has it."""
        return [descriptor for descriptor in self.files if first <= descriptor <= last]

    def to_close(self) -> list[int]:
        """Return the open descriptors that execve() closes."""
        return [descriptor for descriptor in self.files if descriptor in self.closed_by_exec]
