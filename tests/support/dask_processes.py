# SPDX-License-Identifier: Apache-2.0
"""Dask schedulers and workers on this host, as processes of their own."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import flashbed
from tests.support.repository import REPOSITORY

SOURCES = str(Path(flashbed.__file__).parents[1])


def environment(cache: Path, **more: str) -> dict[str, str]:
    path = f"{SOURCES}:{REPOSITORY}"
    return {**os.environ, "PYTHONPATH": path, "FLASHBED_CACHE": str(cache), **more}


@contextmanager
def scheduler(cache: Path) -> Iterator[str]:
    """Yield the address of a scheduler in a process of its own."""
    with scheduler_process(cache) as (_, address):
        yield address


@contextmanager
def scheduler_process(cache: Path) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """Yield the scheduler's process and address."""
    command = [sys.executable, "-m", "distributed.cli.dask_scheduler", "--host", "127.0.0.1", "--port", "0"]
    with started([*command, "--no-dashboard"], cache) as process:
        assert process.stderr is not None
        for line in process.stderr:
            if match := re.search(r"Scheduler at: +(tcp://\S+)", line):
                yield process, match[1]
                return
        raise AssertionError("the scheduler did not start")


@contextmanager
def started(command: list[str], cache: Path, **more: str) -> Iterator[subprocess.Popen[str]]:
    process = subprocess.Popen(command, env=environment(cache, **more), stderr=subprocess.PIPE, text=True)
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def plain_worker(address: str, cache: Path, *more: str, **variables: str) -> subprocess.Popen[str]:
    """Start a worker with one thread, no nanny, and a file store of its own. `variables` are added to its
    environment.
    """
    options = ["--nthreads", "1", "--no-nanny", "--no-dashboard", "--memory-limit", "0", *more]
    command = [sys.executable, "-m", "distributed.cli.dask_worker", address, *options]
    cache.mkdir(parents=True)
    return subprocess.Popen(
        [*command, "--local-directory", str(cache)],
        env=environment(cache, **variables),
        stderr=(cache / "said").open("w"),
        text=True,
    )
