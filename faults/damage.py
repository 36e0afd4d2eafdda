# SPDX-License-Identifier: Apache-2.0
"""Faults of files: damage each kind of file that a cache holds, in each way that the kind names, before a run or
during it.
"""

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

DURING_A_RUN = 0.3
"""The probability that a file is damaged during a run, for kinds that a run still reads then."""

STATIC = ("image/", "conditions/", "media/", "debian-arm64/", "debian-amd64/", "allowed/", "elsewhere/")
"""Files that a run reads before it measures. Damage during the run would only affect the next one."""

BUILT_IN_MINUTES = ("Linux", "emulator")
"""Kinds whose build is started, but not finished."""

TAKEN_FROM = {"e2fsprogs": "programs-e2fsprogs-", "dosfstools": "programs-dosfstools-", "busybox": "programs-busybox"}
"""Packages that the campaign damages, and the part that is removed so that the run reads the package again."""


def faults() -> list[Fault]:
    """Return a fault for each kind that can be damaged."""
    return [Fault(f"damaged: {kind.name}", 2 * kind.weight, _act(kind), "damage") for kind in kinds.KINDS if kind.ways]


def _act(kind: Kind) -> Act:
    def act(bed: Bed, chance: random.Random, note: Note) -> None:
        if kind.name == "failure":
            _fail_one(bed, chance)
        path = _choose(bed, kind, chance)
        way = chance.choice(kind.ways)
        note.detail = f"{path.relative_to(bed.cache)} {way}"
        if not str(path.relative_to(bed.cache)).startswith(STATIC) and chance.random() < DURING_A_RUN:
            _during_a_run(bed, path, way, chance, note)
            return
        note.moment = "before a run"
        damage(bed.own_copy(path), way, chance)
        if kind.name in BUILT_IN_MINUTES:
            _make_it_wanted(bed, kind, path)
            _rebuilt(bed, path, chance, note)
        elif kind.comes == "told":
            _reported(bed, path, note)
        elif kind.comes == "unseen":
            note.end(bed.begin_run(2), (0,))
            if kind.name != "failure":
                bed.put_back(path)
        else:
            _make_it_wanted(bed, kind, path)

    return act


def damage(path: Path, way: str, chance: random.Random) -> None:
    """Damage a file in place, or remove it. Its content always differs afterwards."""
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
    """Draw a file of the kind. Kinds are drawn first, because raw output and the sysroot have many files."""
    names = [name for name in files_of(bed.cache) if kinds.kind_of(name) is kind]
    if kind.name == "package":
        names = [name for name in names if Path(name).name.startswith(tuple(TAKEN_FROM))]
    return bed.cache / chance.choice(sorted(names))


def _fail_one(bed: Bed, chance: random.Random) -> None:
    """Replace a result by the files of a failed repetition."""
    folder = chance.choice(bed.results())
    shutil.copytree(folder, bed.cache / "failures" / folder.name)
    bed.forget([folder])


def _make_it_wanted(bed: Bed, kind: Kind, path: Path) -> None:
    """Make the next run read the file: remove the result of a cell that needs it, or the part made from it."""
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


def _during_a_run(bed: Bed, path: Path, way: str, chance: random.Random, note: Note) -> None:
    kept = path.relative_to(bed.cache)
    missing, jobs = disturbed(bed, chance, parts=False), chance.randint(1, 2)
    run = bed.begin_run(jobs)
    wait_for_moment(bed, run, chance, missing, jobs, note)
    if path.is_file():
        damage(path, way, chance)
    else:
        note.detail = f"{kept} was not there then"
    # The report ends with a message if a log of requests was damaged after its check
    note.end(run, (0, 4) if path.name == request_log.REQUEST_LOG else (0,))


def _reported(bed: Bed, path: Path, note: Note) -> None:
    """Check that the run, or the command that reads the file, names it. Then restore it, as the user would."""
    command = ("medium", "inspect", "kept") if path.name == "medium.json" else bed.run_words(2)
    # A medium that is found damaged by a cell fails that cell; what is found before that ends the run
    done = note.end(bed.begin(*command), (1, 2) if path.is_relative_to(bed.cache / "media") else (2,))
    if path.parent.name not in done.output and path.name not in done.output and path.parent.name != "allowed":
        note.wrong.append(f"{path}: damaged, and not named: {done.output[-300:]}")
    bed.put_back(path)


def _rebuilt(bed: Bed, path: Path, chance: random.Random, note: Note) -> None:
    """Check that the run starts to build the entry again. Stop the build, and restore the entry."""
    assert path.relative_to(bed.cache / "image").parts[0].startswith(NEVER_COPIED)
    run = bed.begin_run(2)
    while " the source of " not in run.output() and not run.is_over:
        time.sleep(0.05)
    time.sleep(chance.uniform(0, 4))
    note.moment = "before a run; stopped while it is built anew"
    run.process.send_signal(signal.SIGTERM)
    note.end(run, (130,), 60)
    bed.put_back(path)
