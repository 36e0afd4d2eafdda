#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Run sfsload against a server double on 127.0.0.1, over UDP and TCP, with versions 2 and 3. The requests at the double
and the result must agree, even if the double drops, delays or answers wrongly.

    end_to_end.py SFSLOAD SFSLOAD-SANITIZE
"""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import threading
import traceback
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import call_checks
import output_scenarios  # noqa: F401 (adds its own to the others)
import scenarios

HERE = Path(__file__).parent
TOGETHER = 6  # most of the time each of them waits

Disturb = Callable[["subprocess.Popen[str]"], None]


class Double:
    """The server in a process of its own."""

    def __init__(self, transport: str, orders: dict[str, Any]) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "double.server", transport, json.dumps(orders)],
            stdout=subprocess.PIPE,
            text=True,
            cwd=HERE,
        )
        assert self.process.stdout is not None
        self.ports: dict[str, int] = json.loads(self.process.stdout.readline())

    def end(self) -> dict[str, Any]:
        self.process.terminate()
        told, _ = self.process.communicate(timeout=10)
        counts: dict[str, Any] = json.loads(told)
        return counts


@dataclass
class Run:
    status: int
    result: dict[str, Any]  # empty: there is none
    message: str
    asked: dict[str, Any]  # what the double counted


class Bed:
    def __init__(self, program: Path) -> None:
        self.program = program

    def command(
        self, *options: object, disturb: Disturb | None = None, before: Sequence[str] = ()
    ) -> subprocess.CompletedProcess[str]:
        """Return the command line. `before` are the words of a program that starts it."""
        words = [str(word) for word in (*before, self.program, *options)]
        with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
            try:
                if disturb:
                    disturb(process)
                told = process.communicate(timeout=30)
            except BaseException:
                process.kill()
                raise
        return subprocess.CompletedProcess(words, process.returncode, *told)

    def load(
        self,
        transport: str,
        version: int,
        orders: dict[str, Any] | None = None,
        ports: bool = False,
        disturb: Disturb | None = None,
        before: Sequence[str] = (),
        **options: object,
    ) -> Run:
        """Run a small load. The orders begin `after` the file set is made, unless `after` is given."""
        asked = {"after": call_checks.prepared_calls(version), **(orders or {})}
        double = Double(transport, asked)
        if ports:
            where: dict[str, object] = {"port": double.ports["nfs"], "mount_port": double.ports["mount"]}
        else:
            where = {"portmap_port": double.ports["portmap"]}
        given = {**scenarios.SMALL, "version": version, "transport": transport, **where, **options}
        words = [word for name, value in given.items() for word in ("--" + name.replace("_", "-"), value)]
        try:
            done = self.command("--server", "127.0.0.1", "--export", "/data", *words, disturb=disturb, before=before)
        finally:
            counts = double.end()
        return Run(done.returncode, json.loads(done.stdout) if done.stdout else {}, done.stderr, counts)


def main() -> int:
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background jobs begin with it ignored
    plain, sanitize = Bed(Path(sys.argv[1]).resolve()), Bed(Path(sys.argv[2]).resolve())
    failed: list[str] = []
    lock = threading.Lock()

    def carry_out(numbered: tuple[int, tuple[str, Callable[[Bed], None]]]) -> None:
        number, (name, scenario) = numbered
        try:
            scenario(sanitize if number % 2 else plain)
            words = name
        except Exception:
            words = f"{name}: FAILED\n{traceback.format_exc()}"
            failed.append(name)
        with lock:
            print(words, flush=True)

    with ThreadPoolExecutor(TOGETHER) as pool:
        list(pool.map(carry_out, enumerate(scenarios.ALL.items())))
    print(f"{len(scenarios.ALL) - len(failed)} of {len(scenarios.ALL)} scenarios passed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
