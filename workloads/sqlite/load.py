#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Transactions on an SQLite database, by SQLite's own library: insert, update and select records.

    load.py create DATABASE [OPTIONS]    make the table and its first rows
    load.py run DATABASE [OPTIONS]       commit transactions; write figures to $FLASHBED_FIGURES
    load.py check DATABASE               exit with 1 if an acknowledged record is missing, with 2 if SQLite finds damage

A line with the record's number goes to $FLASHBED_ACK when its transaction is committed. Everything follows from --seed.
"""

from __future__ import annotations

import argparse
import os
import random
import sqlite3
import sys
import time
from contextlib import closing
from pathlib import Path


def options(words: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    parser.add_argument("action", choices=("create", "run", "check"))
    parser.add_argument("database")
    parser.add_argument("--journal", default="delete", choices=("delete", "truncate", "persist", "wal", "off"))
    parser.add_argument("--synchronous", default="full", choices=("off", "normal", "full", "extra"))
    parser.add_argument("--page", type=int, default=4096, help="bytes of a database page")
    parser.add_argument("--checkpoint", type=int, default=1000, help="WAL pages before a checkpoint")
    parser.add_argument("--batch", type=int, default=1, help="statements in a transaction")
    parser.add_argument("--transactions", type=int, default=500)
    parser.add_argument("--record", type=int, default=100, help="bytes of a record's text")
    parser.add_argument("--rows", type=int, default=1000, help="rows that exist before")
    parser.add_argument("--mix", default="50/30/20", help="percent of insert/update/select")
    parser.add_argument("--seed", type=int, default=1)
    return parser.parse_args(words)


def opened(chosen: argparse.Namespace) -> sqlite3.Connection:
    """Return the database in autocommit mode, so that BEGIN and COMMIT are where this program has them."""
    database = sqlite3.connect(chosen.database, isolation_level=None)
    database.execute(f"PRAGMA page_size = {chosen.page}")
    mode = database.execute(f"PRAGMA journal_mode = {chosen.journal}").fetchone()[0]
    if mode != chosen.journal:
        sys.exit(f"SQLite uses the journal mode {mode}, not {chosen.journal}")
    database.execute(f"PRAGMA synchronous = {chosen.synchronous}")
    database.execute(f"PRAGMA wal_autocheckpoint = {chosen.checkpoint}")
    return database


def text_of(number: int, version: int, size: int) -> str:
    """Return a record's text, which a reader can check against its number and version. It compresses little."""
    source = random.Random(f"{number} {version}")
    return f"{number}.{version}." + "".join(source.choices("abcdefghijklmnopqrstuvwxyz0123456789", k=size))


def create(chosen: argparse.Namespace) -> None:
    with closing(opened(chosen)) as database:
        database.execute("CREATE TABLE record (number INTEGER PRIMARY KEY, version INTEGER, text TEXT)")
        database.execute("BEGIN")
        rows = ((number, 0, text_of(number, 0, chosen.record)) for number in range(1, chosen.rows + 1))
        database.executemany("INSERT INTO record VALUES (?, ?, ?)", rows)
        database.execute("COMMIT")


def run(chosen: argparse.Namespace) -> None:
    shares = [int(share) for share in chosen.mix.split("/")]
    source, rows, version = random.Random(chosen.seed), chosen.rows, 0
    took_ns: list[int] = []
    acknowledge = os.environ.get("FLASHBED_ACK")
    with closing(opened(chosen)) as database, Path(acknowledge or os.devnull).open("a", buffering=1) as acknowledged:
        begin_ns = time.monotonic_ns()
        for _ in range(chosen.transactions):
            statements = source.choices(("insert", "update", "select"), weights=shares, k=chosen.batch)
            begun_ns, changed = time.monotonic_ns(), []
            database.execute("BEGIN")
            for statement in statements:
                version += 1
                if statement == "insert":
                    rows += 1
                    record = (rows, version, text_of(rows, version, chosen.record))
                    database.execute("INSERT INTO record VALUES (?, ?, ?)", record)
                    changed.append((rows, version))
                    continue
                number = source.randint(1, rows)
                if statement == "update":
                    change = (version, text_of(number, version, chosen.record), number)
                    database.execute("UPDATE record SET version = ?, text = ? WHERE number = ?", change)
                    changed.append((number, version))
                else:
                    database.execute("SELECT text FROM record WHERE number = ?", (number,)).fetchone()
            database.execute("COMMIT")
            if changed:
                took_ns.append(time.monotonic_ns() - begun_ns)
            if acknowledge:
                acknowledged.writelines(f"{number} {written}\n" for number, written in changed)
        seconds = (time.monotonic_ns() - begin_ns) / 1e9
    report(chosen, seconds, sorted(took_ns))


def report(chosen: argparse.Namespace, seconds: float, took_ns: list[int]) -> None:
    """Write the figures. A percentile is the smallest time that this share of the transactions did not exceed."""
    per_s = chosen.transactions / seconds
    figures = {"transactions_per_s": per_s, "statements_per_s": per_s * chosen.batch}
    if took_ns:
        for percent in (50, 95, 99):
            figures[f"transaction_p{percent}_us"] = took_ns[-(-len(took_ns) * percent // 100) - 1] / 1e3
        figures["transaction_max_us"] = took_ns[-1] / 1e3
    with Path(os.environ.get("FLASHBED_FIGURES", os.devnull)).open("w") as file:
        file.writelines(f"{name} {value}\n" for name, value in figures.items())


def check(chosen: argparse.Namespace) -> int:
    acknowledged: dict[int, int] = {}
    with Path(os.environ.get("FLASHBED_ACKED", os.devnull)).open() as file:
        for line in file:
            number, version = map(int, line.split())
            acknowledged[number] = version
    try:
        with closing(sqlite3.connect(chosen.database)) as database:
            verdict = database.execute("PRAGMA integrity_check").fetchone()[0]
            stored = {number: (version, text) for number, version, text in database.execute("SELECT * FROM record")}
    except sqlite3.DatabaseError as error:
        print(f"SQLite: {error}")
        return 2
    if verdict != "ok":
        print(f"integrity_check: {verdict}")
        return 2
    garbled = [number for number, (version, text) in stored.items() if not text.startswith(f"{number}.{version}.")]
    if garbled:
        print(f"{len(garbled)} records have another text than was written, the first is {garbled[0]}")
        return 2
    lost = [number for number, version in acknowledged.items() if stored.get(number, (-1, ""))[0] < version]
    if lost:
        print(f"{len(lost)} of {len(acknowledged)} acknowledged records are missing or older, the first is {lost[0]}")
        return 1
    print(f"all {len(acknowledged)} acknowledged records are there")
    return 0


def main() -> int:
    chosen = options(sys.argv[1:])
    if chosen.action == "check":
        return check(chosen)
    (create if chosen.action == "create" else run)(chosen)
    return 0


if __name__ == "__main__":
    sys.exit(main())
