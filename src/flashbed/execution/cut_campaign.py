# SPDX-License-Identifier: Apache-2.0
"""Cut the power of a cell's guest at moments that the seed draws, boot from what the medium kept, and say what became
of the data.

One guest, equal to the uncut one, is cut at each moment in turn. One cut is on the host's disk at a time. Must not know
how guests are run.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple, Protocol

from flashbed.common import foreign
from flashbed.common.digest import digest_bytes
from flashbed.guest_output import power_cuts
from flashbed.guest_output.assessment import HOST_DECIDED, Status
from flashbed.guest_output.power_cuts import CUTS, Acknowledged, Cut, CutOutcome
from flashbed.machine import guest_job
from flashbed.machine.guest_job import Job
from flashbed.machine.outcomes import Outcome
from flashbed.profiles.stored_medium import DATA, STATE
from flashbed.study.plan import Cell
from flashbed.workload import WORKLOADS, base
from flashbed.workload.base import Checked

MOMENTS = "uniform from the command's first change on"
"""How the moments of cuts are drawn. It is part of the key."""

FATES = "fates.cut"
"""The emulator's note of a cut (emulator/lab-medium-notes.h)."""

_MOST_NOTED = 300

_BY_STATUS = {base.LOST: CutOutcome.LOST, base.UNREADABLE: CutOutcome.UNREADABLE}


class Guests(Protocol):
    """What runs the guests of a cell."""

    def cutting(self, job: Job, folder: Path) -> AbstractContextManager[CutGuest]:
        """Start a guest with a new medium and the load of this job, in an empty directory."""

    def after_cut(self, job: Job, folder: Path) -> Outcome:
        """Boot a guest from the medium in `folder`."""


class CutGuest(Protocol):
    """A guest that is cut at moments that do not decrease."""

    def cut(self, after_ns: int, seed: int, folder: Path) -> Outcome:
        """Leave in an empty directory what remains of the guest if its power fails at a moment, and return the outcome
        of that; or the outcome of the guest if it ends before.
        """


class CampaignError(Exception):
    """The cuts of a cell cannot be carried out. `outcome` is that of the cell."""

    def __init__(self, outcome: Outcome) -> None:
        super().__init__(outcome.reason)
        self.outcome = outcome


class Moment(NamedTuple):
    """When a power cut comes, from its arming on, and the seed of what it leaves."""

    after_ns: int
    seed: int


@dataclass(frozen=True)
class Span:
    """The time of a command in virtual time, ns. The cut is armed at some time from `arming_ns` to `armed_ns`. From
    `changed_ns`, which is no earlier, the command changes files; a cut before that would find nothing to lose.
    """

    arming_ns: int
    armed_ns: int
    changed_ns: int
    measured_ns: int

    @staticmethod
    def of(uncut: Outcome) -> Span:
        """Return the span of a guest that ran to its end. Raises CampaignError if its command left no time to cut."""
        marks = (guest_job.ARMING_MARK, guest_job.ARMED_MARK, guest_job.MEASURED_MARK)
        try:
            arming_ns, armed_ns, measured_ns = (_clock_ns(uncut, mark) for mark in marks)
            changed_ns = power_cuts.first_change_ns(uncut.files, armed_ns)
        except KeyError as error:
            raise CampaignError(replace(uncut, status=Status.FAILED, reason=f"it has no note {error}")) from None
        except ValueError as error:
            why = f"its calls cannot be read: {foreign.line(str(error))}"
            raise CampaignError(replace(uncut, status=Status.FAILED, reason=why)) from None
        span = Span(arming_ns, armed_ns, armed_ns if changed_ns is None else changed_ns, measured_ns)
        if span._left_ns <= 0:
            why = f"its command took {measured_ns - armed_ns} ns, too short for a power cut"
            raise CampaignError(replace(uncut, status=Status.FAILED, reason=why))
        return span

    @property
    def _earliest_ns(self) -> int:
        """Return the least time after arming by which the command has begun, and changed something."""
        return self.changed_ns - self.arming_ns

    @property
    def _left_ns(self) -> int:
        return self.measured_ns - self.armed_ns - self._earliest_ns

    def moment(self, seed: int, number: int) -> Moment:
        """Return the moment of cut `number` of the cell with this seed: uniform from the command's first change on."""
        drawn = int(digest_bytes(f"power cut {number} of seed {seed}".encode()), 16)
        return Moment(self._earliest_ns + drawn % self._left_ns, drawn >> 192)


class Pulled(NamedTuple):
    """The guest whose power was cut, and the one that booted after it."""

    cut_ns: int
    lines: Sequence[Acknowledged]
    """What the first had acknowledged."""
    first: Outcome
    after: Outcome


@dataclass(frozen=True)
class Campaign:
    """The power cuts of a cell whose uncut guest is known."""

    cell: Cell
    job: Job
    guests: Guests
    uncut: Outcome
    work: Path
    """A directory for the files of one cut."""

    def run(self) -> Outcome:
        """Return the outcome of the uncut guest with the file of all cuts. If a guest of a cut was killed, took too
        long, or was not cut, return that.
        """
        try:
            cuts = self.cuts()
        except CampaignError as error:
            return error.outcome
        return replace(self.uncut, files={**self.uncut.files, CUTS: power_cuts.to_json(cuts)})

    def cuts(self) -> list[Cut]:
        """Carry out the cuts of the cell, and return them by number. Raises CampaignError."""
        span, lines = Span.of(self.uncut), self.lines()
        moments = [span.moment(self.cell.seed, number) for number in range(self.cell.power_cuts)]
        done: dict[int, Cut] = {}
        with self.guest() as guest:
            for number in sorted(range(len(moments)), key=moments.__getitem__):
                done[number] = self._cut(number, guest, moments[number], span, lines)
        return [cut for _, cut in sorted(done.items())]

    @contextmanager
    def guest(self) -> Iterator[CutGuest]:
        """Start the guest that is cut."""
        folder = self.work / "cutting"
        folder.mkdir()
        with self.guests.cutting(guest_job.armed(self.job), folder) as guest:
            yield guest

    def lines(self) -> Sequence[Acknowledged]:
        """Return what the uncut guest acknowledged. Raises CampaignError."""
        try:
            return _tool(self.cell).acknowledged(self.uncut.files)
        except (KeyError, ValueError) as error:
            why = f"what it acknowledged cannot be read: {foreign.line(str(error))}"
            raise CampaignError(replace(self.uncut, status=Status.FAILED, reason=why)) from None

    def _cut(self, number: int, guest: CutGuest, moment: Moment, span: Span, lines: Sequence[Acknowledged]) -> Cut:
        folder = self.work / "cut"
        folder.mkdir()
        try:
            return classified(self.once(guest, moment, lines, folder), span.armed_ns)
        except CampaignError as error:
            reason = f"power cut {number}: {error.outcome.reason}"
            raise CampaignError(replace(error.outcome, reason=reason)) from None
        finally:
            shutil.rmtree(folder)

    def once(self, guest: CutGuest, moment: Moment, lines: Sequence[Acknowledged], folder: Path) -> Pulled:
        """Cut the power at a moment and boot again, in the empty directory `folder`. Raises CampaignError."""
        before, after = folder / "before", folder / "after"
        before.mkdir()
        first = guest.cut(*moment, before)
        _must_end(first)
        if FATES not in first.files:
            why = f"its guest ended before its power was cut ({first.reason or 'it came to its end'})"
            raise CampaignError(replace(first, status=Status.FAILED, reason=why))
        cut_ns = int(first.files[FATES].split(b"\n")[0].removeprefix(b"cut_ns:"))
        acknowledged = power_cuts.until(lines, cut_ns)
        after.mkdir()
        for name in (STATE, DATA):
            (before / name).rename(after / name)
        tool, parameters = _tool(self.cell), self.cell.workload.parameters
        text = b"".join(line.line + b"\n" for line in acknowledged)
        job = guest_job.after_cut(self.cell, self.job, tool.check_files(parameters, self.cell.seed), text)
        second = self.guests.after_cut(job, after)
        _must_end(second)
        return Pulled(cut_ns, acknowledged, first, second)


def recovery(cell: Cell, job: Job) -> Job:
    """Return the job of the guest after a cut, without acknowledged lines. It is part of the key."""
    return guest_job.after_cut(cell, job, _tool(cell).check_files(cell.workload.parameters, cell.seed))


def classified(guests: Pulled, begun_ns: int) -> Cut:
    """Return what a power cut led to. The command began at `begun_ns`."""
    after = guests.after
    outcome, note = judged(after)
    did_mount = guest_job.MOUNTED_AS in after.files
    took_ns = (
        _clock_ns(after, guest_job.RECOVERED_MARK) - _clock_ns(after, guest_job.RECOVERY_MARK) if did_mount else None
    )
    return Cut(
        moment_ns=guests.cut_ns - begun_ns,
        outcome=outcome,
        acknowledged=len(guests.lines),
        recovery_s=None if took_ns is None else took_ns / 1e9,
        note=foreign.line(note, _MOST_NOTED),
    )


def judged(after: Outcome) -> tuple[CutOutcome, str]:
    """Return the outcome that the guest after a cut shows, and its own words."""
    files = after.files
    if after.status != Status.MEASURED and "failed" not in files:
        return CutOutcome.CRASHED, after.reason
    if after.status != Status.MEASURED and files["failed"].startswith(b"check:"):
        return CutOutcome.UNDECIDED, after.reason
    if after.status != Status.MEASURED:
        return CutOutcome.REFUSED, after.reason
    if guest_job.MOUNTED_AS not in files:
        return CutOutcome.REFUSED, _last_line(files.get(guest_job.MOUNT_LOG, b""))
    status, note = files.get(guest_job.CHECK_STATUS, b"").strip(), _last_line(files.get(guest_job.CHECK_LOG, b""))
    number = int(status) if status.isdigit() else -1
    if number != base.INTACT:
        undecided = f"exit status {status.decode(errors='replace')}: {note}"
        return (_BY_STATUS[number], note) if number in _BY_STATUS else (CutOutcome.UNDECIDED, undecided)
    was = files[guest_job.MOUNTED_AS]
    return (CutOutcome.REPAIRED if was == guest_job.REPAIRED else CutOutcome.SURVIVED), ""


def _last_line(text: bytes) -> str:
    lines = text.decode(errors="replace").strip().splitlines()
    return lines[-1] if lines else ""


def _must_end(outcome: Outcome) -> None:
    """Raise CampaignError if the host decided the outcome."""
    if outcome.status in HOST_DECIDED:
        raise CampaignError(outcome)


def _clock_ns(outcome: Outcome, mark: str) -> int:
    """Return the virtual time of a mark. Raises KeyError."""
    return int(outcome.files[f"clock.{mark}"].split()[0])


def _tool(cell: Cell) -> Checked:
    tool = WORKLOADS[cell.workload.tool]
    assert isinstance(tool, Checked), cell.workload.tool  # study/cells.py refuses others
    return tool
