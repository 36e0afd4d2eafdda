# SPDX-License-Identifier: Apache-2.0
"""Run a study: take from the store what it has, measure the rest, and return the records and their table.

Knows neither QEMU nor reports. Whatever stops a run (a key press, a signal, a full disk), finished results stay, and
the next run goes on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any

from flashbed.common import programs
from flashbed.common.errors import InputError, several
from flashbed.common.progress import Stage, stage
from flashbed.common.tomlfile import Keys, TomlFile
from flashbed.execution import attempt, cell_medium, coverage, pinning, repetition, scheduler
from flashbed.execution.attempt import Site
from flashbed.execution.coverage import LineCoverage
from flashbed.execution.failures import check_beforehand
from flashbed.execution.repetition import Repetition
from flashbed.execution.scheduler import Record as Record
from flashbed.image import guest_image, hosttools, stores
from flashbed.image.changed_code import Changed
from flashbed.image.guest_parts import PartError, ProgramSet
from flashbed.image.kernel_sources import ChangeUnknown
from flashbed.medium import conditioning, parameter_list
from flashbed.profiles.kernel_choice import KernelChoice
from flashbed.profiles.library import ProfileKind, Selector
from flashbed.result.columns import ResultRow, RowInputs, row_of
from flashbed.result.store import Different, Store, open_store
from flashbed.study import host_commands
from flashbed.study.loading import Study
from flashbed.study.plan import Cell, plan

DEFAULT_LIMIT_S = 900.0
"""Host seconds after which a guest counts as hung. Far above the slowest cell of the shipped studies."""


MANY_REPETITIONS = 5000
"""Planning more repetitions takes seconds, so a progress stage is shown."""


@dataclass(frozen=True)
class Run:
    """A study's records in the order of its plan. `measured_now` is how many repetitions were run now."""

    study: Study
    records: Sequence[Record]
    measured_now: int
    different: Sequence[Different] = ()
    """Pairs of results of the same key that differ. There must be none."""
    coverage: Sequence[LineCoverage] = ()
    """For each kernel that is a change of another: whether the changed lines ran."""

    @property
    def failures(self) -> list[Record]:
        return [record for record in self.records if not record.result.is_measured]


def prepare(study: Study, *, only_built: bool = False, locked: bool = False, lines: bool = True) -> list[Repetition]:
    """Return the repetitions of a study, with their keys. Build the guest if it is missing. With `locked`, use only
    what the study's lock names. Without `lines`, do not compile a kernel again to find its changed lines.

    Raises InputError for a medium that the media core does not take, and for programs that
    no guest can have; SetupError for what is not as locked; with `only_built`, NotBuilt in place of fetching or
    building anything of the guest.
    """
    pinning.keep_to(study, strict=locked, quiet=only_built)
    parameter_list.check_study(study, hosttools.media_tool())
    most = "at most " if study.skip else ""
    with _noted(f"Planning {most}{study.count} repetitions", study.count):
        cells = plan(study)
    sets: dict[str | KernelChoice, dict[ProgramSet, None]] = {}
    for cell in cells:
        sets.setdefault(cell.own_kernel or cell.kernel, {})[repetition.program_set(cell)] = None
    first = next((kernel for kernel in sets if not isinstance(kernel, str)), None)
    try:
        images = {
            kernel: guest_image.build(kernel, wanted, only_built=only_built, first=first, lines=lines)
            for kernel, wanted in sets.items()
        }
    except PartError as error:
        raise _of_profile(study, error) from None
    with _noted("Working out their keys", len(cells)) as progress:
        return [_prepared(cell, images[cell.own_kernel or cell.kernel], progress) for cell in cells]


def _prepared(cell: Cell, guest: guest_image.GuestImage, progress: Stage | None) -> Repetition:
    if progress:
        progress.advance()
    return repetition.prepare(cell, guest)


@contextmanager
def _noted(title: str, repetitions: int) -> Iterator[Stage | None]:
    """Open a progress stage if there are at least MANY_REPETITIONS."""
    if repetitions < MANY_REPETITIONS:
        yield None
        return
    with stage(title, total=repetitions) as progress:
        yield progress


def _of_profile(study: Study, error: PartError) -> InputError:
    """Return the error with the file and line of the profile that needs this part, or of the study."""
    kinds: tuple[ProfileKind, ...] = ("filesystem", "translation", "scheduler")
    for kind in kinds:
        for text in study.values_of(kind):
            file = study.library.file(kind, Selector.parse(text).name)
            for keys in _places(file.data, error.key, error.name):
                return file.error(keys, error.message)
    study_file = TomlFile.read(study.path)
    for keys in _places_in_root(study_file.data.get("workload", {}), error.key, error.name):
        return study_file.error(keys, error.message)
    return error


def _places_in_root(workload: Mapping[str, Any], key: str, name: str) -> Iterator[Keys]:
    """Yield the keys under which a study names a package or a file of its root. A file's name is its path there, which
    is /app/ and the path beside the study.
    """
    for index, entry in enumerate(workload.get(key, ())):
        if entry == name or PurePosixPath(name).is_relative_to(PurePosixPath("/app", entry)):
            yield "workload", key, index


def _places(profile: Mapping[str, Any], key: str, name: str) -> Iterator[Keys]:
    """Yield the keys under which a profile names a part: as a value, in a list, or in one of its options."""
    value = profile.get(key)
    if value == name:
        yield (key,)
    elif isinstance(value, list) and name in value:
        yield key, value.index(name)
    if profile.get("mount", {}).get(key) == name:
        yield "mount", key
    for option, table in profile.get("options", {}).items():
        if table.get(key) == name:
            yield "options", option, key


def run(
    study: Study,
    *,
    jobs: int | None = None,
    limit_s: float = DEFAULT_LIMIT_S,
    locked: bool = False,
    lines: bool = True,
    site: Site | None = None,
    on_cell: Callable[[Sequence[Record]], object] = lambda _: None,
) -> Run:
    """Measure at `site` what the store lacks. Without a site, measure on this host, `jobs` guests at a time.

    `on_cell` is called with the records of a cell, one for each seed, when the last of them has been measured. Raises
    FlashbedError for what stops the whole run, and InterruptedByUser.
    """
    host_commands.check(study)
    scheduler.clean()
    store = open_store()
    wanted = prepare(study, locked=locked, lines=lines)
    known = {r.key: record for r in wanted if (record := scheduler.stored(store, r)) is not None}
    missing = list({r.key: r for r in wanted if r.key not in known}.values())
    check_beforehand(study, [r.cell for r in missing])
    _condition(study, missing)
    smallest = min((r.cell.medium.size_bytes for r in wanted), default=0)
    limits = attempt.Limits(limit_s, smallest)
    if missing:
        incomplete = _Incomplete(wanted, known)
        with nullcontext(site) if site is not None else attempt.this_host(jobs or programs.cores()) as where:
            for record in scheduler.measure(store, missing, where, limits):
                known[record.repetition.key] = record
                for cell in incomplete.completed_by(record.repetition.key):
                    on_cell([scheduler.for_cell(known[r.key], r) for r in cell])
    records = [scheduler.for_cell(known[r.key], r) for r in wanted]
    _rerun_for_coverage(records, study.seeds[0], limits)
    return Run(study, records, len(missing), _different(store, wanted), _coverage(records))


class _Incomplete:
    """The cells that lack repetitions."""

    def __init__(self, wanted: Iterable[Repetition], known: Mapping[str, Record]) -> None:
        cells: dict[str, list[Repetition]] = {}
        for r in wanted:
            cells.setdefault(" ".join(r.cell.coordinates.values()), []).append(r)
        self._with: dict[str, list[tuple[list[Repetition], set[str]]]] = {}
        """By a missing key, the cells that lack it: all repetitions of each, and all keys that it lacks."""
        for cell in cells.values():
            lacks = {r.key for r in cell if r.key not in known}
            for key in lacks:
                self._with.setdefault(key, []).append((cell, lacks))

    def completed_by(self, key: str) -> Iterator[list[Repetition]]:
        """Yield the cells of which `key` was the last that they lacked."""
        for cell, lacks in self._with.pop(key, ()):
            lacks.remove(key)
            if not lacks:
                yield cell


def stored(study: Study) -> Run:
    """Return what the store has of a study. Measure, fetch and build nothing. Raises InputError for a study with a
    kernel of its own that is not allowed.
    """
    store = open_store()
    if not store.keys():
        return Run(study, [], 0)
    host_commands.check_kernels(study)
    try:
        wanted = prepare(study, only_built=True)
    except stores.NotBuilt:  # and so nothing is measured with the guest of today
        return Run(study, [], 0)
    records = [record for r in wanted if (record := scheduler.stored(store, r)) is not None]
    return Run(study, records, 0, _different(store, wanted), _coverage(records))


def _coverage(records: Sequence[Record]) -> list[LineCoverage]:
    """Return for each changed kernel which of its changed lines ran in these guests."""
    kernels: dict[str, tuple[Changed, list[tuple[str, coverage.Ranges]]]] = {}
    unknown: dict[str, ChangeUnknown] = {}
    for record in records:
        kernel = record.repetition.image.kernel
        if kernel.changed is None:
            unknown |= {kernel.package_version: kernel.change_unknown} if kernel.change_unknown else {}
            continue
        _, guests = kernels.setdefault(kernel.package_version, (kernel.changed, []))
        if (ranges := _executed(record, kernel.changed)) is not None:
            guests.append((record.repetition.cell.label, ranges))
    return [
        *(coverage.line_coverage(name, changed, guests) for name, (changed, guests) in kernels.items()),
        *(LineCoverage(name, 0, 0, unknown=why) for name, why in unknown.items()),
    ]


def _executed(record: Record, changed: Changed) -> coverage.Ranges | None:
    return coverage.kept(record.result.key, changed)


def _rerun_for_coverage(records: Sequence[Record], seed: int, limits: attempt.Limits) -> None:
    """Run guests again in which the changed lines were not watched: a seed of each cell, until all lines have run."""
    for record in records:
        changed = record.repetition.image.kernel.changed
        if changed is None or not changed.watched or record.repetition.cell.seed != seed:
            continue
        if _executed(record, changed) is not None:
            continue
        of_kernel = [other for other in records if other.repetition.image is record.repetition.image]
        if any(kernel.ran == kernel.lines for kernel in _coverage(of_kernel)):
            continue
        with stage("Looking whether the changed lines run"):
            scheduler.run_again(record.repetition, limits)


def rows(done: Run) -> list[ResultRow]:
    """Return the table that reports and users see."""
    return [row_of(record.result, done.study.axes, _row_inputs(record, done.study)) for record in done.records]


def _row_inputs(record: Record, study: Study) -> RowInputs:
    cell = record.repetition.cell
    return RowInputs(
        tool=cell.workload.tool,
        parameters=cell.workload.parameters,
        medium=cell.medium.core_parameters,
        pio=cell.board.transfer == "pio",
        polls=cell.polls,
        compresses=cell.filesystem.compresses,
        kernel_source=record.repetition.image.kernel.package_version if cell.own_kernel else "",
        bytes_per_day=study.bytes_per_day,
    )


def _different(store: Store, wanted: Sequence[Repetition]) -> list[Different]:
    keys = {r.key for r in wanted}
    return [pair for pair in store.different() if pair.key in keys]


def _condition(study: Study, missing: Sequence[Repetition]) -> None:
    """Make the states that cells start from, before any of them runs: a large one takes a minute. Raises InputError,
    with the line, for media that wear out meanwhile.
    """
    wanted = {id(r.cell.medium): r for r in missing if r.cell.medium.conditioned}
    if not wanted:
        return
    dead = []
    with stage("Writing to media until they are full or worn", total=len(wanted)) as progress:
        for first in wanted.values():
            try:
                cell_medium.conditioned(first.cell, first.image)
            except conditioning.WornOutError as error:
                text = first.cell.coordinates.get("medium") or study.fixed["medium"]
                dead.append(parameter_list.message_of(study, text, ("condition",), error.message))
            progress.advance()
    if dead:
        raise InputError(several(dead))
