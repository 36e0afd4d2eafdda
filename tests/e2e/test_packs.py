# SPDX-License-Identifier: Apache-2.0
"""flashbed pack, flashbed verify, and a pack that runs on bare Python: what they say, and how they end."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from flashbed.common import paths
from flashbed.common.digest import digest_bytes
from flashbed.packs import making
from flashbed.replay import pack_file
from tests.support import made_once
from tests.support.borrowed_guest import empty_cache
from tests.support.counted_emulators import CountedEmulators
from tests.support.facts import Facts
from tests.support.fixture_types import FLASHBED, Flashbed
from tests.support.running import command_lines

STUDY = """
title  = "Ext2 on a stick"
board  = "arm64-1000"
medium = "usb-stick-2g"
seeds  = 2

[axes]
filesystem = ["ext2"]
pattern    = ["randread", "randwrite"]

[workload]
tool    = "fio"
file    = "2M"
request = "64k"
flush   = "fsync"
"""

Pack = dict[str, Any]
Members = dict[str, bytes]


@pytest.fixture(scope="module")
def own_pack(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a pack of four repetitions beside its study and the cache of their results. Two repetitions of each seed
    have the same beginning. Each was measured from power-on, because a run of one cell shares no beginning.
    """

    def make(folder: Path) -> None:
        cache = empty_cache(folder / "cache")
        (folder / "own.toml").write_text(STUDY)
        emulators = CountedEmulators(folder / "programs")
        env = {**os.environ, "FLASHBED_CACHE": str(cache), "PATH": emulators.path}
        for pattern in ("randread", "randwrite"):
            words = ["run", "own.toml", "--where", f"pattern={pattern}"]
            subprocess.run([FLASHBED, *words], check=True, cwd=folder, env=env, timeout=300)
        assert emulators.taken() == (0, 4)
        subprocess.run([FLASHBED, "pack", "own.toml"], check=True, cwd=folder, env=env, timeout=300)
        assert emulators.taken() == (0, 0)

    return made_once.folder(tmp_path_factory, "packs", make) / "own.flashbed"


def bare(pack: Path, folder: Path, *words: str, path: str = "/usr/bin:/bin") -> subprocess.CompletedProcess[str]:
    """Run the pack with a Python without any package, in an empty environment."""
    command = [sys.executable, "-I", "-S", str(pack), *words]
    env = {"PATH": path, "TMPDIR": str(folder)}
    return subprocess.run(command, capture_output=True, text=True, cwd="/", env=env, timeout=300)


def changed(pack: Path, to: Path, change: Callable[[Pack, Members], object]) -> Path:
    """Write a changed copy of the pack with correct digests, as an attacker would. Return its path."""
    whole = pack_file.open_pack(pack)
    members = {name: whole.read(name) for name in whole.members}
    contents = {name: value for name, value in whole.contents.items() if name != "members"}
    change(contents, members)
    making.write(to, contents, {}, members)
    return to


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_bare_python_finds_the_same_bytes(own_pack: Path, tmp_path: Path, jobs: str) -> None:
    """Two guests go on from each of two beginnings, and none runs from power-on."""
    emulators = CountedEmulators(tmp_path / "programs")
    (tmp_path / "files").mkdir()
    done = bare(own_pack, tmp_path / "files", "--jobs", jobs, path=emulators.path)
    assert (done.stdout.splitlines()[-1:], done.returncode) == (["same bytes: 4 of 4 repetitions"], 0), done.stderr
    assert emulators.taken() == (2, 0)
    assert list((tmp_path / "files").iterdir()) == []


@pytest.mark.parametrize("name", ["it's a folder", "a,b"])
def test_it_runs_in_a_folder_of_any_name(own_pack: Path, tmp_path: Path, name: str) -> None:
    (tmp_path / name).mkdir()
    done = bare(own_pack, tmp_path, "--cells", "1", "--folder", str(tmp_path / name))
    assert (done.stdout.splitlines()[-1:], done.returncode) == (["same bytes: 1 of 4 repetitions run again"], 0)
    assert list((tmp_path / name).iterdir()) == []


def test_a_sample_of_more_cells_than_there_are_is_one_repetition_of_each(own_pack: Path, tmp_path: Path) -> None:
    done = bare(own_pack, tmp_path, "--cells", "9")
    assert (done.stdout.splitlines()[-1:], done.returncode) == (["same bytes: 2 of 4 repetitions run again"], 0)


def test_where_nobody_reads_it_stops(own_pack: Path, tmp_path: Path) -> None:
    command = f"set -o pipefail; {sys.executable} -I -S {own_pack} --cells 1 | true"
    env = {"PATH": "/usr/bin:/bin", "TMPDIR": str(tmp_path)}
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, env=env, timeout=300)
    assert done.returncode == 130
    assert "Traceback" not in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_is_exchanged_behind_its_name_is_told(own_pack: Path, tmp_path: Path) -> None:
    """Nothing in the results would tell: they name the one that was there."""

    def exchange(contents: Pack, members: Members) -> None:
        members[f"files/{contents['recipes'][0]['kernel']}"] += b"x"

    done = bare(changed(own_pack, tmp_path / "x.flashbed", exchange), tmp_path, "--cells", "1")
    assert done.returncode == 2
    assert "x.flashbed: the kernel 6.1." in done.stderr
    assert "was changed: its SHA-256 is " in done.stderr


def test_verify_runs_a_sample(flashbed: Flashbed, own_pack: Path) -> None:
    done = flashbed("verify", own_pack, "--cells", "1")
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[0] == f"{own_pack}: Ext2 on a stick (own)"
    assert done.stdout.splitlines()[-1] == "same bytes: 1 of 4 repetitions run again"


def test_the_same_results_give_the_same_pack(flashbed: Flashbed, own_pack: Path, tmp_path: Path) -> None:
    done = flashbed(
        "pack", own_pack.with_name("own.toml"), "-o", "again.flashbed", FLASHBED_CACHE=str(own_pack.parent / "cache")
    )
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "again.flashbed").read_bytes() == own_pack.read_bytes()


def test_no_path_of_this_host_is_in_it(own_pack: Path) -> None:
    # All that was built lies below image/; the cache alone may have a name that programs hold, such as /cache
    folders = (own_pack.parent, paths.cache_root() / "image")
    with zipfile.ZipFile(own_pack) as archive:
        for name in archive.namelist():
            data = archive.read(name)
            for folder in folders:
                assert str(folder).encode() not in data, (name, folder)


def test_a_small_study_is_a_small_file(own_pack: Path) -> None:
    """quick's pack has to be below 60 MB; what every pack has is most of it."""
    assert own_pack.stat().st_size < 15_000_000


def test_a_changed_byte_is_told_before_anything_runs(flashbed: Flashbed, own_pack: Path, tmp_path: Path) -> None:
    data = bytearray(own_pack.read_bytes())
    data[len(data) // 2] ^= 1
    (tmp_path / "x.flashbed").write_bytes(data)
    done = flashbed("verify", tmp_path / "x.flashbed")
    assert (done.returncode, done.stdout) == (2, "")
    assert "x.flashbed: is damaged: " in done.stderr


def test_another_kernel_is_told(own_pack: Path, tmp_path: Path) -> None:
    """The other kernel runs and gives the same figures; it differs in one byte of its banner."""

    def exchange(contents: Pack, members: Members) -> None:
        old = contents["recipes"][0]["kernel"]
        image = members.pop(f"files/{old}").replace(b"Linux version 6.1", b"Linux version 6.7", 1)
        members[f"files/{digest_bytes(image)}"] = image
        for recipe in contents["recipes"]:
            recipe["kernel"] = digest_bytes(image)

    done = bare(changed(own_pack, tmp_path / "x.flashbed", exchange), tmp_path, "--cells", "1")
    assert done.returncode == 5
    assert "Not as measured: the kernel is not the measured one" in done.stdout


def test_another_seed_is_told_and_differs(own_pack: Path, tmp_path: Path) -> None:
    """Exchange the seeds of two recipes; the results stay where they were."""

    def exchange(contents: Pack, _: Members) -> None:
        one, other = (recipe for recipe in contents["recipes"] if "randwrite, " in recipe["label"])
        for name in ("machine", "archives"):
            one[name], other[name] = other[name], one[name]

    done = bare(changed(own_pack, tmp_path / "x.flashbed", exchange), tmp_path)
    assert done.returncode == 5
    for seeds in ("2 instead of 1", "1 instead of 2"):
        assert Facts("Not as measured: the machine", f"{seeds} (").within(done.stdout)
    assert done.stdout.count("Differs: ") == 2
    assert done.stderr.splitlines()[-1] == "2 of 4 repetitions that were run again differ"


def test_another_result_is_told_with_its_line(own_pack: Path, tmp_path: Path) -> None:
    def exchange(contents: Pack, members: Members) -> None:
        key = contents["recipes"][3]["key"]
        name = next(
            name for name in sorted(members) if name.startswith(f"results/{key}/out/") and b"bw" in members[name]
        )
        members[name] = members[name].replace(b'"bw" : ', b'"bw" : 9', 1)

    done = bare(changed(own_pack, tmp_path / "x.flashbed", exchange), tmp_path)
    assert done.returncode == 5
    (line,) = (line for line in done.stdout.splitlines() if line.startswith("Differs: "))
    assert '"bw" : 9' in line
    assert " was " in line


def test_a_guest_that_hangs_is_not_run_and_ends_with_4(own_pack: Path, tmp_path: Path) -> None:
    done = bare(own_pack, tmp_path, "--cells", "1", "--limit", "0.2")
    assert done.returncode == 4
    assert "Not run: " in done.stdout


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_verify_ends_with_130_and_leaves_nothing(
    own_pack: Path, tmp_path: Path, number: signal.Signals
) -> None:
    with subprocess.Popen(
        [sys.executable, "-I", "-S", str(own_pack)],
        env={"PATH": "/usr/bin:/bin", "TMPDIR": str(tmp_path)},
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        while not command_lines("qemu-system-aarch64", tmp_path):
            assert process.poll() is None
            time.sleep(0.05)
        process.send_signal(number)
        _, stderr = process.communicate(timeout=60)
    assert (process.returncode, stderr.splitlines()[-1]) == (130, "interrupted")
    assert command_lines("qemu-system-aarch64", tmp_path) == []
    assert list(tmp_path.iterdir()) == []


def test_a_pack_and_a_report_of_the_same_are_the_same(flashbed: Flashbed, own_pack: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(own_pack) as archive:
        archive.extract("report/results.json", tmp_path)
    done = flashbed("compare", own_pack, tmp_path / "report", "--exact")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines()[-1] == "same bytes: 2 cells, 4 repetitions"


def test_compare_names_the_options_in_which_the_kernels_of_two_packs_differ(
    flashbed: Flashbed, own_pack: Path, tmp_path: Path
) -> None:
    def exchange(_: Pack, members: Members) -> None:
        (name,) = (name for name in members if name.startswith("kernels/"))
        assert b"CONFIG_HZ=" in members[name]
        members[name] += b"CONFIG_MADE_UP=y\n"

    done = flashbed("compare", own_pack, changed(own_pack, tmp_path / "x.flashbed", exchange))
    assert done.returncode == 0
    (line,) = (line for line in done.stdout.splitlines() if "CONFIG_" in line)
    assert line.startswith("Not alike: the kernel 6.1.")
    assert line.endswith(", CONFIG_MADE_UP: not set / y")


@pytest.mark.parametrize("to", ["x.zip", "/etc/passwd/x.flashbed"])
def test_a_pack_wants_a_name_of_its_kind(flashbed: Flashbed, own_pack: Path, to: str) -> None:
    done = flashbed("pack", own_pack.with_name("own.toml"), "-o", to)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"flashbed: {to}: ")
    assert "give a file name that ends with .flashbed" in done.stderr


def test_a_full_disk_leaves_no_half_of_a_pack(own_pack: Path, tmp_path: Path) -> None:
    """Limit what a process may write, as a full disk does."""
    shutil.copy(own_pack.with_name("own.toml"), tmp_path)
    command = f"ulimit -f 4000; trap '' XFSZ; exec {FLASHBED} pack own.toml -o x.flashbed"
    env = {**os.environ, "FLASHBED_CACHE": str(own_pack.parent / "cache")}
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, cwd=tmp_path, env=env, timeout=300)
    assert done.returncode == 4, done.stderr
    assert not [path.name for path in tmp_path.iterdir() if "flashbed" in path.name]


def test_a_pack_says_its_sources(own_pack: Path) -> None:
    with zipfile.ZipFile(own_pack) as archive:
        lock = archive.read("sources/own.lock").decode()
    assert "qemu_" in lock
    assert "linux-source-6.1_" in lock
    assert '"media/usb-stick-2g" = ' in lock
