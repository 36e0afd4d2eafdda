# SPDX-License-Identifier: Apache-2.0
"""Which kernel modules there are is known before any is built, and a guest builds no more of them than it loads."""

from __future__ import annotations

from pathlib import Path

import pytest

from flashbed import image
from flashbed.common import paths
from flashbed.common.errors import InputError
from flashbed.image import modules
from flashbed.profiles.library import Library


def test_every_module_is_known_by_name_without_building() -> None:
    known = modules.to_choose()
    assert known["anticipatory"] == known["cfq"] == "iosched"
    assert known["exfat"] == "exfat"
    assert known["mtd_speedtest"] == "mtd_tests"
    assert {"media_ftl", "yaffs2", "jffs2", "jffs2_summary"} <= set(known)
    assert not {"media_blk", "media_nand"} & set(known)  # every guest has them


def test_each_folder_says_what_it_makes() -> None:
    assert {folder: modules.made_by(folder) for folder in modules.names()} == {
        "iosched": ("anticipatory", "cfq"),
        "media_blk": ("media_blk",),
        "media_ftl": ("media_ftl",),
        "media_nand": ("media_nand",),
        "yaffs2": ("yaffs2",),
    }


def test_shipped_profiles_name_modules_that_there_are() -> None:
    library = Library((paths.profiles(),))
    named = {library.filesystem(name).module for name in library.names("filesystem")}
    named |= {library.scheduler(name).module for name in library.names("scheduler")}
    named |= {library.translation(name).module for name in library.names("translation")}
    assert named - {None} <= set(modules.to_choose())


def test_an_unknown_module_is_refused_before_anything_is_built(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("FLASHBED_CACHE", str(tmp_path))
    wanted = image.ProgramSet(("dosfstools",), ("/sbin/mkfs.fat",), ("my-fat",))
    with pytest.raises(InputError, match=r'"my-fat": there is no such module .*anticipatory, cfq, exfat, jffs2'):
        image.build("6.1", [wanted])
    assert list(tmp_path.iterdir()) == []


def test_only_the_modules_that_are_wanted_are_built(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    built: list[str] = []

    class Made:
        def __init__(self, name: str) -> None:
            built.append(name)

        def path(self, name: str) -> Path:
            return tmp_path / name

    monkeypatch.setattr(modules, "build", lambda _cache, _kernel, name: Made(name))
    monkeypatch.setattr(modules, "build_of_the_kernel", lambda _cache, _kernel, name: Made(name))
    found = modules.build_chosen(None, None, ["cfq", "exfat", "cfq"])  # type: ignore[arg-type]
    assert found == {"cfq": tmp_path / "cfq.ko", "exfat": tmp_path / "exfat.ko"}
    assert built == ["iosched", "exfat"]
