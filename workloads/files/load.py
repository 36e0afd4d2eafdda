#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Many small files, written by git, tar or dpkg.

    load.py create DIRECTORY [OPTIONS]   make the repository, the archive or the package on the file system
    load.py run DIRECTORY [OPTIONS]      write the files out of it; figures go to $FLASHBED_FIGURES
    load.py check DIRECTORY [OPTIONS]    exit with 1 if an acknowledged file is missing, with 2 if one is damaged

The measured time ends when all is on the medium (sync), whoever flushes it. All files are acknowledged then: a line
"stored" goes to $FLASHBED_ACK. dpkg renames a file to its name after it has flushed it, and returns when the package is
in its database. So the load takes dpkg at its word: it acknowledges the files when dpkg returns, by a line "unpacked",
and a file that has its name must be whole even before that. git and tar promise nothing before the sync.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

FILES_OF_A_DIRECTORY = 40
CONTROL = "Package: files\nVersion: 1\nArchitecture: all\nMaintainer: nobody <nobody@invalid>\nDescription: files\n"
BY_DPKG = ("dpkg", "dpkg-unsafe")
GIT = ("git", "-c", "user.name=nobody", "-c", "user.email=nobody@invalid", "-c", "safe.directory=*", "-c", "gc.auto=0")


def options(words: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    parser.add_argument("action", choices=("create", "run", "check"))
    parser.add_argument("directory", type=Path)
    parser.add_argument("--by", default="git", choices=("git", "tar", "dpkg", "dpkg-unsafe"))
    parser.add_argument("--files", type=int, default=400)
    parser.add_argument("--most-bytes", type=int, default=65536)
    parser.add_argument("--seed", type=int, default=1)
    return parser.parse_args(words)


def contents(chosen: argparse.Namespace) -> Iterator[tuple[str, bytes]]:
    """Yield the files' relative paths and contents, which do not compress."""
    source = random.Random(chosen.seed)
    for number in range(chosen.files):
        size = round(64 * (chosen.most_bytes / 64) ** source.random())
        yield f"{number // FILES_OF_A_DIRECTORY:04}/{number:06}", source.randbytes(size)


def acknowledge(line: str) -> None:
    with Path(os.environ.get("FLASHBED_ACK", os.devnull)).open("a") as acknowledged:
        print(line, file=acknowledged)


def execute(*command: str | Path) -> None:
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)


def create(chosen: argparse.Namespace) -> None:
    tree, source = chosen.directory / "tree", chosen.directory / "source"
    for name, data in contents(chosen):
        (tree / name).parent.mkdir(parents=True, exist_ok=True)
        (tree / name).write_bytes(data)
    if chosen.by == "git":
        execute(*GIT, "init", "-q", tree)
        execute(*GIT, "-C", tree, "add", ".")
        execute(*GIT, "-C", tree, "commit", "-q", "-m", "files")
        execute(*GIT, "clone", "-q", "--bare", "--no-hardlinks", tree, source)
    elif chosen.by == "tar":
        execute("tar", "-cf", source, "-C", tree, ".")
    else:
        (tree / "DEBIAN").mkdir()
        (tree / "DEBIAN/control").write_text(CONTROL)
        execute("dpkg-deb", "--root-owner-group", "-Znone", "--build", tree, source)
        state = chosen.directory / "target/var/lib/dpkg"
        (state / "updates").mkdir(parents=True)
        (state / "info").mkdir()
        (state / "status").touch()
    shutil.rmtree(tree)


def run(chosen: argparse.Namespace) -> None:
    target, source = chosen.directory / "target", chosen.directory / "source"
    begin_ns = time.monotonic_ns()
    if chosen.by == "git":
        execute(*GIT, "clone", "-q", "--no-hardlinks", source, target)
    elif chosen.by == "tar":
        target.mkdir()
        execute("tar", "-xf", source, "-C", target)
    else:
        unsafe = ["--force-unsafe-io"] if chosen.by == "dpkg-unsafe" else []
        execute(
            "dpkg",
            "--force-not-root",
            "--force-bad-path",
            "--log=/dev/null",
            *unsafe,
            "--root",
            target,
            "--unpack",
            source,
        )
    written_ns = time.monotonic_ns()
    if chosen.by in BY_DPKG:
        acknowledge("unpacked")
    os.sync()
    seconds = (time.monotonic_ns() - begin_ns) / 1e9
    acknowledge("stored")
    figures = {"files_per_s": chosen.files / seconds, "return_s": (written_ns - begin_ns) / 1e9, "stored_s": seconds}
    with Path(os.environ.get("FLASHBED_FIGURES", os.devnull)).open("w") as file:
        file.writelines(f"{name} {value}\n" for name, value in figures.items())


def status_of_dpkg(target: Path) -> str:
    """Return the status of the package in dpkg's database: "unpacked", or "" if it has no package. Exit with 2 if the
    database cannot be read.
    """
    query = ["dpkg-query", f"--admindir={target / 'var/lib/dpkg'}", "--show", "--showformat=${db:Status-Status}"]
    done = subprocess.run(query, capture_output=True, text=True)
    if done.returncode:
        print(f"dpkg's database: {done.stderr.strip()}")
        sys.exit(2)
    return done.stdout


def check(chosen: argparse.Namespace) -> int:
    target = chosen.directory / "target"
    promised = bool(Path(os.environ.get("FLASHBED_ACKED", os.devnull)).read_text())
    missing = []
    for name, data in contents(chosen):
        try:
            stored = (target / name).read_bytes()
        except FileNotFoundError:
            missing.append(name)
            continue
        except OSError as error:
            print(f"{name}: {error.strerror}")
            return 2
        if stored != data and (promised or chosen.by in BY_DPKG):
            print(f"{name} has {len(stored)} bytes, and not the content that was written ({len(data)} bytes)")
            return 2
    if promised and missing:
        print(f"{len(missing)} of {chosen.files} acknowledged files are missing, the first is {missing[0]}")
        return 1
    if chosen.by in BY_DPKG and (status := status_of_dpkg(target)) != "unpacked" and promised:
        print(f"dpkg's database has lost the acknowledged package: its status is {status or 'unknown'}")
        return 1
    print(
        f"{chosen.files - len(missing)} of {chosen.files} files are there, {'all' if promised else 'none'} acknowledged"
    )
    return 0


def main() -> int:
    chosen = options(sys.argv[1:])
    if chosen.action == "check":
        return check(chosen)
    (create if chosen.action == "create" else run)(chosen)
    return 0


if __name__ == "__main__":
    sys.exit(main())
