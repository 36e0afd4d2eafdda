# SPDX-License-Identifier: Apache-2.0
"""The settings that come with the project, and what is said of an appliance that was built."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from flashbed.common import paths
from flashbed.common.errors import InputError
from flashbed_appliance.nas import settings as appliance_settings
from flashbed_appliance.nas import usage
from flashbed_appliance.nas.building import Appliance
from flashbed_appliance.nas.settings import Settings, UnsuitableError


def settings(file: Path | None) -> Settings:
    """Those of a file; without one those for a trial under QEMU, appliance/trial.toml. Raises InputError."""
    return appliance_settings.read(file or paths.appliance() / "trial.toml")


@contextmanager
def named(file: Path | None) -> Iterator[None]:
    """In the block, settings that do not suit are told with their file."""
    try:
        yield
    except UnsuitableError as error:
        raise InputError(f"{file}: {error.message}" if file else error.message) from None


def folder(architecture: str) -> Path:
    """Where `nas run` keeps disks if it is told no folder."""
    return paths.cache_root() / "nas" / architecture


def describe(settings: Settings, appliance: Appliance) -> Iterator[str]:
    """Lines: its bytes, what is in the first file system, and what its owner may have forgotten."""
    yield f"{appliance.kernel}: {appliance.bytes:,} bytes"
    inside = ", ".join(f"{part} {size:,}" for part, size in appliance.parts.items() if size)
    yield f"unpacked, in bytes: {inside}"
    if not settings.exports:
        yield usage.NOTHING
