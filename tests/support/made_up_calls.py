# SPDX-License-Identifier: Apache-2.0
"""Notes of system calls as the emulator writes them (emulator/lab-calls.h), of a guest that never was:

    guest = MadeUpCalls()
    program = guest.fork(guest.runner)  # after guest.measure()
    guest.call(program, Number.OPENAT, AT_FDCWD, result=3, text=b"/mnt/a\\0", took_ns=500)

A call begins GAP_NS after what was noted before it, and takes `took_ns`. `begin` and `end` are for calls that overlap.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass

from flashbed.guest_output.births import CLONE_FILES, CLONE_FS, CLONE_THREAD, CLONE_VM
from flashbed.guest_output.system_calls import Flag, Number

NOTE = struct.Struct("<5Q6Qq4H")
GAP_NS = 10
AT_FDCWD = 2**64 - 100
SIGCHLD, CLONE_VFORK, SETTLS, PARENT_SETTID, CHILD_SETTID = 17, 0x4000, 0x80000, 0x100000, 0x1000000
FORK = CHILD_SETTID | SIGCHLD
THREAD = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_THREAD | SETTLS | PARENT_SETTID
PAIR = struct.Struct("<2i")


@dataclass
class Task:
    """A task: its kernel stack, its address space, its ID."""

    stack: int
    space: int
    tid: int
    pc: int = 0x1000


@dataclass
class Begun:
    """A call that has not ended."""

    task: Task
    number: int
    arguments: tuple[int, ...]
    text: bytes
    pc: int
    begin_ns: int
    space: int


class MadeUpCalls:
    """The notes so far, and the guest's time. It begins with the runner's first step."""

    def __init__(self) -> None:
        self.now_ns = 1000
        self._notes: list[bytes] = []
        self._stacks = 0
        self._tids = 31
        self.runner = self._task(0x9000)
        self._born(self.runner, pc=0x7000)
        self.call(self.runner, Number.WRITE, 1, result=17, text=b"flashbed: medium\n")

    def _task(self, space: int, stack: int | None = None) -> Task:
        self._stacks += 1
        self._tids += 1
        return Task(0xFFFFFF8000000000 + (stack or self._stacks) * 0x4000, space, self._tids)

    def data(self) -> bytes:
        return b"".join(self._notes)

    def begin(
        self, task: Task, number: int, *arguments: int, text: bytes = b"", pc: int | None = None, gap_ns: int = GAP_NS
    ) -> Begun:
        self.now_ns += gap_ns
        return Begun(task, number, arguments, text, pc or task.pc, self.now_ns, task.space)

    def end(self, begun: Begun, result: int = 0, took_ns: int = 0, flags: int = 0, text: bytes | None = None) -> None:
        self.now_ns += took_ns
        arguments = [*begun.arguments, *[0] * (6 - len(begun.arguments))]
        where = (begun.task.stack, begun.space, begun.pc)
        text = begun.text if text is None else text
        how = (begun.number, flags, 0, len(text))
        self._notes.append(NOTE.pack(begun.begin_ns, self.now_ns, *where, *arguments, result, *how) + text)

    def call(
        self,
        task: Task,
        number: int,
        *arguments: int,
        result: int = 0,
        took_ns: int = 0,
        text: bytes = b"",
        flags: int = 0,
        pc: int | None = None,
        gap_ns: int = GAP_NS,
    ) -> None:
        begun = self.begin(task, number, *arguments, text=text, pc=pc, gap_ns=gap_ns)
        self.end(begun, result, took_ns, flags)

    # What a program does

    def open(self, task: Task, path: str, descriptor: int, flags: int = 0, took_ns: int = 0) -> None:
        self.call(
            task, Number.OPENAT, AT_FDCWD, 0, flags, result=descriptor, text=path.encode() + b"\0", took_ns=took_ns
        )

    def write(self, task: Task, descriptor: int, data: bytes, took_ns: int = 0) -> None:
        number, bytes_ = Number.WRITE, len(data)
        self.call(task, number, descriptor, 0, bytes_, result=bytes_, text=data, took_ns=took_ns)

    def execute(self, task: Task, path: str, name: str, took_ns: int = 0) -> None:
        begun = self.begin(task, Number.EXECVE, text=f"{path}\0{name}\0".encode())
        task.space += 0x100000
        self.end(begun, took_ns=took_ns)

    def exit(self, task: Task, number: int = Number.EXIT_GROUP) -> None:
        self.call(task, number, flags=Flag.OPEN)

    # Tasks

    def clone(
        self, parent: Task, flags: int = FORK, stack: int = 0, tls: int = 0, kernel_stack: int | None = None
    ) -> tuple[Begun, Task]:
        """Begin a clone."""
        shares = flags & CLONE_VM
        child = self._task(parent.space if shares else 0x9000 + 0x100 * (self._stacks + 1), kernel_stack)
        child.pc = parent.pc
        return self.begin(parent, Number.CLONE, flags, stack, 0x77, tls, 0x77, pc=parent.pc), child

    def bear(self, begun: Begun, child: Task) -> None:
        """Note a child's first return: with its thread ID if clone was to write it."""
        flags, stack, _, tls, _ = begun.arguments
        says = flags & (CHILD_SETTID | PARENT_SETTID)
        self._born(child, begun.pc, stack, tls, struct.pack("<i", child.tid) if says else b"")

    def _born(self, child: Task, pc: int, stack: int = 0, tls: int = 0, text: bytes = b"") -> None:
        self.end(self.begin(child, Number.BORN, stack, tls, text=text, pc=pc))

    def fork(self, parent: Task, flags: int = FORK, stack: int = 0, tls: int = 0, took_ns: int = 0) -> Task:
        """Note a clone, and the child's birth after it."""
        begun, child = self.clone(parent, flags, stack, tls)
        self.end(begun, child.tid, took_ns)
        self.bear(begun, child)
        return child

    def thread(self, parent: Task) -> Task:
        number = self._stacks + 1
        return self.fork(parent, THREAD, stack=0x500000 + number * 0x1000, tls=0x600000 + number * 0x1000)

    # The runner

    def measure(self) -> Task:
        """Begin the measurement; return its process."""
        text = b"flashbed: measure\n"
        self.call(self.runner, Number.WRITE, 1, 0, len(text), result=len(text), text=text)
        return self.fork(self.runner)

    def sync(self, measured: Task, took_ns: int = 0) -> None:
        """End the measurement's process, and go on to the next step."""
        self.exit(measured)
        self.call(self.runner, Number.WAIT4, result=measured.tid, took_ns=took_ns)
        text = b"flashbed: sync\n"
        self.call(self.runner, Number.WRITE, 1, 0, len(text), result=len(text), text=text)
