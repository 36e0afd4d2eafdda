# SPDX-License-Identifier: Apache-2.0
"""A study's files of the user's: fio's jobs, and a program for the guest. Read, and held to what the lab takes."""

from io import BytesIO

from elftools.common.exceptions import ELFError
from elftools.elf.elffile import ELFFile

from flashbed.common import own_file
from flashbed.common.toml_lines import Keys
from flashbed.common.tomlfile import Problem, TomlFile, nearest, shown
from flashbed.study.format import (
    STACK,
    StudyFile,
)
from flashbed.study.selection import raise_all
from flashbed.workload.fio.jobs import fixed_numbers, job_faults, job_variables


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
