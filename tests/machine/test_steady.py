# SPDX-License-Identifier: Apache-2.0
"""Cells in the guest whose rate is steady, and one whose rate is not; files that are new, and files that are there."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from flashbed.execution import repetition, run
from flashbed.execution.repetition import Finished
from flashbed.guest_output import steadiness
from flashbed.study.loading import load_study
from tests.support import guest_rig
from tests.support.fixture_types import Measure, StudyWriter

FioJob = Callable[[str], Finished]

RATES = """
    [workload]
    tool = "fio"
    job = "rates.fio"
"""


def reader(name: str, offset: str, runtime_s: int, warm_up_s: int | None = 0) -> str:
    """Return a section of a fio job that reads at random in 64 MiB of the stick. If `warm_up_s` is None, the lab's own
    warm-up applies.
    """
    warm_up = "" if warm_up_s is None else f"ramp_time={warm_up_s}\n"
    return f"""
[{name}]
filename=/dev/medium
offset={offset}
size=64m
rw=randread
bs=4k
direct=1
time_based=1
runtime={runtime_s}
{warm_up}"""


THINK_MS = 20

FILE_KIB = 1024

WRITES = f"""
    [axes]
    pattern = ["write", "randwrite"]
    allocate = ["true", "false"]
    [workload]
    tool = "fio"
    file = "{FILE_KIB}k"
    request = "4k"
    flush = "fsync-each"
"""


def verdict(finished: Finished) -> str:
    return steadiness.steadiness(finished.result.measurement.series, "").text


STICK = "usb-stick-2g:interface=plain"


@pytest.fixture
def job(study_file: StudyWriter, measure: Measure, tmp_path: Path) -> FioJob:
    """Return a function that measures a user's fio job on the stick: `job(text)`. The stick uses the lab's own driver,
    because usb-storage has one tag: the reader that wakes takes it again before the other reader, which then waits for
    seconds.
    """

    def measured(text: str) -> Finished:
        (tmp_path / "rates.fio").write_text(text)
        (planned,) = run.prepare(load_study(study_file(RATES, filesystem="ext2", medium=STICK, seeds=1)))
        return measure(planned, tmp_path / planned.key)

    return measured


def test_an_even_load_is_steady_and_warmed_up(job: FioJob) -> None:
    plain, warmed = job(reader("even", "512m", 3)), job(reader("even", "512m", 3, warm_up_s=None))
    assert verdict(plain) == verdict(warmed) == "steady"
    assert "warm_up_s" not in plain.result.measurement.metrics
    assert warmed.result.measurement.metrics["warm_up_s"] == 5
    assert warmed.result.measurement.metrics["runtime_s"] == pytest.approx(3, abs=0.02)
    # 3 s of requests, and 8 s of them
    reads = [run_.result.measurement.medium["measured"]["host_reads"] for run_ in (plain, warmed)]
    assert reads[1] == pytest.approx(reads[0] * 8 / 3, rel=0.02)
    for finished in (plain, warmed):
        (series,) = finished.result.measurement.series
        assert sum(series.parts) == pytest.approx(finished.result.measurement.metrics["requested_bytes"], rel=0.001)


def test_a_think_time_is_kept_behind_a_warm_up(job: FioJob) -> None:
    """fio 3.33 as Debian has it sends about 240 requests without a pause when the 5 s of warm-up were over."""
    metrics = job(reader("thinks", "512m", 3, warm_up_s=None) + f"thinktime={THINK_MS}000\n").result.measurement.metrics
    assert metrics["warm_up_s"] == 5
    request_s = metrics["requested_bytes"] / 4096 / metrics["runtime_s"]
    # A request, its pause; what the kernel and fio take between them is a few hundredths of the pause
    assert request_s == pytest.approx(1e3 / (THINK_MS + metrics["latency_mean_us"] / 1e3), rel=0.02)


def test_a_load_that_is_disturbed_at_first_is_not_steady(job: FioJob) -> None:
    """A reader that has the stick to itself in the second half of its time."""
    assert verdict(job(reader("background", "1g", 2) + reader("reader", "512m", 4))).startswith(
        "not steady: rises from "
    )


def used_kib(df: bytes) -> int:
    return int(df.decode().splitlines()[1].split()[2])


@pytest.mark.parametrize("filesystem", ["ext2:block=4k", "f2fs"])
def test_allocate_decides_whether_a_write_gives_blocks_to_the_file(
    study_file: StudyWriter, tmp_path: Path, filesystem: str
) -> None:
    """Compare the blocks that `df` has in use before and after, and the medium's counters."""
    writes = {}
    for planned in run.prepare(load_study(study_file(WRITES, filesystem=filesystem, medium="usb-stick-2g", seeds=1))):
        measure = repetition.job(planned.cell, planned.image).load["measure"]
        changed = {"measure": b"df -kP /mnt >/out/before.txt\n" + measure}
        finished = guest_rig.finish(planned, tmp_path / planned.key, changed)
        assert finished.result.is_measured, finished.result.reason
        coordinates = planned.cell.coordinates
        grown = used_kib(finished.files["out/space.txt"]) - used_kib(finished.files["out/before.txt"])
        expected = FILE_KIB if coordinates["allocate"] == "true" else 0
        assert expected <= grown <= expected + 16, coordinates  # nodes and indirect blocks
        writes[coordinates["pattern"], coordinates["allocate"]] = finished.result.measurement.medium["synced"][
            "host_writes"
        ]
    if filesystem.startswith("ext2"):
        requests = FILE_KIB // 4
        # Data, inode, and a bitmap or an indirect block; or data alone, with the inode once a second
        for pattern in ("write", "randwrite"):
            assert writes[pattern, "true"] == pytest.approx(3 * requests, rel=0.05)
            assert requests <= writes[pattern, "false"] < 1.1 * requests
