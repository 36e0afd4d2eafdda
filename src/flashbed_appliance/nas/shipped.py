# SPDX-License-Identifier: Apache-2.0
"""The settings that come with the project, and the description of a built appliance."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from flashbed.common import paths
from flashbed.common.errors import InputError
from flashbed_appliance.data_files import appliance_data
from flashbed_appliance.nas import settings as appliance_settings
from flashbed_appliance.nas import usage
from flashbed_appliance.nas.building import Appliance
from flashbed_appliance.nas.settings import Settings, UnsuitableError


def settings(file: Path | None) -> Settings:
    """Return the settings of `file`, or of appliance/trial.toml if there is none. Raises InputError."""
    return appliance_settings.read(file or appliance_data() / "trial.toml")


@contextmanager
def named(file: Path | None) -> Iterator[None]:
    """In the block, turn an UnsuitableError into an InputError that names the settings' file."""
    try:
        yield
    except UnsuitableError as error:
        raise InputError(f"{file}: {error.message}" if file else error.message) from None


def folder(architecture: str) -> Path:
    """Return the default directory of the disks of `nas run`."""
    return paths.cache_root() / "nas" / architecture


def describe(settings: Settings, appliance: Appliance) -> Iterator[str]:
    """Yield lines: the size in bytes, the parts of the initramfs, and a warning if nothing is exported."""
    yield f"{appliance.kernel}: {appliance.bytes:,} bytes"
    inside = ", ".join(f"{part} {size:,}" for part, size in appliance.parts.items() if size)
    yield f"unpacked, in bytes: {inside}"
    if not settings.exports:
        yield usage.NOTHING
