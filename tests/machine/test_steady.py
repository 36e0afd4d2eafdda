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

RATES = """
    [workload]
    tool = "fio"
    job = "rates.fio"
"""

EVEN = """
[even]
filename=/dev/mblk0
offset=512m
size=64m
rw=randread
bs=4k
direct=1
time_based=1
ramp_time={warm_up}
runtime=3
"""

# A reader that has the stick to itself in the second half of its time.
DISTURBED = """
[background]
filename=/dev/mblk0
offset=1g
size=64m
rw=randread
bs=4k
direct=1
time_based=1
ramp_time=0
runtime=2
[reader]
filename=/dev/mblk0
offset=512m
size=64m
rw=randread
bs=4k
direct=1
time_based=1
ramp_time=0
runtime=4
"""

THINK_MS = 20

THINKS = f"""
[thinks]
filename=/dev/mblk0
offset=512m
size=64m
rw=randread
bs=4k
direct=1
time_based=1
runtime=3
thinktime={THINK_MS}000
"""

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
    return steadiness.verdict(finished.result["series"])


@pytest.fixture
def job(study_file, measure, tmp_path: Path) -> Callable[[str], Finished]:
    """`job(text)`: what a fio job of one's own comes to on the stick."""

    def measured(text: str) -> Finished:
        (tmp_path / "rates.fio").write_text(text)
        (wanted,) = run.prepare(load_study(study_file(RATES, filesystem="ext2", medium="usb-stick-2g", seeds=1)))
        return measure(wanted, tmp_path / wanted.key)

    return measured


def test_an_even_load_is_steady_and_warmed_up(job) -> None:
    plain, warmed = job(EVEN.format(warm_up=0)), job(EVEN.replace("ramp_time={warm_up}\n", ""))
    assert verdict(plain) == verdict(warmed) == "steady"
    assert "warm_up_s" not in plain.result["metrics"]
    assert warmed.result["metrics"]["warm_up_s"] == 5
    assert warmed.result["metrics"]["runtime_s"] == pytest.approx(3, abs=0.02)
    # 3 s of requests, and 8 s of them
    reads = [one.result["medium"]["measured"]["host_reads"] for one in (plain, warmed)]
    assert reads[1] == pytest.approx(reads[0] * 8 / 3, rel=0.02)
    for one in (plain, warmed):
        (series,) = one.result["series"]
        assert sum(series.parts) == pytest.approx(one.result["metrics"]["requested_bytes"], rel=0.001)


def test_a_think_time_is_kept_behind_a_warm_up(job) -> None:
    """fio 3.33 as Debian has it sends about 240 requests without a pause when the 5 s of warm-up were over."""
    metrics = job(THINKS).result["metrics"]
    assert metrics["warm_up_s"] == 5
    request_s = metrics["requested_bytes"] / 4096 / metrics["runtime_s"]
    # A request, its pause; what the kernel and fio take between them is a few hundredths of the pause
    assert request_s == pytest.approx(1e3 / (THINK_MS + metrics["latency_mean_us"] / 1e3), rel=0.02)


def test_a_load_that_is_disturbed_at_first_is_not_steady(job) -> None:
    assert verdict(job(DISTURBED)).startswith("not steady: rises from ")


def used_kib(df: bytes) -> int:
    return int(df.decode().splitlines()[1].split()[2])


@pytest.mark.parametrize("filesystem", ["ext2:block=4k", "f2fs"])
def test_allocate_decides_whether_a_write_gives_blocks_to_the_file(
    study_file, measure, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, filesystem: str
) -> None:
    """What `df` has in use before and after, and what the medium counts."""
    original = repetition.job

    def job(cell, image):
        files = original(cell, image)
        return files | {"measure": b"df -kP /mnt >/out/before.txt\n" + files["measure"]}

    monkeypatch.setattr(repetition, "job", job)
    writes = {}
    for wanted in run.prepare(load_study(study_file(WRITES, filesystem=filesystem, medium="usb-stick-2g", seeds=1))):
        finished = measure(wanted, tmp_path / wanted.key)
        said = wanted.cell.coordinates
        grown = used_kib(finished.files["out/space.txt"]) - used_kib(finished.files["out/before.txt"])
        expected = FILE_KIB if said["allocate"] == "true" else 0
        assert expected <= grown <= expected + 16, said  # nodes and indirect blocks
        writes[said["pattern"], said["allocate"]] = finished.result["medium"]["synced"]["host_writes"]
    if filesystem.startswith("ext2"):
        requests = FILE_KIB // 4
        # Data, inode, and a bitmap or an indirect block; or data alone, with the inode once a second
        for pattern in ("write", "randwrite"):
            assert writes[pattern, "true"] == pytest.approx(3 * requests, rel=0.05)
            assert requests <= writes[pattern, "false"] < 1.1 * requests
