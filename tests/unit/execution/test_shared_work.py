# SPDX-License-Identifier: Apache-2.0
"""Which repetitions share a beginning, and when it is made and ended. No guest is started."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import Mock

import pytest

from flashbed.common.errors import HostResourceError, InterruptedByUser
from flashbed.execution import attempt, memory, repetition
from flashbed.execution.beginnings import Beginnings
from flashbed.execution.scheduler import Queue
from flashbed.guest_output.assessment import Status
from flashbed.machine.beginning import Beginning
from flashbed.machine.outcomes import Outcome
from flashbed.result.store import Store


class MadeUp(Beginning):
    """A beginning without an emulator."""

    is_gone = False

    def __init__(self, planned: Any) -> None:
        self.planned, self.closed = planned, False

    def close(self) -> None:
        self.closed = True


@pytest.fixture
def beginnings_made(monkeypatch: pytest.MonkeyPatch) -> list[MadeUp]:
    """Return the list of all beginnings that the test makes."""
    beginnings: list[MadeUp] = []

    def begin(planned: Any, *_: object) -> MadeUp:
        beginnings.append(MadeUp(planned))
        return beginnings[-1]

    monkeypatch.setattr(repetition, "begin", begin)
    return beginnings


@pytest.fixture
def shared(tmp_path: Path) -> Iterator[Beginnings]:
    beginnings = Beginnings(2, tmp_path)
    yield beginnings
    beginnings.close()


def wanted(name: str) -> Any:
    """Return a repetition. The first letter of its name is its beginning; "-" shares none."""
    medium = SimpleNamespace(size_bytes=0, kind="ftl")
    cell = SimpleNamespace(medium=medium, board=SimpleNamespace(ram=0), label=name)
    return SimpleNamespace(key=name, beginning=name[0].strip("-"), cell=cell)


def all_of(*names: str) -> list[Any]:
    return [wanted(name) for name in names]


def taken(shared: Beginnings, held: ExitStack, repetition_wanted: Any) -> Any:
    return held.enter_context(shared.of(repetition.guest(repetition_wanted), memory.ON_DISK, 1, threading.Event()))


def come(shared: Beginnings, held: ExitStack, repetition_wanted: Any, *, more: bool) -> Any:
    """Announce a repetition, and return its beginning."""
    shared.announce(repetition_wanted.key, repetition_wanted.beginning, more=more)
    return taken(shared, held, repetition_wanted)


def come_briefly(shared: Beginnings, *cells: Any) -> list[Any]:
    """Return the beginnings of these repetitions, which run one after the other."""
    beginnings = []
    for at, cell in enumerate(cells):
        with ExitStack() as held:
            rest = {other.beginning for other in cells[at + 1 :]}
            beginnings.append(come(shared, held, cell, more=cell.beginning in rest))
    return beginnings


def test_a_beginning_is_made_by_the_first_and_ends_with_the_last(
    shared: Beginnings, beginnings_made: list[MadeUp]
) -> None:
    first, second, third = all_of("a1", "a2", "a3")
    with ExitStack() as held:
        begun = come(shared, held, first, more=True)
    with ExitStack() as held:
        assert come(shared, held, second, more=True) is begun is beginnings_made[0]
    assert not beginnings_made[0].closed
    with ExitStack() as held:
        assert come(shared, held, third, more=False) is begun
        assert not beginnings_made[0].closed
    assert beginnings_made[0].closed
    assert (
        come_briefly(shared, *all_of("b1", "-1", "-2")) == [None] * 3
    )  # one repetition alone, and two that share no beginning
    assert len(beginnings_made) == 1


def test_a_beginning_stays_for_an_announced_repetition(shared: Beginnings, beginnings_made: list[MadeUp]) -> None:
    first, last = all_of("a1", "a2")
    with ExitStack() as held:
        come(shared, held, first, more=True)
        shared.announce(last.key, last.beginning, more=False)
    assert not beginnings_made[0].closed
    with ExitStack() as held:
        assert taken(shared, held, last) is beginnings_made[0]
    assert beginnings_made[0].closed


def test_a_second_attempt_and_one_that_was_not_announced_run_from_power_on(
    shared: Beginnings, beginnings_made: list[MadeUp]
) -> None:
    first, other, last = all_of("a1", "a2", "a3")
    with ExitStack() as held:
        assert come(shared, held, first, more=True) is beginnings_made[0]
        assert taken(shared, held, first) is None
        assert taken(shared, held, other) is None
        assert come(shared, held, last, more=False) is beginnings_made[0]


def test_a_failed_beginning_fails_all_and_a_killed_one_is_not_used(
    shared: Beginnings, monkeypatch: pytest.MonkeyPatch
) -> None:
    outcomes: Any = {
        "a": Outcome(Status.FAILED, "mkfs"),
        "b": Outcome(Status.KILLED, "9"),
        "c": HostResourceError("full"),
    }

    def begin(request: Any, *_: object) -> Any:
        if isinstance(outcome := outcomes[request.beginning], Exception):
            raise outcome
        return outcome

    monkeypatch.setattr(repetition, "begin", begin)
    begun = come_briefly(shared, *all_of("a1", "a2", "b1", "b2", "c1", "c2"))
    assert begun == [outcomes["a"]] * 2 + [None] * 4


def test_a_beginning_without_its_emulator_is_not_used(shared: Beginnings, beginnings_made: list[MadeUp]) -> None:
    first, second, third = all_of("a1", "a2", "a3")
    with ExitStack() as held:
        assert come(shared, held, first, more=True) is beginnings_made[0]
        beginnings_made[0].is_gone = True
    with ExitStack() as held:
        assert come(shared, held, second, more=True) is None
        assert come(shared, held, third, more=False) is None
    assert len(beginnings_made) == 1
    assert beginnings_made[0].closed


def test_repetitions_of_another_run_do_not_keep_a_beginning_for_ever(
    shared: Beginnings, beginnings_made: list[MadeUp]
) -> None:
    a, b, c = all_of("a1", "b1", "c1")
    with ExitStack() as held:
        come(shared, held, b, more=True)
        for item in (a, c):  # no second repetition of "a" comes
            with ExitStack() as briefly:
                come(shared, briefly, item, more=True)
        assert [(item.planned.beginning, item.closed) for item in beginnings_made] == [
            ("b", False),
            ("a", True),
            ("c", False),
        ]
    shared.close()
    assert all(item.closed for item in beginnings_made)


@pytest.fixture
def full_beside_beginnings(monkeypatch: pytest.MonkeyPatch, beginnings_made: list[MadeUp]) -> list[tuple[str, bool]]:
    """Make the disk too small for a guest while there is a beginning. Return the list of the guests that ran: the key,
    and True if it ran from a beginning.
    """
    guests: list[tuple[str, bool]] = []

    def execute(
        planned: Any, _folder: Path, _limit_s: float, _stop: object, _host: object, begun: object = None
    ) -> str:
        guests.append((planned.key, begun is not None))
        if not all(beginning.closed for beginning in beginnings_made):
            raise repetition.TooLargeError("no room")
        return str(planned.key)

    monkeypatch.setattr(repetition, "execute", execute)
    return guests


def attempted(shared: Beginnings, work: Path, planned: Any, *, more: bool = False) -> Any:
    site = attempt.ThisHost(2, work, memory.ON_DISK, shared)
    site.announce(planned, more=more)
    return site.attempt(planned, attempt.Limits(1, 1 << 62), threading.Event())


def test_without_room_beside_beginnings_guests_run_from_power_on(
    shared: Beginnings, full_beside_beginnings: list[tuple[str, bool]], beginnings_made: list[MadeUp], tmp_path: Path
) -> None:
    cells = all_of("a1", "a2", "a3", "-1")
    keys = [attempted(shared, tmp_path, cell, more=cell.key in ("a1", "a2")) for cell in cells]
    assert keys == ["a1", "a2", "a3", "-1"]
    assert full_beside_beginnings == [("a1", True), ("a1", False), ("a2", False), ("a3", False), ("-1", False)]
    assert len(beginnings_made) == 1


def test_without_room_a_guest_waits_for_beginnings_in_use(
    shared: Beginnings, full_beside_beginnings: list[tuple[str, bool]], tmp_path: Path
) -> None:
    cells = all_of("a1", "a2", "-1")
    with ExitStack() as held:
        come(shared, held, cells[0], more=True)
        threading.Timer(0.1, held.pop_all().close).start()
        assert attempted(shared, tmp_path, cells[2]) == "-1"
    assert full_beside_beginnings == [("-1", False)] * 2
    assert attempted(shared, tmp_path, cells[1]) == "a2"
    assert full_beside_beginnings[2:] == [("a2", False)]


def test_the_last_guest_of_a_beginning_has_room_after_its_end(
    shared: Beginnings, full_beside_beginnings: list[tuple[str, bool]], tmp_path: Path
) -> None:
    cells = all_of("a1", "a2")
    with ExitStack() as held:
        come(shared, held, cells[0], more=True)
    assert attempted(shared, tmp_path, cells[1]) == "a2"
    assert full_beside_beginnings == [("a2", True), ("a2", False)]


def test_a_full_disk_without_beginnings_ends_the_run(
    shared: Beginnings, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    refusing = Mock(side_effect=repetition.TooLargeError("no room"))
    monkeypatch.setattr(repetition, "execute", refusing)
    with pytest.raises(repetition.TooLargeError):
        attempted(shared, tmp_path, wanted("-1"))
    assert refusing.call_count == 1


def test_waiting_for_room_can_be_stopped(
    shared: Beginnings, full_beside_beginnings: list[tuple[str, bool]], tmp_path: Path
) -> None:
    cells = all_of("a1", "a2", "-1")
    stop = threading.Event()
    stop.set()
    site = attempt.ThisHost(2, tmp_path, memory.ON_DISK, shared)
    with ExitStack() as held:
        come(shared, held, cells[0], more=True)
        with pytest.raises(InterruptedByUser):
            site.attempt(cells[2], attempt.Limits(1, 0), stop)


def test_cells_with_one_beginning_follow_each_other_but_none_waits_for_another(
    shared: Beginnings, beginnings_made: list[MadeUp], tmp_path: Path
) -> None:
    """The beginning of "a" is ready after four cells were handed out."""
    queue = Queue(Store(tmp_path), all_of("a1", "b1", "-1", "a2", "-2", "b2", "a3"))
    order: list[tuple[str, bool]] = []
    with ExitStack() as held:
        while (next_taken := queue.take(shared.next_of)) is not None:
            claim, cell, more = next_taken
            claim.release()
            shared.announce(cell.key, cell.beginning, more=more)
            order.append((cell.key, more))
            if len(order) == 4:
                taken(shared, held, wanted("a1"))
    expected = [("a1", True), ("b1", True), ("-1", False), ("-2", False), ("a2", True), ("a3", False), ("b2", False)]
    assert order == expected
