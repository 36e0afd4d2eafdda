# SPDX-License-Identifier: Apache-2.0
"""What test_one_percent.py asks of a kernel, of a module that a study brings: a line in a copy of kernel/yaffs2 that
adds 1 % to the CPU time of a write is found, and a rebuild that changes nothing is not, on a busy host.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support import one_percent, own_cache, own_module
from tests.support.busy_host import busy
from tests.support.one_percent import Change, unused

WRITE, WRITE_BACK, APPEND = "vfs_file.c", "writeback.c", "core/append.c"

SLOWER = {
    "loop": Change(
        WRITE,
        "\tif (copied < len && !folio_test_uptodate(folio))\n",
        "for (int turn = 0; turn < 300; turn++) barrier();",
    ),
    "relax": Change(
        WRITE,
        "\tif (!folio_test_uptodate(folio) && len < PAGE_SIZE) {\n",
        "for (int turn = 0; turn < 200; turn++) cpu_relax();",
    ),
    "delay": Change(
        WRITE,
        "\tif (got <= 0 || !y2_sb(inode->i_sb)->options.write_through)\n",
        "for (u64 end = ktime_get_ns() + 600; ktime_get_ns() < end; ) ;",
    ),
    "allocation": Change(
        APPEND,
        "\t\ty2_summary_note(fs, page, tags);\n",
        "for (int turn = 0; turn < 2; turn++) kfree(kmalloc(64, GFP_NOFS));",
    ),
    "checksum": Change(
        "core/file.c",
        "\told = y2_index_get(&obj->index, k);\n\tif (old)\n\t\ttags.serial",
        "WARN_ON_ONCE(crc32(~0, data, 1000) == k);",
    ),
    "clock": Change(WRITE_BACK, "\tgot = y2_write_reserved(", "for (int turn = 0; turn < 13; turn++) ktime_get_ns();"),
    "index": Change(
        "core/index.c",
        "\tfind(index, k)->slot[slot(k, 1)] = value;\n",
        "for (int turn = 0; turn < 150; turn++) OPTIMIZER_HIDE_VAR(value);",
    ),
    "lock": Change(
        WRITE_BACK,
        "\tobj->mtime = (u32)inode_get_mtime_sec(inode);\n",
        "for (int turn = 0; turn < 5; turn++) { y2_unlock(sbi); y2_lock(sbi); }",
    ),
    "once": Change(
        WRITE,
        "\treturn err ? err : sync_inode_metadata(inode, 1);\n",
        "for (int turn = 0; turn < 750000; turn++) barrier();",
    ),
    "summary": Change(
        "core/summary.c",
        "\tput_unaligned_le32(sum(fs), fs->summary + 12);\n",
        "for (int turn = 0; turn < 6; turn++) WARN_ON_ONCE(sum(READ_ONCE(fs)) == number);",
    ),
}

WRITE_END = "static int write_end("
AFTER_WRITE_END = "const struct address_space_operations y2_file_aops"
FIRST = "static int open_block("


def moved(text: str) -> str:
    """Return the source with write_end moved in front of write_begin."""
    begin, end, after = (text.index(word) for word in ("static int write_begin(", WRITE_END, AFTER_WRITE_END))
    return text[:begin] + text[end:after] + text[begin:end] + text[after:]


REBUILDS: dict[str, tuple[str, Callable[[str], str]]] = {
    "comment": (WRITE, lambda text: text.replace(WRITE_END, f"/* Makes the folio dirty. */\n{WRITE_END}")),
    "lines": (WRITE, lambda text: text.replace(WRITE_END, f"\n\n\n{WRITE_END}")),
    "variable": (APPEND, lambda text: re.sub(r"\btries\b", "attempts", text)),
    "order": (WRITE, moved),
    "message": (
        "core/file.c",
        lambda text: text.replace("is lost", "is lost, for neither its page nor a copy is read"),
    ),
    "name": (APPEND, lambda text: text.replace("note_shrink", "remember_that_it_shrinks")),
    "function": (APPEND, lambda text: unused(text, FIRST, "function")),
    "data": (APPEND, lambda text: unused(text, FIRST, "data")),
    "zeros": (APPEND, lambda text: unused(text, FIRST, "zeros")),
    "description": (own_module.SUPER, lambda text: text.replace("on-flash format", "on-flash format, and changed")),
}
"""What leaves the work of a write as it is."""

SAME_BYTES = ("comment", "lines", "variable", "order", "name")
"""Those that come out the same to the last byte."""


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a study, its module, and a cache in which the unchanged module was measured."""
    home = tmp_path_factory.mktemp("percent")
    own_cache.make(home)
    own_module.yaffs2(home)
    (home / "my.toml").write_text(
        'title = "My module"\nboard = "arm64-1000"\nmedium = "slc-nand-256m"\nfilesystem = "mine"\nseeds = 3\n'
        + one_percent.STUDY
    )
    own_cache.said(home, "allow", "my.toml", "mine")
    measured(home, "base")
    return home


def measured(home: Path, out: str) -> None:
    """Measure one guest at a time, because the CPUs are busy."""
    with busy(os.cpu_count() or 1):
        own_cache.said(home, "run", "my.toml", "--jobs", "1", "--out", out)


def measured_with(home: Path, file: str, change: Callable[[Path], object], out: str) -> None:
    """Measure the module with one of its files changed, and restore the file."""
    path = home / own_module.SOURCE / file
    kept = path.read_text()
    change(path)
    assert path.read_text() != kept, f"{out}: nothing is changed"
    measured(home, out)
    path.write_text(kept)


def keys(home: Path, out: str) -> list[str]:
    return [row["key"] for row in json.loads((home / out / "results.json").read_text())["repetitions"]]


@pytest.mark.long
@pytest.mark.parametrize("name", SLOWER)
def test_one_percent_is_found_ten_times_out_of_ten(base: Path, name: str) -> None:
    change = SLOWER[name]
    measured_with(base, change.file, lambda _: change.make(base / own_module.SOURCE), name)
    done = own_cache.flashbed(base, "compare", "base", name)
    assert "modules of your own, mine: my-source " in done.stdout
    one_percent.check_found(done, name, ("write", "randwrite"))


@pytest.mark.long
@pytest.mark.parametrize("name", REBUILDS)
def test_a_rebuild_is_flagged_none_times_out_of_ten(base: Path, name: str) -> None:
    file, rewritten = REBUILDS[name]
    measured_with(base, file, lambda path: path.write_text(rewritten(path.read_text())), name)
    assert (keys(base, name) == keys(base, "base")) == (name in SAME_BYTES)
    done = own_cache.flashbed(base, "compare", "base", name)
    assert done.returncode == 0, done.stdout
