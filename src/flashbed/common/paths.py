# SPDX-License-Identifier: Apache-2.0
"""Where the lab's own data files and its cache are, in a clone of the repository and in an installed wheel.

Data folders are profiles/, studies/, docs/, media/, kernel/, guest/, sfsload/, emulator/ and appliance/. Must not know
what is in them.
"""

import os
from pathlib import Path

from flashbed.common.errors import SetupError

_PACKAGE = Path(__file__).resolve().parent.parent


def data_root() -> Path:
    """The folder that holds the data folders: the clone's root, or `flashbed/_data` in an installed wheel."""
    clone = _PACKAGE.parent.parent
    if (clone / "pyproject.toml").is_file() and (clone / "profiles").is_dir():
        return clone
    return _PACKAGE / "_data"


def profiles() -> Path:
    """boards/, media/, filesystems/ and schedulers/ as shipped."""
    return data_root() / "profiles"


def studies() -> Path:
    """The studies as shipped."""
    return data_root() / "studies"


def docs() -> Path:
    """The documentation, which messages name as docs/PAGE."""
    return data_root() / "docs"


def media() -> Path:
    """Sources of the media core and of its host program."""
    return data_root() / "media"


def kernel() -> Path:
    """Sources of the kernel modules."""
    return data_root() / "kernel"


def guest() -> Path:
    """What runs inside: kernel configuration, init and runner."""
    return data_root() / "guest"


def sfsload() -> Path:
    """Sources of the load on NFS servers."""
    return data_root() / "sfsload"


def emulator() -> Path:
    """What makes QEMU's source the lab's emulator: patches, a clock, the devices."""
    return data_root() / "emulator"


def appliance() -> Path:
    """What the network-storage appliance is made of: the fragments of its kernel."""
    return data_root() / "appliance"


def licences() -> Path:
    """The texts of the licences."""
    return data_root() / "LICENSES"


def cache_root() -> Path:
    """FLASHBED_CACHE, else flashbed/ in XDG_CACHE_HOME, else ~/.cache/flashbed. Not made here.

    Raises SetupError if that names no folder.
    """
    chosen = os.environ.get("FLASHBED_CACHE")
    try:
        if chosen:
            root = Path(chosen).expanduser()
            if not root.is_absolute():
                why = "is relative, and would be another cache in each folder"
                raise SetupError(f"FLASHBED_CACHE={chosen}: {why}; set it to a full path, such as {root.absolute()}")
            if root.is_dir() or not root.exists():
                return root
            raise SetupError(f"FLASHBED_CACHE={chosen}: is no folder; set it to the path of one, or leave it out")
        base = os.environ.get("XDG_CACHE_HOME", "")
        # The XDG rules: a relative path there is to be ignored.
        return (Path(base) if Path(base).is_absolute() else Path.home() / ".cache") / "flashbed"
    except RuntimeError:
        what = (
            f"FLASHBED_CACHE={chosen}: there is no such user" if chosen else "this user has no home (HOME is not set)"
        )
    except OSError as error:
        what = f"the folder that flashbed runs in cannot be used: {error.strerror}"
    raise SetupError(f"{what}; set FLASHBED_CACHE to the path of a folder")
