# SPDX-License-Identifier: Apache-2.0
"""From a study to its cells, and from a cell to its key: the hash of everything that its result depends on.

What does not touch a result (titles, sources, names of profiles, the order of keys) is not in a key. Must not know
how a cell is run or where its result lies.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from functools import cache
from typing import Any

from flashbed.common.digest import digest_bytes, digest_json
from flashbed.profiles.filesystem import ResolvedFileSystem
from flashbed.profiles.kernel_choice import KernelChoice
from flashbed.profiles.profile import Board, Medium, Scheduler
from flashbed.profiles.translation import Translation, has_queue
from flashbed.study.loading import Study
from flashbed.workload import WORKLOADS

KEY_VERSION = 2
"""Goes up when the same inputs come to mean another run."""

NO_QUEUE = Scheduler(title="no queue", name="none")

FILLERS = 1024
PHASES_US = 20_001


@dataclass(frozen=True)
class Placement:
    """What the seed moves in a cell, beside the workload's own random numbers."""

    filler_kib: int
    """Size of a file written before the test file, KiB: 0 to 1023."""
    phase_us: int
    """Pause before the measurement, virtual us: 0 to 20000."""

    @classmethod
    def of(cls, seed: int) -> "Placement":
        """The same for each cell with this seed, on each machine and Python, so that cells compare seed by seed."""
        digest = hashlib.sha256(f"flashbed placement {seed}".encode()).digest()
        filler, phase = int.from_bytes(digest[:8]), int.from_bytes(digest[8:16])
        return cls(filler % FILLERS, phase % PHASES_US)


@dataclass(frozen=True)
class CellWorkload:
    """The tool and its parameters: sizes in bytes, defaults filled in, everything JSON."""

    tool: str
    parameters: Mapping[str, Any]
    files: Mapping[str, bytes] = field(default_factory=dict)
    """Files of the user's that lie in /job under these names; the parameters have their digests."""


@dataclass(frozen=True)
class Cell:
    """A combination and a seed: one repetition, ready to run."""

    coordinates: Mapping[str, str]
    """Axis to value, as written in the study."""
    board: Board
    medium: Medium
    translation: Translation
    filesystem: ResolvedFileSystem
    scheduler: Scheduler
    """Of the queue. Raw flash has no queue, so its cells have none, whatever the study names."""
    kernel: str
    """What its key says of it, beside the digests of what is built."""
    workload: CellWorkload
    seed: int
    placement: Placement
    traced: bool = False
    """Whether its requests are kept, for a figure."""
    power_cut: bool = False
    """Whether the power goes when all else is measured, to see how long the next mount takes."""
    own_kernel: KernelChoice | None = None
    """Where it is none of those that the lab offers."""

    @property
    def polls(self) -> bool:
        """Whether the CPU is busy while the medium is."""
        return self.medium.provides == "mtd" and self.board.nand_wait == "poll"

    @property
    def label(self) -> str:
        """A line for people: "fat16:cluster=16k randwrite 4k, seed 2"."""
        return f"{' '.join(self.coordinates.values()) or 'only cell'}, seed {self.seed}"


def plan(study: Study) -> list[Cell]:
    """All repetitions: every combination with the first seed, then with the second.

    So a study that is stopped leaves a thin picture of everything, not a full one of a part.
    """
    return [_cell(study, coordinates, seed) for seed in study.seeds for coordinates in study.combinations()]


def _cell(study: Study, coordinates: dict[str, str], seed: int) -> Cell:
    said = {**study.fixed, **study.workload, **coordinates}
    medium = study.library.medium(said.pop("medium"))
    translation = study.library.translation(said.pop("translation"))
    scheduler = study.library.scheduler(said.pop("scheduler"))
    kernel = study.kernels[said.pop("kernel")]
    return Cell(
        coordinates=coordinates,
        board=study.library.board(said.pop("board")),
        medium=medium,
        translation=translation,
        filesystem=study.library.filesystem(said.pop("filesystem")),
        scheduler=scheduler if has_queue(medium, translation) else NO_QUEUE,
        kernel=kernel.word,
        workload=_workload(study, said),
        seed=seed,
        placement=Placement.of(seed),
        traced=study.is_traced(coordinates),
        power_cut=study.power_cut and medium.provides == "mtd",
        own_kernel=kernel if kernel.is_own else None,
    )


def _workload(study: Study, said: dict[str, str]) -> CellWorkload:
    if study.job is not None:
        name = said.pop("job", None)
        text = next(iter(study.job.values())) if name is None else study.job[name]
        return CellWorkload(study.tool, {"job": text, "variables": said})
    files = {} if study.program is None else {"program": study.program}
    digests = {name: digest_bytes(data) for name, data in files.items()}
    return CellWorkload(study.tool, WORKLOADS[study.tool].parameters.model_validate(said | digests).canonical(), files)


def cell_inputs(cell: Cell) -> dict[str, Any]:
    """Everything of a cell that its result depends on, as JSON values; what the environment adds is not here."""
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
    }
    plain: dict[str, Any] = json.loads(json.dumps(inputs))  # tuples become lists, as in any file
    return plain


def _joined(medium: Medium) -> dict[str, str]:
    """How the medium is joined to the board; a raw chip is in one way only."""
    return {"interface": medium.interface} if medium.provides == "block" else {}


_OPTIONAL = ("line_transfer_ns", "line_transfer_other_ns")
"""What of a board is in a key only where it is said: results from before there was such a key stay valid."""


def _board_inputs(board: Board) -> dict[str, Any]:
    said = board.model_dump(exclude={"title", "source"})
    return {name: value for name, value in said.items() if value is not None or name not in _OPTIONAL}


_TELLS_ONLY = (
    "title",
    "most_bits_per_cell",
    "min_bytes",
    "max_bytes",
    "limit_reason",
    "compresses",
    "reclaims",
    "module_source",
)
"""What of a file system says where it can stand, and changes no result there; or where its module is made, whose bytes
are in a key.
"""


@cache
def _filesystem_inputs(filesystem: ResolvedFileSystem) -> dict[str, Any]:
    """Shared between calls: not to be changed."""
    return {name: value for name, value in asdict(filesystem).items() if name not in _TELLS_ONLY}


def key(cell: Cell, environment: Mapping[str, str]) -> str:
    """The key of a repetition: 64 hex digits. `environment` has the digests and versions of what runs it."""
    return digest_json({"version": KEY_VERSION, "cell": cell_inputs(cell), "environment": dict(environment)})
