# SPDX-License-Identifier: Apache-2.0
"""The parameters of a fio workload: what a study may fix under [workload] or vary on an axis.

Either a pattern, described here, or a job file of the user's, whose ${variables} are the study's axes. Must not know
how fio is called or what it prints.
"""

import re
from collections.abc import Iterator
from typing import Any, Literal

from pydantic import Field

from flashbed.common.size_field import Size
from flashbed.common.tomlfile import Problem
from flashbed.common.units import describe_size
from flashbed.workload.fio_call import BLOCKING_ENGINES, DEFAULT_ENGINE
from flashbed.workload.fio_job import PREPARE, section_of
from flashbed.workload.parameters import Count, FileParameters, Switch, not_in_sectors

_VARIABLE = re.compile(r"\$\{(\w+)\}")


class FioParameters(FileParameters):
    """A pattern of requests on files; sizes in bytes."""

    pattern: Literal["read", "randread", "write", "randwrite", "rw", "randrw"] = Field(
        description="order and direction of the requests, in fio's words"
    )
    request: Size = Field(gt=0, description="size of a request, bytes")
    file: Size = Field(gt=0, description="size of each process's file, bytes")
    io_size: Size = Field(
        default=0, ge=0, description="what each process asks for in all, bytes; 0: every byte of its file once"
    )
    flush: Literal["none", "close", "fsync", "fsync-each"] = Field(
        default="none",
        description="none: what is still in memory at the end is not waited for; close: nor is it, but the time ends "
        "when the file has been closed, and some file systems write back then; fsync: once at the end, inside the time "
        "measured; fsync-each: after each request",
    )
    cache: Literal["cold", "warm"] = Field(
        default="cold",
        description="the page cache when the measurement begins: cold, as after a boot; warm, with all of each file, "
        "which was written before",
    )
    direct: Switch = Field(default=False, description="past the page cache (O_DIRECT)")
    allocate: Switch | None = Field(
        default=None,
        description="of patterns that write: true: the file is new, and each write gives it blocks; false: it was "
        "written before, in order, and is overwritten; by default true for write, false for randwrite",
    )
    queue_depth: Count = Field(default=1, ge=1, le=1024, description="requests that a process has under way at a time")

    @property
    def allocates(self) -> bool:
        """Whether the file is new when the measurement begins."""
        return self.pattern == "write" if self.allocate is None else self.allocate

    def canonical(self) -> dict[str, Any]:
        """With `allocate` as it turns out, so that a study may say it or leave it out."""
        return self.model_dump() | {"allocate": self.allocates}

    def problems(self) -> Iterator[Problem]:
        """Contradictions between parameters."""
        if self.allocate and self.pattern not in ("write", "randwrite"):
            yield Problem(
                ("allocate",),
                f'true cannot stand with pattern = "{self.pattern}": what is read must have been written before; take '
                "allocate away, or set it to false",
            )
        if self.flush == "close" and self.pattern in ("read", "randread"):
            yield Problem(("flush",), f'"close" cannot stand with pattern = "{self.pattern}": nothing is written back')
        if self.cache == "warm" and self.allocates:
            yield Problem(("cache",), '"warm" needs a file that was written before: set allocate to false, or read')
        if self.cache == "warm" and self.direct:
            yield Problem(("cache",), '"warm" cannot stand with direct = true, which goes past the page cache')
        if self.request > self.file:
            yield Problem(
                ("request",),
                f"{describe_size(self.request)} is larger than file = {describe_size(self.file)}: no request would fit",
            )
        if 0 < self.io_size < self.request:
            yield Problem(
                ("io_size",),
                f"{describe_size(self.io_size)} is less than request = {describe_size(self.request)}",
            )
        if self.direct:
            yield from not_in_sectors("request", self.request)
        if self.queue_depth > 1 and not self.direct:
            yield Problem(
                ("queue_depth",),
                f"{self.queue_depth} needs direct = true: Linux carries out buffered requests one at a time, whatever "
                "the queue depth",
            )
        if self.queue_depth > 1 and self.flush == "fsync-each":
            yield Problem(
                ("queue_depth",),
                f'{self.queue_depth} cannot stand with flush = "fsync-each": fio flushes without waiting for requests '
                "that are under way, so that no request would be on the medium when its flush returns",
            )


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
