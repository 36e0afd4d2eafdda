# SPDX-License-Identifier: Apache-2.0
"""flashbed image lock, and --locked: what is written, and how a run ends that cannot keep to it."""

from __future__ import annotations

import re
from pathlib import Path

from flashbed.common import paths
from flashbed.image import lockfile
from tests.e2e.one_cell import WRITE
from tests.support.facts import Facts
from tests.support.fixture_types import Flashbed, StudyWriter


def locked(flashbed: Flashbed, study_file: StudyWriter) -> tuple[Path, Path]:
    """Return a study, and the lock that the command wrote beside it."""
    study = study_file(WRITE)
    done = flashbed("image", "lock", study)
    assert done.returncode == 0, done.stderr
    lock = study.with_suffix(".lock")
    assert done.stdout.startswith(f"{lock}: ")
    return study, lock


def test_a_lock_beside_a_study_is_kept_to(flashbed: Flashbed, study_file: StudyWriter) -> None:
    study, lock = locked(flashbed, study_file)
    assert re.search(r'^"filesystems/ext2" = "[0-9a-f]{64}"$', lock.read_text(), re.MULTILINE)
    done = flashbed("run", study, "--locked", "--out", "report")
    assert done.returncode == 0, done.stderr
    again = flashbed("pack", study, "--locked", "-o", "x.flashbed")
    assert again.returncode == 0, again.stderr


def test_a_profile_that_is_another_than_the_locked_one_ends_with_3(flashbed: Flashbed, study_file: StudyWriter) -> None:
    study, lock = locked(flashbed, study_file)
    lock.write_text(re.sub(r'("filesystems/ext2" = )"[0-9a-f]+"', rf'\1"{"0" * 64}"', lock.read_text()))
    for command in ("run", "pack"):
        done = flashbed(command, study, "--locked")
        assert (done.returncode, done.stdout) == (3, "")
        assert Facts(f"{lock}:", "other files", "profile filesystems/ext2").within(done.stderr)


def test_a_package_that_the_lock_does_not_name_ends_with_3(flashbed: Flashbed, study_file: StudyWriter) -> None:
    study, lock = locked(flashbed, study_file)
    lock.write_text(re.sub(r'^"busybox-static" = \[.*?^\]\n', "", lock.read_text(), flags=re.MULTILINE | re.DOTALL))
    done = flashbed("run", study, "--locked")
    assert done.returncode == 3
    assert f"{lock}: does not name busybox-static" in done.stderr


def test_a_study_of_the_repository_has_no_lock_of_its_own(flashbed: Flashbed) -> None:
    before = sorted(paths.studies().iterdir())
    for name in ("quick", str(paths.studies() / "quick.toml")):
        done = flashbed("image", "lock", name)
        assert (done.returncode, done.stdout) == (2, "")
        message = f"its lock is {lockfile.shipped_path()}, as of all studies there; `flashbed image lock` writes it"
        assert done.stderr == f"flashbed: {paths.studies() / 'quick.toml'}: {message}\n"
    assert sorted(paths.studies().iterdir()) == before
