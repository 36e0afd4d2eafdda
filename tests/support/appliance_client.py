# SPDX-License-Identifier: Apache-2.0
"""Linux's own NFS client in a second guest, with the program of tests/guest/nfs_client/, and an appliance for it.

Debian's kernel is the client over TCP. It is built without NFS over UDP (CONFIG_NFS_DISABLE_UDP_SUPPORT), as Linux is
if nobody says otherwise; there the client is the appliance's kernel with a client in it.
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
"""What is not answered in 0.3 s is sent again, not in 1.1 s."""

NO_ATTRIBUTES_KEPT = (",actimeo=0", ",noac")
"""Of the two mounts: each asks the server for attributes each time, and the second waits for each write, too."""

MINOR = ("4.0", "4.2")
"""Of version 4, one a mount: Linux is one client to a server, whatever it mounts by one of them."""

TOOLS = "awk cat cmp cp find grep ln md5sum mkdir mv readlink rm sed sort tar test uniq wc xargs"
"""Of busybox, for work.sh."""


def our_own(folder: Path) -> Kernel:
    return small_kernel(SOURCES / "client.config")


def serving(version: int, folder: Path) -> tuple[list[str], list[Path]]:
    """The command of an appliance that serves that version, and the images of its disks."""
    return served(SETTINGS.replace("VERSIONS", "[4, 3]" if version == 4 else "[3, 2]"), folder)


def asking(kernel: Kernel, version: int, transport: str, words: Sequence[str], folder: Path) -> Path:
    """The first file system of a client that asks by that version: `words` are the program's behind the server and what
    it exports, but for the options of its two mounts, which stand behind the first of them.
    """
    program = programs.own(stores.open_cache(), architecture.named("x86_64")).read_bytes()
    command = ["/bin/asks", SERVER, "/data", words[0], *_mounts(version, transport), *words[1:]]
    unpacked = client_archive(kernel, program, _what_it_runs(folder), command)
    initramfs = folder / "client.xz"
    initramfs.write_bytes(lzma.compress(unpacked, check=lzma.CHECK_CRC32, preset=0))
    return initramfs


def _mounts(version: int, transport: str) -> list[str]:
    """The options of the two."""
    if version == 4:
        pairs = zip(MINOR, NO_ATTRIBUTES_KEPT, strict=True)
        return [f"vers={minor},proto=tcp,clientaddr={CLIENT}{more}" for minor, more in pairs]
    options = f"vers={version},proto={transport},mountproto={transport},mountaddr={SERVER}"
    options += SOON if transport == "udp" else ""
    return [options + more for more in NO_ATTRIBUTES_KEPT]


def _what_it_runs(folder: Path) -> list[cpio.Node]:
    """The program that asks, compiled, and the tools of a shell."""
    asks = folder / "nfs_client"
    flags = ("-std=c11", "-D_GNU_SOURCE", "-Os", "-Wall", "-Wextra", "-Werror", "-static", "-s")
    subprocess.run(["cc", *flags, "-o", asks, *sorted(SOURCES.glob("*.c"))], check=True)
    busybox = programs.busybox(stores.open_cache(), architecture.named("x86_64")).read_bytes()
    nodes = [cpio.program("/bin/asks", asks.read_bytes()), cpio.program("/bin/busybox", busybox)]
    nodes.append(cpio.file("/bin/work.sh", (SOURCES / "work.sh").read_bytes()))
    return [*nodes, *(cpio.link(f"/bin/{tool}", "busybox") for tool in TOOLS.split())]
