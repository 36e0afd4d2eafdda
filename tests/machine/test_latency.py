# SPDX-License-Identifier: Apache-2.0
"""A request on a model takes what its data sheet says, plus the kernel's own path, which a medium without latency
shows.
"""

from __future__ import annotations

import statistics
from pathlib import Path

from flashbed.execution import run
from flashbed.execution.repetition import Finished
from flashbed.study.loading import load_study
from tests.support.fixture_types import Measure, StudyWriter

ONE_READ_BYTES = 4096

KNOWN_NS = 100_000
"""What every request takes on the medium that shows the kernel's own path: long enough that the reader goes to sleep,
as on real media.
"""

WARM_UP, READS = 10, 60

STUDY = f"""
    [axes]
    medium = ["usb-stick-2g:interface=plain", "null-2g:command_ns={KNOWN_NS}"]
    [workload]
    tool = "fio"
    job = "reads.fio"
"""

# Direct reads of the device itself, in a part that the file system does not use, after the same part was written.
JOB = f"""
[global]
filename=/dev/medium
offset=1g
size=1m
direct=1
ioengine=psync
[fill]
rw=write
bs=64k
[measure]
stonewall
rw=read
bs={ONE_READ_BYTES}
number_ios={WARM_UP + READS}
write_lat_log=/out/reads
"""


def latencies_ns(finished: Finished) -> list[int]:
    log = finished.files["out/reads_clat.2.log"].decode()
    return [int(line.split(",")[1]) for line in log.splitlines()][WARM_UP:]


def test_reads_cost_the_array_the_bus_and_the_controller_and_in_a_row_the_same(
    study_file: StudyWriter, measure: Measure, tmp_path: Path
) -> None:
    """The kernel's tick comes every 4 ms and falls into each seventh read; between two, six in a row are alike."""
    (tmp_path / "reads.fio").write_text(JOB)
    flash, null = run.prepare(load_study(study_file(STUDY, filesystem="ext2", medium=None)))
    reads, kernel_path = (latencies_ns(measure(repetition, tmp_path / repetition.key)) for repetition in (flash, null))
    p = flash.cell.medium.numbers()
    pages = -(-ONE_READ_BYTES // p["page_bytes"])
    assert pages * p["page_bytes"] == ONE_READ_BYTES
    by_hand = p["command_ns"] + p["read_ns"] + ONE_READ_BYTES * (p["bus_ps_per_byte"] + p["link_ps_per_byte"]) // 1000
    assert len(reads) == len(kernel_path) == READS
    median, path = statistics.median(reads), statistics.median(kernel_path) - KNOWN_NS
    assert abs(median - path - by_hand) <= 1000, f"{median} ns; {by_hand} ns by hand, kernel path {path} ns"

    windows = [reads[start : start + 6] for start in range(READS - 5)]
    assert min(max(window) - min(window) for window in windows) < 200
    assert sum(abs(read - median) < 200 for read in reads) >= READS * 6 // 7
