# SPDX-License-Identifier: Apache-2.0
"""The output of commands without a terminal, and pages that cannot be written."""

from __future__ import annotations

import errno
import logging
import os
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from flashbed import cli
from flashbed.cli import app
from flashbed.commands import terminal
from flashbed.common import progress
from flashbed.common.errors import HostResourceError, InputError
from flashbed.common.page import PageTable
from flashbed_appliance.shrinking import report
from flashbed_appliance.shrinking.report import KernelReport

NAMES = ", ".join(f"AN_OPTION_WITH_A_LONG_NAME_{number}" for number in range(20))


def _report(*_: object, **__: object) -> KernelReport:
    return KernelReport("A kernel", [], [PageTable("What it holds", ("Group", "Option"), [("Network", NAMES)])])


@pytest.mark.parametrize("command", [("shrink",), ("compare", "nas", "nas+pc")])
def test_a_table_in_a_pipe_is_as_wide_as_it_needs(command: tuple[str, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    monkeypatch.setattr(report, "of_one", _report)
    monkeypatch.setattr(report, "of_two", _report)
    printed = CliRunner().invoke(app, ["kernel", *command]).output
    assert f"Network  {NAMES}" in printed
    assert max(map(len, printed.splitlines())) < len(NAMES) + 20


def test_a_table_is_as_wide_as_columns_says(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    monkeypatch.setattr(report, "of_one", _report)
    printed = CliRunner().invoke(app, ["kernel", "shrink"]).output
    assert NAMES not in printed
    assert max(map(len, printed.splitlines())) <= 60


def _never(*_: object, **__: object) -> None:
    raise AssertionError("the work began")


TWO_KERNELS = """
from flashbed import entry
from flashbed_appliance.shrinking import report
report.of_two = lambda *_: report.KernelReport("Two kernels", ["A line."] * 10_000, [])
entry.main()
"""


@pytest.mark.parametrize("command", [("kernel", "shrink"), ("kernel", "compare", "a", "b"), ("compare", "a", "b")])
def test_a_page_that_cannot_be_written_is_told_before_the_work(
    command: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from flashbed.comparing import result_set

    for place, name in ((report, "of_one"), (report, "of_two"), (result_set, "pairs")):
        monkeypatch.setattr(place, name, _never)
    (tmp_path / "file").write_text("a file\n")
    for file, message in ((tmp_path, "is a folder"), (tmp_path / "file" / "page.html", "file is no folder")):
        done = CliRunner().invoke(app, [*command, "--html", str(file)])
        assert isinstance(done.exception, InputError)
        assert done.exception.message.startswith(f"--html {file}: ")
        assert message in done.exception.message
    assert (tmp_path / "file").read_text() == "a file\n"


def test_a_place_is_left_as_it_was(tmp_path: Path) -> None:
    link, old = tmp_path / "link.html", tmp_path / "old.html"
    link.symlink_to("elsewhere.html")
    old.write_text("a page\n")
    for file in (None, Path("/dev/stdout"), tmp_path / "new.html", tmp_path / "new" / "deep.html", link, old):
        terminal.check_page(file)
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["link.html", "new", "old.html"]
    assert old.read_text() == "a page\n"


def test_a_page_without_a_place_names_it() -> None:
    with pytest.raises(HostResourceError, match=r"/proc/page\.html: No such file"):
        terminal.check_page(Path("/proc/page.html"))


@pytest.mark.parametrize(("command", "page"), [(["nas", "--help"], ""), (["kernel", "compare", "a", "b"], "page.html")])
@pytest.mark.parametrize(("output", "status"), [("gone", 130), ("/dev/full", 4)])
def test_an_output_that_takes_nothing_has_its_status_and_the_page_is_there(
    command: list[str], page: str, output: str, status: int, tmp_path: Path
) -> None:
    """The command line in a process of its own, with two made-up kernels."""
    if page:
        command = [*command, "--html", str(tmp_path / page)]
    reading, writing = os.pipe() if output == "gone" else (None, os.open(output, os.O_WRONLY))
    if reading is not None:
        os.close(reading)
    program = [sys.executable, "-c", TWO_KERNELS, *command]
    done = subprocess.run(program, stdout=writing, stderr=subprocess.PIPE, text=True)
    os.close(writing)
    assert done.returncode == status
    assert done.stderr == ("" if output == "gone" else f"flashbed: {cli.FULL}\n")
    assert not page or "Two kernels" in (tmp_path / page).read_text()


def test_a_page_that_finds_no_room_is_named(tmp_path: Path) -> None:
    with pytest.raises(HostResourceError, match=r"^--html /dev/full: No space left on device"):
        terminal.write_page(Path("/dev/full"), "A page", ["A line."] * 10_000, [])


def test_a_page_replaces_a_file_as_a_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A link stays a link. If the host fails during the write, the old page stays."""
    page, link = tmp_path / "page.html", tmp_path / "link.html"
    page.write_text("old")
    link.symlink_to(page)
    monkeypatch.setattr(Path, "write_bytes", _no_space)
    with pytest.raises(HostResourceError, match="No space left on device"):
        terminal.write_page(link, "A page", ["A line."], [])
    assert page.read_text() == "old"
    monkeypatch.undo()
    terminal.write_page(link, "A page", ["A line."], [])
    assert link.is_symlink()
    assert "A line." in page.read_text()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["link.html", "page.html"]


def _no_space(path: Path, content: bytes) -> int:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


HOSTILE = "\x1b]0;title\x07\x1b[31mred\x9b2J\u202e:smile:"
SHOWN = r"\x1b]0;title\x07\x1b[31mred\x9b2J\x202e:smile:"


def test_foreign_text_does_not_reach_the_terminal_raw(capfd: pytest.CaptureFixture[str]) -> None:
    """Names of artefacts, titles and reasons, on each way to the terminal."""
    terminal.out.print(HOSTILE)
    terminal.say(HOSTILE)
    terminal.print_table(HOSTILE, (HOSTILE,), [(HOSTILE,)])
    with progress.stage(HOSTILE) as stage:
        stage.note(HOSTILE)
    logger = logging.getLogger("hostile")
    logger.addHandler(handler := logging.StreamHandler(sys.stderr))
    handler.setFormatter(terminal.PlainFormatter())
    logger.warning("%s", HOSTILE)
    with pytest.raises(SystemExit):
        cli._leave(HOSTILE, 1)
    output = capfd.readouterr()
    assert output.out.count(SHOWN) == 5
    assert output.err.count(SHOWN) == 4
    assert (output.out + output.err).replace("\n", "").isprintable()


def test_an_artefact_goes_as_it_is_into_a_pipe_and_as_text_to_a_terminal(
    monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    terminal.write_artefact(b"\x1b[31m\xff\n")
    sys.stdout.flush()
    assert capfdbinary.readouterr().out == b"\x1b[31m\xff\n"
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
    terminal.write_artefact(b"\x1b[31m\xff\n")
    assert capfdbinary.readouterr().out.decode() == "\\x1b[31m\N{REPLACEMENT CHARACTER}\n\n"
