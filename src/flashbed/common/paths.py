# SPDX-License-Identifier: Apache-2.0
"""Locate the lab's data files and its cache, in a clone of the repository and in an installed wheel.

Data directories are profiles/, studies/, workloads/, docs/, media/, kernel/, guest/, sfsload/ and emulator/. Must not
know their content.
"""

import os
from importlib.util import find_spec
from pathlib import Path

from flashbed.common.errors import SetupError

_PACKAGE = Path(__file__).resolve().parent.parent


def data_root() -> Path:
    """Return the parent of the data directories: the clone's root, or `flashbed/_data` in an installed wheel."""
    clone = _PACKAGE.parent.parent
    if (clone / "pyproject.toml").is_file() and (clone / "profiles").is_dir():
        return clone
    return _PACKAGE / "_data"


def profiles() -> Path:
    """Return the directory of shipped profiles: boards/, media/, filesystems/ and schedulers/."""
    return data_root() / "profiles"


def studies() -> Path:
    """Return the directory of shipped studies."""
    return data_root() / "studies"


def loads() -> Path:
    """Return the directory of the ready-made loads."""
    return data_root() / "workloads"


def docs() -> Path:
    """Return the directory of the documentation, which messages call docs/."""
    return data_root() / "docs"


def media() -> Path:
    """Return the sources of the media core and of its host program."""
    return data_root() / "media"


def kernel() -> Path:
    """Return the sources of the kernel modules."""
    return data_root() / "kernel"


def guest() -> Path:
    """Return the files of the guest: kernel configuration, init and runner."""
    return data_root() / "guest"


def sfsload() -> Path:
    """Return the sources of the load on NFS servers."""
    return data_root() / "sfsload"


def emulator() -> Path:
    """Return the files that turn QEMU's source into the lab's emulator: patches, a clock, the devices."""
    return data_root() / "emulator"


def licences() -> Path:
    """Return the directory of licence texts."""
    return data_root() / "LICENSES"


def checkers() -> Path:
    """Return the directory of file system checkers from an imported image (packs/image_file.py). It is missing if no
    image was imported. Raises SetupError as `cache_root`.
    """
    return cache_root() / "checkers" / "bin"


def given_image() -> Path | None:
    """Return the image of guests to import: the file that FLASHBED_IMAGE names, else that of the installed package
    flashbed_image; None if there is neither.
    """
    if file := os.environ.get("FLASHBED_IMAGE"):
        return Path(file)
    package = find_spec("flashbed_image")
    return Path(package.origin).parent / "image.flashbed" if package and package.origin else None


def cache_root() -> Path:
    """Return FLASHBED_CACHE, else flashbed/ in XDG_CACHE_HOME, else ~/.cache/flashbed. Do not create it.

    Raises SetupError if that is not a directory.
    """
    chosen = os.environ.get("FLASHBED_CACHE")
    try:
        if chosen:
            root = Path(chosen).expanduser()
            if not root.is_absolute():
                why = "is relative, and would be another cache in each folder"
                remedy = f"set it to a full path, such as {root.absolute()}"
                raise SetupError(f"FLASHBED_CACHE={chosen}: {why}", remedy=remedy)
            if root.is_dir() or not root.exists():
                return root
            remedy = "set it to the path of one, or unset it"
            raise SetupError(f"FLASHBED_CACHE={chosen}: is not a directory", remedy=remedy)
        base = os.environ.get("XDG_CACHE_HOME", "")
        # The XDG specification says to ignore a relative path
        return (Path(base) if Path(base).is_absolute() else Path.home() / ".cache") / "flashbed"
    except RuntimeError:
        problem = (
            f"FLASHBED_CACHE={chosen}: there is no such user" if chosen else "this user has no home (HOME is not set)"
        )
    except OSError as error:
        problem = f"the folder that flashbed runs in cannot be used: {error.strerror}"
    raise SetupError(problem, remedy="set FLASHBED_CACHE to the path of a folder")
