# SPDX-License-Identifier: Apache-2.0
"""Directories of a kernel's objects: restored after a build, copied, and asked for dependencies."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from flashbed_appliance.shrinking import workbench
from flashbed_appliance.shrinking.workbench import Workbench

LONG_AGO_NS = 1_600_000_000_000_000_000


def _seen(folder: Path) -> dict[str, tuple[object, ...]]:
    """Return the type and modification time of everything below a directory."""
    environments: dict[str, tuple[object, ...]] = {}
    for path in folder.rglob("*"):
        name = str(path.relative_to(folder))
        if path.is_symlink():
            environments[name] = ("link", path.readlink())
        elif path.is_dir():
            environments[name] = ("folder",)
        else:
            environments[name] = (path.read_bytes(), path.stat().st_mtime_ns, path.stat().st_mode)
    return environments


@pytest.fixture
def objects(tmp_path: Path) -> Path:
    folder = tmp_path / "linux-objects"
    (folder / "fs/nfsd").mkdir(parents=True)
    (folder / "fs/nfsd/vfs.o").write_bytes(b"code")
    (folder / "fs/nfsd/.vfs.o.cmd").write_text(
        "deps := $(wildcard include/config/NFSD_V4) include/config/NFSD_V4 x.h\n"
    )
    (folder / "fs/.open.o.cmd").write_text("$(wildcard include/config/NFSD_V4) $(wildcard include/config/QUOTA)\n")
    (folder / "source").symlink_to("/usr")
    (folder / "tools").mkdir()
    (folder / "tools/.check.o.cmd").write_text(f"cc -o {folder}/tools/check.o; {folder}-2/other.h\n")
    for path in folder.rglob("*"):
        if path.is_file():
            os.utime(path, ns=(LONG_AGO_NS, LONG_AGO_NS))
    return folder


def test_what_a_build_changed_is_put_back(objects: Path, tmp_path: Path) -> None:
    bench = Workbench(objects, tmp_path / "copy")
    before = _seen(objects)
    assert bench.restored() == objects
    (objects / "fs/nfsd/vfs.o").write_bytes(b"CODE")  # as many bytes
    (objects / "fs/.open.o.cmd").unlink()
    (objects / "new/one").mkdir(parents=True)
    (objects / "new/one/two.o").write_bytes(b"")
    (objects / "source").unlink()
    (objects / "source").symlink_to("/etc")
    (objects / "tools").rename(objects / "moved")
    (objects / "tools").write_text("a file now")
    (objects / "fs/nfsd/vfs.o").chmod(0o755)
    bench.restored()
    assert _seen(objects) == before


def test_what_no_build_changed_is_left_alone(objects: Path, tmp_path: Path) -> None:
    bench = Workbench(objects, tmp_path / "copy")
    bench.restored()
    file = objects / "fs/nfsd/vfs.o"
    number = file.stat().st_ino
    (objects / "fs/.open.o.cmd").unlink()
    bench.restored()
    assert file.stat().st_ino == number
    assert (objects / "fs/.open.o.cmd").exists()


def test_copied_objects_say_where_they_are_now_and_are_no_newer(objects: Path, tmp_path: Path) -> None:
    to = tmp_path / "elsewhere"
    to.mkdir()
    (to / "stale.o").write_bytes(b"")
    workbench.copied(objects, to)
    assert (to / "tools/.check.o.cmd").read_text() == f"cc -o {to}/tools/check.o; {objects}-2/other.h\n"
    assert (to / "tools/.check.o.cmd").stat().st_mtime_ns == LONG_AGO_NS
    assert not (to / "stale.o").exists()


def test_each_object_counts_once_for_an_option(objects: Path, tmp_path: Path) -> None:
    assert workbench.dependents(objects, tmp_path / "source") == {"CONFIG_NFSD_V4": 2, "CONFIG_QUOTA": 1}


def test_an_option_of_the_compilers_flags_counts_for_all_objects(objects: Path, tmp_path: Path) -> None:
    makefile = tmp_path / "source/arch/x86/Makefile"
    makefile.parent.mkdir(parents=True)
    makefile.write_text("ifdef CONFIG_UNWINDER_GUESS\nKBUILD_CFLAGS += -g\nendif\n")
    dependents = workbench.dependents(objects, tmp_path / "source")
    assert dependents["CONFIG_UNWINDER_GUESS"] == 3 > dependents["CONFIG_NFSD_V4"]
