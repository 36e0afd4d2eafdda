# SPDX-License-Identifier: Apache-2.0
"""nfstest, Debian 13's suite for NFS, in a second guest with Debian's kernel: programs that need one client only."""

from __future__ import annotations

from pathlib import Path

import pytest

from flashbed.image import stores
from flashbed_appliance.nas import programs
from flashbed_appliance.shrinking import architecture
from tests.support.appliance_nfstest import Suite, differences, nodes
from tests.support.appliance_pair import (
    CLIENT,
    NETWORK_OF_ITS_OWN,
    client_archive,
    client_command,
    debian_kernel,
    on_a_wire,
    run_pair,
    served,
)
from tests.support.wire import Wire

SETTINGS = f"""
{NETWORK_OF_ITS_OWN}
[nfs]
versions = [4, 3]

[disks.data]
device = "/dev/vda"

[[exports]]
disk = "data"
read_write = ["{CLIENT}"]
squash = "none"
"""
"""nfstest is root on the client, and asks whether what it makes is its own."""

SECONDS = 3000

NO_TIMES_OF_READS = ("read - file st_atime should be updated", "the appliance mounts its disks with noatime")
CREATE_A_FOLDER = "the client's own kernel refuses O_CREAT with O_DIRECTORY, by EINVAL, before it looks (fs/open.c)"
EXCLUSIVE = tuple(
    (f"open - opening {file_kind} should return an error when O_EXCL|O_CREAT is used", CREATE_A_FOLDER)
    for file_kind in ("existent file", "symbolic link")
)
"""In half of 512 combinations of flags, those with O_DIRECTORY. nfstest, which is older, wants EEXIST of them."""

POSIX = (Suite("nfstest_posix", "--nfsversion=3", 461, (NO_TIMES_OF_READS, *EXCLUSIVE)),)
OTHERS = (
    Suite("nfstest_lock", "--nfsversion=3 --unlock-delay=0.5 --tverbose=1", 164),
    Suite("nfstest_interop", "", 90),
    Suite("nfstest_fcmp", "--nfsversion=3 --nfsopts=nfsversion=4.1", 4),
    Suite("nfstest_sparse", "--nfsversion=4.2", 172),
    Suite("nfstest_alloc", "--nfsversion=4.2 --runtest=^alloc06,dealloc06,perf01", 380),
)
"""nfstest_lock with a second process: its tests of a second client start that by ssh.

Of nfstest_alloc, two tests take for free what ext4 keeps for itself (s_resv_clusters in fs/ext4/super.c), since they
are root; the third fails if allocating is not faster than writing, on whatever host this is.
"""


@pytest.mark.long
@pytest.mark.parametrize("suites", [pytest.param(POSIX, id="posix"), pytest.param(OTHERS, id="others")])
def test_nfstest_finds_all_as_it_should_be(suites: tuple[Suite, ...], tmp_path: Path) -> None:
    kernel = debian_kernel(tmp_path / "kernel")
    program = programs.own(stores.open_cache(), architecture.named("x86_64")).read_bytes()
    unpacked = client_archive(kernel, program, nodes(tmp_path / "packages", suites), ["/bin/sh", "/bin/suites.sh"])
    initramfs = tmp_path / "client.cpio"
    initramfs.write_bytes(unpacked)
    command, _ = served(SETTINGS, tmp_path)
    with Wire(seed=3) as wire:
        log, console = run_pair(on_a_wire(command, wire.port), client_command(kernel, initramfs, wire.port), SECONDS)
    assert differences(console, suites) == [], console + log
    assert "nas: down" in log
