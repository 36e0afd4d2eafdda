# SPDX-License-Identifier: Apache-2.0
"""Write docs/generated/reliability.md from the records in pages/reliability.json: power cuts, fuzzing, faults, bad
inputs, and what was lost.

    python -m pages.reliability [--check] [--measure NAME|all] [--campaign LOG]

--measure runs commands that break things on purpose, and records their counts. All of them take about half an hour, and
the appliance's calls another hour. --campaign imports the log of a fault campaign (make faults OPTIONS="--log LOG
..."). The exit status is 1 if a record has a loss. --check writes nothing, and ends with status 1 if the page would
change.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from pages import reliability_records as records
from pages.page_text import REPOSITORY, written
from pages.reliability_page import lost, page

PAGE = REPOSITORY / "docs/generated/reliability.md"


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n\n")[0])
    names = ["all", *(measure.name for measure in records.measures())]
    parser.add_argument("--measure", action="append", default=[], choices=names)
    parser.add_argument("--campaign", type=Path, metavar="LOG")
    parser.add_argument("--check", action="store_true")
    return parser.parse_args()


def measure(options: argparse.Namespace) -> None:
    """Renew the requested records. Each is stored as soon as it is complete."""
    for record_measure in records.measures():
        if {record_measure.name, "all"} & set(options.measure):
            print(f"{record_measure.name}: {record_measure.text}", flush=True)
            records.write({**records.read(), record_measure.name: records.carry_out(record_measure)})
    if options.campaign:
        records.write({**records.read(), "faults": records.of_campaign(options.campaign)})


def main() -> int:
    options = arguments()
    measure(options)
    record = records.read()
    is_so = written(PAGE, page(record), check=options.check, target="reliability")
    wrong = [] if options.check else list(lost(record))
    for line in wrong:
        print(line, file=sys.stderr)
    return 1 if wrong or not is_so else 0


if __name__ == "__main__":
    sys.exit(main())
