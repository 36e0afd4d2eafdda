# SPDX-License-Identifier: Apache-2.0
"""Cut the power of a cell's guest at moments that the seed draws, boot from what the medium kept, and say what became
of the data.

One guest, equal to the uncut one, is cut at each moment in turn. One cut is on the host's disk at a time. Every pack
contains this module. Must not know whether the guests are those of a study's cell or of a pack's recipe.
"""

from __future__ import annotations

import shutil
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

from flashbed.common import foreign
from flashbed.common.digest import digest_bytes
from flashbed.guest_output import power_cuts
from flashbed.guest_output.assessment import HOST_DECIDED, Status
from flashbed.guest_output.power_cuts import ACKNOWLEDGED, CUTS, MOUNTED_AS, Acknowledged, Cut, CutOutcome
from flashbed.guest_output.system_calls import CALL_NOTES
from flashbed.machine import beginning
from flashbed.machine.beginning import Beginning, Cutting
from flashbed.machine.outcomes import Outcome

MOMENTS = "uniform from the command's first change on"
"""How the moments of cuts are drawn. It is part of the key."""

FATES = "fates.cut"
"""The emulator's note of a cut (emulator/lab-medium-notes.h)."""

GUESTS = 5
"""How many guests a host has at a time, at most, if their power is cut: their beginning, the uncut one, whose medium
stays, the one that is cut, the beginning of those after a cut, and one of these.
"""

_MOST_NOTED = 300

_BY_STATUS = {power_cuts.LOST: CutOutcome.LOST, power_cuts.UNREADABLE: CutOutcome.UNREADABLE}


@dataclass(frozen=True)
class CutGuests:
    """The guests whose power is cut, and those after a cut, from their beginnings. Each runs for at most `limit_s`
    seconds of the host's time, until `stop` is set.
    """

    limit_s: float
    stop: threading.Event
    begun: Beginning
    again: Beginning
    load: bytes
    """The load of the guests whose power is cut, which arms the cut."""
    checks: Mapping[str, bytes]
    """The load of the guests after a cut, by name, but for the acknowledged lines."""

    def cutting(self, folder: Path) -> AbstractContextManager[Cutting]:
        """Start a guest with a new medium, in an empty directory. Raises as `beginning.cutting`."""
        return beginning.cutting(self.begun, self.load, folder, self.limit_s, self.stop)

    def after_cut(self, acknowledged: bytes, left: Path, folder: Path) -> Outcome:
        """Boot a guest in the empty directory `folder` from the medium in `left`, which loses it. `acknowledged` are
        the lines for its check. Raises as `Beginning.boot`.
        """
        load = beginning.packed_load({**self.checks, ACKNOWLEDGED: acknowledged})
        return self.again.boot(load, left, folder, self.limit_s, self.stop)


@contextmanager
def cut_guests(
    begin: Callable[[Path], Beginning | Outcome],
    begin_again: Callable[[Path], Beginning | Outcome],
    begun: Beginning | None,
    load: bytes,
    checks: Mapping[str, bytes],
    folder: Path,
    limit_s: float,
    stop: threading.Event,
) -> Iterator[CutGuests]:
    """Make the beginnings of the guests before a cut, unless it is there as `begun`, and of those after, each in a
    directory of its own in `folder`, and yield what runs them. Raises CampaignError if a beginning fails.
    """
    with ExitStack() as held:

        def made(name: str, how: Callable[[Path], Beginning | Outcome]) -> Beginning:
            place = folder / name
            place.mkdir()
            begins = how(place)
            if isinstance(begins, Outcome):
                raise CampaignError(begins)
            held.callback(begins.close)
            return begins

        first = begun or made("beginning", begin)
        again = made("beginning of those after a cut", begin_again)
        yield CutGuests(limit_s, stop, first, again, load, checks)


class CampaignError(Exception):
    """The cuts of a cell cannot be carried out. `outcome` is that of the cell."""

    def __init__(self, outcome: Outcome) -> None:
        super().__init__(outcome.reason)
        self.outcome = outcome

    @staticmethod
    def failed(outcome: Outcome, reason: str) -> CampaignError:
        """Return the error of a guest that ran, but whose `outcome` is no use for this reason."""
        return CampaignError(replace(outcome, status=Status.FAILED, reason=reason))


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
        """Return the span of a guest that ran to its end. Raises CampaignError if its command changed nothing, or left
        no time to cut.
        """
        marks = (power_cuts.ARMING_MARK, power_cuts.ARMED_MARK, power_cuts.MEASURED_MARK)
        try:
            arming_ns, armed_ns, measured_ns = (_clock_ns(uncut, mark) for mark in marks)
            changed_ns = power_cuts.first_change_ns(uncut.files, armed_ns)
        except KeyError as error:
            raise CampaignError.failed(uncut, f"it has no note {error}") from None
        except ValueError as error:
            why = f"its calls cannot be read: {foreign.line(str(error))}"
            raise CampaignError.failed(uncut, why) from None
        if changed_ns is None and CALL_NOTES in uncut.files:
            why = "its command changes no file on the medium, so that a power cut finds nothing to lose"
            raise CampaignError.failed(uncut, why)
        span = Span(arming_ns, armed_ns, armed_ns if changed_ns is None else changed_ns, measured_ns)
        if span._left_ns <= 0:
            why = f"its command took {measured_ns - armed_ns} ns, too short for a power cut"
            raise CampaignError.failed(uncut, why)
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

    guests: CutGuests
    uncut: Outcome
    seed: int
    number: int
    """How often the power is cut."""
    acknowledged: Callable[[Mapping[str, bytes]], Sequence[Acknowledged]]
    """Returns what a guest acknowledged, from its files. Raises KeyError, ValueError."""
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
        moments = [span.moment(self.seed, number) for number in range(self.number)]
        done: dict[int, Cut] = {}
        with self.guest() as guest:
            for number in sorted(range(len(moments)), key=moments.__getitem__):
                done[number] = self._cut(number, guest, moments[number], span, lines)
        return [cut for _, cut in sorted(done.items())]

    @contextmanager
    def guest(self) -> Iterator[Cutting]:
        """Start the guest that is cut."""
        folder = self.work / "cutting"
        folder.mkdir()
        with self.guests.cutting(folder) as guest:
            yield guest

    def lines(self) -> Sequence[Acknowledged]:
        """Return what the uncut guest acknowledged. Raises CampaignError."""
        try:
            return self.acknowledged(self.uncut.files)
        except (KeyError, ValueError) as error:
            why = f"what it acknowledged cannot be read: {foreign.line(str(error))}"
            raise CampaignError.failed(self.uncut, why) from None

    def _cut(self, number: int, guest: Cutting, moment: Moment, span: Span, lines: Sequence[Acknowledged]) -> Cut:
        folder = self.work / "cut"
        folder.mkdir()
        try:
            return classified(self.once(guest, moment, lines, folder), span.armed_ns)
        except CampaignError as error:
            reason = f"power cut {number}: {error.outcome.reason}"
            raise CampaignError(replace(error.outcome, reason=reason)) from None
        finally:
            shutil.rmtree(folder)

    def once(self, guest: Cutting, moment: Moment, lines: Sequence[Acknowledged], folder: Path) -> Pulled:
        """Cut the power at a moment and boot again, in the empty directory `folder`. Raises CampaignError."""
        before, after = folder / "before", folder / "after"
        before.mkdir()
        first = guest.cut(*moment, before)
        _must_end(first)
        if FATES not in first.files:
            why = f"its guest ended before its power was cut ({first.reason or 'it came to its end'})"
            raise CampaignError.failed(first, why)
        cut_ns = int(first.files[FATES].split(b"\n")[0].removeprefix(b"cut_ns:"))
        acknowledged = power_cuts.until(lines, cut_ns)
        after.mkdir()
        text = b"".join(line.line + b"\n" for line in acknowledged)
        second = self.guests.after_cut(text, before, after)
        _must_end(second)
        return Pulled(cut_ns, acknowledged, first, second)


def classified(guests: Pulled, begun_ns: int) -> Cut:
    """Return what a power cut led to. The command began at `begun_ns`."""
    after = guests.after
    outcome, note = judged(after)
    did_mount = MOUNTED_AS in after.files
    took_ns = (
        _clock_ns(after, power_cuts.RECOVERED_MARK) - _clock_ns(after, power_cuts.RECOVERY_MARK) if did_mount else None
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
    if MOUNTED_AS not in files:
        return CutOutcome.REFUSED, _last_line(files.get(power_cuts.MOUNT_LOG, b""))
    status, note = files.get(power_cuts.CHECK_STATUS, b"").strip(), _last_line(files.get(power_cuts.CHECK_LOG, b""))
    number = int(status) if status.isdigit() else -1
    if number != power_cuts.INTACT:
        undecided = f"exit status {status.decode(errors='replace')}: {note}"
        return (_BY_STATUS[number], note) if number in _BY_STATUS else (CutOutcome.UNDECIDED, undecided)
    was = files[MOUNTED_AS]
    return (CutOutcome.REPAIRED if was == power_cuts.REPAIRED else CutOutcome.SURVIVED), ""


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
