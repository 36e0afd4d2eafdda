# SPDX-License-Identifier: Apache-2.0
"""Programs of a user's, unchanged, on stacks of the lab: their figures, their repetition, and how they fail."""

from __future__ import annotations

from pathlib import Path

import pytest

from flashbed.common import paths
from flashbed.execution import run
from flashbed.execution.repetition import Finished
from flashbed.image import command, toolchain
from flashbed.image.cache import Cache
from flashbed.image.debian import Archive
from flashbed.study.loading import load_study
from tests.machine.same_bytes import bytes_of, differing
from tests.support.facts import Facts
from tests.support.fixture_types import Flashbed, Measure, StudyWriter
from tests.support.repository import REPOSITORY

SQLITE = """
[axes]
filesystem = ["ext4", "f2fs"]
[workload]
tool = "program"
packages = ["sqlite3"]
prepare = "sqlite3 /mnt/log.db 'create table log (t, value)'"
command = '''seq -f "insert into log values (%g, 'on');" 40 | sqlite3 /mnt/log.db'''
check = "test $(sqlite3 /mnt/log.db 'select count(*) from log') = 40"
"""

PYTHON = """
filesystem = "ext4"
[axes]
rows = [30]
[workload]
tool = "program"
packages = ["python3"]
files = ["logger.py", "data"]
warm = "cat /app/data/first"
command = "/app/logger.py {rows} /mnt/log"
check = "grep -q ^29$ /mnt/log && test $(tail -n 1 $FLASHBED_ACKED) = 29"
"""

LOGGER = """\
#!/usr/bin/env python3
import os, sys, time

rows, name = int(sys.argv[1]), sys.argv[2]
began = time.monotonic()
with open(name, "w") as log, open(os.environ["FLASHBED_ACK"], "a") as acknowledged:
    for row in range(rows):
        print(row, file=log, flush=True)
        os.fsync(log.fileno())
        print(row, file=acknowledged, flush=True)
with open(os.environ["FLASHBED_FIGURES"], "a") as figures:
    print("rows_per_s", rows / (time.monotonic() - began), file=figures)
print("seed", os.environ["FLASHBED_SEED"], open("/app/data/first").read())
"""

THREADS = """
filesystem = "f2fs"
[workload]
tool = "program"
files = ["writers"]
[[workload.process]]
command = "/app/writers /mnt/a /mnt/b /mnt/c"
start = 0.05
[[workload.process]]
command = "while :; do echo $WORD >>/mnt/beside; sleep 0.01; done"
stop = "end"
nice = 10
environment = { WORD = "beside" }
"""

FAILURES = {
    "echo before; exit 3": "exit status 3: error: echo before; exit 3: before",
    "test -e /mnt/no": "exit status 1: error: test -e /mnt/no: printed nothing",
    "kill -SEGV $$": "killed by signal 11 (Segmentation fault)",
    "sleep 1000": "still runs after 20 s of the guest's time (limit)",
    "head -c 300M /dev/zero >/mnt/full": "No space left on device",
    "/app/missing --now": "/app/missing: not found",
    "bash -c 'echo x >/dev/tcp/192.0.2.1/80'": "(guests have no network)",
    "while :; do sleep 1000 & done": "the guest ran out of memory",
}
"""Commands, and what the reason of their cells says."""


def measured_twice(study: Path, folder: Path, measure: Measure) -> Finished:
    """Return the study's first cell. Check that a second run gives the same bytes."""
    repetition = run.prepare(load_study(study))[0]
    first, again = (measure(repetition, folder / name) for name in ("first", "again"))
    assert differing(bytes_of(first), bytes_of(again)) == []
    return first


def test_sqlite_commits_on_two_file_systems(study_file: StudyWriter, tmp_path: Path, measure: Measure) -> None:
    study = study_file(SQLITE, medium="sd-good:used_bytes=256M")
    ext4 = measured_twice(study, tmp_path, measure)
    f2fs = measure(run.prepare(load_study(study))[1], tmp_path / "f2fs")
    for finished in (ext4, f2fs):
        measurement = finished.result.measurement
        assert measurement.metrics["flush_calls"] >= 2 * 40
        assert measurement.metrics["time_flush_percent"] > 90
        assert measurement.calls is not None
        assert {"/mnt/log.db", "/mnt/log.db-journal"} <= {file.path for file in measurement.calls.files[:3]}
        assert 0 < measurement.metrics["program_cpu_s"] < measurement.metrics["runtime_s"]
    assert ext4.result.measurement.metrics["runtime_s"] != f2fs.result.measurement.metrics["runtime_s"]


def test_a_python_script_beside_the_study(study_file: StudyWriter, tmp_path: Path, measure: Measure) -> None:
    (tmp_path / "logger.py").write_text(LOGGER)
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "first").write_text("of the data")
    finished = measured_twice(study_file(PYTHON, medium="sd-good:used_bytes=256M"), tmp_path, measure)
    metrics = finished.result.measurement.metrics
    assert (metrics["flush_calls"], metrics["written_bytes"]) == (30, sum(len(f"{row}\n") for row in range(30)))
    assert metrics["own.rows_per_s"] == pytest.approx(1e6 / metrics["flush_mean_us"], rel=0.2)
    assert finished.files["out/output.measure"] == b"seed 1 of the data\n"
    assert finished.files["out/output.warm"] == b"of the data"
    assert finished.files["out/acknowledged"].splitlines()[-1] == b"29"


def test_a_program_in_c_with_threads_beside_another(study_file: StudyWriter, tmp_path: Path, measure: Measure) -> None:
    root = paths.cache_root()
    archive = Archive(root / f"debian-{toolchain.ARCHITECTURE}", toolchain.ARCHITECTURE)
    sysroot = toolchain.sysroot(Cache(root / "image"), archive).folder
    source = REPOSITORY / "tests" / "guest" / "writers.c"
    options = [f"--sysroot={sysroot}", "-O2", "-pthread", "-o", str(tmp_path / "writers"), str(source)]
    command.run([f"{toolchain.CROSS_PREFIX}gcc", *options])
    study = study_file(THREADS, board="arm64-1000:cpus=2", medium="sd-good:used_bytes=256M")
    finished = measured_twice(study, tmp_path, measure)
    measurement = finished.result.measurement
    assert measurement.metrics["own.blocks"] == 60
    assert measurement.metrics["flush_calls"] == 60
    assert measurement.calls is not None
    assert {"/mnt/a", "/mnt/b", "/mnt/c"} <= {file.path for file in measurement.calls.files}
    assert measurement.metrics["written_bytes"] > 60 * 4096  # and those of the other command


def test_each_failure_has_one_clear_reason(flashbed: Flashbed, study_file: StudyWriter) -> None:
    body = 'workload = {{ tool = "program", limit = 20, packages = ["bash"] }}\naxes = {{ command = [{}] }}\n'
    commands = [f"'''{command}'''" for command in FAILURES]
    study = study_file(body.format(", ".join(commands)), medium="null-2g:used_bytes=64M", filesystem="ext4")
    done = flashbed("run", study)
    assert done.returncode == 1, done.stderr
    for failing, reason in FAILURES.items():
        told = [line for line in done.stderr.splitlines() if line.startswith(f"{failing}, seed 1: failed: ")]
        assert len(told) == 1, f"{failing}: {done.stderr}"
        assert reason in told[0]
    for number, fact in ((3, "`limit`"), (4, "`used_bytes`"), (6, "`files`"), (7, "`ram`")):
        hints = [line for line in done.stderr.splitlines() if line.startswith(f"{study}:")]
        assert Facts(f": axes.command[{number}]: ", fact).within(hints), hints


def test_a_failed_check_fails_the_cell_and_its_output_is_kept(study_file: StudyWriter, flashbed: Flashbed) -> None:
    body = 'workload = { tool = "program", command = "echo 1 >/mnt/a", check = "echo lost a row; exit 4" }\n'
    done = flashbed("run", study_file(body, medium="null-2g:used_bytes=64M", filesystem="ext2"))
    assert done.returncode == 1
    assert Facts("step check", "exit status 4", "echo lost a row; exit 4", "lost a row").within(done.stderr)


@pytest.mark.parametrize(
    ("key", "facts"),
    [
        ('packages = ["nosuchpackage"]', Facts("workload.packages[0]", "nosuchpackage")),
        ('files = ["x86"]\ncommand = "/app/x86"', Facts("workload.files[0]", "/app/x86")),
        ('files = ["script"]\ncommand = "/app/script"', Facts("workload.files[0]", "/app/script", "python3")),
        ('kernel = "6.1-debian"', Facts("kernel", "6.1-debian")),
    ],
)
def test_what_cannot_run_is_refused_before_any_guest(
    key: str, facts: Facts, flashbed: Flashbed, study_file: StudyWriter, tmp_path: Path
) -> None:
    (tmp_path / "x86").write_bytes(Path("/bin/true").read_bytes())
    (tmp_path / "script").write_text("#!/usr/bin/python3\n")
    top, of_tool = ("", f"{key}\n") if not key.startswith("kernel") else (f"{key}\n", "")
    command = "" if "command" in key else 'command = "true"\n'
    body = f'{top}[workload]\ntool = "program"\n{of_tool}{command}'
    done = flashbed("run", study_file(body, medium="sd-good:used_bytes=64M", filesystem="ext2"))
    assert done.returncode == 2, done.stderr
    assert facts.within(done.stderr)
    assert "Measuring" not in done.stderr
