# SPDX-License-Identifier: Apache-2.0
"""Locating changed lines in a kernel: from a diff, an object with line numbers and a table of symbols."""

import os
import subprocess
from pathlib import Path

import pytest

from flashbed.image.changed_code import (
    MODULE_AREA_BYTES,
    Module,
    NotLocated,
    Obstacle,
    Section,
    changed_lines,
    locate,
    never_code,
    sections,
    with_code,
)
from flashbed.image.module_code import ModuleSection
from tests.support.samples import write

DIFF = """\
diff --git a/fs/one.c b/fs/one.c
--- a/fs/one.c
+++ b/fs/one.c
@@ -3 +3,2 @@ int f(void)
-	return 1;
+	first();
+	return 2;
@@ -10,2 +10,0 @@ int g(void)
-	second();
-	third();
diff --git a/fs/gone.c b/fs/gone.c
--- a/fs/gone.c
+++ /dev/null
@@ -1 +0,0 @@
-int x;
diff --git a/fs/new.c b/fs/new.c
--- /dev/null
+++ b/fs/new.c
@@ -0,0 +1 @@
+int x;
"""


def test_a_diff_names_lines_of_the_new_file() -> None:
    assert changed_lines(DIFF) == {"fs/one.c": [3, 4, 11], "fs/new.c": [1]}


def test_lines_of_a_hunk_are_no_heads() -> None:
    """An added "++ x" is "+++ x" in the diff. A form feed ends no line. A note follows a line without a line end."""
    changes = "+++ other.c\n--- a/other.c\n+\fa\n@@ -1 +9 @@\n\\ No newline at end of file\n"
    more = "@@ -20 +30 @@\n-a\n\\ No newline at end of file\n+b\n"
    diff = f"--- a/one.c\n+++ b/one.c\n@@ -5,2 +5,2 @@\n{changes}{more}"
    assert changed_lines(diff) == {"one.c": [5, 6, 30]}


HEADER = """\
static int __attribute__((noinline, noclone)) of_header(int a)
{
	return a * 3;
}
"""

SOURCE = """\
#include "include/one.h"

__attribute__((section(".init.text"))) int early(int a)
{
	return of_header(a + 1);
}

int first(int a)
{
	return of_header(a) + 1;
}

int second(int a)
{
	return a - 7;
}

int alias(int) __attribute__((alias("second")));
"""


@pytest.fixture(scope="module", params=["-gdwarf-4", "-gdwarf-5"])
def compiled(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Section]:
    """Return the sections of an object that have functions, by name. Its first function is in a header."""
    folder = tmp_path_factory.mktemp("compiled")
    write(folder / "include/one.h", HEADER)
    write(folder / "fs/one.c", SOURCE)
    flags = ["-O2", "-g1", request.param, f"-ffile-prefix-map={folder}=.", "-fcf-protection=none", "-I."]
    subprocess.run(["cc", "-c", *flags, "-o", "one.o", "./fs/one.c"], cwd=folder, check=True)
    return {section.name: section for section in sections(folder / "one.o") if section.functions}


def places(section: Section, function: str) -> set[str]:
    """Return the lines that a function has code of."""
    (begin,) = (start for start, names in section.functions.items() if function in names)
    return {place for place, offset, of in section.instructions if of == begin <= offset < section.end_of(begin)}


def test_each_instruction_has_its_line_and_its_function(compiled: dict[str, Section]) -> None:
    """objdump named the lines of the first function after fs/one.c, although it is in a header."""
    text, init = compiled[".text"], compiled[".init.text"]
    assert sorted(map(sorted, text.functions.values())) == [["alias", "second"], ["first"], ["of_header"]]
    assert text.functions[0] == {"of_header"}
    assert places(text, "of_header") <= {"include/one.h:2", "include/one.h:3", "include/one.h:4"}
    assert "include/one.h:3" in places(text, "of_header")
    assert "fs/one.c:10" in places(text, "first")
    assert places(text, "second") <= {"fs/one.c:14", "fs/one.c:15", "fs/one.c:16"}
    assert init.functions == {0: {"early"}}
    assert places(init, "early") <= {"fs/one.c:4", "fs/one.c:5", "fs/one.c:6"}


def test_a_section_lies_where_all_its_functions_fit() -> None:
    text = Section(".text", 12, {0: {"first"}, 8: {"second"}})
    assert [text.end_of(0), text.end_of(8)] == [8, 12]
    assert text.base({"first": [0x100, 0x900], "second": [0x408, 0x908]}) == 0x900
    assert text.base({"second": [0x408]}) == 0x400
    assert text.base({"first": [0x100, 0x900], "second": [0x108, 0x908]}) is None, "two places fit"
    assert text.base({"first": [0x100], "second": [0x208]}) is None, "none fits"
    assert Section(".init.text", 4, {0: {"third"}}).base({"first": [0x100]}) is None, "none is known"


def test_a_function_of_two_names_lies_where_one_of_them_is_known() -> None:
    """A weak name may be another function's in the kernel."""
    text = Section(".text", 12, {0: {"weak", "own"}, 8: {"second"}})
    assert text.base({"weak": [0x5000], "own": [0x100], "second": [0x108]}) == 0x100


FUNCTION = ["int f(int a)", "{", "\tint b;", "", "\t/* why */", "\tif (!a)", "\t\ta = 1;", "\treturn a;", "}", "int g;"]


@pytest.mark.parametrize(("line", "beside"), [(6, 6), (7, 6), (8, 8), (3, 1), (10, None)])
def test_a_line_without_code_of_its_own_goes_with_one_beside_it_in_its_function(line: int, beside: int | None) -> None:
    assert with_code(FUNCTION, line, {1, 6, 8}) == beside


def test_the_first_line_of_a_function_goes_with_the_next() -> None:
    assert with_code(FUNCTION, 1, {6, 8}) == 6


def test_a_macro_has_no_code() -> None:
    text = ["#define f(a) \\", "\tg(a)", "int h(void)", "{", "\treturn 1;", "}"]
    assert with_code(text, 1, {5}) is None
    assert with_code(text, 2, {5}) is None


@pytest.mark.parametrize(("line", "nothing"), [(2, True), (4, True), (5, True), (6, False), (99, True)])
def test_nobody_asks_whether_a_comment_ran(line: int, nothing: bool) -> None:
    assert never_code(FUNCTION, line) == nothing


def test_where_changed_lines_are_in_a_kernel(tmp_path: Path) -> None:
    """A tree of one object, as make leaves it, and the symbols of the linked kernel."""
    tree, flags = tmp_path / "tree", "-O2 -fcf-protection=none -ffile-prefix-map=$(pwd)=. -I."
    write(tree / "include/one.h", HEADER)
    write(tree / "fs/one.c", SOURCE)
    write(tree / "fs/other.c", "int x;\n")
    command = f"cc {flags} -Wp,-MMD,fs/.one.o.d -c -o fs/one.o ./fs/one.c ; true"
    write(tree / "fs/.one.o.cmd", f"savedcmd_fs/one.o := {command}\n\ndeps_fs/one.o := include/one.h fs/one.c\n")
    at = {"_text": 0x1000, "of_header": 0x2000, "first": 0x2010, "second": 0x2020, "early": 0x9000}
    table = write(tmp_path / "System.map", "".join(f"{address:x} t {name}\n" for name, address in at.items()))
    lines = {"fs/one.c": [1, 5, 9, 10, 15], "fs/other.c": [1], "include/one.h": [3]}
    changed = locate(tree, table, lines, lambda: os.environ, tmp_path)
    assert changed.not_located == {
        "fs/other.c": NotLocated(Obstacle.NOT_IN_KERNEL),
        "fs/one.c:1": NotLocated(Obstacle.NO_CODE),
    }
    of = {line: {address & ~0xF for address in addresses} for line, addresses in changed.code.items()}
    assert of == {"include/one.h:3": {0x2000}, "fs/one.c:5": {0x9000}, "fs/one.c:10": {0x2010}, "fs/one.c:15": {0x2020}}
    assert [begin for begin, _ in changed.functions] == [0x2000, 0x2010, 0x2020, 0x9000]
    assert (changed.modules, changed.module_area) == ([], (0x1000 - MODULE_AREA_BYTES, 0x1000))


def test_an_object_that_cannot_be_compiled_again_is_told(tmp_path: Path) -> None:
    write(tmp_path / "fs/one.c", "int first(int a)\n{\n\treturn a;\n}\n")
    write(tmp_path / "fs/.one.o.cmd", "savedcmd_fs/one.o := false -c -o fs/one.o fs/one.c\n")
    table = write(tmp_path / "System.map", "1000 T _text\n")
    changed = locate(tmp_path, table, {"fs/one.c": [3]}, lambda: os.environ, tmp_path)
    assert (changed.code, changed.functions) == ({}, [])
    assert changed.not_located["fs/one.o"] == NotLocated(Obstacle.NOT_COMPILED)


def test_lines_of_a_module_are_told_by_the_addresses_of_its_sections(tmp_path: Path) -> None:
    write(tmp_path / "fs/one.c", "int first(int a)\n{\n\treturn a * 5;\n}\n")
    subprocess.run(["cc", "-c", "-O2", "-g1", "-o", "one.o", "fs/one.c"], cwd=tmp_path, check=True)
    text = ModuleSection(".text", 1 << 40, b"", frozenset())
    module = Module(
        ("fs",), sections(tmp_path / "one.o"), [text, ModuleSection(".init.text", 1 << 41, b"", frozenset())]
    )
    table = write(tmp_path / "System.map", "1000 T _text\n")
    lines = {"fs/one.c": [3], "fs/left-out.c": [1]}
    located = locate(tmp_path, table, lines, lambda: os.environ, tmp_path, [module])
    assert located.not_located == {"fs/left-out.c": NotLocated(Obstacle.NOT_IN_KERNEL)}
    assert (located.functions, located.modules) == ([], [text])
    assert {address >> 4 for address in located.code["fs/one.c:3"]} == {1 << 36}
    assert located.watched == [located.module_area]
