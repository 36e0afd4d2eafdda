# SPDX-License-Identifier: Apache-2.0
"""Odd values in a user's files: each is reported with file, line and key before anything runs."""

from __future__ import annotations

import json
import os
import re
import sys
from pathlib import Path

import pytest

from flashbed.common import paths
from flashbed.common.errors import InputError, SetupError
from flashbed.common.tomlfile import TomlFile
from flashbed.execution import run
from flashbed.image import guest_image, guest_parts
from flashbed.medium import parameter_list
from flashbed.profiles.library import Library
from flashbed.profiles.stored_medium import Origin, StoredMedium
from flashbed.study.loading import find_study, load_study
from tests.support.samples import write, write_study

EXT2 = (paths.profiles() / "filesystems/ext2.toml").read_text()


def message(folder: Path, *pairs: tuple[str, str]) -> str:
    path = write_study(folder, *pairs)
    with pytest.raises(InputError) as caught:
        load_study(path)
    return caught.value.message.replace(f"{folder}/", "")


def of_text(folder: Path, text: str) -> str:
    file = write(folder / "a.toml", text)
    with pytest.raises(InputError) as caught:
        TomlFile.read(file)
    return caught.value.message.replace(f"{folder}/", "")


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ('medium     = "stick"', 'medium = ""', "sample.toml:3: medium: "),
        ('board      = "plain"', 'board = ""', "sample.toml:2: board: "),
        ("seeds      = 2", f"seeds = [{2**63}]", "sample.toml:4: seeds[0]: is out of range"),
        ("seeds      = 2", f"seeds = [1, {2**53}]", "sample.toml:4: seeds: must be a number from 1 to 1000, or a list"),
        ("seeds      = 2", 'seeds = 2\nkernel = "9.9"', "sample.toml:5: kernel: must be such as"),
        ("seeds      = 2", 'seeds = 2\nkernel = "٦.١"', "sample.toml:5: kernel: must be such as"),
        ('"64k"]', f'"64k", "{"9" * 5000}"]', "sample.toml:9: axes.request[2]: "),
        ('"stick"', f'"{"m" * 300}"', 'sample.toml:3: medium: no medium "mmm'),
        ('"stick"', f'"stick:from=./{"m" * 300}"', "sample.toml:3: medium: "),
        ('"stick"', '"stick:from=~nosuch/x"', "sample.toml:3: medium: "),
        ('"stick"', f'"stick:read_ns={"9" * 5000}"', "sample.toml:3: medium: "),
        ('"plain"', '"plain:ram=99999999999999999999T"', "sample.toml:2: board: "),
    ],
)
def test_odd_values_of_a_study(tmp_path: Path, old: str, new: str, expected: str) -> None:
    text = message(tmp_path, (old, new))
    assert expected in text
    assert len(text) < 1000


@pytest.mark.parametrize("value", ["inf", "nan", "-inf", "1e400"])
def test_a_number_of_a_claim_that_is_none(tmp_path: Path, value: str) -> None:
    claim = '[[claim]]\ntext = "c"\nmetric = "iops"\nrelation = ">"\nvalue = {}\n[[table]]'
    assert "claim[0].value: must be a finite number" in message(tmp_path, ("[[table]]", claim.format(value)))
    figure = claim.format(f"1.0\nprinted = [{{ value = {value} }}]")
    assert "claim[0].printed[0].value: must be a finite number" in message(tmp_path, ("[[table]]", figure))


@pytest.mark.parametrize("value", ["0", "0.0", "-3"])
def test_a_printed_figure_of_nothing_has_no_ratio(tmp_path: Path, value: str) -> None:
    claim = f'[[claim]]\ntext = "c"\nmetric = "iops"\nrelation = ">"\nvalue = 1\nprinted = [{{ value = {value} }}]'
    text = message(tmp_path, ("[[table]]", f"{claim}\n[[table]]"))
    assert "claim[0].printed[0].value: must be greater than 0" in text


@pytest.mark.parametrize("number", ["9" * 5000, "0x" + "f" * 5000, str(2**63), str(-(2**63) - 1)], ids=len)
def test_numbers_beyond_64_bits(tmp_path: Path, number: str) -> None:
    assert of_text(tmp_path, f"a = 1\nb = {number}\n").startswith("a.toml:2: ")
    assert TomlFile.read(write(tmp_path / "b.toml", f"b = {2**63 - 1}\n")).data == {"b": 2**63 - 1}


@pytest.mark.parametrize(
    "deep",
    [
        "[" * 5000 + "]" * 5000,
        "[" * 20 + "]" * 20,
        "{a=" * 5000 + "1" + "}" * 5000,
        "{" + ".".join("a" * 1000) + " = 1}",
    ],
    ids=["lists", "few lists", "tables", "dots"],
)
def test_deep_nesting(tmp_path: Path, deep: str) -> None:
    assert "more than 16 deep" in of_text(tmp_path, f"a = 1\nb = {deep}\n")
    assert of_text(tmp_path, f"a = 1\nb = {deep}\n").startswith("a.toml:2: ")


def test_a_key_of_a_thousand_parts(tmp_path: Path) -> None:
    for text in (".".join("a" * 1000) + " = 1\n", "[" + ".".join("a" * 1000) + "]\n"):
        assert of_text(tmp_path, "x = 1\n" + text).startswith("a.toml:2: ")


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ('"e2fsck -f -n {image}"', '"e2fsck \'{image}"', "check: cannot be split into words: no closing quotation"),
        ('"e2fsck -f -n {image}"', '"e2fsck\\u202e {image}"', "check: has characters that cannot be printed"),
        ('["e2fsprogs"]', '["./evil.deb"]', 'packages[0]: is no name of a Debian package: "./evil.deb"'),
        ('["e2fsprogs"]', '["e2fsprogs", "-oDir=/x"]', "packages[1]: is no name of a Debian package"),
        ('["/sbin/mke2fs"]', '["/sbin/../../x"]', "programs[0]: is no plain full path"),
        ('["/sbin/mke2fs"]', '["/"]', "programs[0]: is no plain full path"),
        ('["e2fsprogs"]', "[]", "packages: is missing: which Debian packages have the programs"),
    ],
)
def test_odd_values_of_a_profile(tmp_path: Path, old: str, new: str, expected: str) -> None:
    assert old in EXT2
    write(tmp_path / "profiles/filesystems/mine.toml", EXT2.replace(old, new, 1))
    text = message(tmp_path, ("ext2:block=4k", "mine"))
    assert expected in text
    assert text.startswith("profiles/filesystems/mine.toml:")


@pytest.mark.parametrize(
    ("old", "new", "key", "name", "where"),
    [
        ('["e2fsprogs"]', '["e2fsprogs", "nosuch"]', "packages", "nosuch", "packages[1]"),
        ('["/sbin/mke2fs"]', '["/bin/sh"]', "programs", "/bin/sh", "programs[0]"),
        ('needs     = "block"', 'needs = "block"\nmodule = "nosuch"', "module", "nosuch", "module"),
        ('type = "ext2"', 'type = "nosuch"', "type", "nosuch", "mount.type"),
    ],
)
def test_a_part_that_no_guest_can_have(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, old: str, new: str, key: str, name: str, where: str
) -> None:
    """The image room knows the parts; the run knows which profile wants one."""

    def build(*_: object, **__: object) -> None:
        raise guest_parts.PartError("there is none", key, name)

    assert old in EXT2
    write(tmp_path / "profiles/filesystems/mine.toml", EXT2.replace(old, new, 1))
    study = load_study(write_study(tmp_path, ("ext2:block=4k", "mine")))
    monkeypatch.setattr(guest_image, "build", build)
    monkeypatch.setattr(parameter_list, "check_study", lambda *_: None)
    with pytest.raises(InputError, match=rf"mine\.toml:\d+: {re.escape(where)}: there is none"):
        run.prepare(study)


def test_links_in_a_circle(tmp_path: Path) -> None:
    folder = tmp_path / "profiles/media"
    folder.mkdir(parents=True)
    (folder / "loop1.toml").symlink_to("loop1.toml")
    assert "loop1.toml: cannot be read" in message(tmp_path, ('"stick"', '"loop1"'))
    (tmp_path / "round").symlink_to("round")
    assert Library.beside(tmp_path / "round/study.toml").folders[1] == paths.profiles()


def test_a_pipe_is_no_file(tmp_path: Path) -> None:
    """A pipe without a writer must not be read, because the read would never end."""
    os.mkfifo(tmp_path / "pipe.toml")
    with pytest.raises(InputError, match="not a file"):
        TomlFile.read(tmp_path / "pipe.toml")


def test_a_file_with_holes_is_not_read_into_memory(tmp_path: Path) -> None:
    with (tmp_path / "holes.toml").open("wb") as file:
        file.truncate(5 << 30)
    with pytest.raises(InputError, match=r"holes\.toml: cannot be read: has 5\.00 GiB"):
        TomlFile.read(tmp_path / "holes.toml")


def test_a_relative_cache_would_be_another_in_each_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("FLASHBED_CACHE", "cache")
    with pytest.raises(SetupError, match=rf"FLASHBED_CACHE=cache: is relative.*such as {tmp_path}/cache$"):
        paths.cache_root()
    monkeypatch.setenv("FLASHBED_CACHE", "~/cache")
    assert paths.cache_root() == Path.home() / "cache"


def test_a_study_of_a_long_name() -> None:
    with pytest.raises(InputError, match="no such file"):
        find_study("s" * 300)


@pytest.mark.parametrize("job", [f"{'j' * 300}.fio", "a\\u0000b", "profiles"])
def test_a_job_of_a_name_that_no_disk_can_have(tmp_path: Path, job: str) -> None:
    text = message(
        tmp_path,
        ('file  = "8M"\nflush = "fsync"', f'job = "{job}"'),
        ('pattern    = ["read", "write"]\nrequest    = ["4k", "64k"]\n', ""),
    )
    assert text.startswith("sample.toml:")
    assert "cannot be read" in text


@pytest.mark.parametrize("cut", [4, 5, 20, 64, 100])
def test_a_program_that_is_cut_short(tmp_path: Path, cut: int) -> None:
    (tmp_path / "tool").write_bytes(Path(sys.executable).resolve().read_bytes()[:cut] + b"\xff" * 40)
    text = message(
        tmp_path,
        ('tool  = "fio"\nfile  = "8M"\nflush = "fsync"', 'tool = "iozone"\nfile = "8M"\nprogram = "tool"'),
        ('pattern    = ["read", "write"]\nrequest    = ["4k", "64k"]\n', ""),
    )
    assert "is no statically linked program for arm64" in text


@pytest.mark.parametrize("text", ["{}", "[]", "1", "null", '{"profile": 1, "made": []}', "[" * 100_000])
def test_a_medium_that_says_nothing_of_itself(tmp_path: Path, text: str) -> None:
    write(tmp_path / "medium.json", text)
    with pytest.raises(InputError, match=r"medium\.json: "):
        StoredMedium(tmp_path).origin()
    whole = {"profile": "usb-stick-2g", "made": ["created"]}
    write(tmp_path / "medium.json", json.dumps(whole))
    assert StoredMedium(tmp_path).origin() == Origin("usb-stick-2g", ("created",))


# --- fio jobs -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("job", "line", "expected"),
    [
        ("\ufeff[a]\nrw=write\n", 1, "begins with a byte order mark"),
        ("[global]\nbs=4k\n[a\nrw=write\n", 3, '"[a": a section has a name between [ and ]'),
        ("[]\nrw=write\n", 1, "a section has a name"),
        ("[a]\ninclude other.fio\n", 2, "fio's include does not reach files of this computer"),
        ("[a]\nfilename=/dev/medium\nfilename=x:/dev/mblk0\n", 3, "/dev/mblk0"),
        ("[a]\nfilename = /dev/sda\n", 2, "its device is /dev/medium"),
        ("; mine\n\nrw=write\n[a]\n", 3, '"rw=write" stands outside of a section'),
        ("[global]\nrw=write\n", 3, "has no job"),
        ("", 1, "has no job"),
    ],
)
def test_a_job_without_a_shape(tmp_path: Path, job: str, line: int, expected: str) -> None:
    (tmp_path / "mine.fio").write_text(job)
    text = message(
        tmp_path,
        ('file  = "8M"\nflush = "fsync"', 'job = "mine.fio"'),
        ('pattern    = ["read", "write"]\nrequest    = ["4k", "64k"]\n', ""),
    )
    assert text.startswith("sample.toml:")
    assert f"workload.job: mine.fio:{line}: " in text
    assert expected in text
