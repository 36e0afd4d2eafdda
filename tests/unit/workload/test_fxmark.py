# SPDX-License-Identifier: Apache-2.0
"""How the lab calls its program for FxMark's tests, what the program does, and what the lab computes from its lines."""

from __future__ import annotations

import os
import subprocess
import time
from pathlib import Path

import pytest

from flashbed.common import paths
from flashbed.common.errors import InputError
from flashbed.guest_output import limit, medium_counters
from flashbed.result.metrics import METRICS
from flashbed.study.loading import load_study
from flashbed.workload.base import WorkloadOutputError
from flashbed.workload.fxmark import FXMARK_TESTS, TRANSFERRING, Fxmark, FxmarkParameters
from tests.support.samples import write_study

SAMPLE = ('pattern    = ["read", "write"]\nrequest    = ["4k", "64k"]', "pool = [100, 200]")
TOOL = 'tool  = "fio"\nfile  = "8M"\nflush = "fsync"'

PROCESSES = 4
BEGIN, BEGAN, ENDED = 999_000_000, 1_000_000_000, 1_010_000_000


def lines(name: str, read: str = "0 0 0", other: str = "0 0 0", writers: int = 0) -> str:
    return f"{name} {PROCESSES} {writers} {BEGIN} {BEGAN} {ENDED}\nread {read}\nother {other}\n"


def metrics(*tests: str, **files: str) -> dict[str, float]:
    out = {"fxmark.txt": "".join(tests)} | {f"{name}.txt": text for name, text in files.items()}
    return Fxmark().metrics({name: text.encode() for name, text in out.items()})


def parameters(**values: object) -> dict[str, object]:
    return FxmarkParameters.model_validate({"file": "1M", **values}).canonical()


def test_a_test_alone_has_its_latencies() -> None:
    computed = metrics(lines("random", read="100 400000 9000 3071 50 5119 45 9215 5"))
    assert computed == {
        "runtime_s": 0.01,
        "warm_up_s": 0.001,
        "random_operations": 10_000,
        "operations": 10_000,
        "read_operations": 10_000,
        "latency_mean_us": 4,
        "latency_max_us": 9,
        "latency_p50_us": 3.071,
        "latency_p95_us": 5.119,
        "latency_p99_us": 9,
    }


def test_reads_and_writes_are_told_apart_and_latencies_are_of_the_reads() -> None:
    computed = metrics(lines("random", read="300 300000 1000 1007 300", other="50 1000000 20000 20479 50", writers=1))
    assert (computed["operations"], computed["read_operations"], computed["other_operations"]) == (
        35_000,
        30_000,
        5_000,
    )
    assert computed["latency_max_us"] == 1


def test_processes_without_a_finished_operation_have_a_rate_of_0() -> None:
    computed = metrics(lines("random", read="300 300000 1000 1007 300", writers=1))
    assert (computed["read_operations"], computed["other_operations"]) == (30_000, 0)
    assert "read_operations" not in metrics(lines("random", other="1 1 1 1 1", writers=PROCESSES))
    assert "read_operations" not in metrics(lines("overwrite-private", other="1 1 1 1 1"))


def test_several_tests_have_a_rate_each() -> None:
    computed = metrics(lines("create-private", other="10 1 1 1 10"), lines("create-shared", other="5 1 1 1 5"))
    assert computed == {
        "runtime_s": 0.02,
        "warm_up_s": 0.002,
        "create_private_operations": 1000,
        "create_shared_operations": 500,
    }


def test_shares_of_locks_are_those_of_each_test() -> None:
    text = f"10000 8 {BEGAN} {ENDED}\n6 osq_lock\n2 rwsem_spin_on_owner\n2 memcpy\n"
    computed = metrics(lines("random", read="1 1 1 1 1"), profile=text)
    assert (computed["osq_lock_percent"], computed["rwsem_percent"], computed["spinning_percent"]) == (60, 20, 80)
    assert computed["random_spinning_percent"] == 80
    assert computed["busy_cpus"] == pytest.approx(0.01)
    two = metrics(*(lines(f"read-shared-{shared}", read="1 1 1 1 1") for shared in ("file", "block")), profile=text * 2)
    assert (two["read_shared_file_spinning_percent"], two["read_shared_block_spinning_percent"]) == (80, 80)
    assert "osq_lock_percent" not in two
    with pytest.raises(ValueError, match="zip"):
        metrics(lines("random", read="1 1 1 1 1"), profile=text * 2)


def test_busy_are_the_cpus_of_the_processes() -> None:
    """4 processes on 8 CPUs, then on 2, each for 10 ms with 1,000 samples: 3,000 and 1,500 samples are of busy CPUs."""
    first, second = (f"10000 {cpus} {BEGAN} {ENDED}\n{busy} memcpy\n" for cpus, busy in ((8, 3000), (2, 1500)))
    assert metrics(lines("random", read="1 1 1 1 1"), profile=first)["busy_cpu_percent"] == pytest.approx(75)
    both = metrics(
        *(lines(f"read-shared-{shared}", read="1 1 1 1 1") for shared in ("file", "block")), profile=first + second
    )
    assert both["busy_cpu_percent"] == pytest.approx(75)


def test_shares_of_medium_and_cpu_are_of_the_time_in_which_operations_ran() -> None:
    """The setup uses the medium for 50 of the measurement's 100 ms. Under the load (warm-up of 1 ms, and 10 ms that
    count) the medium works for 5.5 ms, and two of four CPUs are busy.
    """

    def counters(busy_ms: float, moved: int) -> str:
        return f"/m/busy_ns:{int(busy_ms * 1e6)}\n/m/link_ns:0\n/m/host_read_bytes:{moved}\n/m/host_written_bytes:0\n"

    def idle(now_ms: int) -> str:
        return f"now at {now_ms * 10**6} nsecs\n" + " .idle_sleeptime : 0 nsecs\n .iowait_sleeptime: 0 nsecs\n" * 4

    noted = {
        "fxmark.txt": lines("random", read="1 1 1 1 1"),
        "profile.txt": f"10000 4 {BEGAN} {ENDED}\n2000 memcpy\n",
        "counters.before": counters(0, 0),
        "counters.load.random": counters(50, 1 << 20),
        "counters.load.random.ended": counters(55.5, 2 << 20),
        "counters.measured": counters(55.5, 2 << 20),
        "idle.before": idle(950),
        "idle.measured": idle(1050),
    }
    out = {name: text.encode() for name, text in noted.items()}
    load = medium_counters.of_load(out)
    rig = limit.Rig({}, 0, 0)
    shares = limit.percents(rig, load, load["host_read_bytes"], limit.time_of(out, Fxmark().metrics(out)))
    assert shares["busy_medium_percent"] == pytest.approx(50)
    assert shares["busy_cpu_percent"] == pytest.approx(50)


@pytest.mark.parametrize(
    "text", ["", "random 1 0 2 3 4\n", "random 1 0 2 5 5\nread 0 0 0\nother 0 0 0\n", "random 1 0 2 3 4\nx\ny\n"]
)
def test_what_the_program_does_not_write_is_told(text: str) -> None:
    with pytest.raises(WorkloadOutputError):
        Fxmark().metrics({"fxmark.txt": text.encode()})


def test_a_pool_that_was_empty_before_counting_began_is_told() -> None:
    with pytest.raises(WorkloadOutputError, match="unlink-private had no file left"):
        Fxmark().metrics({"fxmark.txt": b"unlink-private 2 0 10 30 20\nread 0 0 0\nother 0 0 0\n"})


def test_a_test_without_a_finished_operation_is_an_error() -> None:
    """Otherwise a table would show a rate of 0 beside measured rates."""
    with pytest.raises(WorkloadOutputError, match="random ended no operation while it counted; raise run_us"):
        metrics(lines("random"))


def asked(program: Path, test: str, folder: Path, words: str) -> list[str | Path]:
    """Return the command line of a test. `words` are the arguments after the directory, in the order of
    guest/fxmark.c.
    """
    return [program, test, folder, *words.split()]


def test_every_metric_is_known() -> None:
    names = {
        f"{test.replace('-', '_')}_{suffix}" for test in FXMARK_TESTS for suffix in ("operations", "spinning_percent")
    }
    assert names <= set(METRICS)


@pytest.mark.parametrize(
    ("workload", "message"),
    [
        ('tests = ["read-private"]', "tests: must be a string, a whole number, or true or false; several words"),
        ('tests = "read"', 'tests: must be some of "read-private, '),
        ('tests = "read-shared-file"\nprocesses = 300', "processes: must be at most 256"),
        (
            'tests = "read-shared-file"\nprocesses = 100\nfile = "64k"',
            "has no block of 4k for each of 100 processes",
        ),
        ('tests = "create-shared"\ndirect = true', "true means nothing to create-shared, which moves no blocks"),
        ('tests = "random"\nprocesses = 3\ncpu_list = "0-1"', "cpu_list: names 2 CPUs for processes = 3"),
        (
            'tests = "random"\ncpu_list = "1-0"',
            'cpu_list: must be "any" or CPUs as in "0-14" or "0-119:15,1", not "1-0"',
        ),
        ('tests = "random"\ncpu_list = "0-4:2,2"', 'cpu_list: "0-4:2,2" names a CPU twice'),
        ('tests = "random"\nwriters = 2', "writers: 2 are more than processes = 1"),
        ('tests = "read-private"\nwriters = 1', "writers: need one of the tests read-shared-file"),
        ('tests = "random"\nqueue_depth = 4', 'queue_depth: 4 needs direct = true and tests = "random" alone'),
        ('tests = "random"\ndirect = true\nblock = 1000', "block: with direct = true it must be a multiple of 512"),
    ],
)
def test_contradictions_are_told_with_their_key(tmp_path: Path, workload: str, message: str) -> None:
    file = "" if "file =" in workload else 'file = "1M"\n'
    path = write_study(tmp_path, SAMPLE, (TOOL, f'tool = "fxmark"\n{file}{workload}'))
    path.write_text(path.read_text().partition("[answer]")[0])
    with pytest.raises(InputError) as raised:
        load_study(path)
    assert message in raised.value.message


@pytest.fixture(scope="session")
def fxmark_here(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the lab's program, built for this host."""
    program = tmp_path_factory.mktemp("fxmark") / "fxmark"
    subprocess.run(["cc", "-std=gnu11", "-O2", "-o", program, paths.guest() / "fxmark.c"], check=True)
    return program


@pytest.mark.parametrize("test", FXMARK_TESTS)
def test_the_program_runs_each_test_on_this_host(fxmark_here: Path, tmp_path: Path, test: str) -> None:
    """Two processes run on this host for half a second, because the host may be busy; the test that unlinks runs until
    it has no file left. The counts are those of the latencies.
    """
    subprocess.run([fxmark_here, "prepare", tmp_path, "65536"], check=True)
    writers = "1" if test == "random" else "0"
    run_us, pool = ("60000000", "2000") if test.startswith("unlink") else ("500000", "1")
    call = asked(fxmark_here, test, tmp_path, f"65536 2 {writers} 4096 0 1000 {run_us} {pool} 7 1 each")
    output = subprocess.run(call, check=True, capture_output=True, text=True).stdout
    computed = metrics(output)
    assert computed["operations"] > 0
    assert ("read_operations" in computed) == (test.startswith("read") or test == "random")
    assert output.split()[1] == "2"
    assert computed["warm_up_s"] == 0.001
    for line in output.splitlines()[1:]:
        many, sum_ns, longest_ns, *times = map(int, line.split()[1:])
        assert sum(times[1::2]) == many
        assert longest_ns <= max(times[::2], default=0)
        assert sum_ns <= sum(upper * each for upper, each in zip(times[::2], times[1::2], strict=True))
    if test == "random":
        assert "other_operations" in computed


def test_each_process_has_its_cpu_of_the_list(fxmark_here: Path, tmp_path: Path) -> None:
    """The host knows on which CPU a process ran last. The list names only the last of the available CPUs."""
    canonical = parameters(processes=3, tests="random", cpu_list="0-10:5,1")
    assert canonical["cpu_list"] == "0,5,10,1"
    measure = Fxmark().files(canonical, 3)["measure"].decode()
    assert " 1 0,5,10,1 >>" in measure
    assert " 1 each >>" in Fxmark().files(parameters(tests="random"), 3)["measure"].decode()
    last = max(os.sched_getaffinity(0))
    subprocess.run([fxmark_here, "prepare", tmp_path, "65536"], check=True)
    call = asked(fxmark_here, "random", tmp_path, "65536 1 0 4096 0 1000 2000000 1 7 1")
    with subprocess.Popen([*call, str(last)], stdout=subprocess.DEVNULL) as running:
        children = Path(f"/proc/{running.pid}/task/{running.pid}/children")
        deadline = time.monotonic() + 20
        bound: set[int] = set()
        while bound != {last} and time.monotonic() < deadline and running.poll() is None:
            bound = next((os.sched_getaffinity(int(child)) for child in children.read_text().split()), set())
            time.sleep(0.01)
    assert bound == {last}


def test_several_requests_of_a_process_are_under_way(fxmark_here: Path, tmp_path: Path) -> None:
    """By Little's law the requests in flight are the rate times the mean latency: at most 1 with one request at a time.
    On a busy host it is less than eight, because requests in flight at the end do not count.
    """
    subprocess.run([fxmark_here, "prepare", tmp_path, "1048576"], check=True)
    call = asked(fxmark_here, "random", tmp_path, "1048576 1 0 4096 0 1000 200000 1 7 8 any")
    computed = metrics(subprocess.run(call, check=True, capture_output=True, text=True).stdout)
    assert 2 < computed["operations"] * computed["latency_mean_us"] / 1e6 < 8 * 1.2


def test_the_warm_up_begins_when_all_requests_are_under_way(fxmark_here: Path, tmp_path: Path) -> None:
    """To submit 1024 requests each takes longer than the warm-up of 1 us. Without this rule no operation would have
    finished.
    """
    subprocess.run([fxmark_here, "prepare", tmp_path, "1048576"], check=True)
    call = asked(fxmark_here, "random", tmp_path, "1048576 2 0 4096 0 1 200000 1 7 1024 any")
    computed = metrics(subprocess.run(call, check=True, capture_output=True, text=True).stdout)
    assert computed["warm_up_s"] > 100e-6
    assert computed["operations"] > 0


def test_a_process_that_fails_while_it_submits_ends_the_test(fxmark_here: Path, tmp_path: Path) -> None:
    """Blocks of 3000 bytes begin within sectors, which O_DIRECT refuses."""
    subprocess.run([fxmark_here, "prepare", tmp_path, "1048576"], check=True)
    call = asked(fxmark_here, "random", tmp_path, "1048576 2 0 3000 1 1 200000 1 7 8 any")
    done = subprocess.run(call, check=False, capture_output=True, text=True, timeout=30)
    assert (done.returncode, done.stdout) == (1, "")


def test_a_process_without_files_to_unlink_ends_the_test(fxmark_here: Path, tmp_path: Path) -> None:
    call = asked(fxmark_here, "unlink-shared", tmp_path, "4096 2 0 4096 0 0 60000000 5 7 1 each")
    output = subprocess.run(call, check=True, capture_output=True, text=True, timeout=30).stdout
    assert metrics(output)["runtime_s"] < 60
    assert 5 <= int(output.splitlines()[2].split()[1]) <= 10


def test_data_tests_are_those_that_move_blocks() -> None:
    assert {test for test in FXMARK_TESTS if test.split("-")[0] in ("read", "overwrite", "append", "random")} == set(
        TRANSFERRING
    )
