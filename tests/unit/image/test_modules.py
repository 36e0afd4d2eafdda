# SPDX-License-Identifier: Apache-2.0
"""The names of kernel modules are known before any is built, and a guest builds only the modules that it loads."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from flashbed.common import paths
from flashbed.common.errors import InputError
from flashbed.execution import pinning
from flashbed.image import guest_image, guest_parts, module_order, modules
from flashbed.image.cache import Entry
from flashbed.profiles.kernel_choice import DEBIAN_KERNEL, NAS_KERNEL
from flashbed.profiles.library import Library


def test_every_module_is_known_by_name_without_building() -> None:
    known = modules.to_choose()
    assert known["anticipatory"] == known["cfq"] == "iosched"
    assert known["exfat"] == "exfat"
    assert known["mtd_speedtest"] == "mtd_tests"
    assert {"media_ftl", "yaffs2", "jffs2", "jffs2_summary", "f2fs", "f2fs_direct_lock", "xfs"} <= set(known)


def test_each_folder_says_what_it_makes() -> None:
    assert {folder: modules.made_by(folder) for folder in modules.names()} == {
        "iosched": ("anticipatory", "cfq"),
        "media_blk": ("media_blk",),
        "media_ftl": ("media_ftl",),
        "media_nand": ("media_nand",),
        "program_region": ("program_region",),
        "yaffs2": ("yaffs2",),
    }


def test_shipped_profiles_name_modules_that_there_are() -> None:
    library = Library((paths.profiles(),))
    named = {library.filesystem(name).module for name in library.names("filesystem")}
    named |= {library.scheduler(name).module for name in library.names("scheduler")}
    named |= {library.translation(name).module for name in library.names("translation")}
    assert named - {None} <= set(modules.to_choose())


def test_each_lock_of_direct_reads_has_the_module_that_knows_it() -> None:
    library = Library((paths.profiles(),))
    assert library.filesystem("f2fs").module is None
    for lock in ("none", "submission", "completion", "range"):
        chosen = library.filesystem(f"f2fs:direct_lock={lock}")
        assert (chosen.module, chosen.mount_options) == ("f2fs_direct_lock", f"direct_lock={lock}")


def test_what_changes_a_module_of_the_kernel_is_in_kernel() -> None:
    for name, entry in modules.OF_THE_KERNEL.items():
        if entry.change:
            assert entry.name == name
            assert list((paths.kernel() / entry.change).glob("*.patch"))


def test_modules_of_the_lab_s_say_by_their_headers_whose_symbols_they_use() -> None:
    assert {folder: modules.uses(paths.kernel() / folder) for folder in modules.names()} == {
        "iosched": [],
        "media_blk": [],
        "media_ftl": ["mtd"],
        "media_nand": ["mtd"],
        "program_region": [],
        "yaffs2": ["mtd"],
    }


def test_a_module_of_the_user_s_may_use_what_the_kernel_has_as_modules(tmp_path: Path) -> None:
    (tmp_path / "mine.c").write_text("#include <linux/fs.h>\n# include <linux/jbd2.h>\n#include <linux/mtd/ubi.h>\n")
    assert modules.uses(tmp_path) == ["mtd", "ubi", "ext4"]


def test_the_kernel_s_configuration_makes_modules_of_them() -> None:
    lines = (paths.guest() / "kernel.config").read_text().splitlines()
    options = {entry.option for entry in modules.OF_THE_KERNEL.values() if entry.option}
    assert options <= {line.removesuffix("=m") for line in lines if line.endswith("=m")}


MAKES = {"mtd": ("mtd", "mtd_blkdevs", "mtdblock", "nand"), "ubi": ("ubi",), "ubifs": ("ubifs",)}
DEPENDS = {
    "mtd_blkdevs": ["mtd"],
    "mtdblock": ["mtd_blkdevs", "mtd"],
    "nand": ["mtd"],
    "ubi": ["mtd"],
    "ubifs": ["ubi"],
}


class KernelOf:
    """A kernel with these options as modules."""

    def __init__(self, *options: str) -> None:
        self.options = options

    def is_module(self, option: str) -> bool:
        return option in self.options


@pytest.mark.parametrize(
    ("options", "requests", "chosen", "built", "loaded"),
    [
        (("MTD", "MTD_UBI", "UBIFS_FS"), ["xhci_pci", "bfq-iosched", "fs-ext2"], None, [], []),
        (
            ("MTD", "MTD_UBI", "UBIFS_FS"),
            ["mtdblock", "fs-ubifs"],
            "nand",
            ["mtd", "ubi", "ubifs"],
            ["mtd", "mtd_blkdevs", "mtdblock", "ubi", "ubifs", "nand"],
        ),
        (("MTD",), ["fs-ubifs"], "mtd", ["mtd"], ["mtd"]),  # built in, or not in this kernel
    ],
)
def test_a_guest_loads_what_it_requests_with_what_that_needs(
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    options: tuple[str, ...],
    requests: list[str],
    chosen: str | None,
    built: list[str],
    loaded: list[str],
) -> None:
    modprobed: list[str] = []

    def build(_cache: object, _kernel: object, name: str) -> Entry:
        modprobed.append(name)
        for module in MAKES[name]:
            (tmp_path / name).mkdir(exist_ok=True)
            (tmp_path / name / f"{module}.ko").touch()
        return Entry(tmp_path / name, {})

    monkeypatch.setattr(modules, "build_of_the_kernel", build)
    monkeypatch.setattr(module_order, "aliases", lambda files: {f"fs_{name}": name for name in files})
    monkeypatch.setattr(
        module_order, "needs", lambda file: DEPENDS.get(file.stem, [chosen] if file.stem == "own" else [])
    )
    kernel: Any = KernelOf(*(f"CONFIG_{option}" for option in options))
    no_cache: Any = None
    archive = modules.loaded(no_cache, kernel, requests, [Path("own.ko")] if chosen else [])
    assert modprobed == built
    assert [file.name for file in archive] == [
        f"/lib/flashbed/kernel/cell/{number:02}-{name}.ko" for number, name in enumerate(loaded)
    ]


def test_an_unknown_module_is_refused_before_anything_is_built(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("FLASHBED_CACHE", str(tmp_path))
    program_set = guest_parts.ProgramSet(("dosfstools",), ("/sbin/mkfs.fat",), ("my-fat",))
    with pytest.raises(InputError, match=r'"my-fat": there is no such module .*exfat, ext4, f2fs'):
        guest_image.build("6.1", [program_set])
    assert list(tmp_path.iterdir()) == []


def test_a_server_s_kernel_is_not_to_be_built_for_with_what_it_cannot_have() -> None:
    sets = pinning.sets_of_guests(NAS_KERNEL)
    assert sets
    assert all("sfsload" in program_set.built and program_set.modules == () for program_set in sets)


def test_what_debian_s_kernel_runs_is_there_with_no_module_built() -> None:
    sets = pinning.sets_of_guests(DEBIAN_KERNEL)
    assert {program_set.modules for program_set in sets} == {()}
    assert any("sfsload" in program_set.built for program_set in sets)
    assert "/sbin/mkfs.f2fs" in {program for program_set in sets for program in program_set.programs}


def test_any_other_kernel_is_built_for_with_every_module() -> None:
    chosen = modules.to_choose().keys() - {"program_region"}  # it needs a kernel that maps device memory
    assert {program_set.modules for program_set in pinning.sets_of_guests("6.1")} == {
        (),
        *((module,) for module in chosen),
    }


def test_only_the_modules_that_are_wanted_are_built(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    built: list[str] = []

    class Made:
        def __init__(self, name: str) -> None:
            built.append(name)

        def path(self, name: str) -> Path:
            return tmp_path / name

    monkeypatch.setattr(modules, "build", lambda _cache, _kernel, name: Made(name))
    monkeypatch.setattr(modules, "build_of_the_kernel", lambda _cache, _kernel, name: Made(name))
    not_asked: Any = None
    files = modules.build_chosen(not_asked, not_asked, ["cfq", "exfat", "cfq"])
    assert files == {"cfq": tmp_path / "cfq.ko", "exfat": tmp_path / "exfat.ko"}
    assert built == ["iosched", "exfat"]
