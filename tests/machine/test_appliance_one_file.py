# SPDX-License-Identifier: Apache-2.0
"""The appliance as one file boots without another file or a word from a loader, and serves: on QEMU's microvm and virt,
and on a PC of QEMU's, by its BIOS and by UEFI.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from flashbed_appliance.nas import building, disks, qemu, settings, shipped
from tests.support.appliance_machines import PC, SIZE_BYTES, medium, pc, serves, some_ports, uefi

# It builds kernels of its own first.
pytestmark = pytest.mark.long


@pytest.mark.parametrize("name", ["x86_64", "arm64"])
def test_one_file_serves_on_a_virtual_machine(name: str, tmp_path: Path) -> None:
    trial, ports = shipped.settings(None), some_ports()
    appliance = building.bootable(trial, name, tmp_path)
    images = disks.images(trial.disks, tmp_path, SIZE_BYTES)
    command = qemu.command(appliance, images, ports.forwarded(trial), "127.0.0.1", ["-serial", "stdio"])
    assert not {"-initrd", "-append"} & set(command)
    serves(command, ports)


def test_one_file_serves_on_a_pc(tmp_path: Path) -> None:
    (tmp_path / "nas.toml").write_text(PC)
    settings_, ports = settings.read(tmp_path / "nas.toml"), some_ports()
    appliance = building.bootable(settings_, "x86_64", tmp_path)
    (image,) = disks.images({"data": settings.Disk(device="/dev/vda")}, tmp_path, SIZE_BYTES)
    serves([*pc(settings_, image, ports), "-kernel", str(appliance.kernel)], ports)
    place = tmp_path / "medium/EFI/BOOT"
    place.mkdir(parents=True)
    shutil.copy(appliance.kernel, place / "BOOTX64.EFI")
    serves([*pc(settings_, image, ports), *uefi(tmp_path / "ovmf"), *medium(tmp_path / "medium")], ports)
