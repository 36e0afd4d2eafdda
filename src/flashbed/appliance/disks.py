# SPDX-License-Identifier: Apache-2.0
"""Image files for an appliance's disks under QEMU: made and formatted once, then left as they are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import takewhile
from pathlib import Path

from flashbed.appliance.settings import Disk
from flashbed.common import programs
from flashbed.common.errors import InputError, SetupError, host_refusal
from flashbed.image.command import run

MOST = 26
"""Disks, by letters."""
NOBODY = 65534
SUPERBLOCK_ROOM = 128 << 10
"""What a mirror's superblock may take at the end of a member."""
SMALLEST_BYTES = 8 << 20


def images(disks: Mapping[str, Disk], folder: Path, size_bytes: int) -> list[Path]:
    """The images in the order of their devices; those that are missing are made, `size_bytes` large. Those of volumes
    are not made: all images that are there behind those of the devices are taken for theirs.

    The root of each file system belongs to nobody, as whom a client's root comes. Raises InputError for devices that
    QEMU does not have here, for a size without room for a file system, and where no image can have the volumes.
    """
    if size_bytes < SMALLEST_BYTES:
        raise InputError(f"--size: a disk needs {SMALLEST_BYTES >> 20}M at least")
    devices = {device: disk for disk in disks.values() for device in (disk.device, *disk.mirror) if device}
    wanted = [_device(number) for number in range(len(devices))]
    if sorted(devices) != wanted:
        raise InputError(
            f"under QEMU the disks are {', '.join(wanted)}, one after the other; the settings name "
            f"{', '.join(sorted(devices))}. Give `nas run` a file with those names."
        )
    made = [_image(devices[device], _file(folder, device), size_bytes) for device in wanted]
    volumes = [disk.volume for disk in disks.values() if disk.volume]
    return [*made, *_with_volumes(volumes, folder, len(made))] if volumes else made


def _device(number: int) -> str:
    return f"/dev/vd{chr(ord('a') + number)}"


def _file(folder: Path, device: str) -> Path:
    return folder / f"{device.removeprefix('/dev/')}.img"


def _with_volumes(volumes: Sequence[str], folder: Path, first: int) -> list[Path]:
    """LVM makes groups of block devices only, for which this host would want root."""
    files = [_file(folder, _device(number)) for number in range(first, MOST)]
    found = list(takewhile(Path.exists, files))
    if not found:
        raise InputError(
            f"{files[0]}: is not there. Volumes are not made here: put the disks of {', '.join(volumes)} into "
            f"that folder, as {files[0].name}, {files[1].name} and so on; docs/appliance.md says how to make them."
        )
    return found


def _image(disk: Disk, file: Path, size_bytes: int) -> Path:
    if file.exists():
        return file
    part = file.with_suffix(".part")
    mke2fs = programs.found("mke2fs")
    if mke2fs is None:
        raise SetupError("mke2fs is not installed: apt-get install e2fsprogs")
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        with part.open("wb") as made:
            made.truncate(size_bytes)
        blocks = (size_bytes - (SUPERBLOCK_ROOM if disk.mirror else 0)) // 4096
        owner = f"root_owner={NOBODY}:{NOBODY}"
        # Members of a mirror are equal: the same identity, no random seed of folders
        same = ["-U", "6e617364-6174-6100-0000-000000000000"] if disk.mirror else []
        seed = ",hash_seed=6e617364-6174-6100-0000-000000000000" if disk.mirror else ""
        options = ["-b", "4096", "-m", "0", "-E", f"{owner}{seed}", *same]
        run([mke2fs, "-q", "-F", "-t", disk.filesystem, *options, part, str(blocks)], env={"E2FSPROGS_FAKE_TIME": "1"})
        part.rename(file)
    except OSError as error:
        raise host_refusal(file, error) from None
    return file
