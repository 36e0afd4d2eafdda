# SPDX-License-Identifier: Apache-2.0
"""docs/design.md matches the code: its tables name every room and every module, and no other. Functions stay short."""

from __future__ import annotations

import ast
import re
import subprocess
import tomllib
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

from flashbed.result.metrics import METRICS
from tests.support.repository import REPOSITORY

LAB = REPOSITORY / "src/flashbed"

PACKAGES = {"flashbed": "## Rooms", "flashbed_appliance": "## The appliance's rooms"}
"""Each package with the heading of its table."""


def rooms_on_the_map(package: str) -> dict[str, set[str]]:
    """Return the rows of the table of rooms: a room, and the modules in its last column."""
    text = (REPOSITORY / "docs/design.md").read_text().partition(f"{PACKAGES[package]}\n")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| `([\w./]+)` \| .* \| ([^|]*)\|$", text, re.MULTILINE)
    begun = re.findall(r"^\| `([^`]+)`", text, re.MULTILINE)
    assert [room for room, _ in rows] == list(dict.fromkeys(begun)) == begun, "each room has one row of three columns"
    return {room.rstrip("/"): set(re.findall(r"`([\w/]+)`", modules)) for room, modules in rows}


@pytest.mark.parametrize("package", PACKAGES)
def test_the_map_names_every_room_and_module_and_no_other(package: str) -> None:
    root = REPOSITORY / "src" / package
    there = {
        folder.name: {
            str(file.relative_to(folder).with_suffix("")) for file in folder.rglob("*.py") if file.name != "__init__.py"
        }
        for folder in root.iterdir()
        if (folder / "__init__.py").is_file()
    }
    alone: dict[str, set[str]] = {file.name: set() for file in root.glob("*.py") if file.name != "__init__.py"}
    assert rooms_on_the_map(package) == {**there, **alone}


@pytest.mark.parametrize("package", PACKAGES)
def test_the_map_has_the_order_that_the_linter_holds(package: str) -> None:
    linter = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())["tool"]["importlinter"]
    layers = [layer for contract in linter["contracts"] for layer in contract.get("layers", [])]
    names = [name.strip() for layer in layers for name in layer.split("|")]
    held = [name.removeprefix(f"{package}.") for name in names if name.startswith(f"{package}.")]
    assert held == [room.removesuffix(".py") for room in rooms_on_the_map(package)]


def test_the_map_beside_the_lab_names_every_folder_and_no_other() -> None:
    block = (REPOSITORY / "docs/design.md").read_text().partition("## Beside the lab\n```\n")[2].partition("\n```")[0]
    named = set()
    for line in block.splitlines():
        whole = re.match(r"[\w/]+/(?= )", line)
        if whole:
            above = whole[0].split("/")[0]
            named.add(whole[0].rstrip("/"))
        part_of = re.match(r"  ((?:\w+/ )+)", line)  # the rows below media/; what tests/ has is in its sentence
        named |= {f"{above}/{part.rstrip('/')}" for part in (part_of[1].split() if part_of else ())}
        if above == "tests":
            named |= {f"tests/{part}" for part in re.findall(r"(?<= )(\w+)/", line)}
    folders = [Path(name).parts[:-1] for name in tracked_names()]
    there = {parts[0] for parts in folders if parts} | {
        "/".join(parts[:2]) for parts in folders if len(parts) > 1 and parts[0] in ("kernel", "media", "tests")
    }
    assert named | {"kernel"} == there - {".ci", "LICENSES", "docs", "src"}


def test_what_the_map_tells_to_touch_is_there() -> None:
    text = (REPOSITORY / "docs/design.md").read_text().partition("## To add something")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| an? ([\w ]+?)(?:,[^|]*)? \|", text, re.MULTILINE)
    assert rows[:7] == [
        "parameter of a medium",
        "file system",
        "workload",
        "metric",
        "kind of figure",
        "kind of machine",
        "scheduler",
    ]
    named = re.findall(r"`((?:[\w-]+/)+(?:[\w.-]+\.\w+|Kbuild|))`", text)
    assert len(named) > 30
    for name in named:
        if "NAME" in name:
            name = str(Path(name).parent)
        assert (REPOSITORY / name).exists() or (LAB / name).exists(), name


def test_the_map_tells_who_names_the_only_kind_of_machine() -> None:
    row = re.search(r"^\| a kind of machine \|.*$", (REPOSITORY / "docs/design.md").read_text(), re.MULTILINE)
    assert row is not None
    callers = {
        str(file.relative_to(LAB))
        for file in LAB.rglob("*.py")
        if file.parent.name != "machine"
        and re.search(r"^from flashbed\.machine(\.qemu import|.* import .*\bqemu\b)", file.read_text(), re.MULTILINE)
    }
    assert set(re.findall(r"`((?:execution|replay)/\w+\.py)`", row[0])) == callers


def test_the_page_on_studies_names_every_metric() -> None:
    """By its name, or by its base with a suffix: "each of them with `_erases`"."""
    page = (REPOSITORY / "docs/studies.md").read_text()
    words = {word.replace("-", "_") for word in re.findall(r"`\"?([\w-]+)\"?`", page)}
    suffixes = [word for word in words if word.startswith("_")]

    def is_named(metric: str) -> bool:
        return metric in words or any(
            metric.endswith(suffix) and metric.removesuffix(suffix) in words for suffix in suffixes
        )

    assert len(METRICS) > 100
    assert [metric for metric in METRICS if not is_named(metric)] == []


def test_no_line_of_the_docs_is_longer_than_120() -> None:
    """Tables, images and output of commands are exempt."""
    for page in (*REPOSITORY.glob("*.md"), *(REPOSITORY / "docs").rglob("*.md")):
        prose = re.sub(r"^```.*?^```", "", page.read_text(), flags=re.MULTILINE | re.DOTALL)
        assert not [line for line in prose.splitlines() if len(line) > 120 and not line.startswith(("|", "!["))], page


MOST_MODULES = 200
"""The most modules of the lab; docs/design.md gives the reason."""


def test_the_lab_has_few_modules() -> None:
    modules = [file for file in LAB.rglob("*.py") if file.name != "__init__.py"]
    assert len(modules) <= MOST_MODULES
    assert f"at most {MOST_MODULES} modules" in " ".join((REPOSITORY / "docs/design.md").read_text().split())


BESIDE_THE_LAB = {"appliance", "bench", "faults", "house", "pages"}


def test_no_two_rooms_of_the_lab_have_a_module_of_one_name() -> None:
    rooms: dict[str, set[str]] = {}
    for room, modules in rooms_on_the_map("flashbed").items():
        for module in modules:
            rooms.setdefault(module.rpartition("/")[2], set()).add(room)
    assert len(rooms) > 150
    assert {module: names for module, names in rooms.items() if len(names) > 1} == {}


def test_unit_tests_lie_in_the_folder_of_a_room() -> None:
    tests = [Path(name).parts for name in tracked_names("tests/*.py") if name != "tests/conftest.py"]
    assert {parts[1] for parts in tests} == {"e2e", "machine", "support", "unit"}
    assert {parts[2] for parts in tests if parts[1] == "unit"} <= {*rooms_on_the_map("flashbed"), *BESIDE_THE_LAB}


def test_no_program_changes_where_modules_are_looked_for() -> None:
    """The directories beside the lab are packages: pytest's pythonpath, or `python -m`, has their parent."""
    programs = tracked("tests/*.py", "pages/*.py", "bench/*.py", "faults/*.py")
    assert [name for name, text in programs if re.search(r"^ *sys\.path\.\w+\(", text, re.MULTILINE)] == []


SENTENCE_LENGTH = 60

VERBATIM = {
    "appliance/nas/test_appliance_prepared.py": "the arguments of mount",
    "appliance/shrinking/test_fragment.py": "a kernel configuration",
    "appliance/shrinking/test_price_list.py": "a line of JSON",
    "house/test_gate.py": "the commands that the gate runs",
    "image/test_own_module_source.py": "the errors of modpost and make",
    "pages/test_papers_page.py": "a row of a table",
    "pages/test_reliability.py": "a row of a table",
    "workload/test_bonnie.py": "a script of the guest",
    "workload/test_iozone.py": "the commands that IOzone is called by",
    "workload/test_nfs_output.py": "the arguments of the load",
    "workload/test_own_job.py": "a job file of fio",
    "workload/test_program.py": "scripts of the guest",
}
"""Unit tests that compare a long text byte for byte, with the text, which a program reads or which is a row of a page.
"""


MATCHING = {"startswith", "endswith", "search", "match", "fullmatch", "count", "index"}
"""Methods that compare a text with their argument."""


def pinned_texts(tree: ast.AST) -> Iterator[str]:
    """Return texts with spaces, longer than a sentence, that an assert compares or an error must match. Of an f-string
    only the fixed parts count.
    """
    compared: list[ast.AST] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Assert):
            for part in ast.walk(node.test):
                if isinstance(part, ast.Compare):
                    compared.append(part)
                elif isinstance(part, ast.Call) and isinstance(part.func, ast.Attribute) and part.func.attr in MATCHING:
                    compared += part.args
        elif isinstance(node, ast.keyword) and node.arg == "match":
            compared.append(node.value)
    for part in {part for root in compared for part in ast.walk(root)}:
        fixed = part.values if isinstance(part, ast.JoinedStr) else [part]
        text = "".join(of.value for of in fixed if isinstance(of, ast.Constant) and isinstance(of.value, str))
        if len(text) > SENTENCE_LENGTH and " " in text:
            yield text


def test_tests_pin_facts_and_no_sentences() -> None:
    """A sentence may be reworded at any time. tests/support/facts.py compares the facts that it must hold."""
    pinned = {name: list(pinned_texts(ast.parse(text))) for name, text in tracked("tests/*.py")}
    allowed = {f"tests/unit/{name}" for name in VERBATIM}
    assert {name: texts for name, texts in pinned.items() if texts and name not in allowed} == {}
    assert sorted(name for name in allowed if not pinned[name]) == []


FUNCTION_LINES, C_LINES = 60, 500

LONG_BECAUSE = re.compile(r"\bLong because\b")
"""The begin of the sentence in the comment at the head of a C file that says why the file is longer."""


def tracked_names(*patterns: str) -> list[str]:
    """Return the paths of the repository's files of these names; of all files if no name is given."""
    listed = subprocess.run(
        ["git", "-c", "safe.directory=*", "ls-files", "--cached", "--others", "--exclude-standard", *patterns],
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    return [name for name in listed.splitlines() if (REPOSITORY / name).is_file()]


def tracked(*patterns: str) -> Iterator[tuple[str, str]]:
    """Return path and text of the repository's files of these names."""
    return ((name, (REPOSITORY / name).read_text()) for name in tracked_names(*patterns))


def python_functions(text: str) -> Iterator[tuple[str, int]]:
    """Return name and length of each function."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node.name, (node.end_lineno or node.lineno) - node.lineno + 1


def c_functions(text: str) -> Iterator[tuple[str, int]]:
    """Return name and length of each C function in Linux's style: its braces stand alone in the first column."""
    lines = text.splitlines()
    for at, line in enumerate(lines):
        if line == "{" and at:
            name = re.search(r"(\w+)\(", lines[at - 1]) or re.search(r"(\w+)\(", lines[max(at - 2, 0)])
            yield (name[1] if name else f"line {at}"), lines.index("}", at) - at + 2


def test_no_c_file_is_longer_than_500_lines_without_a_reason() -> None:
    files = dict(tracked("media/*.[ch]", "kernel/*.[ch]", "sfsload/*.[ch]"))
    assert len(files) > 150
    long = {name: text for name, text in files.items() if text.count("\n") > C_LINES}
    assert [name for name, text in long.items() if not LONG_BECAUSE.search(text.partition("*/")[0])] == []


def test_no_function_is_longer_than_60_lines() -> None:
    long_functions = [
        *((name, function) for name, text in tracked("*.py") for function in python_functions(text)),
        *((name, function) for name, text in tracked("*.c", "*.h") for function in c_functions(text)),
    ]
    assert len(long_functions) > 5000
    names = [(f"{file}: {name}", length) for file, (name, length) in long_functions]
    assert [(name, length) for name, length in names if length > FUNCTION_LINES] == []


def test_long_functions_would_be_found() -> None:
    assert list(python_functions("def f():\n" + "    x\n" * 70)) == [("f", 71)]
    assert list(c_functions("static int f(int x)\n{\n" + "\tx;\n" * 70 + "}\n")) == [("f", 73)]


def test_guests_are_booted_in_one_place() -> None:
    """Except in the lab itself, tests and pages boot guests through tests/support/guest_rig.py."""
    text = {name: text for name, text in tracked("tests/*.py", "pages/*.py", "bench/*.py") if "test_house" not in name}
    assert [name for name in text if ".write_initramfs(" in text[name]] == ["tests/support/guest_rig.py"]


def test_no_two_files_of_tests_have_one_name() -> None:
    """Python imports the first module of a name, so another file's tests would not run."""
    names = [Path(name).name for name, _text in tracked("tests/*.py")]
    assert len(names) > 200
    assert sorted({name for name in names if names.count(name) > 1 and name != "conftest.py"}) == []


def test_no_mark_of_a_merge_is_left() -> None:
    left = re.compile(r"^(<<<<<<<|=======|>>>>>>>)( |$)", re.MULTILINE)
    text = dict(tracked("*.md", "docs/*.md", "studies/*", "profiles/*"))
    assert len(text) > 60
    assert [name for name in text if left.search(text[name])] == []


def types_of(text: str) -> Iterator[str]:
    """Return the classes of a file, and the names that it gives to types: `Name = ...`, `Name: TypeAlias = ...`."""
    tree = ast.parse(text)
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.Assign | ast.AnnAssign) and node.col_offset == 0:
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            yield from (
                target.id
                for target in targets
                if isinstance(target, ast.Name) and re.fullmatch(r"_*[A-Z]\w*[a-z]\w*", target.id)
            )


def test_no_two_files_have_a_type_of_one_name() -> None:
    files: dict[str, list[str]] = {}
    for path, text in tracked("src/*.py"):
        for name in types_of(text):
            files.setdefault(name, []).append(path)
    assert len(files) > 300
    assert {name: paths for name, paths in files.items() if len(paths) > 1} == {}


def test_types_would_be_found() -> None:
    text = "class A: pass\nPlace = tuple[str, ...]\nText: TypeAlias = str\n_Any = TypeVar('_Any')\nMOST = 3\nname = 1\n"
    assert list(types_of(text)) == ["A", "Place", "Text", "_Any"]


ONE_IN_EACH_MODULE = {"COMMANDS", "RECIPE_VERSION"}
"""Constants that several modules have, each with its own value: the commands of a module in commands/, and the number
to raise if a module of image/ makes something else of the same input.
"""


def constants_of(text: str) -> Iterator[tuple[str, str]]:
    """Return the public constants of a module, each with the text of its value."""
    for node in ast.parse(text).body:
        if isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
            (target,) = node.targets if isinstance(node, ast.Assign) else [node.target]
            pairs: Iterable[tuple[ast.expr, ast.expr]] = [(target, node.value)]
            if isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple):
                pairs = zip(target.elts, node.value.elts, strict=True)
            for name, value in pairs:
                if isinstance(name, ast.Name) and re.fullmatch("[A-Z][A-Z0-9_]+", name.id):
                    yield name.id, ast.unparse(value)


def test_no_two_modules_of_the_lab_have_a_constant_of_one_name_and_two_values() -> None:
    values: dict[str, set[str]] = {}
    for _, text in tracked("src/flashbed/*.py"):
        for name, value in constants_of(text):
            values.setdefault(name, set()).add(value)
    assert len(values) > 500
    assert {name for name, of_name in values.items() if len(of_name) > 1} == ONE_IN_EACH_MODULE


def test_constants_would_be_found() -> None:
    text = "A1, B2 = 1, 'b'\nC3: int = 3\nT = TypeVar('T')\n_D4 = 4\nclass E:\n    F5 = 5\nG6: int\n"
    assert list(constants_of(text)) == [("A1", "1"), ("B2", "'b'"), ("C3", "3")]
