# SPDX-License-Identifier: Apache-2.0
"""Packs that no flashbed wrote, with a valid digest: each gives one sentence, and leaves nothing behind."""

from __future__ import annotations

import io
import json
import shutil
import subprocess
import sys
import tracemalloc
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flashbed.common.digest import digest_bytes
from flashbed.common.errors import FlashbedError, InputError
from flashbed.comparing import result_set
from flashbed.packs import making
from flashbed.replay import pack_file, verifying
from flashbed.replay.playing import Unpacked
from flashbed.replay.recipe import QEMU_PROGRAM
from flashbed.replay.verifying import VerifyOptions
from tests.support.facts import Facts
from tests.unit.replay.made_up_pack import JOB, KERNEL, recipe, write

PROGRAM = Path("/bin/true").read_bytes()
RESULT = f"results/{recipe().key}/result.json"
ODD: tuple[Any, ...] = (
    *(None, 1, -1, True, 1.5, 1 << 70, "x", "x" * 64, "../../x", "\0", "\ud800", "\x1b[2J"),
    *([], ["a"], [[1]], {}, {"a": 1}),
)

Contents = dict[str, Any]
Members = dict[str, bytes]


def with_programs(contents: Contents, members: Members) -> None:
    digest = digest_bytes(PROGRAM)
    members[f"files/{digest}"] = PROGRAM
    for name in (QEMU_PROGRAM, "fsck"):
        contents["programs"][name] = {"program": digest, "loader": None, "libraries": {"libx.so.1": digest}}


def verify(pack: Path, folder: Path) -> tuple[FlashbedError, list[str]]:
    lines: list[str] = []
    folder.mkdir(exist_ok=True)
    with pytest.raises(FlashbedError) as caught:
        verifying.verify(pack, VerifyOptions(folder=folder), lines.append)
    assert list(folder.iterdir()) == []
    assert "\n" not in caught.value.message
    return caught.value, lines


def places(document: Any, place: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    inside = (
        document.items() if isinstance(document, dict) else enumerate(document) if isinstance(document, list) else ()
    )
    return [place, *(found_place for key, value in inside for found_place in places(value, (*place, key)))]


def altered(document: Any, place: tuple[Any, ...], value: Any) -> Any:
    if not place:
        return value
    document = document.copy()
    document[place[0]] = altered(document[place[0]], place[1:], value)
    return document


@pytest.fixture(scope="module")
def documents(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Return the JSON documents of a good pack, by member."""
    with zipfile.ZipFile(write(tmp_path_factory.mktemp("good") / "a.flashbed", with_programs)) as archive:
        return {name: json.loads(archive.read(name)) for name in (pack_file.CONTENTS, RESULT)}


@given(st.data())
def test_any_odd_value_in_a_pack_gives_a_sentence(
    tmp_path_factory: pytest.TempPathFactory, documents: dict[str, Any], data: st.DataObject
) -> None:
    member = data.draw(st.sampled_from(list(documents)))
    place = data.draw(st.sampled_from(places(documents[member])))
    value = data.draw(st.sampled_from(ODD))
    folder = tmp_path_factory.mktemp("odd")
    text = json.dumps(altered(documents[member], place, value)).encode()
    error, lines = verify(rewritten(folder, {member: text}), folder / "scratch")
    assert error.exit_code in (2, 3, 4, 5)
    assert all(line.isprintable() for line in lines)
    shutil.rmtree(folder)


def rewritten(folder: Path, exchanged: dict[str, bytes | None]) -> Path:
    """Return the good pack with other members and a new digest. The content of pack.json stays."""
    out = io.BytesIO()
    with (
        zipfile.ZipFile(write(folder / "good.flashbed", with_programs)) as good,
        zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive,
    ):
        for name in good.namelist():
            if (text := exchanged.get(name, good.read(name))) is not None:
                archive.writestr(name, text)
        archive.comment = b"0" * pack_file.DIGEST_LETTERS
    (folder / "x.flashbed").write_bytes(out.getvalue())
    making._seal(folder / "x.flashbed")
    return folder / "x.flashbed"


@pytest.mark.parametrize("text", [b"", b"\xff", b"[" * 100_000, b"NaN", b"null", b"1" * 5000, b'{"format": 1}', None])
@pytest.mark.parametrize("member", [pack_file.CONTENTS, RESULT])
def test_a_member_that_is_no_json_is_refused(tmp_path: Path, member: str, text: bytes | None) -> None:
    error, _ = verify(rewritten(tmp_path, {member: text}), tmp_path / "scratch")
    assert isinstance(error, InputError)


@pytest.mark.parametrize("name", [f"files/{digest_bytes(KERNEL)}", f"results/{recipe().key}/console.log"])
def test_a_member_with_another_digest_than_its_name_is_refused(tmp_path: Path, name: str) -> None:
    """Its name has its digest. No other check finds the exchange, because the results name the original member."""
    error, _ = verify(rewritten(tmp_path, {name: b"another"}), tmp_path / "scratch")
    assert error.exit_code == 2
    assert " was changed: its SHA-256 is " in error.message


@pytest.mark.parametrize("name", [f"files/{digest_bytes(KERNEL)}", f"results/{recipe().key}/console.log"])
def test_a_missing_member_is_named(tmp_path: Path, name: str) -> None:
    error, _ = verify(rewritten(tmp_path, {name: None}), tmp_path / "scratch")
    called = "the kernel 6.1.1-1" if name.startswith("files/") else name
    assert error.message == f"{tmp_path / 'x.flashbed'}: has no {called}; get it again"


CUTS = {"number": 2, "seed": 7, "job": digest_bytes(JOB), "checks": [["check", digest_bytes(JOB)]]}


@pytest.mark.parametrize(
    ("cuts", "load", "why"),
    [
        ({**CUTS, "number": 0}, digest_bytes(JOB), "cuts has an invalid value"),
        ({**CUTS, "number": 10_001}, digest_bytes(JOB), "cuts has an invalid value"),
        ({**CUTS, "checks": [["a/check", digest_bytes(JOB)]]}, digest_bytes(JOB), "cuts has an invalid value"),
        ({**CUTS, "checks": [["c" * 101, digest_bytes(JOB)]]}, digest_bytes(JOB), "cuts has an invalid value"),
        ({**CUTS, "more": 1}, digest_bytes(JOB), "cuts has an invalid value"),
        (CUTS, None, "has power cuts and no load"),
    ],
)
def test_power_cuts_that_no_study_has_are_refused(tmp_path: Path, cuts: object, load: object, why: str) -> None:
    def change(contents: Contents, members: Members) -> None:
        with_programs(contents, members)
        contents["recipes"][0].update(cuts=cuts, load=load)

    error, _ = verify(write(tmp_path / "x.flashbed", change), tmp_path / "scratch")
    assert error.message == f"{tmp_path / 'x.flashbed'}: is not a pack (recipe 1: {why}); get it again"


def _digest(contents: Contents, members: Members) -> None:
    contents["recipes"][0]["state"] = "../../../out"
    members["files/../../../out"] = b"out"


def _library(contents: Contents, _: Members) -> None:
    contents["programs"]["fsck"]["libraries"] = {"../../../out": digest_bytes(PROGRAM)}


def _program(contents: Contents, _: Members) -> None:
    contents["recipes"][0]["check"]["program"] = "../../../out"
    contents["programs"]["../../../out"] = contents["programs"]["fsck"]


@pytest.mark.parametrize("change", [_digest, _library, _program])
def test_nothing_is_written_outside_the_folder(tmp_path: Path, change: Callable[[Contents, Members], None]) -> None:
    def both(contents: Contents, members: Members) -> None:
        with_programs(contents, members)
        change(contents, members)

    error, _ = verify(write(tmp_path / "x.flashbed", both), tmp_path / "scratch")
    assert (error.exit_code, sorted(path.name for path in tmp_path.iterdir())) == (2, ["scratch", "x.flashbed"])


def test_a_pack_without_repetitions_is_refused(tmp_path: Path) -> None:
    def empty(contents: Contents, _: Members) -> None:
        contents["recipes"] = []

    error, _ = verify(write(tmp_path / "x.flashbed", empty), tmp_path / "scratch")
    assert Facts("x.flashbed: is not a pack", "recipes").within(error.message)


def test_a_member_that_claims_to_be_huge_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = write(tmp_path / "x.flashbed")
    monkeypatch.setattr(pack_file, "MOST_READ_BYTES", 100)
    error, _ = verify(file, tmp_path / "scratch")
    assert "it claims to have " in error.message


def test_zeros_are_unpacked_a_little_at_a_time(tmp_path: Path) -> None:
    """zipfile would unpack the whole member at once: the medium of a pack can have gigabytes of zeros."""
    zeros = bytes(128 << 20)
    digest = digest_bytes(zeros)

    def with_zeros(_: Contents, members: Members) -> None:
        members[f"files/{digest}"] = zeros

    pack = write(tmp_path / "x.flashbed", with_zeros)
    script = (
        "import resource, sys; from pathlib import Path; from flashbed.replay import pack_file\n"
        "pack = pack_file.open_pack(Path(sys.argv[1])); before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
        f"pack.unpack({digest!r}, Path(sys.argv[2]))\n"
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, pack, tmp_path / "to"], capture_output=True, text=True, check=True, timeout=100
    )
    assert int(done.stdout) < 64 << 10
    assert (tmp_path / "to").stat().st_size == len(zeros)


@pytest.mark.parametrize("name", ["it's", 'a "b" $(c)', "two  blanks", "a,b é"])
def test_programs_start_in_a_folder_of_any_name(tmp_path: Path, name: str) -> None:
    loader = next(Path("/lib64").glob("ld-linux-*.so.*")).read_bytes()

    def with_loader(contents: Contents, members: Members) -> None:
        with_programs(contents, members)
        members[f"files/{digest_bytes(loader)}"] = loader
        contents["programs"]["fsck"]["loader"] = digest_bytes(loader)

    (tmp_path / name).mkdir()
    files = Unpacked(pack_file.open_pack(write(tmp_path / "x.flashbed", with_loader)), tmp_path / name)
    files.take([], ["fsck"])
    assert subprocess.run([files.program("fsck"), "--none"], timeout=10).returncode == 0


@pytest.mark.parametrize("name", ["a:b", "a;b", "a$b"])
def test_a_folder_that_hides_libraries_is_refused(tmp_path: Path, name: str) -> None:
    error, _ = verify(write(tmp_path / "x.flashbed"), tmp_path / name)
    assert f"{name}: has a {name[1]} in its name" in error.message
    assert error.exit_code == 2


def test_a_folder_may_be_named_from_the_present_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with verifying._scratch(Path()) as folder:
        assert folder.is_absolute()


@pytest.mark.parametrize("text", [b"[" * 100_000, b"null", b"{}", b"1" * 5000, b"\xff"])
def test_a_report_that_is_none_is_told_by_compare(tmp_path: Path, text: bytes) -> None:
    def with_report(_: Contents, members: Members) -> None:
        members["report/results.json"] = text

    with pytest.raises(InputError, match=r"x\.flashbed: is not a set of results, or is damaged"):
        result_set.read_all(str(write(tmp_path / "x.flashbed", with_report)))


def test_a_configuration_may_have_any_bytes(tmp_path: Path) -> None:
    def with_bytes(_: Contents, members: Members) -> None:
        members[f"kernels/{digest_bytes(KERNEL)}"] = b'CONFIG_A="\xff"\n'

    pack = pack_file.open_pack(write(tmp_path / "x.flashbed", with_bytes))
    assert pack.options(digest_bytes(KERNEL)) == {"CONFIG_A": '"\N{REPLACEMENT CHARACTER}"'}


def test_files_of_a_repetition_are_small_together_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Zeros compress to almost nothing, and many files of them took gigabytes of memory."""
    monkeypatch.setattr(pack_file, "MOST_READ_BYTES", 100_000)

    def heavy(_: Contents, members: Members) -> None:
        members |= {f"results/{recipe().key}/out/{number}": bytes(90_000) for number in range(3)}

    error, _ = verify(write(tmp_path / "x.flashbed", heavy), tmp_path / "scratch")
    assert f"the result {recipe().key[:12]} claims to have 27" in error.message


def test_results_are_not_kept_in_memory(tmp_path: Path) -> None:
    def heavy(_: Contents, members: Members) -> None:
        members |= {f"results/{recipe().key}/out/{number}": bytes(3 << 20) for number in range(12)}

    pack = pack_file.open_pack(write(tmp_path / "x.flashbed", heavy))
    tracemalloc.start()
    verifying._result(pack, pack.recipes[0])
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert most < 24 << 20


def test_a_document_of_nothing_but_brackets_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Three bytes of it take a hundred bytes of memory."""
    monkeypatch.setattr(pack_file, "MOST_VALUES", 50)
    error, _ = verify(write(tmp_path / "x.flashbed"), tmp_path / "scratch")
    assert "it has more than 50 values" in error.message


def test_a_packing_that_takes_gigabytes_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """LZMA's header says how much unpacked data it keeps."""
    monkeypatch.setattr(making, "_PACKING", zipfile.ZIP_LZMA)
    old = write(tmp_path / "old.flashbed")
    assert pack_file.read_member(zipfile.ZipFile(old), pack_file.CONTENTS)
    monkeypatch.setattr(pack_file, "MOST_DICTIONARY_BYTES", 1 << 20)
    error, _ = verify(write(tmp_path / "x.flashbed"), tmp_path / "scratch")
    assert "unpacking it takes 8388608 bytes of memory" in error.message
    monkeypatch.setattr(pack_file, "MOST_DICTIONARY_BYTES", 8 << 20)
    error, _ = verify(write(tmp_path / "x.flashbed"), tmp_path / "scratch")
    assert "of memory" not in error.message


def test_a_study_that_is_too_large_for_a_pack(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pack_file, "MOST_READ_BYTES", 100)
    with pytest.raises(InputError, match="cannot hold 1 repetitions"):
        write(tmp_path / "x.flashbed")
