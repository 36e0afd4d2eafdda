# SPDX-License-Identifier: Apache-2.0
"""Run a repetition from beginning to end: job, new medium, machine, the file system's own checker, result.

The result depends only on the cell and the guest. It contains no time of day, no path and no name of this host.
"""

from __future__ import annotations

import shutil
import threading
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from functools import cache, partial
from pathlib import Path

from flashbed.common.digest import digest_bytes, digest_json
from flashbed.common.errors import HostResourceError, InputError
from flashbed.common.units import describe_size, rough_size
from flashbed.execution import cell_medium, coverage, cut_campaign, memory
from flashbed.execution.beginnings import Begun, Guest
from flashbed.execution.cut_campaign import Campaign, CampaignError, CutGuests, cut_guests
from flashbed.execution.memory import Memory
from flashbed.guest_output.assessment import Status
from flashbed.image import emulator, modules
from flashbed.image.command import GZIP, packed_bytes
from flashbed.image.guest_image import GuestImage
from flashbed.image.guest_parts import ProgramSet
from flashbed.machine import guest_job, interfaces, outcomes, process, qemu
from flashbed.machine.beginning import Beginning
from flashbed.machine.guest_job import Job
from flashbed.machine.outcomes import Outcome
from flashbed.machine.qemu import Cpus
from flashbed.medium import conditioning
from flashbed.profiles.kernel_choice import DEBIAN_KERNEL
from flashbed.profiles.stored_medium import DATA, STATE, StoredMedium
from flashbed.result import evaluation
from flashbed.result.result import Result
from flashbed.study.plan import Cell, cell_inputs, key
from flashbed.workload import WORKLOADS, nfs
from flashbed.workload.base import Checked


@dataclass(frozen=True)
class Repetition:
    """A cell with its key and its guest."""

    cell: Cell
    image: GuestImage
    environment: Mapping[str, str]
    key: str
    beginning: str = ""
    """A digest that is equal for repetitions that are equal until their load begins; "" if it shares its beginning with
    none.
    """


@dataclass(frozen=True)
class Finished:
    """The result of a repetition, and its artefacts by name."""

    result: Result
    files: dict[str, bytes]


class TooLargeError(HostResourceError):
    """The disk has no room for a medium."""


def program_set(cell: Cell) -> ProgramSet:
    """Return the parts that the cell's file system, translation, scheduler and tool need in the guest."""
    tool = WORKLOADS[cell.workload.tool]
    needs = tool.needs(cell.workload.parameters)
    parts = (cell.filesystem, cell.translation, needs)
    packages = dict.fromkeys(package for part in parts for package in part.packages)
    repair = cell.filesystem.repair_programs if cell.power_cuts else ()
    programs = dict.fromkeys((*(program for part in parts for program in part.programs), *repair))
    built = (*tool.built, *(("age",) if cell.medium.aged else ()))
    of_all = ProgramSet(tuple(packages), tuple(programs), built=built, of_kernel=guest_job.of_kernel(cell))
    if cell.kernel == DEBIAN_KERNEL:
        return of_all._replace(of_kernel_for_tool=needs.modules)
    driver = interfaces.between(cell.board, cell.medium).module
    wanted = (driver, cell.translation.module, cell.scheduler.module, cell.filesystem.module)
    of_all = of_all._replace(modules=tuple(module for module in wanted if module), own_modules=own_modules(cell))
    if needs.root is None:
        return of_all
    files = tuple(sorted(cell.workload.root_files.items()))
    return of_all._replace(modules=(*of_all.modules, modules.OF_PROGRAMS), root=needs.root, root_files=files)


def observers(cell: Cell) -> qemu.Observers:
    """Return what the emulator notes of the cell's programs."""
    needs = WORKLOADS[cell.workload.tool].needs(cell.workload.parameters)
    return qemu.Observers(samples=needs.samples, calls=needs.calls)


def own_modules(cell: Cell) -> tuple[tuple[str, Path], ...]:
    """Return the modules of a cell that are built from a user's directory, each with that directory."""
    sources = ((part.module, part.module_source) for part in (cell.filesystem, cell.scheduler))
    return tuple((module, Path(source)) for module, source in sources if module and source)


def prepare(cell: Cell, image: GuestImage) -> Repetition:
    """Return the repetition of a cell, with its key over everything that can change its result."""
    files, noted = job(cell, image), observers(cell)
    observed = {emulator.SAMPLES_OBSERVER: noted.samples, emulator.CALLS_OBSERVER: noted.calls}
    environment = {
        "emulator": emulator.digest(),
        **{name: emulator.observer_digest(name) for name, notes in observed.items() if notes},
        "machine": " ".join(machine(cell, image)),
        "job": _digest(files.files),
        **({"conditioning": conditioning.writer_digest()} if cell.medium.conditioned else {}),
        **(
            {
                "recovery": _digest(recovery(cell, files).files),
                "moments": cut_campaign.MOMENTS,
                "cuts": emulator.cuts_digest(),
            }
            if cell.power_cuts
            else {}
        ),
        **image.digest(program_set(cell)),
    }
    begins = _beginning(cell, image, {**environment, "job": _digest(files.beginning)})
    return Repetition(cell, image, environment, key(cell, environment), begins)


def _digest(files: Mapping[str, bytes]) -> str:
    text = "".join(f"{name}\0{digest_bytes(data)}\n" for name, data in sorted(files.items()))
    return digest_bytes(text.encode())


def _beginning(cell: Cell, image: GuestImage, environment: Mapping[str, str]) -> str:
    """Return a digest of everything that a guest has until its load begins. Return "" if the run of changed code is
    watched: code that ran before the fork would not be seen again.
    """
    if image.kernel.changed is not None:
        return ""
    medium = cell.medium
    return digest_json(
        {
            "environment": environment,
            "medium": medium.core_parameters,
            "condition": medium.condition,
            "start": medium.start_digest,
        }
    )


def guest(repetition: Repetition) -> Guest:
    """Return the repetition as a guest for beginnings."""
    cell = repetition.cell
    begins = partial(begin, repetition)
    return Guest(repetition.key, repetition.beginning, content_bytes(cell), cell.board.ram, begins)


def begin(repetition: Repetition, folder: Path, limit_s: float, stop: threading.Event) -> Beginning | Outcome:
    """Run a repetition in the empty directory `folder` until its load begins. Return its outcome if it does not come so
    far within `limit_s` seconds of the host's time. Raises InputError for a kept medium that has changed,
    TooLargeError, HostResourceError, and InterruptedByUser.
    """
    cell = repetition.cell
    return _begun(cell, repetition.image, job(cell, repetition.image), observers(cell), folder, limit_s, stop)


def _begun(
    cell: Cell,
    image: GuestImage,
    of_cell: Job,
    noted: qemu.Observers,
    folder: Path,
    limit_s: float,
    stop: threading.Event,
    medium_options: str = "",
) -> Beginning | Outcome:
    """Do as `begin`, for a guest with this job. The emulator's medium gets `medium_options` after its own."""
    _need_room(cell.medium.size_bytes, folder)
    files = _files(cell, image, folder)
    image.write_initramfs(program_set(cell), of_cell.beginning, files.initramfs)
    (folder / qemu.LOAD_ARCHIVE).touch()
    cell_medium.make_medium(cell, image, StoredMedium(folder))
    setup = machine_setup(cell, image)
    fixed = qemu.fixed_arguments(replace(setup, medium_options=setup.medium_options + medium_options))
    begun = Beginning(fixed, files, folder, observers=noted)
    return begun.reach(limit_s, stop) or begun


def execute(
    repetition: Repetition,
    folder: Path,
    limit_s: float,
    stop: threading.Event,
    host: Memory = memory.ON_DISK,
    begun: Begun = None,
) -> Finished:
    """Run a repetition within `limit_s` seconds of the host's time, from power-on or from `begun`. Its files are in the
    host's memory if that has room, else in the empty directory `folder`.

    If a guest misbehaves or a kept medium has changed, the result is a failure with that reason. Raises TooLargeError,
    HostResourceError, and InterruptedByUser.
    """
    cell = repetition.cell
    _need_room(cell.medium.size_bytes, folder)
    run = partial(_executed, repetition, limit_s, stop, begun)
    guests = cut_campaign.GUESTS if cell.power_cuts else 1
    return host.carried(guests * content_bytes(cell), guests * cell.board.ram, run, _is_killed) or run(folder)


def _need_room(size: int, folder: Path) -> None:
    """Raise TooLargeError if the disk has no room for a medium of `size` bytes. It must have room also if the guest
    runs in memory, so that free memory does not decide which cells can be measured.
    """
    free = shutil.disk_usage(folder).free
    if size > free:
        raise TooLargeError(
            f"{folder.parent}: the medium takes {describe_size(size)}, and this disk has {rough_size(free)} free. "
            "Set FLASHBED_CACHE to a folder on a larger disk, or give the medium a smaller used_bytes in the study."
        )


def content_bytes(cell: Cell) -> int:
    """Return an upper bound of the bytes of the medium's content; for a raw chip with its spare areas."""
    medium = cell.medium
    return medium.size_bytes if medium.kind != "nand" else 2 * medium.capacity_bytes


def _is_killed(finished: Finished) -> bool:
    return finished.result.outcome == Status.KILLED


def _executed(
    repetition: Repetition,
    limit_s: float,
    stop: threading.Event,
    begun: Begun,
    folder: Path,
) -> Finished:
    if isinstance(begun, Outcome):
        return _finished(repetition, outcomes.with_functions(begun, repetition.image.kernel.symbols))
    try:
        outcome = _outcome(repetition, limit_s, stop, begun, folder)
    except InputError as error:  # it was right when the study was read, so this is no reason to stop the others
        return failed(repetition, error.message)
    outcome = outcomes.with_functions(outcome, repetition.image.kernel.symbols)
    if outcome.status == Status.MEASURED:
        outcome = cell_medium.checked(repetition.cell, outcome, folder / DATA)
    return _finished(repetition, outcome)


def _files(cell: Cell, image: GuestImage, folder: Path) -> qemu.Files:
    initramfs, state, data, load = (folder / name for name in ("initramfs", STATE, DATA, qemu.LOAD_ARCHIVE))
    program = image.emulator or emulator.program()
    root = image.root(program_set(cell))
    return qemu.Files(image.kernel.image, initramfs, state, data, program, load=load, root=root)


def _outcome(
    repetition: Repetition, limit_s: float, stop: threading.Event, begun: Beginning | None, folder: Path
) -> Outcome:
    """Run the guest, and those whose power is cut, and return the outcome. Raises InputError for a kept medium that has
    changed.
    """
    if not repetition.cell.power_cuts:
        return _first(repetition, limit_s, stop, begun, folder)
    try:
        with campaign(repetition, limit_s, stop, begun, folder) as cuts:
            return cuts.run()
    except CampaignError as error:
        return error.outcome


@contextmanager
def campaign(
    repetition: Repetition, limit_s: float, stop: threading.Event, begun: Beginning | None, folder: Path
) -> Iterator[Campaign]:
    """Run the uncut guest of a repetition whose power is cut, in the empty directory `folder`, and yield its campaign.
    Raises CampaignError if that guest fails, and InputError for a kept medium that has changed.
    """
    with guests_of_cuts(repetition, limit_s, stop, folder, begun) as guests:
        # If the run of changed code is watched, this guest runs from power-on
        shared = guests.begun if repetition.beginning else None
        outcome = _first(repetition, limit_s, stop, shared, folder)
        if outcome.status != Status.MEASURED:
            raise CampaignError(outcome)
        yield campaign_of(repetition.cell, guests, outcome, folder)


def campaign_of(cell: Cell, guests: CutGuests, uncut: Outcome, folder: Path) -> Campaign:
    """Return the power cuts of a cell whose uncut guest had this outcome, with `folder` for the files of one cut."""
    return Campaign(guests, uncut, cell.seed, cell.power_cuts, _checked(cell).acknowledged, folder)


def guests_of_cuts(
    repetition: Repetition,
    limit_s: float,
    stop: threading.Event,
    folder: Path,
    begun: Beginning | None = None,
    records: int = 0,
) -> AbstractContextManager[CutGuests]:
    """Return what makes the beginnings of the guests of a repetition whose power is cut, in the directory `folder`, and
    runs them. The emulator records so many requests of the medium. Raises CampaignError if a beginning fails.
    """
    cell, image = repetition.cell, repetition.image
    of_cell = job(cell, image)
    recovered = recovery(cell, of_cell)
    options = f",record={records}" if records else ""

    def begin(place: Path) -> Beginning | Outcome:
        return _begun(cell, image, of_cell, observers(cell), place, limit_s, stop, options)

    def begin_again(place: Path) -> Beginning | Outcome:
        return _begun(cell, image, recovered, qemu.NO_OBSERVERS, place, limit_s, stop)

    return cut_guests(begin, begin_again, begun, of_cell.packed_load(), recovered.load, folder, limit_s, stop)


def _first(
    repetition: Repetition, limit_s: float, stop: threading.Event, begun: Beginning | None, folder: Path
) -> Outcome:
    """Run a guest of a cell with a new medium. Raises InputError for a kept medium that has changed."""
    cell, image = repetition.cell, repetition.image
    of_cell = job(cell, image)
    if begun is not None:
        return begun.run(of_cell.packed_load(), folder, limit_s, stop)
    files, changed = _files(cell, image, folder), image.kernel.changed
    image.write_initramfs(program_set(cell), of_cell.beginning, files.initramfs)
    (folder / qemu.LOAD_ARCHIVE).write_bytes(of_cell.packed_load())
    cell_medium.make_medium(cell, image, StoredMedium(folder))
    watched = changed.watched if changed else ()
    outcome = qemu.run(machine(cell, image), files, folder, limit_s, stop, watched, observers=observers(cell))
    if changed is not None:
        coverage.keep(repetition.key, changed, folder / process.RAN)
    return outcome


def failed(repetition: Repetition, reason: str, status: Status = Status.FAILED) -> Finished:
    """Return the failure of a repetition that could not begin, or whose host was lost."""
    return _finished(repetition, Outcome(status, reason))


def job(cell: Cell, image: GuestImage) -> Job:
    """Return the files of the cell's /job. If its power is cut, the cut is armed, but never comes."""
    of_cell = plain_job(cell, image)
    return guest_job.armed(of_cell) if cell.power_cuts else of_cell


def plain_job(cell: Cell, image: GuestImage) -> Job:
    """Return the files of the cell's /job without power cuts."""
    workload = cell.workload
    tool = WORKLOADS[workload.tool]
    scripts = tool.files(workload.parameters, cell.seed)
    packed_kernel = {nfs.PACKED: _packed_bytes(image.kernel.image)} if workload.tool == "nfs" else {}
    files = {**scripts, **workload.files}
    begins = {name: data for name, data in files.items() if name in tool.begins_with}
    if workload.has_root:
        begins[guest_job.ROOT_SCRIPT] = guest_job.root_functions()
    prepare = guest_job.aging(cell) + scripts["prepare"]
    load = {name: data for name, data in files.items() if name != "prepare" and name not in begins}
    beginning = {**begins, "prepare": prepare, **guest_job.files(cell)}
    return Job(beginning, {**load, **packed_kernel})


def recovery(cell: Cell, job: Job) -> Job:
    """Return the job of the guests after a cut, without acknowledged lines. `job` is that of the guests before it."""
    return guest_job.after_cut(cell, job, _checked(cell).check_files(cell.workload.parameters, cell.seed))


def _checked(cell: Cell) -> Checked:
    tool = WORKLOADS[cell.workload.tool]
    assert isinstance(tool, Checked), cell.workload.tool  # study/cells.py refuses others
    return tool


@cache
def _packed_bytes(kernel_image: Path) -> bytes:
    """Return the size of a kernel's image packed by gzip, as an old bzImage packs it: the bytes as text."""
    return f"{packed_bytes(kernel_image, GZIP)}\n".encode()


def medium_digest(cell: Cell, image: GuestImage) -> str:
    """Return the digest of the medium's parameters, by which the medium's model checks that it has the right one."""
    return image.media_tool.digest(cell.medium.core_parameters)


def machine(cell: Cell, image: GuestImage) -> list[str]:
    """Return the emulator's arguments that shape the cell's result."""
    return qemu.fixed_arguments(machine_setup(cell, image))


def machine_setup(cell: Cell, image: GuestImage) -> qemu.Setup:
    """Return the machine of the cell's board, with the cell's seed."""
    board = cell.board
    prices = (board.line_transfer_ns, board.line_transfer_other_ns)
    cpus = Cpus(board.cpus, board.sockets, board.threads_per_core, *prices)
    between = interfaces.between(board, cell.medium)
    options = guest_job.medium_options(cell, medium_digest(cell, image))
    joined = (between.controller, between.kernel_words, options)
    return qemu.Setup(board.mips, board.ram, board.cpu, cell.seed, cpus, *joined)


def _finished(repetition: Repetition, outcome: Outcome) -> Finished:
    cell = repetition.cell
    result = Result(
        key=repetition.key,
        coordinates=dict(cell.coordinates),
        seed=cell.seed,
        outcome=outcome.status,
        reason=outcome.reason,
        check=outcome.medium_check,
        cell=cell_inputs(cell),
        environment=dict(repetition.environment),
        medium_bytes=cell.medium.size_bytes,
    )
    files = {"console.log": outcome.console, **{f"out/{name}": data for name, data in outcome.files.items()}}
    if not result.is_measured:
        return Finished(result, files)
    try:
        measurement = evaluation.evaluate(result, outcome.files)
        return Finished(replace(result, measurement=measurement), files)
    except evaluation.UnreadableError as error:
        return Finished(replace(result, outcome=Status.FAILED, reason=str(error)), files)
