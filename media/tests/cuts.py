# SPDX-License-Identifier: GPL-2.0-only OR MIT
"""Power cuts on every medium profile, and on devices that lie, which the oracle must catch.

    cuts.py PROGRAM PROFILES [CUTS]

Prints a line for each; exit status 1 if a device is not what it should be.
"""

import json
import subprocess
import sys
import tomllib
from pathlib import Path

FOUND = 3
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
    """The same device as one that ignores flushes; it needs a volatile buffer or cache to lose something from."""
    cache = "write_buffer_bytes=" if "kind=flash" in arguments else "write_cache_bytes="
    added = [] if any(word.startswith(cache) for word in arguments) else [f"{cache}262144"]
    return [*arguments, *added, "flush_ignored=1"]


def main(program, profiles, cuts="10000"):
    """Every profile as it is, and as one that ignores flushes or loses pages that share cells with a torn one."""
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
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
