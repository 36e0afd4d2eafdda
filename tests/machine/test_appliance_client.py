# SPDX-License-Identifier: Apache-2.0
"""Linux's own NFS client, in a second guest, asks the appliance what test suites of NFS ask, by version 3 over TCP and
UDP, by version 2 over UDP, and by version 4; the cases are in tests/guest/nfs_client/.

Debian's kernel is the client over TCP. It is built without NFS over UDP (CONFIG_NFS_DISABLE_UDP_SUPPORT), as Linux is
if nobody says otherwise; there the client is the appliance's kernel with a client in it.
"""

from __future__ import annotations

import lzma
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from appliance_pair import (
    CLIENT,
    NETWORK_OF_ITS_OWN,
    SERVER,
    Kernel,
    client_archive,
    client_command,
    debian_kernel,
    on_a_wire,
    run_pair,
    small_kernel,
)
from wire import Wire

from flashbed import image
from flashbed.appliance import building, cpio, disks, programs, qemu, settings
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

SOURCES = Path(__file__).parents[1] / "guest/nfs_client"

CASES = [
    *("mount", "files_and_folders", "a_tree", "the_mount_point", "attributes", "content", "links_and_renames"),
    *("renames", "symbolic_links", "whole_system"),
    *("listing_while_files_go", "removing_while_listing", "kept_places", "many_files"),
    "work_of_four",
    *("open_and_renamed", "open_and_removed", "open_and_closed_to_all", "exclusive", "exclusive_by_two"),
    *("negative_places", "renamed_over_links", "odd_names", "times"),
    *("large_content", "holes", "a_large_hole", "moved_ends", "mapped", "direct"),
    *("up_to_2_gb", "more_than_2_gb", "more_than_4_gb", "room_comes_back", "a_full_disk"),
    *("locks", "locks_of_the_whole", "who_is_in_the_way", "readers_in_the_way"),
    *("readers_elsewhere_are_named", "locks_that_touch", "locks_split_and_join"),
    *("locks_change_kind", "locks_go_with_a_close", "locks_go_with_their_holder"),
    *("far_locks", "ranges_that_are_none", "places_from_elsewhere"),
    *("locks_are_waited_for", "several_wait", "the_holder_is_killed", "the_waiting_is_killed"),
    "each_waits_for_the_other",
    *("many_locks_of_one_file", "locks_of_many_files", "locks_and_appends", "many_in_a_row"),
]

OF_DATAGRAMS = ["sent_again"]
"""While the wire loses and doubles frames."""

SOON = ",timeo=3"
"""What is not answered in 0.3 s is sent again, not in 1.1 s."""

NO_ATTRIBUTES_KEPT = (",actimeo=0", ",noac")
"""Of the two mounts: each asks the server for attributes each time, and the second waits for each write, too."""

MINOR = ("4.0", "4.2")
"""Of version 4, one a mount: Linux is one client to a server, whatever it mounts by one of them."""

FAULT_OF_LINUX, WHERE_IT_IS_SEEN = "readers_elsewhere_are_named", "NOBODY IS IN THE WAY"
"""The case that fails because of the server's kernel, by version 2 and 3, and what the line of locks.c has at which it
does. lockd of Debian's 6.1.192 forgets, when it is asked who would be in the way of a lock (NLM's TEST, fcntl's
F_GETLK), that the lock is to write: other readers are not named. The lock itself is refused as it should be, which is
a case of its own and has to pass. When this is mended, the test says so.
"""

TOOLS = "awk cat cmp cp find grep ln md5sum mkdir mv readlink rm sed sort tar test uniq wc xargs"
"""Of busybox, for work.sh."""

SECONDS = 2400


def our_own(folder: Path) -> Kernel:
    return small_kernel(SOURCES / "client.config")


def what_it_runs(folder: Path) -> list[cpio.Node]:
    """The program that asks, compiled, and the tools of a shell."""
    asks = folder / "nfs_client"
    flags = ("-std=c11", "-D_GNU_SOURCE", "-Os", "-Wall", "-Wextra", "-Werror", "-static", "-s")
    subprocess.run(["cc", *flags, "-o", asks, *sorted(SOURCES.glob("*.c"))], check=True)
    busybox = programs.busybox(image.open_cache(), architecture.named("x86_64")).read_bytes()
    nodes = [cpio.program("/bin/asks", asks.read_bytes()), cpio.program("/bin/busybox", busybox)]
    nodes.append(cpio.file("/bin/work.sh", (SOURCES / "work.sh").read_bytes()))
    return [*nodes, *(cpio.link(f"/bin/{tool}", "busybox") for tool in TOOLS.split())]


def line_of_the_fault() -> int:
    [found] = [
        number
        for number, line in enumerate((SOURCES / "locks.c").read_text().splitlines(), 1)
        if WHERE_IT_IS_SEEN in line
    ]
    return found


@pytest.mark.long
@pytest.mark.parametrize(
    ("kernel_of", "version", "transport", "files", "cases"),
    [
        pytest.param(debian_kernel, 3, "tcp", 10000, CASES, id="v3-tcp"),
        pytest.param(our_own, 3, "udp", 1000, CASES + OF_DATAGRAMS, id="v3-udp"),
        pytest.param(our_own, 2, "udp", 1000, CASES + OF_DATAGRAMS, id="v2-udp"),
        pytest.param(debian_kernel, 4, "tcp", 1000, CASES, id="v4-tcp"),
    ],
)
def test_linux_as_a_client_finds_all_as_it_should_be(
    kernel_of: Callable[[Path], Kernel], version: int, transport: str, files: int, cases: list[str], tmp_path: Path
) -> None:
    target = architecture.named("x86_64")
    kernel = kernel_of(tmp_path / "kernel")
    options = f"vers={version},proto={transport},mountproto={transport},mountaddr={SERVER}"
    options += SOON if transport == "udp" else ""
    program = programs.own(image.open_cache(), target).read_bytes()
    mounts = [options + more for more in NO_ATTRIBUTES_KEPT]
    if version == 4:
        pairs = zip(MINOR, NO_ATTRIBUTES_KEPT, strict=True)
        mounts = [f"vers={minor},proto=tcp,clientaddr={CLIENT}{more}" for minor, more in pairs]
    words = ["/bin/asks", SERVER, "/data", str(files), *mounts]
    unpacked = client_archive(kernel, program, what_it_runs(tmp_path), words)
    initramfs = tmp_path / "client.xz"
    initramfs.write_bytes(lzma.compress(unpacked, check=lzma.CHECK_CRC32, preset=0))
    (tmp_path / "nas.toml").write_text(SETTINGS.replace("VERSIONS", "[4, 3]" if version == 4 else "[3, 2]"))
    wanted = settings.read(tmp_path / "nas.toml")
    appliance = building.build(wanted, target.name, tmp_path / "nas")
    images = disks.images(wanted.disks, tmp_path / "nas", 64 << 20)
    with Wire(seed=version) as wire:
        server = on_a_wire(qemu.command(appliance, images, [], "127.0.0.1", ["-serial", "stdio"]), wire.port)
        log, said = run_pair(server, client_command(kernel, initramfs, wire.port), SECONDS)
    found = [line.partition(": ")[0] for line in said.splitlines() if line.startswith(("ok ", "FAILED "))]
    faults = {FAULT_OF_LINUX: f"FAILED {FAULT_OF_LINUX} line {line_of_the_fault()}"} if version < 4 else {}
    assert found == [faults.get(case, f"ok {case}") for case in cases], said + log
    assert "nas: down" in log
    assert (wire.lost > 20 and wire.doubled > 40) == (transport == "udp"), (wire.lost, wire.doubled)
