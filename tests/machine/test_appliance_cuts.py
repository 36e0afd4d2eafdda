# SPDX-License-Identifier: Apache-2.0
"""The power of the appliance goes while a client writes, and makes, renames and removes files and folders: what was
COMMITted is there afterwards, and so is each change of a folder that was answered; the file system is whole after its
journal was replayed, and the client goes on with the handles that it has.

The disk forgets what was not flushed, by chance (tests/support/power_log.py). FLASHBED_SEED is the first seed,
FLASHBED_CUTS how often the power goes.
"""

from __future__ import annotations

import os
import random
import threading
from pathlib import Path

import pytest

from flashbed_appliance.nas import building, disks, qemu, shipped
from flashbed_appliance.nas.building import Appliance
from tests.support import power_log
from tests.support.appliance_machines import SIZE_BYTES, client_of, some_ports
from tests.support.careful_client import started

# It builds a kernel of its own first.
pytestmark = pytest.mark.long


@pytest.fixture
def appliance(architecture: str, tmp_path: Path) -> Appliance:
    return building.build(shipped.settings(None), architecture, tmp_path / "nas")


def test_power_goes_while_a_client_writes(appliance: Appliance, tmp_path: Path) -> None:
    first, cuts = int(os.environ.get("FLASHBED_SEED", "1")), int(os.environ.get("FLASHBED_CUTS", "100"))
    dice = random.Random(first)
    (image,) = disks.images(shipped.settings(None).disks, tmp_path, SIZE_BYTES)
    disk = power_log.Disk(image, tmp_path, dice)
    ports = some_ports()
    forwarded = ports.forwarded(shipped.settings(None))
    client = client_of(ports, dice)
    for number in range(cuts):
        command = qemu.command(appliance, [image], forwarded, "127.0.0.1", ["-serial", "stdio"])
        lines: list[str] = []
        with started(disk.logged(command), lines) as machine:
            if number:
                client.look()
            else:
                client.make_files()
            threading.Timer(dice.uniform(0.05, 1.5), machine.kill).start()
            client.write_on()
            machine.wait()
        disk.cut()
    assert client.commits >= cuts
    assert client.names is not None
    assert client.names.answered >= cuts
    assert disk.lost or cuts < 20  # else the cuts were none: most writes are followed by a flush at once
    answers = f"{client.commits} commits, {client.names.answered} changes of folders"
    print(f"{cuts} cuts: {answers}, {disk.lost} writes lost that no flush came after")
