# SPDX-License-Identifier: Apache-2.0
"""What a direct read of F2FS locks, by the option direct_lock, on a board of several CPUs: each way measures, a checker
finds the file system whole, and data read beside writes are what was written.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from flashbed.execution import run
from flashbed.result.result import Result
from flashbed.study.loading import load_study
from tests.machine import raw_chip
from tests.support.fixture_types import Measure, StudyWriter
from tests.support.guest_rig import boot, new, words

TWO, EIGHT, MEDIUM = "arm64-2x1000", "arm64-8x2000", "nvme-960pro-class:used_bytes=2G"
LOCKS = ("none", "submission", "completion", "range", "percpu")
RANDOM = 'tool = "fxmark", tests = "random", file = "16M", direct = true, warm_us = 1000, run_us = 5000'
CELL = 'workload = { tool = "fio", pattern = "randread", request = "4k", file = "1M" }\n'

VERIFY = """
set -e
cd /mnt
verify() { # engine depth
	cat >/out/jobs <<END
[global]
filename=file
size=1m
offset_increment=1m
numjobs=2
bs=4k
direct=1
rw=randwrite
verify=crc32c
verify_fatal=1
thread
group_reporting
[before]
randseed=1
ioengine=psync
[overwrite]
stonewall
randseed=2
ioengine=$1
iodepth=$2
verify_backlog=8
[readers]
ioengine=$1
iodepth=$2
rw=randread
verify=0
END
	fio /out/jobs >/out/fio.$1 2>&1 || { cat /out/fio.$1; exit 1; }
	rm file
}
verify psync 1
verify libaio 8
cp /job/torn /tmp/torn
chmod +x /tmp/torn
/tmp/torn /mnt/torn 1048576 0.2 >/out/torn.txt
grep direct_lock /proc/mounts >/out/mounted
"""
"""Blocks that say where they belong and their checksum: two threads write them a second time and read them back,
each in its own half of the file, while two others read it.

Then one process writes 1 MiB again and again, another reads it (tests/guest/torn.c). A drive takes the bytes of a
request at one instant, and 512 KiB at most: either is two requests and more.
"""


def measured(
    study_file: StudyWriter, measure: Measure, folder: Path, filesystem: str, board: str = TWO, **workload: int
) -> Result:
    """Measure a cell of random direct reads."""
    load = RANDOM + "".join(f", {name} = {value}" for name, value in workload.items())
    path = study_file(f"workload = {{ {load} }}\n", filesystem=filesystem, board=board, medium=MEDIUM)
    (repetition,) = run.prepare(load_study(path))
    result = measure(repetition, folder).result
    assert result.check == ""
    return result


@pytest.mark.parametrize("lock", LOCKS[1:])
def test_each_lock_measures(lock: str, study_file: StudyWriter, measure: Measure, tmp_path: Path) -> None:
    of_two(lock, study_file, measure, tmp_path)


def of_two(lock: str, study_file: StudyWriter, measure: Measure, folder: Path) -> Result:
    """Return the checked result of a cell in which two processes read."""
    result = measured(study_file, measure, folder / "cell", f"f2fs:direct_lock={lock}", processes=2)
    assert f"direct_lock={lock}" in result.measurement.mounted
    assert result.measurement.metrics["read_operations"] > 1000
    assert 0 < result.measurement.metrics["busy_cpus"] <= 2
    assert result.measurement.metrics["busy_cpu_percent"] == pytest.approx(50 * result.measurement.metrics["busy_cpus"])
    assert 0 < result.measurement.metrics["busy_medium_percent"] <= 100
    return result


def test_no_lock_is_as_fast_as_the_kernels_own_f2fs(study_file: StudyWriter, measure: Measure, tmp_path: Path) -> None:
    """A word of an option that is looked at for each request is all that comes on top. Two processes read some 140
    blocks in the 5 ms that count, so that 3 % are four reads.
    """
    own = measured(study_file, measure, tmp_path / "own", "f2fs", processes=2).measurement.metrics
    unlocked = of_two(LOCKS[0], study_file, measure, tmp_path).measurement.metrics
    assert unlocked["read_operations"] == pytest.approx(own["read_operations"], rel=0.03)
    assert unlocked["latency_p50_us"] == pytest.approx(own["latency_p50_us"], rel=0.02)


def test_a_lock_until_completion_serves_one_read_at_a_time(
    study_file: StudyWriter, measure: Measure, tmp_path: Path
) -> None:
    """Eight processes then read as much as one does; a lock over submission lets the drive serve them side by side."""

    def reads(lock: str, processes: int) -> float:
        cell = tmp_path / f"{lock}-{processes}"
        result = measured(study_file, measure, cell, f"f2fs:direct_lock={lock}", board=EIGHT, processes=processes)
        return float(result.measurement.metrics["read_operations"])

    alone = reads("completion", 1)
    assert reads("completion", 8) < 1.2 * alone
    assert reads("submission", 8) > 2 * alone
    assert reads("none", 8) > 2 * alone


@pytest.mark.parametrize("lock", ["none", "range"])
def test_writers_beside_readers(lock: str, study_file: StudyWriter, measure: Measure, tmp_path: Path) -> None:
    result = measured(
        study_file, measure, tmp_path / "cell", f"f2fs:direct_lock={lock}", board=EIGHT, processes=8, writers=2
    )
    assert result.measurement.metrics["read_operations"] > 1000
    assert result.measurement.metrics["other_operations"] > 10_000


@pytest.mark.parametrize("lock", LOCKS)
def test_what_is_read_is_what_was_written(lock: str, study_file: StudyWriter, tmp_path: Path) -> None:
    """And a read that locks meets no write of its bytes. Without a lock some reads are torn, so that the test would see
    it. The driver moves all bytes while a request is handed in, so it does not see whether a range is let go before the
    drive has answered.
    """
    cell = study_file(CELL, filesystem=f"f2fs:direct_lock={lock}", board=TWO, medium=MEDIUM)
    outcome = boot(new(cell, tmp_path / "cell"), beside={"torn": raw_chip.own_program("torn")}, measure=VERIFY)
    assert f"direct_lock={lock}".encode() in outcome.files["mounted"]
    for engine in ("psync", "libaio"):
        assert b"err= 0" in outcome.files[f"fio.{engine}"]
    counts = words(outcome, "torn.txt")
    assert min(counts["reads"], counts["writes"]) > 100
    assert (counts["torn"] > 0) == (lock in ("none", "percpu")), counts


COLLECTED = """
set -e
cd /mnt
cat >/out/jobs <<END
[global]
filename=file
size=8m
bs=4k
direct=1
ioengine=libaio
iodepth=4
verify=crc32c
verify_fatal=1
[before]
rw=write
do_verify=0
[overwrite]
stonewall
rw=randwrite
io_size=4m
do_verify=0
[readers]
stonewall
rw=randread
numjobs=2
time_based
runtime=300ms
thinktime=500
END
. /job/cell.env
volume=/sys/fs/f2fs/${DEVICE#/dev/}
(
	cd / # its sleep may outlive it, and must not keep the file system busy
	while :; do
		echo 1 >$volume/gc_urgent # wakes the collector, which takes any segment with room; who finds none sleeps long
		usleep 20000
	done
) &
collector=$!
fio /out/jobs >/out/fio.txt 2>&1 || { cat /out/fio.txt; exit 1; }
kill $collector
echo 4 >$volume/gc_segment_mode
cat $volume/gc_reclaimed_segments >/out/collected
"""
"""Half of a file's blocks lie elsewhere than at first, so that collection moves those that stayed, while two read them:
it takes that side of i_gc_rwsem alone.
"""


def test_collection_moves_blocks_beside_readers_that_count_themselves(study_file: StudyWriter, tmp_path: Path) -> None:
    cell = study_file(CELL, filesystem="f2fs:direct_lock=percpu,mode=lfs,background_gc=sync", board=TWO, medium=MEDIUM)
    out = boot(new(cell, tmp_path / "cell"), measure=COLLECTED).files
    assert out["fio.txt"].count(b"err= 0") >= 3
    assert int(out["collected"]) > 0
