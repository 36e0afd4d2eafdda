# SPDX-License-Identifier: Apache-2.0
"""Scenarios of the end-to-end test: the load, the double's orders, and the expected result."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from call_checks import check_sent_again, check_whole, scheduled

# 120 operations a second for a second, of a hundred files; no warm-up, so that all that is sent is also counted
SMALL = {"load": 120, "time": 1, "warmup": 0, "scale": "0.000001", "processes": 2, "seed": 1, "give_up": 5}

ALL: dict[str, Callable[[Any], None]] = {}


def scenario(function: Callable[[Any], None]) -> Callable[[Any], None]:
    ALL[function.__name__] = function
    return function


def check_all_ways(bed: Any, transport: str, version: int) -> None:
    run = bed.load(transport, version, uid=1000, gid=100)
    check_whole(run, version)
    assert run.result["retransmissions"] == run.asked["repeated"] == 0
    assert run.result["reconnects"] == run.result["unknown_replies"] == 0
    assert run.asked["identities"] == ["1 sfsload 1000 100"]


@scenario
def v3_over_tcp(bed: Any) -> None:
    check_all_ways(bed, "tcp", 3)


@scenario
def v3_over_udp(bed: Any) -> None:
    check_all_ways(bed, "udp", 3)


@scenario
def v2_over_tcp(bed: Any) -> None:
    check_all_ways(bed, "tcp", 2)


@scenario
def v2_over_udp(bed: Any) -> None:
    check_all_ways(bed, "udp", 2)


@scenario
def mix_of_2008_and_given_ports(bed: Any) -> None:
    run = bed.load("tcp", 3, ports=True, mix="sfs2008-v3")
    check_whole(run, 3)
    assert "commit" not in run.asked["asked"]


@scenario
def a_run_repeats_whatever_the_number_of_processes(bed: Any) -> None:
    one, four = (bed.load("tcp", 3, processes=many) for many in (1, 4))
    for run in (one, four):
        check_whole(run, 3)
    assert one.result["file_set"]["digest"] == four.result["file_set"]["digest"]
    assert scheduled(one.result) == scheduled(four.result)
    other = bed.load("tcp", 3, seed=2)
    assert other.result["file_set"]["digest"] != one.result["file_set"]["digest"]
    assert scheduled(other.result) != scheduled(one.result)


@scenario
def warm_up_is_not_measured(bed: Any) -> None:
    whole, part = bed.load("tcp", 3, time=2), bed.load("tcp", 3, warmup=1)
    assert whole.asked["asked"]["lookup"] == part.asked["asked"]["lookup"]
    assert 80 < part.result["scheduled"] < 160 < whole.result["scheduled"]


@scenario
def lost_requests_are_sent_again(bed: Any) -> None:
    run = bed.load("udp", 3, {"drop_every": 10}, timeout=100)
    check_whole(run, 3)
    assert run.asked["dropped"] >= 10
    check_sent_again(run)
    assert run.result["response"]["longest_ns"] >= 100_000_000


@scenario
def a_remove_may_come_before_a_lost_create_of_its_file(bed: Any) -> None:
    """Each name is used again after fifty others. That takes less time than until a lost call is sent again."""
    run = bed.load("udp", 3, {"drop_every": 10}, timeout=3000, load=2000, time=4)
    assert run.result["errors"] == []
    assert run.result["operations"]["remove"]["scheduled"] > 60
    assert run.result["retransmissions"] > 60


@scenario
def a_remove_of_what_should_be_there_is_an_error(bed: Any) -> None:
    run = bed.load("tcp", 3, {"status": {"remove": 2}})
    assert {error["operation"] for error in run.result["errors"]} == {"remove"}
    assert {error["error"] for error in run.result["errors"]} == {"no-entry"}
    assert run.status == 4


@scenario
def lost_replies_are_asked_for_again_with_the_same_xid(bed: Any) -> None:
    run = bed.load("udp", 2, {"forget_every": 4}, timeout=60, time=2)
    check_whole(run, 2)
    assert run.asked["dropped"] >= 50
    check_sent_again(run)


@scenario
def a_late_reply_of_what_was_sent_twice_is_noticed(bed: Any) -> None:
    run = bed.load("udp", 3, {"delay_ms": {"getattr": 150}}, timeout=100, time=2, load=60)
    assert run.result["errors"] == []
    again = run.asked["asked"]["getattr"]
    assert run.result["retransmissions"] >= again > 5
    # Of the last ones the second reply may come when nobody listens any more
    assert again - 5 <= run.result["unknown_replies"] <= run.result["retransmissions"]


@scenario
def a_broken_connection_is_made_again(bed: Any) -> None:
    run = bed.load("tcp", 3, {"close_every": 25})
    check_whole(run, 3)
    assert run.asked["closed"] >= 3
    assert run.result["reconnects"] == run.asked["closed"]
    assert run.result["retransmissions"] >= run.asked["repeated"] >= run.asked["closed"]


@scenario
def two_reads_at_a_time_and_the_schedule_goes_on(bed: Any) -> None:
    run = bed.load("tcp", 3, {"delay_ms": {"read": 400, "write": 400}}, processes=1, time=2)
    operations = run.result["operations"]
    assert run.result["max_outstanding"] == {"reads": 2, "writes": 2}
    assert run.asked["most_reads"] == run.asked["most_writes"] == 2
    # 2 at a time of 0.4 s each are 10 in 2 s, and those that are under way at the end
    assert operations["read"]["scheduled"] > 20 > 12 >= run.asked["asked"]["read"]
    for name, of in operations.items():
        if name not in ("read", "write"):
            assert run.asked["asked"].get(name, 0) == of["scheduled"], name
    assert operations["lookup"]["p50_ns"] < 200_000_000 < operations["read"]["p50_ns"]
    assert run.result["unsent"] > 0
    assert run.result["mix_test"]["holds"] is False
    assert run.result["load_met"] is False
    assert run.status == 5


@scenario
def an_operation_that_fails_is_told(bed: Any) -> None:
    for version in (2, 3):
        run = bed.load("tcp", version, {"status": {"getattr": 5, "create": 28}})
        errors = {(error["operation"], error["error"]): error["count"] for error in run.result["errors"]}
        wanted = {("getattr", "input-output"): run.asked["asked"]["getattr"]}
        if "create" in run.asked["asked"]:
            wanted["create", "no-space"] = run.asked["asked"]["create"]
        assert errors == wanted
        assert run.status == 4
        assert run.result["operations"]["getattr"]["good"] == 0


def wrong(bed: Any, transport: str, version: int, op: str, how: str, told: str) -> None:
    run = bed.load(transport, version, {"wrong": {op: how}})
    [error] = run.result["errors"]
    assert (error["operation"], error["error"]) == (op, told), error
    assert 0 < error["count"] <= run.asked["asked"][op]
    assert run.status == 4


@scenario
def other_bytes_than_were_written(bed: Any) -> None:
    wrong(bed, "tcp", 3, "read", "content", "wrong-content")
    wrong(bed, "udp", 2, "read", "content", "wrong-content")


@scenario
def results_that_are_cut_off(bed: Any) -> None:
    wrong(bed, "udp", 3, "getattr", "short", "malformed-results")
    wrong(bed, "tcp", 2, "lookup", "short", "malformed-results")


@scenario
def what_is_no_reply(bed: Any) -> None:
    wrong(bed, "tcp", 3, "lookup", "garbage", "malformed-reply")
    wrong(bed, "udp", 3, "access", "unavailable", "procedure-unavailable")


@scenario
def a_name_that_is_not_there_is_found(bed: Any) -> None:
    wrong(bed, "tcp", 3, "lookup", "found", "found-what-is-not-there")
    wrong(bed, "udp", 2, "lookup", "found", "found-what-is-not-there")


@scenario
def a_server_that_falls_silent_is_given_up(bed: Any) -> None:
    for transport in ("tcp", "udp"):
        run = bed.load(transport, 3, {"silent_after": 20}, give_up=0.5, timeout=100)
        assert run.status == 3
        assert run.result["server_fell_silent"] is True
        assert run.result["good"] == 20 or (transport == "udp" and 0 < run.result["good"] < 20 < run.asked["dropped"])
        assert run.result["unanswered"] > 0


@scenario
def a_server_that_refuses(bed: Any) -> None:
    run = bed.load("udp", 3, {"refuse_mount": 13})
    assert run.status == 3
    assert "refuses /data: access-denied" in run.message
    run = bed.load("tcp", 2, {"no_version": 2})
    assert run.status == 3
    assert "there is no NFS version 2 over TCP" in run.message
    run = bed.load("tcp", 3, {"after": 0, "status": {"mkdir": 30}})
    assert run.status == 3
    assert "mkdir of sfsload: read-only" in run.message
    assert run.result == {}


@scenario
def what_is_wrong_for_each_process_is_said_once(bed: Any) -> None:
    """The file set is missing, and each process looks for its own part of it."""
    run = bed.load("tcp", 3, {"after": 0, "status": {"write": 28}}, processes=8)
    assert run.status == 3
    said = [line for line in run.message.splitlines() if line.startswith("sfsload: ")]  # sanitizers speak, too
    assert len(said) == 1, run.message
    assert "no-space" in said[0]


@scenario
def nobody_there(bed: Any) -> None:
    for transport in ("tcp", "udp"):
        where = ["--server", "127.0.0.1", "--portmap-port", "9", "--transport", transport]
        done = bed.command(*where, "--export", "/data", "--load", "10")
        assert done.returncode == 3
        assert done.stderr == "sfsload: the portmapper at 127.0.0.1, port 9: Connection refused\n", done.stderr


@scenario
def bad_usage(bed: Any) -> None:
    for words, told in (
        ([], "--server, --export and --load are needed"),
        (["--load", "0"], "--load 0: must be a whole number from 1 to 100000"),
        (["--load", "10", "--load", "10"], "--load: given twice"),
        (["--load"], "--load: N is missing"),
        (["--lode", "10"], "--lode: no such option"),
        (["--lo\x1b[2Jde", "10"], "--lo?[2Jde: no such option"),
        (["--lo\x9b2Jde", "10"], "--lo??2Jde: no such option"),
        (["--server", "localhost"], "--server localhost: must be an IPv4 address"),
        (["--scale", "1.5"], "--scale 1.5: must be a number from 1e-06 to 1"),
        (["--time", "-1"], "--time -1: must be a number"),
        (["--mix", "x"], "--mix x: must be one of sfs2-v2 sfs2-v3 sfs2008-v3"),
        (["--load", "9", "--only", "list", "--version", "2", "--mix", "sfs2-v3"], "is one of NFS version 3"),
        (["--directory", "a/b"], "--directory a/b: must be the name of one directory"),
        (["--export", ""], "--export : must be a path of 1 to 1024 bytes"),
        (["--export", "/" + 1024 * "e"], f"--export /{1024 * 'e'}: must be a path of 1 to 1024 bytes"),
        (["--output", ""], "--output : must be a file"),
        (["--uid", "4294967295"], "--uid 4294967295: must be a whole number from 0 to 4294967294"),
        (["--gid", "4294967295"], "--gid 4294967295: must be a whole number from 0 to 4294967294"),
    ):
        done = bed.command(*words)
        assert done.returncode == 2, words
        assert done.stdout == ""
        assert done.stderr.startswith("sfsload: ")
        assert told in done.stderr, done.stderr
        assert done.stderr.count("\n") == 1


@scenario
def the_file_set_is_listed_without_a_server(bed: Any) -> None:
    lists = [bed.command("--load", 50, "--only", "list", "--processes", many).stdout for many in (1, 16)]
    assert lists[0] == lists[1]
    sizes = [int(line.split()[1]) for line in lists[0].splitlines()]
    assert abs(sum(sizes) - 50 * 10 * 1024) < 1400
    assert len(sizes) // 10 <= lists[0].count(" accessed") < len(sizes) // 10 + 10
