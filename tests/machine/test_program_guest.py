# SPDX-License-Identifier: Apache-2.0
"""Programs of the user's in their root: they run as on a Debian system, take no RAM for their files, and give the same
bytes each time.
"""

from __future__ import annotations

import os
import re
import stat
import subprocess
import sys
import zipfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest

from flashbed.commands import images
from flashbed.commands.on_packs import pack_command
from flashbed.common.digest import digest_bytes, digest_file
from flashbed.execution import repetition, run
from flashbed.guest_output import program_calls
from flashbed.image import program_root, stores
from flashbed.image.guest_parts import PartError
from flashbed.machine.outcomes import Outcome
from flashbed.packs import image_file
from flashbed.study.loading import load_study
from flashbed.workload import WORKLOADS
from flashbed.workload.base import Needs, Root, RootFile, Workload
from tests.machine.test_shared_beginnings import FIO, PATTERNS, as_from_power_on
from tests.support import guest_rig
from tests.support.busy_host import BURSTS, busy
from tests.support.fixture_types import Measure, StudyWriter

PROGRAMS = Root(("python3", "sqlite3"))

LOAD = ". /job/root\nload_root\n"

THREADS = """
import os, threading
def write(number):
    for turn in range(8):
        with open(f"/mnt/{number}", "ab") as file:
            file.write(bytes([number]) * 5000)
            os.fsync(file.fileno())
threads = [threading.Thread(target=write, args=(number,)) for number in range(4)]
for thread in threads: thread.start()
for thread in threads: thread.join()
print(sorted(os.listdir("/mnt")), os.stat("/mnt/3").st_size, os.getpid())
"""

MEASURE = f"""\
. /job/root
open_root || exit
in_root sqlite3 /mnt/db 'create table t(a); insert into t values(1), (2); select sum(a) from t' >/out/sqlite || exit
in_root 'WORDS=two words' sh -c 'echo "$WORDS $HOME $(pwd)"; cat /proc/self/maps' >/out/sh || exit
in_root python3 -c '{THREADS}' >/out/python || exit
grep "^now at" /proc/timer_list >/out/now
close_root
"""


def needs_root(monkeypatch: pytest.MonkeyPatch, root: Root) -> None:
    monkeypatch.setattr(type(WORKLOADS["fio"]), "needs", lambda *_: Needs(root=root))


@pytest.fixture(autouse=True)
def with_root(monkeypatch: pytest.MonkeyPatch) -> None:
    needs_root(monkeypatch, PROGRAMS)


def programs_run(outcome: Outcome) -> None:
    files = outcome.files
    assert files["sqlite"] == b"3\n"
    first, *maps = files["sh"].decode().splitlines()
    assert first == "two words /tmp /"
    assert [line.split()[0] for line in maps if line.endswith("[stack]")] == ["fffffffdf000-1000000000000"]  # no ASLR
    assert files["python"].startswith(b"['0', '1', '2', '3', 'db', 'lost+found'] 40000 ")


def test_programs_run_from_the_root(study_file: StudyWriter, tmp_path: Path) -> None:
    study = study_file(guest_rig.STUDY, filesystem="ext2", medium="usb-stick-2g")
    outcome = guest_rig.boot(guest_rig.new(study, tmp_path / "rig"), prepare=LOAD, measure=MEASURE, calls=True)
    programs_run(outcome)
    found = program_calls.program_calls(outcome.files, ["/program"])
    written = {process.program: process.written_bytes for process in found.processes}
    assert written["python3"] == 4 * 8 * 5000
    assert written["sqlite3"] > 0


@pytest.mark.long
def test_programs_run_on_the_newer_kernel(study_file: StudyWriter, tmp_path: Path) -> None:
    study = study_file(guest_rig.STUDY, filesystem="ext2", medium="null-2g", kernel="6.12")
    programs_run(guest_rig.boot(guest_rig.new(study, tmp_path / "rig"), prepare=LOAD, measure=MEASURE))


def test_a_program_that_is_left_behind_is_named(study_file: StudyWriter, tmp_path: Path) -> None:
    study = study_file(guest_rig.STUDY, filesystem="ext2", medium="null-2g")
    measure = ". /job/root\nopen_root\nin_root sh -c 'cd /mnt; exec sleep 1000' &\nsleep 0.1\nclose_root\n"
    outcome = guest_rig.outcome_of(guest_rig.new(study, tmp_path / "rig"), prepare=LOAD, measure=measure)
    assert outcome.status == "failed"
    assert "programs still use /program/mnt: sleep 1000" in outcome.reason


def test_a_root_may_lie_on_the_medium(study_file: StudyWriter, tmp_path: Path) -> None:
    study = study_file(guest_rig.STUDY, filesystem="ext2", medium="null-2g")
    measure = MEASURE.replace("open_root", "open_root /mnt/program")
    outcome = guest_rig.boot(
        guest_rig.new(study, tmp_path / "rig"), prepare=f"{LOAD}copy_root\n", measure=measure, calls=True
    )
    assert outcome.files["sqlite"] == b"3\n"
    found = program_calls.program_calls(outcome.files, ["/mnt/program"])
    assert "/mnt/program/usr/bin/sqlite3" in {file.path for file in found.files}


@pytest.mark.parametrize("cpus", [1, 4])
def test_the_same_bytes_beside_busy_processes(study_file: StudyWriter, tmp_path: Path, cpus: int) -> None:
    board = f"arm64-1000:cpus={cpus}"
    study = study_file(guest_rig.STUDY, board=board, filesystem="ext2", medium="usb-stick-2g")
    alone = guest_rig.boot(guest_rig.new(study, tmp_path / "alone"), prepare=LOAD, measure=MEASURE)
    with busy(3, BURSTS):
        other = guest_rig.boot(guest_rig.new(study, tmp_path / "other"), prepare=LOAD, measure=MEASURE)
    programs_run(alone)
    assert alone.files == other.files
    assert alone.console == other.console


def test_the_same_bytes_from_a_shared_beginning(
    study_file: StudyWriter, measure: Measure, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fio_with_programs(monkeypatch)
    study = study_file(f"[axes]\n{PATTERNS}\n[workload]\n{FIO}", filesystem="ext2")
    found = as_from_power_on(study, measure, tmp_path)
    assert found.files["out/sqlite"] == b"3\n"
    environment = found.result.environment
    entry = program_root.build(stores.open_cache(), stores.open_archive(), PROGRAMS, {})
    assert environment["root"] == digest_file(entry.path(program_root.ROOT_IMAGE))
    assert found.result.cell["kernel"] == "6.1-program"


def fio_with_programs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let fio measure, and run programs before it and in the preparation."""
    fio = type(WORKLOADS["fio"])
    files = fio.files

    def with_programs(self: Workload, parameters: Mapping[str, object], seed: int) -> dict[str, bytes]:
        own = files(self, parameters, seed)
        before = f"{LOAD}open_root && in_root sqlite3 /mnt/db 'create table t(a)' && close_root || exit\n"
        own["prepare"] = before.encode() + own["prepare"]
        own["measure"] = MEASURE.replace("create table t(a);", "").encode() + own["measure"]
        return own

    monkeypatch.setattr(fio, "files", with_programs)


def test_a_pack_has_the_root(
    study_file: StudyWriter, fresh_cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It runs on bare Python, by a shared beginning, and gives the same bytes."""
    fio_with_programs(monkeypatch)
    pack = tmp_path / "small.flashbed"
    pack_command(str(study_file(f"[axes]\n{PATTERNS}\n[workload]\n{FIO}", filesystem="ext2")), to=pack)
    lock = zipfile.ZipFile(pack).read("sources/small.lock").decode()
    assert "sqlite3" in lock
    assert "erofs-utils" in lock
    done = subprocess.run(
        [sys.executable, "-I", pack, "--folder", tmp_path], capture_output=True, text=True, timeout=900, check=False
    )
    assert (done.returncode, done.stdout.splitlines()[-1]) == (0, "same bytes: 2 of 2 repetitions"), done.stderr


@pytest.mark.long
def test_an_image_has_the_root(
    study_file: StudyWriter, fresh_cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    study = study_file(guest_rig.STUDY, filesystem="ext2", medium="null-2g")
    image = tmp_path / "image.flashbed"
    images.export(image, [str(study)], "6.1")
    (wanted,) = run.prepare(load_study(study))
    monkeypatch.setenv("FLASHBED_CACHE", str(tmp_path / "elsewhere"))
    image_file.take_in(image)
    (there,) = run.prepare(load_study(study), only_built=True)
    assert there.key == wanted.key
    root = there.image.root(repetition.program_set(there.cell))
    assert root is not None
    assert root.is_relative_to(tmp_path / "elsewhere")
    assert digest_file(root) == wanted.environment["root"]


SNAPSHOT = """\
snapshot() {
	cat /proc/meminfo /proc/zoneinfo >/out/full.$1
	echo 3 >/proc/sys/vm/drop_caches
	usleep 100000
	cat /proc/meminfo /proc/zoneinfo >/out/memory.$1
}
"""


def memory_kb(text: bytes) -> dict[str, int]:
    """Return the lines of /proc/meminfo. `free` is all free memory: MemFree lacks the pages in the lists of CPUs."""
    lines = text.decode()
    found = {name: int(value) for name, value in re.findall(r"^(\w+): +(\d+) kB", lines, re.MULTILINE)}
    in_lists = sum(map(int, re.findall(r"^ +count: (\d+)", lines, re.MULTILINE)))
    return {**found, "free": found["MemFree"] + 4 * in_lists}


def test_a_root_takes_no_memory_for_its_files(study_file: StudyWriter, tmp_path: Path) -> None:
    """The page cache is the same with a root from which Python has run. 16 MB of its files were mapped or read."""
    study = study_file(guest_rig.STUDY, filesystem="ext2", medium="null-2g")
    read = "in_root sh -c 'cat /usr/lib/python3.11/*.py /usr/lib/aarch64-linux-gnu/*.so* | wc -c' >/out/read"
    uses = f"open_root\nin_root python3 -c 'import json, sqlite3'\n{read}\nclose_root\n"
    found = {}
    for name, load, use in (("with", LOAD, f". /job/root\n{uses}"), ("without", "true\n", "true\n")):
        rig = guest_rig.new(study, tmp_path / name)
        outcome = guest_rig.boot(rig, prepare=load, measure=f"{SNAPSHOT}{use}snapshot end\n")
        found[name] = {kind: memory_kb(outcome.files[f"{kind}.end"]) for kind in ("full", "memory")}
        if name == "with":
            assert int(outcome.files["read"]) > 16 << 20
    extra = {
        kind: {name: found["with"][kind][name] - kb for name, kb in found["without"][kind].items()}
        for kind in ("full", "memory")
    }
    full, dropped = extra["full"], extra["memory"]
    assert full["MemTotal"] == 0
    assert full["Buffers"] <= 128, "the image's inodes"
    assert full["Cached"] - full["Shmem"] <= 160, "the image's directories and symbolic links"
    assert full["free"] >= -1024
    # MemFree is some 800 kB lower, but only because the program's pages are in lists of CPUs now
    assert dropped["free"] >= -400
    held = sum(dropped[name] for name in ("Slab", "KernelStack", "Cached", "Buffers", "AnonPages", "VmallocUsed"))
    assert abs(dropped["free"] + held) <= 64, dropped


def test_a_root_may_be_larger_than_the_board_s_memory(study_file: StudyWriter, tmp_path: Path) -> None:
    study = study_file(guest_rig.STUDY, filesystem="ext2", medium="null-2g")
    reads = "in_root sh -c 'find / -xdev -type f -print0 | xargs -0 cat | wc -c' >/out/read"
    rig = guest_rig.new(study, tmp_path / "rig")
    measure = f". /job/root\nopen_root\n{reads}\nclose_root\n"
    outcome = guest_rig.boot(rig, prepare=LOAD, measure=measure, ram_bytes=64 << 20)
    assert int(outcome.files["read"]) > 64 << 20


@pytest.fixture
def strict_umask() -> Iterator[Callable[[], object]]:
    before = os.umask(0o022)
    yield lambda: os.umask(0o077)
    os.umask(before)


def test_an_image_has_the_same_bytes_for_any_order_of_files_and_any_umask(
    tmp_path: Path, strict_umask: Callable[[], object]
) -> None:
    files, sources = [], {}
    for number in range(40):
        text = f"file {number}\n".encode() * 1000
        (tmp_path / f"{number}").write_bytes(text)
        files.append(RootFile(f"/app/{number % 3}/{number}", stat.S_IFREG | 0o644, digest_bytes(text)))
        sources[digest_bytes(text)] = tmp_path / f"{number}"
    made = []
    for name, order in (("first", files), ("other", files[::-1])):
        cache = type(stores.open_cache())(tmp_path / name)
        root = Root(files=tuple(order))
        made.append(program_root.build(cache, stores.open_archive(), root, sources).digests[program_root.ROOT_IMAGE])
        strict_umask()
    assert made[0] == made[1]


def test_what_no_root_can_have_is_a_message_before_any_guest_boots(
    study_file: StudyWriter, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    study = study_file(guest_rig.STUDY, filesystem="ext2", medium="null-2g")
    needs_root(monkeypatch, Root(("no-such-package",)))
    with pytest.raises(PartError, match=r"no package no-such-package$"):
        run.prepare(load_study(study))
    unpacked, archive = tmp_path / "unpacked", stores.open_archive()
    archive.unpack(archive.fetch(("sqlite3",), archive.resolve(("sqlite3",))), unpacked)
    program = unpacked / "usr/bin/sqlite3"
    file = RootFile("/app/sqlite3", stat.S_IFREG | 0o755, digest_file(program))
    with pytest.raises(PartError, match=r"^/app/sqlite3 needs .*libsqlite3.so.0"):
        program_root.build(stores.open_cache(), archive, Root((), (file,), (file.path,)), {file.sha256: program})
    host = Path("/bin/true").resolve()
    file = RootFile("/app/true", stat.S_IFREG | 0o755, digest_file(host))
    with pytest.raises(PartError, match=r"^/app/true .*x64.*arm64"):
        program_root.build(stores.open_cache(), archive, Root((), (file,), (file.path,)), {file.sha256: host})
