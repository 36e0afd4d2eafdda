# SPDX-License-Identifier: Apache-2.0
"""The sources that a study brings are in its pack: patches of the kernel, and modules of its profiles."""

from __future__ import annotations

from pathlib import Path

from flashbed.common import paths
from flashbed.common.digest import digest_bytes
from flashbed.image.cache import Entry
from flashbed.image.kernel import Kernel
from flashbed.packs import gathering
from flashbed.study.loading import load_study
from tests.support.facts import Facts

STUDY = """
title  = "Mine"
board  = "arm64-1000"
medium = "usb-stick-2g"
kernel = "6.1:patch=x.patch"

[axes]
filesystem = ["mine"]

[workload]
tool    = "fio"
pattern = "write"
file    = "2M"
request = "64k"
"""
PATCH = b"--- a/fs/ext2/file.c\n+++ b/fs/ext2/file.c\n@@ -1 +1 @@\n-a\n+b\n"


def study_in(folder: Path) -> Path:
    (folder / "profiles/filesystems").mkdir(parents=True)
    (folder / "module").mkdir()
    (folder / "module/Kbuild").write_text("obj-m := mine.o\n")
    (folder / "module/mine.c").write_text("/* mine */\n")
    (folder / "module/mine.ko").write_text("left by a build\n")
    (folder / "shared").mkdir()
    (folder / "shared/mine.h").write_text("/* shared */\n")
    (folder / "module/shared").symlink_to(folder / "shared")
    shipped = (paths.profiles() / "filesystems/ext2.toml").read_text()
    own = 'module = "mine"\nmodule_source = "module"\n'
    head, line, rest = shipped.partition("\ntitle")
    (folder / "profiles/filesystems/mine.toml").write_text(f"{head}\n{own}{line.lstrip()}{rest}")
    (folder / "x.patch").write_bytes(PATCH)
    (folder / "mine.toml").write_text(STUDY)
    return folder / "mine.toml"


def test_sources_that_a_study_brings_are_in_its_pack(tmp_path: Path) -> None:
    study = load_study(study_in(tmp_path))
    packed = gathering.study_files(study)
    own = ["sources/own/mine/Kbuild", "sources/own/mine/mine.c", "sources/own/mine/shared/mine.h"]
    assert sorted(name for name in packed if "/own/" in name) == own
    assert packed["sources/own/mine/mine.c"].read_text() == "/* mine */\n"
    assert gathering.study_patches(study) == {f"sources/own/{digest_bytes(PATCH)[:12]}-x.patch": PATCH}


def test_kernels_of_ones_own_are_named_by_their_source(tmp_path: Path) -> None:
    entry = Entry.__new__(Entry)
    own = Kernel(entry, "linux@v6.12 0123456789ab", source="0123456789ab" + "c" * 28)
    names = gathering.own_kernels([own, own, Kernel(entry, "6.1.1-1")])
    [name] = names.splitlines()
    assert name == Facts("linux@v6.12 0123456789ab: ", str(own.source))
    assert gathering.own_kernels([Kernel(entry, "6.1.1-1")]) == ""
