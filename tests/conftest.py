# SPDX-License-Identifier: Apache-2.0
"""Fixtures for tests of every level: small studies on disk, and results of one test apart from those of another."""

from __future__ import annotations

import builtins
import gc
import json
import math
import os
import resource
import signal
import sys
import textwrap
import threading
from collections.abc import Generator, Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

from flashbed.entry import GARBAGE_OBJECTS
from flashbed.execution import repetition
from flashbed.execution.repetition import Finished, Repetition
from tests.support import forked_command
from tests.support.borrowed_guest import empty_cache
from tests.support.fixture_types import Measure, StudyWriter

os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False
"""Tests start hundreds of Python processes. Without kept byte code, each of them compiles the lab and pandas again."""

gc.set_threshold(GARBAGE_OBJECTS)

settings.register_profile("any host", deadline=None)
settings.load_profile("any host")
"""How long an example takes says something of the host only."""

_sum = builtins.sum


def _checked_sum(values: Iterable[Any], /, start: Any = 0) -> Any:
    """Raise AssertionError if the lab sums floats: Python 3.12 rounds the sum otherwise than 3.11, and results must be
    the same bytes with any Python.
    """
    total = _sum(values, start)
    if isinstance(total, float) and sys._getframe(1).f_globals["__name__"].startswith("flashbed."):
        raise AssertionError("a sum of floats depends on Python's version; math.fsum does not")
    return total


builtins.sum = _checked_sum


CPU_S = "cpu_s"
_begun_cpu_s = pytest.StashKey[float]()


def _cpu_s() -> float:
    """Return the CPU time of this process, of all its children that have ended, and of forked commands."""
    usages = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return math.fsum([forked_command.cpu_s, *(usage.ru_utime + usage.ru_stime for usage in usages)])


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    item.stash[_begun_cpu_s] = _cpu_s()
    return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Fail a skipped test if FLASHBED_SKIP_NOTHING is set, as on a machine that has just been set up.

    The last report of a test gets its CPU time, with that of its children and of the fixtures that it began or ended.
    """
    report = yield
    if report.skipped and not hasattr(report, "wasxfail") and os.environ.get("FLASHBED_SKIP_NOTHING"):
        report.outcome, report.longrepr = "failed", f"skipped, where nothing may be: {report.longrepr}"
    if report.when == "teardown":
        report.user_properties.append((CPU_S, _cpu_s() - item.stash[_begun_cpu_s]))
    return report


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Print the N tests that took the most CPU time if `--durations N` is given. A busy host hardly changes it."""
    reports = terminalreporter.getreports("")
    cpu_s = {report.nodeid: value for report in reports for name, value in report.user_properties if name == CPU_S}
    if config.option.durations is None or not cpu_s:
        return
    most = sorted(cpu_s, key=lambda test: -cpu_s[test])[: config.option.durations or None]
    terminalreporter.section(f"{math.fsum(cpu_s.values()):.0f} s of CPU time; the {len(most)} tests with the most")
    for test in most:
        terminalreporter.write_line(f"{cpu_s[test]:8.2f} s {test}")


@pytest.fixture(autouse=True)
def _signals_as_before() -> Iterator[None]:
    """Restore the signal handlers after each test. Commands that run within a test set handlers, and all later children
    would inherit an ignored signal.
    """
    before = {number: signal.getsignal(number) for number in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM)}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.fixture
def fresh_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a new cache without results, which uses the guest built before. Make it the cache of this test."""
    cache = empty_cache(tmp_path / "cache")
    monkeypatch.setenv("FLASHBED_CACHE", str(cache))
    return cache


@pytest.fixture
def study_file(tmp_path: Path) -> StudyWriter:
    """Return a function that writes a study: `study_file(axes_and_more, name="small", **top_level_values)`. The value
    None leaves a key out.
    """

    def write(body: str, name: str = "small", **top: object) -> Path:
        values = {"title": "Small", "board": "arm64-1000", "medium": "usb-stick-2g", "seeds": 1, **top}
        values_set = {key: value for key, value in values.items() if value is not None}
        head = "".join(f"{key} = {json.dumps(value)}\n" for key, value in values_set.items())
        path = tmp_path / f"{name}.toml"
        path.write_text(head + textwrap.dedent(body))
        return path

    return write


@pytest.fixture
def measure() -> Measure:
    """Return a function that measures a repetition: `measure(wanted, folder)`. It makes the folder, and returns the
    finished repetition.
    """

    def call(planned: Repetition, folder: Path, limit_s: float = 300) -> Finished:
        folder.mkdir(parents=True)
        finished = repetition.execute(planned, folder, limit_s, threading.Event())
        assert finished.result.is_measured, finished.result.reason
        return finished

    return call
