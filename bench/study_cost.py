# SPDX-License-Identifier: Apache-2.0
"""Measure the CPU seconds that each shipped study costs, and record them in bench/study_costs.json.

    python -m bench.study_cost [--only STUDY...] [--seeds N]

What a study needs is built before, and not counted. The repetitions without a stored result are measured; a record says
how many these were. An empty cache, named by FLASHBED_CACHE, makes it all of them, or with --seeds those with the
study's first N seeds. `make result-tables` writes the records into docs/choosing.md. CPU time is recorded instead of
the time that passed, because other work of the host lengthens only the latter.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import sys
import time
from collections.abc import Mapping
from pathlib import Path

from flashbed.common import programs
from flashbed.common.errors import FlashbedError
from flashbed.execution import run
from flashbed.study.loading import Study, shipped_studies

RECORDS = Path(__file__).with_name("study_costs.json")


@dataclasses.dataclass(frozen=True)
class StudyCost:
    """CPU seconds of the measured ones of a study's repetitions."""

    repetitions: int
    measured: int
    cpu_s: int

    @property
    def whole_cpu_s(self) -> float:
        """CPU seconds of all repetitions, if the others cost as much as the measured ones."""
        return self.cpu_s * self.repetitions / self.measured


def recorded() -> dict[str, StudyCost]:
    """Return the recorded costs by the study's name."""
    return {name: StudyCost(**cost) for name, cost in json.loads(RECORDS.read_text()).items()}


def record(costs: Mapping[str, StudyCost]) -> None:
    """Add costs to the records, in the order of the studies' names."""
    records = {name: dataclasses.asdict(cost) for name, cost in sorted({**recorded(), **costs}.items())}
    RECORDS.write_text(json.dumps(records, indent=2) + "\n")


def measure(study: Study, seeds: int | None = None) -> StudyCost | None:
    """Measure a study's missing repetitions, with `seeds` those of its first seeds. Return what they cost; None if none
    is missing or one fails.
    """
    part = dataclasses.replace(study, seeds=study.seeds[:seeds])
    wanted, stored = len(run.prepare(part)), len(run.stored(part).records)
    if stored == wanted:
        return None
    begin_s = programs.cpu_s() + time.process_time()
    done = run.run(part)
    cpu_s = programs.cpu_s() + time.process_time() - begin_s
    return None if done.failures else StudyCost(len(run.prepare(study)), wanted - stored, round(cpu_s))


def main(words: list[str] | None = None) -> int:
    studies = {study.name: study for study in shipped_studies()}
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--only", nargs="+", metavar="STUDY", choices=studies, default=list(studies))
    parser.add_argument("--seeds", type=int, metavar="N", help="measure the first N seeds")
    options = parser.parse_args(words)
    status = 0
    for name in options.only:
        try:
            cost = measure(studies[name], options.seeds)
        except FlashbedError as error:
            print(f"{name}: {error}", file=sys.stderr)
            return 1
        if cost is None:
            print(f"{name}: not recorded: all results were stored before, or a repetition failed", file=sys.stderr)
            status = 1
        else:
            record({name: cost})
            print(f"{name}: {cost.measured} repetitions, {cost.cpu_s} s of CPU time", flush=True)
    return status


if __name__ == "__main__":
    sys.exit(main())
