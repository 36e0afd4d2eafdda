# SPDX-License-Identifier: Apache-2.0
"""Runs what of a study is not in the store yet, several repetitions at a time, and keeps each as soon as it is
finished.

Knows neither QEMU nor reports. Whatever stops a run (a key press, a signal, a full disk), finished results stay, and
the next run goes on.
"""

from __future__ import annotations

import json
import os
import shutil
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from flashbed import image, limit, medium_parameters, paths, repetition, request_log, steadiness, wear
from flashbed.errors import InputError, host_refusal
from flashbed.machine import qemu
from flashbed.plan import plan
from flashbed.progress import Stage, stage
from flashbed.repetition import Finished, Repetition
from flashbed.store import Store
from flashbed.study import Study, load_study
from flashbed.workload import WORKLOADS

if TYPE_CHECKING:
    import pandas

DEFAULT_LIMIT_S = 900.0
"""Host seconds after which a guest counts as hung. Far above the slowest cell of the shipped studies."""


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

    @property
    def failures(self) -> list[Record]:
        return [record for record in self.records if not record.measured]


def cores() -> int:
    """The processor cores that this process may use."""
    return len(os.sched_getaffinity(0))


def open_store() -> Store:
    """The store of results."""
    return Store(paths.cache_root() / "results")


def prepare(study: Study) -> list[Repetition]:
    """The repetitions of a study, with their keys. Builds the guest if that is missing. Raises InputError for a medium
    that the media core does not take.
    """
    medium_parameters.check_study(study, image.media_tool())
    cells = plan(study)
    versions = sorted({cell.kernel for cell in cells})
    sets = {repetition.program_set(cell) for cell in cells}
    images = {version: image.build(version, sets) for version in versions}
    emulator = qemu.version()
    return [repetition.prepare(cell, images[cell.kernel], emulator) for cell in cells]


def run(study: Study, *, jobs: int | None = None, limit_s: float = DEFAULT_LIMIT_S) -> Run:
    """Runs what is missing, `jobs` guests at a time. Raises FlashbedError for what stops the whole run,
    InterruptedByUser.
    """
    with open_store() as store:
        wanted = prepare(study)
        known = {r.key: record for r in wanted if (record := _stored(store, r)) is not None}
        missing = [r for r in wanted if r.key not in known]
        _condition(missing)
        for record in _execute(store, missing, jobs or cores(), limit_s):
            known[record.repetition.key] = record
        return Run(study, [known[r.key] for r in wanted], len(missing))


def stored(study: Study) -> Run:
    """What the store has of a study, without measuring."""
    with open_store() as store:
        records = [record for wanted in prepare(study) if (record := _stored(store, wanted)) is not None]
        return Run(study, records, 0)


def results(study: Path) -> pandas.DataFrame:
    """What the store has of a study, a row a repetition. `study` is a file or a name, as for the commands."""
    import pandas

    return pandas.DataFrame(rows(stored(load_study(find_study(str(study))))))


def requests(key: str) -> pandas.DataFrame:
    """The requests of the repetition whose key starts with `key`, a row a request in order of arrival: operation,
    begun_ns and done_ns since the measurement began, offset_bytes, length_bytes.

    Raises InputError if there is no such repetition, or if it kept no log.
    """
    import pandas

    with open_store() as store:
        found = store.find(key)
    try:
        log = request_log.read(found.folder / "out")
    except (FileNotFoundError, ValueError):
        raise InputError(
            f"{key}: kept no log of its requests; a [[trace]] in the study makes the cells that it shows keep one"
        ) from None
    return pandas.DataFrame(asdict(request) for request in log.requests)


def rows(done: Run) -> list[dict[str, Any]]:
    """The table that reports and users see, as a list: docs/design.md says which columns."""
    return [_row(record, done.study.bytes_per_day) for record in done.records]


def find_study(name: str) -> Path:
    """The file of a study: `name` as a path, with or without .toml, else one of the shipped studies; as with profiles,
    a study of one's own wins. Raises InputError.
    """
    for path in (Path(name), Path(f"{name}.toml"), paths.studies() / f"{name}.toml"):
        if path.is_file():
            return path
    known = ", ".join(sorted(file.stem for file in paths.studies().glob("*.toml")))
    raise InputError(f"{name}: no such file, and no shipped study of that name; there are: {known}")


def failure_folder(key: str) -> Path:
    """Where the last failed attempt at a repetition is kept: not in the store, since another attempt may succeed."""
    return paths.cache_root() / "failures" / key


def _row(record: Record, bytes_per_day: int | None) -> dict[str, Any]:
    """What depends on the study's questions, and not on how it was measured, is made here, and is in no key."""
    result, cell = record.result, record.repetition.cell
    plain = {name: result[name] for name in ("seed", "outcome", "reason", "key", "check")}
    metrics = {**result["metrics"], **wear.years(result["metrics"], bytes_per_day)}
    found = limit.limit(metrics, limit.direction_of(cell.workload.parameters), pio=cell.board.transfer == "pio")
    told = {
        "limit": found,
        "mounted": result.get("mounted", ""),
        "steady": steadiness.verdict(result.get("series", ())),
        "fresh": wear.freshness(result["medium"], cell.medium.core_parameters),
        "writes": WORKLOADS[cell.workload.tool].writes(cell.workload.parameters),
    }
    return {**result["coordinates"], **plain, **told, **metrics}


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
    if not missing:
        return
    stop = threading.Event()
    with (
        _work_folder() as work,
        stage("Measuring", total=len(missing)) as progress,
        ThreadPoolExecutor(jobs) as pool,
    ):
        running = {pool.submit(_one, store, r, work, limit_s, stop): r for r in missing}
        try:
            yield from _as_finished(running, progress)
        except BaseException:
            stop.set()
            pool.shutdown(wait=True, cancel_futures=True)
            raise


def _as_finished(running: dict[Future[Record], Repetition], progress: Stage) -> Iterator[Record]:
    while running:
        finished, _ = wait(running, return_when=FIRST_COMPLETED)
        for future in finished:
            record = future.result()
            del running[future]
            progress.advance()
            if not record.measured:
                label, result = record.repetition.cell.label, record.result
                progress.note(f"{label}: {result['outcome']}: {result['reason']} (flashbed show {result['key'][:12]})")
            yield record


def _one(store: Store, wanted: Repetition, work: Path, limit_s: float, stop: threading.Event) -> Record:
    """Raises HostResourceError if the host refuses what the lab itself writes."""
    begin = time.monotonic()
    try:
        with tempfile.TemporaryDirectory(dir=work, prefix=f"{wanted.key[:12]}-") as folder:
            finished = repetition.execute(wanted, Path(folder), limit_s, stop)
        if not finished.measured:
            return Record(wanted, finished.result, _keep_failure(wanted.key, finished))
    except OSError as error:
        raise host_refusal(work, error) from None
    stored = store.put(wanted.key, finished.files, finished.result, time.monotonic() - begin)
    return Record(wanted, stored.result, stored.folder)


def _keep_failure(key: str, finished: Finished) -> Path:
    folder = failure_folder(key)
    shutil.rmtree(folder, ignore_errors=True)
    for name, data in finished.files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data)
    (folder / "result.json").write_text(json.dumps(finished.result, indent=1, sort_keys=True) + "\n")
    return folder


@contextmanager
def _work_folder() -> Iterator[Path]:
    """A folder for this process below the cache; those of processes that were killed are removed."""
    root = paths.cache_root() / "work"
    root.mkdir(parents=True, exist_ok=True)
    for left in root.iterdir():
        if not Path(f"/proc/{left.name}").exists():
            shutil.rmtree(left, ignore_errors=True)
    mine = root / str(os.getpid())
    mine.mkdir(exist_ok=True)
    try:
        yield mine
    finally:
        shutil.rmtree(mine, ignore_errors=True)
