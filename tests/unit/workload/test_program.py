# SPDX-License-Identifier: Apache-2.0
"""The workload program: its scripts, its metrics, and what a study must say."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from flashbed.common.errors import InputError
from flashbed.result.metrics import METRICS
from flashbed.study.loading import load_study, study_schema
from flashbed.study.plan import plan
from flashbed.workload import WORKLOADS
from flashbed.workload.base import Checked, WorkloadOutputError
from flashbed.workload.program import LAUNCH_REPORT, ProgramParameters, UserProgram
from tests.support.fixture_types import StudyWriter

OUT = {
    LAUNCH_REPORT: b"0 1000000000 3500000000 400000 2048\n15 1500000000 3000000000 100000 4096\n",
    "figures": b"rows 7\n",
}
STUDY = """
[axes]
filesystem = ["ext4", "f2fs"]
rows = [10, 20]

[workload]
tool = "program"
packages = ["sqlite3"]
files = ["app.py", "data"]
command = "/app/app.py {rows} /mnt/db"
check = "test -e /mnt/db"
"""


def scripts(**values: Any) -> dict[str, str]:
    parameters = ProgramParameters.model_validate(values).canonical()
    return {name: data.decode() for name, data in UserProgram().files(parameters, 7).items()}


def launched(script: str) -> str:
    (line,) = [line for line in script.splitlines() if line.startswith("/bin/launch")]
    return line


def test_a_command_is_run_in_the_root_with_its_limit_and_the_seed() -> None:
    files = scripts(command="echo 'a b'", limit=60)
    assert sorted(files) == ["measure", "prepare", "warm"]
    line = launched(files["measure"])
    assert line.startswith("/bin/launch measure /program 60 PATH=")
    assert line.endswith(""" FLASHBED_SEED=7 -- 0 - 0 -c 'echo '"'"'a b'"'"''""")
    assert "launch" not in files["prepare"] + files["warm"]
    assert "open_root /program" in files["warm"]


def test_a_check_is_a_step_after_the_cell_and_the_root_may_be_on_the_medium() -> None:
    files = scripts(prepare="p", warm="w", command="c", check="k", root="medium")
    assert files["cell"] == ". /lib/flashbed/cell\nstep check sh /job/check\n"
    assert files["check"].startswith(
        ". /job/root\nsh /job/mount || exit\ntouch /out/acknowledged\nopen_root /mnt/program || exit\n"
    )
    assert "load_root && copy_root || exit" in files["prepare"]
    steps = [(name, launched(files[name]).split()[1:3]) for name in ("prepare", "warm", "measure", "check")]
    assert steps == [(name, [name, "/mnt/program"]) for name, _ in steps]
    assert UserProgram().needs(ProgramParameters(command="c", root="medium").canonical()).roots == ("/mnt/program",)


def test_a_guest_after_a_power_cut_checks_with_the_acknowledged_lines() -> None:
    program: object = UserProgram()
    assert isinstance(program, Checked)
    parameters = ProgramParameters(command="c", check="k").canonical()
    assert program.checks(parameters)
    assert not program.checks(ProgramParameters(command="c").canonical())
    text = program.check_files(parameters, 7)["check"].decode()
    assert text.startswith(". /job/root\nload_root || exit\ncp /job/acknowledged /out || exit\n")
    assert "FLASHBED_ACKED=/out/acknowledged" in launched(text).split()


def test_several_programs_have_their_times_and_environments() -> None:
    first = {"command": "a", "start": 0.25, "stop": "2", "nice": 5, "environment": {"A": "b c"}}
    line = launched(scripts(process=[first, {"command": "b", "stop": "end"}])["measure"])
    assert line.partition(" -- ")[2] == "250 2000 5 'A=b c' -c a -- 0 end 0 -c b"


def test_canonical_parameters_are_the_same_after_a_stay_in_a_result() -> None:
    parameters = ProgramParameters.model_validate(
        {"packages": "sqlite3, python3", "process": [{"command": "a", "stop": 1}], "files": [["/app/a", 33261, "f0"]]}
    ).canonical()
    stored = json.loads(json.dumps(parameters))
    assert ProgramParameters.model_validate(stored).canonical() == parameters
    assert UserProgram().needs(stored) == UserProgram().needs(parameters)
    root = UserProgram().needs(stored).root
    assert root is not None
    assert root.packages == ("sqlite3", "python3")


def test_the_time_is_from_the_first_begin_to_the_last_end() -> None:
    assert UserProgram().metrics(OUT) == {
        "runtime_s": 2.5,
        "program_cpu_s": 0.5,
        "program_memory_bytes": 4096 * 1024,
        "own.rows": 7.0,
    }
    assert not [name for name in UserProgram().metrics(OUT) if name not in METRICS]


@pytest.mark.parametrize("report", [b"", b"0 1 2 3\n", b"0 1 2 3 -4\n", b"x\n"])
def test_a_report_that_launch_did_not_write_is_refused(report: bytes) -> None:
    with pytest.raises(WorkloadOutputError):
        UserProgram().metrics({LAUNCH_REPORT: report})


@pytest.fixture
def files(tmp_path: Path) -> Path:
    (tmp_path / "app.py").write_text("#!/usr/bin/python3\n")
    (tmp_path / "data" / "empty").mkdir(parents=True)
    (tmp_path / "data" / "a").write_text("content")
    (tmp_path / "data" / "link").symlink_to("a")
    (tmp_path / "out").symlink_to("/etc")
    return tmp_path


def test_files_that_commands_name_are_the_programs_to_examine() -> None:
    files = [(f"/app/{name}", 0o100755, "0" * 64) for name in ("a", "b", "c.py", "d")]
    given = {"files": files, "prepare": "cd /tmp; '/app/a' 1", "command": "x=$(/app/c.py) && cat /app/b /app/dd"}
    root = UserProgram().needs(ProgramParameters.model_validate(given).canonical()).root
    assert root is not None
    assert root.programs == ("/app/a", "/app/c.py")


def test_axes_fill_the_placeholders_and_files_come_by_digest(study_file: StudyWriter, files: Path) -> None:
    study = load_study(study_file(STUDY))
    cells = plan(study)
    commands = [cell.workload.parameters["command"] for cell in cells]
    assert commands[:2] == ["/app/app.py 10 /mnt/db", "/app/app.py 20 /mnt/db"]
    root_files = cells[0].workload.parameters["files"]
    assert [(path, oct(mode)) for path, mode, _ in root_files] == [
        ("/app/app.py", "0o100755"),
        ("/app/data/a", "0o100755"),
        ("/app/data/empty", "0o40755"),
        ("/app/data/link", "0o120777"),
    ]
    assert {cells[0].workload.root_files[digest] for *_, digest in root_files} == {
        *(files / name for name in ("app.py", "data/a", "data/empty", "data/link"))
    }
    assert study.answer is not None
    assert study.answer.metric == ("runtime_s",)
    (files / "app.py").write_text("#!/usr/bin/python3 -v\n")
    assert plan(load_study(study_file(STUDY)))[0].workload.parameters["files"] != root_files


def test_the_directory_of_a_study_may_be_a_link(study_file: StudyWriter, files: Path) -> None:
    study = study_file(STUDY.replace('"data"]', '"data/a"]'))
    (files / "link").symlink_to(files)
    assert load_study(files / "link" / study.name).root_files[1].path == "/app/data/a"


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("{rows} ", "", "small.toml:8: axes.rows: is in no command, as {rows}"),
        ("{rows}", "{rows} {row}", 'workload.command: has {row}, which no axis fills; did you mean "rows"?'),
        ('command = "/app/app.py {rows} /mnt/db"', "", "axes.rows: is in no command"),
        ('"data"]', '"no"]', 'workload.files[1]: "no" cannot be read: '),
        ('"data"]', '"../data"]', 'workload.files[1]: "../data" does not lie beside the study'),
        ('"data"]', '"/etc"]', 'workload.files[1]: "/etc" does not lie beside the study'),
        ('"data"]', '"out/hosts"]', 'workload.files[1]: "out/hosts" does not lie beside the study'),
        ('"data"]', '"a,b"]', 'workload.files: "a,b" has a comma in it'),
        ("check = ", "process = ", "workload.process: must be tables: [[workload.process]]"),
        ('check = "test -e /mnt/db"', "check = []", "workload.check: must be a string"),
        ('check = "test -e /mnt/db"', "limit = 0", "workload.limit: must be at least 1, not 0"),
        ('check = "test -e /mnt/db"', 'root = "disk"', 'workload.root: must be "memory" or "medium"'),
        ("check", "chek", 'workload.chek: is no parameter of program; did you mean "check"?'),
        ("rows = [10, 20]", "packages = [10]", "axes.packages: cannot be an axis"),
        ("rows = [10, 20]", "limit = [10]", "axes.limit: cannot be an axis"),
        ("rows", "runtime_s", "axes.runtime_s: is the name of a column of the results"),
    ],
)
def test_a_study_that_says_something_else_is_refused(
    study_file: StudyWriter, files: Path, old: str, new: str, message: str
) -> None:
    with pytest.raises(InputError) as error:
        load_study(study_file(STUDY.replace(old, new)))
    assert message in str(error.value)


@pytest.mark.parametrize(
    ("process", "message"),
    [
        ('command = "x {rows}"\nstop = 1\nstart = 2', "workload.process[0].stop: must be later than start, which is 2"),
        ('command = "x {rows}"\nnice = 20', "workload.process[0].nice: must be at most 19, not 20"),
        ('command = "x {rows}"\nnise = 2', "workload.process[0].nise: no such key"),
        ('command = "x {rows}"\nstop = "soon"', 'workload.process[0].stop: must be a number of seconds, or "end"'),
        (
            'command = "x {rows}"\nstop = "end"',
            'workload.process: all have stop = "end", and would wait',
        ),
        ('command = "x {rows}"\nenvironment = { "A B" = "c" }', '"A B" cannot be the name of a variable'),
        ('environment = { A = "{rows}" }', "workload.process[0].command: is missing"),
    ],
)
def test_a_process_that_says_something_else_is_refused(
    study_file: StudyWriter, files: Path, process: str, message: str
) -> None:
    body = STUDY.replace('command = "/app/app.py {rows} /mnt/db"\n', "") + f"\n[[workload.process]]\n{process}\n"
    with pytest.raises(InputError) as error:
        load_study(study_file(body))
    assert message in str(error.value)


def test_a_command_and_processes_exclude_each_other_and_one_is_needed(study_file: StudyWriter, files: Path) -> None:
    with pytest.raises(InputError, match=r"workload\.command: .*process"):
        load_study(study_file(STUDY + '\n[[workload.process]]\ncommand = "x"\n'))
    alone = STUDY.replace('command = "/app/app.py {rows} /mnt/db"\n', "").replace("rows = [10, 20]\n", "")
    with pytest.raises(InputError, match=r"workload\.command: is missing"):
        load_study(study_file(alone))


def test_another_tool_takes_neither_lists_nor_tables(study_file: StudyWriter) -> None:
    body = 'workload = { tool = "fio", pattern = "write", request = ["4k", "8k"], file = "64k" }'
    with pytest.raises(InputError, match=r"workload\.request: must be a string"):
        load_study(study_file(body, filesystem="ext2"))


def test_the_schema_has_the_keys_of_a_process() -> None:
    schema = study_schema()
    workload = schema["properties"]["workload"]["properties"]
    assert "program" in workload["tool"]["enum"]
    reference = workload["process"]["items"]["$ref"].rpartition("/")[2]
    assert set(schema["$defs"][reference]["properties"]) == {"command", "start", "stop", "nice", "environment"}


def test_every_tool_has_keys_of_one_meaning() -> None:
    assert set(WORKLOADS["program"].parameters.model_fields) & set(WORKLOADS["fio"].parameters.model_fields) == set()
