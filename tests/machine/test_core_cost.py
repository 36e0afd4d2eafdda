# SPDX-License-Identifier: Apache-2.0
"""What the media core itself costs the guest's CPU: little beside the kernel's own path, or it would bend figures."""

from __future__ import annotations

from pathlib import Path

import pytest

from flashbed.execution import run
from flashbed.execution.repetition import Finished
from flashbed.guest_output import cpu_load
from flashbed.study.loading import load_study

REQUESTS = 2000
MOST_NS = 2000
MOST_OF_A_CACHE_NS = 2500
"""For writes to a disk's cache: a piece arrives, is kept in two orders, and is chosen among 31 to be written back. Such
a request takes 2 ms."""
CASES = [
    ("usb-stick-2g", "randread"),
    pytest.param("usb-stick-2g", "randwrite", marks=pytest.mark.long),  # merges for minutes of virtual time
    *((medium, pattern) for medium in ("sd-good", "hdd-35-7200-320g") for pattern in ("randread", "randwrite")),
]

STUDY = """
    [workload]
    tool = "fio"
    job = "requests.fio"
"""

# No percentiles: a disk's latencies differ, those of a medium that knows one do not, and fio writes down each.
JOB = """
[measure]
lat_percentiles=0
filename=/dev/mblk0
size=512m
direct=1
ioengine=psync
rw={pattern}
bs=4k
number_ios={requests}
norandommap=1
"""


def requests_of(study_file, measure, tmp_path: Path, medium: str, pattern: str) -> Finished:
    (tmp_path / "requests.fio").write_text(JOB.format(pattern=pattern, requests=REQUESTS))
    (wanted,) = run.prepare(load_study(study_file(STUDY, filesystem="ext2", medium=medium)))
    return measure(wanted, tmp_path / wanted.key)


def busy_ns(finished: Finished) -> int:
    """CPU time of the guest, the tool's start included."""
    return cpu_load.busy_ns({name.removeprefix("out/"): data for name, data in finished.files.items()})


def flash_pages(finished: Finished) -> int:
    """Pages that the device's firmware read or programmed: a merge or a collection moves many for one request."""
    counters = finished.result["medium"]["measured"]
    return int(counters.get("flash_read_pages", 0) + counters.get("flash_programmed_pages", 0))


@pytest.mark.parametrize(("medium", "pattern"), CASES)
def test_the_core_adds_at_most_two_microseconds_a_request(
    study_file, measure, tmp_path: Path, medium: str, pattern: str
) -> None:
    """The board executes 1000 million instructions a second. Compared is a medium that knows no model, only the same
    mean latency, so that what the kernel does as time goes by is in both.

    A request for which the firmware moves pages costs as much again for each page: that work is the model's subject.
    """
    modelled = requests_of(study_file, measure, tmp_path, medium, pattern)
    mean_ns = round(modelled.result["metrics"]["latency_mean_us"] * 1000)
    delayed = requests_of(study_file, measure, tmp_path, f"null-2g:command_ns={mean_ns}", pattern)
    added_ns = (busy_ns(modelled) - busy_ns(delayed)) / REQUESTS
    pages = flash_pages(modelled) / REQUESTS
    print(f"{medium} {pattern}: {added_ns:.0f} ns of CPU a request; {pages:.1f} pages, {mean_ns} ns a request")
    cached = modelled.result["medium"]["measured"].get("disk_destages", 0) > 0
    assert added_ns <= (MOST_OF_A_CACHE_NS if cached else MOST_NS * max(pages, 1))
