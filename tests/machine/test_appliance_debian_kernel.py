# SPDX-License-Identifier: Apache-2.0
"""`flashbed nas run --kernel debian`: an appliance with Debian's kernel, which serves before the small one is built."""

from __future__ import annotations

import random
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.appliance_rig import libnfs, running
from tests.support.facts import Facts

pytestmark = pytest.mark.skipif(shutil.which("nfs-cp") is None, reason="libnfs-utils is not installed")

ALL_IN_ONE = """
[nfs]
versions = [4, 3]

[disks.data]
mirror        = ["/dev/vda", "/dev/vdb"]
create_mirror = true

[disks.old]
device     = "/dev/vdc"
filesystem = "ext2"

[[exports]]
disk       = "data"
read_write = ["10.0.2.2"]
any_port   = true

[[exports]]
disk       = "old"
read_only  = ["10.0.2.2"]
any_port   = true
"""


def there_and_back(url: str, folder: Path) -> None:
    content = random.Random(7).randbytes(300_001)
    (folder / "there").write_bytes(content)
    libnfs("nfs-cp", folder / "there", url)
    libnfs("nfs-cp", url, folder / "back")
    assert (folder / "back").read_bytes() == content
    assert subprocess.run(["nfs-cat", url], capture_output=True, timeout=120, check=True).stdout == content


def test_it_serves_what_is_written_to_it(tmp_path: Path) -> None:
    with running(tmp_path, None, "--kernel", "debian", "--size", "64M") as appliance:
        assert "(debian-kernel@lists.debian.org)" in appliance.log
        there_and_back(appliance.url("/file"), tmp_path)
        assert appliance.stop() == 0
    assert "nas: down" in appliance.log


@pytest.mark.long
def test_it_has_all_that_settings_ask(architecture: str, tmp_path: Path) -> None:
    with running(tmp_path, ALL_IN_ONE, "-a", architecture, "--kernel", "debian", "--size", "64M") as appliance:
        there_and_back(appliance.url("/file"), tmp_path)
        assert " 300001 file" in libnfs("nfs-ls", appliance.url_4("/data"))
        assert appliance.server.mount_path(b"/old")[0] == 0
        assert "is at /old, ext2" in appliance.log
        assert appliance.stop() == 0


def test_a_kernel_that_there_is_not_is_told_before_anything_is_done() -> None:
    program = Path(sys.executable).with_name("flashbed")
    done = subprocess.run([program, "nas", "run", "--kernel", "debain"], capture_output=True, text=True, timeout=60)
    assert done.returncode == 2
    assert done.stderr == Facts("--kernel debain", "small, debian", 'did you mean "debian"?')
