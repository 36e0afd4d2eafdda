# SPDX-License-Identifier: Apache-2.0
"""Expand a study into cells, and compute a cell's key: the hash of all that its result depends on.

A key leaves out what does not affect a result: titles, sources, names of profiles, the order of keys. Must not know how
a cell is run or where its result lies.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from flashbed.common.digest import digest_bytes, digest_json
from flashbed.profiles.filesystem import ResolvedFileSystem
from flashbed.profiles.kernel_choice import KernelChoice
from flashbed.profiles.profile import Board, Medium, Scheduler, Translation, has_queue
from flashbed.study.loading import Study
from flashbed.study.root_files import unvalidated_parameters
from flashbed.workload import WORKLOADS

KEY_VERSION = 2
"""Increased when the same inputs mean another run."""

NO_QUEUE = Scheduler(title="no queue", name="none")

FILLERS = 1024
PHASES_US = 20_001


@dataclass(frozen=True)
class Placement:
    """The part of a cell that the seed moves, beside the workload's own random numbers."""

    filler_kib: int
    """The size of a file written before the test file, KiB: 0 to 1023."""
    phase_us: int
    """The pause before the measurement, virtual us: 0 to 20000."""

    @classmethod
    def of(cls, seed: int) -> "Placement":
        """Return the placement of a seed. It is the same in all cells, on all hosts and Python versions, so that cells
        can be compared seed by seed.
        """
        digest = hashlib.sha256(f"flashbed placement {seed}".encode()).digest()
        filler, phase = int.from_bytes(digest[:8]), int.from_bytes(digest[8:16])
        return cls(filler % FILLERS, phase % PHASES_US)


@dataclass(frozen=True)
class CellWorkload:
    """The tool and its parameters: sizes in bytes, with defaults, as JSON values."""

    tool: str
    parameters: Mapping[str, Any]
    files: Mapping[str, bytes] = field(default_factory=dict)
    """The user's files in /job, by name. The parameters have their digests."""
    root_files: Mapping[str, Path] = field(default_factory=dict)
    """The user's files in the root of programs, by the SHA-256 of their content, which the parameters have."""

    @property
    def has_root(self) -> bool:
        """Return True if the tool runs programs from a root."""
        return WORKLOADS[self.tool].needs(self.parameters).root is not None


@dataclass(frozen=True)
class Cell:
    """One combination with one seed: one repetition, ready to run."""

    coordinates: Mapping[str, str]
    """Axis to value, as written in the study."""
    board: Board
    medium: Medium
    translation: Translation
    filesystem: ResolvedFileSystem
    scheduler: Scheduler
    """The scheduler of the queue. Raw flash has no queue, so its cells have none, whatever the study names."""
    kernel: str
    """The kernel's name in the key. The digests of what is built are there too."""
    workload: CellWorkload
    seed: int
    placement: Placement
    logs_requests: bool = False
    """True if a figure needs the cell's requests."""
    power_cut: bool = False
    """True if the power fails after all else is measured, to time the next mount."""
    power_cuts: int = 0
    """How often the cell runs again with its power cut."""
    own_kernel: KernelChoice | None = None
    """The kernel, if it is not one that the lab offers."""

    @property
    def polls(self) -> bool:
        """Return True if the CPU is busy while the medium is."""
        return self.medium.provides == "mtd" and self.board.nand_wait == "poll"

    @property
    def label(self) -> str:
        """Return a line for people: "fat16:cluster=16k randwrite 4k, seed 2"."""
        return f"{' '.join(self.coordinates.values()) or 'only cell'}, seed {self.seed}"


def plan(study: Study) -> list[Cell]:
    """Return all repetitions: every combination with the first seed, then with the second.

    An interrupted study thus covers all combinations with few seeds, not few combinations with all seeds.
    """
    return [_cell(study, coordinates, seed) for seed in study.seeds for coordinates in study.combinations()]


def _cell(study: Study, coordinates: dict[str, str], seed: int) -> Cell:
    values = {**study.fixed, **study.workload, **coordinates}
    medium = study.library.medium(values.pop("medium"))
    translation = study.library.translation(values.pop("translation"))
    scheduler = study.library.scheduler(values.pop("scheduler"))
    kernel = study.kernels[values.pop("kernel")]
    board = study.library.board(values.pop("board"))
    filesystem = study.library.filesystem(values.pop("filesystem"))
    workload = _workload(study, values)
    if workload.has_root:
        kernel = kernel.for_programs()
    return Cell(
        coordinates=coordinates,
        board=board,
        medium=medium,
        translation=translation,
        filesystem=filesystem,
        scheduler=scheduler if has_queue(medium, translation) else NO_QUEUE,
        kernel=kernel.word,
        workload=workload,
        seed=seed,
        placement=Placement.of(seed),
        logs_requests=study.logs_requests(coordinates),
        power_cut=study.power_cut and medium.provides == "mtd",
        power_cuts=study.power_cuts,
        own_kernel=kernel if kernel.is_own else None,
    )


def _workload(study: Study, values: dict[str, str]) -> CellWorkload:
    if study.job is not None:
        name = values.pop("job", None)
        text = next(iter(study.job.values())) if name is None else study.job[name]
        return CellWorkload(study.tool, {"job": text, "variables": values})
    own = {"program": study.program, "trace": study.calls}
    files = {name: data for name, data in own.items() if data is not None}
    digests = {name: digest_bytes(data) for name, data in files.items()}
    fields = WORKLOADS[study.tool].parameters
    given = unvalidated_parameters(fields, values | digests, study.tables_of_tool, study.root_files)
    root_files = {file.sha256: file.source for file in study.root_files}
    return CellWorkload(study.tool, fields.model_validate(given).canonical(), files, root_files)


def cell_inputs(cell: Cell) -> dict[str, Any]:
    """Return the inputs of a cell's result as JSON values. The environment adds its own."""
    inputs = {
        "board": _board_inputs(cell.board),
        "medium": {**cell.medium.core_parameters, **_joined(cell.medium), **cell.medium.begins},
        "translation": cell.translation.model_dump(exclude={"title", "source", "bad_blocks"}),
        "filesystem": _filesystem_inputs(cell.filesystem),
        "scheduler": cell.scheduler.model_dump(exclude={"title", "source", "module_source"}),
        "kernel": cell.kernel,
        "workload": {"tool": cell.workload.tool, "parameters": dict(cell.workload.parameters)},
        "seed": cell.seed,
        "placement": asdict(cell.placement),
        **({"power_cuts": cell.power_cuts, "repair": cell.filesystem.repair} if cell.power_cuts else {}),
    }
    plain: dict[str, Any] = json.loads(json.dumps(inputs))  # tuples become lists, as in a JSON file
    return plain


def _joined(medium: Medium) -> dict[str, str]:
    """Return the interface between medium and board; {} for a raw chip, which has only one."""
    return {"interface": medium.interface} if medium.provides == "block" else {}


_OPTIONAL = ("line_transfer_ns", "line_transfer_other_ns")
"""Keys of a board that enter a cell's key only if they are set, so that older results stay valid."""


def _board_inputs(board: Board) -> dict[str, Any]:
    values = board.model_dump(exclude={"title", "source"})
    return {name: value for name, value in values.items() if value is not None or name not in _OPTIONAL}


_TELLS_ONLY = (
    "title",
    "most_bits_per_cell",
    "min_bytes",
    "max_bytes",
    "limit_reason",
    "compresses",
    "reclaims",
    "repair",
    "module_source",
)
"""Keys of a file system that do not affect a result: where it can lie, and where its module is made (the module's bytes
are in the key). A cell with power cuts has the repair beside these.
"""


@cache
def _filesystem_inputs(filesystem: ResolvedFileSystem) -> dict[str, Any]:
    """Return the inputs of a file system. Calls share the value: do not change it."""
    return {name: value for name, value in asdict(filesystem).items() if name not in _TELLS_ONLY}


def key(cell: Cell, environment: Mapping[str, str]) -> str:
    """Return the key of a repetition: 64 hex digits. `environment` has the digests and versions of what runs it."""
    return digest_json({"version": KEY_VERSION, "cell": cell_inputs(cell), "environment": dict(environment)})
