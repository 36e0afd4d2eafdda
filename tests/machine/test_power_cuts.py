# SPDX-License-Identifier: Apache-2.0
"""Power cuts of a cell: which stacks keep what a program acknowledged, the same cut twice, and cuts at other moments
than those of the command.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from flashbed.common import paths
from flashbed.execution import power_cuts as campaign
from flashbed.execution import repetition, run
from flashbed.execution.power_cuts import Campaign, CampaignError, Moment, Span
from flashbed.execution.repetition import CellGuests, Repetition
from flashbed.guest_output import power_cuts, system_calls
from flashbed.guest_output.power_cuts import Cut, CutOutcome
from flashbed.guest_output.system_calls import Flag
from flashbed.machine import guest_job
from flashbed.machine.beginning import Beginning
from flashbed.profiles.stored_medium import DATA, STATE
from flashbed.study.loading import load_study
from flashbed.workload import WORKLOADS
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

    def __init__(self, guests: CellGuests, work: Path) -> None:
        self.guests = guests
        self.cell, image = guests.repetition.cell, guests.repetition.image
        self.job = repetition.plain_job(self.cell, image)
        self.uncut_folder = work / "uncut"
        self.uncut_folder.mkdir()
        self.uncut = guests.first(guest_job.armed(self.job), self.uncut_folder)
        assert self.uncut.status == "measured", self.uncut.reason
        self.span = Span.of(self.uncut)
        self.lines = Appender().acknowledged(self.uncut.files)

    def _campaign(self, guests: CellGuests, folder: Path) -> Campaign:
        return Campaign(self.cell, self.job, guests, self.uncut, folder)

    def once(self, moment: Moment, folder: Path, guests: CellGuests | None = None) -> campaign.Pulled:
        folder.mkdir()
        return self._campaign(guests or self.guests, folder).once(moment, self.lines, folder)


@contextmanager
def begun(wanted: Repetition, work: Path) -> Iterator[Begun]:
    stop = threading.Event()
    (work / "beginning").mkdir()
    made = repetition.begin(wanted, work / "beginning", LIMIT_S, stop)
    assert isinstance(made, Beginning), made.reason
    try:
        yield Begun(CellGuests(wanted, LIMIT_S, stop, made), work)
    finally:
        made.close()


def files_of(folder: Path) -> dict[str, bytes]:
    return {name: (folder / "after" / name).read_bytes() for name in (STATE, DATA)}


def test_the_same_cut_gives_the_same_bytes(study_file: StudyWriter, tmp_path: Path) -> None:
    wanted = prepared(study_file, 1, VOLATILE, "ext4", rows=30)
    with begun(wanted, tmp_path) as cell:
        moment = cell.span.moment(1, 0)
        shared = cell.once(moment, tmp_path / "shared")
        alone = cell.once(moment, tmp_path / "alone", CellGuests(wanted, LIMIT_S, threading.Event(), None))
        assert files_of(tmp_path / "shared") == files_of(tmp_path / "alone")
        assert shared.first.files == alone.first.files
        assert shared.after.files == alone.after.files
        same = [campaign.classified(pulled, cell.span.armed_ns) for pulled in (shared, alone)]
        assert same[0] == same[1]
        # Until its cut, a guest does what the uncut one does; they differ in the text of one write, the moment
        cut, uncut = (
            [note._replace(text=b"") for note in system_calls.notes(data) if note.flags != Flag.OPEN]
            for data in (
                (folder / system_calls.RAW_CALLS).read_bytes()
                for folder in (tmp_path / "shared/before", cell.uncut_folder)
            )
        )
        assert len(cut) > 1000
        assert cut == uncut[: len(cut)]


def test_cuts_outside_the_command(study_file: StudyWriter, tmp_path: Path) -> None:
    wanted = prepared(study_file, 1, PROTECTED, "ext4", rows=20)
    with begun(wanted, tmp_path) as cell:
        late = cell.span.measured_ns - cell.span.armed_ns + 5_000_000
        after_end = cell.once(Moment(late, 1), tmp_path / "late")
        assert len(after_end.lines) == 20
        assert campaign.classified(after_end, 0).outcome is CutOutcome.SURVIVED
        with pytest.raises(CampaignError, match="ended before its power was cut"):
            cell.once(Moment(guest_job.NEVER_NS, 1), tmp_path / "never")

        cell.once(cell.span.moment(1, 0), tmp_path / "twice")
        place = tmp_path / "twice/after"
        for after_ns in (0, 3_000_000):  # before the mount of the guest that boots again, and in it
            files = dict(guest_job.after_cut(cell.cell, cell.job, Appender().check_files({}, 1)))
            files["mount"] = f"medium off {after_ns} 1\n".encode() + files["mount"]
            again = cell.guests.after_cut(files, emptied(place, tmp_path / f"cut at {after_ns}"))
            assert campaign.FATES in again.files
            assert campaign.judged(again)[0] is CutOutcome.CRASHED
            place = tmp_path / f"cut at {after_ns}"
        files = guest_job.after_cut(cell.cell, cell.job, Appender().check_files({}, 1), b"1\n")
        assert campaign.judged(cell.guests.after_cut(files, emptied(place, tmp_path / "last"))) == (
            CutOutcome.SURVIVED,
            "",
        )


def emptied(folder: Path, to: Path) -> Path:
    """Move the medium in `folder` to a new directory."""
    to.mkdir()
    for name in (STATE, DATA):
        (folder / name).rename(to / name)
    return to


def test_raw_flash_is_cut_too(study_file: StudyWriter, measure: Measure, tmp_path: Path) -> None:
    cuts = cuts_of(prepared(study_file, 4, "slc-nand-64m", "ubifs", rows=40), measure, tmp_path / "work")
    assert [cut.outcome for cut in cuts] == [CutOutcome.SURVIVED] * 4
