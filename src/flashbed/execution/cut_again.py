# SPDX-License-Identifier: Apache-2.0
"""Find a stored result whose power was cut, run one of its cuts again, to the bit, and collect what explains it: the
last requests before it, the files before the command and after the cut, and what mount, repair and check said.

A result does not name its study, so the studies with power cuts are searched.

Must not know who prints it.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from flashbed.common import paths
from flashbed.common.errors import DifferentResultsError, FlashbedError, InputError, SetupError
from flashbed.execution import attempt, repetition, run, scheduler
from flashbed.execution.cut_campaign import FATES, CampaignError, Moment, Pulled, Span, classified
from flashbed.execution.repetition import Repetition
from flashbed.execution.scheduler import Record
from flashbed.guest_output import power_cuts, request_log
from flashbed.guest_output.assessment import Status
from flashbed.guest_output.power_cuts import Cut
from flashbed.guest_output.request_log import REQUEST_LOG, Request
from flashbed.machine.outcomes import Outcome
from flashbed.result.evaluation import OutFiles
from flashbed.result.store import open_store
from flashbed.study import host_commands
from flashbed.study.loading import Study, find_study, load_study

MOST_RECORDED = 1 << 20
"""The most requests from power-on that are recorded, at 40 bytes each."""


@dataclass(frozen=True)
class Explained:
    """A power cut that was run again. Times of requests are in ns since the command began."""

    cut: Cut
    requests: Sequence[Request]
    """All requests of the command until the cut; [] for a raw chip, which gets none."""
    is_whole: bool
    """False if there were more requests than are recorded."""
    fates: Sequence[str]
    """The parts of writes that were not on the medium at the cut, and what became of each (fates.cut)."""
    tree_before: str
    """The files when the command began, after a power cut at that moment."""
    tree_after: str
    mount_log: str
    kernel_log: str
    check_log: str
    acknowledged: Sequence[str]


def again(record: Record, number: int, limits: attempt.Limits, folder: Path) -> Explained:
    """Run cut `number` of a stored result again, in the empty directory `folder`. Raises InputError if it has no such
    cut, DifferentResultsError if the cut now differs, and SetupError if the guest fails.
    """
    wanted, out = record.repetition, OutFiles(record.folder / "out")
    kept = power_cuts.read(out)
    if not 0 <= number < len(kept):
        raise InputError(f"{record.result.key[:12]}: has no power cut {number}; it has {len(kept)}, numbered from 0")
    span = Span.of(Outcome(Status.MEASURED, files=out))
    try:
        begun, pulled = _pulled(wanted, out, span.moment(wanted.cell.seed, number), limits, folder)
    except CampaignError as error:
        raise SetupError(f"power cut {number}: {error.outcome.reason}") from None
    cut = classified(pulled, span.armed_ns)
    if cut != kept[number]:
        raise DifferentResultsError(f"power cut {number} was {kept[number]}, and is {cut} now")
    recorded = pulled.first.files.get(REQUEST_LOG, b"")
    requests = request_log.parsed(recorded, span.armed_ns)
    after, fates = pulled.after.files, pulled.first.files[FATES].decode().splitlines()
    return Explained(
        cut=cut,
        requests=[request for request in requests if request.begun_ns >= 0],
        is_whole=len(requests) < MOST_RECORDED,
        fates=[line for line in fates if ":" not in line],
        tree_before=_text(begun.after.files, power_cuts.FILE_TREE),
        tree_after=_text(after, power_cuts.FILE_TREE),
        mount_log=_text(after, power_cuts.MOUNT_LOG),
        kernel_log=_text(after, power_cuts.KERNEL_LOG),
        check_log=_text(after, power_cuts.CHECK_LOG),
        acknowledged=[line.line.decode(errors="replace") for line in pulled.lines],
    )


def _pulled(
    wanted: Repetition, out: OutFiles, moment: Moment, limits: attempt.Limits, folder: Path
) -> tuple[Pulled, Pulled]:
    """Cut the power when the command begins, and at a moment. Raises CampaignError."""
    places = (folder / "begun", folder / "cut")
    for place in places:
        place.mkdir()
    with repetition.guests_of_cuts(wanted, limits.host_s, threading.Event(), folder, records=MOST_RECORDED) as guests:
        campaign = repetition.campaign_of(wanted.cell, guests, Outcome(Status.MEASURED, files=out), folder)
        lines = campaign.lines()
        with campaign.guest() as guest:
            begun, pulled = (
                campaign.once(guest, at, lines, place) for at, place in zip((Moment(0, 0), moment), places, strict=True)
            )
    return begun, pulled


def _text(files: Mapping[str, bytes], name: str) -> str:
    return files.get(name, b"").decode(errors="replace")


def find(key: str, study: str | None = None) -> Record:
    """Return the stored result whose key begins so, of a study: `study`, or one of the working directory or a shipped
    one. Raises InputError if there is none, or if its power was not cut.
    """
    store = open_store()
    whole = store.find(key).result.key
    for candidate in [load_study(find_study(study))] if study is not None else _with_cuts():
        host_commands.check(candidate)
        for wanted in run.prepare(candidate, only_built=True):
            if wanted.key == whole and (record := scheduler.stored(store, wanted)) is not None:
                return record
    where = study or "no study of this directory, and no shipped one,"
    raise InputError(
        f"{whole[:12]}: {where} has this repetition with power cuts; name its study with --study, as it was when it ran"
    )


def listed(of: Record) -> Iterator[str]:
    """Yield a line for each power cut of a result."""
    for number, cut in enumerate(power_cuts.read(OutFiles(of.folder / "out"))):
        note = f" ({cut.note})" if cut.note else ""
        yield f"{number:>5}  {cut.moment_ns / 1e6:12.3f} ms  {cut.outcome}{note}"


def _with_cuts() -> Iterator[Study]:
    """Yield the studies that cut the power. A file that is no valid study is left out."""
    for file in (*sorted(Path().glob("*.toml")), *sorted(paths.studies().glob("*.toml"))):
        if "power_cuts" not in file.read_text(errors="replace"):
            continue
        try:
            study = load_study(file)
        except FlashbedError:
            continue
        if study.power_cuts:
            yield study
