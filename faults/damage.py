# SPDX-License-Identifier: Apache-2.0
"""Faults of files: each kind that a cache holds, damaged in each way that the kind names, before a run or in its
midst."""

from __future__ import annotations

import random
import shutil
import signal
import time
from pathlib import Path

from faults import kinds
from faults.bed import NEVER_COPIED, Bed
from faults.fault import Act, Fault, Note, disturbed, is_conditioned, wait_for_moment
from faults.kinds import Kind
from faults.verdict import files_of
from flashbed.guest_output import request_log

IN_THE_MIDST = 0.3
"""How often a file is damaged while a run is under way, of the kinds where that says something."""

STATIC = ("image/", "conditions/", "media/", "debian-arm64/", "debian-amd64/", "allowed/", "elsewhere/")
"""What a run has read before it measures: damaged in its midst, it would be a fault of the next one."""

BUILT_IN_MINUTES = ("Linux", "emulator")
"""Kinds whose build is only begun."""

TAKEN_FROM = {"e2fsprogs": "programs-e2fsprogs-", "dosfstools": "programs-dosfstools-", "busybox": "programs-busybox"}
"""Packages that the campaign damages, and the part that is made anew from each: else nobody would look at them."""


def faults() -> list[Fault]:
    """A fault for each kind that can be damaged."""
    return [Fault(f"damaged: {kind.name}", 2 * kind.weight, _act(kind), "damage") for kind in kinds.KINDS if kind.ways]


def _act(kind: Kind) -> Act:
    def act(bed: Bed, chance: random.Random, note: Note) -> None:
        if kind.name == "failure":
            _fail_one(bed, chance)
        path = _choose(bed, kind, chance)
        way = chance.choice(kind.ways)
        note.detail = f"{path.relative_to(bed.cache)} {way}"
        if not str(path.relative_to(bed.cache)).startswith(STATIC) and chance.random() < IN_THE_MIDST:
            _in_the_midst(bed, path, way, chance, note)
            return
        note.moment = "before a run"
        damage(bed.own_copy(path), way, chance)
        if kind.name in BUILT_IN_MINUTES:
            _make_it_wanted(bed, kind, path)
            _noticed(bed, path, chance, note)
        elif kind.comes == "told":
            _told(bed, path, note)
        elif kind.comes == "unseen":
            note.end(bed.begin_run(2), (0,))
            if kind.name != "failure":
                bed.put_back(path)
        else:
            _make_it_wanted(bed, kind, path)

    return act


def damage(path: Path, way: str, chance: random.Random) -> None:
    """Damages a file in place, or removes it. It is another file than before, for sure."""
    whole = path.read_bytes()
    if way == "removed":
        path.unlink()
        return
    if way == "truncated":
        broken = whole[: chance.randrange(9 * len(whole) // 10)] if len(whole) > 1 else b"x"
    elif way == "a byte flipped" and whole:
        at = chance.randrange(len(whole))
        broken = whole[:at] + bytes([whole[at] ^ (1 << chance.randrange(8))]) + whole[at + 1 :]
    else:
        broken = {"emptied": b"", "zeroed": bytes(len(whole))}.get(way, chance.randbytes(max(len(whole), 16)))
    path.write_bytes(broken if broken != whole else whole + b"x")


def _choose(bed: Bed, kind: Kind, chance: random.Random) -> Path:
    """One of the kind's files. Of the raw output and the sysroot there are so many that the kinds are drawn first."""
    names = [name for name in files_of(bed.cache) if kinds.kind_of(name) is kind]
    if kind.name == "package":
        names = [name for name in names if Path(name).name.startswith(tuple(TAKEN_FROM))]
    return bed.cache / chance.choice(sorted(names))


def _fail_one(bed: Bed, chance: random.Random) -> None:
    """As if a repetition had failed: what a failure keeps, and no result."""
    folder = chance.choice(bed.results())
    shutil.copytree(folder, bed.cache / "failures" / folder.name)
    bed.forget([folder])


def _make_it_wanted(bed: Bed, kind: Kind, path: Path) -> None:
    """A cell is to be measured again, so that the next run looks at what only a cell needs."""
    if path.is_relative_to(bed.cache / "results"):
        return
    bed.forget([folder for folder in bed.results() if is_conditioned(folder)][:1])
    for package, part in TAKEN_FROM.items():
        if kind.name == "package" and path.name.startswith(package):
            _drop(bed, part)
    if kind.name == "source":
        _drop(bed, "fio-")


def _drop(bed: Bed, start: str) -> None:
    for link in bed.entry_links():
        if link.name.startswith(start):
            link.unlink()


def _in_the_midst(bed: Bed, path: Path, way: str, chance: random.Random, note: Note) -> None:
    kept = path.relative_to(bed.cache)
    missing, jobs = disturbed(bed, chance, parts=False), chance.randint(1, 2)
    run = bed.begin_run(jobs)
    wait_for_moment(bed, run, chance, missing, jobs, note)
    if path.is_file():
        damage(path, way, chance)
    else:
        note.detail = f"{kept} was not there then"
    # Drawn after it was looked at, a log of requests ends the report with a message
    note.end(run, (0, 4) if path.name == request_log.LOG else (0,))


def _told(bed: Bed, path: Path, note: Note) -> None:
    """The run, or the command that reads it, says which file it is; the user puts it right."""
    command = ("medium", "inspect", "kept") if path.name == "medium.json" else bed.run_words(2)
    # A medium that is found damaged by a cell fails that cell; what is found before that ends the run
    done = note.end(bed.begin(*command), (1, 2) if path.is_relative_to(bed.cache / "media") else (2,))
    if path.parent.name not in done.said and path.name not in done.said and path.parent.name != "allowed":
        note.wrong.append(f"{path}: damaged, and not named: {done.said[-300:]}")
    bed.put_back(path)


def _noticed(bed: Bed, path: Path, chance: random.Random, note: Note) -> None:
    """The run begins to build it anew; that is stopped, and the entry put back."""
    assert path.relative_to(bed.cache / "image").parts[0].startswith(NEVER_COPIED)
    run = bed.begin_run(2)
    while " the source of " not in run.said() and not run.is_over:
        time.sleep(0.05)
    time.sleep(chance.uniform(0, 4))
    note.moment = "before a run; stopped while it is built anew"
    run.process.send_signal(signal.SIGTERM)
    note.end(run, (130,), 60)
    bed.put_back(path)
