# SPDX-License-Identifier: GPL-2.0-only OR MIT
"""Power cuts on every medium profile, on NAND with failures, and on devices that break their promises, which the oracle
must catch.

    cuts.py PROGRAM PROFILES [CUTS]

Prints a line for each device. The exit status is 1 if a verdict is not as expected.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tomllib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

FOUND = 3
LIAR_CUTS, PAIRED_CUTS = 100, 1000
LAYERS = {
    "page": ["gc_step_pages=4", "endurance_erases=150"],
    "dftl": ["map_cache_bytes=4096", "endurance_erases=150"],
    "bast": ["log_blocks=3", "endurance_erases=500"],
    "fast": ["log_blocks=3", "endurance_erases=500"],
}
IN_STEPS = {
    "dftl": ["map_cache_bytes=4096", "map_update_bytes=256", "gc_policy=cost-benefit", "endurance_erases=150"],
    "bast": ["log_blocks=3", "shared_logs=2", "short_write_bytes=8192", "merge_step_pages=3", "endurance_erases=500"],
    "fast": ["log_blocks=4", "merge_step_pages=3", "endurance_erases=500"],
}
FAILING = """kind=flash capacity_bytes=2097152 queue_depth=4 command_ns=20000 link_ps_per_byte=10000 page_bytes=2048
pages_per_block=16 blocks_per_die=64 planes=2 dies=2 channels=1 cache_operations=1 read_ns=25000 program_ns=250000
erase_ns=1500000 bus_ps_per_byte=25000 write_buffer_bytes=65536 factory_bad_blocks=3 spare_blocks=12
program_fail_ppb=2000 erase_fail_ppb=50000 ecc_bits=8 bit_error_ppt=20000000 suspend_ns=20000 resume_ns=5000"""
SLC_CACHE = """bits_per_cell=2 paired_page_loss=1 slc_cache_bytes=131072 slc_program_ns=120000 slc_step_pages=3
slc_idle_fold=1"""
SUFFIXES = {"k": 10, "M": 20, "G": 30, "T": 40}


def number(value: Any) -> Any:
    """Return a size such as "2G" in bytes, and anything else unchanged."""
    if isinstance(value, str) and value[:-1].isdigit() and value[-1] in SUFFIXES:
        return int(value[:-1]) << SUFFIXES[value[-1]]
    return value


def parameters(profile: Path) -> list[str]:
    """Return the profile's parameters as arguments of the program."""
    values = tomllib.loads(profile.read_text())
    return [f"{key}={number(value)}" for key, value in values.items() if key not in ("title", "source", "interface")]


def cut(program: str | Path, count: int, arguments: Sequence[str]) -> tuple[dict[str, int], str]:
    """Cut the power so many times, with seed 1. Return the counts, and the program's output."""
    words = ["--cuts", str(count), "--seed", "1", *arguments]
    done = subprocess.run([program, *words], capture_output=True, text=True)
    if done.returncode not in (0, FOUND):
        raise RuntimeError(done.stderr.strip())
    return json.loads(done.stdout), done.stderr.strip()


def without_capacitors(arguments: Sequence[str]) -> list[str]:
    """Return the device without power-loss protection. With protection nothing in flight is lost, and no lie is
    visible.
    """
    return [word for word in arguments if not word.startswith("power_loss_protection=")]


def lying(arguments: Sequence[str]) -> list[str]:
    """Return the device as one that ignores flushes. It needs a volatile buffer or cache from which it can lose
    data.
    """
    arguments = without_capacitors(arguments)
    cache = "write_buffer_bytes=" if "kind=flash" in arguments else "write_cache_bytes="
    added = [] if any(word.startswith(cache) for word in arguments) else [f"{cache}262144"]
    return [*arguments, *added, "flush_ignored=1"]


def losing_paired_pages(arguments: Sequence[str]) -> list[str]:
    """Return the flash with two bits per cell, where a torn page destroys another page. In SLC mode it could not."""
    kept = without_capacitors(arguments)
    paired = [word for word in kept if not word.startswith(("bits_per_cell=", "slc_", "one_shot="))]
    return [*paired, "bits_per_cell=2", "paired_page_loss=1"]


def trials(arguments: Sequence[str], cuts: int) -> Iterator[tuple[str, int, Sequence[str], bool]]:
    """Yield (name, cuts, arguments, True if it must be caught) of a device as it is, and of two that break promises."""
    yield "", cuts, arguments, False
    if "kind=null" not in arguments:
        yield "ignoring flushes", LIAR_CUTS, lying(arguments), True
    if "kind=flash" in arguments:
        yield "losing paired pages", PAIRED_CUTS, losing_paired_pages(arguments), True


def judge(program: str, name: str, count: int, arguments: Sequence[str], caught: bool) -> bool:
    """Cut the power, and print the counts. Return False if violations are not as expected."""
    result, words = cut(program, count, arguments)
    print(f"{name}: " + ", ".join(f"{value:,} {key.replace('_', ' ')}" for key, value in result.items()), flush=True)
    if caught == bool(result["violations"]):
        return True
    print(f"{name}: should{'' if caught else ' not'} have been caught. {words}")
    return False


def main(program: str, profiles: str, cuts: int = 10_000) -> int:
    """Cut the power of every profile as it is, ignoring flushes, and losing paired pages; then of failing NAND."""
    good = True
    for profile in sorted(Path(profiles).glob("*.toml")):
        if tomllib.loads(profile.read_text())["kind"] == "nand":
            continue  # it takes no requests for sectors
        for device, count, arguments, caught in trials(parameters(profile), cuts):
            name = f"{profile.stem}, {device}" if device else profile.stem
            good &= judge(program, name, count, arguments, caught)
    for layer, own in LAYERS.items():
        good &= judge(program, f"failing NAND, {layer}", cuts, [*FAILING.split(), f"ftl={layer}", *own], False)
    for layer, own in IN_STEPS.items():
        arguments = [*FAILING.split(), f"ftl={layer}", *own]
        good &= judge(program, f"failing NAND, {layer} with its work in steps", cuts, arguments, False)
    for layer in ("page", "dftl"):
        larger = FAILING.replace("blocks_per_die=64", "blocks_per_die=80").split()
        arguments = [*larger, f"ftl={layer}", *LAYERS[layer], *SLC_CACHE.split()]
        good &= judge(program, f"failing NAND with an SLC cache, {layer}", cuts, arguments, False)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2], *map(int, sys.argv[3:])))
