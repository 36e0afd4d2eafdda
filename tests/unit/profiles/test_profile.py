# SPDX-License-Identifier: Apache-2.0
"""Profiles: the shipped ones are sound, invalid ones are refused, and selectors change them."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from flashbed.common import paths
from flashbed.common.errors import InputError
from flashbed.common.tomlfile import TomlFile
from flashbed.profiles.filesystem import FileSystem
from flashbed.profiles.library import FOLDERS, Library, LookupProblem, ProfileKind, profile_schema
from tests.support.samples import BOARD, FILESYSTEM, MEDIUM, documented, replaced, shipped, write


def every_profile() -> list[tuple[ProfileKind, str]]:
    return [(kind, name) for kind in FOLDERS for name in shipped().names(kind)]


@pytest.mark.parametrize(("kind", "name"), every_profile())
def test_each_shipped_profile_is_sound(kind: ProfileKind, name: str) -> None:
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
    [("pxa270-520", 520, 1.3), ("s3c2440-400", 400, 1.5), ("s5pv210-800", 800, 0.9), ("core2-desktop", 2830, 1)],
)
def test_a_board_executes_as_many_instructions_a_second_as_its_source_says(
    name: str, clock_mhz: int, cycles_an_instruction: float
) -> None:
    assert shipped().board(name).mips == round(clock_mhz / cycles_an_instruction)


@pytest.mark.parametrize(
    ("name", "cpus"), [("arm64-1000", 1), ("arm64-2x1000", 2), ("imx8mm-1800", 4), ("arm64-8x2000", 8)]
)
def test_a_boards_cpus_are_alike_and_in_one_socket(name: str, cpus: int) -> None:
    board = shipped().board(name)
    assert (board.cpus, board.sockets, board.threads_per_core) == (cpus, 1, 1)


def test_the_largest_board_is_what_the_processor_family_allows() -> None:
    """Seo et al. 2020: 120 CPUs; the family has up to 15 cores per socket, with two threads each."""
    board = shipped().board("xeon-e7-v2-120")
    assert board.cpus == 120
    assert board.cpus // board.sockets // board.threads_per_core == 15


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
        ("board", BOARD, "mips = 1000\n", "instruction_ns = 1\n", ":2: instruction_ns: is no longer a key; write mips"),
        ("board", BOARD, "mips = 1000\n", "mips = 100001\n", ":2: mips: must be at most 100000"),
        ("board", BOARD, "mips = 1000\n", "mips = 0\n", ":2: mips: must be at least 1"),
        ("board", BOARD, '"256M"', '"256Q"', ':3: ram: "256Q" is not a size'),
        ("board", BOARD, '"dma"', '"dma"\ncpus = 0', ":6: cpus: must be at least 1, not 0"),
        ("board", BOARD, '"dma"', '"dma"\ncpus = 121', ":6: cpus: must be at most 120, not 121"),
        ("board", BOARD, '"dma"', '"dma"\ncpus = 4', ":6: cpus: has no source"),
        ("board", BOARD, '"dma"', '"dma"\nline_transfer_ns = 40', ":6: line_transfer_ns: has no source"),
        (
            "board",
            BOARD,
            '"dma"',
            '"dma"\ncpus = 6\nsockets = 4',
            ":6: cpus: 6 cannot be shared out evenly: sockets = 4",
        ),
        ("board", BOARD, '"dma"', '"dma"\nthreads_per_core = 2', "cpus: 1 cannot be shared out evenly"),
        ("board", BOARD, '"dma"', '"pio"', ':5: transfer: "pio" needs pio_sector_ns'),
        ("board", BOARD, '"dma"', '"dma"\npio_sector_ns = 5', 'belongs to transfer = "pio" only'),
        ("board", BOARD, '"dma"', '"dma"\nnand_cycle_ps = 30000', ":6: nand_cycle_ps: has no source"),
        ("board", BOARD, '"dma"', '"dma"\nnand_cycle_ps = -1', ":6: nand_cycle_ps: must be at least 0"),
        ("board", BOARD, '"dma"', '"dma"\nnand_unit = "byte"', 'nand_unit: must be "subpage" or "page", not "byte"'),
        ("board", BOARD, '"dma"', '"usb"', ':5: transfer: must be "dma" or "pio", not "usb"'),
        ("board", BOARD, 'ram            = "assumed: a test"\n', "", ":3: ram: has no source; add ram ="),
        ("board", BOARD, "assumed: a test", " ", "mips: has no source"),
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
            "medium",
            MEDIUM,
            'kind           = "flash"',
            'kind = "nand"\ninterface = "nvme"',
            ':3: interface: is for block media; leave it out, for kind = "nand" is on',
        ),
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
        (
            "filesystem",
            FILESYSTEM,
            "default = 3",
            'module = "x"',
            'number.module: belongs to kind = "flag" or "choice" only',
        ),
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
def test_what_is_wrong_is_told(
    tmp_path: Path, kind: ProfileKind, text: str, old: str, new: str, expected: str | None
) -> None:
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


@pytest.mark.parametrize(
    ("selector", "expected"),
    [
        ("slc-nand-64m:interface=nvme", "interface is for block media; leave it out"),
        ("slc-nand-64m:interface=plain", "interface is for block media; leave it out"),
        ("null-2g:interface=sd,used_bytes=65M", None),
        ("sd-good:used_bytes=64000000", 'used_bytes must be a multiple of 512k behind interface = "sd", not 64000000'),
        ("null-2g:interface=sd,capacity_bytes=64000000", "capacity_bytes must be a multiple of 512k"),
    ],
)
def test_what_cannot_stand_behind_an_interface(selector: str, expected: str | None) -> None:
    if expected is None:
        assert shipped().medium(selector)
        return
    with pytest.raises(LookupProblem) as caught:
        shipped().medium(selector)
    assert expected in str(caught.value)


@pytest.mark.parametrize(
    ("interface", "sector_bytes", "expected"),
    [
        ("sata", 4096, 'must be 512 behind interface = "sata", not 4096; or take another interface'),
        ("sd", 4096, 'must be 512 behind interface = "sd", not 4096'),
        ("emmc", 1024, 'must be 512 or 4096 behind interface = "emmc", not 1024'),
        *((interface, 4096, None) for interface in ("emmc", "nvme", "usb", "plain")),
        *((interface, 512, None) for interface in ("sata", "sd", "emmc")),
    ],
)
def test_sectors_that_an_interface_does_not_know(
    tmp_path: Path, interface: str, sector_bytes: int, expected: str | None
) -> None:
    text = (
        MEDIUM.replace("{capacity}", "40M").replace("page_bytes ", "sector_bytes ").replace('"2k"', str(sector_bytes))
    )
    path = write(
        tmp_path / FOLDERS["medium"] / "some.toml", text.replace("[source]", f'interface = "{interface}"\n[source]')
    )
    if expected is None:
        assert Library((tmp_path,)).medium("some").interface == interface
        return
    with pytest.raises(InputError) as caught:
        Library((tmp_path,)).medium("some")
    assert f"{path}:5: sector_bytes: {expected}" in caught.value.message


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
    message = shipped().filesystem("f2fs").misfit(40 << 20, 1, "cf-40m")
    assert message == "needs at least 52M, and cf-40m has 40M"


@pytest.mark.parametrize("kind", list(FOLDERS))
def test_schemas_are_closed(kind: ProfileKind) -> None:
    schema = profile_schema(kind)
    assert schema["required"]
    assert schema["additionalProperties"] == ({"type": "integer"} if kind == "medium" else False)
