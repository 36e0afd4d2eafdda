# SPDX-License-Identifier: Apache-2.0
"""fio's jobs and how fio is called: its command line, how a section of a job file is written, and the job files that
users bring.

Of a user's job file only the shape can be told before fio reads it, the options that the lab itself deals with, and
what the lab does not allow. fio judges all other options and values, in the guest, and its words are then the reason.
Sections named prepare... are run before anything is measured, and caches are cold after them. Must not know what fio
prints.
"""

import re
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence

from flashbed.workload.base import Parameters

FIO = "/bin/fio --output-format=json+ --eta=never"
OUTPUT = "fio.json"
EMPTY_SCRIPT = b"true\n"

RANDOM = {"randrepeat": 0, "allrandrepeat": 0}
"""What lets randseed decide: with one of these on, fio takes the same random numbers whatever randseed says."""

LATENCY = {"lat_percentiles": 1, "clat_percentiles": 0}
"""Percentiles of the whole wait (lat), and not of the part after a request was handed in (clat)."""

RATE_MS, OWN_RATE_MS = 20, 100
"""The intervals in which fio logs what it moves: of a pattern, which may last a second only; of a job of the user's."""

RATE_LOG = "rate"
"""What fio is told to begin the names of its logs of bandwidth with; fio itself adds the process's number."""

FLUSHED_EACH = "a request lasts until it is flushed"
"""The description of a job whose latencies are meant so."""

DEFAULT_ENGINE = "psync"
BLOCKING_ENGINES = ("sync", "psync", "vsync", "pvsync", "pvsync2", "mmap")
"""Engines whose call returns when it is done, so that a job has one under way (fio 3.33, HOWTO, ioengine)."""


def rate_log(interval_ms: int) -> dict[str, object]:
    """The options by which fio logs what it moves."""
    return {"write_bw_log": f"/out/{RATE_LOG}", "log_avg_msec": interval_ms, "per_job_logs": 1}


def section(name: str, options: Mapping[str, object]) -> bytes:
    """A section of a job file."""
    lines = [f"[{name}]", *(f"{key}={value}" for key, value in options.items())]
    return ("\n".join(lines) + "\n").encode()


_SECTION = re.compile(r"\[([^\]]+)\]")
_INCLUDE = re.compile(r"include\s")
_VARIABLE = re.compile(r"\$\{(\w+)\}")
_OTHER_VARIABLE = re.compile(r"\$\{(?!\w+\})[^}]*\}?")
_RUNS = re.compile(r"(?:exec_prerun|exec_postrun|program)\s*=")
_PLACE = re.compile(
    r"(?:name|directory|filename_format|opendir|read_\w+|write_\w+|merge_blktrace_file|replay_redirect|mem|cgroup|"
    r"buffer_pattern|verify_pattern)\s*=(.*)"
)
"""Options with names of files or folders, several of them between colons. Logs are named after `name`."""
_ENGINE = re.compile(r"ioengine\s*=(.*)")
_STAYS = frozenset(
    (
        *("sync", "psync", "vsync", "pvsync", "pvsync2", "libaio", "io_uring", "io_uring_cmd"),
        *("posixaio", "solarisaio", "windowsaio", "mmap", "splice", "sg", "libzbc", "mtd"),
        *("dev-dax", "libpmem", "pmemblk", "null", "cpuio", "falloc", "ftruncate", "e4defrag"),
        *("filecreate", "filestat", "filedelete", "dircreate", "dirstat", "dirdelete"),
    )
)
"""The engines of fio that are a part of it and stay on this computer (its HOWTO, "I/O engine"). Of the others one runs
a program, some are loaded from a file, and most talk to a server.
"""

LONGEST_LINE = 4000
"""Bytes. fio reads longer lines in pieces, of 8191 bytes in its version 3.33, and takes each for a line of its own."""

PREPARE = "prepare"
"""How the name of a job begins that is run before anything is measured."""


def section_of(line: str) -> str | None:
    """The name of the section that a line of a job file begins, None if it begins none."""
    found = _SECTION.match(line.strip())
    return found[1] if found else None


def job_faults(text: str) -> Iterator[tuple[int, str]]:
    """Lines with what is wrong in them, in order."""
    sections: list[str] = []
    if text.startswith("\N{ZERO WIDTH NO-BREAK SPACE}"):
        yield 1, "begins with a byte order mark, which fio takes for a part of the first line; save it without one"
        return
    number = 0
    for number, line in enumerate(text.split("\n"), start=1):
        said = line.strip()
        if "\0" in said:
            yield number, "has a NUL in it; a job file is a text"
        if len(line.encode()) > LONGEST_LINE:
            yield number, f"is longer than {LONGEST_LINE} bytes, and fio would take it for several lines"
        if found := _OTHER_VARIABLE.search(said):
            yield number, f'"{found[0][:60]}": the name of a variable has letters, digits and _'
        if not said or said[0] in "#;":
            continue
        if said.startswith("["):
            name = section_of(said)
            if name is None:
                yield number, f'"{said[:60]}": a section has a name between [ and ]'
            else:
                sections.append(name)
        elif _INCLUDE.match(said):
            yield number, "fio's include does not reach files of this computer; put its lines here"
        elif not sections:
            yield number, f'"{said[:60]}" stands outside of a section; begin with [global] or the name of a job'
    if not [name for name in sections if name != "global" and not name.startswith(PREPARE)]:
        yield number, f"has no job: a section with a name other than global and {PREPARE}..."


def split_off_preparation(text: str) -> tuple[str, str]:
    """The sections that prepare, and the rest; each part has every [global], and what is said before any. The first is
    "" where no section prepares; the second is then the text itself.
    """
    inside: list[str] = []
    outside: list[str] = []
    to: tuple[list[str], ...] = (inside, outside)
    found = False
    for line in text.splitlines(keepends=True):
        if name := section_of(line):
            is_one = name.startswith(PREPARE)
            found |= is_one
            to = (inside, outside) if name == "global" else (inside,) if is_one else (outside,)
        for part in to:
            part.append(line)
    return ("".join(inside), "".join(outside)) if found else ("", text)


def filled_in(text: str, variables: Iterable[tuple[str, object]]) -> str:
    """A job, or a line of it, with these values in place of ${name}, as fio puts them in."""
    for name, value in variables:
        text = text.replace(f"${{{name}}}", str(value))
    return text


def reaches_in(text: str, cells: Sequence[Mapping[str, str]]) -> Iterator[tuple[int, str]]:
    """Return the lines by which fio may reach beyond the folder that it runs in, in order, each with its number.

    Such a line runs a command, loads foreign code, or reads or writes a file elsewhere. It has the values of a cell in
    place of its variables.
    """
    for number, line in enumerate(text.split("\n"), start=1):
        names = _VARIABLE.findall(line)
        values = {tuple(cell[name] for name in names): None for cell in cells} if names else {(): None}
        for these in values:
            said = filled_in(line.strip(), zip(names, these, strict=True))
            is_comment = said[:1] in ("#", ";") and len(said.encode()) <= LONGEST_LINE
            if not is_comment and _reaches(said):
                yield number, said


def _reaches(line: str) -> bool:
    if _RUNS.search(line):
        return True
    if (engine := _ENGINE.search(line)) and engine[1].strip() not in _STAYS:
        return True
    places = [found[1] for found in _PLACE.finditer(line)]
    if section := section_of(line):  # files are named after it
        places.append(section)
    return any(_leads_out(part.strip(" \t'\"")) for place in places for part in place.split(":"))


def _leads_out(name: str) -> bool:
    """Whether a file of this name may lie elsewhere than below the folder; on Windows, backslashes part names too."""
    return name.startswith("/") or "\\" in name or ".." in name.split("/")


_TIME_BASED = re.compile(r"^[ \t]*time_based[ \t]*(?:=[ \t]*1[ \t]*)?(?:[;#].*)?$", re.MULTILINE)
_RAMP_TIME = re.compile(r"^[ \t]*ramp_time[ \t]*=", re.MULTILINE)

WARM_UP_S = 5
"""How long a job that runs for a time runs before its measurement begins, if it does not say so itself, s."""


def with_warm_up(job_text: str) -> str:
    """A job file of the user's in which each section that is time_based begins with a warm-up of WARM_UP_S; unchanged
    if it sets ramp_time anywhere, for then it has decided on its own.
    """
    if _RAMP_TIME.search(job_text):
        return job_text
    return _TIME_BASED.sub(lambda found: f"{found[0]}\nramp_time={WARM_UP_S}", job_text)


_OWN_LOGS = re.compile(r"^[ \t]*(write_\w+_log|log_\w+|per_job_logs)\b", re.MULTILINE)


def keeps_logs(job_text: str) -> bool:
    """Whether a job file of the user's has logs of its own. fio has one interval for all logs of a job: the lab's would
    average them.
    """
    return bool(_OWN_LOGS.search(job_text))


_FLUSHES = re.compile(r"^[ \t]*f(?:data)?sync[ \t]*=[ \t]*[1-9$]", re.MULTILINE)


def flushes_between(job_text: str) -> bool:
    """True if a job of a fio job file flushes between its requests."""
    return bool(_FLUSHES.search(job_text))


_FIXED_NUMBERS = re.compile(
    r"^[ \t]*(randseed|(?:all)?randrepeat)[ \t]*(?:=(?![ \t]*0[ \t]*(?:[;#]|$))|(?:[;#]|$))", re.MULTILINE
)
"""What a job says if it takes the same random numbers whatever seed it is given."""


def fixed_numbers(job_text: str) -> str | None:
    """The option by which a fio job file takes its random numbers out of the seed's hands, if there is one."""
    found = _FIXED_NUMBERS.search(job_text)
    return found[1] if found else None


def job_variables(job_text: str) -> set[str]:
    """The names of the ${variables} in a fio job file."""
    return set(_VARIABLE.findall(job_text))


_OF_DEPTH = re.compile(r"[ \t]*(ioengine|iodepth|direct)[ \t]*(?:=[ \t]*([^\s;#]*).*)?$")


def idle_depths(job_text: str) -> Iterator[tuple[int, str]]:
    """Return the lines of a fio job file whose iodepth changes nothing, in order, each with the reason."""
    common: dict[str, tuple[int, str]] = {}
    jobs, here = [], common
    for number, line in enumerate(job_text.splitlines(), start=1):
        if section := section_of(line):
            here = common if section == "global" else dict(common)
            if here is not common and not section.startswith(PREPARE):
                jobs.append(here)
        elif option := _OF_DEPTH.match(line):
            here[option[1]] = number, option[2] or "1"
    told = {}
    for options in jobs:
        line_of_depth, depth = options.get("iodepth", (0, "1"))
        engine = options.get("ioengine", (0, DEFAULT_ENGINE))[1]
        if depth == "1":
            continue
        if engine in BLOCKING_ENGINES:
            told[line_of_depth] = f"{engine} has one request under way; ioengine=libaio and direct=1 have more"
        elif engine == "libaio" and options.get("direct", (0, "0"))[1] == "0":
            told[line_of_depth] = "Linux carries out libaio's buffered requests one at a time; direct=1 has more"
    yield from sorted(told.items())


_JOB_SECTION = re.compile(r"^[ \t]*\[([^\]]+)\]", re.MULTILINE)


def own_job_files(parameters: Parameters, seed: int) -> dict[str, bytes]:
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


def portable_own_job(parameters: Parameters, seed: int) -> dict[str, bytes]:
    """The job with its variables put in, and what the command line says in the lab at its head; `prepare` where it has
    such sections.
    """
    before, text = split_off_preparation(filled_in(str(parameters["job"]), _variables(parameters)))
    head = section("global", {"randseed": seed, **RANDOM, **LATENCY, "clocksource": "clock_gettime"})
    found = {"measure": head + with_warm_up(text).encode()}
    return {**found, PREPARE: head + before.encode()} if before else found


def section_names(job: bytes) -> set[str]:
    """The names of the jobs in a job file."""
    return set(_JOB_SECTION.findall(job.decode())) - {"global"}


def _variables(parameters: Parameters) -> list[tuple[str, object]]:
    variables = parameters["variables"]
    assert isinstance(variables, Mapping)
    return list(variables.items())
