# SPDX-License-Identifier: Apache-2.0
"""Check the names of a study: names of axes, parameters and jobs are unique, and each profile exists."""

import re
from collections.abc import Iterator
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
    OWN_FILES,
    PROFILES,
    STACK,
    StudyFile,
)
from flashbed.workload import WORKLOADS

MOST_REPETITIONS = 100_000
"""A study with more repetitions than this is a mistake."""


_COLUMNS = (*columns.names(), "tool", *OWN_FILES)
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
    for name in study.parameters():
        if name in study.axes:
            yield Problem(("workload", name), "is fixed here and varied under [axes]; keep one of the two")
    yield from _values_twice(study)
    yield from _job_name_problems(study) if study.has_jobs else _parameter_name_problems(study)
    count = prod(len(values) for values in study.axes.values())
    if count * len(study.seeds) > MOST_REPETITIONS:
        text = f"{count} combinations with {len(study.seeds)} seeds are more than {MOST_REPETITIONS} repetitions"
        yield Problem(("axes",), f"{text}; take values away")


def _values_twice(study: StudyFile) -> Iterator[Problem]:
    """Yield a problem for two values of an axis that mean the same: they would be one cell, measured under two
    names.
    """
    for name, values in study.axes.items():
        seen: dict[object, str] = {}
        for index, value in enumerate(values):
            # Only fio knows what a value in the user's own job means
            meant = value if study.has_jobs and name not in STACK else tuple(map(meaning, re.split("([:,=])", value)))
            if meant in seen:
                same = "is there twice" if value == seen[meant] else f'is the same as "{seen[meant]}"; keep one of them'
                yield Problem(("axes", name, index), f'"{value}" {same}')
            seen.setdefault(meant, value)


def _parameter_name_problems(study: StudyFile) -> Iterator[Problem]:
    tool = str(study.workload["tool"])
    parameters = list(WORKLOADS[tool].parameters.model_fields)
    valid_keys = [*parameters, "tool", *WORKLOADS[tool].own_files]
    for name in study.axes:
        if name not in STACK and (name not in parameters or name in OWN_FILES):
            yield Problem(("axes", name), f"is no axis{nearest(name, [*STACK, *parameters])}")
    for name in study.parameters():
        if name not in parameters:
            yield Problem(("workload", name), f"is no parameter of {tool}{nearest(name, valid_keys)}")


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
    for kind in PROFILES:
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
