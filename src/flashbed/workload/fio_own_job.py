# SPDX-License-Identifier: Apache-2.0
"""A fio job file of the user's in place of a pattern: how it is run in a guest, and as a file for other computers.

Sections named prepare... are run before anything is measured, and caches are cold after them. Must not know what fio
prints.
"""

import re
import shlex
from collections.abc import Iterable, Mapping

from flashbed.workload.base import Parameters
from flashbed.workload.fio_call import EMPTY_SCRIPT, FIO, LATENCY, OUTPUT, OWN_RATE_MS, RANDOM, rate_log, section
from flashbed.workload.fio_job import PREPARE, filled_in, split_off_preparation
from flashbed.workload.fio_parameters import keeps_logs, with_warm_up

_SECTION = re.compile(r"^[ \t]*\[([^\]]+)\]", re.MULTILINE)


def files(parameters: Parameters, seed: int) -> dict[str, bytes]:
    """The job and its scripts, run in /mnt with the study's other values as environment variables, which fio puts in
    for ${name}. What prepares gets only those that it names, so that it is the same for cells that differ in others.
    What the command line says are defaults: the job's own word wins.
    """
    before, text = split_off_preparation(str(parameters["job"]))
    rates = {} if keeps_logs(text) else rate_log(OWN_RATE_MS)
    defaults = {"randseed": seed, **RANDOM, **LATENCY, "clocksource": "clock_gettime"}

    def script(job: str, output: str, more: Mapping[str, object], variables: Iterable[tuple[str, object]]) -> bytes:
        exports = "".join(f"export {name}={shlex.quote(str(value))}\n" for name, value in sorted(variables))
        said = [f"--output=/out/{output}", *(f"--{name}={value}" for name, value in {**defaults, **more}.items())]
        # Some of what it has against a job stands in its output, before the JSON
        refused = f"{{ status=$?; sed '/^{{/,$d' /out/{output}; exit $status; }}"
        return f"{exports}cd /mnt\n{FIO} {' '.join(said)} /job/{job}.fio || {refused}\n".encode()

    variables = _variables(parameters)
    measured = {"measure.fio": with_warm_up(text).encode(), "measure": script("measure", OUTPUT, rates, variables)}
    if not before:
        return {**measured, "prepare": EMPTY_SCRIPT}
    named = [(name, value) for name, value in variables if re.search(rf"\$\{{?{name}\b", before)]
    prepared = {f"{PREPARE}.fio": before.encode(), "prepare": script(PREPARE, f"{PREPARE}.json", {}, named)}
    return {**measured, **prepared}


def portable(parameters: Parameters, seed: int) -> dict[str, bytes]:
    """The job with its variables put in, and what the command line says in the lab at its head; `prepare` where it has
    such sections.
    """
    before, text = split_off_preparation(filled_in(str(parameters["job"]), _variables(parameters)))
    head = section("global", {"randseed": seed, **RANDOM, **LATENCY, "clocksource": "clock_gettime"})
    found = {"measure": head + with_warm_up(text).encode()}
    return {**found, PREPARE: head + before.encode()} if before else found


def section_names(job: bytes) -> set[str]:
    """The names of the jobs in a job file."""
    return set(_SECTION.findall(job.decode())) - {"global"}


def _variables(parameters: Parameters) -> list[tuple[str, object]]:
    variables = parameters["variables"]
    assert isinstance(variables, Mapping)
    return list(variables.items())
