# SPDX-License-Identifier: Apache-2.0
"""The store: a result is there and whole, or it is not there; whatever is killed, damaged, full or concurrent."""

import errno
import hashlib
import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from flashbed.common.errors import HostResourceError, InputError
from flashbed.result import store as store_module
from flashbed.result.store import Store
from tests.support.facts import Facts
from tests.support.made_up_result import made_up_result

KEY, OTHER = "ab" + "0" * 62, "ab" + "1" * 62
RESULT = made_up_result(KEY, {"filesystem": "ext2"})

# Puts results 0, 1, 2 ... into argv[1], from argv[2] up to argv[3].
WRITER = """
import sys
from pathlib import Path
from flashbed.guest_output.assessment import Status
from flashbed.result.result import Result
from flashbed.result.store import Store
store = Store(Path(sys.argv[1]))
print("ready", flush=True)
for number in range(int(sys.argv[2]), int(sys.argv[3])):
    result = Result(f"{number:064x}", {}, number, Status.MEASURED, "", None, {}, {}, 0)
    store.put(result, {"raw.json": b"x" * 100_000, "logs/console.txt": b"y"})
"""


def start(code: str, *arguments: object) -> "subprocess.Popen[str]":
    environment = {**os.environ, "PYTHONPATH": str(Path(store_module.__file__).parents[2])}
    command = [sys.executable, "-c", code, *map(str, arguments)]
    return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "results")


def test_there_and_back(store: Store, tmp_path: Path) -> None:
    (tmp_path / "console.txt").write_text("booted\n")
    put = store.put(RESULT, {"fio.json": b"{}", "logs/console.txt": tmp_path / "console.txt"})
    stored = store.get(KEY)
    assert stored == put
    assert stored is not None
    assert stored.result == RESULT
    assert stored.names() == ["fio.json", "logs/console.txt"]
    assert stored.read("logs/console.txt") == b"booted\n"
    with pytest.raises(InputError, match=r"no file other\.txt; there are: fio\.json"):
        stored.read("other.txt")
    assert store.get(OTHER) is None
    assert store.keys() == [KEY]


def test_ten_thousand_are_listed_in_under_a_second(store: Store) -> None:
    """The limit is CPU time, because the disk's time depends on the host."""
    keys = sorted(f"{number * 0x9E3779B97F4A7C15 % (1 << 64):016x}{'0' * 48}" for number in range(10_000))
    for key in keys:
        store.folder(key).mkdir(parents=True)
    begun_s = time.process_time()
    assert store.keys() == keys
    assert time.process_time() - begun_s < 1


def test_the_folder_can_be_checked_without_us(store: Store) -> None:
    folder = store.put(RESULT, {"fio.json": b"{}"}).folder
    assert folder == store.root / "cells" / "ab" / KEY
    subprocess.run(["sha256sum", "--check", "--strict", "--quiet", "digests.txt"], cwd=folder, check=True)


def test_putting_the_same_result_again_leaves_no_temporary_file(store: Store) -> None:
    store.put(RESULT, {"a": b"1"})
    store.put(RESULT, {"a": b"1"})
    store.put(RESULT, {"a": b"1"})
    assert list((store.root / "tmp").iterdir()) == []


def test_another_result_for_the_same_key_is_told(store: Store, caplog: pytest.LogCaptureFixture) -> None:
    store.put(RESULT, {"a": b"1"})
    store.put(RESULT, {"a": b"1"})
    assert caplog.text == ""
    store.put(RESULT, {"a": b"2"})
    assert "the same repetition gave another a this time" in caplog.text
    stored = store.get(KEY)
    assert stored is not None
    assert stored.read("a") == b"1"


@pytest.mark.parametrize("name", ["", "/abs", "../up", "a/../b", "a//b", "./a", "result.json", "digests.txt", "a\nb"])
def test_names_that_are_none(store: Store, name: str) -> None:
    with pytest.raises(ValueError, match="not a name"):
        store.put(RESULT, {name: b""})
    assert store.get(KEY) is None


def test_results_are_json_and_nothing_else(store: Store) -> None:
    with pytest.raises(ValueError, match="not JSON compliant"):
        store.put(replace(RESULT, cell={"bandwidth": float("nan")}), {})
    with pytest.raises(ValueError, match="not a key"):
        store.put(replace(RESULT, key="xyz"), {})
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
    folder = store.put(RESULT, {"fio.json": b"{}"}).folder
    if content is None:
        (folder / name).unlink()
    else:
        (folder / name).write_bytes(content)
    assert store.get(KEY) is None
    assert "is damaged" in caplog.text
    assert "will be run again" in caplog.text
    assert not folder.exists()
    assert len(list(store.quarantine.iterdir())) == 1
    store.put(RESULT, {"fio.json": b"{}"})
    assert store.get(KEY) is not None


def test_a_put_replaces_what_is_damaged(store: Store) -> None:
    folder = store.put(RESULT, {}).folder
    (folder / "result.json").write_text("{")
    store.put(RESULT, {})
    stored = store.get(KEY)
    assert stored is not None
    assert stored.result == RESULT


def test_a_document_that_is_no_result_is_an_error_that_says_what_to_do(store: Store) -> None:
    folder = store.put(RESULT, {}).folder
    (folder / "result.json").write_text("{}")
    digest = hashlib.sha256(b"{}").hexdigest()
    (folder / "digests.txt").write_text(f"{digest}  result.json\n")
    with pytest.raises(InputError, match=Facts('"key"', f"remove {folder}").pattern):
        store.get(KEY)


def test_a_result_of_before_has_its_bytes_from_the_medium_that_is_given(store: Store) -> None:
    folder = store.put(RESULT, {}).folder
    document = json.loads((folder / "result.json").read_bytes())
    del document["medium_bytes"]
    text = json.dumps(document).encode()
    (folder / "result.json").write_bytes(text)
    (folder / "digests.txt").write_text(f"{hashlib.sha256(text).hexdigest()}  result.json\n")
    stored = store.get(KEY, 4096)
    assert stored is not None
    assert stored.result.medium_bytes == 4096


def test_find(store: Store) -> None:
    for key in (KEY, OTHER, "cd" + "0" * 62):
        store.put(replace(RESULT, key=key), {})
    assert store.find("c").result.key == store.find("cd00").result.key == "cd" + "0" * 62
    assert store.find(OTHER.upper()).result.key == OTHER
    with pytest.raises(InputError, match=r'"ab" is the start of 2 keys \(ab00000000, ab11111111\)'):
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
        store = Store(tmp_path)
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
        store.put(RESULT, {"a": tmp_path / "absent"})
    assert store.get(KEY) is None
    assert list((store.root / "tmp").iterdir()) == []


def test_several_processes(tmp_path: Path) -> None:
    writers = [start(WRITER, tmp_path, first, first + 40) for first in (0, 0, 20, 20)]
    for writer in writers:
        _, errors = writer.communicate(timeout=120)
        assert (writer.returncode, errors) == (0, "")
    store = Store(tmp_path)
    assert len(store.keys()) == 60
    for number in range(60):
        stored = store.get(f"{number:064x}")
        assert stored is not None
        assert stored.result.seed == number
    assert not list((tmp_path / "tmp").iterdir())


def test_a_full_disk_is_told(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    store.put(RESULT, {})

    def full(path: Path) -> None:
        raise OSError(errno.ENOSPC, "No space left on device", str(path))

    monkeypatch.setattr(store_module, "_sync", full)
    with pytest.raises(HostResourceError, match=r"no room left .*\([\d.]+ [KMGT]iB free now\)"):
        store.put(replace(RESULT, key=OTHER), {"a": b"1"})
    assert store.keys() == [KEY]
    assert list((store.root / "tmp").iterdir()) == []


def test_a_folder_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(HostResourceError, match="Not a directory"):
        Store(tmp_path / "file" / "results")


def test_opening_is_fast(store: Store) -> None:
    for number in range(1000):
        (store.root / "cells" / f"{number % 256:02x}" / f"{number % 256:02x}{number:062x}").mkdir(parents=True)
    times = []
    for _ in range(5):
        begin = time.perf_counter()
        Store(store.root)
        times.append(time.perf_counter() - begin)
    assert min(times) < 0.05
