# SPDX-License-Identifier: Apache-2.0
"""How an appliance under QEMU is shut down cleanly, whatever signal or closed terminal asks for it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from flashbed.common.errors import FlashbedError, InterruptedByUser
from flashbed_appliance.nas import qemu, running, shipped
from flashbed_appliance.nas.building import Appliance
from flashbed_appliance.nas.ports import Ports
from flashbed_appliance.nas.settings import Settings
from flashbed_appliance.shrinking import architecture

STANDS_FOR_QEMU = """
import pathlib, sys
print("nas: ready 0.5 s after the kernel began", flush=True)
for line in sys.stdin:
    if line == "poweroff\\n":
        break
print("nas: going down", flush=True)
pathlib.Path(sys.argv[1]).write_text("clean")
print("nas: down", flush=True)
"""


@pytest.fixture(autouse=True)
def heard() -> Iterator[None]:
    """Restore the default handlers of SIGHUP and SIGQUIT during a test. A shell's background process ignores SIGQUIT, a
    process under nohup ignores SIGHUP, and the tests may run in such a process.
    """
    before = {number: signal.signal(number, signal.SIG_DFL) for number in (signal.SIGHUP, signal.SIGQUIT)}
    yield
    for number, how in before.items():
        signal.signal(number, how)


LEFT_OUT = "exportd: an export is left out: no disk is mounted there: /data 10.0.2.0/24 rw"


def run(
    place: Path,
    monkeypatch: pytest.MonkeyPatch,
    say: Callable[[str], None],
    program: str = STANDS_FOR_QEMU,
    settings: Settings | None = None,
) -> str:
    """Run the appliance, and return the text that its stand-in for QEMU wrote at a clean end; "" if it wrote none."""
    monkeypatch.setattr(qemu, "command", lambda *_: [sys.executable, "-c", program, str(place / "end")])
    monkeypatch.setattr("flashbed_appliance.nas.ports.check", lambda *_: None)
    appliance = Appliance(architecture.named("x86_64"), place / "kernel", None, {}, "microvm", 24)
    running.run(settings or Settings(), appliance, [], Ports(), say)
    return (place / "end").read_text() if (place / "end").exists() else ""


def saying(text: str) -> str:
    """Return a line of the program that stands in for QEMU."""
    return f"print({text!r}, flush=True)\n"


def ended_by(shown: list[str], number: int = signal.SIGQUIT, at: str = "Ctrl-C ends it.") -> Callable[[str], None]:
    """Collect the appliance's output, and end the appliance when it prints `at`, which means that it serves."""

    def say(line: str) -> None:
        shown.append(line)
        if line == at:
            os.kill(os.getpid(), number)

    return say


@pytest.mark.parametrize("number", [signal.SIGHUP, signal.SIGQUIT])
def test_a_signal_ends_it_as_ctrl_c_does(number: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before, shown = signal.getsignal(number), list[str]()
    assert run(tmp_path, monkeypatch, ended_by(shown, number)) == "clean"
    assert shown[-4:] == [
        "flashbed: ending the appliance ...",
        "nas: going down",
        "nas: down",
        "flashbed: the appliance is down",
    ]
    assert signal.getsignal(number) == before


def test_no_command_is_given_for_what_is_not_served(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shown: list[str] = []
    run(tmp_path, monkeypatch, ended_by(shown), saying(LEFT_OUT) + STANDS_FOR_QEMU, shipped.settings(None))
    assert any(line.startswith("/data: not served") for line in shown)
    assert not [line for line in shown if "mount -t nfs" in line]
    shown.clear()
    run(tmp_path, monkeypatch, ended_by(shown), settings=shipped.settings(None))
    assert [line for line in shown if "mount -t nfs" in line]


def test_what_only_a_terminal_understands_is_not_in_the_log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shown: list[str] = []
    run(tmp_path, monkeypatch, ended_by(shown), saying("/ # \x1b[6n\x1b[1;31mred\x1b[0m [6n") + STANDS_FOR_QEMU)
    assert shown[1] == "/ # red [6n"


def test_an_appliance_that_ends_without_a_word_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(FlashbedError, match="QEMU ended before the appliance was down") as caught:
        run(tmp_path, monkeypatch, lambda _: None, saying("nas: ready 0.5 s after the kernel began"))
    assert caught.value.exit_code == 1


DEAF_WHILE_IT_STARTS = """
import select, time
print("Booting", flush=True)
ready = time.monotonic() + 2
while (left := ready - time.monotonic()) > 0:
    if select.select([0], [], [], left)[0]:
        input()
"""


def test_what_starts_is_not_unplugged_for_want_of_an_answer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(running, "STOP_S", 1.0)
    monkeypatch.setattr(running, "ASK_AGAIN_S", 0.3)
    say = ended_by([], at="Booting")
    assert run(tmp_path, monkeypatch, say, DEAF_WHILE_IT_STARTS + STANDS_FOR_QEMU) == "clean"


INTERRUPTS_WHO_ENDS_IT = """
import os, signal, sys, time
def interrupt(*_):
    os.kill({who}, signal.SIGINT)
    sys.exit()
signal.signal(signal.SIGTERM, interrupt)
print("nas: ready 0.5 s after the kernel began", flush=True)
while True:
    time.sleep(1)
"""


def test_once_the_plug_is_pulled_an_interrupt_changes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(running, "STOP_S", 0.1)
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    with pytest.raises(InterruptedByUser, match="QEMU was killed"):
        run(tmp_path, monkeypatch, ended_by([]), INTERRUPTS_WHO_ENDS_IT.format(who=os.getpid()))
    assert before == {number: signal.getsignal(number) for number in before}


def test_a_terminal_that_is_gone_twice_does_not_pull_the_plug(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def say(line: str) -> None:
        if line in ("Ctrl-C ends it.", "flashbed: ending the appliance ...", "nas: going down"):
            os.kill(os.getpid(), signal.SIGHUP)

    assert run(tmp_path, monkeypatch, say) == "clean"


def test_who_wants_no_hangup_has_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shown: list[str] = []

    def say(line: str) -> None:
        shown.append(line)
        if line == "Ctrl-C ends it.":
            os.kill(os.getpid(), signal.SIGHUP)
            os.kill(os.getpid(), signal.SIGQUIT)

    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        assert run(tmp_path, monkeypatch, say) == "clean"
    finally:
        signal.signal(signal.SIGHUP, before)
    assert shown.count("flashbed: ending the appliance ...") == 1


@pytest.mark.parametrize("last", ["nas: ready 0.5 s after the kernel began", "Ctrl-C ends it.", "nas: going down"])
def test_it_goes_down_cleanly_where_nobody_reads_it(last: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    gone = False

    def say(line: str) -> None:
        nonlocal gone
        if gone:
            raise BrokenPipeError
        gone = line == last
        if line == "Ctrl-C ends it." and not gone:
            os.kill(os.getpid(), signal.SIGQUIT)

    assert run(tmp_path, monkeypatch, say) == "clean"


SAYS = """
from flashbed.commands.terminal import say
import sys
sys.stdin.read()
try:
    say("something")
except OSError:
    sys.exit(7)
"""


def test_a_reader_that_is_gone_is_told_once() -> None:
    with subprocess.Popen(
        [sys.executable, "-c", SAYS], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        process.stdin.close()
        assert process.stderr.read() == b""
    assert process.returncode == 7
