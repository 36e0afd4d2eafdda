# SPDX-License-Identifier: Apache-2.0
"""The network-storage appliance under QEMU, and clients of it on this host: files go both ways, and nothing to whom it
is not for.
"""

from __future__ import annotations

import os
import random
import re
import shutil
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from flashbed_appliance.data_files import appliance_data
from tests.support.appliance_rig import Appliance, libnfs, running
from tests.support.malformed_calls import pester_all
from tests.support.nfs_calls import ACCESS, BAD_HANDLE, NFS, OK, PORTMAP, STALE, Denied, Server

# It builds a kernel of its own first.
pytestmark = pytest.mark.long

NOT_FOR_THIS_HOST = """
[disks.data]
device = "/dev/vda"

[[exports]]
disk = "data"
read_write = ["192.0.2.0/24"]
any_port = true
"""

ON_EXT2 = (appliance_data() / "trial.toml").read_text().replace('"ext4"', '"ext2"')

WRITTEN_BACK_S = 40
"""Linux writes back what is older than 30 s, and looks every five."""

TROUBLE = re.compile(r"BUG:|Oops|WARNING:|Call Trace|Kernel panic|segfault|Out of memory|started again")


@pytest.fixture(scope="module")
def folder(architecture: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("appliance")


@pytest.fixture(scope="module")
def appliance(architecture: str, folder: Path) -> Iterator[Appliance]:
    with running(folder, None, "-a", architecture, "--size", "64M") as appliance_run:
        yield appliance_run


LISTED = re.compile(r"^([-d])\S+ +\d+ +\d+ +\d+ +(\d+) (.+)$", re.MULTILINE)
"""By nfs-ls: what it is, its size, its name."""

needs_libnfs = pytest.mark.skipif(shutil.which("nfs-cp") is None, reason="libnfs-utils is not installed")


@needs_libnfs
def test_a_tree_goes_there_and_back(appliance: Appliance, tmp_path: Path) -> None:
    there, back = tmp_path / "there", tmp_path / "back"
    make_tree(there, random.Random(1))
    (there / "plain").write_text("A line.\n")
    carry_there(appliance, there, "/tree")
    assert libnfs("nfs-cat", appliance.url("/tree/plain")) == "A line.\n"
    carry_back(appliance, "/tree", back)
    assert content_of(back) == content_of(there)


def test_a_file_is_as_old_as_it_is(appliance: Appliance) -> None:
    """The machine's clock is read before the first program, or files were of 1970."""
    status, root = appliance.server.mount_path(b"/data")
    assert status == OK
    status, handle = appliance.server.create(root, b"of today")
    assert status == OK
    assert abs(appliance.server.changed_at(handle) - time.time()) < 3600


@needs_libnfs
def test_ext2_is_served_and_after_a_power_cut_too(architecture: str, tmp_path: Path) -> None:
    """Nothing repairs ext2 in the appliance: what is on the disk is served, and the log says that it is unchecked."""
    there, folder = tmp_path / "there", tmp_path / "disks"
    make_tree(there, random.Random(1))
    folder.mkdir()
    options = ("-a", architecture, "--size", "64M")
    with running(folder, ON_EXT2, *options) as appliance_run:
        carry_there(appliance_run, there, "/tree")
        carry_back(appliance_run, "/tree", tmp_path / "first")
        time.sleep(WRITTEN_BACK_S)
        appliance_run.process.kill()
    with running(folder, ON_EXT2, *options) as appliance_run:
        assert "mounting unchecked fs" in appliance_run.log
        carry_back(appliance_run, "/tree", tmp_path / "again")
        assert not TROUBLE.search(appliance_run.log), appliance_run.log
    assert content_of(tmp_path / "first") == content_of(tmp_path / "again") == content_of(there)


def make_tree(folder: Path, dice: random.Random) -> None:
    """Make nested folders, an empty folder, a folder with many files, and odd names, with files of many sizes."""
    for name in (".", "a", "a/b", "a/b/c ä", "a/b/c ä/d", "a/empty", "many", "many/more", "x" * 200):
        (folder / name).mkdir()
        for number, size in enumerate((0, 1, 4095, 4096, dice.randrange(20_000))):
            if name != "a/empty":
                (folder / name / f"file {number} ü").write_bytes(dice.randbytes(size))
    for number in range(40):
        (folder / "many" / f"{number}").write_bytes(dice.randbytes(number * 7))
    for name, size in (("large", 300_001), ("a/b/c ä/d/.larger", 1_500_000)):
        (folder / name).write_bytes(dice.randbytes(size))


def carry_there(appliance: Appliance, folder: Path, to: str) -> None:
    """Copy a folder to the appliance. libnfs's programs copy files but make no folders, so calls of our own make the
    folders.
    """
    status, root = appliance.server.mount_path(b"/data")
    assert status == OK
    handles = {folder.parent: root}
    for path in (folder, *sorted(folder.rglob("*"))):
        where = to if path == folder else f"{to}/{path.relative_to(folder)}"
        if path.is_dir():
            status, handles[path] = appliance.server.make_folder(handles[path.parent], Path(where).name.encode())
            assert status == OK, where
        else:
            libnfs("nfs-cp", path, appliance.url(where))


def carry_back(appliance: Appliance, path: str, to: Path) -> None:
    """Copy the directory, and those below it, to the host: nfs-ls lists them, nfs-cp copies."""
    to.mkdir()
    for kind, size, name in LISTED.findall(libnfs("nfs-ls", appliance.url(path))):
        if kind == "d":
            carry_back(appliance, f"{path}/{name}", to / name)
        else:
            libnfs("nfs-cp", appliance.url(f"{path}/{name}"), to / name)
            assert (to / name).stat().st_size == int(size)


def content_of(folder: Path) -> dict[str, bytes | None]:
    """Return the content of each file by its path, and None for each folder."""
    return {str(path.relative_to(folder)): path.read_bytes() if path.is_file() else None for path in folder.rglob("*")}


def test_the_portmapper_names_the_ports(appliance: Appliance) -> None:
    ports = {}
    for program, version in ((100003, 3), (100005, 3), (100021, 4), (100024, 1)):
        arguments = b"".join(number.to_bytes(4) for number in (program, version, 6, 0))
        ports[program] = int.from_bytes(appliance.server.call(PORTMAP, 3, arguments, tcp=False))
    assert ports == {100003: 2049, 100005: 20048, 100021: 32768, 100024: 32765}


def test_no_path_leads_out(appliance: Appliance) -> None:
    for path in (b"/", b"/etc", b"/data/..", b"/data/../etc", b"/data/./..", b"/proc", b"", b"/data\0/x"):
        assert appliance.server.mount_path(path)[0] == ACCESS, path
    status, root = appliance.server.mount_path(b"/data")
    assert status == OK
    assert appliance.server.look_up(root, b"..") == (OK, root)  # an export's root is its own parent


def test_a_handle_that_was_made_up_is_stale(appliance: Appliance) -> None:
    status, root = appliance.server.mount_path(b"/data")
    assert status == OK
    assert appliance.server.attributes(root) == OK
    assert len(root) == 8  # what kind of handle it is, and the number of the export
    dice = random.Random(2)
    for at in range(len(root)):
        other = bytearray(root)
        other[at] ^= 1 << dice.randrange(8)
        assert refused(appliance.server, bytes(other)), other.hex()
    for length in (0, 1, 4, 8, 64):
        assert refused(appliance.server, dice.randbytes(length))


def refused(server: Server, handle: bytes) -> bool:
    try:
        return server.attributes(handle) in (STALE, BAD_HANDLE, ACCESS)
    except (Denied, TimeoutError):
        return True


def test_who_is_not_named_gets_nothing_with_a_good_handle_either(
    appliance: Appliance, architecture: str, folder: Path, tmp_path: Path
) -> None:
    status, root = appliance.server.mount_path(b"/data")
    assert status == OK
    shutil.copy(folder / "vda.img", tmp_path)
    with running(tmp_path, NOT_FOR_THIS_HOST, "-a", architecture) as other:
        assert other.server.mount_path(b"/data") == (ACCESS, b"")
        assert other.server.call(100005, 5) == bytes(4)  # no export is shown
        with pytest.raises(Denied):
            other.server.attributes(root)
        assert other.server.call(NFS, 0) == b""  # that it is there, it says to everybody
        assert "10.0.2.2 may not mount /data" in other.log


def test_what_is_no_call_does_no_harm(appliance: Appliance) -> None:
    """More of it: test_appliance_malformed.py."""
    status, root = appliance.server.mount_path(b"/data")
    assert status == OK
    pester_all(appliance.server, 2000, seed=int(os.environ.get("FLASHBED_SEED", "1")), handle=root)
    assert appliance.server.attributes(root) == OK
    assert appliance.server.mount_path(b"/data") == (OK, root)
    assert not TROUBLE.search(appliance.log), appliance.log


def test_ctrl_c_ends_it_and_leaves_its_disk_clean(architecture: str, tmp_path: Path) -> None:
    with running(tmp_path, None, "-a", architecture, "--size", "16M") as appliance:
        assert appliance.stop() == 0
    assert "nas: down" in appliance.log
    checked = subprocess.run(["/sbin/e2fsck", "-n", tmp_path / "vda.img"], capture_output=True, text=True)
    assert checked.returncode == 0, checked.stdout
    assert "clean" in checked.stdout
