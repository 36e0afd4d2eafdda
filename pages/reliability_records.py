# SPDX-License-Identifier: Apache-2.0
"""Run the commands that break things on purpose, and record their counts, for docs/generated/reliability.md.

A record depends only on the output or the log of a command. Must not know the layout of the page.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from flashbed.common import programs
from pages.page_text import REPOSITORY

RECORDS = REPOSITORY / "pages/reliability.json"

Record = dict[str, Any]
Counts = dict[str, Any]

NUMBER = r"([\d,]+)"

HOME = re.compile(r"/\S*?/bed/home")
"""The directory of a campaign, which is left out of the records."""


@dataclass(frozen=True)
class Measure:
    """A command, and the function that counts its output. `needs` is a program without which it cannot run."""

    name: str
    of: str
    """The directory whose files it tests."""
    command: tuple[str, ...]
    counted: Callable[[str], Counts]
    needs: str = "make"

    @property
    def text(self) -> str:
        """Return the command as a person types it."""
        words = (re.sub(r"^.*/\.venv/bin/|^BUILD=.*", "", word) for word in self.command)
        return " ".join(f'"{word}"' if " " in word else word for word in words if word)


def _number(text: str) -> int:
    return int(text.replace(",", ""))


def _total(pattern: str, output: str) -> int:
    return sum(map(_number, re.findall(pattern, output, re.MULTILINE)))


def media_cuts(output: str) -> Counts:
    """Count the output of media/tests/cuts.py: real devices, and devices that lie about what is safe, which must be
    caught.
    """
    honest, liars = Counter[str](), []
    for line in output.splitlines():
        match = re.fullmatch(rf"(.+): {NUMBER} cuts, {NUMBER} requests, .*?{NUMBER} violations.*", line)
        if not match:
            continue
        name, cuts, requests, violations = match[1], *map(_number, match.groups()[1:])
        if name.endswith(("ignoring flushes", "losing paired pages")):
            liars.append(violations > 0)
            continue
        honest.update(devices=1, cuts=cuts, requests=requests, violations=violations)
    return {**honest, "violations": honest["violations"], "liars": len(liars), "liars_caught": sum(liars)}


def layer_cuts(output: str) -> Counts:
    """Count the output of kernel/media_ftl/tests, which ends with the first rule that does not hold."""
    pairs = re.findall(r"^\S+: (\d+) cuts and (\d+) in starts", output, re.MULTILINE)
    return {"cuts": sum(int(cuts) + int(starts) for cuts, starts in pairs), "configurations": len(pairs)}


def yaffs2_cuts(output: str) -> Counts:
    line = r"^seed \d+: (\d+) cuts \(\d+ in erases, \d+ in writes, (\d+) more in mounts\)"
    pairs = re.findall(line, output, re.MULTILINE)
    return {"cuts": sum(int(cuts) + int(mounts) for cuts, mounts in pairs), "configurations": len(pairs)}


def alternations(output: str) -> Counts:
    pairs = re.findall(r"^(\d+) alternations: .* (\d+) cuts,", output, re.MULTILINE)
    return {
        "alternations": sum(int(turns) for turns, _ in pairs),
        "cuts": sum(int(cuts) for _, cuts in pairs),
        "configurations": len(pairs),
    }


def corpora(output: str) -> Counts:
    """Count inputs of earlier fuzzing that are run again with sanitizers. The program ends at the first failure."""
    return {"inputs": _total(r"corpus-\w+: (\d+) inputs", output)}


def fuzzing(output: str) -> Counts:
    """Count libFuzzer's statistics."""
    return {
        "inputs": _total(r"stat::number_of_executed_units: +(\d+)", output),
        "violations": output.count("SUMMARY: "),
    }


def generated(output: str) -> Counts:
    """Count Hypothesis' statistics: the examples, and the share of each exit status."""
    tests = {}
    for part in re.split(r"^(?=tests/\S+::test_\w+:)", output, flags=re.MULTILINE):
        name = re.match(r"tests/\S+::(test_\w+):", part)
        passing = re.search(r"during generate phase.*?(\d+) passing, (\d+) failing", part, re.DOTALL)
        if name and passing:
            shares = re.findall(r"\* ([\d.]+)%, exit status (\d+)", part)
            statuses = {status: float(share) for share, status in sorted(shares, key=lambda pair: int(pair[1]))}
            tests[name[1]] = {"passing": int(passing[1]), "failing": int(passing[2]), "statuses_percent": statuses}
    return {"tests": tests}


def faults_of(lines: Sequence[Mapping[str, Any]]) -> Counts:
    """Count the log of a fault campaign. If a fault was repeated after a repair, its last line counts; earlier losses
    stay among the findings.
    """
    every = [line for line in lines if "fault" in line]
    last_lines = list({(line["seed"], line["number"]): line for line in every}.values())
    by_fault: dict[str, Any] = {}
    for line in last_lines:
        counts = by_fault.setdefault(
            line["fault"], {"group": line["group"], "tried": 0, "lost": 0, "moments": Counter(), "statuses": Counter()}
        )
        counts["tried"] += 1
        counts["lost"] += line["verdict"] != "well"
        counts["moments"][line["moment"]] += 1
        # The last status is that of the run after the fault
        counts["statuses"].update(str(status) for status in line["statuses"][:-1])
    return {
        "faults": by_fault,
        "seeds": sorted({line["seed"] for line in last_lines}),
        "host_seconds": round(sum(line["seconds"] for line in last_lines)),
        "kept": sum(bool(line["kept"]) for line in last_lines),
        "lost_at_first": sum(line["verdict"] != "well" for line in every if line not in last_lines),
        "findings": sorted({HOME.sub("HOME", text)[:300] for line in every for text in line["lost"]}),
    }


def measures(python: str = sys.executable) -> tuple[Measure, ...]:
    """Return all measures except the fault campaign, whose duration is free and which has a log of its own."""
    pytest = str(Path(python).with_name("pytest"))
    inputs = "tests/e2e/test_generated_inputs.py"
    media, ftl, yaffs2, appliance = "media", "kernel/media_ftl", "kernel/yaffs2", "appliance/user"

    def make(name: str, of: str, target: str, counted: Callable[[str], Counts], *words: str) -> Measure:
        where = f"{ftl}/tests" if of == ftl else of
        command = ("make", "-C", where, target, f"BUILD={REPOSITORY / 'build' / Path(of).name}", *words)
        return Measure(name, of, command, counted, "clang" if counted is fuzzing else "make")

    return (
        make("media cuts", media, "cuts", media_cuts),
        make("layer cuts", ftl, "test", layer_cuts, "CUTS=5000"),
        make("yaffs2 cuts", yaffs2, "cuts", yaffs2_cuts, "CUTS=1000"),
        make("yaffs2 alternate", yaffs2, "alternate", alternations),
        make("media corpora", media, "test", corpora),
        make("yaffs2 corpora", yaffs2, "test", corpora),
        make("media fuzz", media, "fuzz", fuzzing, "FUZZ_SECONDS=600"),
        make("yaffs2 fuzz", yaffs2, "fuzz", fuzzing, "FUZZ_SECONDS=600"),
        make("appliance fuzz", appliance, "fuzz", fuzzing, "FUZZ_SECONDS=4200"),
        make("appliance corpus", appliance, "test", corpora),
        Measure(
            "generated inputs",
            "src",
            (pytest, "-n", "0", "-m", "long", "--hypothesis-show-statistics", inputs),
            generated,
            pytest,
        ),
    )


def carry_out(measure: Measure) -> Record:
    """Run a command in the repository, and count its output. `status` is its exit status, or "not run" if it cannot run
    here.
    """
    record: Record = {"command": measure.text, "state": state(measure.of)}
    if shutil.which(measure.needs) is None:
        return record | {"status": "not run", "why": f"{measure.needs} is not installed on the machine of the records"}
    before = programs.cpu_s()
    with tempfile.TemporaryFile("w+") as out:
        done = subprocess.run(measure.command, cwd=REPOSITORY, stdout=out, stderr=subprocess.STDOUT, env=_environment())
        out.seek(0)
        output = out.read()
    spent = round(programs.cpu_s() - before)
    if done.returncode:
        print(output[-3000:], file=sys.stderr)
    return record | {"status": done.returncode, "cpu_seconds": spent, "counts": measure.counted(output)}


def of_campaign(log: Path) -> Record:
    """Return the record of a fault campaign from its log, which may hold several continued campaigns."""
    lines = [json.loads(line) for line in log.read_text().splitlines()]
    counts = faults_of(lines)
    campaigns = [line["campaign"] for line in lines if "campaign" in line]
    tried = len({line["number"] for line in lines if "fault" in line})
    words = f"--seed {campaigns[0]['seed']} --faults {tried}"
    states = sorted({state("src", campaign["commit"]) for campaign in campaigns})
    return {"command": f'make faults OPTIONS="{words}"', "state": ", ".join(states), "counts": counts}


def state(folder: str, commit: str = "HEAD") -> str:
    """Return 12 digits of `git rev-parse COMMIT:FOLDER`, which are the same in each branch with these files.

    They are followed by "+" if files were changed.
    """

    def git(*words: str) -> str:
        return subprocess.run(["git", "-C", str(REPOSITORY), *words], capture_output=True, text=True).stdout.strip()

    changed = git("status", "--porcelain", "-uno", folder) if commit == "HEAD" else commit.endswith("+")
    return f"{folder} {git('rev-parse', '--short=12', f'{commit.rstrip(chr(43))}:{folder}')}" + ("+" if changed else "")


def _environment() -> dict[str, str]:
    """Return the environment without the variables of an enclosing make."""
    return {name: value for name, value in os.environ.items() if not name.startswith(("MAKE", "MFLAGS"))}


def read() -> dict[str, Record]:
    """Return all records by name; none if the file is missing."""
    return dict(json.loads(RECORDS.read_text())) if RECORDS.is_file() else {}


def write(records: Mapping[str, Record]) -> None:
    RECORDS.write_text(json.dumps(records, indent=1, sort_keys=True) + "\n")
