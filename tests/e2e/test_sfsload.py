# SPDX-License-Identifier: Apache-2.0
"""The load generator as it is built for a guest, as its page tells of it, and against a real server. What it does is
tested by `make -C sfsload test`.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
from pathlib import Path

import pytest
from elftools.elf.elffile import ELFFile
from elftools.elf.segments import InterpSegment

from flashbed.common import paths
from flashbed.image import toolchain
from flashbed.image.cache import Cache
from flashbed.image.debian import Archive
from tests.support.make_target import make
from tests.support.repository import REPOSITORY

PAGE = (REPOSITORY / "docs/sfsload.md").read_text()


@pytest.fixture(scope="module")
def sfsload(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("sfsload")
    done = make("-C", "sfsload", BUILD=str(folder))
    assert done.returncode == 0, done.stderr
    return folder / "sfsload"


def machine_of(program: Path) -> str:
    """Return the architecture of the program, and check that it is static."""
    with program.open("rb") as file:
        elf = ELFFile(file)
        assert not any(isinstance(segment, InterpSegment) for segment in elf.iter_segments())
        return str(elf["e_machine"])


def test_it_is_static_here(sfsload: Path) -> None:
    assert machine_of(sfsload) in ("EM_X86_64", "EM_AARCH64")


def test_it_is_built_for_a_guest(tmp_path: Path) -> None:
    archive = Archive(paths.cache_root() / f"debian-{toolchain.ARCHITECTURE}", toolchain.ARCHITECTURE)
    root = toolchain.sysroot(Cache(paths.cache_root() / "image"), archive)
    done = make("-C", "sfsload", "arm64", BUILD=str(tmp_path), SYSROOT=str(root.folder))
    assert done.returncode == 0, done.stderr
    assert machine_of(tmp_path / "sfsload-arm64") == "EM_AARCH64"


def test_the_page_names_every_option_and_no_other(sfsload: Path) -> None:
    help_text = subprocess.run([sfsload, "--help"], capture_output=True, text=True, check=True).stdout
    options = re.findall(r"^  (--[a-z-]+)", help_text, re.MULTILINE)
    assert len(options) > 20
    assert re.findall(r"^\| `(--[a-z-]+)", PAGE, re.MULTILINE) == [name for name in options if name != "--help"]


def test_the_page_says_which_options_are_not_in_the_settings(sfsload: Path) -> None:
    source = (REPOSITORY / "sfsload/src/report.c").read_text()
    keys = set(re.findall(r'\\"(\w+)\\":', source.partition("void put_settings")[2].partition("\n}\n")[0]))
    called = {"load_ops_per_s": "load", "warmup_s": "warmup", "measured_s": "time", "timeout_ms": "timeout"}
    there = {f"--{called.get(key, key)}" for key in keys - {"settings", "as_the_rules_ask"}}
    help_text = subprocess.run([sfsload, "--help"], capture_output=True, text=True, check=True).stdout
    options = set(re.findall(r"^  (--[a-z-]+)", help_text, re.MULTILINE)) - {"--help"}
    [row] = re.findall(r"^\| `settings` \| the options but ([^;]*);", PAGE, re.MULTILINE)
    assert there < options
    assert set(re.findall(r"--[a-z-]+", row)) == options - there


def test_the_page_has_the_mixes_of_the_program() -> None:
    source = (REPOSITORY / "sfsload/src/mix.c").read_text()
    mixes = [dict(re.findall(r"\[OP_(\w+)\] = (\d+)", part)) for part in source.split(".percent")[1:]]
    rows = re.findall(r"^\| ([A-Z]+) \| ([\d-]+) \| ([\d-]+) \| ([\d-]+) \|$", PAGE, re.MULTILINE)
    assert len(rows) == 14
    for column, mix in enumerate(mixes, 1):
        assert {row[0]: row[column] for row in rows if row[column] != "-"} == mix


@pytest.mark.long
@pytest.mark.skipif(os.geteuid() != 0, reason="namespaces with mounts of their own need root")
def test_against_a_real_server(sfsload: Path, tmp_path: Path) -> None:
    """NFS-Ganesha, version 3 over TCP, then over UDP on the same file set."""
    script = REPOSITORY / "sfsload/tests/ganesha.sh"
    done = subprocess.run([script, sfsload, tmp_path], capture_output=True, text=True, timeout=180)
    assert done.returncode == 0, done.stderr
    for transport in ("tcp", "udp"):
        result = json.loads((tmp_path / f"{transport}.json").read_text())
        assert result["errors"] == []
        assert result["unanswered"] == result["verifier_changes"] == 0
        assert result["good"] > 100
    options = ["--load", "60", "--scale", "0.000001", "--only", "list"]
    listed = subprocess.run([sfsload, *options], capture_output=True, text=True, check=True).stdout.splitlines()
    there = dict(line.split() for line in (tmp_path / "sizes").read_text().splitlines())
    assert len(listed) == len(there) == 100
    for line in listed:
        name, kb, *accessed = line.split()
        size = int(there[name])
        assert size == int(kb) * 1024 or (accessed and size > int(kb) * 1024), name
