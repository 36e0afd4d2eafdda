# SPDX-License-Identifier: Apache-2.0
"""What the kernel knows of a medium's queue is what its profile says: units, cache, rotation, how many queues."""

from __future__ import annotations

from pathlib import Path

import pytest
from guest_rig import STUDY, boot, new

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
cpu=0
while [ -d /sys/devices/system/cpu/cpu$cpu ]; do
	taskset $((1 << cpu)) dd if=/dev/mblk0 of=/dev/null iflag=direct bs=4k skip=$cpu count={READS_OF_A_CPU} &
	cpu=$((cpu + 1))
done
wait
echo "reads $(($(cat medium/host_reads) - before))" >>/out/mq
"""


def seen(study_file, folder: Path, medium: str, board: str = "arm64-1000") -> dict[str, str]:
    """Files of /sys/block/mblk0/queue and mq by name, and the reads of all CPUs, a number known to the test."""
    files = boot(new(study_file(STUDY, filesystem="ext2", medium=medium, board=board), folder), measure=MEASURE).files
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
    ("cpus", "medium", "queues"),
    [
        (2, "nvme-960pro-class", {"mq/0": "0", "mq/1": "1"}),
        (2, "nvme-960pro-class:queues=1", {"mq/0": "0, 1"}),
        (4, "nvme-960pro-class:queues=2", {"mq/0": "0, 2", "mq/1": "1, 3"}),
    ],
)
def test_cpus_share_out_the_queues_of_the_medium(
    cpus: int, medium: str, queues: dict[str, str], study_file, tmp_path: Path
) -> None:
    """And no request is lost between them."""
    found = seen(study_file, tmp_path, medium, f"arm64-1000:cpus={cpus}")
    assert {name: cpus for name, cpus in found.items() if name.startswith("mq/")} == queues
    assert found["reads"] == str(cpus * READS_OF_A_CPU)


INTERRUPTS = """
before=$(grep arch_timer /proc/interrupts)
taskset 4 dd if=/dev/mblk0 of=/dev/null iflag=direct bs=4k count=1000
printf "%s\n%s\n" "$before" "$(grep arch_timer /proc/interrupts)" >/out/timers
"""


@pytest.mark.parametrize("queues", [1, 4])
def test_a_request_is_completed_on_the_cpu_that_submitted_it(queues: int, study_file, tmp_path: Path) -> None:
    """1000 reads of a process on the third of four CPUs, which sleeps for 100 us in each: as many timers fire there,
    and on the others no more than their ticks.
    """
    medium = f"null-2g:command_ns=100000,queues={queues}"
    study = study_file(STUDY, filesystem="ext2", medium=medium, board="arm64-1000:cpus=4")
    lines = boot(new(study, tmp_path), measure=INTERRUPTS).files["timers"].decode().splitlines()
    before, after = ([int(word) for word in line.split()[1:5]] for line in lines)
    fired = [late - early for early, late in zip(before, after, strict=True)]
    assert fired[2] >= 1000
    assert max(fired[0], fired[1], fired[3]) < 100
