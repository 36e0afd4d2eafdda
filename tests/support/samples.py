# SPDX-License-Identifier: Apache-2.0
"""A small study with profiles of its own, for tests. It is written to a directory, with parts of its text replaced."""

import re
from pathlib import Path

import pytest

from flashbed.common import paths
from flashbed.common.errors import InputError
from flashbed.profiles.library import Library
from flashbed.study.loading import Study, load_study
from tests.support.repository import REPOSITORY

STUDY = """\
title      = "A study"
board      = "plain"
medium     = "stick"
seeds      = 2

[axes]
filesystem = ["fat16:cluster=32k", "ext2:block=4k"]
pattern    = ["read", "write"]
request    = ["4k", "64k"]

[workload]
tool  = "fio"
file  = "8M"
flush = "fsync"

[answer]
compare = "filesystem"
metric  = "bandwidth"
by      = ["pattern"]

[[figure]]
title  = "Writing"
where  = { pattern = "write" }
x      = "request"
y      = "bandwidth"
series = "filesystem"

[[table]]
title   = "All"
rows    = ["pattern", "request"]
columns = ["filesystem"]
metric  = "iops"
"""

FILESYSTEM = """\
title = "Some"
needs = "block"
mkfs  = ["/sbin/mkfs {options} {device}"]
[mount]
type  = "some"
options = "base"
[options.size]
meaning = "a size"
kind    = "size"
min     = "1k"
max     = "64k"
divide  = 512
mkfs    = "-s {value}"
max_units = 100
[options.number]
meaning = "a number"
kind    = "int"
default = 3
mkfs    = "-n {value}"
[options.mode]
meaning = "a choice"
kind    = "choice"
choices = ["slow", "fast"]
mount   = "mode={value}"
[options.quick]
meaning = "a flag"
kind    = "flag"
mount   = "quick"
"""

BOARD = """\
title          = "A board"
mips = 1000
ram            = "256M"
cpu            = "cortex-a53"
transfer       = "dma"
[source]
mips = "assumed: a test"
ram            = "assumed: a test"
"""

MEDIUM = """\
title          = "A medium"
kind           = "flash"
capacity_bytes = "{capacity}"
queue_depth    = 1
page_bytes     = "2k"
read_ns        = 25000
[source]
capacity_bytes = "assumed: a test"
queue_depth    = "assumed: a test"
page_bytes     = "assumed: a test"
read_ns        = "assumed: a test"
"""


def documented(page: str) -> list[tuple[str, str]]:
    """Return the files that a page of docs/ shows: the name in each block's first line, and the block."""
    text = (REPOSITORY / "docs" / page).read_text()
    return [
        (name, block) for block, name in re.findall(r"```toml(?: tested)?\n(# ([\w./-]+)\n.*?)```", text, re.DOTALL)
    ]


def replaced(text: str, *pairs: tuple[str, str]) -> str:
    """Return `text` with each old part, which must be there, replaced by the new one."""
    for old, new in pairs:
        assert old in text, old
        text = text.replace(old, new, 1)
    return text


def write(path: Path, text: str) -> Path:
    """Write a file, and make its directories."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def write_study(folder: Path, *pairs: tuple[str, str]) -> Path:
    """Write the sample study to `folder`, with its profiles beside it: "stick" has 2000 MiB and "card" has 40 MiB."""
    write(folder / "profiles/boards/plain.toml", BOARD)
    write(folder / "profiles/media/stick.toml", MEDIUM.format(capacity="2000M"))
    write(folder / "profiles/media/card.toml", MEDIUM.format(capacity="40M"))
    return write(folder / "sample.toml", replaced(STUDY, *pairs))


def shipped() -> Library:
    """Return the library of only the repository's profiles."""
    return Library((paths.profiles(),))


def load(folder: Path, *pairs: tuple[str, str]) -> Study:
    return load_study(write_study(folder, *pairs))


def message(folder: Path, *pairs: tuple[str, str]) -> str:
    """Return the error message, without the path."""
    path = write_study(folder, *pairs)
    with pytest.raises(InputError) as caught:
        load_study(path)
    return caught.value.message.replace(f"{path}:", "")
