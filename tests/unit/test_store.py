# SPDX-License-Identifier: Apache-2.0
"""The store: a result is there and whole, or it is not there; whatever is killed, damaged, full or concurrent."""

import errno
import os
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from flashbed.common.errors import HostResourceError, InputError, SetupError
from flashbed.execution import store as store_module
from flashbed.execution.index import VERSION
from flashbed.execution.store import Store

KEY, OTHER = "ab" + "0" * 62, "ab" + "1" * 62
RESULT = {"outcome": "measured", "metrics": {"bandwidth": 12.5}}

# Puts results 0, 1, 2 ... into argv[1], from argv[2] up to argv[3].
WRITER = """
import sys
from pathlib import Path
from flashbed.execution.store import Store
store = Store(Path(sys.argv[1]))
print("ready", flush=True)
for number in range(int(sys.argv[2]), int(sys.argv[3])):
    store.put(f"{number:064x}", {"raw.json": b"x" * 100_000, "logs/console.txt": b"y"}, {"number": number}, 1.0)
"""


def start(code: str, *arguments: object) -> "subprocess.Popen[str]":
    environment = {**os.environ, "PYTHONPATH": str(Path(store_module.__file__).parent.parent)}
    command = [sys.executable, "-c", code, *map(str, arguments)]
    return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store(tmp_path / "results") as opened:
        yield opened


def test_there_and_back(store: Store, tmp_path: Path) -> None:
    (tmp_path / "console.txt").write_text("booted\n")
    put = store.put(KEY, {"fio.json": b"{}", "logs/console.txt": tmp_path / "console.txt"}, RESULT, 3.5)
    got = store.get(KEY)
    assert got == put
    assert got is not None
    assert got.result == RESULT
    assert got.names() == ["fio.json", "logs/console.txt"]
    assert got.read("logs/console.txt") == b"booted\n"
    with pytest.raises(InputError, match=r"no file other\.txt; there are: fio\.json"):
        got.read("other.txt")
    assert store.get(OTHER) is None
    assert store.keys() == [KEY]


def test_the_folder_can_be_checked_without_us(store: Store) -> None:
    folder = store.put(KEY, {"fio.json": b"{}"}, RESULT).folder
    assert folder == store.root / "cells" / "ab" / KEY
    subprocess.run(["sha256sum", "--check", "--strict", "--quiet", "digests.txt"], cwd=folder, check=True)


def test_times_of_the_host_stay_in_the_index(store: Store) -> None:
    store.put(KEY, {}, RESULT, 3.5)
    store.put(OTHER, {}, RESULT, 1.5)
    assert (store.wall_seconds(KEY), store.typical_wall_seconds()) == (3.5, 2.5)
    assert b"3.5" not in (store.folder(KEY) / "result.json").read_bytes()


def test_the_first_put_stays(store: Store) -> None:
    store.put(KEY, {"a": b"1"}, RESULT)
    store.put(KEY, {"a": b"1"}, RESULT, 9.0)
    store.put(KEY, {"a": b"1"}, RESULT, 1.0)
    assert store.wall_seconds(KEY) == 9.0
    assert list((store.root / "tmp").iterdir()) == []


def test_another_result_for_the_same_key_is_told(store: Store, caplog: pytest.LogCaptureFixture) -> None:
    store.put(KEY, {"a": b"1"}, RESULT)
    store.put(KEY, {"a": b"1"}, RESULT)
    assert caplog.text == ""
    store.put(KEY, {"a": b"2"}, RESULT)
    assert "the same repetition gave another a this time; the first one is kept" in caplog.text
    found = store.get(KEY)
    assert found is not None
    assert found.read("a") == b"1"


@pytest.mark.parametrize("name", ["", "/abs", "../up", "a/../b", "a//b", "./a", "result.json", "digests.txt", "a\nb"])
def test_names_that_are_none(store: Store, name: str) -> None:
    with pytest.raises(ValueError, match="not a name"):
        store.put(KEY, {name: b""}, RESULT)
    assert store.get(KEY) is None


def test_results_are_json_and_nothing_else(store: Store) -> None:
    with pytest.raises(ValueError, match="not JSON compliant"):
        store.put(KEY, {}, {"bandwidth": float("nan")})
    with pytest.raises(ValueError, match="not a key"):
        store.put("xyz", {}, RESULT)
    assert store.keys() == []


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("result.json", b'{"outcome": "meas'),
        ("result.json", b"{}"),
        ("result.json", None),
        ("fio.json", b"other"),
        ("fio.json", None),
        ("digests.txt", None),
        ("digests.txt", b"\xff\xfe"),
        ("digests.txt", b""),
    ],
)
def test_what_is_damaged_counts_as_absent(
    store: Store, caplog: pytest.LogCaptureFixture, name: str, content: bytes | None
) -> None:
    folder = store.put(KEY, {"fio.json": b"{}"}, RESULT).folder
    if content is None:
        (folder / name).unlink()
    else:
        (folder / name).write_bytes(content)
    assert store.get(KEY) is None
    assert "is damaged" in caplog.text
    assert "will be run again" in caplog.text
    assert not folder.exists()
    assert len(list(store.quarantine.iterdir())) == 1
    store.put(KEY, {"fio.json": b"{}"}, RESULT)
    assert store.get(KEY) is not None


def test_a_put_replaces_what_is_damaged(store: Store) -> None:
    folder = store.put(KEY, {}, RESULT).folder
    (folder / "result.json").write_text("{")
    store.put(KEY, {}, RESULT)
    found = store.get(KEY)
    assert found is not None
    assert found.result == RESULT


def test_find(store: Store) -> None:
    for key in (KEY, OTHER, "cd" + "0" * 62):
        store.put(key, {}, RESULT)
    assert store.find("c").key == store.find("cd00").key == "cd" + "0" * 62
    assert store.find(OTHER.upper()).key == OTHER
    with pytest.raises(InputError, match=r'"ab" is the start of 2 keys \(ab00000000, ab11111111\); give more digits'):
        store.find("ab")
    with pytest.raises(InputError, match='no result with a key that starts with "ef" in '):
        store.find("ef")
    for wrong in ("", "xyz", "../", "a" * 65):
        with pytest.raises(InputError, match="is not the start of a key"):
            store.find(wrong)


def test_killed_at_any_moment(tmp_path: Path) -> None:
    done = 0
    for turn in range(40):
        writer = start(WRITER, tmp_path, turn * 10_000, (turn + 1) * 10_000)
        assert writer.stdout is not None
        writer.stdout.readline()
        time.sleep(0.02 + 0.031 * turn)
        writer.send_signal(signal.SIGKILL)
        writer.communicate()
        with Store(tmp_path) as store:
            keys = store.keys()
            assert all(store.get(key) for key in keys)
            assert len(keys) >= done
            done = len(keys)
            assert not store.quarantine.exists()
        if turn > 7 and done > 8:  # a busy host writes little before each signal
            return
    pytest.fail(f"only {done} results were written between 40 signals")


def test_what_the_killed_leave_is_swept(store: Store) -> None:
    left = store.root / "tmp" / f"{KEY}.1.aaaa"
    left.mkdir()
    Store(store.root)
    assert left.exists()  # it may be another process's, at work
    os.utime(left, (0, 0))
    Store(store.root)
    assert not left.exists()


def test_an_error_leaves_nothing_behind(store: Store, tmp_path: Path) -> None:
    with pytest.raises(HostResourceError, match="absent"):
        store.put(KEY, {"a": tmp_path / "absent"}, RESULT)
    assert store.get(KEY) is None
    assert list((store.root / "tmp").iterdir()) == []


def test_several_processes(tmp_path: Path) -> None:
    writers = [start(WRITER, tmp_path, first, first + 40) for first in (0, 0, 20, 20)]
    for writer in writers:
        _, errors = writer.communicate(timeout=120)
        assert (writer.returncode, errors) == (0, "")
    with Store(tmp_path) as store:
        assert len(store.keys()) == 60
        for number in range(60):
            found = store.get(f"{number:064x}")
            assert found is not None
            assert found.result == {"number": number}
            assert store.wall_seconds(found.key) == 1.0
    assert not list((tmp_path / "tmp").iterdir())


def test_a_missing_index_is_made_anew(store: Store, caplog: pytest.LogCaptureFixture) -> None:
    assert caplog.text == ""
    store.put(KEY, {}, RESULT, 2.0)
    store.close()
    (store.root / "results.sqlite").unlink()
    with Store(store.root) as again:
        assert again.find("ab").result == RESULT
        assert again.typical_wall_seconds() is None
        again.put(KEY, {}, RESULT, 4.0)
        assert again.wall_seconds(KEY) == 4.0
    assert caplog.text.count("results.sqlite: missing; made anew from 1 results") == 1


@pytest.mark.parametrize("damage", [b"no database" * 1000, b"", None])
def test_a_damaged_index_is_moved_aside(store: Store, caplog: pytest.LogCaptureFixture, damage: bytes | None) -> None:
    store.put(KEY, {}, RESULT, 2.0)
    store.close()
    with sqlite3.connect(store.root / "results.sqlite") as connection:
        rows = [(f"{number:064x}", 1.0) for number in range(200)]  # some pages
        connection.executemany("INSERT INTO repetition VALUES (?, ?)", rows)
    path = store.root / "results.sqlite"
    content = path.read_bytes()
    path.write_bytes(content[:4096] + b"\xaa" * (len(content) - 4096) if damage is None else damage)
    with Store(store.root) as again:
        again.put(OTHER, {}, RESULT, 3.0)
        assert again.wall_seconds(OTHER) == 3.0
        assert again.keys() == [KEY, OTHER]
    assert len(list(store.root.glob("results.sqlite.damaged-*"))) == 1
    assert caplog.text.count("made anew from") == 1


@pytest.mark.parametrize("places", [range(18, 19), range(4096, 4108)], ids=["the journal's kind", "head of the table"])
def test_an_index_of_which_a_byte_is_another(store: Store, places: range) -> None:
    """It opens, and says wrong things or nothing at all; each was told as a broken disk, or as a row without a key."""
    store.put(KEY, {}, RESULT, 2.0)
    store.close()
    path = store.root / "results.sqlite"
    whole = path.read_bytes()
    for at in places:
        path.write_bytes(whole[:at] + bytes([whole[at] ^ 0x20]) + whole[at + 1 :])
        with Store(store.root) as again:
            again.put(OTHER, {}, RESULT, 3.0)
            assert again.wall_seconds(OTHER) == 3.0
            assert again.typical_wall_seconds() in (3.0, 2.5)


def test_an_index_that_was_cut_short_holds_no_empty_rows(store: Store) -> None:
    for number in range(4):
        store.put(f"{number:064x}", {}, RESULT, 1.0)
    store.close()
    path = store.root / "results.sqlite"
    whole = path.read_bytes()
    path.write_bytes(whole[:4200] + bytes(len(whole) - 4200))
    with Store(store.root) as again:
        assert again.typical_wall_seconds() is None
    with sqlite3.connect(path) as connection:
        assert all(key for (key,) in connection.execute("SELECT key FROM repetition"))


def test_an_index_that_vanishes_while_open(store: Store) -> None:
    store.put(KEY, {}, RESULT, 1.0)
    (store.root / "results.sqlite").unlink()
    store.put(OTHER, {}, RESULT, 2.0)
    assert store.keys() == [KEY, OTHER]


def test_several_processes_that_find_a_damaged_index(tmp_path: Path) -> None:
    with Store(tmp_path) as store:
        store.put("f" * 64, {}, RESULT)
    (tmp_path / "results.sqlite").write_bytes(b"no database" * 1000)
    writers = [start(WRITER, tmp_path, first, first + 5) for first in range(0, 20, 5)]
    told = [writer.communicate(timeout=120)[1] for writer in writers]
    assert [writer.returncode for writer in writers] == [0] * 4
    assert sum("made anew" in text for text in told) == 1
    with Store(tmp_path) as store:
        assert [store.wall_seconds(f"{number:064x}") for number in range(20)] == [1.0] * 20


def test_an_index_of_a_newer_version_is_refused(store: Store) -> None:
    store.close()
    with sqlite3.connect(store.root / "results.sqlite") as connection:
        connection.execute(f"PRAGMA user_version = {VERSION + 1}")
    with pytest.raises(SetupError, match=r"results\.sqlite: written by a newer flashbed .* another folder"):
        Store(store.root)


def test_a_full_disk_is_told(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    store.put(KEY, {}, RESULT)

    def full(path: Path) -> None:
        raise OSError(errno.ENOSPC, "No space left on device", str(path))

    monkeypatch.setattr(store_module, "_sync", full)
    with pytest.raises(HostResourceError, match=r"no room left on this disk \(\d+ bytes free\); what was finished"):
        store.put(OTHER, {"a": b"1"}, RESULT)
    assert store.keys() == [KEY]
    assert list((store.root / "tmp").iterdir()) == []


def test_an_index_without_room_is_told(store: Store) -> None:
    connection = store._index._connection
    assert connection is not None
    pages = connection.execute("PRAGMA page_count").fetchone()[0]
    connection.execute(f"PRAGMA max_page_count = {pages}")
    with pytest.raises(HostResourceError, match=r"results\.sqlite: no room left on this disk"):  # noqa: PT012
        for number in range(1000):
            store._index.add(f"{number:064x}", 1.0)


def test_a_folder_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(HostResourceError, match="Not a directory"):
        Store(tmp_path / "file" / "results")


def test_opening_is_fast(store: Store) -> None:
    for number in range(1000):
        (store.root / "cells" / f"{number % 256:02x}" / f"{number % 256:02x}{number:062x}").mkdir(parents=True)
    store.close()
    times = []
    for _ in range(5):
        begin = time.perf_counter()
        Store(store.root).close()
        times.append(time.perf_counter() - begin)
    assert min(times) < 0.05
