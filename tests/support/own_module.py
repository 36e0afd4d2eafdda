# SPDX-License-Identifier: Apache-2.0
"""Modules that a study brings, as docs/profiles.md has it: a changed copy of one of the lab's in a folder beside the
study, with a profile for it.
"""

from __future__ import annotations

import shutil
from pathlib import Path

from flashbed.common import paths
from tests.support.edits import replace_once

SOURCE = "my-source"
"""The folder with the copy."""

SUPER = "super.c"
"""Of kernel/yaffs2: where the module is registered."""


def yaffs2(folder: Path, name: str = "mine") -> Path:
    """A copy of kernel/yaffs2, and the file system `name` of it: the module of that name registers it. The copy."""
    source = _copy(folder, "yaffs2")
    if name != "yaffs2":
        _call(source, "yaffs2", name)
        replace_once(source / SUPER, '.name = "yaffs2"', f'.name = "{name}"')
        replace_once(source / SUPER, 'MODULE_ALIAS_FS("yaffs2")', f'MODULE_ALIAS_FS("{name}")')
    profile = _profile(folder, "filesystems", "yaffs2", name)
    replace_once(profile, 'module    = "yaffs2"', f'module    = "{name}"\nmodule_source = "{SOURCE}"')
    replace_once(profile, 'type   = "yaffs2"', f'type   = "{name}"')
    return source


def scheduler(folder: Path, name: str = "mine") -> Path:
    """A copy of kernel/iosched that makes CFQ only, under the name `name`. The copy."""
    source = _copy(folder, "iosched")
    only = "anticipatory-y := anticipatory_main.o glue.o $(call core-objects, $(IOSCHED_AS))\n"
    replace_once(source / "Kbuild", f"obj-m := anticipatory.o cfq.o\n{only}", "obj-m := cfq.o\n")
    _call(source, "cfq", name)
    replace_once(source / "cfq_main.c", '.elevator_name = "cfq"', f'.elevator_name = "{name}"')
    profile = _profile(folder, "schedulers", "cfq", name)
    replace_once(profile, 'name   = "cfq"', f'name   = "{name}"')
    replace_once(profile, 'module = "cfq"', f'module = "{name}"\nmodule_source = "{SOURCE}"')
    return source


def _copy(folder: Path, module: str) -> Path:
    source = folder / SOURCE
    shutil.copytree(paths.kernel() / module, source)
    return source


def _call(source: Path, module: str, name: str) -> None:
    replace_once(source / "Kbuild", f"obj-m := {module}.o\n{module}-y :=", f"obj-m := {name}.o\n{name}-y :=")


def _profile(folder: Path, kind: str, shipped: str, name: str) -> Path:
    """The shipped profile under another name, to be changed."""
    path = folder / "profiles" / kind / f"{name}.toml"
    path.parent.mkdir(parents=True)
    shutil.copy(paths.profiles() / kind / f"{shipped}.toml", path)
    return path
