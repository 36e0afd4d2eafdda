# SPDX-License-Identifier: Apache-2.0
"""Power cuts of a cell: which stacks keep what a program acknowledged, the same cut twice, and cuts at other moments
than those of the command.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from flashbed.common import paths, sparse
from flashbed.execution import cut_campaign as campaign
from flashbed.execution import repetition, run
from flashbed.execution.cut_campaign import CampaignError, CutGuests, Moment, Span
from flashbed.execution.repetition import Repetition
from flashbed.guest_output import power_cuts, system_calls
from flashbed.guest_output.power_cuts import ACKNOWLEDGED, Cut, CutOutcome
from flashbed.guest_output.system_calls import Flag
from flashbed.machine import guest_job
from flashbed.profiles.stored_medium import DATA, STATE
from flashbed.study.loading import load_study
from flashbed.workload import WORKLOADS
from tests.support import guest_rig
from tests.support.appender import TOOL, Appender
from tests.support.fixture_types import Measure, StudyWriter

VOLATILE = "emmc-64g:used_bytes=256M"
PROTECTED = "protected:used_bytes=256M"
LIMIT_S = 300


@pytest.fixture(autouse=True)
def _appender(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(WORKLOADS._known, TOOL, Appender())


def prepared(study_file: StudyWriter, cuts: int, medium: str, filesystem: str, rows: int = 100) -> Repetition:
    study = study_file(
        f'workload = {{ tool = "{TOOL}", rows = {rows} }}\n', medium=medium, filesystem=filesystem, power_cuts=cuts
    )
    profile = (paths.profiles() / "media/emmc-64g.toml").read_text()
    protected = profile.replace("discard            = 1", "discard            = 1\npower_loss_protection = 1")
    own = study.parent / "profiles/media"
    own.mkdir(parents=True)
    (own / "protected.toml").write_text(protected.replace("[source]", '[source]\npower_loss_protection = "assumed"'))
    (wanted,) = run.prepare(load_study(study))
    return wanted


def cuts_of(wanted: Repetition, measure: Measure, folder: Path) -> list[Cut]:
    files = measure(wanted, folder).files
    return power_cuts.read({name.removeprefix("out/"): data for name, data in files.items()})


def test_a_medium_that_keeps_its_promises_loses_nothing(
    study_file: StudyWriter, measure: Measure, tmp_path: Path
) -> None:
    cuts = cuts_of(prepared(study_file, 8, PROTECTED, "ext4"), measure, tmp_path / "work")
    assert [cut.outcome for cut in cuts] == [CutOutcome.SURVIVED] * 8
    assert len({cut.moment_ns for cut in cuts}) == 8
    assert all(0 <= cut.acknowledged <= 100 and cut.recovery_s for cut in cuts)
    assert sum(cut.acknowledged > 0 for cut in cuts) > 4, "most cuts come after a row was acknowledged"
    acknowledged = [cut.acknowledged for cut in sorted(cuts, key=lambda cut: cut.moment_ns)]
    assert acknowledged == sorted(acknowledged)


def test_without_barriers_a_volatile_cache_loses(study_file: StudyWriter, measure: Measure, tmp_path: Path) -> None:
    cuts = cuts_of(prepared(study_file, 8, VOLATILE, "ext4:barrier=0"), measure, tmp_path / "work")
    assert sum(cut.outcome not in power_cuts.GOOD for cut in cuts) > 4
    assert CutOutcome.LOST in {cut.outcome for cut in cuts}


class Begun:
    """The guests of a cell, its uncut one, and the span of its command."""

    def __init__(self, wanted: Repetition, guests: CutGuests, work: Path) -> None:
        self.guests, self.cell = guests, wanted.cell
        self.uncut_folder = work / "uncut"
        self.uncut_folder.mkdir()
        self.uncut = guests.begun.run(guests.load, self.uncut_folder, LIMIT_S, guests.stop)
        assert self.uncut.status == "measured", self.uncut.reason
        self.span = Span.of(self.uncut)
        self.lines = Appender().acknowledged(self.uncut.files)

    def cut(self, moments: Sequence[Moment], work: Path) -> list[campaign.Pulled]:
        """Cut one guest at these moments. The files of each lie in a directory of `work` with its number."""
        work.mkdir()
        cuts = repetition.campaign_of(self.cell, self.guests, self.uncut, work)
        pulled = []
        with cuts.guest() as guest:
            for number, moment in enumerate(moments):
                (work / str(number)).mkdir()
                pulled.append(cuts.once(guest, moment, self.lines, work / str(number)))
        return pulled


@contextmanager
def begun(wanted: Repetition, work: Path) -> Iterator[Begun]:
    with repetition.guests_of_cuts(wanted, LIMIT_S, threading.Event(), work) as guests:
        yield Begun(wanted, guests, work)


def files_of(folder: Path) -> dict[str, bytes]:
    return {name: (folder / "after" / name).read_bytes() for name in (STATE, DATA)}


def test_the_same_cut_gives_the_same_bytes(study_file: StudyWriter, tmp_path: Path) -> None:
    wanted = prepared(study_file, 1, VOLATILE, "ext4", rows=30)
    with begun(wanted, tmp_path) as cell:
        moments = sorted(cell.span.moment(1, number) for number in range(3))
        shared = cell.cut([Moment(0, 0), *moments, moments[-1]], tmp_path / "shared")[1:]
        for number, moment in enumerate(moments):
            (alone,) = cell.cut([moment], tmp_path / f"alone {number}")
            assert files_of(tmp_path / f"shared/{number + 1}") == files_of(tmp_path / f"alone {number}/0")
            assert shared[number].first.files == alone.first.files
            assert shared[number].after.files == alone.after.files
            same = [campaign.classified(pulled, cell.span.armed_ns) for pulled in (shared[number], alone)]
            assert same[0] == same[1]
        assert len({pulled.cut_ns for pulled in shared}) == len(moments)
        assert shared[-1] == shared[-2]  # two cuts at one moment, of one seed
        # Until its cut, a guest does what the uncut one does
        cut, uncut = (
            [note for note in system_calls.notes(data) if note.flags != Flag.OPEN]
            for data in (
                (folder / system_calls.RAW_CALLS).read_bytes()
                for folder in (tmp_path / "shared/1/before", cell.uncut_folder)
            )
        )
        assert len(cut) > 1000
        assert cut == uncut[: len(cut)]


@pytest.mark.parametrize(("medium", "filesystem"), [(VOLATILE, "ext4"), ("slc-nand-64m", "ubifs")])
def test_a_guest_that_boots_from_a_shared_beginning_is_as_one_from_power_on(
    study_file: StudyWriter, tmp_path: Path, medium: str, filesystem: str
) -> None:
    wanted = prepared(study_file, 1, medium, filesystem, rows=30)
    places = [tmp_path / name for name in ("cut", "shared", "alone", "cutting")]
    for place in places:
        place.mkdir()
    taken, shared, alone, work = places
    with begun(wanted, tmp_path) as cell, cell.guests.cutting(work) as guest:
        assert campaign.FATES in guest.cut(*cell.span.moment(1, 0), taken).files
        for name in (STATE, DATA):
            sparse.copy(taken / name, alone / name)
        of_cell = repetition.job(wanted.cell, wanted.image)
        job = repetition.recovery(wanted.cell, of_cell).changed({ACKNOWLEDGED: b"1\n"})
        from_beginning = cell.guests.after_cut(b"1\n", taken, shared)
        from_power_on = guest_rig.powered_on(wanted, job, alone)
    assert from_beginning.status == "measured", from_beginning.reason
    assert from_beginning == from_power_on
    assert [(shared / name).read_bytes() for name in (STATE, DATA)] == [
        (alone / name).read_bytes() for name in (STATE, DATA)
    ]


def test_cuts_outside_the_command(study_file: StudyWriter, tmp_path: Path) -> None:
    wanted = prepared(study_file, 1, PROTECTED, "ext4", rows=20)
    with begun(wanted, tmp_path) as cell:
        late = cell.span.measured_ns - cell.span.armed_ns + 5_000_000
        _, after_end = cell.cut([cell.span.moment(1, 0), Moment(late, 1)], tmp_path / "late")
        assert len(after_end.lines) == 20
        assert campaign.classified(after_end, 0).outcome is CutOutcome.SURVIVED
        with pytest.raises(CampaignError, match="ended before its power was cut"):
            cell.cut([Moment(guest_job.NEVER_NS, 1)], tmp_path / "never")

        place = tmp_path / "late/0/after"
        job = repetition.job(wanted.cell, wanted.image)
        for after_ns in (0, 3_000_000):  # before the mount of the guest that boots again, and in it
            mount = f"medium off {after_ns} 1\n".encode() + job.beginning["mount"]
            guests = replace(cell.guests, checks={**cell.guests.checks, "mount": mount})
            again = guests.after_cut(b"", place, empty(tmp_path / f"cut at {after_ns}"))
            assert campaign.FATES in again.files
            assert campaign.judged(again)[0] is CutOutcome.CRASHED
            place = tmp_path / f"cut at {after_ns}"
        last = cell.guests.after_cut(b"1\n", place, empty(tmp_path / "last"))
        assert campaign.judged(last) == (CutOutcome.SURVIVED, "")


def empty(folder: Path) -> Path:
    folder.mkdir()
    return folder


def test_raw_flash_is_cut_too(study_file: StudyWriter, measure: Measure, tmp_path: Path) -> None:
    cuts = cuts_of(prepared(study_file, 4, "slc-nand-64m", "ubifs", rows=40), measure, tmp_path / "work")
    assert [cut.outcome for cut in cuts] == [CutOutcome.SURVIVED] * 4
