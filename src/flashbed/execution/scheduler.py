# SPDX-License-Identifier: Apache-2.0
"""Measure repetitions, several at a time and beside other runs, and keep each as soon as it is finished.

A cell that fails does not stop the others. A key press, a signal, or a host that refuses the lab's own files stops a
run. Knows neither studies nor QEMU.
"""

from __future__ import annotations

import json
import logging
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, replace
from operator import attrgetter
from pathlib import Path

from flashbed.common import foreign, locks, paths
from flashbed.common.errors import host_refusal
from flashbed.common.progress import Stage, stage
from flashbed.execution import attempt, memory, repetition
from flashbed.execution.attempt import Limits, Site
from flashbed.execution.beginnings import GroupedQueue, Pending
from flashbed.execution.repetition import Finished, Repetition
from flashbed.guest_output.assessment import Status
from flashbed.result import evaluation
from flashbed.result.result import Result
from flashbed.result.store import RESULT, Store

_log = logging.getLogger("flashbed")

ELSEWHERE_POLL_S = 0.5
"""Host seconds between two looks at the results of other runs."""

MOST_AT_A_TIME = 2000
"""Most attempts of one run at a time, at any site: a thread and an open file here wait for each."""


@dataclass(frozen=True)
class Record:
    """A repetition and what is known of it: its result, and where its artefacts are."""

    repetition: Repetition
    result: Result
    folder: Path


def failure_folder(key: str) -> Path:
    """Return the directory of the last failed attempt. It is not in the store, because another attempt may succeed."""
    return paths.cache_root() / "failures" / key


def clean() -> None:
    """Remove the files of killed runs."""
    for left in (attempt.work_folder(), _failures_under_way()):
        locks.clean(left)
    memory.clean()


def _failures_under_way() -> Path:
    return failure_folder(".tmp")


def stored(store: Store, wanted: Repetition) -> Record | None:
    """Return the record of a repetition; None if the store lacks it."""
    kept = store.get(wanted.key, wanted.cell.medium.size_bytes)
    return None if kept is None else _record(wanted, kept.result, kept.folder)


def for_cell(record: Record, wanted: Repetition) -> Record:
    """Return the record of another cell with the same key: two kernels may have the same bytes, and a scheduler does
    nothing on raw flash, which has no queue.
    """
    return Record(wanted, replace(record.result, coordinates=dict(wanted.cell.coordinates)), record.folder)


def _record(wanted: Repetition, result: Result, folder: Path) -> Record:
    """Return the record of a stored result, with the coordinates of `wanted`: several studies may share a repetition,
    and name its axes differently. The environment is in the key, so that of `wanted` is equal, and one copy is enough.
    """
    measured = evaluation.with_measurement(replace(result, environment=wanted.environment), folder)
    return for_cell(Record(wanted, measured, folder), wanted)


def measure(store: Store, missing: Sequence[Repetition], site: Site, limits: Limits) -> Iterator[Record]:
    """Measure repetitions at `site`. Yield the record of each as soon as it is finished, here or by another run."""
    if not missing:
        return
    stop = threading.Event()
    with stage("Measuring", total=len(missing)) as progress, ThreadPoolExecutor(MOST_AT_A_TIME) as pool:
        queue, running = Queue(store, missing), set[Future[Record]]()
        try:
            while queue.left or running:
                while (
                    len(running) < min(site.guests, MOST_AT_A_TIME) and (taken := queue.take(site.next_of)) is not None
                ):
                    claim, wanted, more = taken
                    site.announce(wanted, more=more)
                    running.add(pool.submit(_claimed, claim, store, wanted, site, limits, stop))
                for record in queue.finished_elsewhere():
                    yield _reported(record, progress)
                if queue.left and not running:
                    queue.wait(progress)
                finished, running = wait(running, ELSEWHERE_POLL_S if queue.left else None, FIRST_COMPLETED)
                for future in finished:
                    yield _reported(future.result(), progress)
        except BaseException:
            stop.set()
            pool.shutdown(wait=True, cancel_futures=True)
            raise


class Queue:
    """The repetitions that are still to be measured, grouped by beginning. The run that measures a repetition holds its
    claim; those that other runs have come last.
    """

    def __init__(self, store: Store, missing: Sequence[Repetition]) -> None:
        self._store = store
        self._mine = GroupedQueue(missing, attrgetter("beginning"))
        self._others: list[tuple[Repetition, object]] = []
        """The repetitions that other runs held, each with the state of its failures at that time."""
        self._finished: list[Record] = []
        self._has_noted = False

    @property
    def left(self) -> int:
        """Return the number of repetitions that are neither measured nor claimed by this run."""
        return len(self._mine) + len(self._others)

    def take(self, next_of: Callable[[Pending], str]) -> tuple[locks.Lock, Repetition, bool] | None:
        """Return the claim of the next repetition that no run measures, the repetition, and whether others with its
        beginning are left; None if there is none at the moment. `next_of` chooses a beginning.
        """
        while self._mine:
            wanted, more = self._mine.take(next_of)
            if (claim := self._store.claim(wanted.key)) is None:
                self._others.append((wanted, _state_of_failure(wanted.key)))
            elif not self._is_finished(claim, stored(self._store, wanted)):
                return claim, wanted, more
        for other in list(self._others):
            wanted, before = other
            if (claim := self._store.claim(wanted.key)) is not None:
                self._others.remove(other)
                if not self._is_finished(claim, stored(self._store, wanted) or _failed_since(wanted, before)):
                    return claim, wanted, False
        return None

    def _is_finished(self, claim: locks.Lock, record: Record | None) -> bool:
        """Return True if another run has measured it since this one began. Then release the claim."""
        if record is None:
            return False
        claim.release()
        self._finished.append(record)
        return True

    def finished_elsewhere(self) -> list[Record]:
        """Return the records that other runs have finished since the last call."""
        finished, self._finished = self._finished, []
        return finished

    def wait(self, progress: Stage) -> None:
        """Wait a moment while other runs have all remaining repetitions. The first call says so."""
        if not self._has_noted:
            progress.note(f"Another run is measuring the last {self.left} repetitions; waiting for them")
        self._has_noted = True
        time.sleep(ELSEWHERE_POLL_S)


def _failed_since(wanted: Repetition, before: object) -> Record | None:
    """Return the failure that another run has kept since the state was `before`; None if there is none."""
    now, folder = _state_of_failure(wanted.key), failure_folder(wanted.key)
    if now is None or now == before:
        return None
    try:
        document = json.loads((folder / RESULT).read_bytes())
        return _record(wanted, Result.from_json(document, wanted.cell.medium.size_bytes), folder)
    except (OSError, ValueError):
        return None


def _reported(record: Record, progress: Stage) -> Record:
    progress.advance()
    result = record.result
    if not result.is_measured:
        label = record.repetition.cell.label
        progress.note(f"{label}: {result.outcome}: {result.reason} (flashbed show {result.key[:12]})")
    return record


def run_again(wanted: Repetition, limits: Limits) -> None:
    """Run the guest of a repetition that has a result, for what is kept beside results. The result stays as it is."""
    with attempt.this_host(1) as site:
        site.attempt(wanted, limits, threading.Event())


def _claimed(
    claim: locks.Lock, store: Store, wanted: Repetition, site: Site, limits: Limits, stop: threading.Event
) -> Record:
    with claim:
        return _attempted(store, wanted, site, limits, stop)


def _attempted(store: Store, wanted: Repetition, site: Site, limits: Limits, stop: threading.Event) -> Record:
    """Attempt a repetition, a second time if it was killed, and keep the result or the failure. Raises
    HostResourceError if the host refuses the lab's own files.
    """
    try:
        finished = site.attempt(wanted, limits, stop)
        if finished.result.outcome == Status.KILLED:  # says nothing about the cell: memory may be there again
            _log.warning("%s: %s; trying it again", wanted.cell.label, finished.result.reason)
            finished = site.attempt(wanted, limits, stop)
            if finished.result.outcome == Status.KILLED:
                advice = ", twice; free memory, or run fewer guests at a time (--jobs)"
                finished = replace(finished, result=replace(finished.result, reason=finished.result.reason + advice))
        try:
            return _kept(store, wanted, finished)
        except foreign.ForeignNameError as error:
            return _kept(store, wanted, repetition.failed(wanted, str(error)))
    except OSError as error:
        raise host_refusal(failure_folder(wanted.key), error) from None


def _kept(store: Store, wanted: Repetition, finished: Finished) -> Record:
    if finished.result.is_measured:
        stored = store.put(finished.result, finished.files)
        return _record(wanted, stored.result, stored.folder)
    return Record(wanted, finished.result, _keep_failure(wanted.key, finished))


def _keep_failure(key: str, finished: Finished) -> Path:
    """Replace the failed attempt of a key atomically. The caller must hold the key's claim. Raises ForeignNameError for
    a name that leads elsewhere.
    """
    folder = failure_folder(key)
    with locks.scratch(_failures_under_way()) as scratch:
        new, old = scratch / "new", scratch / "old"
        for name, data in finished.files.items():
            path = foreign.path_below(new, name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
        (new / RESULT).write_text(json.dumps(finished.result.to_json(), indent=1, sort_keys=True) + "\n")
        if folder.exists():
            folder.rename(old)
        new.rename(folder)
    return folder


def _state_of_failure(key: str) -> object:
    """Return a value that changes whenever a failure is kept; None if there is none."""
    try:
        status = (failure_folder(key) / RESULT).stat()
    except OSError:
        return None
    return status.st_ino, status.st_mtime_ns
