# SPDX-License-Identifier: Apache-2.0
"""Hypothesis strategies for studies, profiles, job files and results of other computers: shipped ones with an error,
and arbitrary ones. They produce the text of files.
"""

from __future__ import annotations

import copy
import json
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from hypothesis import strategies as st

from flashbed.common import paths
from flashbed.profiles.library import FOLDERS, ProfileKind
from tests.support.mutated_inputs import damaged, keys, mutated, toml, values

PLAIN_STUDY = {
    "title": "Made up",
    "board": "arm64-1000",
    "medium": "usb-stick-2g:used_bytes=64M",
    "seeds": 1,
    "axes": {"filesystem": ["ext2"], "request": ["4k", "64k"]},
    "workload": {"tool": "fio", "pattern": "write", "file": "256k"},
    "answer": {"compare": "request", "metric": "bandwidth"},
}

JOB = """\
[global]
directory=/mnt
size=1M
end_fsync=1
; a comment
[a]
rw=write
bs=4k
[background]
rw=randread
bs=4k
"""

REFERS = ("answer", "choice", "figure", "table", "trace", "claim", "labels", "skip", "systems")
"""The tables of a study that name values of its axes."""


COMMANDS = st.sampled_from(("run", "run", "run", "run", "export", "allow", "report"))


@dataclass(frozen=True)
class Input:
    """A study and the files beside it, by path. They are bytes, because some are no valid text."""

    study: bytes
    beside: dict[str, bytes] = field(default_factory=dict)
    command: str = "run"


# --- mutations ------------------------------------------------------------------------------------------------------


def _dumped(data: dict[str, Any]) -> bytes:
    try:
        return toml(data).encode()
    except RecursionError:
        return b"a = " + b"[" * 3000 + b"]" * 3000 + b"\n"


# --- studies and profiles -------------------------------------------------------------------------------------------


@cache
def _shipped_studies() -> list[str]:
    return [file.read_text() for file in sorted(paths.studies().glob("*.toml"))]


@cache
def _shipped_profiles() -> list[tuple[ProfileKind, str]]:
    return [
        (kind, file.read_text())
        for kind, folder in FOLDERS.items()
        for file in sorted((paths.profiles() / folder).glob("*.toml"))
    ]


def _small(study: dict[str, Any], *, refers: bool) -> dict[str, Any]:
    """Return a shipped study with only a few cells, so that running it takes no time."""
    axes = {name: values[:2] for name, values in study.get("axes", {}).items()}
    keys_kept = {key: value for key, value in study.items() if refers or key not in REFERS}
    return {**keys_kept, "axes": axes, "seeds": 1}


@st.composite
def studies(draw: st.DrawFn) -> Input:
    """Draw changed shipped studies, arbitrary ones, and damaged texts of either."""
    beside = {file.name: file.read_bytes() for file in paths.studies().glob("*.fio")}
    match draw(st.sampled_from(("shipped", "shipped", "plain", "plain", "free", "job"))):
        case "shipped":
            shipped = tomllib.loads(draw(st.sampled_from(_shipped_studies())))
            data = _small(shipped, refers=draw(st.booleans()))
            data = draw(mutated(data))
        case "plain":
            data = draw(mutated(PLAIN_STUDY))
        case "free":
            data = draw(st.dictionaries(keys, values, max_size=8))
        case _:
            job = draw(damaged(JOB.encode()) | st.sampled_from(_bad_jobs()))
            beside["mine.fio"] = job
            data = draw(mutated({**PLAIN_STUDY, "axes": {"filesystem": ["ext2"]}, "workload": _own_job()}, most=1))
            data.pop("answer", None)
    text = _dumped(data)
    return Input(draw(damaged(text)) if draw(st.integers(0, 7)) == 0 else text, beside, draw(COMMANDS))


def _own_job() -> dict[str, Any]:
    return {"tool": "fio", "job": "mine.fio"}


def _bad_jobs() -> Sequence[bytes]:
    return [
        text.encode()
        for text in (
            "",
            "[a",
            "[a]",
            "rw=write\n[a]",
            "[global]\nrw=write",
            "include x\n[a]\nrw=read",
            "[a]\nrw=${x}",
            "[]",
        )
    ]


@st.composite
def profiles(draw: st.DrawFn) -> Input:
    """Draw a profile beside a study that uses it: a changed shipped one, or an arbitrary one."""
    kind, shipped = draw(st.sampled_from(_shipped_profiles()))
    data = (
        draw(mutated(tomllib.loads(shipped)))
        if draw(st.integers(0, 5))
        else draw(st.dictionaries(keys, values, max_size=6))
    )
    text = _dumped(data)
    if draw(st.integers(0, 7)) == 0:
        text = draw(damaged(text))
    study = copy.deepcopy(PLAIN_STUDY)
    option = draw(
        st.sampled_from(("", "", "", ":used_bytes=64000001", ":ram=16M", ":x=1", ":cluster=16k", ":from=nosuch"))
    )
    chip = {"medium": "slc-nand-64m"} if kind == "translation" or data.get("needs") == "mtd" else {}
    study |= {**chip, kind: f"mine{option}"}
    if kind == "filesystem":
        study["axes"] = {"request": ["4k"]}
        study.pop("answer", None)
    return Input(_dumped(study), {f"profiles/{FOLDERS[kind]}/mine.toml": text})


# --- results of other computers -------------------------------------------------------------------------------------


def fio_document(name: str) -> dict[str, Any]:
    """Return fio's output, as far as the lab reads it."""
    idle = {"total_ios": 0, "runtime": 0, "io_bytes": 0, "lat_ns": {"mean": 0, "max": 0, "N": 0}}
    spent = {"mean": 1e6, "max": 9e6, "N": 64, "bins": {"1000000": 60, "9000000": 4}}
    busy = {"total_ios": 64, "runtime": 2000, "io_bytes": 262144, "lat_ns": spent, "clat_ns": spent}
    times = {"usr_cpu": 1.5, "sys_cpu": 3.25, "job_runtime": 2000}
    job = {"jobname": name, "error": 0, "read": idle, "write": busy, "sync": {"lat_ns": spent}, **times}
    document = {"fio version": "fio-3.33", "global options": {"ramp_time": "5s"}, "jobs": [job]}
    copied: dict[str, Any] = json.loads(json.dumps(document))
    return copied


@st.composite
def imports(draw: st.DrawFn, manifest: dict[str, Any]) -> tuple[bytes, dict[str, bytes]]:
    """Draw the manifest of exported jobs, and a file in place of each job's result."""
    results = {}
    for entry in manifest["jobs"]:
        document = draw(mutated(fio_document(entry["name"])))
        text = _json(document)
        if draw(st.integers(0, 4)) == 0:
            text = draw(damaged(text))
        results[f"{entry['folder']}/results/{entry['name']}.json"] = text
    manifest_text = _json(draw(mutated(manifest))) if draw(st.integers(0, 2)) == 0 else _json(manifest)
    return (draw(damaged(manifest_text)) if draw(st.integers(0, 6)) == 0 else manifest_text), results


def _json(data: Any) -> bytes:
    try:
        return json.dumps(data).encode("utf-8", "replace")
    except (RecursionError, ValueError):
        return b'{"jobs": ' + b"[" * 100_000 + b"]" * 100_000 + b"}"
