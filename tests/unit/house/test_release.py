# SPDX-License-Identifier: Apache-2.0
"""All places of the version agree, and the files in a container's steps exist."""

from __future__ import annotations

import re
import tomllib
from typing import Any

from tests.support import containerfile
from tests.support.repository import REPOSITORY


def project() -> dict[str, Any]:
    return dict(tomllib.loads((REPOSITORY / "pyproject.toml").read_text())["project"])


def test_the_version_is_one() -> None:
    version = str(project()["version"])
    cited = re.search(r"^version: (\S+)$", (REPOSITORY / "CITATION.cff").read_text(), re.MULTILINE)
    assert cited is not None
    assert cited[1] == version
    wheel = re.search(r"flashbed-(\S+)-py3-none-any\.whl", (REPOSITORY / "README.md").read_text())
    assert wheel is not None
    assert wheel[1] == version


KINDS = {"Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"}


def test_the_changelog_has_the_form_of_keep_a_changelog() -> None:
    changes = (REPOSITORY / "CHANGELOG.md").read_text()
    first, *released = re.findall(r"^## (.*)$", changes, re.MULTILINE)
    assert first == "[Unreleased]"
    heads = [re.fullmatch(r"\[(\d+)\.(\d+)\.(\d+)\] - (\d{4}-\d\d-\d\d)", line) for line in released]
    versions = [(tuple(map(int, head.groups()[:3])), head[4]) for head in heads if head]
    assert len(versions) == len(released)
    assert versions == sorted(versions, reverse=True)
    assert ".".join(map(str, versions[0][0])) == project()["version"]
    assert cited_date() == versions[0][1]
    assert set(re.findall(r"^### (.*)$", changes, re.MULTILINE)) <= KINDS


def cited_date() -> str:
    date = re.search(r"^date-released: (\S+)$", (REPOSITORY / "CITATION.cff").read_text(), re.MULTILINE)
    assert date is not None
    return date[1]


def test_no_licence_is_cited_that_is_of_a_part_only() -> None:
    """A list there would mean a choice. The lab's licences are each for a part, and all of them hold."""
    assert "license" not in (REPOSITORY / "CITATION.cff").read_text()


def test_a_container_runs_what_the_makefile_has() -> None:
    script = containerfile.script()
    targets = re.findall(r"^([\w-]+):", (REPOSITORY / "Makefile").read_text(), re.MULTILINE)
    made_targets = set(re.findall(r"\bmake (?!\()([\w-]+)", script.replace("install git make", "")))
    assert made_targets == {"setup"}
    assert made_targets <= set(targets)
    assert 'CMD ["make", "run"]' in containerfile.FILE.read_text()
    assert ".[cluster]" in script
    assert "cluster" in project()["optional-dependencies"]
