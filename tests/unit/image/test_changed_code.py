# SPDX-License-Identifier: Apache-2.0
"""Where changed lines lie in a kernel: what a diff, a disassembler and a table of symbols say of it."""

import pytest

from flashbed.image.changed_code import changed_lines, says_nothing, sections, with_code

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

LISTING = """
Disassembly of section .text:

0000000000000000 <first>:
first():
./fs/one.c:3
   0:\tstp\tx29, x30, [sp, #-16]!
././include/linux/list.h:77 (discriminator 3)
   4:\tret

0000000000000008 <second>:
second():
fs/one.c:9
   8:\tret

Disassembly of section .init.text:

0000000000000000 <third>:
third():
./fs/one.c:20
   0:\tret
"""


def test_a_diff_names_lines_of_the_new_file() -> None:
    assert changed_lines(DIFF) == {"fs/one.c": [3, 4, 11], "fs/new.c": [1]}


def test_a_listing_gives_each_instruction_its_line_and_its_function() -> None:
    text, init = sections(LISTING)
    assert text.starts == {"first": 0, "second": 8}
    assert text.instructions == [("fs/one.c:3", 0, 0), ("include/linux/list.h:77", 4, 0), ("fs/one.c:9", 8, 8)]
    assert [text.end_of(0), text.end_of(8)] == [8, 12]
    assert init.instructions == [("fs/one.c:20", 0, 0)]


def test_a_section_lies_where_all_its_functions_fit() -> None:
    text, init = sections(LISTING)
    assert text.base({"first": [0x100, 0x900], "second": [0x408, 0x908]}) == 0x900
    assert text.base({"second": [0x408]}) == 0x400
    assert text.base({"first": [0x100, 0x900], "second": [0x108, 0x908]}) is None, "two places fit"
    assert text.base({"first": [0x100], "second": [0x208]}) is None, "none fits"
    assert init.base({"first": [0x100]}) is None, "none is known"


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
    assert says_nothing(FUNCTION, line) == nothing
