# SPDX-License-Identifier: Apache-2.0
"""The rules of a study that span several keys, or a key and a profile: each broken one is told with its line.

One function a rule or a group of rules, in the order in which study.py asks them; each takes what the ones before it
allowed as true. Must not know how a cell is run.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from io import BytesIO
from itertools import product
from math import prod
from typing import TypeVar

from elftools.common.exceptions import ELFError
from elftools.elf.elffile import ELFFile
from pydantic import ValidationError

from flashbed.common import own_file
from flashbed.common.errors import InputError
from flashbed.common.metrics import METRICS
from flashbed.common.tomlfile import Keys, Problem, TomlFile, nearest, plain, shown
from flashbed.common.units import describe_size
from flashbed.guest_output.wear import LIVES
from flashbed.profiles.library import Kind, Library, LookupProblem
from flashbed.profiles.translation import has_queue
from flashbed.study.format import (
    KERNELS,
    OWN_FILES,
    STACK,
    Answer,
    Choice,
    Figure,
    Label,
    Labels,
    StudyFile,
    Table,
    Trace,
    Where,
)
from flashbed.workload import WORKLOADS
from flashbed.workload.fio_job import job_faults
from flashbed.workload.fio_parameters import fixed_numbers, job_variables
from flashbed.workload.parameters import ToolParameters

AnyAnswer = TypeVar("AnyAnswer", bound=Answer)

LARGEST = 100_000
"""More repetitions than this in one study are a mistake."""

MOST_TRACED = 8
"""Cells that one figure of requests shows."""

_PROFILES: tuple[Kind, ...] = ("board", "medium", "translation", "filesystem", "scheduler")
_COLUMNS = (
    *("seed", "outcome", "reason", "key", "check", "limit", "mounted", "steady", "fresh", "writes", "tool"),
    *OWN_FILES,
)
"""What else the results table and [workload] name."""
_REQUIRED = {"board": "arm64-1000", "medium": "usb-stick-2g", "filesystem": "ext2"}


def combinations(axes: Mapping[str, Sequence[str]], skip: Sequence[Where]) -> Iterator[dict[str, str]]:
    """Every combination of the axes' values but those that `skip` names; the last axis changes fastest."""
    for values in product(*axes.values()):
        cell = dict(zip(axes, values, strict=True))
        if not any(matches(cell, entry) for entry in skip):
            yield cell


def check_names(file: TomlFile, study: StudyFile) -> None:
    """The tool, the names of axes and parameters, nothing said twice, nothing left open. Raises InputError."""
    raise_all(file, _name_problems(study))


def _name_problems(study: StudyFile) -> Iterator[Problem]:
    tool = str(study.workload["tool"])
    if tool not in WORKLOADS:
        yield Problem(("workload", "tool"), f'no tool "{tool}"{nearest(tool, WORKLOADS)}')
        return
    for name in OWN_FILES:
        said = name in study.workload or (name == "job" and name in study.axes)
        if said and name not in WORKLOADS[tool].own_files:
            tools = " or ".join(f'"{other}"' for other, workload in WORKLOADS.items() if name in workload.own_files)
            at: Keys = ("workload", name) if name in study.workload else ("axes", name)
            yield Problem(at, f'is only for tool = {tools}, not for "{tool}"')
    for name in STACK:
        if name in study.axes and getattr(study, name) is not None:
            yield Problem((name,), "is fixed here and varied under [axes]; keep one of the two")
        if name in _REQUIRED and name not in study.axes and getattr(study, name) is None:
            yield Problem((), f'{name} is missing; fix it at the top ({name} = "{_REQUIRED[name]}") or add an axis')
    for name in study.parameters():
        if name in study.axes:
            yield Problem(("workload", name), "is fixed here and varied under [axes]; keep one of the two")
    yield from _job_name_problems(study) if study.has_jobs else _parameter_name_problems(study)
    count = prod(len(values) for values in study.axes.values())
    if count * len(study.seeds) > LARGEST:
        text = f"{count} combinations with {len(study.seeds)} seeds are more than {LARGEST} repetitions"
        yield Problem(("axes",), f"{text}; take values away")


def _parameter_name_problems(study: StudyFile) -> Iterator[Problem]:
    tool = str(study.workload["tool"])
    known = list(WORKLOADS[tool].parameters.model_fields)
    others = [*known, "tool", *WORKLOADS[tool].own_files]
    for name in study.axes:
        if name not in STACK and (name not in known or name in OWN_FILES):
            yield Problem(("axes", name), f"is no axis{nearest(name, [*STACK, *known])}")
    for name in study.parameters():
        if name not in known:
            yield Problem(("workload", name), f"is no parameter of {tool}{nearest(name, others)}")


def _job_name_problems(study: StudyFile) -> Iterator[Problem]:
    for name in study.parameters():
        yield Problem(("workload", name), "cannot stand beside job: the job file says it; or make it an axis")
    if "job" in study.axes and "job" in study.workload:
        yield Problem(("workload", "job"), "is fixed here and varied under [axes]; keep one of the two")
    for name in study.axes:
        if name == "job":
            continue
        if name in METRICS or name in _COLUMNS:
            yield Problem(("axes", name), "is the name of a column of the results; choose another")
        elif name not in STACK and not re.fullmatch(r"[A-Za-z_]\w*", name, re.ASCII):
            yield Problem(("axes", name), "cannot be a variable of the job; use letters, digits and _")


def check_profiles(file: TomlFile, study: StudyFile, library: Library) -> None:
    """Every selector names a profile, and its options fit. Raises InputError."""
    problems = []
    for kind in _PROFILES:
        for value in study.axes.get(kind) or (study.fixed()[kind],):
            try:
                getattr(library, kind)(value)
            except LookupProblem as error:
                problems.append(Problem(study.keys_of(kind, value), str(error)))
    for kernel in study.axes.get("kernel") or (study.fixed()["kernel"],):
        if kernel.removesuffix("-debug") not in KERNELS:
            why = f'must be such as "6.1", not "{shown(kernel)}"; there are: {", ".join(KERNELS)}'
            problems.append(Problem(study.keys_of("kernel", kernel), why))
    raise_all(file, problems)


def read_jobs(file: TomlFile, study: StudyFile) -> dict[str, str] | None:
    """The texts of the study's job files, each of which must use every axis of its own. Raises InputError."""
    if not study.has_jobs:
        return None
    places: dict[str, Keys] = (
        {name: ("axes", "job", index) for index, name in enumerate(study.axes["job"])}
        if "job" in study.axes
        else {str(study.workload["job"]): ("workload", "job")}
    )
    return {name: _read_job(file, study, name, at) for name, at in places.items()}


def _read_job(file: TomlFile, study: StudyFile, name: str, at: Keys) -> str:
    path = file.path.parent / name
    try:
        text = own_file.read(path).decode()
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "not a UTF-8 text"
        raise file.error(at, f"{shown(path, 300)} cannot be read: {why}") from None
    for line, what in job_faults(text):
        raise file.error(at, f"{path}:{line}: {what}")
    variables = job_variables(text)
    own = [axis for axis in study.axes if axis not in STACK and axis != "job"]
    problems = [
        Problem(("axes", axis), f"does not reach the job: {path} has no ${{{axis}}}{nearest(axis, variables)}")
        for axis in own
        if axis not in variables
    ]
    problems += [
        Problem(at, f"{path} uses ${{{variable}}}, which is no axis{nearest(variable, own)}")
        for variable in sorted(variables - set(own))
    ]
    if len(study.seeds) > 1 and (option := fixed_numbers(text)):
        why = f"{path} sets {option}, so that fio takes the same random numbers with each of {len(study.seeds)} seeds"
        problems.append(Problem(at, f"{why}; take it out of the job, or give the study one seed"))
    raise_all(file, problems)
    return text


def read_program(file: TomlFile, study: StudyFile) -> bytes | None:
    """The user's own build of the tool, which must run in a guest that has no libraries for it. Raises InputError."""
    if "program" not in study.workload:
        return None
    path = file.path.parent / str(study.workload["program"])
    try:
        data = own_file.read(path)
    except OSError as error:
        raise file.error(("workload", "program"), f"{shown(path, 300)} cannot be read: {error.strerror}") from None
    try:
        elf = ELFFile(BytesIO(data))
        fits = elf.get_machine_arch() == "AArch64" and not list(elf.iter_segments("PT_INTERP"))
    except (ELFError, ValueError, KeyError, TypeError, AttributeError, OverflowError, UnicodeDecodeError):
        fits = False  # the last ones: the library's words for a file that is cut short or made up
    if not fits:
        why = "is no statically linked program for arm64; build it with CC='aarch64-linux-gnu-gcc -static'"
        raise file.error(("workload", "program"), f"{path} {why}")
    return data


def checked_skip(file: TomlFile, study: StudyFile) -> tuple[Where, ...]:
    """The entries of skip with their values in full; something must remain. Raises InputError."""
    problems: list[Problem] = []
    skip = tuple(full_selection(study, entry, ("skip", index), problems) for index, entry in enumerate(study.skip))
    for index, entry in enumerate(study.skip):
        if not entry:
            problems.append(Problem(("skip", index), "is empty, and would leave out everything"))
    raise_all(file, problems)
    if next(combinations(study.axes, skip), None) is None:
        raise file.error(("skip",), "leaves out every combination; nothing remains to run")
    return skip


def check_cells(file: TomlFile, study: StudyFile, skip: Sequence[Where], library: Library) -> None:
    """What each cell puts together must go together. Raises InputError."""
    problems: dict[Problem, None] = {}
    stacks: set[tuple[str, str, str]] = set()
    own = {"program": str(study.workload["program"])} if "program" in study.workload else {}
    workloads: dict[tuple[tuple[str, str], ...], ToolParameters | None] = {}
    for coordinates in combinations(study.axes, skip):
        cell = study.fixed() | study.parameters() | coordinates
        medium, stack = cell["medium"], (cell["medium"], cell["translation"], cell["filesystem"])
        if stack not in stacks:
            stacks.add(stack)
            problems.update(dict.fromkeys(_place_problems(study, library, *stack)))
        if study.has_jobs:
            continue  # what it writes, only fio knows
        said = tuple((name, value) for name, value in (cell | own).items() if name not in STACK)
        if said not in workloads:
            workloads[said] = _parameters(study, dict(said), problems)
        parameters = workloads[said]
        if parameters:
            problems.update(dict.fromkeys(_room_problems(study, library, medium, cell["file"], parameters)))
    raise_all(file, problems)


def _parameters(study: StudyFile, said: dict[str, str], problems: dict[Problem, None]) -> ToolParameters | None:
    try:
        parameters = WORKLOADS[str(study.workload["tool"])].parameters.model_validate(said)
    except ValidationError as error:
        for details in error.errors():
            name = str(details["loc"][0])
            if details["type"] == "missing":
                problems[Problem(("workload",), f"{name} is missing; give it here or as an axis")] = None
            else:
                problems[Problem(study.keys_of(name, said[name]), plain(details))] = None
        return None
    contradictory = list(parameters.problems())
    for problem in contradictory:
        name = str(problem.keys[0])
        problems[Problem(study.keys_of(name, said.get(name, "")), problem.text)] = None
    return None if contradictory else parameters


def _place_problems(
    study: StudyFile, library: Library, medium: str, translation: str, filesystem: str
) -> Iterator[Problem]:
    """The file system must be able to lie on the medium, through the translation if there is one."""
    lies_on, between, resolved = (
        library.medium(medium),
        library.translation(translation),
        library.filesystem(filesystem),
    )
    translated = between.device is not None
    if translated and lies_on.provides == "block":
        why = f"needs raw flash (mtd), and {medium} is a block device"
        way_out = _skip_hint(study, {"translation": translation, "medium": medium})
        yield Problem(study.keys_of("translation", translation), f"{translation} {why}; {way_out}")
    elif resolved.needs == "mtd" and (translated or lies_on.provides == "block"):
        why = f"needs raw flash (mtd), and {translation if translated else medium} is a block device"
        way_out = _skip_hint(
            study, {"filesystem": filesystem, **({"translation": translation} if translated else {"medium": medium})}
        )
        yield Problem(study.keys_of("filesystem", filesystem), f"{filesystem} {why}; {way_out}")
    elif resolved.needs == "block" and not translated and lies_on.provides == "mtd":
        known = ", ".join(name for name in library.names("translation") if name != "none")
        why = f"needs a block device, and {medium} is raw flash; give the study a translation ({known})"
        yield Problem(study.keys_of("filesystem", filesystem), f"{filesystem} {why}")
    elif translated and not between.bad_blocks and (bad := lies_on.numbers().get("factory_bad_blocks")):
        hint = _skip_hint(study, {"translation": translation, "medium": medium})
        why = f"cannot live with bad blocks, and {medium} has {bad} from the factory; set factory_bad_blocks=0, or"
        yield Problem(study.keys_of("translation", translation), f"{translation} {why} {hint}")
    elif why := resolved.misfit(lies_on.size_bytes, lies_on.numbers().get("bits_per_cell", 1), medium) or "":
        way_out = _skip_hint(study, {"filesystem": filesystem, "medium": medium})
        yield Problem(study.keys_of("filesystem", filesystem), f"{filesystem} {why}; {way_out}")


def _room_problems(
    study: StudyFile, library: Library, medium: str, file: str, parameters: ToolParameters
) -> Iterator[Problem]:
    """The workload's files must have room on the medium."""
    size = library.medium(medium).size_bytes
    if parameters.bytes_on_medium() > size:
        way_out = _skip_hint(study, {"file": file, "medium": medium})
        why = f"{parameters.describe_bytes()} has no room on {medium}, which has {describe_size(size)}"
        yield Problem(study.keys_of("file", file), f"{why}; {way_out}")


def checked_answers(
    file: TomlFile, study: StudyFile, skip: Sequence[Where]
) -> tuple[Answer | None, tuple[Choice, ...]]:
    """The answer and what else is to be chosen, with the values of `where` in full. Raises InputError."""
    problems: list[Problem] = []
    answer = _checked_answer(study, skip, study.answer, ("answer",), problems) if study.answer else None
    choices = [
        _checked_answer(study, skip, choice, ("choice", index), problems) for index, choice in enumerate(study.choice)
    ]
    raise_all(file, problems)
    return answer, tuple(choices)


def _checked_answer(
    study: StudyFile, skip: Sequence[Where], answer: AnyAnswer, at: Keys, problems: list[Problem]
) -> AnyAnswer:
    before = len(problems)
    where = full_selection(study, answer.where, (*at, "where"), problems)
    for name in answer.compare:
        known_axis(study, name, (*at, "compare"), problems)
    for name in answer.by:
        known_axis(study, name, (*at, "by"), problems)
        if name in answer.compare:
            problems.append(Problem((*at, "by"), f'"{name}" is what is compared already'))
    for metric in answer.metric:
        known_metric(metric, (*at, "metric"), problems)
        if metric in METRICS and METRICS[metric].better is None:
            problems.append(Problem((*at, "metric"), f'"{metric}" has no better direction'))
    if len(problems) == before and not any(matches(cell, where) for cell in combinations(study.axes, skip)):
        problems.append(Problem((*at, "where"), "leaves no cell to compare"))
    return answer.model_copy(update={"where": where})


def checked_labels(file: TomlFile, study: StudyFile) -> Labels:
    """The labels, by values in full. Raises InputError."""
    problems: list[Problem] = []
    said = {**study.fixed(), **study.parameters()}
    known = {**{name: (value,) for name, value in said.items()}, **study.axes}
    for axis in study.labels.axes:
        if axis not in known:
            problems.append(Problem(("labels", "axes", axis), f"is no axis of this study{nearest(axis, known)}"))
    values: dict[str, dict[str, str | Label]] = {}
    for axis, labels in study.labels.values.items():
        at: Keys = ("labels", "values", axis)
        if axis not in known:
            problems.append(Problem(at, f"is no axis of this study{nearest(axis, known)}"))
            continue
        named: dict[str, str] = {}
        for value, label in labels.items():
            found = [value] if value in known[axis] else selected(axis, value, known[axis])
            if not found:
                text = f'"{value}" is not on the axis "{axis}"{nearest(value, known[axis])}'
                problems.append(Problem((*at, value), text))
            name = label.name if isinstance(label, Label) else label
            if len(found) > 1 or name in named:
                others = " and ".join(f'"{one}"' for one in [*filter(None, [named.get(name)]), *found])
                problems.append(Problem((*at, value), f'calls {others} all "{name}"; give each a name of its own'))
            for one in found:
                named[name] = one
                values.setdefault(axis, {})[one] = label
    raise_all(file, problems)
    return study.labels.model_copy(update={"values": values})


def checked_report(
    file: TomlFile, study: StudyFile, skip: Sequence[Where]
) -> tuple[tuple[Figure, ...], tuple[Table, ...]]:
    """The figures and tables, with the values of `where` in full. Raises InputError."""
    problems: list[Problem] = []
    figures = []
    for index, figure in enumerate(study.figure):
        at: Keys = ("figure", index)
        known_metric(figure.y, (*at, "y"), problems)
        where = _shown(study, skip, figure.where, {"x": (figure.x,), "series": figure.series}, at, problems)
        figures.append(figure.model_copy(update={"where": where}))
    tables = []
    for index, table in enumerate(study.table):
        at = ("table", index)
        for metric in table.metric:
            known_metric(metric, (*at, "metric"), problems)
        where = _shown(study, skip, table.where, {"rows": table.rows, "columns": table.columns}, at, problems)
        tables.append(table.model_copy(update={"where": where}))
    raise_all(file, problems)
    return tuple(figures), tuple(tables)


def check_lives(file: TomlFile, study: StudyFile) -> None:
    """A life is told for a load. Raises InputError."""
    if study.bytes_per_day is not None:
        return
    asked: dict[Keys, Sequence[str]] = {("answer", "metric"): study.answer.metric} if study.answer else {}
    asked |= {("choice", place, "metric"): choice.metric for place, choice in enumerate(study.choice)}
    asked |= {("figure", place, "y"): (figure.y,) for place, figure in enumerate(study.figure)}
    asked |= {("table", place, "metric"): table.metric for place, table in enumerate(study.table)}
    asked |= {("claim", place, "metric"): claim.metric for place, claim in enumerate(study.claim)}
    raise_all(
        file,
        [
            Problem(at, f'{name} needs to know how much is written a day: bytes_per_day = "1G" at the top of the study')
            for at, names in asked.items()
            for name in names
            if name in LIVES
        ],
    )


def checked_traces(file: TomlFile, study: StudyFile, skip: Sequence[Where], library: Library) -> tuple[Trace, ...]:
    """The figures of requests, with the values of `where` in full. Raises InputError."""
    problems: list[Problem] = []
    traces = []
    for index, trace in enumerate(study.trace):
        at: Keys = ("trace", index)
        before = len(problems)
        where = full_selection(study, trace.where, (*at, "where"), problems)
        if len(problems) == before:
            cells = [cell for cell in combinations(study.axes, skip) if matches(cell, where)]
            problems += dict.fromkeys(_trace_problems(study, library, cells, at))
        traces.append(trace.model_copy(update={"where": where}))
    raise_all(file, problems)
    return tuple(traces)


def _trace_problems(
    study: StudyFile, library: Library, cells: Sequence[Mapping[str, str]], at: Keys
) -> Iterator[Problem]:
    """A trace shows a few cells, each with a block device that can log its requests."""
    if not 0 < len(cells) <= MOST_TRACED:
        yield Problem((*at, "where"), f"shows {len(cells)} cells; take 1 to {MOST_TRACED}, each gets a panel")
        return
    for cell in cells:
        said = {**study.fixed(), **cell}
        translation, medium = said["translation"], said["medium"]
        between = library.translation(translation)
        if not has_queue(library.medium(medium), between):
            yield Problem((*at, "where"), f"shows {medium}, which is raw flash: it gets no requests of sectors")
        elif between.device is not None and not between.logs_requests:
            yield Problem((*at, "where"), f"shows {translation}, which keeps no log of its requests")


def _shown(
    study: StudyFile,
    skip: Sequence[Where],
    where: Where,
    places: Mapping[str, Sequence[str]],
    at: Keys,
    problems: list[Problem],
) -> Where:
    """Checks which cells a figure or table shows, and that no two of them would fall on one point."""
    before = len(problems)
    used: list[str] = []
    for place, names in places.items():
        for name in names:
            known_axis(study, name, (*at, place), problems)
            if name in used:
                problems.append(Problem((*at, place), f'"{name}" is used twice'))
            used.append(name)
    full = full_selection(study, where, (*at, "where"), problems)
    if len(problems) > before:
        return full
    cells = [cell for cell in combinations(study.axes, skip) if matches(cell, full)]
    if not cells:
        problems.append(Problem((*at, "where"), "leaves no cell to show"))
    for name in study.axes:
        values = {cell[name] for cell in cells}
        if name not in used and len(values) > 1:
            ways = " or ".join(f"in {place}" for place in places if place != "x")
            text = f'would mix {len(values)} values of "{name}"; put it {ways}, or fix it in where'
            problems.append(Problem(at, text))
    return full


def full_selection(study: StudyFile, selection: Where, at: Keys, problems: list[Problem]) -> Where:
    """`selection` with its values in full: "fat16" stands for every "fat16:..." on the axis."""
    full: Where = {}
    for axis, values in selection.items():
        if not known_axis(study, axis, (*at, axis), problems):
            continue
        wanted: list[str] = []
        for value in values:
            found = selected(axis, value, study.axes[axis])
            if not found:
                known = nearest(value, study.axes[axis])
                problems.append(Problem((*at, axis), f'"{value}" is not on the axis "{axis}"{known}'))
            wanted += found
        if not values:
            problems.append(Problem((*at, axis), "has no values"))
        full[axis] = tuple(value for value in study.axes[axis] if value in wanted)
    return full


def selected(axis: str, value: str, values: Sequence[str]) -> list[str]:
    """The values of an axis that a word of the study means: itself, or each profile of that name."""
    return [found for found in values if found == value or (axis in _PROFILES and found.partition(":")[0] == value)]


def matches(cell: Mapping[str, str], selection: Where) -> bool:
    """Whether a cell is among those that `selection`, with its values in full, names."""
    return all(cell[axis] in values for axis, values in selection.items())


def known_axis(study: StudyFile, name: str, at: Keys, problems: list[Problem]) -> bool:
    """Whether a name is an axis; a problem is added if not."""
    if name in study.axes:
        return True
    fixed = name in STACK or name in study.workload
    why = "is fixed in this study, not an axis" if fixed else f"is no axis of this study{nearest(name, study.axes)}"
    problems.append(Problem(at, f'"{name}" {why}'))
    return False


def known_metric(name: str, at: Keys, problems: list[Problem]) -> None:
    """Adds a problem for a name that is no metric."""
    if name not in METRICS:
        problems.append(Problem(at, f'no metric "{name}"{nearest(name, METRICS)}'))


def _skip_hint(study: StudyFile, pair: Mapping[str, str]) -> str:
    varied = [f'{axis} = "{value}"' for axis, value in pair.items() if axis in study.axes]
    if not varied:
        return "change one of the two"
    return f"change one of the two, or leave the combination out: skip = [{{ {', '.join(varied)} }}]"


def raise_all(file: TomlFile, problems: Iterable[Problem]) -> None:
    """Raises InputError with all problems, if there are any."""
    lines = dict.fromkeys(file.message(problem.keys, problem.text) for problem in problems)
    if lines:
        raise InputError("\n".join(lines))
