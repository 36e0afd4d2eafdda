# SPDX-License-Identifier: Apache-2.0
"""An order is a repetition that is sent to a worker: the cell, its key, and the digests of the files that it runs with.

Paths of the sender are meaningless to the worker. Must not know how orders and files are sent.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from flashbed.cluster.file_store import FileId
from flashbed.common.digest import digest_file
from flashbed.execution import cell_medium, repetition
from flashbed.execution.attempt import Limits
from flashbed.execution.repetition import Repetition
from flashbed.image import emulator, guest_parts, kernel
from flashbed.image.cache import Entry
from flashbed.image.guest_image import GuestImage
from flashbed.image.hosttools import MediaTool
from flashbed.medium import conditioning
from flashbed.profiles import stored_medium
from flashbed.profiles.stored_medium import DATA, STATE, StoredMedium
from flashbed.study.plan import Cell

OF_KERNEL = (kernel.IMAGE, kernel.SYSTEM_MAP)
EMULATOR, MEDIA, REPLAY, CONDITION = "emulator", "fbmedia", "flashbed-replay", "condition"
BASE_ARCHIVE, ARCHIVE_PREFIX = "base", "part "
"""Parts for archives of the guest: the base archive, and the prefix of the names of the others."""

PartFiles = Mapping[str, Path]
"""Paths of files, by their part in a repetition."""


@dataclass(frozen=True)
class Order:
    """A request to a worker for one repetition."""

    run: str
    """The run's name: what a worker keeps between two orders, it keeps for one run."""
    cell: Cell
    key: str
    beginning: str
    """The beginning of the repetition; "" if it shares none."""
    worker: str | None
    """The worker on which the beginning is shared; another one makes the attempt from power-on."""
    more: bool
    """True if further orders with this beginning may come to this worker."""
    environment: Mapping[str, str]
    release: str
    """Version of the kernel's package."""
    media_digest: str
    """The build digest of the media core's host programs."""
    file_ids: Mapping[str, FileId]
    limits: Limits
    guests: int
    """How many guests may run at a time on a host; it limits what each may take of the host's memory."""


def files_of(wanted: Repetition) -> PartFiles:
    """Return the files that a worker with only the lab's Python code needs. Builds the emulator if it is missing."""
    image, cell = wanted.image, wanted.cell
    files = {name: image.kernel.entry.path(name) for name in OF_KERNEL}
    files |= {EMULATOR: emulator.program(), MEDIA: image.media_tool.program, REPLAY: image.media_tool.replay_program}
    names = guest_parts.file_names(repetition.program_set(cell))
    files |= {BASE_ARCHIVE: image.base, **{f"{ARCHIVE_PREFIX}{name}": image.parts[name] for name in names}}
    if (state := cell_medium.conditioned(cell, image)) is not None:
        files[CONDITION] = state
    if cell.medium.start is not None:
        files |= {STATE: cell.medium.start.state, DATA: cell.medium.start.data}
    return files


def order(
    run: str, wanted: Repetition, worker: str | None, more: bool, files: PartFiles, limits: Limits, guests: int
) -> Order:
    """Return the order for one attempt. `worker` is the worker on which the beginning is shared, None if it is not."""
    file_ids = {part: file_id(path) for part, path in files.items()}
    image = wanted.image
    return Order(
        run=run,
        cell=wanted.cell,
        key=wanted.key,
        beginning=wanted.beginning,
        worker=worker,
        more=more,
        environment=dict(wanted.environment),
        release=image.kernel.package_version,
        media_digest=image.media_tool.build_digest,
        file_ids=file_ids,
        limits=limits,
        guests=guests,
    )


def file_id(path: Path) -> FileId:
    """Return the ID of a file of this host. A kept medium may change while a study runs; then it has another ID."""
    status = path.stat()
    return _file_id(path, status.st_size, status.st_mtime_ns)


@cache
def _file_id(path: Path, size: int, _changed_ns: int) -> FileId:
    return FileId(digest_file(path), path.name, size)


class _Shipped(Entry):
    """A cache entry of which only some files were sent; `digests` maps their names to paths."""

    def path(self, name: str) -> Path:
        return self.folder / self.digests[name]


def repetition_of(request: Order, place: Callable[[FileId], Path], kept: Path) -> Repetition:
    """Return the ordered repetition, with the paths of files that `place` returns. `kept` is an empty directory for a
    kept medium. Raises HostResourceError.
    """
    files = {part: place(file_id) for part, file_id in request.file_ids.items() if part != CONDITION}
    tool = _tool(files[MEDIA], files[REPLAY], request.media_digest)
    root = files[kernel.IMAGE].parent.parent
    own = {name: str(files[name].relative_to(root)) for name in OF_KERNEL}
    guest_kernel = kernel.Kernel(_Shipped(root, own), request.release)
    parts = {name.removeprefix(ARCHIVE_PREFIX): path for name, path in files.items() if name.startswith(ARCHIVE_PREFIX)}
    image = GuestImage(guest_kernel, tool, files[BASE_ARCHIVE], parts, {}, files[EMULATOR])
    cell, medium = request.cell, request.cell.medium
    if CONDITION in request.file_ids:
        shipped = request.file_ids[CONDITION]
        conditioning.take_over(tool, medium.core_parameters, medium.condition, lambda: place(shipped))
    if medium.start is not None:
        for name in (STATE, DATA):
            _give(files[name], kept / name)
        cell = replace(cell, medium=medium.moved_to(StoredMedium(kept)))
    return Repetition(cell, image, request.environment, request.key, request.beginning)


def _give(file: Path, to: Path) -> None:
    """Hard-link a file, because a medium's files must not be symbolic links; copy it if the disk has no hard links."""
    try:
        to.hardlink_to(file)
    except OSError:
        stored_medium.copy(file, to)


@cache
def _tool(program: Path, replay_program: Path, build_digest: str) -> MediaTool:
    """Return one tool for all orders, because it caches its answers."""
    return MediaTool(program, replay_program, build_digest)
