# SPDX-License-Identifier: GPL-2.0-only OR MIT
"""What flashbed-replay refuses, and that no input makes it crash. replay.py runs these tests."""

import random

from replay_call import (
    DISK,
    FLASH,
    HERE,
    NULL,
    blkparse,
    completions,
    iolog,
    refused,
    replay,
    run,
)


def test_more_than_the_disk_orders_is_refused() -> None:
    deep = ("--pattern", "random", *DISK, "reorder_depth=4")
    refused("--queue-depth 5: the disk orders 4 requests at most (reorder_depth)", "--queue-depth", 5, *deep, status=2)


def test_what_is_refused() -> None:
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


def test_rubbish_never_crashes() -> None:
    chance = random.Random(7)
    good = [iolog(3, "0 f add", "1 f read 0 512", "2 f sync 0 0"), blkparse(("0.000000005", "D", "FWFS 0 + 8 [x]"))]
    for _ in range(150):
        text = list(chance.choice(good))
        for _ in range(chance.randrange(1, 6)):
            text[chance.randrange(len(text))] = chance.choice(" \n0F,+.9\x00\xff")
        done = run("-", *NULL, stdin="".join(text))
        assert done.returncode in (0, 1), done
        assert "Sanitizer" not in done.stderr, done.stderr


def test_long_lines_and_many() -> None:
    text = iolog(2, *(f"{'x' * 40} read {i % 2048 * 512} 512" for i in range(60_000)))
    assert replay("--as-fast-as-possible", "-", *NULL, stdin=text)["operations"]["read"]["requests"] == 60_000
    long = "y" * 3_000_000
    assert len(completions("-", *NULL, stdin=iolog(2, f"{long} read 0 512", f"{long} read 512 512"))) == 2
