#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Run distil on small texts, with each of the given programs: which parts it keeps, and that no truncated text crashes
it.
"""

import subprocess
import sys

USE = "int f(void) { return %s; }"

KEPT = [
    # declarations that emit code or data
    "int f(void) { return 0; }",
    "static int f(void) { return 0; }",
    "inline int f(void) { return 0; }",
    "int a;",
    "static const int a[] = { 1, 2 };",
    "extern int a = 1;",
    "struct s { int m; } a;",
    "int (*a)(int);",
    'asm(".globl x");',
    '_Static_assert(sizeof(int) == 4, "");',
    'extern typeof(f) g __attribute__((alias("f")));',
    "static inline __attribute__((__used__)) int f(void) { return 0; }",
    "#pragma GCC diagnostic push",
]

LEFT_OUT = [
    "extern int a;",
    "int f(int);",
    "extern int f(int) __attribute__((__pure__));",
    "struct s *f(struct t *t, int (*how)(void));",
    "static inline int f(void) { return 0; }",
    "extern inline __attribute__((__gnu_inline__)) int f(void) { return 0; }",
    "typedef unsigned long t;",
    "typedef int (*t)(int);",
    "typedef struct { int m; } t;",
    "struct s { int m; };",
    "struct __attribute__((packed)) s { char m; };",
    "enum e { A, B = 2 };",
    "enum { A = (1, 2), B };",
    "union u;",
    "static inline int f(void) { static int n; return n; }",
    "static inline const char *f(void) { return __func__; }",
    ";",
]

NAMED = [
    # the use, and the declaration that must stay
    ("f2()", "static inline int f2(void) { return 0; }"),
    ("f2()", "int f2(void);"),
    ("f2()", "extern unsigned long f2(void) __attribute__((__const__));"),
    ("f2()", "struct s *f2(int (*how)(void), char *);"),
    ("f2(1)", "extern void (*f2(int))(int);"),
    ("f2(1)", "extern int (*f2)(int);"),
    ("a", "extern int a;"),
    ("b", "extern int a, *b, c[3];"),
    ("a[0]", "extern char a[];"),
    ("a", 'register unsigned long a asm("rsp");'),
    ("a", 'extern __attribute__((section("x"))) typeof(int) a;'),
    ("B", "enum e { A, B = 2 };"),
    ("C", "enum { A = (1, 2), B, C };"),
    ("B", "struct s { enum { A, B } m; };"),
    ("(t)1", "typedef unsigned long t;"),
    ("(t)1", "typedef int (*t)(int);"),
    ("(t)1", "typedef int t[2];"),
    ("sizeof(t)", "typedef struct { int m; } t;"),
    ("sizeof(struct s)", "struct s { int m; };"),
    ("sizeof(struct s)", "struct __attribute__((packed)) s { char m; };"),
    ("sizeof(struct in)", "struct out { struct in { int m; } m; };"),
    ("sizeof(union u)", "union u { int a; char b; } __attribute__((packed));"),
    ("sizeof(enum e)", "enum e { A };"),
]

CHAINS = [
    # only the last is wanted, and it needs the others
    ["typedef int t;", "struct s { t m; };", "extern struct s a;", USE % "a.m"],
    [
        "enum { A };",
        "static inline int g(void) { return A; }",
        "static inline int h(void) { return g(); }",
        USE % "h()",
    ],
    ["typedef struct s t;", "struct s { int m; };", "extern t *a;", USE % "a->m"],
]


def distilled(program: str, text: str) -> str:
    done = subprocess.run([program], input=text, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, ""), (text, done.stderr)
    return done.stdout


def lines(program: str, *texts: str) -> list[str]:
    """Return the lines without the tags that are named first."""
    return [line for line in distilled(program, "\n".join(texts) + "\n").splitlines() if not is_tag(line)]


def is_tag(line: str) -> bool:
    words = line.split(" ")
    return len(words) == 2 and words[0] in ("struct", "union") and words[1].endswith(";")


def check(program: str) -> None:
    for text in KEPT:
        assert lines(program, text) == [text], text
    for text in LEFT_OUT:
        assert lines(program, text) == [], text
    for use, declared in NAMED:
        using = USE % use
        assert lines(program, declared, using) == [declared, using], (declared, use)
        assert lines(program, declared, USE % "other") == [USE % "other"] or "register" in declared, declared
    for chain in CHAINS:
        assert lines(program, *chain) == chain, chain
    member = ["extern int m;", "int f(struct s *s) { return s->m; }"]
    assert lines(program, *member) == member[1:]
    assert distilled(program, member[1]).splitlines()[0] == "struct s;"
    once = (
        'static inline int f(void) { static int __attribute__((__section__(".once"))) n; static int m; return n + m; }'
    )
    assert lines(program, once) == []
    [placed, using] = lines(program, once.replace("f(", "g("), once.replace("f(", "h("), USE % "0")
    assert placed.count("static __attribute__((__unused__, __section__") == 2, placed
    assert using == USE % "0"
    quoted = ['static const char a[] = "}; int b(\\"";', "static const char c = '\\'', d = '{';", "extern int b;"]
    assert lines(program, *quoted) == quoted[:2]
    assert lines(program, "extern int e;", "double a = 1.5e+3 + 0x1p-2;") == ["double a = 1.5e+3 + 0x1p-2;"]
    whole = "\n".join([*KEPT, *LEFT_OUT, *(declared for _, declared in NAMED), *quoted])
    for end in range(0, len(whole), 5):
        distilled(program, whole[:end])
        distilled(program, whole[end : end + 40])


for name in sys.argv[1:]:
    check(name)
