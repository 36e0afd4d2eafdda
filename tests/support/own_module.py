# SPDX-License-Identifier: Apache-2.0
"""Modules that a study brings (docs/profiles.md): a changed copy of one of the lab's, or a small file system, in a
directory beside the study, with a profile for it.
"""

from __future__ import annotations

import shutil
from pathlib import Path

from flashbed.common import paths
from tests.support.edits import replace_once
from tests.support.repository import REPOSITORY

SOURCE = "my-source"
"""The directory with the copy."""

SUPER = "super.c"
"""The place where a file system's module is registered."""

WRITE_END = "static int write_end("
"""The place above the code of each write, which is in a file of its own."""

SMALL_PROFILE = f"""\
title  = "Mine"
needs  = "block"
module = "mine"
module_source = "{SOURCE}"
mkfs   = ["true"]

[mount]
type = "mine"
"""


def small(folder: Path) -> Path:
    """Make the file system `mine` of tests/guest/mine, which compiles in a second. Return the copy of its source."""
    profile = _new(folder, "filesystems", "mine")
    profile.write_text(SMALL_PROFILE)
    return _copy(folder, REPOSITORY / "tests/guest/mine")


def yaffs2(folder: Path) -> Path:
    """Make a copy of kernel/yaffs2, and the file system `mine` of it. Return the copy."""
    source = _copy(folder, paths.kernel() / "yaffs2")
    _call(source, "yaffs2", "mine")
    replace_once(source / SUPER, '.name = "yaffs2"', '.name = "mine"')
    replace_once(source / SUPER, 'MODULE_ALIAS_FS("yaffs2")', 'MODULE_ALIAS_FS("mine")')
    profile = _profile(folder, "filesystems", "yaffs2", "mine")
    replace_once(profile, 'module    = "yaffs2"', f'module    = "mine"\nmodule_source = "{SOURCE}"')
    replace_once(profile, 'type   = "yaffs2"', 'type   = "mine"')
    return source


def scheduler(folder: Path, name: str = "mine") -> Path:
    """Make a copy of kernel/iosched with only CFQ, under the name `name`. Return the copy."""
    source = _copy(folder, paths.kernel() / "iosched")
    only = "anticipatory-y := anticipatory_main.o glue.o $(call core-objects, $(IOSCHED_AS))\n"
    replace_once(source / "Kbuild", f"obj-m := anticipatory.o cfq.o\n{only}", "obj-m := cfq.o\n")
    profile = _profile(folder, "schedulers", "cfq", name)
    replace_once(profile, 'module = "cfq"', f'module = "{name}"\nmodule_source = "{SOURCE}"')
    if name != "cfq":
        _call(source, "cfq", name)
        replace_once(source / "cfq_main.c", '.elevator_name = "cfq"', f'.elevator_name = "{name}"')
        replace_once(profile, 'name   = "cfq"', f'name   = "{name}"')
    return source


def _copy(folder: Path, module: Path) -> Path:
    source = folder / SOURCE
    shutil.copytree(module, source)
    return source


def _call(source: Path, module: str, name: str) -> None:
    replace_once(source / "Kbuild", f"obj-m := {module}.o\n{module}-y :=", f"obj-m := {name}.o\n{name}-y :=")


def _new(folder: Path, kind: str, name: str) -> Path:
    path = folder / "profiles" / kind / f"{name}.toml"
    path.parent.mkdir(parents=True)
    return path


def _profile(folder: Path, kind: str, shipped: str, name: str) -> Path:
    """Return the shipped profile under another name, for changes."""
    path = _new(folder, kind, name)
    shutil.copy(paths.profiles() / kind / f"{shipped}.toml", path)
    return path
