# SPDX-License-Identifier: Apache-2.0
"""Runs what of a study is not in the store yet, several repetitions at a time, and keeps each as soon as it is
finished.

Knows neither QEMU nor reports. Whatever stops a run (a key press, a signal, a full disk), finished results stay, and
the next run goes on.
"""

from __future__ import annotations

import json
import logging
import os
import tempfile
import threading
import time
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from flashbed import (
    beforehand,
    host_commands,
    image,
    limit,
    locks,
    medium_parameters,
    own_file,
    paths,
    repetition,
    steadiness,
    wear,
)
from flashbed.errors import InputError, host_refusal
from flashbed.library import Kind, Selector
from flashbed.machine import qemu
from flashbed.plan import Cell, plan
from flashbed.progress import Stage, stage
from flashbed.repetition import Finished, Repetition
from flashbed.store import Different, Store
from flashbed.study import Study
from flashbed.tomlfile import Keys
from flashbed.workload import WORKLOADS
from flashbed.workload.base import WorkloadOutputError

_log = logging.getLogger("flashbed")

DEFAULT_LIMIT_S = 900.0
"""Host seconds after which a guest counts as hung. Far above the slowest cell of the shipped studies."""


ELSEWHERE_POLL_S = 0.5
"""Between two looks at what other runs have finished, host seconds."""

MANY = 5000
"""Repetitions; to plan more takes seconds, and says so."""


@dataclass(frozen=True)
class Record:
    """A repetition and what is known of it: its result, and where its artefacts are."""

    repetition: Repetition
    result: dict[str, Any]
    folder: Path

    @property
    def measured(self) -> bool:
        return bool(self.result["outcome"] == "measured")


@dataclass(frozen=True)
class Run:
    """A study's records in the order of its plan; how many were run now, and how many were there before."""

    study: Study
    records: Sequence[Record]
    fresh: int
    different: Sequence[Different] = ()
    """Second results that differ from those here: there must be none."""

    @property
    def failures(self) -> list[Record]:
        return [record for record in self.records if not record.measured]


def cores() -> int:
    """The processor cores that this process may use."""
    return len(os.sched_getaffinity(0))


def open_store() -> Store:
    """The store of results."""
    return Store(paths.cache_root() / "results")


def prepare(study: Study, *, only_built: bool = False) -> list[Repetition]:
    """The repetitions of a study, with their keys. Builds the guest if that is missing. Raises InputError for a medium
    that the media core does not take, and for programs that no guest can have; with `only_built`, NotBuilt in place of
    fetching or building anything of the guest.
    """
    medium_parameters.check_study(study, image.media_tool())
    with _noted(f"Planning {study.count} repetitions", study.count):
        cells = plan(study)
    versions = sorted({cell.kernel for cell in cells})
    sets = {repetition.program_set(cell) for cell in cells}
    try:
        images = {version: image.build(version, sets, only_built=only_built) for version in versions}
    except image.PartError as error:
        raise _of_profile(study, error) from None
    emulator = qemu.version()
    with _noted("Working out their keys", len(cells)) as progress:
        return [_prepared(cell, images[cell.kernel], emulator, progress) for cell in cells]


def _prepared(cell: Cell, guest: image.GuestImage, emulator: str, progress: Stage | None) -> Repetition:
    if progress:
        progress.advance()
    return repetition.prepare(cell, guest, emulator)


@contextmanager
def _noted(title: str, repetitions: int) -> Iterator[Stage | None]:
    """A stage, if there are so many repetitions that it takes seconds."""
    if repetitions < MANY:
        yield None
        return
    with stage(title, total=repetitions) as progress:
        yield progress


def _of_profile(study: Study, error: image.PartError) -> InputError:
    """With file and line of the profile that wants this part."""
    kinds: tuple[Kind, ...] = ("filesystem", "translation", "scheduler")
    for kind in kinds:
        for text in study.axes.get(kind) or (study.fixed[kind],):
            file = study.library.file(kind, Selector.parse(text).name)
            for keys in _places(file.data, error.key, error.name):
                return file.error(keys, error.message)
    return error


def _places(profile: Mapping[str, Any], key: str, name: str) -> Iterator[Keys]:
    """Where a profile names a part: as a value, in a list, or in one of its options."""
    said = profile.get(key)
    if said == name:
        yield (key,)
    elif isinstance(said, list) and name in said:
        yield key, said.index(name)
    for option, table in profile.get("options", {}).items():
        if table.get(key) == name:
            yield "options", option, key


def run(study: Study, *, jobs: int | None = None, limit_s: float = DEFAULT_LIMIT_S) -> Run:
    """Runs what is missing, `jobs` guests at a time. Raises FlashbedError for what stops the whole run,
    InterruptedByUser.
    """
    host_commands.check(study)
    for left in (_work(), _failures_under_way()):
        locks.clean(left)
    with open_store() as store:
        wanted = prepare(study)
        known = {r.key: record for r in wanted if (record := _stored(store, r)) is not None}
        missing = [r for r in wanted if r.key not in known]
        beforehand.check(study, [r.cell for r in missing])
        _condition(missing)
        for record in _execute(store, missing, jobs or cores(), limit_s):
            known[record.repetition.key] = record
        return Run(study, [known[r.key] for r in wanted], len(missing), _different(store, wanted))


def stored(study: Study) -> Run:
    """What the store has of a study, without measuring, fetching or building a guest."""
    with open_store() as store:
        if not store.keys():
            return Run(study, [], 0)
        try:
            wanted = prepare(study, only_built=True)
        except image.NotBuilt:  # and so nothing is measured with the guest of today
            return Run(study, [], 0)
        records = [record for r in wanted if (record := _stored(store, r)) is not None]
        return Run(study, records, 0, _different(store, wanted))


def rows(done: Run) -> list[dict[str, Any]]:
    """The table that reports and users see, as a list: docs/design.md says which columns."""
    return [_row(record, done.study.bytes_per_day) for record in done.records]


def find_study(name: str) -> Path:
    """The file of a study: `name` as a path, with or without .toml, else one of the shipped studies; as with profiles,
    a study of one's own wins. Raises InputError.
    """
    for path in (Path(name), Path(f"{name}.toml"), paths.studies() / f"{name}.toml"):
        if own_file.is_file(path):
            return path
    known = ", ".join(sorted(file.stem for file in paths.studies().glob("*.toml")))
    raise InputError(f"{name}: no such file, and no shipped study of that name; there are: {known}")


def failure_folder(key: str) -> Path:
    """Where the last failed attempt at a repetition is kept: not in the store, since another attempt may succeed."""
    return paths.cache_root() / "failures" / key


def _work() -> Path:
    """What is under way, of all runs; each has a folder there that it holds by a lock."""
    return paths.cache_root() / "work"


def _failures_under_way() -> Path:
    return failure_folder(".tmp")


def _row(record: Record, bytes_per_day: int | None) -> dict[str, Any]:
    """What depends on the study's questions, and not on how it was measured, is made here, and is in no key."""
    result, cell = record.result, record.repetition.cell
    plain = {name: result[name] for name in ("seed", "outcome", "reason", "key", "check")}
    metrics = {**result["metrics"], **wear.years(result["metrics"], bytes_per_day)}
    found = limit.limit(
        metrics, limit.direction_of(cell.workload.parameters), pio=cell.board.transfer == "pio", polls=cell.polls
    )
    told = {
        "limit": found,
        "mounted": result.get("mounted", ""),
        "steady": _steady(record) if result["outcome"] == "measured" else "",
        "fresh": wear.freshness(result["medium"], cell.medium.core_parameters),
        "writes": WORKLOADS[cell.workload.tool].writes(cell.workload.parameters),
    }
    return {**result["coordinates"], **plain, **told, **metrics}


def _steady(record: Record) -> str:
    workload = record.repetition.cell.workload
    return steadiness.told(_series(record), WORKLOADS[workload.tool].silent(workload.parameters))


def _series(record: Record) -> Sequence[Mapping[str, Any]]:
    """What a repetition moved over time. Its key does not know the code that made it: where that was another version,
    it is made anew from the files that the tool left; none where those do not tell.
    """
    found: Sequence[Mapping[str, Any]] = record.result.get("series", ())
    if steadiness.is_current(found):
        return found
    try:
        out = {path.name: path.read_bytes() for path in (record.folder / "out").iterdir() if path.is_file()}
        workload = record.repetition.cell.workload
        return [one.plain() for one in WORKLOADS[workload.tool].series(workload.parameters, out)]
    except (OSError, WorkloadOutputError, KeyError, ValueError):
        return ()


def _different(store: Store, wanted: Sequence[Repetition]) -> list[Different]:
    keys = {r.key for r in wanted}
    return [one for one in store.different() if one.key in keys]


def _stored(store: Store, wanted: Repetition) -> Record | None:
    found = store.get(wanted.key)
    if found is None:
        return None
    # The key does not know how a study names its axes, and the same repetition may serve several studies.
    result = {**found.result, "coordinates": dict(wanted.cell.coordinates)}
    return Record(wanted, result, found.folder)


def _condition(missing: Sequence[Repetition]) -> None:
    """Makes the states that cells start from, before any of them runs: a large one takes a minute."""
    wanted = {id(r.cell.medium): r for r in missing if r.cell.medium.conditioned}
    if not wanted:
        return
    with stage("Writing to media until they are full or worn", total=len(wanted)) as progress:
        for one in wanted.values():
            repetition.conditioned(one.cell, one.image)
            progress.advance()


def _execute(store: Store, missing: Sequence[Repetition], jobs: int, limit_s: float) -> Iterator[Record]:
    """Yields a record for each repetition as soon as there is one, whether it is measured here or by another run."""
    if not missing:
        return
    stop = threading.Event()
    with (
        locks.scratch(_work()) as work,
        stage("Measuring", total=len(missing)) as progress,
        ThreadPoolExecutor(jobs) as pool,
    ):
        queue, running = Queue(store, missing), set[Future[Record]]()
        try:
            while queue.left or running:
                while len(running) < jobs and (taken := queue.take()) is not None:
                    claim, wanted = taken
                    running.add(pool.submit(_claimed, claim, store, wanted, work, limit_s, stop))
                for record in queue.finished_elsewhere():
                    yield _told(record, progress)
                if queue.left and not running:
                    queue.wait(progress)
                finished, running = wait(running, ELSEWHERE_POLL_S if queue.left else None, FIRST_COMPLETED)
                for future in finished:
                    yield _told(future.result(), progress)
        except BaseException:
            stop.set()
            pool.shutdown(wait=True, cancel_futures=True)
            raise


class Queue:
    """What is still to be measured. Who measures a repetition has its claim; what others have is left to the end."""

    def __init__(self, store: Store, missing: Sequence[Repetition]) -> None:
        self._store = store
        self._mine = deque(missing)
        self._others: list[tuple[Repetition, object]] = []
        """What others measured when this run came to it, and what was known of its failures then."""
        self._finished: list[Record] = []
        self._said = False

    @property
    def left(self) -> int:
        return len(self._mine) + len(self._others)

    def take(self) -> tuple[locks.Lock, Repetition] | None:
        """The next repetition that nobody measures, with its claim; None if there is none at the moment."""
        while self._mine:
            wanted = self._mine.popleft()
            if (claim := self._store.claim(wanted.key)) is None:
                self._others.append((wanted, _state_of_failure(wanted.key)))
            elif not self._is_finished(claim, _stored(self._store, wanted)):
                return claim, wanted
        for one in list(self._others):
            wanted, before = one
            if (claim := self._store.claim(wanted.key)) is not None:
                self._others.remove(one)
                if not self._is_finished(claim, _stored(self._store, wanted) or _failed_since(wanted, before)):
                    return claim, wanted
        return None

    def _is_finished(self, claim: locks.Lock, found: Record | None) -> bool:
        """Whether another run has measured it since this one began; nobody needs its claim then."""
        if found is None:
            return False
        claim.release()
        self._finished.append(found)
        return True

    def finished_elsewhere(self) -> list[Record]:
        """What others have finished since this was asked last."""
        finished, self._finished = self._finished, []
        return finished

    def wait(self, progress: Stage) -> None:
        """Lets time pass while others have all that is left, and says so once."""
        if not self._said:
            progress.note(f"Another run is measuring the last {self.left} repetitions; waiting for them")
        self._said = True
        time.sleep(ELSEWHERE_POLL_S)


def _failed_since(wanted: Repetition, before: object) -> Record | None:
    """The failure that another run has kept since its state was `before`."""
    now, folder = _state_of_failure(wanted.key), failure_folder(wanted.key)
    if now is None or now == before:
        return None
    try:
        result = json.loads((folder / "result.json").read_bytes())
        return Record(wanted, {**result, "coordinates": dict(wanted.cell.coordinates)}, folder)
    except (OSError, ValueError, TypeError):
        return None


def _told(record: Record, progress: Stage) -> Record:
    progress.advance()
    if not record.measured:
        label, result = record.repetition.cell.label, record.result
        progress.note(f"{label}: {result['outcome']}: {result['reason']} (flashbed show {result['key'][:12]})")
    return record


def _claimed(
    claim: locks.Lock, store: Store, wanted: Repetition, work: Path, limit_s: float, stop: threading.Event
) -> Record:
    with claim:
        return _one(store, wanted, work, limit_s, stop)


def _one(store: Store, wanted: Repetition, work: Path, limit_s: float, stop: threading.Event) -> Record:
    """Raises HostResourceError if the host refuses what the lab itself writes."""
    begin = time.monotonic()
    try:
        finished = _attempt(wanted, work, limit_s, stop)
        if finished.result["outcome"] == "killed":  # says nothing about the cell: memory may be there again
            _log.warning("%s: %s; trying it again", wanted.cell.label, finished.result["reason"])
            finished = _attempt(wanted, work, limit_s, stop)
            if finished.result["outcome"] == "killed":
                finished.result["reason"] += ", twice; free memory, or run fewer guests at a time (--jobs)"
        if not finished.measured:
            return Record(wanted, finished.result, _keep_failure(wanted.key, finished))
    except OSError as error:
        raise host_refusal(work, error) from None
    stored = store.put(wanted.key, finished.files, finished.result, time.monotonic() - begin)
    return Record(wanted, stored.result, stored.folder)


def _attempt(wanted: Repetition, work: Path, limit_s: float, stop: threading.Event) -> Finished:
    with tempfile.TemporaryDirectory(dir=work, prefix=f"{wanted.key[:12]}-") as folder:
        return repetition.execute(wanted, Path(folder), limit_s, stop)


def _keep_failure(key: str, finished: Finished) -> Path:
    """In place of what was kept of an attempt before: whole or not at all. To be called by who has the key's claim."""
    folder = failure_folder(key)
    with locks.scratch(_failures_under_way()) as scratch:
        new, old = scratch / "new", scratch / "old"
        for name, data in finished.files.items():
            (new / name).parent.mkdir(parents=True, exist_ok=True)
            (new / name).write_bytes(data)
        (new / "result.json").write_text(json.dumps(finished.result, indent=1, sort_keys=True) + "\n")
        if folder.exists():
            folder.rename(old)
        new.rename(folder)
    return folder


def _state_of_failure(key: str) -> object:
    """Changes whenever a failure is kept; None without any."""
    try:
        told = (failure_folder(key) / "result.json").stat()
    except OSError:
        return None
    return told.st_ino, told.st_mtime_ns
