# SPDX-License-Identifier: Apache-2.0
"""The workload fio.

It is either a pattern or a user's job file, whose ${variables} are the study's axes. Knows neither where fio
runs nor on what.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from flashbed.guest_output import steadiness
from flashbed.guest_output.durability import Commits
from flashbed.guest_output.steadiness import Series
from flashbed.workload.base import Parameters, Phase, ToolParameters, WithoutPackages, Writes
from flashbed.workload.fio import output, pattern
from flashbed.workload.fio.jobs import OUTPUT, RATE_MS, flushes_between, own_job_files, split_off_preparation
from flashbed.workload.fio.output import metrics_of
from flashbed.workload.fio.pattern import FioParameters
from flashbed.workload.fio.series import of_calls, of_progress, of_rates, rate_logs


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
        if "job" in parameters:
            return ""
        load = FioParameters.of_cell(parameters)
        if not load.writes:
            return ""
        return "allocates" if load.allocates else "overwrites"

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
        if FioParameters.of_cell(parameters).is_cached:
            moments = of_progress(out, output.run_of(out, OUTPUT)[0])
        elif logs := output.logs(out):
            moments = of_calls(logs)
        else:
            interval_s = RATE_MS / 1e3
            moments = of_rates(rate_logs(out), RATE_MS, *output.run_of(out, OUTPUT))
        pattern_series = steadiness.series(moments, interval_s=interval_s)
        return [pattern_series] if pattern_series else []

    def silent(self, parameters: Parameters) -> str:
        if "job" not in parameters and FioParameters.of_cell(parameters).is_cached:
            return "nothing tells how what it wrote reached the medium while it was measured"
        return "fio kept no log of its rate, or the run was too short for one"
