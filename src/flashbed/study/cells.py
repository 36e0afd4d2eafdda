# SPDX-License-Identifier: Apache-2.0
"""Check that the parts of each cell fit together: medium, translation, file system, workload."""

from collections.abc import Iterator, Mapping, Sequence

from pydantic import ValidationError

from flashbed.common.tomlfile import Keys, Problem, validation_message
from flashbed.common.units import describe_size
from flashbed.profiles.library import Library
from flashbed.profiles.profile import Medium, has_queue
from flashbed.study.draft import Draft
from flashbed.study.format import (
    DEFAULTS,
    STACK,
    StudyFile,
    Where,
    combinations,
    skip_hint,
)
from flashbed.study.kernels import kernel_problems
from flashbed.study.root_files import unvalidated_parameters
from flashbed.workload import WORKLOADS
from flashbed.workload.base import Checked, ToolParameters


def checked_skip(draft: Draft) -> tuple[Where, ...]:
    """Return the entries of skip with full values. Note a problem if no combination remains."""
    before = len(draft.problems)
    skip = tuple(draft.full(entry, ("skip", index)) for index, entry in enumerate(draft.content.skip))
    for index, entry in enumerate(draft.content.skip):
        if not entry:
            draft.add(("skip", index), "is empty, and would leave out everything")
    if len(draft.problems) == before and next(combinations(draft.content.axes, skip), None) is None:
        draft.add(("skip",), "leaves out every combination; nothing remains to run")
    return skip


def check_cells(draft: Draft) -> None:
    """Check that the parts of each cell fit together."""
    study, library = draft.content, draft.library
    problems: dict[Problem, None] = {}
    stacks: set[tuple[str, str, str]] = set()
    own = {name: str(study.workload[name]) for name in ("program", "trace") if name in study.workload}
    workloads: dict[tuple[tuple[str, str], ...], ToolParameters | None] = {}
    places: dict[tuple[str, str], bool] = {}
    for coordinates in draft.cells():
        cell = study.fixed() | study.parameters() | coordinates
        medium, stack = cell["medium"], (cell["medium"], cell["translation"], cell["filesystem"])
        place = (medium, cell["translation"])
        if place not in places:
            places[place] = has_queue(library.medium(medium), library.translation(cell["translation"]))
        if stack not in stacks:
            stacks.add(stack)
            problems.update(dict.fromkeys(_place_problems(study, library, *stack)))
            problems.update(dict.fromkeys(_aging_problems(study, library, medium, cell["filesystem"])))
        problems.update(dict.fromkeys(kernel_problems(study, library, cell)))
        if study.has_jobs:
            problems.update(dict.fromkeys(_check_problems(study, None)))
            continue  # only fio knows what it writes
        workload = tuple((name, value) for name, value in (cell | own).items() if name not in STACK)
        if workload not in workloads:
            workloads[workload] = _parameters(draft, dict(workload), problems)
        parameters = workloads[workload]
        if parameters and study.power_cuts:
            problems.update(dict.fromkeys(_check_problems(study, parameters)))
        if parameters and (needed := draft.own_bytes or parameters.bytes_on_medium()):
            amount = (cell | own)[parameters.sized_by]
            problems.update(dict.fromkeys(_room_problems(study, library, medium, amount, needed, parameters)))
    media = [library.medium(name) for name in dict.fromkeys(medium for medium, _, _ in stacks)]
    draft.extend([*problems, *_idle_scheduler(study, any(places.values())), *_idle_keys(study, media)])


def _idle_keys(study: StudyFile, media: Sequence[Medium]) -> Iterator[Problem]:
    """Yield a problem for each key of the study that is for a kind of medium which no cell has."""
    if study.power_cut and all(medium.provides != "mtd" for medium in media):
        yield Problem(
            ("power_cut",),
            "true cuts the power of raw chips only, and no medium of this study is one; leave it out (a block medium "
            "that lost power is made by flashbed medium cut, and a study starts from it: docs/profiles.md)",
        )
    if study.bytes_per_day is not None and not any(medium.numbers().get("endurance_erases") for medium in media):
        yield Problem(
            ("bytes_per_day",),
            "is for the life of flash, and no medium of this study has endurance_erases; leave it out, or give the "
            "medium's profile the erases that its data sheet promises",
        )


def _idle_scheduler(study: StudyFile, has_queues: bool) -> Iterator[Problem]:
    """Yield a problem if the study's only scheduler has requests to order in no cell. For several on an axis, the
    report says that they are equal.
    """
    scheduler = study.fixed().get("scheduler", DEFAULTS["scheduler"])
    if scheduler != DEFAULTS["scheduler"] and not has_queues:
        why = "orders nothing: requests to raw flash pass no queue, and none of the cells has another medium"
        yield Problem(study.keys_of("scheduler", scheduler), f"{scheduler} {why}; leave it out")


def _parameters(draft: Draft, texts: dict[str, str], problems: dict[Problem, None]) -> ToolParameters | None:
    study = draft.content
    fields = WORKLOADS[str(study.workload["tool"])].parameters
    try:
        parameters = fields.model_validate(unvalidated_parameters(fields, texts, study.tables(), draft.root_files))
    except ValidationError as error:
        for details in error.errors():
            name, *inner = details["loc"]
            at = _place(study, str(name), texts, inner)
            if details["type"] == "missing" and not inner:
                problems[Problem(("workload",), f"{name} is missing; give it here or as an axis")] = None
            elif details["type"] == "missing":
                problems[Problem(at, "is missing")] = None
            elif details["type"] == "extra_forbidden":
                problems[Problem(at, "no such key")] = None
            else:
                problems[Problem(at, validation_message(details))] = None
        return None
    contradictory = list(parameters.problems())
    for problem in contradictory:
        name, *inner = problem.keys
        at = _place(study, str(name), texts, inner)
        problems[Problem(at, problem.text)] = None
    return None if contradictory else parameters


def _check_problems(study: StudyFile, parameters: ToolParameters | None) -> Iterator[Problem]:
    """Yield a problem if the power is to be cut and the tool cannot check what is left."""
    name = str(study.workload["tool"])
    tool = WORKLOADS[name]
    has_check = isinstance(tool, Checked) and parameters is not None and tool.checks(parameters.canonical())
    if not study.power_cuts or has_check:
        return
    if isinstance(tool, Checked):
        way_out = "; give one, such as workload.check"
    else:
        able = ", ".join(f'"{other}"' for other, workload in WORKLOADS.items() if isinstance(workload, Checked))
        way_out = f"; these tools can have one: {able}" if able else ""
    yield Problem(("power_cuts",), f'needs a check of what is left, and this workload ("{name}") has none{way_out}')


def _place(study: StudyFile, name: str, texts: Mapping[str, str], inner: Sequence[str | int]) -> Keys:
    """Return the keys of a parameter, or of a value in a list of tables."""
    return (*study.keys_of(name, texts.get(name, "")), *inner)


def _place_problems(
    study: StudyFile, library: Library, medium: str, translation: str, filesystem: str
) -> Iterator[Problem]:
    """Yield a problem if the file system cannot lie on the medium, through the translation if there is one."""
    lies_on, between, resolved = (
        library.medium(medium),
        library.translation(translation),
        library.filesystem(filesystem),
    )
    translated = between.device is not None
    if translated and lies_on.provides == "block":
        why = f"needs raw flash (mtd), and {medium} is a block device"
        way_out = skip_hint(study, {"translation": translation, "medium": medium})
        yield Problem(study.keys_of("translation", translation), f"{translation} {why}; {way_out}")
    elif resolved.needs == "mtd" and (translated or lies_on.provides == "block"):
        why = f"needs raw flash (mtd), and {translation if translated else medium} is a block device"
        way_out = skip_hint(
            study, {"filesystem": filesystem, **({"translation": translation} if translated else {"medium": medium})}
        )
        yield Problem(study.keys_of("filesystem", filesystem), f"{filesystem} {why}; {way_out}")
    elif resolved.needs == "block" and not translated and lies_on.provides == "mtd":
        translations = ", ".join(name for name in library.names("translation") if name != "none")
        why = f"needs a block device, and {medium} is raw flash; give the study a translation ({translations})"
        yield Problem(study.keys_of("filesystem", filesystem), f"{filesystem} {why}")
    elif translated and not between.bad_blocks and (bad := lies_on.numbers().get("factory_bad_blocks")):
        hint = skip_hint(study, {"translation": translation, "medium": medium})
        why = f"cannot live with bad blocks, and {medium} has {bad} from the factory; set factory_bad_blocks=0, or"
        yield Problem(study.keys_of("translation", translation), f"{translation} {why} {hint}")
    elif why := resolved.misfit(lies_on.size_bytes, lies_on.numbers().get("bits_per_cell", 1), medium) or "":
        way_out = skip_hint(study, {"filesystem": filesystem, "medium": medium})
        yield Problem(study.keys_of("filesystem", filesystem), f"{filesystem} {why}; {way_out}")


def _aging_problems(study: StudyFile, library: Library, medium: str, filesystem: str) -> Iterator[Problem]:
    """Yield a problem if a file system that never reuses freed space is to be aged."""
    if library.medium(medium).aged and not library.filesystem(filesystem).reclaims:
        why = f"never writes again to what files leave free, so {medium} cannot age it; choose another condition, or"
        way_out = skip_hint(study, {"filesystem": filesystem, "medium": medium})
        yield Problem(study.keys_of("filesystem", filesystem), f"{filesystem} {why} {way_out}")


def _room_problems(
    study: StudyFile, library: Library, medium: str, amount: str, needed: int, parameters: ToolParameters
) -> Iterator[Problem]:
    """Yield a problem if the workload's files, `needed` bytes, do not fit on the medium."""
    lies_on = library.medium(medium)
    size, filled = lies_on.size_bytes, lies_on.aged_fill_percent if lies_on.aged else 0
    if needed > size * (100 - filled) // 100:
        way_out = skip_hint(study, {parameters.sized_by: amount, "medium": medium})
        why = f"{parameters.describe_bytes()} has no room on {medium}, which has {describe_size(size)}"
        why += f", {filled} % of it filled (aged_fill_percent)" if filled else ""
        yield Problem(study.keys_of(parameters.sized_by, amount), f"{why}; {way_out}")
