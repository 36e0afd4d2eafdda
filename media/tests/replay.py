#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR MIT
"""Test flashbed-replay as users call it: input, output and refusals.

replay.py FLASHBED-REPLAY FBMEDIA
"""

import json
import math
import random
import resource
import subprocess

import replay_refusals
from replay_call import (
    DISK,
    FBMEDIA,
    FLASH,
    HERE,
    NULL,
    blkparse,
    completions,
    iolog,
    replay,
    run,
)


def test_iolog_2_waits() -> None:
    text = iolog(
        2,
        "/dev/sda add",
        "/dev/sda open",
        "/dev/sda read 0 512",
        "/dev/sda wait 7 0",
        "/dev/sda read 512 512",
        "/dev/sda close",
    )
    assert completions("-", *DISK, stdin=text) == [(0, 100_000), (7000, 200_000)]


def test_iolog_3_has_times() -> None:
    text = iolog(
        3,
        "0 f add",
        "5 f open",
        "10 f read 0 4096",
        "20 f write 4096 4096",
        "30 f trim 0 4096",
        "40 f sync 0 0",
        "50 f datasync 0 0",
    )
    assert completions("-", *NULL, stdin=text) == [(t * 1000, t * 1000 + 1000) for t in (10, 20, 30, 40, 50)]
    counters = replay("-", *NULL, stdin=text)["counters"]
    assert [counters[f"host_{op}"] for op in ("reads", "writes", "discards", "flushes")] == [1, 1, 1, 2]


def test_a_last_line_may_lack_its_newline() -> None:
    assert len(completions("-", *NULL, stdin="fio version 3 iolog\n0 f read 0 512")) == 1


def test_blkparse() -> None:
    text = (
        blkparse(
            ("0.000000000", "Q", "R 8 + 8 [fio]"),
            ("0.000001000", "D", "R 8 + 8 [fio]"),
            ("0.000002003", "D", "WFS 16 + 8 [fio]"),
            ("0.000002500", "C", "R 8 + 8 [0]"),
            ("0.000002600", "m", "N cfq something"),
            ("0.000003000", "D", "FF [fio]"),
            ("0.000003500", "D", "N [fio]"),
            ("0.000004000", "D", "D 0 + 16 [fio]"),
            ("1.000005000", "D", "FWFSM 24 + 8 [fio]"),
        )
        + "CPU1 (8,0):\n Reads Queued: 1, 4KiB\n\nTotal (8,0):\n"
    )
    whens = [1000, 2003, 3000, 4000, 1_000_005_000, 1_000_005_000]
    assert completions("-", *NULL, stdin=text) == [(when, when + 1000) for when in whens]
    result = replay("-", *NULL, stdin=text)
    assert [result["operations"][op]["requests"] for op in ("read", "write", "discard", "flush")] == [1, 2, 1, 2]
    assert replay("--event", "Q", "-", *NULL, stdin=text)["operations"]["read"]["requests"] == 1


def test_fua_is_understood() -> None:
    cached = [*DISK, "write_cache_bytes=65536"]
    text = blkparse(("0.000000000", "D", "WS 8 + 1 [x]"), ("0.000000000", "D", "WFS 40 + 1 [x]"))
    assert completions("-", *cached, stdin=text) == [(0, 0), (0, 4_100_000)]
    text = blkparse(("0.000000000", "D", "WS 8 + 1 [x]"), ("0.000000000", "D", "FF [x]"))
    assert completions("-", *cached, stdin=text) == [(0, 0), (0, 900_000)]


def test_depth_and_speed() -> None:
    text = iolog(3, *(f"{i} f read 0 512" for i in range(6)))
    assert completions("--as-fast-as-possible", "-", *NULL, stdin=text) == [
        (1000 * (i // 2), 1000 * (i // 2) + 1000) for i in range(6)
    ]
    assert completions("--as-fast-as-possible", "--queue-depth", 3, "-", *NULL, stdin=text) == [
        (1000 * (i // 3), 1000 * (i // 3) + 1000) for i in range(6)
    ]
    unlimited = completions("--as-fast-as-possible", "--queue-depth", 2**64 - 1, "-", *NULL, stdin=text)
    assert unlimited == [(0, 1000)] * 6
    slow = [*NULL[:3], "command_ns=10000"]
    assert completions("-", *slow, stdin=text)[-1] == (5000, 15000)
    assert completions("--queue-depth", 1, "-", *slow, stdin=text)[-1] == (50000, 60000)
    # Open loop: the wait for a place in the queue counts
    assert replay("--queue-depth", 1, "-", *slow, stdin=text)["operations"]["read"]["latency_ns"]["max"] == 55000


def test_deep_queues_complete_in_order_of_time() -> None:
    """The expected times are from a searched list: 5 requests in flight on a disk without a queue of its own."""
    chance = random.Random(4)
    text = iolog(3, *(f"{i} f read {chance.randrange(3200) * 512} 512" for i in range(500)))
    seen = completions("--as-fast-as-possible", "--queue-depth", 5, "-", *DISK, stdin=text)
    under_way: list[int] = []
    now = 0
    for submitted, done in seen:
        if len(under_way) == 5:
            now = max(now, min(under_way))
            under_way.remove(min(under_way))
        assert submitted == now
        under_way.append(done)


def test_percentiles_are_exact() -> None:
    chance = random.Random(1)
    for count in (1, 2, 3, 10, 99, 1000, 10001):
        times = sorted(chance.randrange(50_000) for _ in range(count))
        text = iolog(
            3, *(f"{time} f {chance.choice(['read', 'write'])} {chance.randrange(3200) * 512} 512" for time in times)
        )
        pairs = completions("-", *DISK, stdin=text)
        result = replay("-", *DISK, stdin=text)
        for op in ("read", "write"):
            took = sorted(
                done - came
                for (came, done), line in zip(pairs, text.splitlines()[1:], strict=True)
                if f" {op} " in line
            )
            latency = result["operations"][op]["latency_ns"]
            assert result["operations"][op]["requests"] == len(took)
            if not took:
                continue
            for key, share in (("p50", 50), ("p95", 95), ("p99", 99), ("max", 100)):
                assert latency[key] == took[max(math.ceil(len(took) * share / 100), 1) - 1], (count, op, key)
            assert latency["p99_9"] == took[math.ceil(len(took) * 999 / 1000) - 1]
            assert abs(latency["mean"] - sum(took) / len(took)) < 1e-3


def test_equal_values_have_percentiles() -> None:
    text = iolog(2, *(["f read 0 512"] * 5000))
    assert replay("--as-fast-as-possible", "-", *NULL, stdin=text)["operations"]["read"]["latency_ns"]["p50"] == 1000


def test_any_number_of_requests_takes_no_memory() -> None:
    """At 40 bytes each in the trace and 8 in latencies they would take 192 MiB."""
    words = ("--no-percentiles", "--pattern", "random", "--request-bytes", 4096, "--passes", 256)
    limit = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss + (64 << 10)
    result = replay(*words, "kind=null", "capacity_bytes=67108864", "queue_depth=1", "command_ns=1000")
    assert resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss < limit
    write = result["operations"]["write"]
    assert (write["requests"], write["latency_ns"]) == (256 * 16384, {"mean": 1000})


def test_throughput_and_write_amplification() -> None:
    result = replay("--pattern", "sequential", "--request-bytes", 2048, *FLASH)
    assert result["duration_ns"] == 32 * 201_000
    write = result["operations"]["write"]
    assert (write["requests"], write["bytes"]) == (32, 65536)
    assert abs(write["iops"] - 1e9 / 201_000) < 1e-3
    assert result["write_amplification"] == 1
    assert result["wear"]["erase_count_max"] == 0
    assert replay("--pattern", "random", "--request-bytes", 2048, "--passes", 50, *FLASH)["write_amplification"] > 1
    assert replay("--pattern", "random", "--read", *FLASH)["write_amplification"] is None
    # A remainder that is shorter than a request is written, too
    assert replay("--pattern", "sequential", "--request-bytes", 49152, *FLASH)["operations"]["write"]["bytes"] == 65536


def test_a_saved_state_goes_on() -> None:
    state, saved = HERE / "state.bin", HERE / "saved.bin"
    subprocess.run([FBMEDIA, "create", "--state", state, *FLASH], check=True)
    fresh = state.read_bytes()
    replay("--state", state, "--save", saved, "--pattern", "random", "--request-bytes", 2048, "--passes", 20)
    assert state.read_bytes() == fresh
    replay("--save", HERE / "other.bin", "--pattern", "random", "--request-bytes", 2048, "--passes", 20, *FLASH)
    assert saved.read_bytes() == (HERE / "other.bin").read_bytes()
    life = json.loads(subprocess.run([FBMEDIA, "inspect", "--state", saved], check=True, capture_output=True).stdout)
    assert life["fault"] is None
    assert life["counters"]["host_writes"] == 640
    assert saved.stat().st_size == state.stat().st_size
    again = replay("--state", saved, "--save", saved, "--pattern", "random", "--request-bytes", 2048)
    assert again["counters"]["host_writes"] == 32
    assert again["wear"]["erase_count_max"] > 0


def test_the_power_fails_at_a_time() -> None:
    """Pages are written one at a time: request n arrives at (n - 1) * 201 us, and its program begins 1 us later."""
    state, saved = HERE / "whole.bin", HERE / "cut.bin"
    subprocess.run([FBMEDIA, "create", "--state", state, *FLASH], check=True)
    orders = ("--pattern", "sequential", "--request-bytes", 2048)
    for after_ns, came, lost, torn in (
        (0, 1, 2048, 0),
        (402_000, 3, 2048, 0),
        (403_000, 3, 2048, 0),
        (500_000, 3, 0, 1),
        (602_999, 3, 0, 1),
    ):
        result = replay("--state", state, "--save", saved, *orders, "--cut-after", after_ns)
        assert result["duration_ns"] == result["cut"]["cut_ns"] == after_ns
        assert result["cut"]["requests"] == result["operations"]["write"]["requests"] == came, after_ns
        assert result["cut"]["torn_parts"] == torn, after_ns
        if not torn:
            assert result["cut"]["lost_bytes"] == lost, after_ns
            assert result["cut"]["unreadable_sectors"] == 0
        assert result["counters"]["flash_programmed_pages"] == came
        seen = json.loads(
            subprocess.run([FBMEDIA, "inspect", "--state", saved], check=True, capture_output=True).stdout
        )
        unreadable = result["cut"]["unreadable_sectors"]
        assert seen["power"] == {"off": True, "unreadable_sectors": unreadable, "half_erased_blocks": 0}
        assert seen["fault"] is None
    again = replay("--state", saved, "--save", saved, "--pattern", "random", "--request-bytes", 2048)
    assert again["cut"] is None
    assert again["counters"]["restarts"] == 0, "the restart came before the first request"
    seen = json.loads(subprocess.run([FBMEDIA, "inspect", "--state", saved], check=True, capture_output=True).stdout)
    assert not seen["power"]["off"]
    assert seen["counters"]["restarts"] == 1


def test_the_power_fails_at_a_request() -> None:
    """The seed draws the moment within the request, and whether the lower page survives its upper one."""
    orders = ("--pattern", "sequential", "--request-bytes", 2048, "--cut-at-request", 6)
    paired = ("bits_per_cell=2", "paired_page_loss=1")
    cuts = [replay("--seed", seed, *orders, *FLASH, *paired)["cut"] for seed in range(64)]
    moments = [cut["cut_ns"] for cut in cuts]
    assert all(1_005_000 <= moment <= 1_206_000 for moment in moments)
    assert min(moments) < 1_050_000 < 1_150_000 < max(moments)
    assert all(cut["requests"] == 6 for cut in cuts)
    assert {cut["unreadable_sectors"] for cut in cuts} == {0, 4}
    assert replay("--seed", 3, *orders, *FLASH, *paired)["cut"] == cuts[3]
    assert all(not replay("--seed", seed, *orders, *FLASH)["cut"]["unreadable_sectors"] for seed in range(8))


def test_the_table() -> None:
    table = run("--pattern", "sequential", *FLASH).stdout
    assert "write amplification 1.0000" in table
    assert "99.9 %" in table


for name, test in [*globals().items(), *vars(replay_refusals).items()]:
    if name.startswith("test_"):
        print(name, flush=True)
        test()
print("replay.py passed")
