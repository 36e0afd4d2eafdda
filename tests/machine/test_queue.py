# SPDX-License-Identifier: Apache-2.0
"""The kernel's view of a medium's queue is that of its profile: units, cache, rotation, number of queues."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from flashbed.guest_output import medium_counters
from tests.support.fixture_types import StudyWriter
from tests.support.guest_rig import NO_MOUNT, STUDY, Rig, boot, new

READS_OF_A_CPU = 200
MEASURE = f"""
. /job/cell.env
cd /sys/block/${{DEVICE#/dev/}}
for name in queue/*; do
	[ -d $name ] || echo "$name $(cat $name)"
done >/out/queue
for queue in mq/*; do
	echo "$queue $(cat $queue/cpu_list)"
done >/out/mq
medium mark begun
cpu=0
while [ -d /sys/devices/system/cpu/cpu$cpu ]; do
	taskset $((1 << cpu)) dd if=/dev/medium of=/dev/null iflag=direct bs=4k skip=$cpu count={READS_OF_A_CPU} &
	cpu=$((cpu + 1))
done
wait
medium mark ended
"""


def without_filesystem(rig: Rig, measure: str) -> Mapping[str, bytes]:
    """Return the files of a guest whose medium has no file system. To make one on the largest medium takes seconds."""
    return boot(rig, format="true\n", mount=NO_MOUNT, measure=measure).files


def seen(study_file: StudyWriter, folder: Path, medium: str, board: str = "arm64-1000") -> dict[str, str]:
    """Return the files of the device's folders queue and mq by name. "reads" is the number of all CPUs' reads, which
    the test knows.
    """
    study = study_file(STUDY, filesystem="ext2", medium=medium, board=board)
    files = without_filesystem(new(study, folder), MEASURE)
    begun, ended = (medium_counters.parse(files[f"counters.{moment}"])["host_reads"] for moment in ("begun", "ended"))
    lines = [*(files["queue"] + files["mq"]).decode().splitlines(), f"reads {ended - begun}"]
    return dict(line.removeprefix("queue/").split(" ", 1) for line in lines)


EXPECTED = {
    "usb-stick-2g": {
        "rotational": "1",  # Linux asks no USB disk for its rotation rate
        "max_sectors_kb": "120",
        "logical_block_size": "512",
        "physical_block_size": "512",
        "minimum_io_size": "512",
        "optimal_io_size": "0",
        "discard_granularity": "0",  # USB mass storage of that time has no UNMAP
        "discard_max_bytes": "0",
        "write_cache": "write through",
        "fua": "0",
    },
    "sd-good": {
        "rotational": "0",
        "discard_granularity": str(4 << 20),  # an allocation unit
    },
    "emmc-64g:used_bytes=2G": {"rotational": "0", "write_cache": "write back", "fua": "1"},
    "hdd-35-7200-320g": {
        "rotational": "1",
        "logical_block_size": "512",
        "physical_block_size": "512",
        "minimum_io_size": "512",
        "optimal_io_size": "0",
        "discard_granularity": "0",
        "discard_max_bytes": "0",
        "write_cache": "write back",
        "fua": "0",  # libata's default
    },
    "nvme-960pro-class": {
        "rotational": "0",
        "logical_block_size": "512",
        "physical_block_size": "512",
        "discard_granularity": "512",
        "write_cache": "write back",
        "fua": "1",
    },
    "nvme-p3600-class": {"write_cache": "write through", "fua": "0"},  # capacitors
    "null-2g": {"rotational": "0", "logical_block_size": "512"},
}


@pytest.mark.parametrize("medium", EXPECTED)
def test_the_kernel_knows_what_the_profile_says(medium: str, study_file: StudyWriter, tmp_path: Path) -> None:
    """A board has one CPU, so that there is one queue, however many the medium has."""
    queue = seen(study_file, tmp_path, medium)
    assert {name: queue[name] for name in EXPECTED[medium]} == EXPECTED[medium]
    assert {name: cpus for name, cpus in queue.items() if name.startswith("mq/")} == {"mq/0": "0"}
    assert queue["reads"] == str(READS_OF_A_CPU)


@pytest.mark.parametrize(
    ("cpus", "medium", "queues"),
    [
        (2, "nvme-960pro-class", {"mq/0": "0", "mq/1": "1"}),
        (2, "nvme-960pro-class:queues=1", {"mq/0": "0, 1"}),
        (4, "nvme-960pro-class:queues=2", {"mq/0": "0, 1", "mq/1": "2, 3"}),
    ],
)
def test_cpus_share_out_the_queues_of_the_medium(
    cpus: int, medium: str, queues: dict[str, str], study_file: StudyWriter, tmp_path: Path
) -> None:
    """And no request is lost between them."""
    queue = seen(study_file, tmp_path, medium, f"arm64-1000:cpus={cpus}")
    assert {name: cpus for name, cpus in queue.items() if name.startswith("mq/")} == queues
    assert queue["reads"] == str(cpus * READS_OF_A_CPU)


INTERRUPTS = """
grep nvme0q /proc/interrupts >/out/before
taskset 4 dd if=/dev/medium of=/dev/null iflag=direct bs=4k count=1000
grep nvme0q /proc/interrupts >/out/after
"""


def test_a_request_is_completed_on_the_cpu_that_submitted_it(study_file: StudyWriter, tmp_path: Path) -> None:
    """1000 reads of a process on the third of four CPUs: as many interrupts come there, and few on the others."""
    study = study_file(STUDY, filesystem="ext2", medium="nvme-960pro-class", board="arm64-1000:cpus=4")
    files = without_filesystem(new(study, tmp_path), INTERRUPTS)
    before, after = (
        [sum(int(line.split()[1 + cpu]) for line in files[name].decode().splitlines()) for cpu in range(4)]
        for name in ("before", "after")
    )
    taken = [now - then for then, now in zip(before, after, strict=True)]
    assert taken[2] >= 1000
    assert max(taken[0], taken[1], taken[3]) < 10
