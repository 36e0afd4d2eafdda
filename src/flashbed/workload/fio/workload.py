# SPDX-License-Identifier: Apache-2.0
"""The workload fio, and the parameters that a study may fix under [workload] or vary on an axis.

The workload is either a pattern or a user's job file, whose ${variables} are the study's axes. Knows neither where fio
runs nor on what.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal

from pydantic import Field

from flashbed.common.tomlfile import Problem, Size
from flashbed.common.units import describe_size
from flashbed.guest_output import steadiness
from flashbed.guest_output.durability import Commits
from flashbed.guest_output.steadiness import Series
from flashbed.workload.base import (
    Count,
    FileParameters,
    Parameters,
    Phase,
    Switch,
    ToolParameters,
    WithoutPackages,
    Writes,
    not_in_sectors,
)
from flashbed.workload.fio import output, pattern
from flashbed.workload.fio.jobs import OUTPUT, RATE_MS, flushes_between, own_job_files, split_off_preparation
from flashbed.workload.fio.output import metrics_of
from flashbed.workload.fio.series import of_calls, of_progress, of_rates, rate_logs


class FioParameters(FileParameters):
    """A pattern of requests on files. Sizes are in bytes."""

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
        """Return True if the file is new when the measurement begins."""
        return self.pattern == "write" if self.allocate is None else self.allocate

    def canonical(self) -> dict[str, Any]:
        """Return all parameters with the effective `allocate`, so that a study may name it or omit it."""
        return self.model_dump() | {"allocate": self.allocates}

    def problems(self) -> Iterator[Problem]:
        """Yield contradictions between parameters."""
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


class Fio(WithoutPackages):
    """The workload `fio`, with its own parameters or with a user's job file."""

    parameters: type[ToolParameters] = FioParameters
    built: tuple[str, ...] = ("fio",)
    begins_with: tuple[str, ...] = ("prepare.fio",)
    own_files: tuple[str, ...] = ("job",)

    def title(self, parameters: Parameters) -> str:
        return "fio"

    def headline(self, values: Mapping[str, Sequence[str]]) -> tuple[str, ...]:
        texts = values.get("job", ())
        flushed = (
            map(flushes_between, texts) if texts else (flush == "fsync-each" for flush in values.get("flush", ("",)))
        )
        return ("bandwidth", "commit_p99_us") if all(flushed) else ("bandwidth",)

    def files(self, parameters: Parameters, seed: int) -> dict[str, bytes]:
        if "job" in parameters:
            return own_job_files(parameters, seed)
        return pattern.files(parameters, seed)

    def metrics(self, out: Mapping[str, bytes]) -> dict[str, float]:
        return metrics_of(out, OUTPUT)

    def phases(self, parameters: Parameters) -> Sequence[Phase]:
        return ()

    def writes(self, parameters: Parameters) -> Writes:
        """Return how the pattern writes. For a user's job only fio knows."""
        if "job" in parameters or not pattern.writes(parameters):
            return ""
        return "allocates" if pattern.allocates(parameters) else "overwrites"

    def prepares(self, values: Mapping[str, str]) -> bool:
        if "job" in values:
            return bool(split_off_preparation(values["job"])[0])
        return values.get("allocate", str(values.get("pattern") == "write").lower()) != "true"

    def commits(self, parameters: Parameters, out: Mapping[str, bytes]) -> Commits:
        return output.commits_of(out, OUTPUT)

    def series(self, parameters: Parameters, out: Mapping[str, bytes]) -> Sequence[Series]:
        """Return one series for a pattern, of all processes together; for a user's job, one for each measured job, by
        name.
        """
        interval_s = math.inf
        if "job" in parameters:
            return output.series_of_jobs(out)
        if pattern.is_cached(parameters):
            moments = of_progress(out, output.run_of(out, OUTPUT)[0])
        elif logs := output.logs(out):
            moments = of_calls(logs)
        else:
            interval_s = RATE_MS / 1e3
            moments = of_rates(rate_logs(out), RATE_MS, *output.run_of(out, OUTPUT))
        pattern_series = steadiness.series(moments, interval_s=interval_s)
        return [pattern_series] if pattern_series else []

    def silent(self, parameters: Parameters) -> str:
        if "job" not in parameters and pattern.is_cached(parameters):
            return "nothing tells how what it wrote reached the medium while it was measured"
        return "fio kept no log of its rate, or the run was too short for one"
