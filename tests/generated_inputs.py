# SPDX-License-Identifier: Apache-2.0
"""Studies, profiles, job files and results of other computers that nobody wrote: shipped ones with something wrong in
them, and free ones. Strategies for Hypothesis; what they make is the text of files.
"""

from __future__ import annotations

import copy
import json
import math
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from hypothesis import strategies as st

from flashbed.common import paths
from flashbed.profiles.library import FOLDERS, Kind

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
"""Tables of a study that name values of its axes."""

NUMBERS = (0, 1, -1, 2, 3, 511, 4096, 2**31, 2**32, 2**53, 2**63 - 1, -(2**63), 2**63, 2**64, 10**30, 10**4200)
FLOATS = (0.0, -0.0, 1.5, -1e308, 1e-320, math.inf, -math.inf, math.nan)
TEXTS = (
    *(
        "",
        " ",
        "a" * 300,
        "\N{SNOWMAN}",
        "\0",
        "\x1b[31m",
        "a\nb",
        "../../x",
        "/etc/passwd",
        "~nosuch/x",
        "-o",
        "a:b=c",
    ),
    *(
        "{image}",
        "{device}",
        "{",
        "${HOME}",
        "'",
        '"',
        "`id`",
        "$(id)",
        "<script>alert(1)</script>",
        "4k",
        "-4k",
        "1e9",
    ),
    *(
        "99999999999999999999999999T",
        "9" * 5000,
        "inf",
        "nan",
        "true",
        "on",
        "none",
        "\N{RIGHT-TO-LEFT OVERRIDE}x",
        "٤k",
    ),
    *("ext2:", "ext2:block", "ext2:block=", "ext2:block=3k", "fat16:cluster=16k,cluster=8k", "nosuch", "ext2:nosuch=1"),
    *("usb-stick-2g:used_bytes=64000001", "usb-stick-2g:from=x", "usb-stick-2g:from=./x", "slc-nand-64m", "ubifs"),
    *("arm64-1000:ram=16M", "arm64-1000:ram=1", "arm64-1000:cpu=nosuch", "mq-deadline:fifo_batch=-1", "9.9", "6.12"),
    *("bandwidth", "wear_max", "filesystem", "request", "write", "fsync", "fio", "bonnie", "job", "check", "seed"),
)
WORDS = (
    *("title", "board", "medium", "filesystem", "scheduler", "translation", "kernel", "seeds", "axes", "workload"),
    *(
        "answer",
        "figure",
        "table",
        "claim",
        "choice",
        "trace",
        "labels",
        "skip",
        "systems",
        "bytes_per_day",
        "power_cut",
    ),
    *("tool", "pattern", "request", "file", "flush", "processes", "queue_depth", "direct", "io_size", "job", "program"),
    *("compare", "metric", "by", "where", "x", "y", "series", "rows", "columns", "text", "relation", "along", "value"),
    *("kind", "capacity_bytes", "used_bytes", "source", "comand_ns", "mkfs", "check", "mount", "options", "programs"),
    *("", "a.b", "\N{SNOWMAN}", "a b", "k" * 300),
)

leaves = (
    st.sampled_from(TEXTS)
    | st.sampled_from(NUMBERS)
    | st.sampled_from(FLOATS)
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=20)
)
keys = st.sampled_from(WORDS) | st.text(max_size=8)
values = st.recursive(
    leaves, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(keys, inner, max_size=3), max_leaves=6
)


COMMANDS = st.sampled_from(("run", "run", "run", "run", "export", "allow", "report"))


@dataclass(frozen=True)
class Input:
    """A study and the files beside it, by path; bytes, for not all of them are texts."""

    study: bytes
    beside: dict[str, bytes] = field(default_factory=dict)
    command: str = "run"


# --- TOML -----------------------------------------------------------------------------------------------------------


def toml(data: dict[str, Any]) -> str:
    """A table as TOML, one key a line, so that each has a line of its own."""
    tables = {key: value for key, value in data.items() if isinstance(value, dict)}
    arrays = {key: value for key, value in data.items() if _is_tables(value)}
    plain = {key: value for key, value in data.items() if key not in tables and key not in arrays}
    lines = [f"{_text(key)} = {_value(value)}" for key, value in plain.items()]
    for key, table in tables.items():
        lines += [f"[{_text(key)}]", *(f"{_text(name)} = {_value(value)}" for name, value in table.items())]
    for key, entries in arrays.items():
        for table in entries:
            lines += [f"[[{_text(key)}]]", *(f"{_text(name)} = {_value(value)}" for name, value in table.items())]
    return "\n".join(lines) + "\n"


def _is_tables(value: object) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(entry, dict) for entry in value)


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(_value, value)) + "]"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_text(key)} = {_value(inner)}" for key, inner in value.items()) + "}"
    if isinstance(value, int):
        return str(value) if abs(value) < 10**4000 else "1" + "0" * 5000
    return repr(value) if isinstance(value, float) else str(value)


def _text(text: str) -> str:
    """A basic string; what may not stand in one as it is, escaped."""
    sound = text.encode("utf-8", "replace").decode()
    escaped = (letter if letter >= " " and letter not in '"\\\x7f' else f"\\u{ord(letter):04x}" for letter in sound)
    return f'"{"".join(escaped)}"'


# --- mutations ------------------------------------------------------------------------------------------------------


def _places(value: Any, way: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, one in inner:
        yield (*way, key)
        yield from _places(one, (*way, key))


def _like(value: Any) -> st.SearchStrategy[Any]:
    """Values to stand in the place of one: mostly of its type, so that what is behind the types is reached, too."""
    if isinstance(value, bool):
        return st.booleans() | values
    if isinstance(value, str):
        return st.sampled_from(TEXTS) | st.sampled_from(TEXTS) | st.text(max_size=20) | values
    if isinstance(value, int):
        return st.sampled_from(NUMBERS) | st.integers(0, 2 * abs(value) + 1) | st.integers() | values
    if isinstance(value, float):
        return st.sampled_from(FLOATS) | st.floats() | values
    if isinstance(value, list) and value:
        return st.lists(st.sampled_from(value) | st.sampled_from(TEXTS), max_size=4) | values
    return values


@st.composite
def mutated(draw: st.DrawFn, data: Any, most: int = 3) -> Any:
    """The same with up to `most` values or keys changed, taken away, doubled or moved."""
    data = copy.deepcopy(data)
    for _ in range(min(most, draw(st.sampled_from((0, 1, 1, 1, 2, 3))))):
        places = list(_places(data))
        if not places:
            return data
        way = draw(st.sampled_from(places))
        around = data
        for key in way[:-1]:
            around = around[key]
        last = way[-1]
        match draw(st.sampled_from(("replace", "replace", "remove", "rename", "add", "wrap", "deepen"))):
            case "replace":
                around[last] = draw(_like(around[last]))
            case "remove":
                del around[last]
            case "rename" if isinstance(around, dict):
                around[draw(keys)] = around.pop(last)
            case "add":
                if isinstance(around, dict):
                    around[draw(keys)] = draw(values)
                else:
                    around.append(draw(values))
            case "wrap":
                around[last] = [around[last]] if draw(st.booleans()) else {draw(keys): around[last]}
            case "deepen":
                for _ in range(draw(st.sampled_from((3, 20, 90, 500)))):
                    around[last] = [around[last]]
    return data


@st.composite
def damaged(draw: st.DrawFn, text: bytes) -> bytes:
    """Bytes with something cut, put in or doubled."""
    at = draw(st.integers(0, len(text)))
    what = draw(st.sampled_from(("cut", "insert", "double", "bom", "utf-16", "cr", "keep")))
    junk = (
        b"\0",
        b"\xff\xfe",
        b"[",
        b"]",
        b"{",
        b'"',
        b"'''",
        b"=",
        b"\r",
        b"[" * 2000,
        b"a." * 800 + b"a=1\n",
        b"9" * 5000,
    )
    match what:
        case "cut":
            return text[:at]
        case "insert":
            return text[:at] + draw(st.sampled_from(junk) | st.binary(max_size=8)) + text[at:]
        case "double":
            return text[:at] + text[draw(st.integers(0, at)) : at] + text[at:]
        case "bom":
            return b"\xef\xbb\xbf" + text
        case "utf-16":
            return text.decode(errors="replace").encode("utf-16")
        case "cr":
            return text.replace(b"\n", b"\r")
    return text


def _dumped(data: dict[str, Any]) -> bytes:
    try:
        return toml(data).encode()
    except RecursionError:
        return b"a = " + b"[" * 3000 + b"]" * 3000 + b"\n"


# --- studies and profiles -------------------------------------------------------------------------------------------


def _shipped_studies() -> list[dict[str, Any]]:
    return [tomllib.loads(file.read_text()) for file in sorted(paths.studies().glob("*.toml"))]


def _shipped_profiles() -> list[tuple[Kind, dict[str, Any]]]:
    return [
        (kind, tomllib.loads(file.read_text()))
        for kind, folder in FOLDERS.items()
        for file in sorted((paths.profiles() / folder).glob("*.toml"))
    ]


def _small(study: dict[str, Any], *, refers: bool) -> dict[str, Any]:
    """A few cells of a shipped study, so that running it takes no time."""
    axes = {name: found[:2] for name, found in study.get("axes", {}).items()}
    kept = {key: value for key, value in study.items() if refers or key not in REFERS}
    return {**kept, "axes": axes, "seeds": 1}


@st.composite
def studies(draw: st.DrawFn) -> Input:
    """Shipped studies that were changed, free ones, and damaged texts of either."""
    beside = {file.name: file.read_bytes() for file in paths.studies().glob("*.fio")}
    match draw(st.sampled_from(("shipped", "shipped", "plain", "plain", "free", "job"))):
        case "shipped":
            data = _small(draw(st.sampled_from(_shipped_studies())), refers=draw(st.booleans()))
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
    """A profile beside a study that uses it: a shipped one that was changed, or a free one."""
    kind, shipped = draw(st.sampled_from(_shipped_profiles()))
    data = draw(mutated(shipped)) if draw(st.integers(0, 5)) else draw(st.dictionaries(keys, values, max_size=6))
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
    """What fio writes, as far as it is read."""
    idle = {"total_ios": 0, "runtime": 0, "io_bytes": 0, "lat_ns": {"mean": 0, "max": 0, "N": 0}}
    spent = {"mean": 1e6, "max": 9e6, "N": 64, "bins": {"1000000": 60, "9000000": 4}}
    busy = {"total_ios": 64, "runtime": 2000, "io_bytes": 262144, "lat_ns": spent, "clat_ns": spent}
    times = {"usr_cpu": 1.5, "sys_cpu": 3.25, "job_runtime": 2000}
    job = {"jobname": name, "error": 0, "read": idle, "write": busy, "sync": {"lat_ns": spent}, **times}
    return json.loads(json.dumps({"fio version": "fio-3.33", "global options": {"ramp_time": "5s"}, "jobs": [job]}))


@st.composite
def imports(draw: st.DrawFn, manifest: dict[str, Any]) -> tuple[bytes, dict[str, bytes]]:
    """The manifest of exported jobs, and what lies in the place of each job's result."""
    results = {}
    for entry in manifest["jobs"]:
        document = draw(mutated(fio_document(entry["name"])))
        text = _json(document)
        if draw(st.integers(0, 4)) == 0:
            text = draw(damaged(text))
        results[f"{entry['folder']}/results/{entry['name']}.json"] = text
    told = _json(draw(mutated(manifest))) if draw(st.integers(0, 2)) == 0 else _json(manifest)
    return (draw(damaged(told)) if draw(st.integers(0, 6)) == 0 else told), results


def _json(data: Any) -> bytes:
    try:
        return json.dumps(data).encode("utf-8", "replace")
    except (RecursionError, ValueError):
        return b'{"jobs": ' + b"[" * 100_000 + b"]" * 100_000 + b"}"
