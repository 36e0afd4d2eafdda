# SPDX-License-Identifier: Apache-2.0
"""fio writes to YAFFS2 in each of its patterns, and reads all of it back; after a remount the files are the same.

All patterns write at once, three times over; but once where reads are mixed in, for fio then takes what the time before
wrote for wrong, and once where holes are left, for fio then goes on in the holes and reads back only a part.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.machine import raw_chip
from tests.machine.raw_chip import LARGE, NOTHING, SMALL, WORN
from tests.support.fixture_types import StudyWriter

pytestmark = pytest.mark.long

ORDERS = {
    "in-order": "rw=write\nbs=64k\nverify=crc32c",
    "at-random": "rw=randwrite\nbs=4k\nverify=md5",
    "mixed": "rw=rw\nloops=1\nbs=16k\nverify=xxhash",
    "mixed-at-random": "rw=randrw\nloops=1\nbs=4k\nverify=sha256",
    "bytes": "rw=randwrite\nbs=512\nsize=512k\nverify=crc64",
    "unaligned": "rw=randwrite\nbsrange=700-20000\nbs_unaligned=1\nverify=crc32",
    "synced": "rw=randwrite\nbs=8k\nfsync=4\nverify=crc32c",
    "mapped": "rw=randwrite\nbs=4k\nioengine=mmap\nverify=crc32c",
    "appended": "rw=write\nbs=1000\nfallocate=none\nfile_append=0\nverify=pattern\nverify_pattern=%o",
    "with-holes": "rw=write:16k\nbs=16k\nio_size=1m\nloops=1\nverify=pattern\nverify_pattern=0x5aa5",
}
"""Orders of requests, their sizes, engines, and what fio knows its data by."""

LOOPS = 3

JOBS = f"""
[global]
loops={LOOPS}
directory=/mnt
ioengine=psync
size=2m
verify_fatal=1
do_verify=1
invalidate=1
randseed=7
""" + "".join(f"[{name}]\n{text}\n" for name, text in ORDERS.items())

RUN = r"""
set -e
/bin/fio --output-format=json --eta=never --output=/out/fio.json /job/jobs.fio
cd /mnt
md5sum *.0.0 >/tmp/sums
cd /
umount /mnt
sh /job/mount
cd /mnt
md5sum -c /tmp/sums
rm *.0.0
cat /sys/kernel/debug/yaffs2/mtd0 >/out/statistics
"""


def done(text: str) -> dict[str, Any]:
    jobs = {job["jobname"]: job for job in json.loads(text)["jobs"]}
    assert jobs.keys() == ORDERS.keys()
    assert all(job["error"] == 0 for job in jobs.values())
    return jobs


@pytest.mark.parametrize("faults", ["", WORN])
@pytest.mark.parametrize("chip", [LARGE, SMALL])
def test_what_fio_wrote_is_read_back(study_file: StudyWriter, tmp_path: Path, chip: str, faults: str) -> None:
    rig = raw_chip.new(study_file, tmp_path, "yaffs2", f"{chip}:{faults}" if faults else chip)
    bad_before = raw_chip.marked_blocks(rig)
    files = {"jobs.fio": JOBS.encode()}
    outcome = raw_chip.boot(rig, limit_s=1800, beside=files, prepare=RUN, measure=NOTHING)
    for name, job in done(outcome.files["fio.json"].decode()).items():
        assert job["write"]["io_bytes"] > 0, name
        assert job["read"]["io_bytes"] >= job["write"]["io_bytes"], f"{name}: all that was written has been read back"
    counters = raw_chip.yaffs_counters(outcome.files["statistics"].decode().splitlines())
    assert counters["chunks_lost"] == 0
    assert (counters["retired_blocks"] > 0) == bool(faults)
    assert len(raw_chip.marked_blocks(rig)) >= len(bad_before) + counters["retired_blocks"]
