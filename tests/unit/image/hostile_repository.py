# SPDX-License-Identifier: Apache-2.0
"""A repository whose every setting that can name a program names one that leaves a mark.

The programs do what git expects of them (a filter passes its bytes on), so that none keeps git from starting the next.
"""

from __future__ import annotations

import shutil
from pathlib import Path

from tests.support.made_up_kernel import commit, git, make

HOOKS = (
    *("applypatch-msg", "commit-msg", "fsmonitor-watchman", "p4-changelist", "p4-post-changelist", "p4-pre-submit"),
    *("p4-prepare-changelist", "post-applypatch", "post-checkout", "post-commit", "post-index-change", "post-merge"),
    *("post-receive", "post-rewrite", "post-update", "pre-applypatch", "pre-auto-gc", "pre-commit", "pre-merge-commit"),
    *("pre-push", "pre-rebase", "pre-receive", "prepare-commit-msg", "proc-receive", "push-to-checkout"),
    *("reference-transaction", "sendemail-validate", "update"),
)

COMMANDS = (
    "ls-files",
    "update-index",
    "write-tree",
    "rev-parse",
    "cat-file",
    "diff-tree",
    "read-tree",
    "apply",
    "config",
)

_ATTRIBUTES = "*.c filter=trap diff=trap merge=trap\n"


def configuration(programs: Path) -> str:
    """Return a configuration that names a program in every setting that can name one."""
    trap = {name: trap_at(programs, name) for name in _NAMES}
    aliases = "".join(f"\t{name} = !{trap['alias']}\n" for name in (*COMMANDS, "add", "status"))
    return f"""\
[core]
\trepositoryformatversion = 1
\tfsmonitor = {trap["fsmonitor"]}
\thooksPath = {programs / "hooks"}
\teditor = {trap["editor"]}
\tpager = {trap["pager"]}
\tsshCommand = {trap["ssh"]}
\taskPass = {trap["askpass"]}
\tgitProxy = {trap["proxy"]}
\talternateRefsCommand = {trap["alternates"]}
\tuntrackedCache = true
[filter "trap"]
\tclean = {trap["clean"]}
\tsmudge = {trap["smudge"]}
[filter "other"]
\tprocess = {trap["process"]}
\trequired = true
[diff]
\texternal = {trap["external"]}
\tignoreSubmodules = none
[diff "trap"]
\tcommand = {trap["diff"]}
\ttextconv = {trap["textconv"]}
\tcachetextconv = true
[merge "trap"]
\tdriver = {trap["merge"]}
[credential]
\thelper = !{trap["credential"]}
[gpg]
\tprogram = {trap["gpg"]}
[log]
\tshowSignature = true
[interactive]
\tdiffFilter = {trap["interactive"]}
[pager]
\tdiff-tree = {trap["pager"]}
\tls-files = {trap["pager"]}
[sequence]
\teditor = {trap["editor"]}
[uploadpack]
\tpackObjectsHook = {trap["pack"]}
[protocol "ext"]
\tallow = always
[submodule]
\trecurse = true
[remote "origin"]
\turl = ext::{trap["transport"]} %S
\tpromisor = true
\tpartialclonefilter = blob:none
[extensions]
\tpartialClone = origin
[alias]
{aliases}"""


_NAMES = (
    *(
        "fsmonitor",
        "editor",
        "pager",
        "ssh",
        "askpass",
        "proxy",
        "alternates",
        "clean",
        "smudge",
        "process",
        "external",
    ),
    *("diff", "textconv", "merge", "credential", "gpg", "interactive", "pack", "transport", "alias"),
)


def trap_at(programs: Path, name: str) -> Path:
    """Write a program that leaves a mark of this name and passes its input on."""
    programs.mkdir(parents=True, exist_ok=True)
    program = programs / name
    # A file system monitor is asked with its version and a time; nothing more is known
    rest = "exit 1" if name in ("fsmonitor", "fsmonitor-watchman", "process", "transport") else "cat; exit 0"
    program.write_text(f"#!/bin/sh\ntouch '{marks_of(programs)}'/{name}\n{rest}\n")
    program.chmod(0o755)
    return program


def marks_of(programs: Path) -> Path:
    """Return the directory of the marks."""
    folder = programs.parent / "marks"
    folder.mkdir(exist_ok=True)
    return folder


def marks(programs: Path) -> list[str]:
    """Return the programs that ran."""
    return sorted(path.name for path in marks_of(programs).iterdir())


def lay_traps(directory: Path, programs: Path) -> None:
    """Make a git directory hostile."""
    (directory / "info").mkdir(exist_ok=True)
    (directory / "info/attributes").write_text(_ATTRIBUTES)
    (directory / "more").write_text(configuration(programs))
    own = (directory / "config").read_text()
    include = f'[include]\n\tpath = {directory / "more"}\n[includeIf "gitdir:/**"]\n\tpath = {directory / "more"}\n'
    (directory / "config").write_text(configuration(programs) + own + include)
    for folder in (directory / "hooks", programs / "hooks"):
        folder.mkdir(exist_ok=True)
        for hook in HOOKS:
            shutil.copy(trap_at(programs, hook), folder / hook)


def make_home(folder: Path, programs: Path) -> Path:
    """Make a home whose git configuration names the same programs."""
    (folder / ".config/git").mkdir(parents=True)
    (folder / ".gitconfig").write_text(configuration(programs))
    (folder / ".config/git/attributes").write_text(_ATTRIBUTES)
    return folder


def make_tree(folder: Path, programs: Path) -> Path:
    """Make a kernel tree with the tags `one` and `two`, a submodule, a directory that only looks like a repository, and
    uncommitted changes, with all traps.
    """
    linux = make(folder)
    (linux / ".gitattributes").write_text(_ATTRIBUTES + "Kbuild filter=other\n")
    inner = linux / "tools/inner"
    inner.mkdir(parents=True)
    (inner / "file.c").write_text("int inner;\n")
    commit(inner, "inner")
    commit(linux, "one")
    (linux / "fs/two.c").write_text("int two;\n")
    commit(linux, "two")
    (linux / "fs/own").mkdir()
    (linux / "fs/own/file.c").write_text("int own;\n")
    commit(linux / "fs/own", "own")
    for folder in (linux, inner, linux / "fs/own"):
        lay_traps(folder / ".git", programs)
    (inner / "file.c").write_text("int changed;\n")
    (linux / "fs/one.c").write_text((linux / "fs/one.c").read_text() + "int more;\n")
    (linux / "fs/new.c").write_text("int new;\n")
    (linux / "Kbuild").write_text("# changed\n")
    return linux


def beside(linux: Path, folder: Path) -> Path:
    """Make another working tree of the same repository, without triggering its traps."""
    config = (linux / ".git/config").read_bytes()
    (linux / ".git/config").write_text("[core]\n\tbare = false\n")
    git(linux, "-c", "core.hooksPath=/dev/null", "worktree", "add", "--quiet", "--detach", str(folder), "two")
    (linux / ".git/config").write_bytes(config)
    return folder
