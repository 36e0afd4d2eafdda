# SPDX-License-Identifier: Apache-2.0
"""Whatever a study, a profile or an import says: an exit status of the list, and a message with file and line, never a
traceback. The commands run within this process, up to the machine: what a guest would measure is made up.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
import re
import shutil
import sys
import tempfile
import threading
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, event, given, settings
from hypothesis import strategies as st

from flashbed import cli
from flashbed.common.errors import SetupError
from flashbed.execution import cell_medium, repetition
from flashbed.execution.repetition import Finished, Repetition
from flashbed.guest_output.assessment import Status
from flashbed.image import guest_image
from flashbed.image.apt import Apt
from flashbed.image.guest_parts import ProgramSet
from flashbed.machine.outcomes import Outcome
from flashbed.profiles.kernel_choice import KernelChoice
from flashbed.result import evaluation
from flashbed.result.result import Measurement
from tests.support.borrowed_guest import empty_cache
from tests.support.generated_inputs import PLAIN_STUDY, Input, imports, profiles, studies
from tests.support.mutated_inputs import toml

ENDS = (0, 1, 2, 3, 4)
"""All is well, cells failed, the input is wrong, something is not there, no room: docs/studies.md."""

AT = re.compile(r"\.(?:toml|fio):\d+: ")
"""File and line."""

MEANT = re.compile(r"cannot be read|nothing is measured yet|its tool is [\w+]+; only the jobs of fio")
"""What is told of a file as a whole, or of no file."""

quick = settings(
    max_examples=75, derandomize=True, database=None, suppress_health_check=list(HealthCheck), print_blob=True
)
many = settings(quick, derandomize=False)


@dataclass(frozen=True)
class Said:
    status: int
    out: str
    err: str


def command(*arguments: object) -> Said:
    """Run `flashbed ARGUMENTS` in this process. A traceback becomes an exception of this test."""
    out, err = io.StringIO(), io.StringIO()
    argv = sys.argv
    sys.argv = ["flashbed", *map(str, arguments)]
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err), pytest.raises(SystemExit) as left:
            cli.main()
    finally:
        sys.argv = argv
    return Said(int(left.value.code or 0), out.getvalue(), err.getvalue())


def made_up(planned: Repetition, *_: object) -> Finished:
    """Return a made-up measurement that depends on the cell; some cells give nothing, others zeros. The key does not
    decide: a change of the emulator moves it, and could let all cells of a study fail.
    """
    cell = planned.cell
    draw = hashlib.sha256(f"{sorted(cell.coordinates.items())} {cell.seed}".encode()).digest()
    failed = repetition._finished(planned, Outcome(Status.FAILED, "step format: exit status 1", b"console"))
    if draw[0] % 5 == 0:
        return failed
    names = ("bandwidth", "iops", "runtime_s", "latency_mean_us", "latency_p99_us", "wear_max", "write_amplification")
    metrics = {name: 0.0 if value % 4 == 0 else value / 7 for name, value in zip(names, draw[1:], strict=False)}
    output = json.dumps(metrics).encode()
    measurement = read_back(None, {"metrics": output})
    return Finished(
        replace(failed.result, outcome=Status.MEASURED, reason="", measurement=measurement),
        {**failed.files, "out/metrics": output},
    )


def read_back(_result: object, out: Mapping[str, bytes]) -> Measurement:
    """Evaluate the files of a made-up result, in place of evaluate()."""
    return Measurement(metrics=json.loads(out["metrics"]))


def no_apt(_: Apt, *arguments: str) -> str:
    """Raise the error that apt-get gives for a package that is not fetched yet."""
    raise SetupError(f"`apt-get` failed with exit status 100:\nE: Unable to locate package {arguments[-1]}")


@pytest.fixture(scope="module")
def bench() -> Iterator[Path]:
    """Yield a folder with a cache of its own. Nothing is fetched, and no guest runs."""
    with pytest.MonkeyPatch.context() as patched, tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        patched.setenv("FLASHBED_CACHE", str(empty_cache(place / "cache")))
        build = guest_image.build

        @cache
        def built(
            version: str | KernelChoice,
            program_sets: frozenset[ProgramSet],
            only_built: bool,
            first: KernelChoice | None,
            lines: bool,
        ) -> guest_image.GuestImage:
            return build(version, program_sets, only_built=only_built, first=first, lines=lines)

        def build_once(
            version: str | KernelChoice,
            program_sets: Iterable[ProgramSet],
            *,
            only_built: bool = False,
            first: KernelChoice | None = None,
            lines: bool = True,
        ) -> guest_image.GuestImage:
            return built(version, frozenset(program_sets), only_built, first, lines)

        patched.setattr(guest_image, "build", build_once)
        patched.setattr(Apt, "_apt", no_apt)
        patched.setattr(Apt, "_update", lambda _: None)
        patched.setattr(repetition, "execute", made_up)
        patched.setattr(evaluation, "evaluate", read_back)
        patched.setattr(cell_medium, "conditioned", lambda *_: None)
        patched.chdir(place)
        yield place


def check(said: Said, label: str) -> None:
    event(f"exit status {said.status}")
    assert said.status in ENDS, said
    assert "Traceback" not in said.err
    if said.status:
        assert said.err.strip(), "an exit status without a word"
    if said.status == 2:
        lines = [line for line in said.err.splitlines() if line.startswith("flashbed: ")]
        assert lines, said.err
        assert AT.search(said.err) or MEANT.search(said.err), f"{label}: no file and line: {said.err}"


def run(bench: Path, given_input: Input) -> Said:
    folder = Path(tempfile.mkdtemp(dir=bench))
    try:
        for name, data in {"study.toml": given_input.study, **given_input.beside}.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_bytes(data)
        more = {
            "run": ("--out", folder / "report"),
            "report": ("--out", folder / "report"),
            "export": (folder / "jobs",),
        }
        return command(given_input.command, folder / "study.toml", *more.get(given_input.command, ()))
    finally:
        shutil.rmtree(folder)


def import_and_report(bench: Path, generated: tuple[bytes, dict[str, bytes]]) -> Said:
    study, exported = bench / "plain.toml", bench / "exported"
    folder = Path(tempfile.mkdtemp(dir=bench))
    try:
        shutil.copytree(exported, folder / "jobs")
        manifest, results = generated
        (folder / "jobs/flashbed-jobs.json").write_bytes(manifest)
        for name, data in results.items():
            (folder / "jobs" / name).parent.mkdir(exist_ok=True)
            (folder / "jobs" / name).write_bytes(data)
        answer = command("import", study, folder / "jobs", "--as", "Windows XP")
        event(f"exit status {answer.status}")
        if answer.status:
            assert (answer.status, str(folder / "jobs") in answer.err) == (2, True), answer.err
            return answer
        done = command("report", study, "--out", folder / "report")
        assert done.status == 0, done.err
        return answer
    finally:
        shutil.rmtree(folder)


@pytest.fixture(scope="module")
def exported(bench: Path) -> dict[str, Any]:
    """Return the manifest of a measured and exported study. Its folder is `exported` in the bench."""
    (bench / "plain.toml").write_text(toml(PLAIN_STUDY))
    assert command("run", bench / "plain.toml", "--out", bench / "report").status in (0, 1)
    assert command("export", bench / "plain.toml", bench / "exported").status == 0
    return dict(json.loads((bench / "exported/flashbed-jobs.json").read_text()))


@quick
@given(generated=studies() | profiles())
def test_studies_and_profiles(bench: Path, generated: Input) -> None:
    check(run(bench, generated), "run")


@quick
@given(data=st.data())
def test_imports(bench: Path, exported: dict[str, Any], data: st.DataObject) -> None:
    import_and_report(bench, data.draw(imports(exported)))


@pytest.mark.long
@settings(many, max_examples=2000)
@given(generated=studies() | profiles())
def test_2000_studies_and_profiles(bench: Path, generated: Input) -> None:
    check(run(bench, generated), "run")


@pytest.mark.long
@settings(many, max_examples=500)
@given(data=st.data())
def test_500_imports(bench: Path, exported: dict[str, Any], data: st.DataObject) -> None:
    import_and_report(bench, data.draw(imports(exported)))


def test_the_stand_in_measures(bench: Path) -> None:
    """A correct study reaches a report, so the tests above reach all code that runs before the machine."""
    answer = run(bench, Input(toml(PLAIN_STUDY).encode()))
    assert answer.status in (0, 1)
    assert "Report: " in answer.out
    assert threading.active_count() < 50
