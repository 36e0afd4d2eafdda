# SPDX-License-Identifier: Apache-2.0
"""What the kernel knows of a medium's queue is what its profile says: units, cache, rotation, how many queues."""

from __future__ import annotations

from pathlib import Path

import pytest
from guest_rig import STUDY, boot, new

from flashbed.machine import qemu

READS_OF_A_CPU = 200
MEASURE = f"""
cd /sys/block/mblk0
for name in queue/*; do
	[ -d $name ] || echo "$name $(cat $name)"
done >/out/queue
for queue in mq/*; do
	echo "$queue $(cat $queue/cpu_list)"
done >/out/mq
before=$(cat medium/host_reads)
for cpu in $(cat /sys/devices/system/cpu/online | tr , - | sed s/-/\\ /); do
	taskset $((1 << cpu)) dd if=/dev/mblk0 of=/dev/null iflag=direct bs=4k skip=$cpu count={READS_OF_A_CPU} &
done
wait
echo "reads $(($(cat medium/host_reads) - before))" >>/out/mq
"""


def seen(study_file, folder: Path, medium: str) -> dict[str, str]:
    """Files of /sys/block/mblk0/queue and mq by name, and the reads of all CPUs, a number known to the test."""
    files = boot(new(study_file(STUDY, filesystem="ext2", medium=medium), folder), measure=MEASURE).files
    lines = (files["queue"] + files["mq"]).decode().splitlines()
    return dict(line.removeprefix("queue/").split(" ", 1) for line in lines)


EXPECTED = {
    "usb-stick-2g": {
        "rotational": "0",
        "logical_block_size": "512",
        "physical_block_size": "4096",
        "minimum_io_size": "4096",
        "optimal_io_size": "4096",
        "discard_granularity": "0",  # USB mass storage of that time has no UNMAP
        "discard_max_bytes": "0",
        "write_cache": "write through",
        "fua": "0",
    },
    "sd-good": {
        "rotational": "0",
        "discard_granularity": str(4 << 20),  # an allocation unit
        "discard_max_bytes": str(64 << 20),
    },
    "hdd-35-7200-320g": {
        "rotational": "1",
        "logical_block_size": "512",
        "physical_block_size": "512",
        "minimum_io_size": "512",
        "optimal_io_size": "0",
        "discard_granularity": "0",
        "discard_max_bytes": "0",
        "write_cache": "write back",
        "fua": "1",
    },
    "nvme-960pro-class": {
        "rotational": "0",
        "logical_block_size": "512",
        "physical_block_size": "4096",
        "minimum_io_size": "4096",
        "optimal_io_size": str(16 * 4096),  # a page on each of 16 dies
        "discard_granularity": "4096",
        "discard_max_bytes": str(64 << 20),
        "write_cache": "write back",
        "fua": "1",
    },
}


@pytest.mark.parametrize("medium", EXPECTED)
def test_the_kernel_knows_what_the_profile_says(medium: str, study_file, tmp_path: Path) -> None:
    """A board has one CPU, so that there is one queue, however many the medium has."""
    found = seen(study_file, tmp_path, medium)
    assert {name: found[name] for name in EXPECTED[medium]} == EXPECTED[medium]
    assert {name: cpus for name, cpus in found.items() if name.startswith("mq/")} == {"mq/0": "0"}
    assert found["reads"] == str(READS_OF_A_CPU)


@pytest.mark.parametrize(
    ("medium", "queues"),
    [
        ("nvme-960pro-class", {"mq/0": "0", "mq/1": "1"}),
        ("nvme-960pro-class:queues=1", {"mq/0": "0, 1"}),
    ],
)
def test_two_cpus_have_a_queue_each_if_the_medium_has_two(
    medium: str, queues: dict[str, str], study_file, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """QEMU runs the two one after the other, which is good enough to see that no request is lost between them."""
    fixed = qemu.fixed_arguments
    monkeypatch.setattr(qemu, "fixed_arguments", lambda setup: [*fixed(setup), "-smp", "2"])
    found = seen(study_file, tmp_path, medium)
    assert {name: cpus for name, cpus in found.items() if name.startswith("mq/")} == queues
    assert found["reads"] == str(2 * READS_OF_A_CPU)
