# SPDX-License-Identifier: Apache-2.0
"""NFS version 4 of the appliance under QEMU, for clients on this host: the tree that they walk from its root shows what
is for them, and nothing else.
"""

from __future__ import annotations

import random
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support import nfs4_calls as v4
from tests.support.appliance_rig import Appliance, libnfs, running
from tests.support.malformed_calls import pester_all
from tests.support.nfs_calls import ACCESS, Denied

# It builds a kernel of its own first.
pytestmark = pytest.mark.long

SETTINGS = """
[nfs]
versions = [4, 3]

[disks.data]
device = "/dev/vda"

[disks.theirs]
device = "/dev/vdb"

[disks.broken]
device = "/dev/vdc"

[[exports]]
disk = "data"
read_write = ["{client}"]
any_port = true

[[exports]]
disk = "theirs"
read_write = ["192.0.2.0/24"]
any_port = true

[[exports]]
disk = "broken"
read_write = ["{client}"]
any_port = true
"""

TROUBLE = re.compile(r"BUG:|Oops|WARNING:|Call Trace|Kernel panic|segfault|Out of memory|started again")

MOST_OF_LIBNFS = 4096

OTHERS = (b"theirs", b"broken", b"etc", b"proc", b"run", b"init", b"sbin", b"missing")

needs_libnfs = pytest.mark.skipif(shutil.which("nfs-cp") is None, reason="libnfs-utils is not installed")


@pytest.fixture(scope="module")
def appliance(architecture: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Appliance]:
    settings = SETTINGS.format(client="10.0.2.2")
    folder = tmp_path_factory.mktemp("appliance")
    (folder / "vdc.img").write_bytes(bytes(1 << 20))  # has no file system
    with running(folder, settings, "-a", architecture, "--size", "64M") as appliance_run:
        yield appliance_run


@needs_libnfs
def test_a_tree_goes_there_and_back(appliance: Appliance, tmp_path: Path) -> None:
    """libnfs 4.0 itself cannot put 4,096 bytes into a call of version 4: larger content goes there by calls of ours."""
    dice = random.Random(4)
    there = {f"folder/file {number} ä": dice.randbytes(size) for number, size in enumerate((0, 1, 1001, 300_001))}
    there |= {f"{number}": dice.randbytes(dice.randrange(1000)) for number in range(4)}
    assert v4.make_folder(appliance.server, b"data", b"folder") == v4.OK
    file = tmp_path / "file"
    for name, content in there.items():
        small = len(content) < MOST_OF_LIBNFS
        file.write_bytes(content if small else b"")
        libnfs("nfs-cp", file, appliance.url_4(f"/data/{name}"))
        if not small:
            v4.write(appliance.server, content, b"data", *name.encode().split(b"/"))
    assert re.search(r" 300001 file 3 ä$", libnfs("nfs-ls", appliance.url_4("/data/folder")), re.MULTILINE)
    for name, content in there.items():
        for url in (appliance.url_4(f"/data/{name}"), appliance.url(f"/{name}")):  # version 3 has the same files
            file.unlink()
            libnfs("nfs-cp", url, file)
            assert file.read_bytes() == content


def test_the_root_shows_what_is_for_the_client(appliance: Appliance) -> None:
    assert v4.names(appliance.server) == [b"data"]
    status, root = v4.look_up(appliance.server)
    assert status == v4.OK
    assert v4.look_up(appliance.server, b"data", b"..") == (v4.OK, root)
    for name in OTHERS:
        assert v4.look_up(appliance.server, name) == (v4.NO_ENTRY, b""), name
        assert v4.look_up(appliance.server, b"data", b"..", name) == (v4.NO_ENTRY, b""), name


def test_a_disk_that_is_not_there_is_not_exported(appliance: Appliance) -> None:
    assert "an export is left out: no disk is mounted there: /broken" in appliance.log
    assert appliance.server.mount_path(b"/broken") == (ACCESS, b"")


def test_nothing_is_changed_in_the_root(appliance: Appliance) -> None:
    assert v4.make_folder(appliance.server, b"folder") == v4.READ_ONLY
    assert v4.set_owner(appliance.server, b"0") == v4.READ_ONLY


def test_the_root_is_no_handle_for_version_3(appliance: Appliance) -> None:
    _, root = v4.look_up(appliance.server)
    assert v4.attributes(appliance.server, root) == v4.OK
    assert appliance.server.attributes(root) == v4.STALE


def test_a_handle_that_was_made_up_leads_nowhere_below_the_root(appliance: Appliance) -> None:
    _, root = v4.look_up(appliance.server)
    assert root[3] == 0  # the export's own folder; 1 is a file of it, by number
    for number in range(1, 60):
        handle = root[:3] + b"\1" + root[4:8] + bytes(4) + number.to_bytes(8, "little")
        assert v4.attributes(appliance.server, handle) == v4.STALE, number


def test_users_are_numbers_and_root_is_nobody(appliance: Appliance) -> None:
    assert v4.make_folder(appliance.server, b"data", b"made by root") == v4.OK
    assert v4.owner(appliance.server, b"data", b"made by root") == b"65534"
    assert v4.set_owner(appliance.server, b"65534", b"data", b"made by root") == v4.OK
    assert v4.set_owner(appliance.server, b"somebody@nas", b"data", b"made by root") == v4.BAD_OWNER


def test_nobody_takes_back_what_was_open_before_the_start(appliance: Appliance) -> None:
    _, root = appliance.server.mount_path(b"/data")
    assert appliance.server.create(root, b"was open")[0] == v4.OK
    assert v4.take_back(appliance.server, b"data", b"was open") in (v4.NO_GRACE, v4.RECLAIM_BAD)


def test_it_is_not_offered_over_udp(appliance: Appliance) -> None:
    with pytest.raises(Denied, match="accepted with 2"):
        v4.compound(appliance.server, *v4.at(), tcp=False)


def test_what_is_no_call_does_no_harm(appliance: Appliance) -> None:
    _, handle = v4.look_up(appliance.server, b"data")
    assert pester_all(appliance.server, 2000, seed=4, handle=handle).changed.total() >= 2000
    assert v4.attributes(appliance.server, handle) == v4.OK
    assert not TROUBLE.search(appliance.log), appliance.log


def test_who_is_not_named_gets_nothing(architecture: str, tmp_path: Path) -> None:
    with running(tmp_path, SETTINGS.format(client="198.51.100.7"), "-a", architecture, "--size", "16M") as other:
        with pytest.raises(Denied):
            v4.look_up(other.server)
        with pytest.raises(Denied):
            v4.names(other.server)
        assert not TROUBLE.search(other.log), other.log
