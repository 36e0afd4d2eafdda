#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Transactions on an LMDB database, by LMDB's own library: put and get records.

    load.py create DIRECTORY [OPTIONS]   make the database and its first records
    load.py run DIRECTORY [OPTIONS]      commit transactions; write figures to $FLASHBED_FIGURES
    load.py check DIRECTORY              exit with 1 if an acknowledged record is missing, with 2 if LMDB finds damage

A line with the record's number goes to $FLASHBED_ACK when its transaction is committed. Everything follows from --seed.
"""

from __future__ import annotations

import argparse
import os
import random
import sys
import time
from contextlib import closing
from pathlib import Path

import lmdb

MAP_BYTES = 64 << 20


def options(words: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    parser.add_argument("action", choices=("create", "run", "check"))
    parser.add_argument("directory")
    parser.add_argument("--sync", default="full", choices=("full", "data", "none"), help="data: MDB_NOMETASYNC")
    parser.add_argument("--batch", type=int, default=1, help="puts in a transaction")
    parser.add_argument("--transactions", type=int, default=500)
    parser.add_argument("--record", type=int, default=100, help="bytes of a record")
    parser.add_argument("--rows", type=int, default=1000, help="records that exist before")
    parser.add_argument("--gets", type=int, default=1, help="gets after each transaction")
    parser.add_argument("--seed", type=int, default=1)
    return parser.parse_args(words)


def opened(chosen: argparse.Namespace) -> lmdb.Environment:
    return lmdb.open(chosen.directory, map_size=MAP_BYTES, metasync=chosen.sync == "full", sync=chosen.sync != "none")


def key_of(number: int) -> bytes:
    return number.to_bytes(8, "big")


def record_of(number: int, version: int, size: int) -> bytes:
    """Return a record, which a reader can check against its number. It does not compress."""
    head = f"{number}.{version}.".encode()
    return head + random.Random(f"{number} {version}").randbytes(max(size - len(head), 0))


def create(chosen: argparse.Namespace) -> None:
    with closing(opened(chosen)) as environment, environment.begin(write=True) as transaction:
        for number in range(1, chosen.rows + 1):
            transaction.put(key_of(number), record_of(number, 0, chosen.record))


def run(chosen: argparse.Namespace) -> None:
    source, took_ns, version = random.Random(chosen.seed), list[int](), 0
    acknowledge = os.environ.get("FLASHBED_ACK", os.devnull)
    with closing(opened(chosen)) as environment, Path(acknowledge).open("a", buffering=1) as acknowledged:
        begin_ns = time.monotonic_ns()
        for _ in range(chosen.transactions):
            begun_ns, changed = time.monotonic_ns(), []
            with environment.begin(write=True) as transaction:
                for _ in range(chosen.batch):
                    version += 1
                    number = source.randint(1, 2 * chosen.rows)
                    transaction.put(key_of(number), record_of(number, version, chosen.record))
                    changed.append((number, version))
            took_ns.append(time.monotonic_ns() - begun_ns)
            acknowledged.writelines(f"{number} {written}\n" for number, written in changed)
            with environment.begin() as transaction:
                for _ in range(chosen.gets):
                    transaction.get(key_of(source.randint(1, 2 * chosen.rows)))
        seconds = (time.monotonic_ns() - begin_ns) / 1e9
    took_ns.sort()
    figures = {"transactions_per_s": chosen.transactions / seconds}
    for percent in (50, 95, 99):
        figures[f"transaction_p{percent}_us"] = took_ns[-(-len(took_ns) * percent // 100) - 1] / 1e3
    figures["transaction_max_us"] = took_ns[-1] / 1e3
    with Path(os.environ.get("FLASHBED_FIGURES", os.devnull)).open("w") as file:
        file.writelines(f"{name} {value}\n" for name, value in figures.items())


def check(chosen: argparse.Namespace) -> int:
    expected: dict[int, int] = {}
    with Path(os.environ.get("FLASHBED_ACKED", os.devnull)).open() as file:
        for line in file:
            number, version = map(int, line.split())
            expected[number] = max(version, expected.get(number, 0))
    stored: dict[int, int] = {}
    try:
        with closing(opened(chosen)) as environment, environment.begin() as transaction:
            for key, value in transaction.cursor():
                number, written = value.split(b".", 2)[:2]
                if int(number) != int.from_bytes(key, "big"):
                    print(f"record {int.from_bytes(key, 'big')} has the content of record {int(number)}")
                    return 2
                stored[int(number)] = int(written)
    except (lmdb.Error, ValueError) as error:
        print(f"LMDB: {error}")
        return 2
    lost = [number for number, version in expected.items() if stored.get(number, -1) < version]
    if lost:
        print(f"{len(lost)} of {len(expected)} acknowledged records are missing or older, the first is {lost[0]}")
        return 1
    print(f"all {len(expected)} acknowledged records are there")
    return 0


def main() -> int:
    chosen = options(sys.argv[1:])
    if chosen.action == "check":
        return check(chosen)
    (create if chosen.action == "create" else run)(chosen)
    return 0


if __name__ == "__main__":
    sys.exit(main())
