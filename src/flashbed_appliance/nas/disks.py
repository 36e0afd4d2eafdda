# SPDX-License-Identifier: Apache-2.0
"""Make the image files of an appliance's disks under QEMU. Each is created and formatted once, then left unchanged."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from itertools import takewhile
from pathlib import Path

from flashbed.common import programs
from flashbed.common.errors import InputError, SetupError, host_refusal
from flashbed.image.command import run
from flashbed_appliance.nas.settings import Disk, UnsuitableError

MOST = 26
"""Disks under QEMU, one for each letter: vda to vdz."""
NOBODY = 65534
SUPERBLOCK_ROOM = 128 << 10
"""Bytes reserved for a mirror's superblock at the end of a member."""
SMALLEST_BYTES = 8 << 20


def images(disks: Mapping[str, Disk], folder: Path, size_bytes: int) -> list[Path]:
    """Return the images in the order of their devices. Create those that are missing with `size_bytes`.

    The root of each file system belongs to NOBODY, the user to whom a client's root is mapped. Raises InputError as
    `files` does.
    """
    images, devices = files(disks, folder, size_bytes), _by_device(disks)
    for file, device in zip(images, sorted(devices), strict=False):
        _make(devices[device], file, size_bytes)
    return images


def files(disks: Mapping[str, Disk], folder: Path, size_bytes: int) -> list[Path]:
    """Return the paths of the images in the order of their devices, without creating any. The disks of LVM volumes are
    never created: every existing image after those of the devices counts as one of them.

    Raises InputError for devices that QEMU does not have, for a size without room for a file system, and if there are
    volumes and no image that could hold them.
    """
    if size_bytes < SMALLEST_BYTES:
        raise InputError(f"--size: a disk needs at least {SMALLEST_BYTES >> 20}M")
    devices = _by_device(disks)
    volumes = [disk.volume for disk in disks.values() if disk.volume]
    if len(devices) + bool(volumes) > MOST:
        raise UnsuitableError(f"the settings have too many disks: under QEMU there are at most {MOST}; use fewer")
    device_names = [_device(number) for number in range(len(devices))]
    if sorted(devices) != device_names:
        raise UnsuitableError(
            f"under QEMU the disks are {', '.join(device_names)}, without gaps; the settings name "
            f"{', '.join(sorted(devices))}. Give `nas run` settings with QEMU's names."
        )
    images = [_file(folder, device) for device in device_names]
    for file in images:
        if file.is_dir():
            raise InputError(f"{file}: is a directory, but a disk image has this name; give another --folder")
    return [*images, *_with_volumes(volumes, folder, len(images))] if volumes else images


def _by_device(disks: Mapping[str, Disk]) -> dict[str, Disk]:
    return {device: disk for disk in disks.values() for device in (disk.device, *disk.mirror) if device}


def _device(number: int) -> str:
    return f"/dev/vd{chr(ord('a') + number)}"


def _file(folder: Path, device: str) -> Path:
    return folder / f"{device.removeprefix('/dev/')}.img"


def _with_volumes(volumes: Sequence[str], folder: Path, first: int) -> list[Path]:
    """Return the existing images from number `first` on. They must exist: LVM makes groups of block devices only, which
    needs root on this host.
    """
    places = [_file(folder, _device(number)) for number in range(first, MOST)]
    images = list(takewhile(Path.exists, places))
    if not images:
        names = ", ".join(place.name for place in places[:2])
        raise InputError(
            f"{places[0]}: no such file. `nas run` does not create volumes: put the disks of {', '.join(volumes)} into "
            f"that directory as {names} and so on; docs/appliance.md says how to make them."
        )
    return images


def _make(disk: Disk, file: Path, size_bytes: int) -> None:
    if file.exists():
        return
    part = file.with_suffix(".part")
    mke2fs = programs.find("mke2fs")
    if mke2fs is None:
        raise SetupError("mke2fs is not installed: apt-get install e2fsprogs")
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        with part.open("wb") as made:
            made.truncate(size_bytes)
        blocks = (size_bytes - (SUPERBLOCK_ROOM if disk.mirror else 0)) // 4096
        owner = f"root_owner={NOBODY}:{NOBODY}"
        # Members of a mirror are equal: the same UUID, and no random seed for the hash of directories
        same = ["-U", "6e617364-6174-6100-0000-000000000000"] if disk.mirror else []
        seed = ",hash_seed=6e617364-6174-6100-0000-000000000000" if disk.mirror else ""
        options = ["-b", "4096", "-m", "0", "-E", f"{owner}{seed}", *same]
        command = [mke2fs, "-q", "-F", "-t", disk.filesystem, *options, part.name, str(blocks)]
        run(command, cwd=file.parent, env={"E2FSPROGS_FAKE_TIME": "1"})
        part.rename(file)
    except OSError as error:
        raise host_refusal(file, error) from None
    finally:
        with contextlib.suppress(OSError):
            part.unlink(missing_ok=True)
