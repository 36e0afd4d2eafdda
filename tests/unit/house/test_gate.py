# SPDX-License-Identifier: Apache-2.0
"""ci/: the gate of a merge request, and the templates that call it."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
import yaml

from flashbed.profiles import kernel_choice
from tests.support.repository import REPOSITORY

CI = REPOSITORY / "ci"

DOUBLE = """#!/bin/sh
echo "$*" >> calls
case "$1 $*" in
    "run "*"{failing}"*) exit {status} ;;
    "compare "*) exit 5 ;;
esac
"""


def gate(folder: Path, *words: str, failing: str = "nothing", status: int = 3) -> tuple[int, list[str]]:
    """Return the gate's status and its calls, with a made-up command in place of flashbed."""
    double = folder / "flashbed"
    double.write_text(DOUBLE.format(failing=failing, status=status))
    double.chmod(0o755)
    environment = {"PATH": f"{folder}:{os.environ['PATH']}"}
    done = subprocess.run([CI / "gate", *words], cwd=folder, env=environment, capture_output=True)
    calls = folder / "calls"
    return done.returncode, calls.read_text().splitlines() if calls.is_file() else []


def test_both_revisions_are_measured_and_compared(tmp_path: Path) -> None:
    status, calls = gate(tmp_path, "my.toml", "linux", "v6.12", "HEAD", "--limit", "bandwidth=1")
    assert status == 5
    assert calls == [
        "run my.toml --kernel ./linux@v6.12 --out flashbed-gate/base",
        "run my.toml --kernel ./linux@v6.12..HEAD --out flashbed-gate/head",
        "compare flashbed-gate/base flashbed-gate/head --html flashbed-gate/compare.html --limit bandwidth=1",
    ]


@pytest.mark.parametrize("tree", ["linux", "./linux", ".", "{absolute}"])
def test_the_kernels_that_the_gate_names_are_source_trees(tmp_path: Path, tree: str) -> None:
    """Here the real command interprets them; the other tests replace it."""
    linux = tmp_path if tree == "." else tmp_path / "linux"
    for name in ("Makefile", "Kconfig", "Kbuild", "arch/arm64/Makefile"):
        (linux / name).parent.mkdir(parents=True, exist_ok=True)
        (linux / name).write_text("VERSION = 6\nPATCHLEVEL = 1\n")
    person = ("-c", "user.name=somebody", "-c", "user.email=somebody@example.org")
    for words in (("init",), ("add", "."), (*person, "commit", "--message=base"), ("tag", "base")):
        subprocess.run(["git", *words], cwd=linux, check=True, capture_output=True)
    _, calls = gate(tmp_path, "my.toml", tree.format(absolute=linux), "base", "HEAD")
    kernels = [call.split()[3] for call in calls[:2]]
    choices = [kernel_choice.read(kernel, tmp_path) for kernel in kernels]
    assert [choice.tree.folder.resolve() for choice in choices if choice.tree] == [linux, linux]


def test_what_cannot_be_measured_is_not_compared(tmp_path: Path) -> None:
    status, calls = gate(tmp_path, "my.toml", "linux", "a", "b", failing="a..b")
    assert (status, len(calls)) == (3, 2)


@pytest.mark.parametrize("failing", ["@a ", "a..b"])
def test_cells_without_a_measurement_are_compared(tmp_path: Path, failing: str) -> None:
    status, calls = gate(tmp_path, "my.toml", "linux", "a", "b", failing=failing, status=1)
    assert (status, len(calls)) == (5, 3)


def test_a_report_of_before_is_not_compared(tmp_path: Path) -> None:
    (tmp_path / "flashbed-gate/base").mkdir(parents=True)
    gate(tmp_path, "my.toml", "linux", "a", "b")
    assert not (tmp_path / "flashbed-gate").exists()


def test_too_few_words_measure_nothing(tmp_path: Path) -> None:
    assert gate(tmp_path, "my.toml", "linux", "a") == (2, [])


@pytest.mark.parametrize("name", ["github/action.yml", "gitlab/flashbed.yml"])
def test_the_templates_call_the_gate_and_keep_the_reports_of_a_failure(name: str) -> None:
    template = yaml.safe_load((CI / name).read_text())
    if name.startswith("github"):
        steps = template["runs"]["steps"]
        assert '/../gate" "$STUDY" "$TREE" "$BASE" "$HEAD" $LIMITS' in steps[2]["run"]
        assert set(steps[2]["env"].values()) == {f"${{{{ inputs.{name} }}}}" for name in template["inputs"]}
        assert steps[2]["env"]["FLASHBED_DEBIAN"] == "${{ inputs.debian }}"
        assert (steps[3]["if"], steps[3]["with"]["path"]) == ("always()", "flashbed-gate")
    else:
        job = template[".flashbed-gate"]
        assert job["script"][-1].endswith('/ci/gate" "$STUDY" "$TREE" "$BASE" "$HEAD" $LIMITS')
        assert (job["artifacts"]["when"], job["artifacts"]["paths"]) == ("always", ["flashbed-gate/"])


def test_the_lines_of_the_gitlab_job_run_in_its_container(tmp_path: Path) -> None:
    """They run in the shell that GitLab uses, with doubles of the programs that they call."""
    job = yaml.safe_load((CI / "gitlab/flashbed.yml").read_text())[".flashbed-gate"]
    for name in ("apt-get", "git", "make"):
        (tmp_path / name).write_text(f'#!/bin/sh\necho "{name} $*" >> {tmp_path}/calls\n')
        (tmp_path / name).chmod(0o755)
    lab = tmp_path / ".flashbed"
    variables = {"FLASHBED": str(lab), "FLASHBED_URL": "url", "STUDY": "my.toml", "TREE": ".", "BASE": "a", "HEAD": "b"}
    assert variables.keys() <= job["variables"].keys()
    environment = {**variables, "LIMITS": "--limit iops=1", "PATH": f"{tmp_path}:{os.environ['PATH']}"}
    # The clone is there; what makes it is a double
    lines = [line for line in job["before_script"] if not line.startswith("rm ")] + job["script"]
    (lab / "ci").mkdir(parents=True)
    (lab / "ci/gate").write_text(f'#!/bin/sh\necho "gate $*" >> {tmp_path}/calls\n')
    (lab / "ci/gate").chmod(0o755)
    subprocess.run(["sh", "-ec", "\n".join(lines)], env=environment, check=True, cwd=tmp_path)
    calls = (tmp_path / "calls").read_text().splitlines()
    assert calls[1].split()[-3:] == ["ca-certificates", "git", "make"]
    assert calls[2:] == [
        f"git clone -q --depth 1 url {lab}",
        f"make -C {lab} setup",
        "gate my.toml . a b --limit iops=1",
    ]
    assert job["rules"] == [{"if": '$CI_PIPELINE_SOURCE == "merge_request_event"'}]
