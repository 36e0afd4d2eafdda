# SPDX-License-Identifier: Apache-2.0
"""Which worker of a cluster gets which attempt, so that attempts with the same beginning share it. No attempt is
made.
"""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from flashbed.cluster.site import Places
from flashbed.execution.beginnings import GroupedQueue


class Hands:
    """Assign attempts as a run does. Each attempt takes equally long."""

    def __init__(self, threads: Mapping[str, int], *names: str) -> None:
        self.places, self.under_way = Places(), list[tuple[str, str | None]]()
        self.places.see(threads)
        self._line = GroupedQueue(names, lambda name: name[0].strip("-"))

    def out(self, count: int = 1) -> list[str]:
        """Assign so many more attempts, and return each with its worker."""
        handed_out = []
        for _ in range(count):
            name, more = self._line.take(self.places.next_of)
            address = self.places.take(name[0].strip("-"), more=more)
            self.under_way.append((name, address))
            handed_out.append(f"{name} {address}")
        return handed_out

    def back(self, name: str, made_at: str | None = None) -> None:
        """End an attempt that was made by its worker, or by `made_at`."""
        address = dict(self.under_way)[name]
        self.under_way.remove((name, address))
        self.places.end(name[0].strip("-"), address, made_at or address)

    def all(self) -> list[list[str]]:
        """Assign the rest in rounds of as many attempts as there are workers. All attempts of a round end before the
        next.
        """
        rounds = []
        while self._line:
            rounds.append(self.out(min(2, len(self._line))))
            for name, _ in list(self.under_way):
                self.back(name)
        return rounds


TWO = {"x": 1, "y": 1}


def test_a_worker_keeps_to_its_beginning() -> None:
    hands = Hands(TWO, "a1", "b1", "a2", "b2", "a3", "b3", "c1", "c2", "-1")
    assert hands.all() == [["a1 x", "b1 y"], ["a2 x", "b2 y"], ["a3 x", "b3 y"], ["c1 x", "-1 y"], ["c2 x"]]


def test_a_large_group_is_split_when_workers_would_be_idle() -> None:
    assert Hands(TWO, "a1", "a2", "a3", "a4").all() == [["a1 x", "a2 y"], ["a3 x", "a4 y"]]
    hands = Hands(TWO, "a1", "b1", "a2", "a3", "a4", "a5")
    assert hands.all() == [["a1 x", "b1 y"], ["a2 x", "a3 y"], ["a4 x", "a5 y"]]


def test_the_group_with_most_left_for_each_of_its_workers_is_split() -> None:
    hands = Hands(
        dict.fromkeys("wxyz", 1), *(f"a{number}" for number in range(5)), *(f"b{number}" for number in range(4))
    )
    assert hands.out(4) == ["a0 w", "b0 x", "a1 y", "b1 z"]


def test_a_worker_of_several_threads_makes_several_beginnings() -> None:
    """The third attempt waits for a beginning in the making; the next one uses it."""
    hands = Hands({"x": 3}, "a1", "a2", "a3", "b1", "b2")
    assert hands.out(3) == ["a1 x", "b1 x", "a2 x"]
    hands.back("b1")
    assert hands.out() == ["b2 x"]


def test_an_idle_worker_makes_a_beginning_of_its_own_rather_than_that_others_wait() -> None:
    hands = Hands({"x": 2, "y": 2}, *(f"a{number}" for number in range(5)))
    assert hands.out(4) == ["a0 x", "a1 y", "a2 x", "a3 y"]


def test_what_a_lost_worker_had_others_make() -> None:
    hands = Hands(TWO, "a1", "b1", "a2", "b2", "a3", "b3")
    hands.out(2)
    hands.places.see({"y": 1})
    hands.back("b1")
    assert hands.out() == ["b2 y"]
    hands.places.see({"y": 1, "z": 1})
    assert hands.out() == ["a2 z"]
    hands.back("a1", made_at="y")  # Dask moved the attempt: it ran from power-on there
    hands.back("b2")
    assert hands.out() == ["b3 y"]


def test_who_did_not_make_what_it_had_got_gets_nothing_until_it_is_seen_again() -> None:
    hands = Hands(TWO, "a1", "b1", "a2", "a3", "b2", "b3")
    hands.out(2)
    hands.back("a1", made_at="y")
    hands.back("b1")
    assert hands.out() == ["b2 y"]
    hands.places.see(TWO)
    assert hands.out() == ["a2 x"]


@pytest.mark.parametrize("threads", [{}, {"x": 1}])
def test_where_no_worker_is_free_any_may_do_it(threads: Mapping[str, int]) -> None:
    hands = Hands(threads, "a1", "a2", "a3")
    hands.out(len(threads))
    assert hands.out()[0].endswith(" None")
    hands.back(hands.under_way[-1][0], made_at="x")
