# SPDX-License-Identifier: Apache-2.0
"""Selectors of profiles: options become commands, numbers change, and an unknown name gets a message."""

import contextlib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flashbed.common import paths
from flashbed.profiles.library import FOLDERS, Library, LookupProblem, ProfileKind, Selector
from tests.support.samples import BOARD, FILESYSTEM, MEDIUM, shipped, write


@pytest.fixture
def library(tmp_path: Path) -> Library:
    write(tmp_path / "boards/plain.toml", BOARD)
    write(tmp_path / "media/stick.toml", MEDIUM.format(capacity="40M"))
    write(tmp_path / "filesystems/some.toml", FILESYSTEM)
    return Library((tmp_path, paths.profiles()))


def test_options_become_commands(library: Library) -> None:
    plain = library.filesystem("some")
    assert plain.mkfs_commands("/dev/x") == ("/sbin/mkfs -n 3 /dev/x",)
    assert plain.mount_command("/dev/x", "/mnt") == "mount -t some -o base /dev/x /mnt"
    assert plain.check_command(Path("i")) is None
    full = library.filesystem("some:size=4k,mode=fast,quick,number=5")
    assert full.mkfs_commands("/dev/x") == ("/sbin/mkfs -s 8 -n 5 /dev/x",)
    assert full.mount_options == "base,mode=fast,quick"
    assert library.filesystem("some:quick=off") == library.filesystem("some")


def test_a_flag_chooses_the_module() -> None:
    summary, plain = (shipped().filesystem(name) for name in ("jffs2:summary", "jffs2"))
    assert (summary.module, plain.module) == ("jffs2_summary", None)
    assert shipped().filesystem("jffs2:summary=off") == plain


def test_shipped_commands() -> None:
    fat = shipped().filesystem("fat16:cluster=16k")
    assert fat.mkfs_commands("/dev/mblk0")[0].endswith("-s 32 /dev/mblk0")
    assert fat.check_command(Path("a b.img")) == ["fsck.fat", "-n", "a b.img"]
    assert shipped().filesystem("nilfs2").mount_command("/dev/mblk0", "/mnt").startswith("mount -i -t nilfs2 ")
    assert shipped().filesystem("ubifs").mount_command("/dev/mtd0", "/mnt").endswith("-t ubifs ubi0:study /mnt")


@pytest.mark.parametrize(
    ("kind", "text", "expected"),
    [
        ("filesystem", "smoe", 'no file system "smoe"; did you mean "some"? (searched in '),
        ("filesystem", "some:sise=4k", '"some": no option "sise"; did you mean "size"?'),
        ("filesystem", "some:size=4q", 'option "size" "4q" is not a size'),
        ("filesystem", "some:size=128k", 'option "size" goes from 1k to 64k, not 128k'),
        ("filesystem", "some:size=1025", 'option "size" must be a multiple of 512, not 1025'),
        ("filesystem", "some:number=x", 'option "number" is a whole number, not "x"'),
        ("filesystem", "some:mode=fats", 'option "mode" cannot be "fats"; did you mean "fast"?'),
        ("filesystem", "some:quick=maybe", 'option "quick" is on or off, not "maybe"'),
        ("filesystem", "some:size=4k,size=8k", 'sets "size" twice'),
        ("filesystem", "some:", "is not a profile; write"),
        ("filesystem", "some:size=", "is not an option; write option=value"),
        ("filesystem", "../some", "is not a profile; write"),
        ("medium", "stick:read=1", '"stick": no setting "read"; did you mean "read_ns"?'),
        ("medium", "stick:kind=disk", '"stick": no setting "kind"'),
        ("medium", "stick:queue_depth=0", '"stick": queue_depth must be at least 1, not 0'),
        ("medium", "stick:used_bytes=41M", '"stick": used_bytes 41M is more than capacity_bytes = 40M'),
        ("board", "plain:instruction_ns=4", '"plain": instruction_ns is no longer a setting; write mips'),
        ("board", "plain:mips=0", '"plain": mips must be at least 1'),
        ("board", "plain:cpus=2,line_transfer_ns=0", '"plain": line_transfer_ns must be at least 1, not 0'),
        ("board", "plain:cpus=2,line_transfer_ns=1000001", "line_transfer_ns must be at most 1000000, not 1000001"),
        ("board", "plain:cpus=2,line_transfer_ns=dear", 'line_transfer_ns must be a whole number, not "dear"'),
        (
            "board",
            "plain:line_transfer_ns=40",
            '"plain": line_transfer_ns means nothing with one CPU: leave it out, or',
        ),
        (
            "board",
            "plain:cpus=2,threads_per_core=2,line_transfer_ns=40",
            "line_transfer_ns means nothing with one core, of threads_per_core = 2: leave it out, or",
        ),
        (
            "board",
            "plain:cpus=2,line_transfer_ns=40,line_transfer_other_ns=120",
            '"plain": line_transfer_other_ns means nothing with one socket: leave it out, or set sockets',
        ),
        (
            "board",
            "plain:cpus=2,sockets=2,line_transfer_other_ns=120",
            '"plain": line_transfer_other_ns needs line_transfer_ns, what a handover within a socket costs',
        ),
        ("scheduler", "mq-deadline:fifo=1", 'no tunable "fifo"; did you mean "fifo_batch"?'),
        ("scheduler", "mq-deadline:fifo_batch=x", "tunables.fifo_batch must be a whole number"),
    ],
)
def test_selectors_that_name_nothing(library: Library, kind: ProfileKind, text: str, expected: str) -> None:
    with pytest.raises(LookupProblem) as caught:
        getattr(library, kind)(text)
    assert expected in str(caught.value)


def test_a_study_may_change_numbers(library: Library) -> None:
    medium = library.medium("stick:queue_depth=4,page_bytes=4k,used_bytes=16M")
    assert (medium.queue_depth, medium.parameters["page_bytes"], medium.size_bytes) == (4, 4096, 16 << 20)
    assert library.medium("stick").size_bytes == 40 << 20
    assert library.board("plain:ram=64M").ram == 64 << 20
    scheduler = library.scheduler("mq-deadline:fifo_batch=1,nr_requests=64")
    assert (scheduler.tunables["fifo_batch"], scheduler.tunables["read_expire"], scheduler.nr_requests) == (1, 500, 64)


def test_the_first_folder_wins(tmp_path: Path) -> None:
    write(tmp_path / "profiles/schedulers/none.toml", 'title = "Mine"\nname = "none"\n')
    assert Library.beside(tmp_path / "study.toml").scheduler("none").title == "Mine"
    assert Library.beside(tmp_path / "elsewhere/study.toml").scheduler("none").title != "Mine"


def test_parameters_pass_through(library: Library) -> None:
    medium = library.medium("stick")
    assert medium.parameters == {
        "capacity_bytes": 40 << 20,
        "used_bytes": 0,
        "queue_depth": 1,
        "page_bytes": 2048,
        "read_ns": 25000,
    }


@given(
    st.from_regex(r"[A-Za-z0-9_.+-]+", fullmatch=True),
    st.dictionaries(st.from_regex(r"[a-z_]+", fullmatch=True), st.from_regex(r"[A-Za-z0-9.]+", fullmatch=True)),
)
def test_selectors_survive_being_written(name: str, options: dict[str, str]) -> None:
    tail = ",".join(f"{key}={value}" for key, value in options.items())
    assert Selector.parse(f"{name}:{tail}" if tail else name) == Selector(name, options)


@given(st.text(max_size=30))
def test_no_text_breaks_the_search(text: str) -> None:
    library = shipped()
    for kind in FOLDERS:
        with contextlib.suppress(LookupProblem):
            assert getattr(library, kind)(text)
