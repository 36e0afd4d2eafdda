# SPDX-License-Identifier: Apache-2.0
"""Read and check job files of users, and write fio's job files and command line: in this order in the module.

Before fio runs, the lab checks only a job file's syntax, the options that the lab sets itself, and what it forbids.
fio, in the guest, judges all other options and values, and its message becomes the reason. Sections named prepare...
run before the measurement; caches are cold after them. Must not know what fio prints.
"""

import re
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence

from flashbed.workload.base import Parameters

FIO = "/bin/fio --output-format=json+ --eta=never"
OUTPUT = "fio.json"
EMPTY_SCRIPT = b"true\n"
RANDOM = {"randrepeat": 0, "allrandrepeat": 0}
"""Makes randseed effective: with either option on, fio uses the same random numbers for every randseed."""

LATENCY = {"lat_percentiles": 1, "clat_percentiles": 0}
"""Report percentiles of total latency (lat), not of the latency after submission (clat)."""

RATE_MS, OWN_RATE_MS = 20, 100
"""The intervals at which fio logs bandwidth: for a pattern, which may last only a second, and for a user's job."""

RATE_LOG = "rate"
"""The prefix of fio's bandwidth logs. fio adds the number of the process."""

FLUSHED_EACH = "a request lasts until it is flushed"
"""The description of a job in which a request lasts until its flush."""

DEFAULT_ENGINE = "psync"
BLOCKING_ENGINES = ("sync", "psync", "vsync", "pvsync", "pvsync2", "mmap")
"""Engines whose call returns when the request is done. A job with one of them has one request in flight (fio 3.33,
HOWTO, ioengine).
"""

LONGEST_LINE = 4000
"""The most bytes of a line. fio 3.33 splits lines longer than 8191 bytes, and reads each piece as a line."""

PREPARE_PREFIX = "prepare"
"""The prefix of jobs that run before the measurement."""

MEDIUM_DEVICE = "/dev/medium"
"""What a job calls the medium's device, whatever its driver calls it (guest/cell)."""

WARM_UP_S = 5
"""The warm-up in seconds of a time-based job that sets none itself."""


_SECTION = re.compile(r"\[([^\]]+)\]")
_VARIABLE = re.compile(r"\$\{(\w+)\}")


def section_of(line: str) -> str | None:
    """Return the name of the section that a line of a job file begins; None if it begins none."""
    match = _SECTION.match(line.strip())
    return match[1] if match else None


def section_names(job: bytes) -> set[str]:
    """Return the names of the jobs in a job file."""
    return set(filter(None, map(section_of, job.decode().splitlines()))) - {"global"}


def job_variables(job_text: str) -> set[str]:
    """Return the names of the ${variables} in a fio job file."""
    return set(_VARIABLE.findall(job_text))


def filled_in(text: str, variables: Iterable[tuple[str, object]]) -> str:
    """Return a job, or a line of it, with each ${name} replaced by its value, as fio does."""
    for name, value in variables:
        text = text.replace(f"${{{name}}}", str(value))
    return text


def split_off_preparation(text: str) -> tuple[str, str]:
    """Return the preparing sections, and the rest. Both have every [global] and everything before the first section.

    If no section prepares, the first text is "" and the second is the whole job.
    """
    inside: list[str] = []
    outside: list[str] = []
    to: tuple[list[str], ...] = (inside, outside)
    has_preparation = False
    for line in text.splitlines(keepends=True):
        if name := section_of(line):
            is_one = name.startswith(PREPARE_PREFIX)
            has_preparation |= is_one
            to = (inside, outside) if name == "global" else (inside,) if is_one else (outside,)
        for part in to:
            part.append(line)
    return ("".join(inside), "".join(outside)) if has_preparation else ("", text)


_INCLUDE = re.compile(r"include\s")
_OTHER_VARIABLE = re.compile(r"\$\{(?!\w+\})[^}]*\}?")
_DEVICE = re.compile(r"filename[ \t]*=.*?(?P<device>/dev/(?:mblk|nvme|sd[a-z]|mmcblk)\w*)")


def job_faults(text: str) -> Iterator[tuple[int, str]]:
    """Yield the faulty lines, in order, each with its number and fault."""
    sections: list[str] = []
    if text.startswith("\N{ZERO WIDTH NO-BREAK SPACE}"):
        yield 1, "begins with a byte order mark, which fio takes for a part of the first line; save it without one"
        return
    number = 0
    for number, line in enumerate(text.split("\n"), start=1):
        stripped = line.strip()
        if "\0" in stripped:
            yield number, "has a NUL in it; a job file is a text"
        if len(line.encode()) > LONGEST_LINE:
            yield number, f"is longer than {LONGEST_LINE} bytes, and fio would take it for several lines"
        if variable := _OTHER_VARIABLE.search(stripped):
            yield number, f'"{variable[0][:60]}": the name of a variable has letters, digits and _'
        if not stripped or stripped[0] in "#;":
            continue
        if stripped.startswith("["):
            name = section_of(stripped)
            if name is None:
                yield number, f'"{stripped[:60]}": a section has a name between [ and ]'
            else:
                sections.append(name)
        elif _INCLUDE.match(stripped):
            yield number, "fio's include does not reach files of this computer; put its lines here"
        elif named := _DEVICE.match(stripped):
            # fio makes a file of a device that is not there, and that would be in the guest's memory
            yield number, f"{named['device']}: whether it is there depends on the medium; its device is {MEDIUM_DEVICE}"
        elif not sections:
            yield number, f'"{stripped[:60]}" stands outside of a section; begin with [global] or the name of a job'
    if not [name for name in sections if name != "global" and not name.startswith(PREPARE_PREFIX)]:
        yield number, f"has no job: a section with a name other than global and {PREPARE_PREFIX}..."


_RUNS = re.compile(r"(?:exec_prerun|exec_postrun|program)\s*=")
_PLACE = re.compile(
    r"(?:name|directory|filename_format|opendir|read_\w+|write_\w+|merge_blktrace_file|replay_redirect|mem|cgroup|"
    r"buffer_pattern|verify_pattern)\s*=(.*)"
)
"""Options with names of files or directories, with colons between several. fio names logs after `name`."""

_ENGINE = re.compile(r"ioengine\s*=(.*)")
_STAYS = frozenset(
    (
        *("sync", "psync", "vsync", "pvsync", "pvsync2", "libaio", "io_uring", "io_uring_cmd"),
        *("posixaio", "solarisaio", "windowsaio", "mmap", "splice", "sg", "libzbc", "mtd"),
        *("dev-dax", "libpmem", "pmemblk", "null", "cpuio", "falloc", "ftruncate", "e4defrag"),
        *("filecreate", "filestat", "filedelete", "dircreate", "dirstat", "dirdelete"),
    )
)
"""The built-in engines of fio that stay on this computer (its HOWTO, "I/O engine"). Of the others, one runs a program,
some are loaded from a file, and most talk to a server.
"""


def reaches_in(text: str, cells: Sequence[Mapping[str, str]]) -> Iterator[tuple[int, str]]:
    """Yield the lines by which fio may reach outside its directory, in order, each with its number.

    Such a line runs a command, loads foreign code, or reads or writes a file elsewhere. A cell's values replace the
    variables.
    """
    for number, line in enumerate(text.split("\n"), start=1):
        names = _VARIABLE.findall(line)
        values = {tuple(cell[name] for name in names): None for cell in cells} if names else {(): None}
        for cell_values in values:
            filled = filled_in(line.strip(), zip(names, cell_values, strict=True))
            is_comment = filled[:1] in ("#", ";") and len(filled.encode()) <= LONGEST_LINE
            if not is_comment and _reaches(filled):
                yield number, filled


def _reaches(line: str) -> bool:
    if _RUNS.search(line):
        return True
    if (engine := _ENGINE.search(line)) and engine[1].strip() not in _STAYS:
        return True
    places = [match[1] for match in _PLACE.finditer(line)]
    if section := section_of(line):  # fio names files after it
        places.append(section)
    return any(_leads_out(part.strip(" \t'\"")) for place in places for part in place.split(":"))


def _leads_out(name: str) -> bool:
    """Return True if a file of this name may lie outside the directory. Backslashes separate names on Windows, so they
    count too.
    """
    return name.startswith("/") or "\\" in name or ".." in name.split("/")


_FIXED_NUMBERS = re.compile(
    r"^[ \t]*(randseed|(?:all)?randrepeat)[ \t]*(?:=(?![ \t]*0[ \t]*(?:[;#]|$))|(?:[;#]|$))", re.MULTILINE
)
"""The options by which a job uses the same random numbers for every seed."""


def fixed_numbers(job_text: str) -> str | None:
    """Return the option of a fio job file that makes its random numbers independent of the seed; None if there
    is none.
    """
    match = _FIXED_NUMBERS.search(job_text)
    return match[1] if match else None


_OF_DEPTH = re.compile(r"[ \t]*(ioengine|iodepth|direct)[ \t]*(?:=[ \t]*([^\s;#]*).*)?$")


def idle_depths(job_text: str) -> Iterator[tuple[int, str]]:
    """Yield the lines of a fio job file whose iodepth has no effect, in order, each with the reason."""
    common: dict[str, tuple[int, str]] = {}
    jobs, section_options = [], common
    for number, line in enumerate(job_text.splitlines(), start=1):
        if section := section_of(line):
            section_options = common if section == "global" else dict(common)
            if section_options is not common and not section.startswith(PREPARE_PREFIX):
                jobs.append(section_options)
        elif option := _OF_DEPTH.match(line):
            section_options[option[1]] = number, option[2] or "1"
    reasons = {}
    for options in jobs:
        line_of_depth, depth = options.get("iodepth", (0, "1"))
        engine = options.get("ioengine", (0, DEFAULT_ENGINE))[1]
        if depth == "1":
            continue
        if engine in BLOCKING_ENGINES:
            reasons[line_of_depth] = f"{engine} has one request under way; ioengine=libaio and direct=1 have more"
        elif engine == "libaio" and options.get("direct", (0, "0"))[1] == "0":
            reasons[line_of_depth] = "Linux carries out libaio's buffered requests one at a time; direct=1 has more"
    yield from sorted(reasons.items())


_FLUSHES = re.compile(r"^[ \t]*f(?:data)?sync[ \t]*=[ \t]*[1-9$]", re.MULTILINE)


def flushes_between(job_text: str) -> bool:
    """Return True if a job flushes between its requests."""
    return bool(_FLUSHES.search(job_text))


_OWN_LOGS = re.compile(r"^[ \t]*(write_\w+_log|log_\w+|per_job_logs)\b", re.MULTILINE)


def keeps_logs(job_text: str) -> bool:
    """Return True if a user's job file writes its own logs. fio has one interval for all logs of a job, so the lab's
    would average the user's.
    """
    return bool(_OWN_LOGS.search(job_text))


_TIME_BASED = re.compile(r"^[ \t]*time_based[ \t]*(?:=[ \t]*1[ \t]*)?(?:[;#].*)?$", re.MULTILINE)
_RAMP_TIME = re.compile(r"^[ \t]*ramp_time[ \t]*=", re.MULTILINE)


def with_warm_up(job_text: str) -> str:
    """Return a user's job file in which each section with time_based has a warm-up of WARM_UP_S. Leave the job
    unchanged if it sets ramp_time anywhere.
    """
    if _RAMP_TIME.search(job_text):
        return job_text
    return _TIME_BASED.sub(lambda match: f"{match[0]}\nramp_time={WARM_UP_S}", job_text)


def rate_log(interval_ms: int) -> dict[str, object]:
    """Return fio's options for bandwidth logs."""
    return {"write_bw_log": f"/out/{RATE_LOG}", "log_avg_msec": interval_ms, "per_job_logs": 1}


def section(name: str, options: Mapping[str, object]) -> bytes:
    """Return a section of a job file."""
    lines = [f"[{name}]", *(f"{key}={value}" for key, value in options.items())]
    return ("\n".join(lines) + "\n").encode()


def own_job_files(parameters: Parameters, seed: int) -> dict[str, bytes]:
    """Return a user's job and its scripts. They run in /mnt, and get the study's other values as environment variables,
    which fio puts in for ${name}.

    The preparation gets only the variables that it names, so that it is the same for cells that differ in others.
    Options on the command line are defaults, and the job's own options override them.
    """
    before, text = split_off_preparation(str(parameters["job"]))
    rates = {} if keeps_logs(text) else rate_log(OWN_RATE_MS)
    defaults = {"randseed": seed, **RANDOM, **LATENCY, "clocksource": "clock_gettime"}

    def script(job: str, output: str, more: Mapping[str, object], variables: Iterable[tuple[str, object]]) -> bytes:
        exports = "".join(f"export {name}={shlex.quote(str(value))}\n" for name, value in sorted(variables))
        options = [f"--output=/out/{output}", *(f"--{name}={value}" for name, value in {**defaults, **more}.items())]
        # Some of fio's complaints about a job precede the JSON in its output
        refused = f"{{ status=$?; sed '/^{{/,$d' /out/{output}; exit $status; }}"
        return f"{exports}cd /mnt\n{FIO} {' '.join(options)} /job/{job}.fio || {refused}\n".encode()

    variables = _variables(parameters)
    measured = {"measure.fio": with_warm_up(text).encode(), "measure": script("measure", OUTPUT, rates, variables)}
    if not before:
        return {**measured, "prepare": EMPTY_SCRIPT}
    named = [(name, value) for name, value in variables if re.search(rf"\$\{{?{name}\b", before)]
    prepared = {
        f"{PREPARE_PREFIX}.fio": before.encode(),
        "prepare": script(PREPARE_PREFIX, f"{PREPARE_PREFIX}.json", {}, named),
    }
    return {**measured, **prepared}


def portable_own_job(parameters: Parameters, seed: int) -> dict[str, bytes]:
    """Return a user's job with its variables replaced and the lab's command-line options at its head; also `prepare` if
    it has such sections.
    """
    before, text = split_off_preparation(filled_in(str(parameters["job"]), _variables(parameters)))
    head = section("global", {"randseed": seed, **RANDOM, **LATENCY, "clocksource": "clock_gettime"})
    job_files = {"measure": head + with_warm_up(text).encode()}
    return {**job_files, PREPARE_PREFIX: head + before.encode()} if before else job_files


def _variables(parameters: Parameters) -> list[tuple[str, object]]:
    variables = parameters["variables"]
    assert isinstance(variables, Mapping)
    return list(variables.items())
