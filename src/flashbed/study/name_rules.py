# SPDX-License-Identifier: Apache-2.0
"""Check the names of a study: names of axes, parameters and jobs are unique, and each profile exists."""

import re
from collections.abc import Iterator, Sequence
from math import prod

from flashbed.common.tomlfile import Keys, Problem, nearest
from flashbed.common.units import meaning
from flashbed.profiles import kernel_choice
from flashbed.profiles.kernel_choice import KernelChoice
from flashbed.profiles.library import Library, LookupProblem
from flashbed.result import columns
from flashbed.result.metrics import METRICS
from flashbed.study.draft import Draft
from flashbed.study.format import (
    ONE_VALUE,
    OWN_FILES,
    PROFILE_AXES,
    STACK,
    StudyFile,
)
from flashbed.workload import WORKLOADS
from flashbed.workload.base import ToolParameters
from flashbed.workload.program import placeholders

MOST_REPETITIONS = 100_000
"""A study with more repetitions than this is a mistake."""


_COLUMNS = (*columns.names(), *columns.TABLES, "tool", *OWN_FILES)
"""Other names in the results table and in [workload]."""

_REQUIRED = {"board": "arm64-1000", "medium": "usb-stick-2g", "filesystem": "ext2"}


def name_problems(study: StudyFile) -> Iterator[Problem]:
    """Yield problems of the tool and of the names of axes and parameters: duplicates and omissions."""
    tool = str(study.workload["tool"])
    if tool not in WORKLOADS:
        yield Problem(("workload", "tool"), f'no tool "{tool}"{nearest(tool, WORKLOADS)}')
        return
    for name in OWN_FILES:
        is_given = name in study.workload or (name == "job" and name in study.axes)
        if is_given and name not in WORKLOADS[tool].own_files:
            tools = " or ".join(f'"{other}"' for other, workload in WORKLOADS.items() if name in workload.own_files)
            at: Keys = ("workload", name) if name in study.workload else ("axes", name)
            yield Problem(at, f'is only for tool = {tools}, not for "{tool}"')
    for name in STACK:
        if name in study.axes and getattr(study, name) is not None:
            yield Problem((name,), "is fixed here and varied under [axes]; keep one of the two")
        if name in _REQUIRED and name not in study.axes and getattr(study, name) is None:
            yield Problem((), f'{name} is missing; fix it at the top ({name} = "{_REQUIRED[name]}") or add an axis')
    for name in study.parameters() | study.tables():
        if name in study.axes:
            yield Problem(("workload", name), "is fixed here and varied under [axes]; keep one of the two")
    yield from _values_twice(study)
    if study.has_jobs:
        yield from _job_name_problems(study)
    else:
        yield from _parameter_name_problems(study)
        yield from _list_problems(study)
    count = prod(len(values) for values in study.axes.values())
    if count * len(study.seeds) > MOST_REPETITIONS:
        text = f"{count} combinations with {len(study.seeds)} seeds are more than {MOST_REPETITIONS} repetitions"
        yield Problem(("axes",), f"{text}; take values away")


def _values_twice(study: StudyFile) -> Iterator[Problem]:
    """Yield a problem for two values of an axis that mean the same: they would be one cell, measured under two
    names.
    """
    is_own = study.has_jobs or _parameters_of(study).placeholders  # only the user knows what a value means
    for name, values in study.axes.items():
        seen: dict[object, str] = {}
        for index, value in enumerate(values):
            meant = value if is_own and name not in STACK else tuple(map(meaning, re.split("([:,=])", value)))
            if meant in seen:
                same = "is there twice" if value == seen[meant] else f'is the same as "{seen[meant]}"; keep one of them'
                yield Problem(("axes", name, index), f'"{value}" {same}')
            seen.setdefault(meant, value)


def _parameters_of(study: StudyFile) -> type[ToolParameters]:
    return WORKLOADS[str(study.workload["tool"])].parameters


def _parameter_name_problems(study: StudyFile) -> Iterator[Problem]:
    tool = str(study.workload["tool"])
    fields = _parameters_of(study)
    parameters = list(fields.model_fields)
    valid_keys = [*parameters, "tool", *WORKLOADS[tool].own_files]
    for name in study.parameters() | study.tables():
        if name not in parameters:
            yield Problem(("workload", name), f"is no parameter of {tool}{nearest(name, valid_keys)}")
    on_axes = [name for name in parameters if name not in (*OWN_FILES, *fields.on_no_axis)]
    own = [name for name in study.axes if name not in (*STACK, *on_axes)]
    if fields.placeholders:
        yield from _placeholder_problems(study, own)
        return
    for name in own:
        yield Problem(("axes", name), f"is no axis{nearest(name, [*STACK, *on_axes])}")


def _placeholder_problems(study: StudyFile, own: Sequence[str]) -> Iterator[Problem]:
    """Yield a problem for each axis that reaches no command, and for each placeholder that no axis fills."""
    fields = _parameters_of(study)
    given: dict[Keys, object] = {("workload", name): value for name, value in study.workload.items()}
    given |= {("axes", name): values for name, values in study.axes.items() if name in fields.model_fields}
    used = {name for value in given.values() for name in placeholders(value)}
    for name in own:
        if name in fields.model_fields:
            yield Problem(("axes", name), "cannot be an axis; it is the same in all cells")
        elif name in METRICS or name in _COLUMNS:
            yield Problem(("axes", name), "is the name of a column of the results; choose another")
        elif not re.fullmatch(r"[A-Za-z_]\w*", name, re.ASCII):
            yield Problem(("axes", name), "cannot be a placeholder; use letters, digits and _")
        elif name not in used:
            yield Problem(("axes", name), f"is in no command, as {{{name}}}{nearest(name, used)}")
    for at, value in given.items():
        for name in sorted(set(placeholders(value)) - set(own)):
            why = f"has {{{name}}}, which no axis fills{nearest(name, own)}"
            yield Problem(at, f"{why}; to keep the braces, write {{{{{name}}}}}")


def _list_problems(study: StudyFile) -> Iterator[Problem]:
    """Yield a problem for each value that is a list and should be none, or the other way round."""
    fields = _parameters_of(study)
    for name, value in study.workload.items():
        is_table = name in study.tables()
        allowed = fields.tables if is_table else fields.lists
        if isinstance(value, tuple) and name not in allowed:
            yield Problem(("workload", name), ONE_VALUE)
        elif name in fields.tables and not is_table:
            yield Problem(("workload", name), f"must be tables: [[workload.{name}]]")


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


def profile_problems(study: StudyFile, library: Library) -> Iterator[Problem]:
    """Yield a problem for each selector that names no profile, or whose options do not fit. Raises InputError for a
    profile's file.
    """
    for kind in PROFILE_AXES:
        for value in study.values_of(kind):
            try:
                getattr(library, kind)(value)
            except LookupProblem as error:
                yield Problem(study.keys_of(kind, value), str(error))


def read_kernels(draft: Draft) -> dict[str, KernelChoice]:
    """Return the study's kernels by their texts. Relative paths start beside the study's file."""
    choices = {}
    for text in draft.content.values_of("kernel"):
        try:
            choices[text] = kernel_choice.read(text, draft.file.path.parent)
        except kernel_choice.KernelProblem as error:
            draft.add(draft.content.keys_of("kernel", text), str(error))
    return choices
