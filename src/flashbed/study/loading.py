# SPDX-License-Identifier: Apache-2.0
"""Read a study: its file, the profiles that it names, and the user's files (fio jobs, and a program for the guest).
Check it before anything runs.

The result is free of contradictions, so plan.py need not check it. Must not know how a cell is run or where results
are.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from io import BytesIO
from math import prod
from pathlib import Path
from typing import Any, Self

from elftools.common.exceptions import ELFError
from elftools.elf.elffile import ELFFile

from flashbed.common import foreign, own_file, paths
from flashbed.common.errors import InputError
from flashbed.common.tomlfile import Keys, Problem, TomlFile, nearest, shown
from flashbed.profiles.kernel_choice import KernelChoice
from flashbed.profiles.library import Library
from flashbed.study import cells, claim_rules, format, name_rules, questions, ready_loads, root_files
from flashbed.study.draft import Draft
from flashbed.study.format import (
    DEFAULTS,
    LOAD_KEY,
    STACK,
    Answer,
    Choice,
    Claim,
    Figure,
    Labels,
    RequestFigure,
    StudyFile,
    Table,
    Where,
    as_written,
    keys_of,
)
from flashbed.study.kernels import command_line_kernels, with_kernels
from flashbed.study.root_files import OwnFile
from flashbed.traces import call_trace
from flashbed.workload import WORKLOADS
from flashbed.workload.fio.jobs import fixed_numbers, job_faults, job_variables


def read_jobs(draft: Draft) -> dict[str, str] | None:
    """Return the texts of the study's job files. Each must use every axis of its own."""
    study = draft.content
    if not study.has_jobs:
        return None
    places: dict[str, Keys] = (
        {name: ("axes", "job", index) for index, name in enumerate(study.axes["job"])}
        if "job" in study.axes
        else {str(study.workload["job"]): ("workload", "job")}
    )
    return {name: _read_job(draft, name, at) for name, at in places.items()}


def _read_job(draft: Draft, name: str, at: Keys) -> str:
    study, path = draft.content, draft.file.path.parent / name
    try:
        text = own_file.read(path).decode()
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "not a UTF-8 text"
        draft.add(at, f"{shown(path, 300)} cannot be read: {why}")
        return ""
    for line, fault in job_faults(text):
        draft.add(at, f"{path}:{line}: {fault}")
        return text  # fio may read the rest differently
    variables = job_variables(text)
    own = [axis for axis in study.axes if axis not in STACK and axis != "job"]
    draft.extend(
        Problem(("axes", axis), f"does not reach the job: {path} has no ${{{axis}}}{nearest(axis, variables)}")
        for axis in own
        if axis not in variables
    )
    draft.extend(
        Problem(at, f"{path} uses ${{{variable}}}, which is no axis{nearest(variable, own)}")
        for variable in sorted(variables - set(own))
    )
    if len(study.seeds) > 1 and (option := fixed_numbers(text)):
        why = f"{path} sets {option}, so that fio takes the same random numbers with each of {len(study.seeds)} seeds"
        draft.add(at, f"{why}; take it out of the job, or give the study one seed")
    return text


def read_program(draft: Draft) -> bytes | None:
    """Return the user's own build of the tool, which must run in a guest without libraries for it."""
    if "program" not in draft.content.workload:
        return None
    path, at = draft.file.path.parent / str(draft.content.workload["program"]), ("workload", "program")
    try:
        data = own_file.read(path)
    except OSError as error:
        draft.add(at, f"{shown(path, 300)} cannot be read: {error.strerror}")
        return None
    try:
        elf = ELFFile(BytesIO(data))
        fits = elf.get_machine_arch() == "AArch64" and not list(elf.iter_segments("PT_INTERP"))
    except (ELFError, ValueError, KeyError, TypeError, AttributeError, OverflowError, UnicodeDecodeError):
        fits = False  # pyelftools raises the last two for a truncated or forged file
    if not fits:
        why = "is no statically linked program for arm64; build it with CC='aarch64-linux-gnu-gcc -static'"
        draft.add(at, f"{path} {why}")
    return data


def read_trace(draft: Draft) -> bytes | None:
    """Return the user's trace of system calls, and note in the draft how many bytes its files take."""
    name, at = draft.content.workload.get("trace"), ("workload", "trace")
    if draft.content.workload["tool"] != "trace":
        return None
    if name is None:
        draft.add(("workload",), 'trace is missing; give it here: trace = "FILE"')
        return None
    path = draft.file.path.parent / str(name)
    try:
        data = own_file.read(path)
        draft.own_bytes = call_trace.parsed(data.decode("ascii"), str(path)).most_bytes()
    except OSError as error:
        draft.add(at, f"{shown(path, 300)} cannot be read: {error.strerror}")
    except UnicodeDecodeError:
        draft.add(at, f"{shown(path, 300)} is no trace, which is ASCII; flashbed trace import makes one")
    except call_trace.TraceError as error:
        draft.add(at, error.message)
    else:
        return data
    return None


def read_root_files(draft: Draft) -> tuple[OwnFile, ...]:
    """Return the files for the root of programs: the study's, and those of its load."""
    names_ = draft.content.workload.get(root_files.FILES_PARAMETER, ())
    sources: list[tuple[Keys, Path, str]] = []
    if draft.load is not None:
        sources += [(("workload", LOAD_KEY), draft.load.folder, name) for name in draft.load.content.files]
        sources += [(("workload", LOAD_KEY), paths.loads(), name) for name in draft.load.content.loads]
    for index, name in enumerate(names_ if isinstance(names_, tuple) else ()):
        sources.append((("workload", root_files.FILES_PARAMETER, index), draft.file.path.parent, str(name)))
    files: dict[str, OwnFile] = {}
    for at, folder, name in sources:
        try:
            files |= {file.path: file for file in root_files.read(folder, name)}
        except root_files.OwnFileError as error:
            draft.add(at, f'"{shown(name)}" {error}')
    return tuple(files[path] for path in sorted(files))


SHIPPED = "flashbed:"
"""The prefix of a shipped study's name where a record names any other study by the path of its file."""


@dataclass(frozen=True)
class Study:
    """A valid study. Values are texts as in the file, also in `where` and `skip`."""

    name: str
    path: Path
    title: str
    question: str
    source: str
    fixed: Mapping[str, str]
    """The parts of the stack that are on no axis."""
    axes: Mapping[str, tuple[str, ...]]
    seeds: tuple[int, ...]
    skip: tuple[Where, ...]
    tool: str
    workload: Mapping[str, str]
    """The fixed parameters, without `tool` and `job`."""
    job: Mapping[str, str] | None
    """The texts of the user's job files, by their names in the study: one, or one for each value of an axis."""
    program: bytes | None
    """The user's own build of the tool."""
    answer: Answer | None
    figures: tuple[Figure, ...]
    tables: tuple[Table, ...]
    library: Library
    calls: bytes | None = None
    """The user's trace of system calls."""
    tables_of_tool: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)
    """The parameters of the tool that are lists of tables."""
    root_files: tuple[OwnFile, ...] = ()
    """The user's files for the root of programs."""
    choices: tuple[Choice, ...] = ()
    request_figures: tuple[RequestFigure, ...] = ()
    claims: tuple[Claim, ...] = ()
    systems: tuple[str, ...] = ()
    power_cut: bool = False
    """True if raw chips lose power at the end of each cell."""
    power_cuts: int = 0
    """How often each cell runs again with its power cut."""
    bytes_per_day: int | None = None
    """The daily load for which lifetimes are computed."""
    labels: Labels = field(default_factory=Labels)
    """The names of its axes and values for people."""
    kernels: Mapping[str, KernelChoice] = field(default_factory=dict)
    """The kernels, by their texts in the study."""
    kernels_asked_for: bool = False
    """True if the kernels are those of the command line."""
    by_default: frozenset[str] = frozenset()
    """Which of `answer`, `tables` and `figures` the file does not have (questions.py)."""
    slice_note: str = ""
    """For a slice: which cells it has, and what is left out with the others."""

    @property
    def has_own_load(self) -> bool:
        """True if the user made the load: a job of fio, or programs. Only they know what its variables mean."""
        return self.job is not None or WORKLOADS[self.tool].parameters.placeholders

    @property
    def is_shipped(self) -> bool:
        """True if the study is one of flashbed's own."""
        return self.path.parent == paths.studies()

    @property
    def count(self) -> int:
        """Return the number of repetitions, before `skip`."""
        return prod(map(len, self.axes.values())) * len(self.seeds)

    def values_of(self, part: str) -> tuple[str, ...]:
        """Return the values of a part of the stack: those of its axis, else the fixed one."""
        return self.axes.get(part) or (self.fixed[part],)

    def place_of(self, name: str, value: str) -> str:
        """Return the file, line and key of this value of a part of the stack or of a parameter."""
        return TomlFile.read(self.path).place(keys_of(self.axes, name, value))

    def logs_requests(self, coordinates: Mapping[str, str]) -> bool:
        """Return True if a figure needs the requests of the cell with these coordinates."""
        return any(format.matches(coordinates, figure.where) for figure in self.request_figures)

    def combinations(self) -> Iterator[dict[str, str]]:
        """Yield the coordinates of each cell that `skip` does not name. The last axis changes fastest."""
        return format.combinations(self.axes, self.skip)

    def with_defaults(self, *, answer: bool = True) -> Self:
        """Return the study with default questions if it asks none. Add a default answer only if `answer`."""
        cells = list(self.combinations())
        present = {axis: {cell[axis] for cell in cells} for axis in self.axes}
        varied = {
            axis: [v for v in self.axes[axis] if v in values] for axis, values in present.items() if len(values) > 1
        }
        values_by_name = {**{k: (v,) for k, v in self.workload.items()}, **self.axes}
        if self.job:
            values_by_name["job"] = tuple(self.job.values())
        default = questions.defaults(varied, WORKLOADS[self.tool].headline(values_by_name))
        put: dict[str, Any] = {}
        if answer and self.answer is None and default.answer is not None:
            put["answer"] = default.answer
        if not self.tables:
            put["tables"] = (default.table,)
        if not self.figures and default.figure is not None:
            put["figures"] = (default.figure,)
        return replace(self, **put, by_default=frozenset(put))

    def without_defaults(self) -> Self:
        """Return the study as in its file, without the additions of with_defaults()."""
        empty: dict[str, Any] = {"answer": None, "tables": (), "figures": ()}
        return replace(self, **{name: empty[name] for name in self.by_default}, by_default=frozenset())


def find_study(name: str) -> Path:
    """Return the file of a study: `name` as a path, with or without .toml, else a shipped study of that name. As with
    profiles, the user's own study comes first. Raises InputError if there is none.
    """
    for path in (Path(name), Path(f"{name}.toml"), paths.studies() / f"{name}.toml"):
        if own_file.is_file(path):
            return path
    for path in (Path(name), Path(f"{name}.toml")):
        if own_file.is_there(path):
            TomlFile.read(path)  # its error says what the path is: a directory, a pipe, a link to itself
    shipped = ", ".join(sorted(file.stem for file in paths.studies().glob("*.toml")))
    raise InputError(f"{name}: no such file, and no shipped study of that name; there are: {shipped}")


def _begun(path: Path, library: Library, kernels: Sequence[str]) -> Draft:
    """Return the draft of a study, with the commands of the ready-made load that it names. Raises InputError."""
    file = TomlFile.read(path)
    if why := foreign.name_fault(path.stem):
        raise InputError(f"{shown(path, 300)}: as the name of a study, {path.stem!r} {why}; rename the file")
    draft = Draft(file, with_kernels(file.validate(StudyFile), kernels), library)
    load = ready_loads.read_load(path.parent, draft.content)
    if isinstance(load, Problem):
        draft.extend([load])
    elif load is not None:
        draft.extend(load.problems(draft.content))
        draft = replace(draft, content=load.in_study(draft.content), load=load)
    draft.raise_all()
    draft.extend(name_rules.name_problems(draft.content))
    draft.raise_all()
    return draft


def load_study(path: Path, library: Library | None = None, *, kernels: Sequence[str] = ()) -> Study:
    """Read a study. Any `kernels` replace those that it names; their paths start at the working directory. Raises
    InputError with line and key for every error in the study or in its profiles.
    """
    draft = _begun(path, library or Library.beside(path), kernels)
    content = draft.content
    draft.extend(name_rules.profile_problems(content, draft.library))
    chosen = command_line_kernels(kernels) if kernels else name_rules.read_kernels(draft)
    job, program, trace = read_jobs(draft), read_program(draft), read_trace(draft)
    draft.root_files = read_root_files(draft)
    draft.skip = cells.checked_skip(draft)
    draft.raise_all()

    answer, choices = questions.checked_answers(draft)
    figures, tables = questions.checked_report(draft)
    draft.extend(questions.metric_problems(content))
    request_figures = questions.checked_request_figures(draft)
    claims = claim_rules.checked_claims(draft)
    labels = questions.checked_labels(draft)
    cells.check_cells(draft)  # last, because it may repeat one problem in hundreds of cells
    draft.raise_all()

    study = Study(
        name=path.stem,
        path=path,
        title=content.title,
        question=content.question,
        source=content.source,
        fixed=content.fixed(),
        axes=content.axes,
        seeds=content.seeds,
        skip=draft.skip,
        tool=str(content.workload["tool"]),
        workload=content.parameters(),
        job=job,
        program=program,
        calls=trace,
        tables_of_tool=content.tables(),
        root_files=draft.root_files,
        answer=answer,
        choices=choices,
        figures=figures,
        tables=tables,
        library=draft.library,
        request_figures=request_figures,
        claims=claims,
        systems=content.systems,
        power_cut=content.power_cut,
        power_cuts=content.power_cuts,
        bytes_per_day=content.bytes_per_day,
        labels=labels,
        kernels=chosen,
        kernels_asked_for=bool(kernels),
    )
    return study.with_defaults()


def shipped_studies() -> list[Study]:
    """Return all studies that flashbed ships, by name."""
    return [load_study(file) for file in sorted(paths.studies().glob("*.toml"))]


def study_schema() -> dict[str, Any]:
    """Return the JSON schema of a study, for editors. It includes the stack's axes and the workload's parameters by
    name.
    """
    schema = StudyFile.model_json_schema()
    parameters = _parameter_shapes()
    any_axis = schema["properties"]["axes"]["additionalProperties"]
    for workload in WORKLOADS.values():
        schema["$defs"] |= workload.parameters.model_json_schema().get("$defs", {})
    axes = dict.fromkeys(STACK, any_axis) | {
        name: {"type": "array", "items": shape, "minItems": 1, "uniqueItems": True}
        for name, shape in parameters.items()
        if any(name in tool.parameters.model_fields.keys() - tool.parameters.on_no_axis for tool in WORKLOADS.values())
    }
    schema["properties"]["axes"] |= {"properties": axes}
    schema["properties"]["workload"] = {
        "type": "object",
        "anyOf": [{"required": ["tool"]}, {"required": ["load"]}],
        "if": {"required": ["load"]},
        "then": {},  # a load has parameters of its own
        "else": {"propertyNames": {"enum": ["tool", "job", *parameters]}},
        "properties": {
            "tool": {"enum": list(WORKLOADS)},
            "load": {"type": "string", "description": f"a ready-made load: {', '.join(ready_loads.shipped_loads())}"},
            "job": {"type": "string", "description": "a fio job file, relative to the study"},
            **parameters,
        },
    }
    for name, value in DEFAULTS.items():
        schema["properties"][name] |= {"default": as_written(value)}
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema, "title": "flashbed study"}


def _parameter_shapes() -> dict[str, Any]:
    """Return the schemas of the parameters of all tools by name. If tools differ, the schema accepts what any of them
    does.
    """
    shapes: dict[str, list[Any]] = {}
    for workload in WORKLOADS.values():
        for name, shape in workload.parameters.model_json_schema()["properties"].items():
            if shape not in shapes.setdefault(name, []):
                shapes[name].append(shape)
    return {name: schemas[0] if len(schemas) == 1 else {"anyOf": schemas} for name, schemas in shapes.items()}
