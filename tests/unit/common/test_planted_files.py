# SPDX-License-Identifier: Apache-2.0
"""Files that a stranger may plant beside a study, in a medium's directory or a report's: links, pipes, devices."""

from __future__ import annotations

import json
import os
import socket
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from flashbed.commands import chosen_study
from flashbed.common import errors, own_file
from flashbed.common.errors import InputError
from flashbed.comparing import result_set
from flashbed.profiles.stored_medium import StoredMedium
from flashbed.replay import pack_file
from flashbed.report import folder as folders
from flashbed.study.loading import load_study
from tests.support.samples import write_study


def no_file(path: Path, kind: str) -> None:
    if kind == "FIFO":
        os.mkfifo(path)
    elif kind == "socket":
        with socket.socket(socket.AF_UNIX) as made:
            made.bind(str(path))
    else:
        path.symlink_to("/dev/zero")


@pytest.mark.parametrize("kind", ["FIFO", "socket", "a link to a device"])
def test_what_is_no_file_is_not_waited_for(tmp_path: Path, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)  # the name of a socket is short
    no_file(Path("x"), kind)
    with pytest.raises(OSError, match="not a file"):
        own_file.read(Path("x"))


def test_a_file_of_a_terabyte_is_not_read(tmp_path: Path) -> None:
    with (tmp_path / "x").open("wb") as file:
        file.truncate(1 << 40)
    with pytest.raises(OSError, match="and none of its kind has more than"):
        own_file.read(tmp_path / "x")


@pytest.mark.parametrize("kind", ["FIFO", "a link to a device"])
@pytest.mark.parametrize("name", [folders.REPORT_PAGE, folders.RECORD, "results.json"])
def test_a_folder_of_a_report_with_a_pipe_in_it(tmp_path: Path, name: str, kind: str) -> None:
    no_file(tmp_path / name, kind)
    assert not folders.has_report(tmp_path)
    if name == folders.RECORD:
        folders.check(tmp_path, "mine")
    else:
        with pytest.raises(InputError, match="was not written by flashbed"):
            folders.check(tmp_path, "mine")


def test_sets_of_results_that_are_pipes(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "results.json")
    with pytest.raises(InputError, match=r"results\.json: cannot be read: not a file"):
        result_set.read_all(str(tmp_path))


def test_a_pack_that_is_a_pipe(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "x.flashbed")
    with pytest.raises(InputError, match=r"x\.flashbed: cannot be read: not a file"):
        pack_file.open_pack(tmp_path / "x.flashbed")


def medium(folder: Path) -> StoredMedium:
    folder.mkdir()
    (folder / "state.bin").write_bytes(b"state")
    (folder / "data.img").write_bytes(b"data")
    (folder / "medium.json").write_text(json.dumps({"profile": "usb-stick-2g", "made": []}))
    return StoredMedium(folder)


@pytest.mark.parametrize("name", ["data.img", "state.bin"])
def test_a_medium_whose_file_is_a_link_to_another(tmp_path: Path, name: str) -> None:
    """The linked file would get into results and packs."""
    (tmp_path / "secret").write_bytes(b"of the user's")
    kept = medium(tmp_path / "kept")
    assert kept.digest()
    (kept.folder / name).unlink()
    (kept.folder / name).symlink_to(tmp_path / "secret")
    for use in (kept.origin, kept.digest, lambda: kept.copy_to(StoredMedium(tmp_path / "copy"))):
        with pytest.raises(InputError, match=rf"{name}: (cannot be read: )?is a link"):
            use()
    assert not (tmp_path / "copy" / name).exists()


@pytest.mark.parametrize("name", ["data.img", "state.bin"])
def test_a_medium_whose_file_is_a_pipe(tmp_path: Path, name: str) -> None:
    """`flashbed medium cut` took its data for a medium of size 0."""
    kept = medium(tmp_path / "kept")
    (kept.folder / name).unlink()
    os.mkfifo(kept.folder / name)
    with pytest.raises(InputError, match=f"{name}: is no file"):
        kept.origin()


def test_a_medium_whose_file_is_another_users(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kept = medium(tmp_path / "kept")
    real = os.fstat

    def of_another(descriptor: int) -> os.stat_result:
        fields = list(real(descriptor))
        fields[stat.ST_UID] += 1
        return os.stat_result(fields)

    monkeypatch.setattr(os, "fstat", of_another)
    with pytest.raises(InputError, match="belongs to another user than its folder"):
        kept.digest()


@pytest.mark.parametrize("link", ["reports", "reports/my"])
def test_a_folder_of_reports_that_leads_elsewhere(tmp_path: Path, link: str, monkeypatch: pytest.MonkeyPatch) -> None:
    study = load_study(write_study(tmp_path))
    monkeypatch.chdir(tmp_path)
    assert chosen_study.report_folder(study, None, None) == Path("reports") / study.name
    (tmp_path / link.replace("my", study.name)).parent.mkdir(exist_ok=True)
    (tmp_path / link.replace("my", study.name)).symlink_to(tmp_path)
    with pytest.raises(InputError, match=r"is a link; .* --out"):
        chosen_study.report_folder(study, None, None)


def test_a_folder_that_is_a_link_to_itself(tmp_path: Path) -> None:
    (tmp_path / "reports").symlink_to("reports")
    assert folders.owner(tmp_path / "reports/x", tmp_path / "x.toml", shipped=False)


@pytest.mark.parametrize(
    ("name", "why"),
    [
        (b"...toml", "leads out of its folder"),
        (b"..toml", "is not the name of a file"),
        (b"\xff\xfe.toml", "has characters that cannot be printed"),
        (b"a\nb.toml", "has characters that cannot be printed"),
    ],
)
def test_names_of_studies(tmp_path: Path, name: bytes, why: str) -> None:
    """The report of "..." went to the parent directory; a name that is not UTF-8 had no report at all."""
    path = tmp_path / os.fsdecode(name)
    write_study(tmp_path).rename(path)
    with pytest.raises(InputError, match=f"as the name of a study, .* {why}; rename the file"):
        load_study(path)


def test_a_lack_of_memory_is_known_by_what_it_comes_of() -> None:
    try:
        try:
            raise ImportError("libx.so: failed to map segment from shared object")
        except ImportError as error:
            raise ImportError("pyarrow is required") from error
    except ImportError as error:
        lack = error
    assert errors.lacks_memory(lack)
    assert errors.lacks_memory(MemoryError())
    assert not errors.lacks_memory(ImportError("no module named x"))


def test_too_little_memory_is_one_sentence() -> None:
    code = "import sys; from flashbed import entry; sys.argv = ['flashbed', 'list']; entry.main()"
    command = ["sh", "-c", 'ulimit -v 60000; exec "$@"', "sh", sys.executable, "-c", code]
    done = subprocess.run(command, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (4, f"flashbed: {errors.NO_MEMORY}\n")
