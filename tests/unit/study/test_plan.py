# SPDX-License-Identifier: Apache-2.0
"""The plan's order, and the key: it changes with everything that affects a result, and with nothing else."""

import json
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flashbed.machine import guest_job
from flashbed.profiles.filesystem import ResolvedFileSystem
from flashbed.profiles.profile import Board, Medium, Scheduler, Translation
from flashbed.study.loading import load_study
from flashbed.study.plan import Cell, CellWorkload, Placement, cell_inputs, key, plan
from tests.support.samples import BOARD, MEDIUM, STUDY, write, write_study

ENVIRONMENT = {"image": "abc", "emulator": "7.2"}


def keys(path: Path) -> list[str]:
    return [key(cell, ENVIRONMENT) for cell in plan(load_study(path))]


@pytest.fixture(scope="module")
def cell(tmp_path_factory: pytest.TempPathFactory) -> Cell:
    return plan(load_study(write_study(tmp_path_factory.mktemp("plan"))))[0]


def test_the_order(tmp_path: Path) -> None:
    cells = plan(load_study(write_study(tmp_path)))
    assert len(cells) == 16
    assert [cell.seed for cell in cells] == [1] * 8 + [2] * 8
    assert [tuple(cell.coordinates.values()) for cell in cells[:3]] == [
        ("fat16:cluster=32k", "read", "4k"),
        ("fat16:cluster=32k", "read", "64k"),
        ("fat16:cluster=32k", "write", "4k"),
    ]
    assert cells[0].label == "fat16:cluster=32k read 4k, seed 1"
    assert len(set(keys(tmp_path / "sample.toml"))) == 16


def test_a_cell_is_resolved(cell: Cell) -> None:
    assert cell.workload.parameters == {
        "pattern": "read",
        "request": 4096,
        "file": 8 << 20,
        "io_size": 0,
        "flush": "fsync",
        "cache": "cold",
        "direct": False,
        "processes": 1,
        "queue_depth": 1,
        "allocate": False,  # files that are read were written before
    }
    assert cell.filesystem.mkfs[0].endswith("-s 64 {device}")
    assert cell.kernel == "6.1"
    assert json.loads(json.dumps(cell_inputs(cell))) == cell_inputs(cell)


@pytest.mark.parametrize(
    "pairs",
    [
        [('"A study"', '"Another"')],
        [("seeds      = 2", 'seeds = [1, 2]\nsource = "a paper"\nquestion = "why?"')],
        [('["4k", "64k"]', '[4096, "64KiB"]')],
        [('file  = "8M"\nflush = "fsync"', 'flush = "fsync"\ndirect = false\nfile = "8192k"')],
        [('board      = "plain"\nmedium     = "stick"', 'medium = "stick"\nboard = "plain"\nscheduler = "none"')],
        [("ext2:block=4k", "ext2")],
        [('title   = "All"', 'title = "Everything"')],
    ],
)
def test_what_does_not_touch_a_result(tmp_path: Path, pairs: list[tuple[str, str]]) -> None:
    before = keys(write_study(tmp_path))
    assert keys(write_study(tmp_path, *pairs)) == before


def test_names_titles_and_sources_of_profiles_do_not_matter(tmp_path: Path) -> None:
    before = keys(write_study(tmp_path))
    path = write_study(tmp_path, ('"plain"', '"renamed"'))
    write(tmp_path / "profiles/boards/renamed.toml", BOARD.replace("A board", "B").replace("a test", "b"))
    write(tmp_path / "profiles/media/stick.toml", MEDIUM.format(capacity="2048000k").replace("A medium", "M"))
    assert keys(path) == before


@pytest.mark.parametrize(
    "pairs",
    [
        [('"8M"', '"9M"')],
        [('flush = "fsync"', "")],
        [('flush = "fsync"', 'flush = "fsync"\ndirect = true')],
        [('flush = "fsync"', 'flush = "fsync"\nprocesses = 2')],
        [("seeds      = 2", "seeds = [3, 4]")],
        [("seeds      = 2", 'seeds = 2\nscheduler = "mq-deadline"')],
        [("seeds      = 2", 'seeds = 2\nkernel = "6.12"')],
        [('"stick"', '"stick:read_ns=25001"')],
        [('"stick"', '"stick:used_bytes=1999M"')],
        [('"plain"', '"plain:ram=128M"')],
        [('"plain"', '"plain:cpus=2"')],
        [("fat16:cluster=32k", "fat16:cluster=64k"), ("ext2:block=4k", "ext2:block=1k")],
        [("fat16:cluster=32k", "nilfs2"), ("ext2:block=4k", "ext2:atime=noatime")],
    ],
)
def test_what_touches_a_result(tmp_path: Path, pairs: list[tuple[str, str]]) -> None:
    before = set(keys(write_study(tmp_path)))
    assert not before & set(keys(write_study(tmp_path, *pairs)))


def test_the_prices_of_a_shared_line_are_in_the_key(tmp_path: Path) -> None:
    boards = ["cpus=4,sockets=2", *(f"cpus=4,sockets=2,line_transfer_ns={prices}" for prices in ("40", "41"))]
    boards += [f"{boards[1]},line_transfer_other_ns={ns}" for ns in (120, 121)]
    digests = [
        set(keys(write_study(tmp_path / str(at), ('"plain"', f'"plain:{board}"')))) for at, board in enumerate(boards)
    ]
    assert len(set.union(*digests)) == sum(map(len, digests))


def different(value: Any) -> Any:
    """Return another value of the same type."""
    match value:
        case bool():
            return not value
        case int():
            return value + 1
        case str():
            return value + "x"
        case None:
            return 7
        case dict():
            return {**value, "new": 1}
        case _:
            return (*value, "new")


def changes(cell: Cell) -> list[tuple[str, Cell]]:
    """Yield the cell with each single field of each part changed, except fields without effect on a result."""
    changed: list[tuple[str, Cell]] = [
        ("kernel", replace(cell, kernel="6.2")),
        ("seed", replace(cell, seed=99)),
        ("tool", replace(cell, workload=CellWorkload("other", cell.workload.parameters))),
        ("phase", replace(cell, placement=replace(cell.placement, phase_us=cell.placement.phase_us + 1))),
        ("filler", replace(cell, placement=replace(cell.placement, filler_kib=cell.placement.filler_kib + 1))),
    ]
    for part, model in (("board", Board), ("medium", Medium), ("scheduler", Scheduler)):
        profile = getattr(cell, part)
        for name in [*model.model_fields, *(profile.model_extra or {})]:
            # The environment has a module's digest. The way of aging does not affect a medium that is not aged
            if name not in ("title", "source", "module_source", "aged_fill_percent", "aged_passes"):
                value = "bfq" if name == "module" else different(getattr(profile, name))
                new = profile.model_copy(update={name: value})
                changed.append((f"{part}.{name}", replace(cell, **{part: new})))
    for field in fields(ResolvedFileSystem):
        # Options decide whether a file system compresses; the key has their effect on mkfs and mount.
        # The key does not have a module's directory; the environment has its digest.
        without_effect = (
            "title",
            "min_bytes",
            "max_bytes",
            "limit_reason",
            "most_bits_per_cell",
            "compresses",
            "reclaims",
        )
        # The key has the repair only of a cell with power cuts
        if field.name not in (*without_effect, "module_source", "repair"):
            new = replace(cell.filesystem, **{field.name: different(getattr(cell.filesystem, field.name))})
            changed.append((f"filesystem.{field.name}", replace(cell, filesystem=new)))
    for name, value in cell.workload.parameters.items():
        parameters = {**cell.workload.parameters, name: different(value)}
        changed.append((f"workload.{name}", replace(cell, workload=CellWorkload("fio", parameters))))
    return changed


def test_every_field_of_a_cell_is_in_the_key(cell: Cell) -> None:
    field_of_key = {key(cell, ENVIRONMENT): "the cell itself"}
    for name, changed in changes(cell):
        changed_key = key(changed, ENVIRONMENT)
        assert changed_key not in field_of_key, f"{name} has the key of {field_of_key[changed_key]}"
        field_of_key[changed_key] = name
    assert len(field_of_key) > 25


def test_a_repair_is_in_the_key_of_a_cell_with_power_cuts(cell: Cell) -> None:
    repaired = replace(cell, filesystem=replace(cell.filesystem, repair=("fsck -y {device}",)))
    assert key(repaired, ENVIRONMENT) == key(cell, ENVIRONMENT)
    assert key(replace(repaired, power_cuts=1), ENVIRONMENT) != key(replace(cell, power_cuts=1), ENVIRONMENT)


@given(
    st.dictionaries(st.text(max_size=8), st.text(max_size=8), max_size=4),
    st.dictionaries(st.text(max_size=8), st.text(max_size=8), max_size=4),
)
def test_the_environment_is_in_the_key(cell: Cell, environment: dict[str, str], other: dict[str, str]) -> None:
    assert (key(cell, environment) == key(cell, other)) == (environment == other)
    assert key(cell, dict(reversed(environment.items()))) == key(cell, environment)


@given(data=st.data())
def test_the_order_of_a_file_does_not_matter(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    """Keys within a table and tables within the file, in any order, give the same repetitions."""
    top, *tables = STUDY.strip().split("\n\n")
    shuffled = ["\n".join(data.draw(st.permutations(top.splitlines())))]
    for table in data.draw(st.permutations(tables)):
        header, *lines = table.splitlines()
        shuffled.append("\n".join([header, *data.draw(st.permutations(lines))]))
    folder = tmp_path_factory.mktemp("order")
    expected = set(keys(write_study(folder)))
    assert set(keys(write(folder / "sample.toml", "\n\n".join(shuffled)))) == expected


def test_a_job_is_in_the_key(tmp_path: Path) -> None:
    job = ('file  = "8M"\nflush = "fsync"', 'job = "my.fio"')
    path = write_study(tmp_path, job)
    write(tmp_path / "my.fio", "[a]\nrw=${pattern}\nbs=${request}\n")
    cells = plan(load_study(path))
    assert cells[0].workload.parameters["variables"] == {"pattern": "read", "request": "4k"}
    before = keys(path)
    assert len(set(before)) == 16
    write(tmp_path / "my.fio", "[a]\nrw=${pattern}\nbs=${request}\niodepth=2\n")
    assert not set(before) & set(keys(path))


@given(st.integers(min_value=1, max_value=1 << 62))
def test_placement_stays_in_its_range(seed: int) -> None:
    placement = Placement.of(seed)
    assert 0 <= placement.filler_kib <= 1023
    assert 0 <= placement.phase_us <= 20_000


def test_placements_are_the_same_everywhere() -> None:
    assert Placement.of(1) == Placement(filler_kib=541, phase_us=15536)


def test_defaults_are_in_the_key_as_any_value_is(cell: Cell) -> None:
    inputs = cell_inputs(cell)
    prices = {
        "line_transfer_ns",
        "line_transfer_other_ns",
    }  # newer fields, which are in a key only if the profile names them
    assert set(inputs["board"]) == set(Board.model_fields) - {"title", "source"} - prices
    assert set(inputs["translation"]) == set(Translation.model_fields) - {"title", "source", "bad_blocks"}
    assert inputs["translation"]["device"] is None
    assert {"module", "attach", "detach"} <= set(inputs["filesystem"])


def test_keys_are_the_same_everywhere() -> None:
    """If this fails, every stored result is measured again: increase KEY_VERSION only for a reason.

    Version 2: all of a board, a translation and a file system is in the key, defaults included.
    """
    source = {"mips": "a", "ram": "a", "capacity_bytes": "a", "queue_depth": "a"}
    cell = Cell(
        coordinates={},
        board=Board(title="b", source=source, mips=1000, ram=1 << 28, cpu="c", transfer="dma"),
        medium=Medium(title="m", source=source, kind="null", capacity_bytes=1 << 30),
        filesystem=ResolvedFileSystem(
            "f", "block", None, 0, None, "", (), (), None, ("mkfs {device}",), (), (), "f", "", "", "{device}", 0, ""
        ),
        translation=Translation(title="t"),
        scheduler=Scheduler(title="s", name="none"),
        kernel="6.1",
        workload=CellWorkload("fio", {"pattern": "read"}),
        seed=1,
        placement=Placement.of(1),
    )
    # The number of CPUs, of sockets and of threads per core is part of each key
    assert key(cell, ENVIRONMENT) == "70595abbff71b9b62024c8667c96fa76c08a7210d8aa53f6e33a7ff31c9deb20"


def test_a_scheduler_is_only_in_guests_and_keys_of_cells_that_have_a_queue(tmp_path: Path) -> None:
    chip = ('medium     = "stick"', 'medium = "slc-nand-64m"')
    axes = ('["fat16:cluster=32k", "ext2:block=4k"]', '["jffs2", "ext2"]\nscheduler = ["none", "cfq"]')
    lies = ('translation = ["none", "ftl-page"]\n[workload]', "[workload]")
    skip = '[{filesystem = "jffs2", translation = "ftl-page"}, {filesystem = "ext2", translation = "none"}]'
    path = write_study(tmp_path, chip, axes, (lies[1], lies[0]), ("seeds      = 2", f"seeds = 1\nskip = {skip}"))
    path.write_text(path.read_text().partition("[answer]")[0])
    chosen: dict[str, set[str]] = {}
    keys: dict[str, set[str]] = {}
    guests: dict[str, set[tuple[tuple[str, bytes], ...]]] = {}
    for cell in plan(load_study(path)):
        if cell.coordinates["pattern"] == "read" and cell.coordinates["request"] == "4k":
            name = cell.coordinates["filesystem"]
            chosen.setdefault(name, set()).add(cell.scheduler.name)
            keys.setdefault(name, set()).add(key(cell, {}))
            guests.setdefault(name, set()).add(tuple(guest_job.files(cell).items()))
    assert chosen == {"jffs2": {"none"}, "ext2": {"none", "cfq"}}
    assert (len(guests["jffs2"]), len(guests["ext2"])) == (1, 2)
    assert (len(keys["jffs2"]), len(keys["ext2"])) == (1, 2)
