# SPDX-License-Identifier: GPL-2.0-only OR MIT
"""Power cuts on every medium profile, on NAND that fails, and on devices that lie, which the oracle must catch.

    cuts.py PROGRAM PROFILES [CUTS]

Prints a line for each; exit status 1 if a device is not what it should be.
"""

import json
import subprocess
import sys
import tomllib
from pathlib import Path

FOUND = 3
LAYERS = {
    "page": ["gc_step_pages=4", "endurance_erases=150"],
    "dftl": ["map_cache_bytes=4096", "endurance_erases=150"],
    "bast": ["log_blocks=3", "endurance_erases=500"],
    "fast": ["log_blocks=3", "endurance_erases=500"],
}
FAILING = """kind=flash capacity_bytes=2097152 queue_depth=4 command_ns=20000 link_ps_per_byte=10000 page_bytes=2048
pages_per_block=16 blocks_per_die=64 planes=2 dies=2 channels=1 cache_operations=1 read_ns=25000 program_ns=250000
erase_ns=1500000 bus_ps_per_byte=25000 write_buffer_bytes=65536 factory_bad_blocks=3 spare_blocks=12
program_fail_ppb=2000 erase_fail_ppb=50000 ecc_bits=8 bit_error_ppt=20000000 suspend_ns=20000 resume_ns=5000"""
SUFFIXES = {"k": 10, "M": 20, "G": 30, "T": 40}


def number(value):
    """A size such as "2G" in bytes; anything else as it is."""
    if isinstance(value, str) and value[:-1].isdigit() and value[-1] in SUFFIXES:
        return int(value[:-1]) << SUFFIXES[value[-1]]
    return value


def parameters(profile):
    """The profile's parameters as arguments of the program."""
    values = tomllib.loads(profile.read_text())
    return [f"{key}={number(value)}" for key, value in values.items() if key not in ("title", "source")]


def cut(program, name, arguments, *, caught):
    """Runs the program; False, with its words, if violations are not as expected."""
    done = subprocess.run([program, *arguments], capture_output=True, text=True)
    if done.returncode not in (0, FOUND):
        print(f"{name}: {done.stderr.strip()}")
        return False
    result = json.loads(done.stdout)
    print(f"{name}: " + ", ".join(f"{value:,} {key.replace('_', ' ')}" for key, value in result.items()), flush=True)
    if caught == (done.returncode == FOUND):
        return True
    print(f"{name}: should{'' if caught else ' not'} have been caught. {done.stderr.strip()}")
    return False


def lying(arguments):
    """The same device as one that says at once that it is done: a parameter of flash, played by the host for a disk."""
    if "kind=flash" not in arguments:
        return ["--liar", *arguments]
    buffer = [] if any(word.startswith("write_buffer_bytes=") for word in arguments) else ["write_buffer_bytes=262144"]
    return [*arguments, *buffer, "flush_ignored=1"]


def main(program, profiles, cuts="10000"):
    """Every profile as it is, or ignoring flushes, or losing pages that share cells with a torn one; failing NAND."""
    good = True
    for profile in sorted(Path(profiles).glob("*.toml")):
        arguments = parameters(profile)
        good &= cut(program, profile.stem, ["--cuts", cuts, "--seed", "1", *arguments], caught=False)
        if "kind=null" not in arguments:
            few = ["--cuts", "100", "--seed", "1"]
            good &= cut(program, f"{profile.stem}, ignoring flushes", [*few, *lying(arguments)], caught=True)
        if "kind=flash" in arguments:
            paired = [word for word in arguments if not word.startswith("bits_per_cell=")]
            paired += ["bits_per_cell=2", "paired_page_loss=1"]
            few = ["--cuts", "1000", "--seed", "1"]
            good &= cut(program, f"{profile.stem}, losing paired pages", [*few, *paired], caught=True)
    for layer, own in LAYERS.items():
        arguments = ["--cuts", cuts, "--seed", "1", *FAILING.split(), f"ftl={layer}", *own]
        good &= cut(program, f"failing NAND, {layer}", arguments, caught=False)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
