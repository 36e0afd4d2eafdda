# SPDX-License-Identifier: Apache-2.0
"""Measure the repetitions and CPU seconds of each shipped study, and record them in bench/study_costs.json.

    python -m bench.study_cost [--only STUDY...]

What a study needs is built before, and not counted. A study with a stored result is refused, because its cost would
be that of the rest: name an empty cache by FLASHBED_CACHE. `make result-tables` writes the records into
docs/choosing.md. CPU time is recorded instead of the time that passed, because other work of the host lengthens only
the latter.
"""

from __future__ import annotations

import argparse
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


def recorded() -> dict[str, dict[str, int]]:
    """Return repetitions and CPU seconds of each recorded study."""
    records: dict[str, dict[str, int]] = json.loads(RECORDS.read_text())
    return records


def record(costs: Mapping[str, Mapping[str, int]]) -> None:
    """Add costs to the records, in the order of the studies' names."""
    RECORDS.write_text(json.dumps(dict(sorted({**recorded(), **costs}.items())), indent=2) + "\n")


def measure(study: Study) -> dict[str, int] | None:
    """Measure a study, and return its repetitions and CPU seconds; None if a result is stored or a repetition fails."""
    repetitions = run.prepare(study)
    if run.stored(study).records:
        return None
    begin_s = programs.cpu_s() + time.process_time()
    done = run.run(study)
    cpu_s = programs.cpu_s() + time.process_time() - begin_s
    return None if done.failures else {"repetitions": len(repetitions), "cpu_s": round(cpu_s)}


def main(words: list[str] | None = None) -> int:
    studies = {study.name: study for study in shipped_studies()}
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--only", nargs="+", metavar="STUDY", choices=studies, default=list(studies))
    status = 0
    for name in parser.parse_args(words).only:
        try:
            cost = measure(studies[name])
        except FlashbedError as error:
            print(f"{name}: {error}", file=sys.stderr)
            return 1
        if cost is None:
            print(f"{name}: not recorded: results were stored before, or a repetition failed", file=sys.stderr)
            status = 1
        else:
            record({name: cost})
            print(f"{name}: {cost['repetitions']} repetitions, {cost['cpu_s']} s of CPU time", flush=True)
    return status


if __name__ == "__main__":
    sys.exit(main())
