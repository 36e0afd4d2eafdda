#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Messages for systemd's journal, which systemd-journald writes to the file system under test.

    load.py create DIRECTORY           make the directory of the journal
    load.py run DIRECTORY [OPTIONS]    start journald, send messages at a pace; write figures to $FLASHBED_FIGURES
    load.py check DIRECTORY            exit with 1 if an acknowledged message is missing, with 2 if a file is damaged

A message counts as acknowledged when `journalctl --sync` after it has returned: then its number goes to $FLASHBED_ACK.
journalctl's manual promises that messages are on disk then. journald before version 256 answers when it has only begun
to flush (https://github.com/systemd/systemd/pull/32617).
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import socket
import subprocess
import sys
import time
from pathlib import Path

JOURNALD = "/lib/systemd/systemd-journald"
SOCKET = Path("/run/systemd/journal/socket")
MACHINE = "0123456789abcdef0123456789abcdef"
FIELD = "FLASHBED_NUMBER"


def options(words: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    parser.add_argument("action", choices=("create", "run", "check"))
    parser.add_argument("directory", type=Path)
    parser.add_argument("--messages", type=int, default=2000)
    parser.add_argument("--per-second", type=float, default=100)
    parser.add_argument("--bytes", type=int, default=120, help="bytes of a message")
    parser.add_argument("--sync", type=int, default=100, help="messages before a sync; 0: none")
    parser.add_argument("--sync-interval", default="5min", help="SyncIntervalSec")
    parser.add_argument("--compress", default="yes", choices=("yes", "no"))
    return parser.parse_args(words)


def furnish(chosen: argparse.Namespace) -> None:
    """Give journald what it needs of a system: an identity, its settings, and its directory on the file system."""
    settings = Path("/tmp/etc")
    if not settings.exists():
        shutil.copytree("/etc", settings, symlinks=True)
        (settings / "machine-id").write_text(f"{MACHINE}\n")
        subprocess.run(["mount", "--bind", settings, "/etc"], check=True)
    (settings / "systemd").mkdir(exist_ok=True)
    (settings / "systemd/journald.conf").write_text(
        "[Journal]\nStorage=persistent\nSeal=no\nReadKMsg=no\nAudit=no\nRateLimitIntervalSec=0\n"
        f"SyncIntervalSec={chosen.sync_interval}\nCompress={chosen.compress}\n"
    )
    subprocess.run(["mount", "-t", "cgroup2", "cgroup", "/sys/fs/cgroup"], check=True)
    subprocess.run(["mount", "-t", "tmpfs", "tmpfs", "/var/log"], check=True)
    journal = Path("/var/log/journal")
    journal.mkdir()
    subprocess.run(["mount", "--bind", chosen.directory, journal], check=True)


def started(sender: socket.socket) -> subprocess.Popen[bytes]:
    """Start journald, and connect `sender` when it takes messages."""
    SOCKET.parent.mkdir(parents=True, exist_ok=True)
    (SOCKET.parent / "flushed").touch()  # as systemd-journal-flush.service: from the start on, write to /var/log
    journald = subprocess.Popen([JOURNALD], env={**os.environ, "SYSTEMD_LOG_TARGET": "console"})
    while True:
        try:
            sender.connect(str(SOCKET))
            return journald
        except (FileNotFoundError, ConnectionRefusedError):
            if journald.poll() is not None:
                sys.exit(f"journald ended with status {journald.returncode}")
            time.sleep(0.01)


def message(number: int, size: int) -> bytes:
    """Return a message in the journal's own protocol. Its text compresses little."""
    text = "".join(random.Random(number).choices("abcdefghijklmnopqrstuvwxyz0123456789 ", k=size))
    return f"PRIORITY=6\nSYSLOG_IDENTIFIER=load\n{FIELD}={number}\nMESSAGE={text}\n".encode()


def run(chosen: argparse.Namespace) -> None:
    furnish(chosen)
    took_ns: list[int] = []
    acknowledge, unsynced = Path(os.environ.get("FLASHBED_ACK", os.devnull)), list[int]()
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sender, acknowledge.open("a", buffering=1) as acknowledged:
        journald = started(sender)
        begin_s = time.monotonic()
        for number in range(1, chosen.messages + 1):
            time.sleep(max(begin_s + (number - 1) / chosen.per_second - time.monotonic(), 0))
            sender.send(message(number, chosen.bytes))
            unsynced.append(number)
            if chosen.sync and number % chosen.sync == 0:
                begun_ns = time.monotonic_ns()
                subprocess.run(["journalctl", "--sync"], check=True)
                took_ns.append(time.monotonic_ns() - begun_ns)
                acknowledged.writelines(f"{synced}\n" for synced in unsynced)
                unsynced.clear()
        seconds = time.monotonic() - begin_s
    journald.terminate()
    journald.wait()
    figures = {"messages_per_s": chosen.messages / seconds}
    if took_ns:
        took_ns.sort()
        figures["sync_p50_us"] = took_ns[(len(took_ns) - 1) // 2] / 1e3
        figures["sync_max_us"] = took_ns[-1] / 1e3
    with Path(os.environ.get("FLASHBED_FIGURES", os.devnull)).open("w") as file:
        file.writelines(f"{name} {value}\n" for name, value in figures.items())
    subprocess.run(["umount", "/var/log/journal", "/var/log", "/sys/fs/cgroup", "/etc"], check=True)


def check(chosen: argparse.Namespace) -> int:
    journal = ["journalctl", "--directory", str(chosen.directory), "--quiet"]
    verified = subprocess.run([*journal, "--verify"], capture_output=True, text=True)
    if verified.returncode:
        print(f"journalctl --verify: {verified.stderr.strip()}")
        return 2
    read = subprocess.run([*journal, "--output=json", f"--output-fields={FIELD}"], capture_output=True, text=True)
    stored = {int(entry[FIELD]) for line in read.stdout.splitlines() if FIELD in (entry := json.loads(line))}
    with Path(os.environ.get("FLASHBED_ACKED", os.devnull)).open() as file:
        expected = {int(line) for line in file}
    if lost := sorted(expected - stored):
        print(f"{len(lost)} of {len(expected)} acknowledged messages are missing, the first is {lost[0]}")
        return 1
    print(f"all {len(expected)} acknowledged messages are there, among {len(stored)}")
    return 0


def main() -> int:
    chosen = options(sys.argv[1:])
    if chosen.action == "check":
        return check(chosen)
    if chosen.action == "create":
        (chosen.directory / MACHINE).mkdir(parents=True)
        return 0
    run(chosen)
    return 0


if __name__ == "__main__":
    sys.exit(main())
