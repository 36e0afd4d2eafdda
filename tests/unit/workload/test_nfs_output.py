# SPDX-License-Identifier: Apache-2.0
"""The scripts of the workload nfs, and the metrics of its output."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from flashbed.common.errors import InputError
from flashbed.guest_output import cpu_load, limit, medium_counters
from flashbed.result.metrics import METRICS
from flashbed.study.loading import load_study
from flashbed.workload.base import WorkloadOutputError
from flashbed.workload.nfs import Nfs, NfsParameters
from tests.support.facts import Facts
from tests.support.samples import write_study

MEMORY = "3000K kernel code, 200K rwdata, 700K rodata, 600K init, 250K bss, 9K reserved, 0K cma-reserved"

DMESG = f"""\
[    0.000000] Memory: 90000K/131072K available ({MEMORY})
[    0.350000] Run /init as init process
[    0.900000] flashbed: init 912000000
[    1.100000] flashbed: linked 1112000000
[    1.300000] flashbed: serving 1362000000
"""

LINK = "mbit 100\nserver: {received} 0 0 0 0 0 0 {sent} 0 0 0 0 0 0\n"
IDLE = "now at {now} nsecs\n  .idle_sleeptime : {first} nsecs\n  .iowait_sleeptime: 0 nsecs\n" * 1 + (
    "  .idle_sleeptime : {second} nsecs\n  .iowait_sleeptime: 0 nsecs\n"
)
COUNTERS = "/sys/x/busy_ns:{busy}\n/sys/x/link_ns:{link}\n"

WHOLE = {
    "idle.before": IDLE.format(now=0, first=0, second=0),
    "idle.measured": IDLE.format(now=4 * 10**9, first=7 * 10**8, second=9 * 10**8),
    "counters.before": COUNTERS.format(busy=0, link=0),
    "counters.measured": COUNTERS.format(busy=3 * 10**9, link=8 * 10**8),
}
"""The measurement takes 4 s; the load's 1 s is part of it."""


def meminfo(free_kib: int) -> str:
    return f"MemTotal: 99999 kB\nMemFree: {free_kib} kB\nBuffers: 100 kB\nCached: 2000 kB\nSReclaimable: 300 kB\n"


def result(**changed: object) -> str:
    document = {
        "format": 1,
        "settings": {"measured_s": 10.0, "warmup_s": 5.0},
        "scheduled_ops_per_s": 301.0,
        "achieved_ops_per_s": 300.0,
        "good": 3000,
        "retransmissions": 2,
        "response": {"mean_ns": 1_100_000, "p50_ns": 900_000, "p95_ns": 3_000_000, "p99_ns": 9_000_000}
        | {"longest_ns": 12_000_000},
        "late_sending": {"mean_ns": 30_000},
        "mix_test": {"tested": True, "statistic": 5.0, "critical": 20.0},
        "operations": {"LOOKUP": {"good": 9, "mean_ns": 150_000}, "COMMIT": {"good": 0, "mean_ns": 0}},
    }
    return json.dumps(document | changed)


def out(**changed: str) -> dict[str, bytes]:
    files = {
        "sfsload.json": result(),
        "dmesg.txt": DMESG,
        "snmp.server.txt": "Ip: X\nIp: 1\nUdp: InDatagrams InErrors\nUdp: 900 7\nUdpLite: InErrors\nUdpLite: 3",
        "snmp.load.txt": "Udp: InDatagrams NoPorts InErrors\nUdp: 800 1 2\n",
        "kernel.packed": "1400000\n",
        "modules.txt": "nfsd 300000 9 - Live 0x0\nsunrpc 100000 5 nfsd, Live 0x0\n",
        "meminfo.booted": meminfo(100_000),
        "meminfo.serving": meminfo(90_000),
        "meminfo.loaded": meminfo(60_000),
        "idle.load.begun": IDLE.format(now=10**9, first=10**8, second=0),
        "idle.load.ended": IDLE.format(now=2 * 10**9, first=7 * 10**8, second=9 * 10**8),
        "link.load.begun": LINK.format(received="1000 10", sent="2000 20"),
        "link.load.ended": LINK.format(received="5001000 5010", sent="10002000 10020"),
    } | changed
    return {name: text.encode() for name, text in files.items() if text}


def shares(files: dict[str, bytes]) -> dict[str, float]:
    time = limit.time_of(files, Nfs().metrics(files))
    return limit.percents(limit.Rig({}, 0, 0), medium_counters.of_load(files), 0, time)


def parameters(**values: object) -> dict[str, object]:
    return NfsParameters.model_validate({"load": 100, **values}).canonical()


def test_what_a_guest_leaves_becomes_metrics() -> None:
    metrics = Nfs().metrics(out())
    kib = 1024
    assert metrics == pytest.approx(
        {
            "runtime_s": 10,
            "warm_up_s": 5,
            "operations": 300,
            "offered_operations": 301,
            "retransmissions": 2,
            "server_lost_datagrams": 7,
            "load_lost_datagrams": 2,
            "latency_mean_us": 1100,
            "latency_max_us": 12000,
            "latency_p50_us": 900,
            "latency_p95_us": 3000,
            "latency_p99_us": 9000,
            "late_sending_us": 30,
            "mix_off_percent": 25,
            "lookup_call_us": 150,
            "kernel_packed_bytes": 1_400_000,
            "server_cpu_percent": 40,
            "load_cpu_percent": 10,
            "busy_link_percent": 81.92,  # 10 MB, and 24 bytes for each of 10,000 frames, at 80 ns per byte
            "kernel_bytes": 4500 * kib,
            "modules_bytes": 400000,
            "memory_booted_bytes": (131072 - 102400) * kib,
            "memory_serving_bytes": (131072 - 92400) * kib,
            "memory_loaded_bytes": (131072 - 62400) * kib,
            "boot_s": 0.362,
            "service_s": 0.25,
        }
    )
    assert set(metrics) <= set(METRICS)


def test_a_load_without_a_good_answer_has_no_latencies() -> None:
    metrics = Nfs().metrics(out(**{"sfsload.json": result(good=0, mix_test={"tested": False}), "idle.load.ended": ""}))
    assert not {"latency_mean_us", "mix_off_percent", "server_cpu_percent", "busy_link_percent"} & set(metrics)


def test_shares_of_work_are_of_the_measured_time() -> None:
    """Of 1 s. The work of medium and CPUs before it, when files are read, and after it, when the server stops, does not
    count.
    """
    files = out(
        **WHOLE,
        **{
            "counters.load.begun": COUNTERS.format(busy=10**9, link=10**8),
            "counters.load.ended": COUNTERS.format(busy=125 * 10**7, link=15 * 10**7),
        },
    )
    assert shares(files) == {"busy_cpu_percent": 40, "busy_medium_percent": 20, "busy_bus_percent": 5}
    assert limit.time_of(files, Nfs().metrics(files), cpu_load.MEASUREMENT_WINDOW).run_ns == 4 * 10**9


def test_shares_of_an_older_result_are_of_the_whole_measurement() -> None:
    """An older result has the CPUs under its load, but not the medium."""
    files = out(**WHOLE)
    assert shares(files) == {"busy_cpu_percent": 82.5, "busy_medium_percent": 55, "busy_bus_percent": 20}


def test_an_older_result_has_cpus_and_no_link() -> None:
    metrics = Nfs().metrics(out(**{"link.load.begun": "", "link.load.ended": ""}))
    assert metrics["server_cpu_percent"] == pytest.approx(40)
    assert "busy_link_percent" not in metrics


@pytest.mark.parametrize(
    ("changed", "why"),
    [
        ({"sfsload.json": ""}, "sfsload did not come to its end"),
        ({"sfsload.json": "{"}, "is not what sfsload writes"),
        ({"sfsload.json": '{"format": 2}'}, "is not what sfsload writes"),
        ({"dmesg.txt": ""}, "dmesg.txt is missing"),
        ({"dmesg.txt": DMESG.replace("serving", "sleeping")}, "all moments of the start"),
        ({"dmesg.txt": DMESG.replace("Memory", "Storage")}, "the machine's memory"),
        ({"meminfo.loaded": ""}, "meminfo.loaded is missing"),
        ({"link.load.ended": "mbit 100\nserver: 1 2\n"}, "2 counters of a link's end"),
        ({"link.load.ended": "mbit\n"}, "0 counters of a link's end"),
    ],
)
def test_what_is_missing_or_makes_no_sense_is_said(changed: dict[str, str], why: str) -> None:
    with pytest.raises(WorkloadOutputError, match=why):
        Nfs().metrics(out(**changed))


def test_the_guest_gets_every_number() -> None:
    files = Nfs().files(parameters(load=700, set_kb=512, link_mbit=100, version=2, transport="udp"), seed=3)
    variables = dict(line.split("=", 1) for line in files["nfs.env"].decode().splitlines())
    assert variables["LOAD"] == "'--load 700 --processes 4 --seed 3 --warmup 5 --time 10 --scale 0.050000'"
    assert (variables["VERSION"], variables["TRANSPORT"], variables["LINK_MBIT"]) == ("2", "udp", "100")
    used = set("".join(files[name].decode() for name in ("nfs", "prepare", "measure")).replace("{", "").split("$"))
    assert all(any(word.startswith(name) for word in used) for name in variables)


def test_only_cells_with_ganesha_carry_it() -> None:
    assert not [name for name in Nfs().needs(parameters()).packages if "ganesha" in name]
    assert "nfs-ganesha" in Nfs().needs(parameters(server="ganesha")).packages


@pytest.mark.parametrize(
    ("keys", "why"),
    [
        ('server = "ganesha"\nversion = 2', "2 is not known to NFS-Ganesha"),
        ('server = "ganesha"\nexport = "async"', '"async" is not known to NFS-Ganesha'),
        ("load = 100000000", "load"),
    ],
)
def test_what_does_not_go_together_is_refused(tmp_path: Path, keys: str, why: str) -> None:
    with pytest.raises(InputError, match=why):
        load_study(nfs_study(tmp_path, keys))


@pytest.mark.parametrize(
    ("top", "why"),
    [
        (
            'kernel = "6.1"\nboard = "arm64-2x1000"',
            'the kernels of tool = "nfs" are "6.1-nas", "6.1-debian"',
        ),
        (
            'kernel = "6.1-nas"\nboard = "arm64-2x1000"\nmedium = "usb-stick-2g"',
            r'medium: usb-stick-2g is joined by usb, and "6\.1-nas" has a driver of sata alone; take another medium',
        ),
        ('kernel = "6.1-nas"\nboard = "arm64-1000"', "needs 2: a server and a load"),
        ('kernel = "6.1-nas"\nboard = "arm64-2x1000"\nfilesystem = "fat32"', "fat32: .* serves only ext2"),
    ],
)
def test_a_server_has_its_kernel_its_cpus_and_its_file_system(tmp_path: Path, top: str, why: str) -> None:
    with pytest.raises(InputError, match=why):
        load_study(nfs_study(tmp_path, "", top))


def test_a_kernel_without_version_2_is_not_asked_for_it(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"2 is not known to the server of 6\.1-debian"):
        load_study(nfs_study(tmp_path, "version = 2", 'kernel = "6.1-debian"\nboard = "arm64-2x1000"'))


def test_a_study_with_its_kernel_is_taken(tmp_path: Path) -> None:
    assert load_study(nfs_study(tmp_path, "")).fixed["kernel"] == "6.1-nas"


def test_other_tools_do_not_get_a_kernel_of_a_server(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=Facts('kernel: "6.1-nas"', 'tool = "nfs"', 'take "6.1"').pattern):
        load_study(write_study(tmp_path, ("seeds      = 2", 'seeds = 2\nkernel = "6.1-nas"')))


def nfs_study(folder: Path, keys: str, top: str = 'kernel = "6.1-nas"\nboard = "arm64-2x1000"') -> Path:
    path = folder / "nfs.toml"
    absent = {"medium": "hdd-25-5400-ide-4g", "filesystem": "ext2"}
    head = 'title = "nfs"\n' + "".join(f'{key} = "{value}"\n' for key, value in absent.items() if key not in top)
    load = "" if "load" in keys else "load = 10\n"
    path.write_text(f'{head}{top}\n[workload]\ntool = "nfs"\nset_kb = 1\n{load}{keys}\n')
    return path
