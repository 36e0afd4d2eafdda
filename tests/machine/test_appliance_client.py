# SPDX-License-Identifier: Apache-2.0
"""Linux's own NFS client, in a second guest, asks the appliance what test suites of NFS ask; the cases are in
tests/guest/nfs_client.c.
"""

from __future__ import annotations

import lzma
import subprocess
from pathlib import Path

import pytest
from appliance_pair import (
    CLIENT,
    NETWORK_OF_ITS_OWN,
    SERVER,
    client_archive,
    client_command,
    debian_kernel,
    on_a_wire,
    run_pair,
)
from appliance_rig import free_ports

from flashbed import image
from flashbed.appliance import building, disks, programs, qemu, settings
from flashbed.shrinking import architecture

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

CASES = [
    *("mount", "files_and_folders", "renames", "large_content", "special_files", "more_than_4_gb"),
    *("locks", "locks_are_waited_for", "many_files"),
]


@pytest.mark.long
@pytest.mark.parametrize(("version", "versions", "files"), [(3, "[3, 2]", 10000), (4, "[4, 3]", 1000)])
def test_linux_as_a_client_finds_all_as_it_should_be(version: int, versions: str, files: int, tmp_path: Path) -> None:
    target = architecture.named("x86_64")
    kernel = debian_kernel(programs.archive_of(target), tmp_path / "debian")
    asks = tmp_path / "nfs_client"
    source = Path(__file__).parents[1] / "guest/nfs_client.c"
    subprocess.run(["cc", "-std=c11", "-D_GNU_SOURCE", "-Os", "-static", "-s", "-o", asks, source], check=True)
    program = programs.own(image.open_cache(), target).read_bytes()
    unpacked = client_archive(kernel, program, asks.read_bytes(), SERVER, "/data", str(files), str(version))
    initramfs = tmp_path / "client.xz"
    initramfs.write_bytes(lzma.compress(unpacked, check=lzma.CHECK_CRC32, preset=0))
    (tmp_path / "nas.toml").write_text(SETTINGS.replace("VERSIONS", versions))
    wanted = settings.read(tmp_path / "nas.toml")
    appliance = building.build(wanted, target.name, tmp_path / "nas")
    images = disks.images(wanted.disks, tmp_path / "nas", 64 << 20)
    (port,) = free_ports(1)
    server = on_a_wire(qemu.command(appliance, images, [], "127.0.0.1", ["-serial", "stdio"]), port)
    log, said = run_pair(server, client_command(kernel.image, initramfs, port), 1500)
    assert [line for line in said.splitlines() if line.startswith(("ok ", "FAILED "))] == [
        f"ok {case}" for case in CASES
    ], said + log
    assert "nas: down" in log
