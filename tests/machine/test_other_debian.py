# SPDX-License-Identifier: Apache-2.0
"""The libraries of the host's Debian leave no trace in a result: the emulator gives the same bytes on them and on those
of Debian 13. So does the guest's compiler.

The emulator and the compiler are put there. The guest is a part of the key, whoever built it.
"""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from flashbed.common import paths
from flashbed.common.digest import digest_file
from flashbed.execution.run import prepare
from flashbed.image import emulator, toolchain
from flashbed.image.command import run
from flashbed.image.stores import open_archive, open_cache
from flashbed.study.loading import load_study
from tests.machine.same_bytes import bytes_of, differing
from tests.support import other_debian
from tests.support.fixture_types import Measure, StudyWriter

pytestmark = pytest.mark.long

PACKAGES = ["gcc", "libc6-dev", *emulator.TOOLS.values(), *emulator.HEADERS.values()]
"""All that the emulator is built with, its libraries among them."""

LONGEST_S = 1800
"""Of this host's time, for a guest."""

SHARED_LIBRARY = re.compile(r"=> (\S+) \(")

FIO = """
    [workload]
    tool = "fio"
    pattern = "randwrite"
    request = "4k"
    file = "{file}"
    flush = "fsync"
"""

FXMARK = """
    [workload]
    tool = "fxmark"
    tests = "read-shared-block,create-shared,random"
    file = "1M"
    processes = 8
    run_us = 2000
"""

PROGRAMS = """
    [workload]
    tool = "program"
    packages = ["python3", "sqlite3"]
    files = ["threads.py"]
    command = '''
    sqlite3 /mnt/db 'create table t(a); insert into t values(1), (2)'
    python3 -c 'open("/mnt/set", "w").write(str({str(n) for n in range(20)}))'
    python3 /app/threads.py
    '''
"""
"""SQLite, a Python whose set has the order of its hash seed, and a program with threads."""

THREADS = """
import os, threading
def write(number):
    with open(f"/mnt/{number}", "ab") as file:
        for turn in range(8):
            os.write(file.fileno(), bytes([number]) * 5000)
            os.fsync(file.fileno())
threads = [threading.Thread(target=write, args=(number,)) for number in range(4)]
for thread in threads: thread.start()
for thread in threads: thread.join()
"""

CELLS = {
    "stick": (FIO.format(file="4M"), {"filesystem": "ext2:block=4k", "medium": "usb-stick-2g:condition=full"}),
    "raw-nand": (FIO.format(file="2M"), {"filesystem": "jffs2", "medium": "slc-nand-64m", "board": "arm64-250-pio"}),
    "sata": (FIO.format(file="2M"), {"filesystem": "ext4", "medium": "hdd-25-5400-ide-4g", "board": "arm64-2x1000"}),
    "sd": (FIO.format(file="2M"), {"filesystem": "fat16:cluster=32k", "medium": "sd-good:used_bytes=512M"}),
    "emmc": (FIO.format(file="2M"), {"filesystem": "f2fs", "medium": "emmc-64g:used_bytes=1G"}),
    "pio": (FIO.format(file="2M"), {"filesystem": "ext2", "medium": "cf-2g", "board": "arm64-250-pio"}),
    "8-cpus": (FXMARK, {"filesystem": "f2fs", "medium": "nvme-960pro-class:used_bytes=2G", "board": "arm64-8x2000"}),
    "programs": (PROGRAMS, {"filesystem": "ext4", "medium": "emmc-64g:used_bytes=1G"}),
    "programs-4-cpus": (PROGRAMS, {"filesystem": "f2fs", "medium": "usb-stick-2g", "board": "arm64-1000:cpus=4"}),
}


@pytest.fixture(scope="module")
def debian() -> Path:
    """Return the root folder of a Debian 13."""
    if why := other_debian.refusal():
        pytest.skip(why)
    return other_debian.root(PACKAGES)


def start_script(debian: Path, program: Path, folder: Path) -> Path:
    """Write a script that replaces the emulator. It starts `program` in that Debian, which sees the cache and `folder`
    of the host.
    """
    script = folder / "emulator"
    command = shlex.join(other_debian.inside(debian, [paths.cache_root(), folder], [program]))
    script.write_text(f'#!/bin/sh\nexec {command} "$@"\n')
    script.chmod(0o755)
    return script


def test_the_libraries_are_others(debian: Path) -> None:
    output = run(other_debian.inside(debian, [paths.cache_root()], ["ldd", emulator.program()]))
    libraries = [path.lstrip("/") for path in SHARED_LIBRARY.findall(output)]
    assert any("libglib-2.0" in path for path in libraries)
    for path in libraries:
        assert digest_file((debian / path).resolve()) != digest_file((Path("/") / path).resolve()), path


def test_the_compiler_gives_the_same_bytes_there(debian: Path, tmp_path: Path) -> None:
    """The compiler has its own loader and libraries, whatever the host has."""
    cache = open_cache()
    environment = toolchain.compiler(cache, open_archive()).environment()
    program = environment["PATH"].partition(":")[0] + f"/{toolchain.CROSS_PREFIX}gcc"
    (tmp_path / "a.c").write_text("int twice(int a) { return 2 * a; }\n")
    objects = []
    for name, entered in {"here.o": [], "there.o": other_debian.inside(debian, [cache.root, tmp_path], [])}.items():
        run([*entered, program, "-O2", "-c", tmp_path / "a.c", "-o", tmp_path / name])
        objects.append((tmp_path / name).read_bytes())
    assert objects[0] == objects[1]


@pytest.mark.parametrize("cell", CELLS)
def test_same_bytes_on_other_libraries(
    cell: str, debian: Path, study_file: StudyWriter, measure: Measure, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    body, top = CELLS[cell]
    study = study_file(body, **top)
    (study.parent / "threads.py").write_text(THREADS)
    (repetition,) = prepare(load_study(study))
    here = bytes_of(measure(repetition, tmp_path / "here", LONGEST_S))
    script = start_script(debian, emulator.program(), tmp_path)
    monkeypatch.setattr(emulator, "program", lambda: script)
    assert differing(here, bytes_of(measure(repetition, tmp_path / "there", LONGEST_S))) == []
