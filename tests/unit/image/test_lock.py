# SPDX-License-Identifier: Apache-2.0
"""The lock: its files are used, or the message says which are unavailable. The repository's lock matches its tree."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from flashbed.common import paths
from flashbed.common.errors import InputError, SetupError
from flashbed.execution import pinning
from flashbed.image import apt, debian, emulator, lockfile
from flashbed.image.apt import Mirrors
from flashbed.image.debian import Archive
from flashbed.image.lockfile import ArchiveFile, Lockfile, Pins
from flashbed.study.loading import load_study
from tests.unit.image import made_up_apt
from tests.unit.image.made_up_apt import package

ArchiveOf = Callable[..., Archive]

DIGEST = "0" * 64

FILES = 'format = 1\nsuite = "bookworm"\n[files]\n'
REST = f'sha256 = "{DIGEST}", bytes = 1, from = "debian pool/a.deb"'


@pytest.fixture
def apt_log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    return made_up_apt.install(tmp_path, monkeypatch)


@pytest.fixture
def archive_of(apt_log: Path, tmp_path: Path) -> ArchiveOf:
    """Return an archive that keeps to a lock with these requests."""

    def make(requests: dict[str, tuple[ArchiveFile, ...]], *, strict: bool = False) -> Archive:
        lock = Lockfile(tmp_path / "the.lock", requests={"arm64": requests})
        return Archive(tmp_path / "debian", "arm64", Pins(lock, strict=strict))

    return make


def test_a_lock_is_read_as_it_was_written(tmp_path: Path) -> None:
    files = (package("b"), ArchiveFile("libx_1%3a2+b1_arm64.deb", DIGEST, 7, "debian-security pool/updates/x.deb"))
    lock = Lockfile(tmp_path / "a.lock", "bookworm", {"guest": DIGEST}, {"boards/x": DIGEST}, {"arm64": {"a b": files}})
    lock = replace(lock, modules={"mine": DIGEST})
    lockfile.write(lock)
    first = lock.path.read_bytes()
    assert lockfile.read(lock.path) == lock
    lockfile.write(lockfile.read(lock.path))
    assert lock.path.read_bytes() == first
    assert b'version = "1:2+b1"' in first


@pytest.mark.parametrize(
    ("name", "version"),
    [
        ("fio_3.33-3.dsc", "3.33-3"),
        ("fio_3.33.orig.tar.gz.asc", "3.33"),
        ("qemu_7.2+dfsg-7+deb12u18.debian.tar.xz", "7.2+dfsg-7+deb12u18"),
        ("zlib1g_1%3a1.2.13.dfsg-1_arm64.deb", "1:1.2.13.dfsg-1"),
        ("linux-source-6.12_6.12.117-1~deb12u1_all.deb", "6.12.117-1~deb12u1"),
    ],
)
def test_the_version_of_a_file(name: str, version: str) -> None:
    assert ArchiveFile(name, DIGEST, 1, "debian x").version == version


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("format = 2", r"the\.lock:1: format"),
        ('format = 1\nsuite = "book worm"', "suite"),
        ('format = 1\nsuite = "bookworm"\n[sources]\nguest = "12"', r"the\.lock:4: sources\.guest"),
        (
            'format = 1\nsuite = "bookworm"\n[requests.arm64]\na = ["b.deb"]',
            r'the\.lock:4: .*"b\.deb" is not in \[files\]',
        ),
        ("format = 1\nsuite", "not valid TOML"),
        (
            'format = 1\nsuite = "hamm"',
            r'the\.lock:2: suite: the lab is made for Debian\'s "bookworm", not for "hamm"$',
        ),
        (f'{FILES}"a_1.deb" = {{ version = "2", {REST} }}', r'"a_1\.deb"\.version: is "2", and the name says "1"$'),
        (f'{FILES}"a.deb" = {{ version = "2", {REST} }}', r'"a\.deb": is no name of a file of Debian\'s archive$'),
        (f'{FILES}"../a_1.deb" = {{ version = "1", {REST} }}', r"is no name of a file of Debian's archive$"),
    ],
)
def test_what_is_no_lock_is_warned_with_its_line(text: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "the.lock").write_text(text)
    with pytest.raises(InputError, match=message):
        lockfile.read(tmp_path / "the.lock")


def test_what_is_locked_is_fetched_without_asking_what_there_is(archive_of: ArchiveOf, apt_log: Path) -> None:
    archive = archive_of({"a": (package("a"), package("needed"))}, strict=True)
    resolved = archive.resolve(["a"])
    assert [path.read_bytes() for path in archive.fetch(["a"], resolved)] == [b"package a", b"package needed"]
    assert not [line for line in apt_log.read_text().splitlines() if line.split()[0] in ("update", "install")]


def test_what_is_locked_and_gone_is_warned_with_where_it_was_from(archive_of: ArchiveOf) -> None:
    archive = archive_of({"a": (package("a"), package("gone"))}, strict=True)
    with pytest.raises(SetupError, match=r"the\.lock: a: .*gone_1_arm64\.deb .*debian pool/gone_1\.deb"):
        archive.resolve(["a"])


def test_what_is_not_locked_is_not_taken_where_the_lock_must_be_kept_to(archive_of: ArchiveOf) -> None:
    with pytest.raises(SetupError, match=r"the\.lock: does not name source b for arm64, which is needed"):
        archive_of({"a": (package("a"),)}, strict=True).resolve(["b"], source=True)


def test_without_strictness_what_is_gone_is_a_caution(archive_of: ArchiveOf, caplog: pytest.LogCaptureFixture) -> None:
    archive = archive_of({"a": (replace(package("a"), name="a_0_arm64.deb", origin="debian pool/a-gone.deb"),)})
    assert archive.resolve(["a"]).in_archive == (package("a"),)
    assert "no mirror here has a_0_arm64.deb" in caplog.text
    assert "taking what bookworm has now" in caplog.text


def test_what_was_taken_stays_until_it_must_be_as_locked(
    archive_of: ArchiveOf, caplog: pytest.LogCaptureFixture
) -> None:
    """Afterwards the file stays."""
    archive_of({}).resolve(["c"])
    locked = (replace(package("c"), name="c_2_arm64.deb"),)
    with caplog.at_level(logging.WARNING):
        assert archive_of({"c": locked}).resolve(["c"]).in_archive == (package("c"),)
    assert "names 2 for c, and 1 is used here" in caplog.text
    assert archive_of({"c": locked}, strict=True).resolve(["c"]).in_archive == locked
    assert archive_of({"c": locked}).resolve(["c"]).in_archive == locked


def test_files_of_one_version_are_warned_apart(archive_of: ArchiveOf, caplog: pytest.LogCaptureFixture) -> None:
    archive_of({}).resolve(["e"])
    digest = package("e").sha256[:16]
    for change, message in (
        ({"sha256": DIGEST}, f"e_1_arm64.deb (SHA-256 0000000000000000..., here {digest}...)"),
        ({"size": 1}, "e_1_arm64.deb (1 bytes, here 9)"),
        (
            {"origin": "debian pool/other.deb"},
            "e_1_arm64.deb (from debian pool/other.deb, here from debian pool/e_1.deb)",
        ),
        ({"name": "d_1_arm64.deb"}, "d_1_arm64.deb (not here), e_1_arm64.deb (here only)"),
    ):
        debian._warned.clear()
        archive_of({"e": (replace(package("e"), **change),)}).resolve(["e"])
        words = "names the same versions for e as are used here, but other files: "
        assert f"the.lock: {words}{message}; `--locked`" in caplog.text


def test_a_size_that_is_not_the_file_s_is_warned(archive_of: ArchiveOf) -> None:
    archive = archive_of({"a": (replace(package("a"), size=1),)}, strict=True)
    message = r'the\.lock: files\."a_1_arm64\.deb"\.bytes: is 1, and the file with that SHA-256 has 9 bytes$'
    with pytest.raises(InputError, match=message):
        archive.resolve(["a"])


def test_mirrors_of_another_release_serve_the_lock_s(monkeypatch: pytest.MonkeyPatch) -> None:
    mirrors_text = "Debian|trixie|http://a.example/debian/\nDebian|trixie-security|http://b.example/debian-security/\n"
    mirrors_text += "Debian|trixie-updates|http://a.example/debian/\nUbuntu|noble|http://u.example/ubuntu/\n"
    monkeypatch.setattr(apt, "run", lambda *_: mirrors_text)
    monkeypatch.delenv(apt.MIRRORS_VARIABLE, raising=False)
    known = apt.known_mirrors()
    assert known == Mirrors(("http://a.example/debian/",), ("http://b.example/debian-security/",))
    lines = known.sources("bookworm").splitlines()
    assert [line.split(" ", 2)[2] for line in lines if line.startswith("deb ")] == [
        "http://a.example/debian/ bookworm main",
        "http://a.example/debian/ bookworm-updates main",
        "http://b.example/debian-security/ bookworm-security main",
    ]
    assert known.addresses("debian-security pool/x.deb") == ["http://b.example/debian-security/pool/x.deb"]
    assert known.origin("http://a.example/debian/pool/x.deb") == "debian pool/x.deb"


def test_a_host_that_is_no_debian_is_warned_how_to_name_a_mirror(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(apt, "run", lambda *_: "Ubuntu|noble|http://u.example/ubuntu/\n")
    monkeypatch.delenv(apt.MIRRORS_VARIABLE, raising=False)
    with pytest.raises(SetupError, match=apt.MIRRORS_VARIABLE):
        apt.known_mirrors()
    monkeypatch.setenv(apt.MIRRORS_VARIABLE, "http://m.example/debian http://m.example/debian-security/")
    assert apt.known_mirrors() == Mirrors(("http://m.example/debian/",), ("http://m.example/debian-security/",))


def test_debian_s_keys_are_asked_for_by_their_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(apt, "KEYRING", tmp_path / "none")
    with pytest.raises(SetupError, match="apt-get install debian-archive-keyring"):
        apt.check_keys()


def test_the_repository_s_lock_is_that_of_its_own_files() -> None:
    """If this fails, `flashbed image lock` writes the change into the lock."""
    lock = lockfile.shipped()
    assert lock is not None
    assert lock.sources == lockfile.own_sources()
    assert lock.profiles == lockfile.shipped_profiles()


def test_the_repository_s_lock_names_the_emulator_s_source() -> None:
    lock = lockfile.shipped()
    assert lock is not None
    files = lock.files("arm64", f"source {emulator.SOURCE}")
    assert files is not None
    assert emulator.TARBALL in {file.sha256 for file in files}


def test_a_change_of_a_source_or_a_profile_is_warned(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    study = load_study(paths.studies() / "quick.toml")
    lock = lockfile.shipped()
    assert lock is not None
    other = replace(
        lock,
        path=tmp_path / "the.lock",
        sources={**lock.sources, "guest": DIGEST, "kernel/lost": DIGEST},
        profiles={**lock.profiles, "boards/arm64-1000": DIGEST, "boards/s3c2440-400": DIGEST},
    )
    lockfile.write(other)
    monkeypatch.setattr(lockfile, "shipped_path", lambda: other.path)
    message = "written for other files than are here: guest, kernel/lost (not here), profile boards/arm64-1000"
    try:
        pinning.keep_to(study, strict=False)
        assert f"{message}; figures may be others" in caplog.text
        with pytest.raises(SetupError) as error:
            pinning.keep_to(study, strict=True)
        assert f"{message}. Take them back" in error.value.message
        assert lockfile.current_pins().strict
    finally:
        lockfile.choose_pins(None)


def test_a_study_s_own_lock_is_the_one_beside_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    study = tmp_path / "mine.toml"
    assert lockfile.path_for(study) == lockfile.shipped_path()
    (tmp_path / "mine.lock").write_text("format = 1")
    assert lockfile.path_for(study) == tmp_path / "mine.lock"


def test_a_change_beside_the_sources_does_not_count(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    guest = tmp_path / "guest"
    (guest / "patches").mkdir(parents=True)
    (guest / "patches/one.patch").write_text("1")
    monkeypatch.setattr(paths, "guest", lambda: guest)
    before = lockfile.own_sources()["guest"]
    (guest / "build").mkdir()
    (guest / "build/outbox").write_text("built")
    (guest / "outbox.o").write_text("built")
    assert lockfile.own_sources()["guest"] == before
    (guest / "patches/two.patch").write_text("2")
    assert lockfile.own_sources()["guest"] != before


def test_tests_of_a_kernel_module_do_not_count(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    module = tmp_path / "kernel/mine"
    (module / "core").mkdir(parents=True)
    (module / "core/one.c").write_text("1")
    monkeypatch.setattr(paths, "kernel", lambda: tmp_path / "kernel")
    before = lockfile.own_sources()["kernel/mine"]
    for name in ("tests", "fuzz", "bench"):
        (module / name).mkdir()
        (module / name / "two.c").write_text("2")
    assert lockfile.own_sources()["kernel/mine"] == before
    assert [name for name in lockfile.own_source_files() if name.startswith("kernel/")] == ["kernel/mine/core/one.c"]
    (module / "core/tests").mkdir()
    (module / "core/tests/two.c").write_text("2")
    assert lockfile.own_sources()["kernel/mine"] != before
