# SPDX-License-Identifier: Apache-2.0
"""How small a kernel and its modules become, by program that packs them.

Knows files and bytes only.
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from flashbed.common.errors import SetupError
from flashbed.common.progress import stage
from flashbed.image.command import GZIP, packed_bytes
from flashbed_appliance.shrinking.architecture import Architecture
from flashbed_appliance.shrinking.building import SmallKernel

PROGRAMS: Mapping[str, tuple[str, ...]] = {
    "gzip": GZIP,
    "bzip2": ("bzip2", "-9", "-c"),
    "lz4": ("lz4", "-l", "-9", "-c"),
    "lzo": ("lzop", "-9", "-c"),
    "zstd": ("zstd", "--ultra", "-22", "-q", "-c"),
}
"""As Linux's own build calls them, or with more effort; each writes to standard output."""


def programs(target: Architecture) -> dict[str, tuple[str, ...]]:
    """All that pack a kernel, xz as it is best for an architecture: for any that unpacks, and with a filter."""
    xz = ("xz", "--check=crc32")
    lzma = ("xz", "--format=lzma", f"--lzma1={target.lzma2}", "-c")
    lzma2 = (f"--lzma2={target.lzma2}", "-c")
    return {**PROGRAMS, "lzma": lzma, XZ: (*xz, *lzma2), f"xz {target.filter}": (*xz, target.filter, *lzma2)}


XZ = "xz"

SERVER = ("nfsd", "lockd", "sunrpc", "grace", "exportfs", "nfs_acl", "oid_registry", "auth_rpcgss")
"""The modules that the NFS server is, where it is no part of the image: they count with it."""


@dataclass(frozen=True)
class Sizes:
    """In bytes. `image`: as a loader takes it, packed. `raw`: what is packed. `modules`: each as an .xz file. `by`: the
    raw image by program, for those that this host has. `lacking`: of each other program, why there is no figure.
    """

    image: int
    raw: int
    modules: dict[str, int]
    by: dict[str, int]
    lacking: dict[str, str] = field(default_factory=dict)

    @property
    def server(self) -> int:
        """The image and the NFS server's modules: the kernel that serves."""
        return self.image + sum(size for name, size in self.modules.items() if name in SERVER)


def sizes(kernel: SmallKernel) -> Sizes:
    """Of a built kernel."""
    raw = kernel.raw
    known = programs(kernel.architecture)
    with stage(f"Packing the kernel for {kernel.architecture.name}"):
        by, lacking = _by_program(raw, known)
    image = kernel.image.stat().st_size if kernel.architecture.packs_itself else by[XZ]
    modules = {name: packed_bytes(file, known[XZ]) for name, file in kernel.modules.items()}
    return Sizes(image, raw.stat().st_size, modules, by, lacking)


def _by_program(raw: Path, known: Mapping[str, tuple[str, ...]]) -> tuple[dict[str, int], dict[str, str]]:
    """What each of `known` makes of it, and of those that cannot why. Raises SetupError for xz, which all need."""
    by, lacking = {XZ: packed_bytes(raw, known[XZ])}, {}
    for name, command in known.items():
        if name == XZ:
            continue
        if shutil.which(command[0]) is None:
            lacking[name] = f"{command[0]} is not installed"
            continue
        try:
            by[name] = packed_bytes(raw, command)
        except SetupError:
            lacking[name] = f"this {command[0]} has not all of {' '.join(command[1:])}"
    return by, lacking
