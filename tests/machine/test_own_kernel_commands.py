# SPDX-License-Identifier: Apache-2.0
"""My patch against the base, as docs/own-kernel.md has it: with a source tree that was never built, and then the next
patch. Takes the time of a whole kernel once.
"""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from flashbed.image import modules
from flashbed.image.kernel import IMAGE, KERNEL_STEPS
from tests.support import kernel_tree
from tests.support.fixture_types import StudyWriter
from tests.support.own_cache import said

STUDY = """
    [axes]
    pattern = ["write", "read"]
    [workload]
    tool = "fio"
    request = "4k"
    file = "1M"
    flush = "fsync"
    [answer]
    compare = "pattern"
    metric = "bandwidth"
"""

SLOWER = """\
--- a/fs/ext2/inode.c
+++ b/fs/ext2/inode.c
@@ -784,6 +784,8 @@ int ext2_get_block(struct inode *inode, sector_t iblock,
 \tu32 bno;
 \tint ret;
 
+\tfor (volatile int turn = 0; turn < 2000; turn++)
+\t\tbarrier();
 \tret = ext2_get_blocks(inode, iblock, max_blocks, &bno, &new, &boundary,
 \t\t\tcreate);
 \tif (ret <= 0)
"""  # noqa: W293 (as git writes it)

NEVER = """\
--- a/fs/ext2/inode.c
+++ b/fs/ext2/inode.c
@@ -871,7 +871,7 @@ int ext2_fiemap(struct inode *inode, struct fiemap_extent_info *fieinfo,
 \t * slow.
 \t */
 \tif (i_size == 0)
-\t\ti_size = 1;
+\t\ti_size = 2;
 \tlen = min_t(u64, len, i_size);
 \tret = iomap_fiemap(inode, fieinfo, start, len, &ext2_iomap_ops);
 \tinode_unlock(inode);
"""


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a source tree in git, and a cache that has everything but kernels of the tree."""
    return kernel_tree.make(tmp_path_factory.mktemp("own"))


def results(home: Path, folder: str) -> dict[str, dict[str, Any]]:
    report = json.loads((home / folder / "results.json").read_text())
    return {row["pattern"]: row for row in report["repetitions"]}


@pytest.mark.long
def test_a_patch_against_the_base(home: Path, study_file: StudyWriter) -> None:
    shutil.copy(study_file(STUDY, name="my", filesystem="ext2"), home / "my.toml")
    (home / "x.patch").write_text(SLOWER)
    (home / "never.patch").write_text(NEVER)
    said(home, "run", "my.toml", "--kernel", "./linux@v6.1", "--out", "base")
    subprocess.run(["git", "-C", "linux", "apply", "../x.patch"], cwd=home, check=True)
    done = kernel_tree.flashbed(home, "run", "my.toml", "--kernel", "./linux", "--out", "patched")
    assert "2 of 2 changed lines ran, first in write, seed 1." in done.stdout, done.stderr
    assert f"/{KERNEL_STEPS}" not in done.stderr  # it compiles a few files, and has not a whole kernel left
    base, patched = results(home, "base"), results(home, "patched")
    assert base["write"]["kernel_source"].startswith("linux@v6.1 ")
    assert patched["write"]["kernel_source"].startswith("linux (not committed) ")
    assert patched["write"]["metrics"]["latency_mean_us"] > base["write"]["metrics"]["latency_mean_us"]
    assert "2 of 2 changed lines ran" in (home / "patched/report.html").read_text()
    status = subprocess.run(
        ["git", "-C", "linux", "status", "--porcelain"], cwd=home, check=True, capture_output=True, text=True
    )
    assert status.stdout == " M fs/ext2/inode.c\n"

    # The next patch compiles what it changes, and nothing else
    [work] = (home / "cache/kernels").glob("linux-*")
    before = {path: path.stat().st_mtime_ns for path in (work / "linux").rglob("*.o")}
    report = said(home, "run", "my.toml", "--kernel", "./linux@v6.1:patch=never.patch", "--out", "never")
    assert "the changed line never ran in any guest" in report
    changed = {path for path, time in before.items() if path.stat().st_mtime_ns != time}
    assert work / "linux/fs/ext2/inode.o" in changed
    assert len(changed) < 20, sorted(changed)
    never = results(home, "never")
    assert {name: row["metrics"] for name, row in never.items()} == {name: row["metrics"] for name, row in base.items()}

    # The same source once more is the same kernel, and nothing is run again
    subprocess.run(["git", "-C", "linux", "checkout", "-q", "."], cwd=home, check=True)
    assert "all measured before" in said(home, "run", "my.toml", "--kernel", "./linux", "--out", "again")
    assert {path.stat().st_size for path in (home / "cache/image").glob(f"linux-own-*/{IMAGE}")}

    # Block media behind a real interface need no module, neither of the lab's nor of the kernel's own
    built = {entry.name.rsplit("-", 1)[0] for entry in (home / "cache/image").iterdir() if not entry.is_symlink()}
    assert "linux-own" in built
    assert not built & {*modules.names(), *(f"kernel-{name}" for name in modules.OF_THE_KERNEL)}
