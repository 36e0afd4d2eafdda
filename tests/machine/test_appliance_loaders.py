# SPDX-License-Identifier: Apache-2.0
"""The appliance's one file is started by the loaders that boards and PCs have: U-Boot and GRUB of Debian, in the steps
that docs/appliance.md has.
"""

from __future__ import annotations

import gzip
import re
import shutil
from dataclasses import dataclass
from pathlib import Path

import pytest

from flashbed_appliance.nas import building, disks, qemu, settings, shipped
from flashbed_appliance.nas.ports import Ports
from tests.support.appliance_machines import PC, SIZE_BYTES, medium, pc, sata_medium, serves, some_ports, uefi, unpacked
from tests.support.repository import REPOSITORY

# It builds kernels of its own first.
pytestmark = pytest.mark.long

PAGE = REPOSITORY / "docs/appliance.md"

GRUB_MENU = """\
serial
terminal_output serial
search --file --set=root /appliance
{steps}
"""

EXTLINUX = """\
DEFAULT nas
LABEL nas
  KERNEL /Image
"""


def steps(loader: str) -> str:
    """Return the commands that the page says to type, without the comments behind `#`."""
    section = PAGE.read_text().split(f"**{loader}")[1]
    block = re.search(r"```\n(.*?)```", section, re.DOTALL)
    assert block
    return "".join(line.partition("#")[0].rstrip() + "\n" for line in block[1].splitlines())


@dataclass
class Board:
    """A machine with U-Boot, and the folder of its medium, empty; it has no disk of that folder yet."""

    kernel: Path
    place: Path
    ports: Ports
    command: list[str]


@pytest.fixture
def board(tmp_path: Path) -> Board:
    trial, ports, place = shipped.settings(None), some_ports(), tmp_path / "medium"
    appliance = building.bootable(trial, "arm64", tmp_path)
    (image,) = disks.images(trial.disks, tmp_path, SIZE_BYTES)
    command = qemu.command(appliance, [image], ports.forwarded(trial), "127.0.0.1", ["-serial", "stdio"])
    at = command.index("-kernel")
    firmware = unpacked("u-boot-qemu", tmp_path / "loader") / "usr/lib/u-boot/qemu_arm64/u-boot.bin"
    command[at : at + 2] = ["-bios", str(firmware)]
    command[command.index("-m") + 1] = "256M"
    place.mkdir()
    return Board(appliance.kernel, place, ports, command)


def test_u_boot_does_what_a_person_types(board: Board) -> None:
    shutil.copy(board.kernel, board.place / "appliance")
    typed = "\n\n" + steps("U-Boot").replace("mmc 0:1", "virtio 1:1")
    assert "U-Boot 20" in serves([*board.command, *medium(board.place)], board.ports, typed)


def test_u_boot_finds_it_by_itself(board: Board) -> None:
    """Unpacked, by the file that boards with a standard boot look for; this one on its first SATA disk."""
    (board.place / "Image").write_bytes(gzip.decompress(board.kernel.read_bytes()))
    (board.place / "extlinux").mkdir()
    (board.place / "extlinux/extlinux.conf").write_text(EXTLINUX)
    assert "U-Boot 20" in serves([*board.command, *sata_medium(board.place)], board.ports)


def test_grub(tmp_path: Path) -> None:
    """Debian's GRUB for UEFI, which has its modules in it and takes its menu from the folder of its distribution."""
    (tmp_path / "nas.toml").write_text(PC)
    settings_, ports = settings.read(tmp_path / "nas.toml"), some_ports()
    appliance = building.bootable(settings_, "x86_64", tmp_path)
    (image,) = disks.images({"data": settings.Disk(device="/dev/vda")}, tmp_path, SIZE_BYTES)
    place = tmp_path / "medium"
    (place / "EFI/BOOT").mkdir(parents=True)
    (place / "EFI/debian").mkdir()
    grub = unpacked("grub-efi-amd64-bin", tmp_path / "loader") / "usr/lib/grub/x86_64-efi/monolithic/grubx64.efi"
    shutil.copy(grub, place / "EFI/BOOT/BOOTX64.EFI")
    (place / "EFI/debian/grub.cfg").write_text(GRUB_MENU.format(steps=steps("PC, by GRUB.")))
    shutil.copy(appliance.kernel, place / "appliance")
    serves([*pc(settings_, image, ports), *uefi(tmp_path / "ovmf"), *medium(place)], ports)
