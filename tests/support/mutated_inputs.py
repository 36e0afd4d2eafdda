# SPDX-License-Identifier: Apache-2.0
"""Data as TOML, and changes to it that Hypothesis draws."""

from __future__ import annotations

import copy
import math
from collections.abc import Iterator
from typing import Any

from hypothesis import strategies as st

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


def toml(data: dict[str, Any]) -> str:
    """Return a table as TOML, with one key per line, so that each has a line of its own."""
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
    """Return a basic string, with escapes for characters that need them."""
    sound = text.encode("utf-8", "replace").decode()
    escaped = (letter if letter >= " " and letter not in '"\\\x7f' else f"\\u{ord(letter):04x}" for letter in sound)
    return f'"{"".join(escaped)}"'


def _places(value: Any, way: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, part in inner:
        yield (*way, key)
        yield from _places(part, (*way, key))


def _like(value: Any) -> st.SearchStrategy[Any]:
    """Draw values to replace one: mostly of its type, so that checks after the type checks are reached, too."""
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
    """Draw the data with up to `most` values or keys changed, removed, doubled or moved."""
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
    """Draw the bytes with some cut, inserted or doubled."""
    at = draw(st.integers(0, len(text)))
    damage = draw(st.sampled_from(("cut", "insert", "double", "bom", "utf-16", "cr", "keep")))
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
    match damage:
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
