# SPDX-License-Identifier: Apache-2.0
"""Check the models against measured devices of their class, and against arithmetic and data sheets. Write
docs/generated/accuracy.md and the models' error that the package holds (model_error.py).

    python -m pages.accuracy [--check]

The exit status is 1 if a figure is farther off than its table allows or, with --check, if the page or the file would
change. All figures are in virtual time, so they are the same on each host. Figures of a guest also depend on its
kernel's package, and may differ by a few per cent.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from flashbed.common import paths
from flashbed.image import hosttools
from flashbed.image.cache import Cache
from pages import amplification, disks, flash_paths, like_devices, log_blocks, model_error, power_cuts, steady_state
from pages.checks import Bench, Section, as_rows
from pages.page_text import REPOSITORY, wrapped

PAGE = REPOSITORY / "docs/generated/accuracy.md"

SECTIONS: Sequence[tuple[str, str, Section]] = (
    (
        "Single operations of flash",
        "Each row is one operation by itself, on page-mapped flash without write buffer, planes and cache operations.\n"
        "The model must be exact.",
        as_rows(flash_paths.operations),
    ),
    (
        "Sequential rates of flash without planes, buffer and caches",
        "One request reads or writes a page at a time on each die. Its rate must be within 1 % of the rate of the\n"
        "slowest part of the path. This is the arithmetic of the path, and no device's rate. The part above has the\n"
        "rates of the shipped profiles, with planes, buffer and caches.",
        as_rows(flash_paths.sequential),
    ),
    ("Write amplification of greedy collection", amplification.GREEDY_TEXT, amplification.greedily),
    (
        "Write amplification by the number of blocks looked at",
        amplification.CHOICES_TEXT,
        as_rows(amplification.by_choice),
    ),
    ("Random overwrites in steady state", steady_state.TEXT, steady_state.overwrites),
    ("Random writes beyond the logs", log_blocks.COLLAPSE_TEXT, log_blocks.collapse),
    ("Random writes up to the erase group", log_blocks.SWEEP_TEXT, log_blocks.sweep),
    (
        "Disks against their data sheets",
        "Each figure must be within 1 % of the expected one.",
        as_rows(disks.against_sheets),
    ),
    (
        "Zones of disks",
        "Each rate must be within 1 % of cylinder bytes / (head switches + cylinder change + revolutions).",
        as_rows(disks.zones),
    ),
    ("Power cuts", power_cuts.TEXT, power_cuts.on_every_medium),
)


HEAD = """\
# How accurate the models are

Written by `make accuracy`; do not edit. The first part compares the shipped profiles with measured devices. Read it to
know how far to believe a figure of a study. The second part compares the models with arithmetic and data sheets. Read
it to know that a difference between two figures is not the model's mistake. Each figure is in virtual time, and is the
same on every host. `make bench` measures how fast the models run.
"""

ARITHMETIC = """\
## What the models compute, against arithmetic
This part compares single parts of the models with a formula, a closed form or a data sheet. Most checks take away the
other parts of the model, so that the formula fits. An error here is a mistake in the code.
"""

SAME_ANSWERS = """\
### Guest against host
A guest runs random fio phases on the block device, beside an ext2. `flashbed-replay` then replays every request that
the emulator's medium got, from the same state. Each request completes at the same nanosecond, and the final state is
the same to the byte. `make test` checks this for each medium with more than 500 requests, `make test-long` with many
more. The number of requests depends on the guest's kernel, so this page gives no count.
"""


def page(folder: Path) -> tuple[str, str, list[str]]:
    """Return the page, the file of the models' error, and the figures that are farther off than allowed."""
    tool = hosttools.build(Cache(paths.cache_root() / "image"))
    with ThreadPoolExecutor(1) as pool:
        # Beside the sections: their work is in processes of their own
        of_devices = pool.submit(like_devices.write, Bench(tool, _new(folder, "like")), _new(folder, "guests"))
        bench = Bench(tool, _new(folder, "bench"))
        checked = [(title, text, *section(bench)) for title, text, section in SECTIONS]
        devices = of_devices.result()
    bad = list(devices.faults)
    parts = [HEAD, devices.page, ARITHMETIC]
    for title, text, lines, rows in checked:
        bad += [
            f"{row.medium}: {row.what}: {row.found} instead of {row.expected}, {row.error:.2%} off"
            for row in rows
            if not row.good
        ]
        parts.append(f"### {title}\n{text}\n\n{lines}")
    return "\n".join([*parts, SAME_ANSWERS]), devices.error, bad


def _new(folder: Path, name: str) -> Path:
    (folder / name).mkdir()
    return folder / name


def main() -> int:
    parser = argparse.ArgumentParser(description="Run what docs/generated/accuracy.md compares, and write it.")
    parser.add_argument("--check", action="store_true", help="write nothing; status 1 if the page would change")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        text, error, bad = page(Path(folder))
    for line in bad:
        print(line, file=sys.stderr)
    text = wrapped(text)
    if not options.check:
        PAGE.write_text(text)
        model_error.FILE.write_text(error)
        return 1 if bad else 0
    different = {
        PAGE: like_devices.differences(PAGE.read_text(), text),
        model_error.FILE: model_error.differences(
            model_error.FILE.read_text(), error, like_devices.GUESTS_MAY_DIFFER + 0.01
        ),
    }
    for file, lines in different.items():
        if lines:
            print(f"{file.relative_to(REPOSITORY)} is not what the models do now; run `make accuracy`", file=sys.stderr)
            print("\n".join(lines[:10]), file=sys.stderr)
    return 1 if bad or any(different.values()) else 0


if __name__ == "__main__":
    sys.exit(main())
