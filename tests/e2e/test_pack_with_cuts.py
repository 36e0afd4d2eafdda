# SPDX-License-Identifier: Apache-2.0
"""A pack of a study with power cuts: a bare Python cuts the power at the same moments, and finds the same bytes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from flashbed.guest_output import power_cuts
from flashbed.guest_output.power_cuts import CUTS, CutOutcome
from flashbed.packs import making
from flashbed.replay import pack_file
from tests.support import made_once
from tests.support.borrowed_guest import empty_cache
from tests.support.facts import Facts
from tests.support.fixture_types import FLASHBED

STUDY = """
title      = "Rows that are acknowledged, without barriers"
board      = "arm64-1000"
medium     = "emmc-64g:used_bytes=256M"
filesystem = "ext4:barrier=0"
seeds      = 1
power_cuts = 2

[axes]
rows = [40]

[workload]
tool     = "program"
packages = ["python3", "sqlite3"]
prepare  = ": >/mnt/log; sync"
command  = '''
for row in $(seq {rows}); do
    echo $row | dd of=/mnt/log oflag=append conv=notrunc,fsync status=none || exit
    echo $row >>$FLASHBED_ACK
done
'''
check    = '''
cat /mnt/log >/tmp/log || exit 2
[ "$(head -n $(wc -l <$FLASHBED_ACKED) /tmp/log)" = "$(cat $FLASHBED_ACKED)" ] || exit 1
'''
"""

Contents = dict[str, Any]
Members = dict[str, bytes]


@pytest.fixture(scope="module")
def pack(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a pack of one repetition with two power cuts."""

    def make(folder: Path) -> None:
        (folder / "cut.toml").write_text(STUDY)
        env = {**os.environ, "FLASHBED_CACHE": str(empty_cache(folder / "cache"))}
        subprocess.run([FLASHBED, "pack", "cut.toml"], check=True, cwd=folder, env=env, timeout=300)

    return made_once.folder(tmp_path_factory, "pack-with-cuts", make) / "cut.flashbed"


def bare(pack: Path, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run the pack with a Python without any package, in an empty environment."""
    command = [sys.executable, "-I", "-S", str(pack)]
    env = {"PATH": "/usr/bin:/bin", "TMPDIR": str(folder)}
    return subprocess.run(command, capture_output=True, text=True, cwd="/", env=env, timeout=300)


def changed(pack: Path, to: Path, change: Callable[[Contents, Members], object]) -> Path:
    """Write a changed copy of the pack with correct digests, and return its path."""
    whole = pack_file.open_pack(pack)
    files: dict[str, Path] = {}
    members: Members = {}
    for name in whole.members:
        if name.startswith(f"{pack_file.FILES_FOLDER}/"):
            files[name] = to.with_name(name.rpartition("/")[2])
            whole.unpack(files[name].name, files[name])
        else:
            members[name] = whole.read(name)
    contents = {name: value for name, value in whole.contents.items() if name != "members"}
    change(contents, members)
    making.write(to, contents, files, members)
    return to


def test_bare_python_finds_the_same_cuts(pack: Path, tmp_path: Path) -> None:
    whole = pack_file.open_pack(pack)
    (recipe,) = whole.recipes
    assert recipe.cuts is not None
    cuts = power_cuts.read({CUTS: whole.result(recipe.key)[f"out/{CUTS}"]})
    assert len(cuts) == recipe.cuts.number == 2
    assert CutOutcome.LOST in {cut.outcome for cut in cuts}
    done = bare(pack, tmp_path)
    assert (done.stdout.splitlines()[-1:], done.returncode) == (["same bytes: 1 of 1 repetitions"], 0), done.stderr
    assert list(tmp_path.iterdir()) == []


def test_moments_and_outcomes_that_somebody_changed_are_told(pack: Path, tmp_path: Path) -> None:
    def change(contents: Contents, members: Members) -> None:
        (recipe,) = contents["recipes"]
        recipe["cuts"]["seed"] = 2
        name = f"results/{recipe['key']}/out/{CUTS}"
        cuts = json.loads(members[name])
        members[name] = json.dumps([{**cut, "outcome": "survived"} for cut in cuts], indent=1).encode() + b"\n"

    done = bare(changed(pack, tmp_path / "x.flashbed", change), tmp_path)
    assert done.returncode == 5, done.stderr
    assert Facts("Not as measured: the moments of the power cuts", "seed 2", "1 (").within(done.stdout)
    assert f"out/{CUTS}: line 3 was " in done.stdout
