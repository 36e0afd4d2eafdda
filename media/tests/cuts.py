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
LIAR_CUTS, PAIRED_CUTS = 100, 1000
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


def cut(program, count, arguments):
    """What came of so many cuts, by seed 1, and the program's own words."""
    words = ["--cuts", str(count), "--seed", "1", *arguments]
    done = subprocess.run([program, *words], capture_output=True, text=True)
    if done.returncode not in (0, FOUND):
        raise RuntimeError(done.stderr.strip())
    return json.loads(done.stdout), done.stderr.strip()


def lying(arguments):
    """The same device as one that says at once that it is done: a parameter of flash, played by the host for a disk."""
    if "kind=flash" not in arguments:
        return ["--liar", *arguments]
    buffer = [] if any(word.startswith("write_buffer_bytes=") for word in arguments) else ["write_buffer_bytes=262144"]
    return [*arguments, *buffer, "flush_ignored=1"]


def losing_paired_pages(arguments):
    """The same flash with two bits in a cell, where a torn page takes another with it."""
    paired = [word for word in arguments if not word.startswith("bits_per_cell=")]
    return [*paired, "bits_per_cell=2", "paired_page_loss=1"]


def trials(arguments, cuts):
    """(what it does, cuts, arguments, whether it must be caught): a device as it is, and as two liars."""
    yield "", cuts, arguments, False
    if "kind=null" not in arguments:
        yield "ignoring flushes", LIAR_CUTS, lying(arguments), True
    if "kind=flash" in arguments:
        yield "losing paired pages", PAIRED_CUTS, losing_paired_pages(arguments), True


def main(program, profiles, cuts="10000"):
    """Every profile as it is, and as one that ignores flushes or loses pages that share cells with a torn one."""
    good = True
    for profile in sorted(Path(profiles).glob("*.toml")):
        for what, count, arguments, caught in trials(parameters(profile), cuts):
            name = f"{profile.stem}, {what}" if what else profile.stem
            result, said = cut(program, count, arguments)
            figures = ", ".join(f"{value:,} {key.replace('_', ' ')}" for key, value in result.items())
            print(f"{name}: {figures}", flush=True)
            if caught != bool(result["violations"]):
                print(f"{name}: should{'' if caught else ' not'} have been caught. {said}")
                good = False
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
