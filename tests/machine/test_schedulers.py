# SPDX-License-Identifier: Apache-2.0
"""Each scheduler with real requests: data arrive where they belong, nobody starves, and our modules come, go and are
tuned under load without a word from the kernel.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from flashbed.execution import run
from flashbed.study.loading import load_study
from tests.support import guest_rig
from tests.support.fixture_types import StudyWriter

Guest = Callable[..., dict[str, str]]

MEDIUM = "hdd-35-7200-320g:used_bytes=256M"
OURS = {
    "anticipatory": {
        "read_expire": (125, 0, 60000),
        "write_expire": (250, 0, 60000),
        "read_batch_expire": (500, 0, 60000),
        "write_batch_expire": (125, 0, 60000),
        "antic_expire": (6, 0, 60000),
    },
    "cfq": {
        "quantum": (8, 1, 65535),
        "fifo_expire_sync": (125, 1, 60000),
        "fifo_expire_async": (250, 1, 60000),
        "back_seek_max": (16384, 0, 2**32 - 1),
        "back_seek_penalty": (2, 1, 65535),
        "slice_sync": (100, 1, 60000),
        "slice_async": (40, 1, 60000),
        "slice_async_rq": (2, 1, 65535),
        "slice_idle": (8, 0, 60000),
        "group_idle": (8, 0, 60000),
        "low_latency": (1, 0, 1),
        "target_latency": (300, 1, 60000),
    },
}
"""Tunables: default, lowest and highest value."""

ALL = ["none", "mq-deadline", "bfq", "kyber", *OURS]

TROUBLE = re.compile(r"WARNING|BUG|Oops|Call trace|stall|hung|I/O error", re.IGNORECASE)

VERIFY = """
[global]
directory=/mnt
verify=crc32c
verify_fatal=1
do_verify=1
bsrange=4k-64k
bs_unaligned=0
size=4m
direct=1
ioengine=libaio
[sequential]
rw=write
iodepth=8
[random]
rw=randwrite
iodepth=32
[one-at-a-time]
rw=randwrite
ioengine=psync
[buffered]
rw=randwrite
direct=0
ioengine=psync
fsync=20
[mixed]
rw=randrw
iodepth=4
"""

# A steady reader, one that reads far away now and then, and a writer whom the page cache does not hold back. Requests
# on the device itself: no file system's own requests stand between a scheduler and what it is asked. (The file system
# that lies there does not survive it.)
CONTEND = """
[global]
filename=/dev/medium
time_based=1
runtime=4
ioengine=psync
[steady]
rw=read
bs=16k
direct=1
offset=16m
size=64m
[sparse]
rw=randread
bs=4k
direct=1
offset=208m
size=32m
thinktime=30000
[writer]
rw=write
bs=64k
offset=128m
size=64m
"""

READERS = """
[global]
filename=/dev/medium
time_based=1
runtime=2
ioengine=psync
direct=1
rw=read
bs=16k
size=64m
[low]
offset=16m
[high]
offset=176m
"""

# While fio works, the scheduler goes to others and comes back, twenty times; then its module goes.
SWITCH = """
echo 4194304 >/proc/sys/vm/dirty_background_bytes
/bin/fio --output-format=json --eta=never --output=/out/fio.json /job/switch.fio &
for round in $(seq 20); do
    for name in none {name} mq-deadline {name}; do
        usleep 20000
        echo $name >/sys/block/sda/queue/scheduler || exit
        cat /sys/block/sda/queue/scheduler
    done
    echo $((64 + round * 8)) >/sys/block/sda/queue/nr_requests || exit
done >/out/switches
wait $! || exit
echo none >/sys/block/sda/queue/scheduler
busybox rmmod {name} || exit
insmod /lib/flashbed/{name}.ko || exit
echo {name} >/sys/block/sda/queue/scheduler || exit
dd if=/dev/medium of=/dev/null bs=65536 count=16 iflag=direct || exit
"""

TUNE = """
cd /sys/block/sda/queue/iosched
ls >/out/names
for pair in {pairs}; do
    name=${{pair%%=*}}
    value=${{pair#*=}}
    before=$(cat $name)
    if echo $value >$name; then said=taken; else said=refused; fi
    echo "$name $before $value $said $(cat $name)"
    echo $before >$name
done 2>/dev/null >/out/values
cat est_time >/out/est_time 2>/dev/null
true
"""


@pytest.fixture
def guest(study_file: StudyWriter, tmp_path: Path) -> Guest:
    """Return a function that boots a guest with `scheduler`, runs the shell script `measure`, and returns the files of
    /out. It checks that dmesg has no complaint.
    """

    def boot(scheduler: str, measure: str, **jobs: str) -> dict[str, str]:
        top = {"filesystem": "ext2", "medium": MEDIUM, "scheduler": scheduler}
        (repetition,) = run.prepare(load_study(study_file(guest_rig.STUDY, **top)))
        script = f"{measure}\nstatus=$?\nbusybox dmesg >/out/dmesg\nexit $status\n"
        files = {"measure": script, **{f"{name}.fio": text for name, text in jobs.items()}}
        finished = guest_rig.finish(repetition, tmp_path, {name: text.encode() for name, text in files.items()})
        out = {name.removeprefix("out/"): data.decode() for name, data in finished.files.items() if "out/" in name}
        assert "measure.txt" in out, finished.result.reason
        assert "failed" not in out, out["failed"] + out["measure.txt"]
        out["check"] = str(finished.result.check)
        # The lab says when a stall is to be told, and the kernel repeats it
        messages = [line for line in out["dmesg"].splitlines() if "rcu_cpu_stall_timeout" not in line]
        assert not TROUBLE.search("\n".join(messages)), out["dmesg"][-3000:]
        return out

    return boot


def fio(name: str) -> str:
    return f"/bin/fio --output-format=json --eta=never --output=/out/{name}.json /job/{name}.fio"


def jobs_of(text: str) -> dict[str, Any]:
    jobs = json.loads(text)["jobs"]
    assert all(job["error"] == 0 for job in jobs)
    return {job["jobname"]: job for job in jobs}


@pytest.mark.parametrize("scheduler", ALL)
def test_data_arrive(guest: Guest, scheduler: str) -> None:
    out = guest(scheduler, fio("verify"), verify=VERIFY)
    assert out["check"] == "", "the file system is sound"
    jobs = jobs_of(out["verify.json"])
    assert len(jobs) == 5
    assert f"[{scheduler}]" in out["scheduler.txt"]
    for name, job in jobs.items():
        written = job["write"]["io_bytes"]
        assert written > (1 << 20 if name == "mixed" else 4_000_000)
        assert job["read"]["io_bytes"] >= written, "all that was written has been read back"


LONGEST_READ_MS = {
    # The deadline, and what is dispatched before it is looked at: a batch of 16 random requests of some 10 ms each
    "mq-deadline": 500 + 160,
    # A batch of writes, up to three times its 125 ms before it is halved, and twice the deadline: once in 125 ms it is
    # looked at
    "anticipatory": 3 * 125 + 2 * 125,
    # The steady reader's slice and one of writes, and as much as may be in flight (8 requests) each time
    "cfq": 100 + 40 + 160,
}


@pytest.mark.parametrize("scheduler", ALL)
def test_nobody_starves(guest: Guest, scheduler: str) -> None:
    limits = "echo 1048576 >/proc/sys/vm/dirty_background_bytes; echo 8388608 >/proc/sys/vm/dirty_bytes"
    seconds = 8 if scheduler == "mq-deadline" else 4  # its writes expire after 5 s
    job = CONTEND.replace("runtime=4", f"runtime={seconds}")
    out = guest(scheduler, f"{limits}\n{fio('contend')}", contend=job)
    jobs = jobs_of(out["contend.json"])
    assert jobs["steady"]["read"]["total_ios"] > 100
    assert jobs["sparse"]["read"]["total_ios"] > seconds * 1000 / (30 + LONGEST_READ_MS.get(scheduler, 1000))
    assert jobs["writer"]["write"]["io_bytes"] > 2 * 8388608, "more than memory may hold back"
    if scheduler in LONGEST_READ_MS:
        for reader in ("steady", "sparse"):
            assert jobs[reader]["read"]["clat_ns"]["max"] / 1e6 < LONGEST_READ_MS[scheduler], reader


WITHOUT_WAITS = ["none", "mq-deadline", "anticipatory:antic_expire=0", "cfq:slice_idle=0"]


def test_the_disk_is_kept_for_a_reader(guest: Guest) -> None:
    """Two readers of 16 KiB at a time, at two places: 8.5 ms a read where the head goes to and fro, some 0.4 ms where
    it stays a while, and that is for the waits alone. Ours repeat to the bit.
    """
    reads = {}
    for scheduler in (*WITHOUT_WAITS, *OURS):
        out = guest(scheduler, fio("readers"), readers=READERS)
        jobs = jobs_of(out["readers.json"])
        reads[scheduler] = [jobs[name]["read"]["total_ios"] for name in ("low", "high")]
        if scheduler in OURS:
            assert guest(scheduler, fio("readers"), readers=READERS) == out
    for scheduler in OURS:
        assert min(reads[scheduler]) > 10 * max(max(reads[other]) for other in WITHOUT_WAITS)
        assert max(reads[scheduler]) < 1.25 * min(reads[scheduler]), "and both have their share"


@pytest.mark.parametrize("name", OURS)
def test_it_comes_and_goes_under_load(guest: Guest, name: str) -> None:
    job = CONTEND.replace("[writer]", "[deep]\nrw=randrw\nbs=8k\ndirect=1\nioengine=libaio\niodepth=32\n[writer]")
    out = guest(name, SWITCH.format(name=name), switch=job.replace("runtime=4", "runtime=5"))
    assert all(job["read"]["total_ios"] + job["write"]["total_ios"] > 0 for job in jobs_of(out["fio.json"]).values())
    switches = out["switches"].splitlines()
    assert len(switches) == 80
    assert sum(f"[{name}]" in line for line in switches) == 40


@pytest.mark.parametrize("name", OURS)
def test_tunables(guest: Guest, name: str) -> None:
    tries = {
        tunable: [lowest, highest, lowest - 1, highest + 1] for tunable, (_, lowest, highest) in OURS[name].items()
    }
    pairs = " ".join(f"{tunable}={value}" for tunable, values in tries.items() for value in (*values, "x"))
    out = guest(name, TUNE.format(pairs=pairs))
    assert set(out["names"].split()) == set(OURS[name]) | ({"est_time"} if name == "anticipatory" else set())
    lines = out["values"].splitlines()
    assert len(lines) == 5 * len(OURS[name])
    for line in lines:
        tunable, before, value, accepted, after = line.split()
        default, lowest, highest = OURS[name][tunable]
        allowed = value != "x" and lowest <= int(value) <= highest
        assert int(before) == default, line
        assert (accepted, after) == (("taken", value) if allowed else ("refused", before)), line
    if name == "anticipatory":
        assert len(out["est_time"].splitlines()) == 3
