# SPDX-License-Identifier: Apache-2.0
"""Read what the guests of power cuts tell: which lines a program had acknowledged when, and what became of the data at
each cut (out/cuts.json, and its metrics).

A program acknowledges by writing to a file in the guest's memory, and a power cut takes it. The emulator's notes say
when each write returned. So the lines of a guest that ran to its end say what another guest, equal until its power was
cut, had acknowledged by then. Every pack contains this module. Must not know how the power is cut, nor how data are
checked.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from enum import StrEnum
from statistics import fmean
from typing import NamedTuple

from flashbed.guest_output import processes, system_calls
from flashbed.guest_output.processes import SystemCall
from flashbed.guest_output.system_calls import CALL_NOTES, COPIES, WRITE_CALLS, Number

CUTS = "cuts.json"

MOST_CUTS = 10_000
"""The most power cuts of a repetition."""

ARMING_MARK, ARMED_MARK, MEASURED_MARK = "arming", "armed", "measured"
"""Marks before and after the power cut is armed, and after the measurement."""

RECOVERY_MARK, RECOVERED_MARK = "recovery", "recovered"
"""Marks before the first mount after the cut, and after the last."""

MOUNTED_AS = "mounted_as"
"""The file of /out that says how the file system mounted after the cut: as it was, or repaired; none if it did not."""
AS_IT_WAS, REPAIRED = b"as it was\n", b"repaired\n"

CHECK_STATUS, KERNEL_LOG, FILE_TREE, MOUNT_LOG, CHECK_LOG = (
    "check.status",
    "kernel.log",
    "tree",
    "recover.txt",
    "check.txt",
)
"""Files of /out after the cut: the exit status of the check, the kernel's messages, the files of the file system, and
what mount and repair, and the check, printed.
"""

ACKNOWLEDGED = "acknowledged"
"""The file of /job, for the check, with the lines that were acknowledged when the power went. The program's own name
for it is $FLASHBED_ACKED. A program of the user's writes its lines to the file of /out with this name.
"""

INTACT, LOST, UNREADABLE = 0, 1, 2
"""The exit statuses of the check: all acknowledged data are there; some are lost; the data cannot be read, or
contradict themselves. With any other status, the check itself failed.
"""


class CutOutcome(StrEnum):
    """What a power cut led to. Those that come first are better."""

    SURVIVED = "survived"
    """The file system mounted, and all acknowledged data are there."""
    REPAIRED = "repaired"
    """So they are, but the file system mounted only after its repair."""
    LOST = "acknowledged data lost"
    UNREADABLE = "unreadable"
    """The check found data that it cannot read, or that contradict themselves."""
    REFUSED = "refused to mount"
    """The file system did not mount, nor after its repair if it has one."""
    CRASHED = "crashed"
    """The guest after the cut ended before it could say more: its kernel panicked or hung."""
    UNDECIDED = "check failed"
    """The check itself failed."""


METRIC_OF: Mapping[CutOutcome, str] = {
    CutOutcome.SURVIVED: "cuts_survived",
    CutOutcome.REPAIRED: "cuts_repaired",
    CutOutcome.LOST: "cuts_lost",
    CutOutcome.UNREADABLE: "cuts_unreadable",
    CutOutcome.REFUSED: "cuts_refused",
    CutOutcome.CRASHED: "cuts_crashed",
    CutOutcome.UNDECIDED: "cuts_undecided",
}

ALL = "cuts"
"""The metric of all cuts, and the beginning of the names of the others."""

LOSSES = (CutOutcome.LOST, CutOutcome.UNREADABLE, CutOutcome.REFUSED)
"""The outcomes by which a stack is not durable."""

GOOD = (CutOutcome.SURVIVED, CutOutcome.REPAIRED)


@dataclass(frozen=True)
class Cut:
    """A power cut and what it led to."""

    moment_ns: int
    """Since the command began."""
    outcome: CutOutcome
    acknowledged: int
    """The lines that the program had acknowledged by then."""
    recovery_s: float | None = None
    """From the first attempt to mount to the mounted file system, with its repair; None if it did not mount."""
    note: str = ""
    """What the check, or the mount that failed, said; or how the guest ended."""


def to_json(cuts: Sequence[Cut]) -> bytes:
    """Return the file of these cuts."""
    return json.dumps([asdict(cut) for cut in cuts], indent=1, ensure_ascii=False).encode() + b"\n"


def read(out: Mapping[str, bytes]) -> list[Cut]:
    """Return the cuts in a guest's files; [] if its power was not cut. Raises ValueError."""
    try:
        of_file = json.loads(out[CUTS]) if CUTS in out else []
        return [Cut(**{**cut, "outcome": CutOutcome(cut["outcome"])}) for cut in of_file]
    except (KeyError, TypeError) as error:
        raise ValueError(f"{CUTS}: {error}") from None


def metrics(out: Mapping[str, bytes]) -> dict[str, float]:
    """Return how many cuts led to what, and the mean and the longest recovery; {} without cuts. Raises ValueError."""
    cuts = read(out)
    if not cuts:
        return {}
    counted = {name: float(sum(cut.outcome is outcome for cut in cuts)) for outcome, name in METRIC_OF.items()}
    took = [cut.recovery_s for cut in cuts if cut.recovery_s is not None]
    recovery = {"recovery_mean_s": fmean(took), "recovery_max_s": max(took)} if took else {}
    return {ALL: float(len(cuts)), **counted, **recovery}


_WRITES = (Number.WRITE, Number.WRITEV)


class Acknowledged(NamedTuple):
    """A line, without its newline, and when the write returned that ended it: virtual time from power-on, ns."""

    at_ns: int
    line: bytes


def acknowledged(out: Mapping[str, bytes], name: str = ACKNOWLEDGED) -> Sequence[Acknowledged]:
    """Return the lines that programs wrote, in the order of their writes, to the file `name` of the guest's /out.
    Return [] if nothing was written. Raises KeyError if calls were not noted, and ValueError.
    """
    content = out.get(name, b"")
    lines: list[Acknowledged] = []
    begun = b""
    for at_ns, data in _writes(out[CALL_NOTES], f"/out/{name}", content):
        *ended, begun = (begun + data).split(b"\n")
        lines.extend(Acknowledged(at_ns, line) for line in ended)
    return lines


_CHANGES = frozenset(
    {
        *(*WRITE_CALLS, *COPIES, Number.TRUNCATE, Number.FTRUNCATE, Number.FALLOCATE),
        *(Number.UNLINKAT, Number.RENAMEAT, Number.RENAMEAT2, Number.LINKAT, Number.SYMLINKAT, Number.MKDIRAT),
    }
)
"""Calls that change a file or its name."""


def first_change_ns(out: Mapping[str, bytes], since_ns: int) -> int | None:
    """Return when a program first called for a change on the medium, from `since_ns` on: virtual time from power-on,
    ns. Return None if none did, or calls were not noted. Raises ValueError.
    """
    if CALL_NOTES not in out:
        return None
    on_medium = (call.note for call in _calls(out[CALL_NOTES]) if any(file.is_on_medium for file in call.files))
    changes = (note.begin_ns for note in on_medium if note.number in _CHANGES or note.maps_for_writing)
    return min((begin_ns for begin_ns in changes if begin_ns >= since_ns), default=None)


def _calls(notes: bytes) -> Sequence[SystemCall]:
    """Return the calls of trimmed notes, with their files. Raises ValueError."""
    of = system_calls.notes(notes)
    return processes.follow(of, system_calls.window(of).begin_ns).calls


def until(lines: Sequence[Acknowledged], at_ns: int) -> Sequence[Acknowledged]:
    """Return the lines that were acknowledged at this moment."""
    return [line for line in lines if line.at_ns <= at_ns]


def _writes(notes: bytes, path: str, content: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield the end and the data of each write to the file. The emulator notes the data of short writes only; those of
    a longer one are looked up in the file's content, to which each write appended.
    """
    at = 0
    for call in _calls(notes):
        written = call.result
        if call.note.number not in _WRITES or not call.files or call.files[0].path != path or not written:
            continue
        if written < 0:
            continue
        data = call.note.text[:written]
        if len(data) < written:
            data = content[at : at + written]
        if len(data) < written:
            raise ValueError(f"{path}: {written} bytes were written at once, and the file does not have them")
        at += written
        yield call.note.end_ns, data
