# SPDX-License-Identifier: Apache-2.0
"""The name, unit and better direction of each metric that a repetition can have.

Must not know how a metric is measured, nor how it is drawn.
"""

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class Metric:
    """One metric. `better` is the direction that a user wants, or None where neither is better."""

    name: str
    title: str
    unit: str
    better: Literal["higher", "lower"] | None


METRICS: dict[str, Metric] = {
    metric.name: metric
    for metric in (
        Metric("bandwidth", "Bandwidth", "MiB/s", "higher"),
        Metric("iops", "Requests per second", "1/s", "higher"),
        Metric("latency_mean_us", "Mean latency", "us", "lower"),
        Metric("latency_p50_us", "Median latency", "us", "lower"),
        Metric("latency_p95_us", "95th percentile latency", "us", "lower"),
        Metric("latency_p99_us", "99th percentile latency", "us", "lower"),
        Metric("latency_max_us", "Longest latency", "us", "lower"),
        Metric("runtime_s", "Run time", "s", "lower"),
        Metric("requested_bytes", "Asked for by the workload", "bytes", None),
        Metric("requested_bytes", "Asked for by the workload", "bytes", None),
        Metric("medium_read_bytes", "Read from the medium", "bytes", "lower"),
        Metric("medium_written_bytes", "Written to the medium", "bytes", "lower"),
        Metric("write_amplification", "Write amplification", "", "lower"),
        Metric("cpu_percent", "CPU load", "%", "lower"),
    )
}
"""All metrics by name, in the order of a table's columns."""
