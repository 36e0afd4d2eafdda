#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Replace a file as an updater does: write the new version beside it, flush it, rename it over the old one.

    load.py create DIRECTORY [OPTIONS]   write version 0
    load.py run DIRECTORY [OPTIONS]      write the versions 1 to --versions; write figures to $FLASHBED_FIGURES
    load.py check DIRECTORY              exit with 1 if an acknowledged version is lost, with 2 if the file is damaged

A file of 200 MB is an image of a system, one of 4 KB a configuration. A version's number goes to $FLASHBED_ACK when the
updater takes it for stored. The content does not compress. `check` makes it again and compares.
"""

from __future__ import annotations

import argparse
import os
import random
import struct
import sys
import time
from collections.abc import Iterator
from pathlib import Path

IMAGE, NEW = "image", "image.new"
HEADER = struct.Struct("<8sQQQ")
"""The magic, the version, the size of the file and of a chunk in bytes."""
MAGIC = b"flashbed"


def options(words: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    parser.add_argument("action", choices=("create", "run", "check"))
    parser.add_argument("directory", type=Path)
    parser.add_argument("--size", type=int, default=4096, help="bytes of the file")
    parser.add_argument("--chunk", type=int, default=1 << 20, help="bytes of a write")
    parser.add_argument("--versions", type=int, default=200)
    parser.add_argument("--flush", default="file", choices=("none", "file", "chunk"), help="fsync of the new file")
    parser.add_argument("--directory-flush", default="yes", choices=("yes", "no"), help="fsync after the rename")
    return parser.parse_args(words)


def chunks(version: int, size: int, chunk: int) -> Iterator[bytes]:
    """Yield the content of a version, in pieces of at most `chunk` bytes. Each begins with its header and number."""
    filler = random.Random(version).randbytes(chunk)
    for number, begin in enumerate(range(0, size, chunk)):
        head = HEADER.pack(MAGIC, version, size, chunk) + number.to_bytes(8, "little")
        yield (head + filler[len(head) :])[: min(chunk, size - begin)]


def flush_directory(directory: Path) -> None:
    descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def replace(chosen: argparse.Namespace, version: int) -> None:
    """Replace the file by a version of it."""
    new = chosen.directory / NEW
    descriptor = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)
    try:
        for piece in chunks(version, chosen.size, chosen.chunk):
            while piece:
                piece = piece[os.write(descriptor, piece) :]
            if chosen.flush == "chunk":
                os.fsync(descriptor)
        if chosen.flush == "file":
            os.fsync(descriptor)
    finally:
        os.close(descriptor)
    new.rename(chosen.directory / IMAGE)
    if chosen.directory_flush == "yes":
        flush_directory(chosen.directory)


def run(chosen: argparse.Namespace) -> None:
    took_ns: list[int] = []
    with Path(os.environ.get("FLASHBED_ACK", os.devnull)).open("a", buffering=1) as acknowledged:
        for version in range(1, chosen.versions + 1):
            begin_ns = time.monotonic_ns()
            replace(chosen, version)
            took_ns.append(time.monotonic_ns() - begin_ns)
            acknowledged.write(f"{version}\n")
    took_ns.sort()
    seconds = sum(took_ns) / 1e9
    figures = {
        "updates_per_s": chosen.versions / seconds,
        "update_p50_us": took_ns[(len(took_ns) - 1) // 2] / 1e3,
        "update_max_us": took_ns[-1] / 1e3,
        "written_mib_s": chosen.versions * chosen.size / seconds / (1 << 20),
    }
    with Path(os.environ.get("FLASHBED_FIGURES", os.devnull)).open("w") as file:
        file.writelines(f"{name} {value}\n" for name, value in figures.items())


def check(chosen: argparse.Namespace) -> int:
    with Path(os.environ.get("FLASHBED_ACKED", os.devnull)).open() as file:
        acknowledged = max((int(line) for line in file), default=0)
    try:
        with (chosen.directory / IMAGE).open("rb") as image:
            head = image.read(HEADER.size)
            if len(head) < HEADER.size:
                print(f"{IMAGE} has {len(head)} bytes")
                return 2
            magic, version, size, chunk = HEADER.unpack(head)
            if magic != MAGIC or not 0 < chunk <= 1 << 30 or os.fstat(image.fileno()).st_size != size:
                print(f"{IMAGE} has a damaged header, or not the size that it names")
                return 2
            image.seek(0)
            for piece in chunks(version, size, chunk):
                if image.read(len(piece)) != piece:
                    print(f"{IMAGE}, version {version}: the content differs in the {chunk} bytes before {image.tell()}")
                    return 2
    except OSError as error:
        print(f"{IMAGE}: {error.strerror}")
        return 2
    if version < acknowledged:
        print(f"version {acknowledged} was acknowledged, and {IMAGE} is version {version}")
        return 1
    print(f"{IMAGE} is version {version}; acknowledged was {acknowledged}")
    return 0


def main() -> int:
    chosen = options(sys.argv[1:])
    if chosen.action == "check":
        return check(chosen)
    if chosen.action == "create":
        replace(chosen, 0)
    else:
        run(chosen)
    return 0


if __name__ == "__main__":
    sys.exit(main())
