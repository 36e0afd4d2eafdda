# SPDX-License-Identifier: Apache-2.0
"""Return docs/generated/reliability.md from the records of reliability_records.py. All figures are from the records.

Must not run anything.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from pages.page_text import table
from pages.reliability_records import Counts, Record

NOT_RUN = "not run"

FUZZED = {
    "media fuzz": "media core: requests, states, chip's bus",
    "yaffs2 fuzz": "YAFFS2's mount",
    "appliance fuzz": "appliance: portmapper, mounts, status monitor, kernel's questions, leases",
    "media corpora": "media core, kept corpora",
    "yaffs2 corpora": "YAFFS2, kept corpus",
    "appliance corpus": "appliance, kept corpus",
}
"""The records of fuzzing, and the target of each."""

TEXT = """\
# Reliability: what was tried, and what was lost

`make reliability` writes this page from `pages/reliability.json`; do not edit it. No figure here was typed in. `make
reliability OPTIONS="--measure all"` runs the commands below and stores the counts that they print. `OPTIONS="--campaign
LOG"` takes the counts from the log of a `make faults`. *State* names the version of the tested files: `git rev-parse
HEAD:FOLDER` prints the same hash for the same files ("+": files were changed). A command that was never run says "not
run".

{short}
## Power cuts

The power fails at a request, a program or an erase that a seed draws. After the restart an oracle, which knows what was
promised, checks what is there. A violation is one of three: a write that was acknowledged as safe is lost or torn; a
file is in neither the state before nor the state after the current call; a rule of the chip was broken. A command fails
at the first violation. The media core's command counts all violations instead.

{cuts}
To show that the oracle of the media core can fail, the same devices are made to ignore flushes, or to lose pages that
share cells with a torn page: {liars}.

## Fuzzing

{fuzzing}
A kept corpus is the smallest set of inputs, found by libFuzzer before, that reaches all the code that fuzzing reached.
Each input is run again with the address and the undefined behaviour sanitizer. An input of the appliance chooses calls
that its procedures accept, how they are changed, and where they are cut. One message in eight is random bytes.

## Faults

The campaign runs a small study of four cells in a cache of its own: ext2 and FAT16 on a stick in condition worn, ext2
on a kept stick, JFFS2 on raw NAND. A fault happens at a moment that a seed draws, or before a run. After each fault:

- The next run must end with status 0.
- Each `result.json`, each raw file, the report and its exports, the kept media, conditions, imports and rebuilt parts
  of the guest must have the same bytes as in an undisturbed cache.
- Ten seconds later no process of the run may be alive.
- The cache may hold nothing that the undisturbed cache lacks. The exceptions are kept on purpose: damaged results
  (`results/quarantine/`) and the last failed attempt (`failures/`).
- The disturbed commands must end with [a documented status](../studies.md#how-a-command-ends) that fits the fault,
  without a traceback.

{faults}
## Bad inputs

Hypothesis generates studies, profiles and imports, valid and invalid. Each goes through `run`, `report`, `export` or
`import`, up to the point where a machine would start. Whatever the input, the command ends with a documented status and
without a traceback; if the input is wrong, the message names the file and the line. Each run uses other examples.

{inputs}
## What is not tried

- Power cuts of the computer that runs flashbed. Finished results are flushed (fsync) before they get their name.
- Memory errors of this computer, and files of a running guest that others change. Such a measurement is wrong, and
  nothing detects it. A second measurement would differ, and end with status 5.
- A changed byte in the content of a kept medium (`data.img`). It is then another medium, and its cells have other keys.
- Changed headers of the guest's C library that keep their size: headers are checked by name and size only.
- A full rebuild of a damaged Linux tree. The damage is detected. The campaign then stops the build, which takes
  minutes, and restores Linux.
- Network homes. Locks are tried between processes and name spaces of one computer.
"""


def page(records: Mapping[str, Record]) -> str:
    return TEXT.format(
        short=_short(records),
        cuts=_cuts(records),
        liars=_liars(records),
        fuzzing=_fuzzing(records),
        faults=_faults(records.get("faults")),
        inputs=_inputs(records.get("generated inputs")),
    )


def lost(records: Mapping[str, Record]) -> Iterator[str]:
    """Yield a sentence for each record with a loss."""
    for name, record in sorted(records.items()):
        if record.get("status", 0) not in (0, NOT_RUN):
            yield f"{name}: `{record['command']}` ended with {record['status']}"
        for fault, counts in _counts(record).get("faults", {}).items():
            if counts["lost"]:
                yield f"{name}: {fault}: {counts['lost']} of {counts['tried']} lost something"


def _ran(record: Record | None) -> bool:
    return record is not None and record.get("status", 0) != NOT_RUN


def _counts(record: Record | None) -> Counts:
    return dict((record or {}).get("counts", {}))


def _where(record: Record | None) -> list[str]:
    """Return command, CPU time and state of a record."""
    if record is None:
        return [NOT_RUN, "", ""]
    return [f"`{record['command']}`", f"{record['cpu_seconds']:,}" if "cpu_seconds" in record else "", record["state"]]


def _short(records: Mapping[str, Record]) -> str:
    cuts = [records.get(name) for name in ("media cuts", "layer cuts", "yaffs2 cuts", "yaffs2 alternate")]
    faults = records.get("faults")
    tried = list(_counts(faults).get("faults", {}).values())
    tests = list(_counts(records.get("generated inputs")).get("tests", {}).values())
    fuzzed = [records.get(name) for name in FUZZED]
    rows = [
        ("power cuts", sum(_counts(record).get("cuts", 0) for record in cuts), _broken(cuts), all(map(_ran, cuts))),
        (
            "inputs of fuzzers",
            sum(_counts(record).get("inputs", 0) for record in fuzzed),
            _broken(fuzzed),
            all(map(_ran, fuzzed)),
        ),
        ("faults", sum(record["tried"] for record in tried), sum(record["lost"] for record in tried), _ran(faults)),
        (
            "bad inputs",
            sum(test["passing"] + test["failing"] for test in tests),
            sum(test["failing"] for test in tests),
            _ran(records.get("generated inputs")),
        ),
    ]
    cells = [
        (activity, f"{tried:,}" + ("" if whole else ", some not run"), f"{broken:,}")
        for activity, tried, broken, whole in rows
    ]
    return table(("what", "how many", "lost, or broken"), cells)


def _broken(records: Sequence[Record | None]) -> int:
    """Return the number of violations, and of commands that failed."""
    failed = [record for record in records if record is not None and record.get("status", 0) not in (0, NOT_RUN)]
    violations: int = sum(_counts(record).get("violations", 0) for record in records)
    return len(failed) + violations


def _cuts(records: Mapping[str, Record]) -> str:
    names = {
        "media cuts": "media core, each profile and failing NAND",
        "layer cuts": "translation layers in software (`media_ftl`)",
        "yaffs2 cuts": "YAFFS2",
        "yaffs2 alternate": "YAFFS2 by turns with another driver",
    }
    rows = []
    for name, title in names.items():
        record = records.get(name)
        counts = _counts(record)
        of = counts.get("devices", counts.get("configurations", 0))
        violations = counts.get("violations", 0 if record and record.get("status") == 0 else NOT_RUN)
        shown = (f"{counts['cuts']:,}", str(of), str(violations)) if counts else ("", "", "")
        command, cpu, state = _where(record)
        rows.append((title, command, state, *shown, cpu))
    return table(("what", "command", "state", "cuts", "kinds", "violations", "CPU seconds"), rows, left=range(3))


def _liars(records: Mapping[str, Record]) -> str:
    counts = _counts(records.get("media cuts"))
    return f"{counts['liars_caught']} of {counts['liars']} were caught" if counts else NOT_RUN


def _fuzzing(records: Mapping[str, Record]) -> str:
    rows = []
    for name, target in FUZZED.items():
        record = records.get(name)
        command, cpu, state = _where(record)
        why = (record or {}).get("why")
        inputs = f"{_counts(record)['inputs']:,}" if _counts(record) else f"{NOT_RUN}: {why}" if why else NOT_RUN
        rows.append((target, command, state, inputs, str(_broken([record])) if _counts(record) else "", cpu))
    return table(("what", "command", "state", "inputs", "broke", "CPU seconds"), rows, left=range(3))


def _faults(record: Record | None) -> str:
    if record is None:
        return f"{NOT_RUN}: `make faults`\n"
    counts = record["counts"]
    faults = counts["faults"]
    tried = sum(fault["tried"] for fault in faults.values())
    took_min = counts["host_seconds"] / 60
    begin = (
        f"`{record['command']}` at {record['state']}: {tried} faults in {took_min:.0f} minutes of a "
        f"host. {counts['kept']} of them left something for a person to look at. "
        f"{counts['lost_at_first']} of them failed at first and were repeated after the defects were mended.\n\n"
    )
    groups = {"processes": "", "company": "", "host": "", "damage": "", "leftovers": ""}
    rows = []
    for name, one in sorted(faults.items(), key=lambda item: (list(groups).index(item[1]["group"]), item[0])):
        rows.append((name, _listed(one["moments"]), _listed(one["statuses"]), str(one["tried"]), str(one["lost"])))
    columns = ("fault", "moments", "how the disturbed commands ended", "tried", "lost")
    return begin + table(columns, rows, left=range(3)) + _findings(counts["findings"])


def _findings(findings: Sequence[str]) -> str:
    if not findings:
        return ""
    lines = (" ".join(text.replace("|", "/").split()) for text in findings)
    return "\nMessages of the campaign about those that failed, at first or to the end:\n\n" + "".join(
        f"- `{line.replace('`', '')}`\n" for line in lines
    )


def _listed(counts: Mapping[str, int]) -> str:
    """Return the counted values, the most frequent first. A negative status is the signal that the campaign itself
    sent.
    """
    ordered = sorted(Counter(counts).items(), key=lambda item: (-item[1], item[0]))
    return ", ".join(f"{value}: {count}" for value, count in ordered)


def _inputs(record: Record | None) -> str:
    if record is None or not record.get("counts"):
        return f"{NOT_RUN}: `pytest -m long tests/e2e/test_generated_inputs.py`\n"
    rows = []
    for name, test in sorted(record["counts"]["tests"].items()):
        shares = ", ".join(f"{status}: {share:g} %" for status, share in test["statuses_percent"].items())
        rows.append((f"`{name}`", shares, f"{test['passing'] + test['failing']:,}", str(test["failing"])))
    command, cpu, state = _where(record)
    return f"{command} at {state}, {cpu} CPU seconds:\n\n" + table(
        ("test", "exit statuses", "tried", "failed"), rows, left=range(2)
    )
