# SPDX-License-Identifier: Apache-2.0
"""The link between server and load, by itself: what it takes to send so many bytes, a round trip, and a full queue."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from flashbed.common import paths
from flashbed.image import guest_programs, toolchain
from flashbed.image.cache import Cache
from flashbed.image.debian import Archive
from tests.support.fixture_types import StudyWriter
from tests.support.guest_rig import NO_MOUNT, Rig, boot, new
from tests.support.repository import REPOSITORY

# It builds a kernel of its own first.
pytestmark = pytest.mark.long

STUDY = """
kernel = "6.1-nas"
[workload]
tool = "nfs"
load = 10
set_kb = 1
link_mbit = {mbit}
latency_us = {latency}
link_queue = {queue}
"""

AROUND_BYTES = 14 + 4 + 8 + 12
"""Header, check sum, preamble and gap of a frame (IEEE 802.3)."""

PAYLOAD_BYTES = 1500 - 20 - 8
FRAME_BYTES = 1500 + AROUND_BYTES

BEGIN = """
cp /job/datagrams /tmp/datagrams
. /job/nfs
take_cpu
link_up || exit
other="taskset $LOAD_CPU /bin/ip netns exec load"
/tmp/datagrams echo 3 &
usleep 10000
$other /tmp/datagrams ping $SERVER 3 100 # addresses are known from here on
wait
"""

SENT = (
    BEGIN
    + """
/tmp/datagrams receive >/out/received &
usleep 10000
$other /tmp/datagrams send $SERVER {many} {payload}
wait
$other /sbin/tc -s qdisc show dev client >/out/queue
"""
)

ROUND_TRIP = (
    BEGIN
    + """
/tmp/datagrams echo 100 &
usleep 10000
$other /tmp/datagrams ping $SERVER 100 {payload} >/out/round_trip
wait
"""
)


@pytest.fixture
def datagrams() -> bytes:
    archive = Archive(paths.cache_root() / f"debian-{toolchain.ARCHITECTURE}", toolchain.ARCHITECTURE)
    source = REPOSITORY / "tests/guest" / "datagrams.c"
    return guest_programs.own(Cache(paths.cache_root() / "image"), archive, source).path("datagrams").read_bytes()


def rig_of(study_file: StudyWriter, folder: Path, mbit: int, latency: int = 20, queue: int = 1000) -> Rig:
    study = STUDY.format(mbit=mbit, latency=latency, queue=queue)
    return new(
        study_file(study, filesystem="ext2", medium="usb-stick-2g:interface=sata", board="arm64-2x1000"),
        folder / "guest",
    )


@pytest.mark.parametrize("mbit", [100, 1000])
def test_frames_take_their_time_on_the_wire(
    study_file: StudyWriter, tmp_path: Path, datagrams: bytes, mbit: int
) -> None:
    rig, many = rig_of(study_file, tmp_path, mbit), 1000
    script = SENT.format(many=many, payload=PAYLOAD_BYTES)
    files = boot(rig, beside={"datagrams": datagrams}, prepare="", measure=script, mount=NO_MOUNT).files
    came, took_ns = map(int, files["received"].split())
    assert came == many
    assert took_ns == pytest.approx((many - 1) * FRAME_BYTES * 8 * 1000 / mbit, rel=0.005)


def test_a_round_trip_is_twice_the_latency_and_the_frame(
    study_file: StudyWriter, tmp_path: Path, datagrams: bytes
) -> None:
    rig, payload, latency_us = rig_of(study_file, tmp_path, 100, latency=500), 100, 500
    script = ROUND_TRIP.format(payload=payload)
    files = boot(rig, beside={"datagrams": datagrams}, prepare="", measure=script, mount=NO_MOUNT).files
    wire_us = 2 * (latency_us + (payload + 28 + AROUND_BYTES) * 8 / 100)
    # What both ends compute comes on top: sending, receiving, waking up
    assert wire_us < int(files["round_trip"]) / 1000 < wire_us + 100


def test_what_finds_the_queue_full_is_lost(study_file: StudyWriter, tmp_path: Path, datagrams: bytes) -> None:
    rig, queue, many = rig_of(study_file, tmp_path, 10, queue=10), 10, 60
    script = SENT.format(many=many, payload=PAYLOAD_BYTES)
    files = boot(rig, beside={"datagrams": datagrams}, prepare="", measure=script, mount=NO_MOUNT).files
    came, _ = map(int, files["received"].split())
    (dropped,) = re.findall(rb"dropped (\d+)", files["queue"])
    assert came + int(dropped) == many
    # A frame takes 1.23 ms there, and they are handed in much faster than that
    assert queue <= came <= queue + 3
