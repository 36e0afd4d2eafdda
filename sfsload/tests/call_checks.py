# SPDX-License-Identifier: Apache-2.0
"""Checks of every run against the double: its counts and the result must agree."""

from __future__ import annotations

from typing import Any

FOLDERS, PLAIN_FOLDERS, LINKS, PLAIN_FILES, FILES, WRITES = 4, 4, 20, 100, 100, 385


def prepared(version: int) -> dict[str, int]:
    """Return the calls that make a hundred files. The size table has 385 blocks of up to 8 KB. The double returns no
    handle of a directory that version 3 makes, and version 2 returns none of a link.
    """
    folders = FOLDERS + PLAIN_FOLDERS + 2  # the set's own, and that of the links
    calls = {"mkdir": folders, "symlink": LINKS, "create": FILES + PLAIN_FILES // 2, "remove": PLAIN_FILES // 2}
    calls["write"] = WRITES
    if version == 2:
        return {**calls, "lookup": LINKS}
    return {**calls, "lookup": folders, "commit": FILES, "fsinfo": 1}


def prepared_calls(version: int) -> int:
    return sum(prepared(version).values())


def scheduled(result: dict[str, Any]) -> dict[str, int]:
    return {name: of["scheduled"] for name, of in result["operations"].items() if of["scheduled"]}


def was_held_up(result: dict[str, Any]) -> bool:
    """True if this host delayed something by more than a twentieth of the measured time."""
    longest_ns: int = max(result["late_sending"]["longest_ns"], result["response"]["longest_ns"])
    return longest_ns > 50_000_000


def check_asked(run: Any) -> None:
    """Check the issued operations. Only reads and writes may still wait for their turn at the end, if something delayed
    them.
    """
    asked, missing = run.asked["asked"], {}
    for name, many in scheduled(run.result).items():
        if asked.get(name, 0) != many:
            missing[name] = many - asked.get(name, 0)
    assert missing.keys() <= {"read", "write"}, (asked, scheduled(run.result))
    assert asked.keys() <= scheduled(run.result).keys()
    assert sum(missing.values()) == run.result["unsent"], missing
    assert not missing or was_held_up(run.result), missing


def check_whole(run: Any, version: int) -> None:
    """Check that the double got the calls of the schedule, and that each call was answered well."""
    result = run.result
    assert run.message == "", run.message
    assert run.asked["prepared"] == prepared(version)
    check_asked(run)
    assert result["errors"] == []
    assert result["unanswered"] == 0
    assert run.asked["malformed"] == 0
    assert run.asked["mounts"] == run.asked["unmounts"] == 1
    assert run.asked["clients"] >= result["settings"]["processes"]
    assert result["load_met"] is (100 * result["good"] >= 95 * result["scheduled"])
    assert result["load_met"] or was_held_up(result)
    for name, of in result["operations"].items():
        assert sum(count for _, count in of["histogram"]) == of["good"], name
        assert of["mean_ns"] <= of["longest_ns"]
    assert sum(of["good"] for of in result["operations"].values()) == result["good"]
    assert result["settings"]["as_the_rules_ask"] is False
    assert "no SPEC result" in result["note"]
    assert result["max_outstanding"]["reads"] <= 2 >= result["max_outstanding"]["writes"]
    assert run.status == result["exit_status"] == (0 if result["mix_test"]["holds"] and result["load_met"] else 5)


def check_sent_again(run: Any) -> None:
    """Check that calls were sent again as often as something was lost. If this host delayed a reply beyond the timeout,
    a call is there twice.
    """
    again = run.result["retransmissions"]
    assert again == run.asked["repeated"]
    assert again >= run.asked["dropped"] + run.result["unknown_replies"]
    assert again == run.asked["dropped"] or run.result["unknown_replies"]
