#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR MIT
"""flashbed-replay as its users call it: what it reads, what it prints, what it refuses.

replay.py FLASHBED-REPLAY FBMEDIA
"""

import json
import math
import random
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

REPLAY, FBMEDIA = sys.argv[1:]
FOLDER = tempfile.TemporaryDirectory()
HERE = Path(FOLDER.name)


def words(text):
    return text.split()


NULL = ["kind=null", "capacity_bytes=1048576", "queue_depth=2", "command_ns=1000"]
FLASH = words(
    "kind=flash capacity_bytes=65536 queue_depth=1 command_ns=1000 link_ps_per_byte=0 page_bytes=2048 "
    "pages_per_block=4 blocks_per_die=16 dies=1 channels=1 read_ns=25000 program_ns=200000 erase_ns=1500000 "
    "bus_ps_per_byte=0 gc_reserve_blocks=2"
)
# A revolution takes 10 ms, a sector 100 us; no command or link time, no read-ahead
DISK = words(
    "kind=disk capacity_bytes=1638400 queue_depth=1 command_ns=0 link_ps_per_byte=0 rpm=6000 cylinders=64 heads=1 "
    "zones=1 outer_sectors_per_track=100 inner_sectors_per_track=100 seek_track_ns=1000000 seek_average_ns=4000000 "
    "seek_full_ns=8000000 head_switch_ns=500000 write_settle_ns=200000 segment_bytes=0 readahead_bytes=0"
)


def run(*arguments, stdin=None):
    return subprocess.run([REPLAY, *map(str, arguments)], input=stdin, capture_output=True, text=True)


def replay(*arguments, stdin=None):
    done = run("--json", *arguments, stdin=stdin)
    assert done.returncode == 0, (arguments, done.stderr)
    return json.loads(done.stdout)


def completions(*arguments, stdin=None):
    file = HERE / "completions"
    replay("--completions", file, *arguments, stdin=stdin)
    return [tuple(map(int, line.split())) for line in file.read_text().splitlines()]


def refused(words, *arguments, stdin=None, status=1):
    done = run(*arguments, stdin=stdin)
    assert done.returncode == status, (arguments, done)
    assert words in done.stderr, (words, done.stderr)


def iolog(version, *lines):
    return "\n".join((f"fio version {version} iolog", *lines)) + "\n"


def blkparse(*events):
    return "".join(
        f"  8,0    1 {i:8} {time:>14} 4711 {action:>2} {rest}\n" for i, (time, action, rest) in enumerate(events)
    )


def test_iolog_2_waits():
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


def test_iolog_3_has_times():
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


def test_a_last_line_may_lack_its_newline():
    assert len(completions("-", *NULL, stdin="fio version 3 iolog\n0 f read 0 512")) == 1


def test_blkparse():
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


def test_fua_is_understood():
    cached = [*DISK, "write_cache_bytes=65536"]
    text = blkparse(("0.000000000", "D", "WS 8 + 1 [x]"), ("0.000000000", "D", "WFS 40 + 1 [x]"))
    assert completions("-", *cached, stdin=text) == [(0, 0), (0, 4_100_000)]
    text = blkparse(("0.000000000", "D", "WS 8 + 1 [x]"), ("0.000000000", "D", "FF [x]"))
    assert completions("-", *cached, stdin=text) == [(0, 0), (0, 900_000)]


def test_depth_and_speed():
    text = iolog(3, *(f"{i} f read 0 512" for i in range(6)))
    assert completions("--as-fast-as-possible", "-", *NULL, stdin=text) == [
        (1000 * (i // 2), 1000 * (i // 2) + 1000) for i in range(6)
    ]
    assert completions("--as-fast-as-possible", "--queue-depth", 3, "-", *NULL, stdin=text) == [
        (1000 * (i // 3), 1000 * (i // 3) + 1000) for i in range(6)
    ]
    slow = [*NULL[:3], "command_ns=10000"]
    assert completions("-", *slow, stdin=text)[-1] == (5000, 15000)
    assert completions("--queue-depth", 1, "-", *slow, stdin=text)[-1] == (50000, 60000)
    # Open loop: what a request waits for its place counts
    assert replay("--queue-depth", 1, "-", *slow, stdin=text)["operations"]["read"]["latency_ns"]["max"] == 55000


def test_deep_queues_complete_in_order_of_time():
    """Against a list that is searched: 5 requests at a time on a disk without a queue of its own."""
    chance = random.Random(4)
    text = iolog(3, *(f"{i} f read {chance.randrange(3200) * 512} 512" for i in range(500)))
    seen = completions("--as-fast-as-possible", "--queue-depth", 5, "-", *DISK, stdin=text)
    under_way, now = [], 0
    for submitted, done in seen:
        if len(under_way) == 5:
            now = max(now, min(under_way))
            under_way.remove(min(under_way))
        assert submitted == now
        under_way.append(done)


def test_percentiles_are_exact():
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
            said = result["operations"][op]["latency_ns"]
            assert result["operations"][op]["requests"] == len(took)
            if not took:
                continue
            for key, share in (("p50", 50), ("p95", 95), ("p99", 99), ("max", 100)):
                assert said[key] == took[max(math.ceil(len(took) * share / 100), 1) - 1], (count, op, key)
            assert said["p99_9"] == took[math.ceil(len(took) * 999 / 1000) - 1]
            assert abs(said["mean"] - sum(took) / len(took)) < 1e-3


def test_equal_values_have_percentiles():
    text = iolog(2, *(["f read 0 512"] * 5000))
    assert replay("--as-fast-as-possible", "-", *NULL, stdin=text)["operations"]["read"]["latency_ns"]["p50"] == 1000


def test_any_number_of_requests_takes_no_memory():
    """Each would take 40 bytes as a trace and 8 as a latency: 192 MiB."""
    words = ("--no-percentiles", "--pattern", "random", "--request-bytes", 4096, "--passes", 256)
    limit = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss + (64 << 10)
    result = replay(*words, "kind=null", "capacity_bytes=67108864", "queue_depth=1", "command_ns=1000")
    assert resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss < limit
    write = result["operations"]["write"]
    assert (write["requests"], write["latency_ns"]) == (256 * 16384, {"mean": 1000})


def test_throughput_and_write_amplification():
    result = replay("--pattern", "sequential", "--request-bytes", 2048, *FLASH)
    assert result["duration_ns"] == 32 * 201_000
    write = result["operations"]["write"]
    assert (write["requests"], write["bytes"]) == (32, 65536)
    assert abs(write["iops"] - 1e9 / 201_000) < 1e-3
    assert result["write_amplification"] == 1
    assert result["wear"]["erase_count_max"] == 0
    assert replay("--pattern", "random", "--request-bytes", 2048, "--passes", 50, *FLASH)["write_amplification"] > 1
    assert replay("--pattern", "random", "--read", *FLASH)["write_amplification"] is None
    # What does not fill a request is written all the same
    assert replay("--pattern", "sequential", "--request-bytes", 49152, *FLASH)["operations"]["write"]["bytes"] == 65536


def test_a_saved_state_goes_on():
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


def test_the_power_fails_at_a_time():
    """Pages are written one by one: request n comes at (n - 1) * 201 us, and is programmed from 1 us later on."""
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
        told = replay("--state", state, "--save", saved, *orders, "--cut-after", after_ns)
        assert told["duration_ns"] == told["cut"]["cut_ns"] == after_ns
        assert told["cut"]["requests"] == told["operations"]["write"]["requests"] == came, after_ns
        assert told["cut"]["torn_parts"] == torn, after_ns
        if not torn:
            assert told["cut"]["lost_bytes"] == lost, after_ns
            assert told["cut"]["unreadable_sectors"] == 0
        assert told["counters"]["flash_programmed_pages"] == came
        seen = json.loads(
            subprocess.run([FBMEDIA, "inspect", "--state", saved], check=True, capture_output=True).stdout
        )
        unreadable = told["cut"]["unreadable_sectors"]
        assert seen["power"] == {"off": True, "unreadable_sectors": unreadable, "half_erased_blocks": 0}
        assert seen["fault"] is None
    again = replay("--state", saved, "--save", saved, "--pattern", "random", "--request-bytes", 2048)
    assert again["cut"] is None
    assert again["counters"]["restarts"] == 0, "the restart came before the first request"
    seen = json.loads(subprocess.run([FBMEDIA, "inspect", "--state", saved], check=True, capture_output=True).stdout)
    assert not seen["power"]["off"]
    assert seen["counters"]["restarts"] == 1


def test_the_power_fails_at_a_request():
    """By seed at any moment while it is under way, and by seed a torn page is readable or not."""
    orders = ("--pattern", "sequential", "--request-bytes", 2048, "--cut-at-request", 5)
    cuts = [replay("--seed", seed, *orders, *FLASH)["cut"] for seed in range(64)]
    moments = [cut["cut_ns"] for cut in cuts]
    assert all(804_000 <= moment <= 1_005_000 for moment in moments)
    assert min(moments) < 850_000 < 950_000 < max(moments)
    assert all(cut["requests"] == 5 for cut in cuts)
    assert {cut["unreadable_sectors"] for cut in cuts} == {0, 4}
    assert replay("--seed", 3, *orders, *FLASH)["cut"] == cuts[3]


def test_the_table():
    said = run("--pattern", "sequential", *FLASH).stdout
    assert "write amplification 1.0000" in said
    assert "99.9 %" in said


def test_what_is_refused():
    refused("usage", status=2)
    refused("one of TRACE and --pattern", *NULL, status=2)
    refused("one of TRACE and --pattern", "--pattern", "random", "trace", *NULL, status=2)
    refused("a second trace", "one", "two", *NULL, status=2)
    refused("colour: unknown parameter", "trace", "colour=1", status=2)
    refused("has its parameters already", "--state", "x", "trace", *NULL, status=2)
    refused("--queue-depth many: must be a whole number", "--queue-depth", "many", "trace", *NULL, status=2)
    refused("--passes 0: must be a whole number above 0", "--passes", "0", "trace", *NULL, status=2)
    late = ("--pattern", "sequential", "--request-bytes", "2048", *FLASH)
    refused("all 32 requests are done before that, after 6432000 ns", "--cut-at-request", 33, *late, status=2)
    refused("all 32 requests are done before that, after 6432000 ns", "--cut-after", 6_432_000, *late, status=2)
    refused("one of --cut-at-request and --cut-after", "--cut-at-request", 1, "--cut-after", 1, *late, status=2)
    refused("--cut-at-request 0: must be a whole number above 0", "--cut-at-request", 0, *late, status=2)
    refused("not whole sectors", "--pattern", "random", "--request-bytes", 1000, *FLASH, status=2)
    refused("more requests than can be counted", "--pattern", "random", "--passes", 2**64 - 1, *FLASH, status=2)
    refused("must be sequential or random", "--pattern", "zigzag", *NULL, status=2)
    refused("must be D or Q", "--event", "C", "trace", *NULL, status=2)
    refused("No such file", HERE / "none", *NULL)
    refused("Is a directory", HERE, *NULL)
    refused("No such file", "--state", HERE / "none", "-", stdin="")
    refused("standard input: empty", "-", *NULL, stdin="")
    refused("standard input:1: neither", "-", *NULL, stdin="hello\n")
    refused("no requests", "-", *NULL, stdin=iolog(3, "0 f add"))
    bad = HERE / "bad.log"
    for line, words in (
        ("5 f read", "an offset in bytes is expected"),
        ("5 f read 0 x", 'a length in bytes is expected, not "x"'),
        ("5 f read 0 99999999999999999999", "a length in bytes is expected"),
        ("5 f", "incomplete"),
        ("x f read 0 512", 'a time in microseconds is expected, not "x"'),
        ("99999999999999999 f read 0 512", "too large"),
        ("0 f read 0 512", "time runs backwards"),
        ("5 g read 0 512", "about one device"),
        ("5 f wait 10 0", "does not exist in version 3"),
        ("5 f erase 0 512", 'unknown action "erase"'),
        ("5 f read 100 512", "not whole sectors"),
        ("5 f read 0 0", "no bytes"),
        ("5 f read 1048576 512", "beyond the end"),
        ("5 f read 18446744073709551104 512", "beyond the end"),
    ):
        bad.write_text(iolog(3, "0 f add", "4 f read 0 512", line))
        refused(f"{bad}:4: ", bad, *NULL)
        refused(words, bad, *NULL)
    for event, words in (
        (("0.0", "D", "R 0 + 8 [x]"), "a time (SECONDS.NANOSECONDS) is expected"),
        (("0.000000009", "D", "R 8 8 [x]"), "SECTOR + SECTORS is expected"),
        (("0.000000009", "D", "R 4096 + 8 [x]"), "beyond the end"),
        (("0.000000000", "D", "R 0 + 8 [x]"), "time runs backwards"),
    ):
        refused(words, "-", *NULL, stdin=blkparse(("0.000000005", "D", "R 0 + 8 [x]"), event))
    refused("standard input:2: ", "-", *NULL, stdin=blkparse(("0.000000005", "D", "R 0 + 8 [x]")) + "rubbish\n")
    refused(
        "about one device",
        "-",
        *NULL,
        stdin="8,0 0 1 0.000000001 1 D R 0 + 8 [x]\n8,16 0 1 0.000000002 1 D R 0 + 8 [x]\n",
    )
    refused("no request with action D", "-", *NULL, stdin=blkparse(("0.000000005", "Q", "R 0 + 8 [x]")))


def test_rubbish_never_crashes():
    chance = random.Random(7)
    good = [iolog(3, "0 f add", "1 f read 0 512", "2 f sync 0 0"), blkparse(("0.000000005", "D", "FWFS 0 + 8 [x]"))]
    for _ in range(150):
        text = list(chance.choice(good))
        for _ in range(chance.randrange(1, 6)):
            text[chance.randrange(len(text))] = chance.choice(" \n0F,+.9\x00\xff")
        done = run("-", *NULL, stdin="".join(text))
        assert done.returncode in (0, 1), done
        assert "Sanitizer" not in done.stderr, done.stderr


def test_long_lines_and_many():
    text = iolog(2, *(f"{'x' * 40} read {i % 2048 * 512} 512" for i in range(60_000)))
    assert replay("--as-fast-as-possible", "-", *NULL, stdin=text)["operations"]["read"]["requests"] == 60_000
    long = "y" * 3_000_000
    assert len(completions("-", *NULL, stdin=iolog(2, f"{long} read 0 512", f"{long} read 512 512"))) == 2


for name, test in list(globals().items()):
    if name.startswith("test_"):
        print(name, flush=True)
        test()
print("replay.py passed")
