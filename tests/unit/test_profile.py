# SPDX-License-Identifier: Apache-2.0
"""Profiles: that those shipped are sound, what is refused, and what a selector makes of them."""

import contextlib
import os
import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from samples import BOARD, MEDIUM, documented, replaced, shipped, write

from flashbed.common import paths
from flashbed.common.errors import InputError
from flashbed.common.tomlfile import TomlFile
from flashbed.profiles.filesystem import FileSystem
from flashbed.profiles.library import FOLDERS, Kind, Library, LookupProblem, Selector, profile_schema

FILESYSTEM = """\
title = "Some"
needs = "block"
mkfs  = ["/sbin/mkfs {options} {device}"]
[mount]
type  = "some"
options = "base"
[options.size]
meaning = "a size"
kind    = "size"
min     = "1k"
max     = "64k"
divide  = 512
mkfs    = "-s {value}"
max_units = 100
[options.number]
meaning = "a number"
kind    = "int"
default = 3
mkfs    = "-n {value}"
[options.mode]
meaning = "a choice"
kind    = "choice"
choices = ["slow", "fast"]
mount   = "mode={value}"
[options.quick]
meaning = "a flag"
kind    = "flag"
mount   = "quick"
"""


def every_profile() -> list[tuple[Kind, str]]:
    return [(kind, name) for kind in FOLDERS for name in shipped().names(kind)]


@pytest.mark.parametrize(("kind", "name"), every_profile())
def test_each_shipped_profile_is_sound(kind: Kind, name: str) -> None:
    assert getattr(shipped(), kind)(name)


def test_each_documented_profile_is_sound(tmp_path: Path) -> None:
    kinds = {folder: kind for kind, folder in FOLDERS.items()}
    files = [file for file in documented("profiles.md") if file[0].startswith("profiles/")]  # not the study of them all
    assert len(files) == len(FOLDERS)
    for name, text in files:
        path = write(tmp_path / name, text)
        assert getattr(Library((tmp_path / "profiles",)), kinds[path.parent.name])(path.stem)


@pytest.mark.parametrize(
    ("name", "clock_mhz", "cycles_an_instruction"),
    [("pxa270-520", 520, 1.3), ("s3c2440-400", 400, 1.5), ("s5pv210-800", 800, 0.9)],
)
def test_a_boards_instruction_time_is_the_power_of_two_nearest_to_what_its_source_says(
    name: str, clock_mhz: int, cycles_an_instruction: float
) -> None:
    sought_ns = cycles_an_instruction * 1000 / clock_mhz
    nearest = min((1 << shift for shift in range(11)), key=lambda ns: max(ns / sought_ns, sought_ns / ns))
    assert shipped().board(name).instruction_ns == nearest


@pytest.mark.parametrize("name", ["fat16:cluster=16k", "ext2:block=1k", "ext4:nojournal", "f2fs", "nilfs2"])
def test_shipped_commands_make_sound_file_systems(tmp_path: Path, name: str) -> None:
    filesystem = shipped().filesystem(name)
    checker = filesystem.check_command(tmp_path / "image")
    for program in (*filesystem.programs, *(checker or [])[:1]):
        if not shutil.which(program, path=f"{os.environ['PATH']}:/sbin:/usr/sbin"):
            pytest.skip(f"this host has no {program}")
    with (tmp_path / "image").open("wb") as image:
        image.truncate(256 << 20)
    for command in filesystem.mkfs_commands(str(tmp_path / "image")):
        subprocess.run(command, shell=True, check=True, stdin=subprocess.DEVNULL, capture_output=True)
    if checker:
        subprocess.run(checker, check=True, stdin=subprocess.DEVNULL, capture_output=True)
        with (tmp_path / "image").open("r+b") as image:  # all that is written down of the file system
            for start in range(0, 64 << 20, 4096):
                image.seek(start)
                if any(image.read(4096)):
                    image.seek(start)
                    image.write(b"\xa5" * 4096)
        assert subprocess.run(checker, stdin=subprocess.DEVNULL, capture_output=True).returncode != 0


def test_every_shipped_option_renders() -> None:
    library = shipped()
    for name in library.names("filesystem"):
        file = TomlFile.read(paths.profiles() / "filesystems" / f"{name}.toml")
        for option, shape in file.validate(FileSystem).options.items():
            for text in shape.choices or [{"flag": "on", "size": "4k"}.get(shape.kind, str(shape.min))]:
                resolved = library.filesystem(f"{name}:{option}={text}")
                assert "{options}" not in "".join(resolved.mkfs)
                assert "{value}" not in "".join(resolved.mkfs) + resolved.mount_options


@pytest.mark.parametrize(
    ("kind", "text", "old", "new", "expected"),
    [
        ("board", BOARD, "instruction_ns = 1\n", "instruction_ns = 3\n", ":2: instruction_ns: must be a power of two"),
        ("board", BOARD, "instruction_ns = 1\n", "instruction_ns = 0\n", ":2: instruction_ns: must be at least 1"),
        ("board", BOARD, '"256M"', '"256Q"', ':3: ram: "256Q" is not a size'),
        ("board", BOARD, '"dma"', '"pio"', ':5: transfer: "pio" needs pio_sector_ns'),
        ("board", BOARD, '"dma"', '"dma"\npio_sector_ns = 5', 'belongs to transfer = "pio" only'),
        ("board", BOARD, '"dma"', '"dma"\nnand_cycle_ps = 30000', ":6: nand_cycle_ps: has no source"),
        ("board", BOARD, '"dma"', '"dma"\nnand_cycle_ps = -1', ":6: nand_cycle_ps: must be at least 0"),
        ("board", BOARD, '"dma"', '"dma"\nnand_unit = "byte"', 'nand_unit: must be "subpage" or "page", not "byte"'),
        ("board", BOARD, '"dma"', '"usb"', ':5: transfer: must be "dma" or "pio", not "usb"'),
        ("board", BOARD, 'ram            = "assumed: a test"\n', "", ":3: ram: has no source; add ram ="),
        ("board", BOARD, "assumed: a test", " ", "instruction_ns: has no source"),
        (
            "board",
            BOARD,
            "[source]",
            '[source]\nrom = "x"',
            ':7: source.rom: names no key of this file; did you mean "ram"',
        ),
        ("medium", MEDIUM, '"flash"', '"tape"', ':2: kind: must be "flash", "disk", "null" or "nand", not "tape"'),
        ("medium", MEDIUM, "25000\n", "25.5\n", ":6: read_ns: must be a whole number"),
        ("medium", MEDIUM, "25000\n", '"25k"\n', ':6: read_ns: must be a whole number, not "25k"'),
        ("medium", MEDIUM, '"2k"', '"2q"', ':5: page_bytes: must be a whole number, not "2q"'),
        ("medium", MEDIUM, "25000\n", "25000\nbusy_ns = 1\n", ":7: busy_ns: has no source"),
        ("medium", MEDIUM, "page_bytes", "used_bytes", None),
        (
            "filesystem",
            FILESYSTEM,
            "{device}",
            "{devise}",
            ":3: mkfs[0]: {devise} means nothing here; there are: {device}",
        ),
        ("filesystem", FILESYSTEM, " {options}", "", "mkfs: does not say {options}"),
        ("filesystem", FILESYSTEM, 'mkfs    = "-s {value}"', 'mkfs = "-s"', "options.size.mkfs: does not say {value}"),
        ("filesystem", FILESYSTEM, 'mkfs    = "-s {value}"', "", "options.size: does nothing"),
        ("filesystem", FILESYSTEM, "default = 3", 'default = "x"', "options.number.default: is a whole number"),
        ("filesystem", FILESYSTEM, "default = 3", 'module = "x"', 'number.module: belongs to kind = "flag" only'),
        (
            "filesystem",
            FILESYSTEM,
            'mount   = "quick"',
            'module = "x"\n[options.other]\nmeaning = "m"\nkind = "flag"\nmodule = "y"',
            "options.other.module: is the second: only one option can choose the module",
        ),
        (
            "filesystem",
            FILESYSTEM,
            "meaning",
            "meening",
            ':8: options.size.meening: no such key; did you mean "meaning"',
        ),
        ("filesystem", FILESYSTEM, "meaning", "meening", ":7: options.size.meaning: is missing"),
        ("filesystem", FILESYSTEM, 'needs = "block"', 'needs = "block"\nprograms = ["mkfs"]', "must be a full path"),
        ("filesystem", FILESYSTEM, 'needs = "block"', 'needs = "block"\ncheck = "fsck"', "does not say {image}"),
    ],
)
def test_what_is_wrong_is_told(tmp_path: Path, kind: Kind, text: str, old: str, new: str, expected: str | None) -> None:
    text = text.replace("{capacity}", "40M")
    path = write(
        tmp_path / FOLDERS[kind] / "some.toml",
        text.replace(old, new) if old == "page_bytes" else replaced(text, (old, new)),
    )
    library = Library((tmp_path,))
    if expected is None:
        getattr(library, kind)("some")
        return
    with pytest.raises(InputError) as caught:
        getattr(library, kind)("some")
    assert str(path) in caught.value.message
    assert expected in caught.value.message


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
    assert (summary.module, plain.module) == ("jffs2_summary", "jffs2")
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
        ("board", "plain:instruction_ns=3", '"plain": instruction_ns must be a power of two'),
        ("scheduler", "mq-deadline:fifo=1", 'no tunable "fifo"; did you mean "fifo_batch"?'),
        ("scheduler", "mq-deadline:fifo_batch=x", "tunables.fifo_batch must be a whole number"),
    ],
)
def test_selectors_that_name_nothing(library: Library, kind: Kind, text: str, expected: str) -> None:
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


@pytest.mark.parametrize(
    ("selector", "size", "fits"),
    [
        # mkfs.fat 4.2 takes exactly these, by trial.
        ("fat16:cluster=16k", 1 << 30, True),
        ("fat16:cluster=16k", (1 << 30) + (1 << 20), False),
        ("fat16:cluster=32k", 2_000_000_000, True),
        ("fat16:cluster=32k", 2 << 30, False),
        ("fat16:cluster=32k", 40 << 20, False),
        ("fat16:cluster=2k", 40 << 20, True),
        ("fat16", 40 << 20, True),
        ("fat16", (4 << 30) + 1, False),
        ("f2fs", 52 << 20, True),
        ("f2fs", (52 << 20) - 1, False),
    ],
)
def test_what_fits_on_a_medium(selector: str, size: int, fits: bool) -> None:
    assert (shipped().filesystem(selector).misfit(size, 1, "m") is None) == fits


def test_a_misfit_names_both_numbers() -> None:
    told = shipped().filesystem("f2fs").misfit(40 << 20, 1, "cf-40m")
    assert told == "needs at least 52M, and cf-40m has 40M"


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


@pytest.mark.parametrize("kind", list(FOLDERS))
def test_schemas_are_closed(kind: Kind) -> None:
    schema = profile_schema(kind)
    assert schema["required"]
    assert schema["additionalProperties"] == ({"type": "integer"} if kind == "medium" else False)
