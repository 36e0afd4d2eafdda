# SPDX-License-Identifier: Apache-2.0
"""A server of files and its load in one guest: what is measured repeats, and each machine works on its own CPU."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from flashbed.execution import run
from flashbed.execution.repetition import Finished
from flashbed.guest_output import limit
from flashbed.profiles.kernel_choice import NAS_KERNELS
from flashbed.study.loading import load_study
from tests.support.fixture_types import Measure, StudyWriter
from tests.support.own_cache import FLASHBED

# It builds a kernel of its own first.
pytestmark = pytest.mark.long

STUDY = """
    kernel = "{kernel}"
    [workload]
    tool = "nfs"
    server = "{server}"
    version = {version}
    transport = "{transport}"
    load = 200
    set_kb = 10
    warm_s = 1
    time_s = 2
"""

MEMORY_ANSWERS = """
    cache = "{}"
    export = "async"
"""

CELLS = {
    "v2-udp": ("6.1-nas", "kernel", 2, "udp"),
    "v3-tcp": ("6.1-nas", "kernel", 3, "tcp"),
    "ganesha": ("6.1-nas", "ganesha", 3, "tcp"),
    "debian": ("6.1-debian", "kernel", 3, "udp"),
}

SHARED = 0.02
"""Of the packets, so many may be received by the other CPU: what is sent before both ends are bound, such as ARP."""


def measured(study_file: StudyWriter, measure: Measure, folder: Path, name: str, more: str = "") -> Finished:
    kernel, server, version, transport = CELLS[name]
    body = STUDY.format(kernel=kernel, server=server, version=version, transport=transport) + more
    top = {"filesystem": "ext2", "medium": "usb-stick-2g:interface=sata", "board": "arm64-2x1000"}
    (repetition,) = run.prepare(load_study(study_file(body, **top)))
    finished: Finished = measure(repetition, folder, limit_s=900)
    return finished


@pytest.mark.parametrize("kernel", NAS_KERNELS)
def test_the_command_builds_what_a_guest_of_it_may_have(kernel: str) -> None:
    """They have no part in disks that a scheduler or another file system's module could be built for."""
    done = subprocess.run([FLASHBED, "image", "build", "--kernel", kernel], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert re.search(r"^tools-.*sfsload.*: ", done.stdout, re.MULTILINE), done.stdout


@pytest.mark.parametrize("name", CELLS)
def test_each_server_meets_a_load_that_is_no_burden(
    study_file: StudyWriter, measure: Measure, tmp_path: Path, name: str
) -> None:
    result = measured(study_file, measure, tmp_path / "run", name).result
    metrics = result.measurement.metrics
    assert result.check == ""
    # What is under way at one end of the measured time is answered at its other end, a few calls more or less
    assert metrics["operations"] == pytest.approx(metrics["offered_operations"], rel=0.03)
    assert metrics["offered_operations"] > 150
    assert metrics["retransmissions"] == 0
    assert metrics["mix_off_percent"] < 100
    assert 0 < metrics["lookup_call_us"] < metrics["latency_max_us"]
    assert metrics["kernel_packed_bytes"] > 1_400_000  # what xz, which packs better, makes of the smaller of the two
    assert 0 < metrics["boot_s"] < 2
    assert 0 < metrics["server_cpu_percent"] < 50


def test_what_is_read_before_the_load_is_no_part_of_it(
    study_file: StudyWriter, measure: Measure, tmp_path: Path
) -> None:
    cold, warm = (
        measured(study_file, measure, tmp_path / how, "v2-udp", MEMORY_ANSWERS.format(how)).result.measurement.metrics
        for how in ("cold", "read")
    )
    assert cold["medium_read_bytes"] > 200_000
    assert warm["medium_read_bytes"] < cold["medium_read_bytes"] / 10
    assert warm["busy_medium_percent"] < cold["busy_medium_percent"] / 10


def test_a_link_is_as_busy_as_its_speed_makes_it_and_limits_when_it_is_full(
    study_file: StudyWriter, measure: Measure, tmp_path: Path
) -> None:
    """The load asks for some 3 Mbit/s from the server."""
    rates = {
        mbit: measured(
            study_file, measure, tmp_path / f"{mbit}", "v3-tcp", f"link_mbit = {mbit}"
        ).result.measurement.metrics
        for mbit in (2, 10, 20)
    }
    busy = {mbit: metrics["busy_link_percent"] for mbit, metrics in rates.items()}
    assert busy[10] == pytest.approx(2 * busy[20], rel=0.05)
    assert busy[2] > 95
    assert limit.limit(rates[2], "either", pio=False) == "link"


def test_a_repetition_repeats_to_the_bit(study_file: StudyWriter, measure: Measure, tmp_path: Path) -> None:
    first, other = (measured(study_file, measure, tmp_path / name, "v3-tcp") for name in ("first", "other"))
    assert first.files == other.files
    assert first.result == other.result


def test_each_machine_receives_on_its_own_cpu(study_file: StudyWriter, measure: Measure, tmp_path: Path) -> None:
    files = measured(study_file, measure, tmp_path / "run", "v2-udp").files
    sent_by_server, sent_by_load = map(int, re.findall(rb"Sent \d+ bytes (\d+) pkt", files["out/link.txt"]))
    received = [int(line.split()[0], 16) for line in files["out/softnet.txt"].splitlines()]
    assert min(sent_by_server, sent_by_load) > 500
    # In between are the few that both ends send to themselves: mountd and the server to the portmapper
    assert received[1] == pytest.approx(sent_by_server, rel=SHARED)
    assert received[0] >= sent_by_load * (1 - SHARED)
