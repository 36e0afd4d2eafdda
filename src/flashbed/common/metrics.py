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
        Metric("flush_mean_us", "Mean time of a flush", "us", "lower"),
        Metric("flush_p50_us", "Median time of a flush", "us", "lower"),
        Metric("flush_p95_us", "95th percentile of flushes", "us", "lower"),
        Metric("flush_p99_us", "99th percentile of flushes", "us", "lower"),
        Metric("flush_max_us", "Longest flush", "us", "lower"),
        Metric("runtime_s", "Run time", "s", "lower"),
        Metric("warm_up_s", "Warm-up before it", "s", None),
        Metric("char_output", "Output per character", "MiB/s", "higher"),
        Metric("block_output", "Block output", "MiB/s", "higher"),
        Metric("rewrite", "Rewrite", "MiB/s", "higher"),
        Metric("char_input", "Input per character", "MiB/s", "higher"),
        Metric("block_input", "Block input", "MiB/s", "higher"),
        Metric("random_seeks", "Random seeks", "1/s", "higher"),
        Metric("char_output_cpu_percent", "CPU load of output per character", "%", "lower"),
        Metric("block_output_cpu_percent", "CPU load of block output", "%", "lower"),
        Metric("rewrite_cpu_percent", "CPU load of rewrite", "%", "lower"),
        Metric("char_input_cpu_percent", "CPU load of input per character", "%", "lower"),
        Metric("block_input_cpu_percent", "CPU load of block input", "%", "lower"),
        Metric("random_seeks_cpu_percent", "CPU load of random seeks", "%", "lower"),
        Metric("char_output_reached_percent", "At the medium, of output per character", "%", None),
        Metric("block_output_reached_percent", "At the medium, of block output", "%", None),
        Metric("rewrite_reached_percent", "At the medium, of rewrite", "%", None),
        Metric("char_input_reached_percent", "At the medium, of input per character", "%", None),
        Metric("block_input_reached_percent", "At the medium, of block input", "%", None),
        Metric("random_seeks_reached_percent", "At the medium, of random seeks", "%", None),
        Metric("char_output_erases", "Blocks erased in output per character", "", None),
        Metric("block_output_erases", "Blocks erased in block output", "", None),
        Metric("rewrite_erases", "Blocks erased in rewrite", "", None),
        Metric("char_input_erases", "Blocks erased in input per character", "", None),
        Metric("block_input_erases", "Blocks erased in block input", "", None),
        Metric("random_seeks_erases", "Blocks erased in random seeks", "", None),
        Metric("write_s", "Time to write", "s", "lower"),
        Metric("rewrite_s", "Time to rewrite", "s", "lower"),
        Metric("read_s", "Time to read", "s", "lower"),
        Metric("reread_s", "Time to read again", "s", "lower"),
        Metric("write_bandwidth", "Write bandwidth", "MiB/s", "higher"),
        Metric("rewrite_bandwidth", "Rewrite bandwidth", "MiB/s", "higher"),
        Metric("read_bandwidth", "Read bandwidth", "MiB/s", "higher"),
        Metric("reread_bandwidth", "Reread bandwidth", "MiB/s", "higher"),
        Metric("write_reached_percent", "At the medium, of writing", "%", None),
        Metric("read_reached_percent", "At the medium, of reading", "%", None),
        Metric("reread_reached_percent", "At the medium, of reading again", "%", None),
        Metric("write_erases", "Blocks erased in writing", "", None),
        Metric("read_erases", "Blocks erased in reading", "", None),
        Metric("reread_erases", "Blocks erased in reading again", "", None),
        Metric("requested_bytes", "Asked for by the workload", "bytes", None),
        Metric("written_bytes", "Written by the workload", "bytes", None),
        Metric("medium_read_bytes", "Read from the medium", "bytes", "lower"),
        Metric("medium_written_bytes", "Written to the medium", "bytes", "lower"),
        Metric("medium_requests", "Requests that the medium got", "", "lower"),
        Metric("write_amplification", "Write amplification", "", "lower"),
        Metric("total_write_amplification", "Total write amplification", "", "lower"),
        Metric("cpu_percent", "CPU load", "%", "lower"),
        Metric("process_cpu_percent", "CPU load of the processes", "%", "lower"),
        Metric("busy_cpu_percent", "CPU at work", "%", None),
        Metric("busy_medium_percent", "Medium at work", "%", None),
        Metric("busy_bus_percent", "Bus at work", "%", None),
        Metric("platters_percent", "Platters at work until all is written", "%", None),
        Metric("mount_s", "Time until mounted", "s", "lower"),
        Metric("mount_after_cut_s", "Time until mounted after a power cut", "s", "lower"),
        Metric("mount_memory_bytes", "Memory kept once mounted", "bytes", "lower"),
        Metric("space_free_percent", "Free when empty, of the medium", "%", "higher"),
        Metric("space_per_byte", "Room taken for each byte of a file", "", "lower"),
        Metric("wear_mean", "Erases of a block, mean", "", "lower"),
        Metric("wear_max", "Erases of the most worn block", "", "lower"),
        Metric("overwrites", "Times that the flash was overwritten", "", None),
        Metric("tbw_bytes", "TBW, by the most worn block", "bytes", "higher"),
        Metric("tbw_level_bytes", "TBW, if all blocks wore alike", "bytes", "higher"),
        Metric("lifetime_years", "Life until the first block is worn out", "years", "higher"),
        Metric("lifetime_level_years", "Life if all blocks wore alike", "years", "higher"),
    )
}
"""All metrics by name, in the order of a table's columns."""
