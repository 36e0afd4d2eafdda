# SPDX-License-Identifier: Apache-2.0
"""Pack a kernel and its modules by several programs, and measure the sizes.

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
from flashbed_appliance.shrinking.kernel_build import SmallKernel

PROGRAMS: Mapping[str, tuple[str, ...]] = {
    "gzip": GZIP,
    "bzip2": ("bzip2", "-9", "-c"),
    "lz4": ("lz4", "-l", "-9", "-c"),
    "lzo": ("lzop", "-9", "-c"),
    "zstd": ("zstd", "--ultra", "-22", "-q", "-c"),
}
"""Packing programs, called as Linux's own build does or with more effort; each writes to standard output."""


def programs(target: Architecture) -> dict[str, tuple[str, ...]]:
    """Return all packing programs. xz comes twice: with options that any decompressor takes, and with the
    architecture's branch filter.
    """
    xz = ("xz", "--check=crc32")
    lzma = ("xz", "--format=lzma", f"--lzma1={target.lzma2}", "-c")
    lzma2 = (f"--lzma2={target.lzma2}", "-c")
    return {**PROGRAMS, "lzma": lzma, XZ: (*xz, *lzma2), f"xz {target.filter}": (*xz, target.filter, *lzma2)}


XZ = "xz"

SERVER = ("nfsd", "lockd", "sunrpc", "grace", "exportfs", "nfs_acl", "oid_registry", "auth_rpcgss")
"""The modules of the NFS server, if it is not built in: they count with the image."""


@dataclass(frozen=True)
class Sizes:
    """Sizes of a kernel in bytes.

    `image` is the packed file for a loader, `raw` the unpacked kernel. `modules` has each module as an .xz file, and
    `by` the packed kernel by program, for the programs that this host has. `lacking` has the reason for each other
    program.
    """

    image: int
    raw: int
    modules: dict[str, int]
    by: dict[str, int]
    lacking: dict[str, str] = field(default_factory=dict)

    @property
    def server(self) -> int:
        """Return the size of the image and the NFS server's modules together."""
        return self.image + sum(size for name, size in self.modules.items() if name in SERVER)


def sizes(kernel: SmallKernel) -> Sizes:
    """Measure the sizes of a built kernel."""
    raw = kernel.raw
    known = programs(kernel.architecture)
    with stage(f"Packing the kernel for {kernel.architecture.name}"):
        by, lacking = _by_program(raw, known)
    image = kernel.image.stat().st_size if kernel.architecture.packs_itself else by[XZ]
    modules = {name: packed_bytes(file, known[XZ]) for name, file in kernel.modules.items()}
    return Sizes(image, raw.stat().st_size, modules, by, lacking)


def _by_program(raw: Path, known: Mapping[str, tuple[str, ...]]) -> tuple[dict[str, int], dict[str, str]]:
    """Return the packed size by program, and the reason for each program without one. Raises SetupError if xz fails."""
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
            lacking[name] = f"this {command[0]} does not support {' '.join(command[1:])}"
    return by, lacking
