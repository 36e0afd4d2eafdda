# SPDX-License-Identifier: Apache-2.0
"""The fault campaign: disturb runs of a small study, at moments and in ways drawn from a seed, and check that the next
run ends as an undisturbed one.

    python -m faults.campaign [--faults N] [--seed S] [--minutes M] [--only KIND] [--log FILE] [--folder DIR]

The faults are: killed processes, two runs at once, a host that refuses to write, damaged files of every kind that the
cache holds (kinds.py), and leftovers of killed runs. After a fault, the next run must end with 0, produce the same
bytes (results, raw files, report), leave no process, and leave nothing in the cache that an undisturbed run does not.
Linux and the emulator take minutes to build: if they are damaged, their build is stopped and the entry restored. fio is
built again, but rarely damaged.

Each fault adds a line of JSON to the log. The exit status is 1 if anything was lost. The home of such a fault is kept
in the directory as lost-NUMBER. A fault depends only on the seed and its number: --first N --faults 1 repeats it.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import random
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from faults import damage, disturbances, leftovers, processes, refusals, runs, verdict
from faults.bed import Bed, commit
from faults.fault import Fault, Note

FAULTS: Sequence[Fault] = (*disturbances.FAULTS, *refusals.FAULTS, *damage.faults(), *leftovers.FAULTS)


def chosen(seed: int, number: int, only: str) -> tuple[Fault, random.Random]:
    """Return the fault of a number, and the random numbers for everything that it draws."""
    chance = random.Random(f"{seed}/{number}")
    there = [fault for fault in FAULTS if only in fault.name or only == fault.group]
    if not there:
        names = ", ".join(fault.name for fault in FAULTS)
        raise SystemExit(f"--only {only}: no such fault; there are: {names}")
    return chance.choices(there, [fault.weight for fault in there])[0], chance


def carry_out(bed: Bed, seed: int, number: int, only: str) -> dict[str, Any]:
    """Apply a fault, run the study again, and judge the home. Return a line of the log."""
    fault, chance = chosen(seed, number, only)
    note, begun = Note(), time.monotonic()
    bed.renew()
    lost, kept = [], []
    try:
        fault.act(bed, chance, note)
        lost += [f"left running: {process.command[:200]}" for process in processes.left(bed.cache)]
        missing = len(list(bed.reference.glob("cache/results/cells/*/*"))) - len(bed.results())
        run = bed.begin_run(2)
        note.end(run, (0,))
        bed.pace(time.monotonic() - run.at, max(missing, 0))
    except Exception as error:  # an error of the campaign itself must not end it, nor count as success
        lost.append(f"{type(error).__name__}: {error}")
    lost += note.wrong
    for ended in note.ended:
        lost += ended.faults()
        if ended.status > 0 and ended.status not in runs.documented():
            lost.append(f"`{' '.join(ended.words)}` ended with {ended.status}, which docs/studies.md does not list")
    try:
        judged = verdict.judge(bed)
        lost, kept = [*lost, *judged.lost], judged.kept
    except (OSError, ValueError) as error:
        lost.append(f"{type(error).__name__}: {error}")
    if lost:
        end_all(bed.cache)
        bed.home.rename(bed.base / f"lost-{number}")
    return {
        "fault": fault.name,
        "group": fault.group,
        "seed": seed,
        "number": number,
        "detail": note.detail,
        "moment": note.moment,
        "at_s": note.at_s,
        "statuses": [ended.status for ended in note.ended],
        "kept": kept,
        "seconds": round(time.monotonic() - begun, 1),
        "verdict": "lost" if lost else "well",
        "lost": lost,
    }


def end_all(cache: Path) -> None:
    """Kill the processes that a fault or a stopped campaign left, so that they do not disturb the next one."""
    for process in processes.of(cache):
        with contextlib.suppress(ProcessLookupError):
            os.kill(process.number, signal.SIGKILL)


def summary(lines: Sequence[dict[str, Any]]) -> str:
    """Return a line per fault: how often it was tried, and how often something was lost."""
    tried, lost = (Counter(line["fault"] for line in lines if counts(line)) for counts in (bool, _is_lost))
    rows = [f"{tried[name]:5}  {lost[name]:4} lost  {name}" for name in sorted(tried)]
    return "\n".join([*rows, f"{len(lines):5}  {sum(lost.values()):4} lost  in all"])


def _is_lost(line: dict[str, Any]) -> bool:
    return bool(line["verdict"] != "well")


def arguments(words: Sequence[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n\n")[0])
    parser.add_argument("--faults", type=int, default=10, help="how many at most (default: 10)")
    parser.add_argument("--first", type=int, default=0, help="the number of the first one (default: 0)")
    parser.add_argument("--seed", type=int, default=1, help="what and when it is (default: 1)")
    parser.add_argument("--minutes", type=float, default=600, help="no fault begins later than that")
    parser.add_argument("--only", default="", help="faults with this in their name, or of this group")
    parser.add_argument("--log", type=Path, help="a line of JSON for each fault is added here")
    parser.add_argument("--folder", type=Path, help="where it takes place (default: a folder that is removed)")
    return parser.parse_args(words)


def campaign(options: argparse.Namespace, base: Path, lines: list[dict[str, Any]]) -> None:
    """Carry out the requested faults one after the other, and add the outcome of each to `lines`."""
    bed, begun = Bed(base / "bed"), time.monotonic()
    bed.set_up()
    verdict.check_reference(bed)
    print(f"undisturbed: {bed.full_s:.1f} s, {bed.cached_s:.1f} s with all results there", flush=True)
    head = {"commit": commit(), "seed": options.seed, "faults": options.faults}
    _log(options.log, {"campaign": head})
    for number in range(options.first, options.first + options.faults):
        if time.monotonic() - begun > 60 * options.minutes:
            break
        line = carry_out(bed, options.seed, number, options.only)
        lines.append(line)
        _log(options.log, line)
        label = f"{number}: {line['fault']} ({line['detail']}; {line['moment']})"
        print(f"{label}: {line['verdict']}, {line['seconds']} s", *line["lost"], sep="\n    ", flush=True)


def _log(log: Path | None, line: dict[str, Any]) -> None:
    if log is not None:
        with log.open("a") as out:
            out.write(json.dumps(line) + "\n")


def main() -> int:
    options = arguments()
    if not refusals.has_spaces():
        print("this host gives no name spaces to users: full and read-only disks cannot be tried", file=sys.stderr)
        return 1
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    base = options.folder or Path(tempfile.mkdtemp(prefix="flashbed-faults-"))
    lines: list[dict[str, Any]] = []
    try:
        campaign(options, base, lines)
    finally:
        end_all(base / "bed/home/cache")
        print(summary(lines), flush=True)
        if options.folder is None and not any(map(_is_lost, lines)):
            shutil.rmtree(base, ignore_errors=True)
        elif any(map(_is_lost, lines)):
            print(f"what was lost lies in {base / 'bed'}", flush=True)
    return 1 if any(map(_is_lost, lines)) else 0


if __name__ == "__main__":
    sys.exit(main())
