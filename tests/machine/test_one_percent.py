# SPDX-License-Identifier: Apache-2.0
"""A line that adds 1 % to the CPU time of a write is found, and a rebuild that changes nothing is not, while other
programs keep every CPU of this host busy. Takes the time of a whole kernel, and of 20 patches.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support import kernel_tree, one_percent
from tests.support.busy_host import busy
from tests.support.fixture_types import StudyWriter
from tests.support.kernel_tree import BASE
from tests.support.one_percent import Change, unused

INODE, FILE = "fs/ext2/inode.c", "fs/ext2/file.c"

GET_BLOCK = "\tret = ext2_get_blocks(inode, iblock, max_blocks, &bno, &new, &boundary,\n"
BEGIN = "\tret = block_write_begin(mapping, pos, len, pagep, ext2_get_block);\n"
END = "\tret = generic_write_end(file, mapping, pos, len, copied, page, fsdata);\n"
WRITE = "\treturn generic_file_write_iter(iocb, from);\n"
LOCK = "&EXT2_I(inode)->i_meta_lock"

SLOWER = {
    "loop": Change(INODE, GET_BLOCK, "for (int turn = 0; turn < 115; turn++) barrier();"),
    "relax": Change(INODE, BEGIN, "for (int turn = 0; turn < 78; turn++) cpu_relax();"),
    "delay": Change(INODE, END, "for (u64 end = ktime_get_ns() + 235; ktime_get_ns() < end; ) ;"),
    "allocation": Change(FILE, WRITE, "for (int turn = 0; turn < 2; turn++) kfree(kmalloc(64, GFP_KERNEL));"),
    "scan": Change(
        INODE,
        "\tif (ret < len)\n\t\text2_write_failed(mapping, pos + len);\n\treturn ret;\n}\n\nstatic sector_t",
        "WARN_ON_ONCE(memchr_inv(empty_zero_page, 0, 320));",
    ),
    "clock": Change(INODE, "\tBUG_ON(maxblocks == 0);\n", "for (int turn = 0; turn < 5; turn++) ktime_get_ns();"),
    "path": Change(
        INODE, "\tif (i_block < 0) {\n", "for (int turn = 0; turn < 115; turn++) OPTIMIZER_HIDE_VAR(i_block);"
    ),
    "lock": Change(
        INODE,
        "\t/* i_data is not going away, no lock needed */\n",
        f"for (int turn = 0; turn < 19; turn++) {{ read_lock({LOCK}); read_unlock({LOCK}); }}",
    ),
    "once": Change(
        FILE,
        "\tret = generic_file_fsync(file, start, end, datasync);\n",
        "for (int turn = 0; turn < 300000; turn++) barrier();",
    ),
    "privileges": Change(FILE, WRITE, "for (int turn = 0; turn < 10; turn++) file_remove_privs(iocb->ki_filp);"),
}

FIRST_TYPE = "typedef struct {\n\t__le32\t*p;\n"
WRITE_END = "static int ext2_write_end("
MESSAGE = '"warning: %s: block is too big"'
LONGER = '"a warning of %s: this block of the file is too big for the tree of blocks that ext2 has"'


def moved(text: str) -> str:
    """Return the source with ext2_write_end moved in front of ext2_write_begin."""
    begin, end, after = (text.index(word) for word in ("static int\next2_write_begin(", WRITE_END, "static sector_t"))
    return text[:begin] + text[end:after] + text[begin:end] + text[after:]


REBUILDS: dict[str, tuple[str, Callable[[str], str]]] = {
    "comment": (INODE, lambda text: text.replace(BEGIN, f"\t/* Reserves the page. */\n{BEGIN}")),
    "lines": (INODE, lambda text: text.replace(END, f"\n\n\n{END}")),
    "variable": (INODE, lambda text: re.sub(r"\bfirst_block\b", "found_block", text)),
    "order": (INODE, moved),
    "message": (INODE, lambda text: text.replace(MESSAGE, LONGER)),
    "name": (INODE, lambda text: text.replace("ext2_get_branch", "ext2_chain_of_blocks")),
    "function": (INODE, lambda text: unused(text, FIRST_TYPE, "function")),
    "data": (INODE, lambda text: unused(text, FIRST_TYPE, "data")),
    "zeros": (INODE, lambda text: unused(text, FIRST_TYPE, "zeros")),
    "version": ("Makefile", lambda text: text.replace("\nEXTRAVERSION =", "\nEXTRAVERSION = -mine", 1)),
}
"""What leaves the work of a write as it is: the first four come out the same to the last byte, the others do not."""

SAME_BYTES = ("comment", "lines", "variable", "order")


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a source tree, a revision of the tree for each change, and a cache without kernels of it."""
    folder = kernel_tree.make(tmp_path_factory.mktemp("percent"))
    for name, change in SLOWER.items():
        change.make(folder / kernel_tree.TREE)
        kernel_tree.commit(folder, name)
    for name, (file, rewritten) in REBUILDS.items():
        path = folder / kernel_tree.TREE / file
        path.write_text(rewritten(path.read_text()))
        kernel_tree.commit(folder, name)
    return folder


def kernel(name: str) -> str:
    return f"./linux@{BASE}..{name}"


def measured(home: Path, study: Path, names: list[str], out: str) -> str:
    """Run the study on these revisions and on the base, and return the output."""
    kernels = [f"./linux@{BASE}", *map(kernel, names)]
    (home / "my.toml").write_text(study.read_text())
    with busy(os.cpu_count() or 1):
        done = kernel_tree.flashbed(
            home, "run", "my.toml", *(word for version in kernels for word in ("--kernel", version)), "--out", out
        )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def keys(home: Path, out: str) -> dict[str, str]:
    """Return the keys of one repetition by the study's name of the kernel. Two keys are the same if the kernels are, to
    the last byte.
    """
    rows = json.loads((home / out / "results.json").read_text())["repetitions"]
    return {row["kernel"]: row["key"] for row in rows if row["pattern"] == "write" and row["seed"] == 1}


@pytest.mark.long
def test_one_percent_is_found_ten_times_out_of_ten(home: Path, study_file: StudyWriter) -> None:
    study = study_file(one_percent.STUDY, name="my", filesystem="ext2", seeds=3)
    answer = measured(home, study, list(SLOWER), "slower")
    assert answer.count("1 of 1 changed lines ran, first in") == len(SLOWER), answer
    for name in SLOWER:
        done = kernel_tree.flashbed(home, "compare", f"slower@kernel=./linux@{BASE}", f"slower@kernel={kernel(name)}")
        one_percent.check_found(done, name)


@pytest.mark.long
def test_a_rebuild_is_flagged_none_times_out_of_ten(home: Path, study_file: StudyWriter) -> None:
    study = study_file(one_percent.STUDY, name="my", filesystem="ext2", seeds=3)
    measured(home, study, list(REBUILDS), "same")
    built = keys(home, "same")
    for name in REBUILDS:
        assert (built[kernel(name)] == built[f"./linux@{BASE}"]) == (name in SAME_BYTES), name
        done = kernel_tree.flashbed(home, "compare", f"same@kernel=./linux@{BASE}", f"same@kernel={kernel(name)}")
        assert done.returncode == 0, f"{name}: {done.stdout}"
