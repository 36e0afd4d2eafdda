# SPDX-License-Identifier: Apache-2.0
"""Linux's own NFS client in a second guest, with the program of tests/guest/nfs_client/, and an appliance for it.

Over TCP the client is Debian's kernel, which has no NFS over UDP (CONFIG_NFS_DISABLE_UDP_SUPPORT, Linux's default).
Over UDP it is the appliance's kernel with a client.
"""

from __future__ import annotations

import lzma
import subprocess
from collections.abc import Sequence
from pathlib import Path

from flashbed.image import cpio, stores
from flashbed_appliance.nas import programs
from flashbed_appliance.shrinking import architecture
from tests.support.appliance_pair import (
    CLIENT,
    NETWORK_OF_ITS_OWN,
    SERVER,
    Kernel,
    client_archive,
    served,
    small_kernel,
)
from tests.support.repository import REPOSITORY

SETTINGS = f"""
{NETWORK_OF_ITS_OWN}
[nfs]
versions = VERSIONS

[disks.data]
device = "/dev/vda"

[[exports]]
disk = "data"
read_write = ["{CLIENT}"]
"""

SOURCES = REPOSITORY / "tests/guest/nfs_client"

SOON = ",timeo=3"
"""Repeat an unanswered call after 0.3 s, not after 1.1 s."""

NO_ATTRIBUTES_KEPT = (",actimeo=0", ",noac")
"""For the two mounts: each asks the server for attributes each time; the second also waits for each write."""

MINOR = ("4.0", "4.2")
"""Minor versions of NFS 4, one for each mount. With the same version, Linux would be one client of the server for both
mounts.
"""

TOOLS = "awk cat cmp cp find grep ln md5sum mkdir mv readlink rm sed sort tar test uniq wc xargs"
"""Tools of busybox for work.sh."""


def our_own(folder: Path) -> Kernel:
    return small_kernel(SOURCES / "client.config")


def serving(version: int, folder: Path) -> tuple[list[str], list[Path]]:
    """Return the command of an appliance that serves this version, and the images of its disks."""
    return served(SETTINGS.replace("VERSIONS", "[4, 3]" if version == 4 else "[3, 2]"), folder)


def asking(kernel: Kernel, version: int, transport: str, words: Sequence[str], folder: Path) -> Path:
    """Return the first file system of a client of this version. `words` are the program's arguments after the server
    and the export, without the mount options, which follow the first of them.
    """
    program = programs.own(stores.open_cache(), architecture.named("x86_64")).read_bytes()
    command = ["/bin/asks", SERVER, "/data", words[0], *_mounts(version, transport), *words[1:]]
    unpacked = client_archive(kernel, program, _what_it_runs(folder), command)
    initramfs = folder / "client.xz"
    initramfs.write_bytes(lzma.compress(unpacked, check=lzma.CHECK_CRC32, preset=0))
    return initramfs


def _mounts(version: int, transport: str) -> list[str]:
    """Return the options of the two mounts."""
    if version == 4:
        pairs = zip(MINOR, NO_ATTRIBUTES_KEPT, strict=True)
        return [f"vers={minor},proto=tcp,clientaddr={CLIENT}{more}" for minor, more in pairs]
    options = f"vers={version},proto={transport},mountproto={transport},mountaddr={SERVER}"
    options += SOON if transport == "udp" else ""
    return [options + more for more in NO_ATTRIBUTES_KEPT]


def _what_it_runs(folder: Path) -> list[cpio.Node]:
    """Return the compiled client program, and the tools of a shell."""
    asks = folder / "nfs_client"
    flags = ("-std=c11", "-D_GNU_SOURCE", "-Os", "-Wall", "-Wextra", "-Werror", "-static", "-s")
    subprocess.run(["cc", *flags, "-o", asks, *sorted(SOURCES.glob("*.c"))], check=True)
    busybox = programs.busybox(stores.open_cache(), architecture.named("x86_64")).read_bytes()
    nodes = [cpio.program("/bin/asks", asks.read_bytes()), cpio.program("/bin/busybox", busybox)]
    nodes.append(cpio.file("/bin/work.sh", (SOURCES / "work.sh").read_bytes()))
    return [*nodes, *(cpio.link(f"/bin/{tool}", "busybox") for tool in TOOLS.split())]
