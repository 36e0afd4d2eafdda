# SPDX-License-Identifier: Apache-2.0
"""The lock beside a study: it names the study's own files, and the repository's lock does not."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from flashbed.common import paths
from flashbed.common.errors import SetupError
from flashbed.execution import pinning
from flashbed.image import lockfile
from flashbed.image.lockfile import Lockfile
from flashbed.study.loading import Study, load_study
from tests.support.samples import write, write_study

EXT2 = (paths.profiles() / "filesystems/ext2.toml").read_text()
LABS = "profiles/schedulers/none.toml"
"""A shipped profile that the study uses."""

BROUGHT = 'module = "mine"\nmodule_source = "my-source"\n'


@pytest.fixture(autouse=True)
def _no_choice() -> Iterator[None]:
    yield
    lockfile.choose_pins(None)


@pytest.fixture
def study(tmp_path: Path) -> Study:
    """Return a study with a file system and a module of its own."""
    write(tmp_path / "profiles/filesystems/mine.toml", EXT2.replace("\n[mount]", f"\n{BROUGHT}[mount]", 1))
    write(tmp_path / "my-source/Kbuild", "obj-m := mine.o\n")
    write(tmp_path / "my-source/mine.c", "/* 1 */\n")
    return load_study(write_study(tmp_path, ("ext2:block=4k", "mine:block=4k")))


@pytest.fixture
def lock_of(monkeypatch: pytest.MonkeyPatch) -> Callable[[Study], Lockfile]:
    """Write the lock beside the study, without asking Debian's archive."""
    monkeypatch.setattr(pinning, "_lock", lambda path, profiles, _studies: Lockfile(path, profiles=profiles))

    def make(of: Study) -> Lockfile:
        lockfile.write(pinning.lock_study(of))
        return lockfile.read(of.path.with_suffix(lockfile.LOCK_SUFFIX))

    return make


def test_a_changed_module_of_ones_own_is_told(
    study: Study, lock_of: Callable[[Study], Lockfile], tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    lock, source = lock_of(study), tmp_path / "my-source"
    assert list(lock.modules) == ["mine"]
    pinning.keep_to(study, strict=True)
    write(source / "mine.o", "left by a build")
    pinning.keep_to(study, strict=True)
    write(source / "mine.c", "/* 2 */\n")
    message = f"{lock.path}: was written for other files than are here: module mine of {source}"
    with pytest.raises(SetupError) as error:
        pinning.keep_to(study, strict=True)
    assert error.value.message.startswith(f"{message}. Take them back")
    assert f"`flashbed image lock {study.path}`" in error.value.message
    assert not caplog.text
    pinning.keep_to(study, strict=False)
    assert f"{message}; figures may be others" in caplog.text


def test_a_lock_of_before_names_no_modules(study: Study, lock_of: Callable[[Study], Lockfile], tmp_path: Path) -> None:
    lock = replace(lock_of(study), modules={})
    lockfile.write(lock)
    assert "[modules]" not in lock.path.read_text()
    with pytest.raises(SetupError, match=r"here: module mine of .*my-source \(not in it\)\. "):
        pinning.keep_to(study, strict=True)


def test_a_module_is_the_same_wherever_it_lies(
    study: Study, lock_of: Callable[[Study], Lockfile], tmp_path: Path
) -> None:
    lock_of(study)
    for name in ("profiles", "my-source"):
        shutil.copytree(tmp_path / name, tmp_path / "elsewhere" / name)
    for file in (study.path, study.path.with_suffix(lockfile.LOCK_SUFFIX)):
        shutil.copy(file, tmp_path / "elsewhere")
    pinning.keep_to(load_study(tmp_path / "elsewhere" / study.path.name), strict=True)


def test_the_repository_s_lock_does_not_know_what_a_study_brings(
    study: Study, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """The exception is a profile that replaces a profile of the lock."""
    pinning.keep_to(study, strict=True)
    assert not caplog.text
    write(tmp_path / LABS, f"{(paths.profiles().parent / LABS).read_text()}# mine\n")
    with pytest.raises(SetupError, match=r"than are here: profile schedulers/none\. "):
        pinning.keep_to(load_study(study.path), strict=True)


def test_a_profile_of_the_lab_s_that_no_lock_names_is_told(study: Study) -> None:
    lock = lockfile.shipped()
    assert lock is not None
    less = {name: digest for name, digest in lock.profiles.items() if name != "schedulers/none"}
    assert list(pinning.differences(replace(lock, profiles=less), study)) == ["profile schedulers/none (not in it)"]


def test_a_lock_of_its_own_knows_each_profile(study: Study, lock_of: Callable[[Study], Lockfile]) -> None:
    lock = lock_of(study)
    less = {name: digest for name, digest in lock.profiles.items() if name != "filesystems/mine"}
    assert list(pinning.differences(replace(lock, profiles=less), study)) == ["profile filesystems/mine (not in it)"]
