# SPDX-License-Identifier: Apache-2.0
"""Find what the notes of system calls do not say directly: the result of a call that a signal interrupted, and the
clone that made a task.

A child begins with its parent's program counter and, if clone gave them, with the stack, the thread pointer and the
thread ID that clone's arguments say. Its first note may come before or after the end of its parent's clone. Must not
know files.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import NamedTuple

from flashbed.guest_output.system_calls import Flag, Note, Number

CLONE_VM, CLONE_FS, CLONE_FILES, CLONE_THREAD = 0x100, 0x200, 0x400, 0x10000
_PARENT_SETTID, _SETTLS, _CHILD_SETTID = 0x100000, 0x80000, 0x1000000

_CLONE_ARGS = struct.Struct("<8Q")
"""The first fields of struct clone_args: flags, pidfd, child_tid, parent_tid, exit_signal, stack, stack_size, tls."""

_FAULT, _BORN, _RT_SIGRETURN = int(Number.FAULT), int(Number.BORN), int(Number.RT_SIGRETURN)
_ELSEWHERE = int(Flag.ELSEWHERE)

_TID = struct.Struct("<i")


class CloneArguments(NamedTuple):
    """What a clone was asked for. `stack` is the child's stack pointer; 0: its parent's."""

    flags: int
    stack: int = 0
    thread_pointer: int = 0
    says_tid: bool = False
    """The child has its thread ID where its X4 points to."""


def clone_arguments(note: Note) -> CloneArguments:
    """Return the arguments of a clone or clone3; those of a fork if they could not be read."""
    if note.number == Number.CLONE3:
        if len(note.text) < _CLONE_ARGS.size:
            return CloneArguments(0)
        flags, _, _, _, _, stack, stack_bytes, tls = _CLONE_ARGS.unpack_from(note.text)
        return CloneArguments(flags, stack + stack_bytes, tls)
    flags, stack, parent_tid, tls, child_tid = note[5:10]
    says_tid = bool(flags & _CHILD_SETTID) or (flags & _PARENT_SETTID and flags & CLONE_VM and parent_tid == child_tid)
    return CloneArguments(flags, stack, tls, bool(says_tid))


def results(notes: Sequence[Note]) -> dict[int, int | None]:
    """Return the result of each interrupted call, by its place in the notes: that of the return from the signal's
    handler. It is None if the handler never returned, or if the program then began the call again.
    """
    results_by_place: dict[int, int | None] = {}
    interrupted: dict[int, list[int]] = {}
    last: dict[int, tuple[int, int]] = {}
    """By task, the last interrupted call that got a result, and that result."""
    for place, note in enumerate(notes):
        number = note.number
        if last and number < _FAULT and note.task in last:
            earlier, result = last.pop(note.task)
            old = notes[earlier]
            if old.number == note.number and old.pc == note.pc and old[5:11] == note[5:11] and result == note.a0:
                results_by_place[earlier] = None
        if note.flags & _ELSEWHERE:
            results_by_place[place] = None
            interrupted.setdefault(note.task, []).append(place)
        elif number == _RT_SIGRETURN and (open_calls := interrupted.get(note.task)):
            results_by_place[earlier := open_calls.pop()] = note.result
            last[note.task] = earlier, note.result
        elif number == _BORN:
            interrupted.pop(note.task, None)
    return results_by_place


def parents(notes: Sequence[Note], results_of: dict[int, int | None]) -> dict[int, int]:
    """Return the place of the clone that made each task, by the place of the task's birth. Tasks that the kernel made
    have none. `results_of` are the results of interrupted calls.
    """
    numbers = frozenset({Number.CLONE, Number.CLONE3, Number.BORN})
    places = [place for place, note in enumerate(notes) if note.number in numbers]
    places.sort(key=lambda place: (notes[place].begin_ns, notes[place].number == Number.BORN))
    clones_by_birth: dict[int, int] = {}
    unborn: dict[int, dict[int, CloneArguments]] = {}
    for place in places:
        note = notes[place]
        waiting = unborn.setdefault(note.pc, {})
        if note.number != Number.BORN:
            result = results_of.get(place, note.result)
            if note.flags & Flag.OPEN or result is None or result > 0:
                waiting[place] = clone_arguments(note)
            continue
        for clone, arguments in waiting.items():
            if _fits(note, notes[clone], arguments, results_of.get(clone, notes[clone].result)):
                clones_by_birth[place] = clone
                del waiting[clone]
                break
    return clones_by_birth


def _fits(born: Note, clone: Note, arguments: CloneArguments, result: int | None) -> bool:
    if bool(arguments.flags & CLONE_VM) != (born.space == clone.space):
        return False
    if arguments.stack and born.a0 != arguments.stack:
        return False
    if arguments.flags & _SETTLS and born.a1 != arguments.thread_pointer:
        return False
    if arguments.says_tid and result and not clone.flags & Flag.OPEN and len(born.text) == _TID.size:
        return bool(_TID.unpack(born.text)[0] == result)
    return True
