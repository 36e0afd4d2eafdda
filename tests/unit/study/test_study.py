# SPDX-License-Identifier: Apache-2.0
"""A valid study is loaded in full. Each contradiction is reported with its line and a way out."""

from pathlib import Path

import pytest

from flashbed.common import paths
from flashbed.common.errors import InputError
from flashbed.profiles.library import Library
from flashbed.result import columns
from flashbed.result.metrics import METRICS
from flashbed.study.format import STACK, SYSTEM
from flashbed.study.loading import load_study, study_schema
from flashbed.workload import WORKLOADS
from tests.support.facts import Facts
from tests.support.samples import documented, load, message, write, write_study


@pytest.mark.parametrize("path", sorted(paths.studies().glob("*.toml")), ids=lambda path: path.stem)
def test_each_shipped_study_is_sound(path: Path) -> None:
    assert list(load_study(path).combinations())


def test_the_documented_study_is_sound(tmp_path: Path) -> None:
    text = dict(documented("studies.md"))["my.toml"]
    assert len(list(load_study(write(tmp_path / "my.toml", text)).combinations())) == 18


def test_a_sound_study(tmp_path: Path) -> None:
    study = load(tmp_path)
    assert (study.name, study.title, study.seeds, study.tool) == ("sample", "A study", (1, 2), "fio")
    assert study.fixed == {
        "board": "plain",
        "medium": "stick",
        "translation": "none",
        "scheduler": "none",
        "kernel": "6.1",
    }
    assert list(study.axes) == ["filesystem", "pattern", "request"]
    assert study.workload == {"file": "8M", "flush": "fsync"}
    assert study.figures[0].where == {"pattern": ("write",)}
    assert study.figures[0].series == ("filesystem",)
    assert next(study.combinations()) == {"filesystem": "fat16:cluster=32k", "pattern": "read", "request": "4k"}
    assert len(list(study.combinations())) == 8


def test_a_study_without_axes_or_report(tmp_path: Path) -> None:
    write_study(tmp_path)
    text = 'title = "x"\nboard = "plain"\nmedium = "stick"\nfilesystem = "ext2"\n'
    text += '[workload]\ntool = "fio"\npattern = "read"\nrequest = 4096\nfile = "1M"\n'
    study = load_study(write(tmp_path / "small.toml", text))
    assert list(study.combinations()) == [{}]
    assert (study.answer, study.figures, study.seeds) == (None, (), (1, 2, 3))
    assert [(table.title, table.metric) for table in study.tables] == [("All cells", ("bandwidth",))]


def test_values_stay_as_written(tmp_path: Path) -> None:
    axes = 'request    = ["4k", "64k"]', "request = [4096, '64KiB']\ndirect = [false, true]\nprocesses = [1, 2]"
    figure = 'series = "filesystem"', 'series = "filesystem, direct, processes"'
    table = 'rows    = ["pattern", "request"]', 'rows = "pattern, request, direct, processes"'
    study = load(tmp_path, axes, figure, table)
    assert study.axes["request"] == ("4096", "64KiB")
    assert study.axes["direct"] == ("false", "true")
    assert study.axes["processes"] == ("1", "2")


def test_short_names_stand_for_all_options(tmp_path: Path) -> None:
    axis = '"ext2:block=4k"]', '"ext2:block=4k", "ext2:block=1k", "ext2"]'
    study = load(tmp_path, axis, ("seeds      = 2", 'skip = [{ filesystem = "ext2", pattern = "read" }]'))
    assert study.skip == ({"filesystem": ("ext2:block=4k", "ext2:block=1k", "ext2"), "pattern": ("read",)},)
    assert {c["filesystem"] for c in study.combinations() if c["pattern"] == "read"} == {"fat16:cluster=32k"}


SEEDS, AXES, TOOL = "seeds      = 2", "[axes]", 'tool  = "fio"'
FILESYSTEMS = '"fat16:cluster=32k", "ext2:block=4k"'


def test_an_answer_may_be_over_one_value(tmp_path: Path) -> None:
    """Nothing is compared; the report shows the figures."""
    study = load_study(write_study(tmp_path, (FILESYSTEMS, '"ext2"')))
    assert study.answer
    assert study.answer.compare == ("filesystem",)


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        # names
        ("medium     =", "medum =", '3: medum: no such key; did you mean "medium"?'),
        ("pattern    =", "patern =", '8: axes.patern: is no axis; did you mean "pattern"?'),
        (TOOL, 'tool = "foi"', '12: workload.tool: no tool "foi"; did you mean "fio"?'),
        (TOOL, "", '11: workload.tool: is missing; write tool = "fio"'),
        (TOOL, TOOL + '\nfil = "1M"', '13: workload.fil: is no parameter of fio; did you mean "file"?'),
        (AXES, '[axes]\nskip = [{ pattern = "read" }]', "6: axes: skip is not an axis; move it to the top"),
        # profiles
        # By their letters FAT32 and exFAT are as near as FAT16, and all three are shipped
        (
            FILESYSTEMS,
            '"fat61"',
            '7: axes.filesystem[0]: no file system "fat61"; did you mean "fat16"? (searched in ',
        ),
        (
            FILESYSTEMS,
            '"btrfs"',
            '7: axes.filesystem[0]: no file system "btrfs"; there are: exfat, ext2, ext4, f2fs, fat16',
        ),
        (FILESYSTEMS, '"ext2:blok=4k"', '7: axes.filesystem[0]: "ext2": no option "blok"; did you mean "block"?'),
        ('"stick"', '"stik"', '3: medium: no medium "stik"; did you mean "stick"?'),
        (SEEDS, 'scheduler = "noop"', '4: scheduler: no scheduler "noop"'),
        (SEEDS, 'kernel = "six"', '4: kernel: must be such as "6.1", not "six"'),
        # fixed and varied
        (AXES, '[axes]\nmedium = ["card"]', "3: medium: is fixed here and varied under [axes]; keep one of the two"),
        ('"8M"', '"8M"\nrequest = "4k"', "14: workload.request: is fixed here and varied under [axes]"),
        ('medium     = "stick"', "", ' medium is missing; fix it at the top (medium = "usb-stick-2g") or add an axis'),
        # values
        ('["4k", "64k"]', "[]", "9: axes.request: has no values"),
        ('["4k", "64k"]', '["4k", "4k"]', '9: axes.request[1]: "4k" is there twice'),
        ('["4k", "64k"]', '["4k", "4K"]', '9: axes.request[1]: "4K" is the same as "4k"; keep one of them'),
        ('["4k", "64k"]', '["64k", "4k", 4096]', '9: axes.request[2]: "4096" is the same as "4k"; keep one of them'),
        ("ext2:block=4k", "fat16:cluster=32768", '"fat16:cluster=32768" is the same as "fat16:cluster=32k"'),
        ('["4k", "64k"]', '"4k"', "9: axes.request: must be a list of values in [ ]"),
        ('["4k", "64k"]', '["4q"]', '9: axes.request[0]: "4q" is not a size'),
        ('["4k", "64k"]', '["0"]', "9: axes.request[0]: must be greater than 0, not 0"),
        ('["read", "write"]', '["read", "wirte"]', '8: axes.pattern[1]: must be "read", "randread", "write"'),
        (SEEDS, "seeds = 0", "4: seeds: must be a number from 1 to 1000, or a list"),
        (SEEDS, 'seeds = "2"', "4: seeds: must be a number from 1 to 1000, or a list"),
        (SEEDS, "seeds = [1, 1]", "4: seeds: must be a number from 1 to 1000, or a list"),
        (SEEDS, "seeds = []", "4: seeds: must be a number from 1 to 1000, or a list"),
        ('["4k", "64k"]', str([str(512 * n) for n in range(1, 12600)]), "6: axes: 50396 combinations with 2 seeds"),
        # workload
        ('file  = "8M"', "", "11: workload: file is missing; give it here or as an axis"),
        ('"8M"', '"32k"', "9: axes.request[1]: 64k is larger than file = 32k: no request would fit"),
        (TOOL, TOOL + "\nqueue_depth = 4", "13: workload.queue_depth: 4 needs direct = true"),
        ('"fsync"', '"sync"', '14: workload.flush: must be "none", "close", "fsync" or "fsync-each", not "sync"'),
        (
            '["4k", "64k"]',
            '["4k", "1000"]\ndirect = [true]',
            "9: axes.request[1]: with direct = true it must be a multiple",
        ),
        # places
        ('"8M"', '"3G"', "13: workload.file: file = 3G has no room on stick, which has 2000M; change one of the two"),
        ('"8M"', '"1G"\nprocesses = 2', "file = 1G for each of 2 processes has no room on stick"),
        (FILESYSTEMS, '"f2fs"]\nmedium = ["card", "stick"', None),
        ("cluster=32k", "cluster=16k", "7: axes.filesystem[0]: fat16:cluster=16k holds at most 1073807360 bytes"),
        (FILESYSTEMS, '"jffs2"', "7: axes.filesystem[0]: jffs2 needs raw flash (mtd), and stick is a block device"),
        (
            '"stick"',
            '"slc-nand-64m"',
            "7: axes.filesystem[1]: ext2:block=4k needs a block device, and slc-nand-64m is raw flash; give the study "
            "a translation (ftl-bast, ftl-fast, ftl-page, mtdblock)",
        ),
        (
            '"stick"',
            '"mlc-nand"\ntranslation = "mtdblock"',
            "4: translation: mtdblock cannot live with bad blocks, and mlc-nand has 2 from the factory; set "
            "factory_bad_blocks=0, or change one of the two",
        ),
        (
            SEEDS,
            'translation = "ftl-page"',
            "4: translation: ftl-page needs raw flash (mtd), and stick is a block device",
        ),
        # skip
        (SEEDS, 'skip = [{ patern = "read" }]', '4: skip[0].patern: "patern" is no axis of this study; did you mean'),
        (
            SEEDS,
            'skip = [{ pattern = "raed" }]',
            '4: skip[0].pattern: "raed" is not on the axis "pattern"; did you mean',
        ),
        (SEEDS, 'skip = [{ pattern = ["read", "write"] }]', "4: skip: leaves out every combination"),
        (SEEDS, "skip = [{}]", "4: skip[0]: is empty, and would leave out everything"),
        (SEEDS, 'skip = [{ medium = "stick" }]', '4: skip[0].medium: "medium" is fixed in this study, not an axis'),
        # report
        ('compare = "filesystem"', 'compare = "filesytem"', '17: answer.compare: "filesytem" is no axis of this study'),
        ('compare = "filesystem"', 'compare = "medium"', '17: answer.compare: "medium" is fixed in this study'),
        ('metric  = "bandwidth"', 'metric = "bandwith"', '18: answer.metric: no metric "bandwith"; did you mean'),
        ('by      = ["pattern"]', 'by = "filesystem"', '19: answer.by: "filesystem" is what is compared already'),
        ('x      = "request"', 'x = "reqest"', '24: figure[0].x: "reqest" is no axis of this study; did you mean'),
        ('y      = "bandwidth"', 'y = "speed"', '25: figure[0].y: no metric "speed"'),
        ('series = "filesystem"', 'series = "request"', '26: figure[0].series: "request" is used twice'),
        ('series = "filesystem"', "", '21: figure[0]: would mix 2 values of "filesystem"; put it in series, or fix it'),
        ('where  = { pattern = "write" }', "", '21: figure[0]: would mix 2 values of "pattern"'),
        ('{ pattern = "write" }', '{ pattern = "rite" }', '23: figure[0].where.pattern: "rite" is not on the axis'),
        (
            'columns = ["filesystem"]',
            "columns = []",
            '28: table[0]: would mix 2 values of "filesystem"; put it in rows or',
        ),
        ('metric  = "iops"', 'metric = "iop"', '32: table[0].metric: no metric "iop"; did you mean "iops"?'),
    ],
)
def test_contradictions(tmp_path: Path, old: str, new: str, expected: str | None) -> None:
    if expected is not None:
        assert expected in message(tmp_path, (old, new))
        return
    medium, seeds = ('medium     = "stick"\n', ""), ("", "")
    text = message(tmp_path, medium, seeds, (old, new))
    assert "f2fs needs at least 52M, and card has 40M" in text
    assert 'skip = [{ filesystem = "f2fs", medium = "card" }]' in text


def test_all_that_names_nothing_is_told_at_once(tmp_path: Path) -> None:
    skip = 'skip = [{ patern = "read" }]'
    text = message(
        tmp_path, ('"stick"', '"stik"'), ("fat16:cluster", "fat61:cluster"), (SEEDS, f'{skip}\nkernel = "six"')
    )
    assert [line.partition(": ")[0] for line in text.splitlines()] == ["3", "8", "5", "4"]


def test_all_that_does_not_go_together_is_told_at_once(tmp_path: Path) -> None:
    """An answer, a figure, a table, their labels, and a workload without space."""
    text = message(
        tmp_path,
        ('"8M"', '"3G"'),
        ('metric  = "bandwidth"', 'metric = "bandwith"'),
        ('x      = "request"', 'x = "reqest"'),
        ('metric  = "iops"', 'metric = "lifetime_years"\n[labels.axes]\nreqest = "block"'),
    )
    assert [line.split(": ")[1] for line in text.splitlines()] == [
        "answer.metric",
        "figure[0].x",
        "table[0].metric",
        "labels.axes.reqest",
        "workload.file",
    ]


def test_what_does_not_suit_several_bits_a_cell(tmp_path: Path) -> None:
    text = message(tmp_path, ('"stick"', '"mlc-nand"'), (FILESYSTEMS, '"ubifs", "jffs2"'))
    for place, name in enumerate(("ubifs", "jffs2")):
        assert Facts(f"7: axes.filesystem[{place}]: {name}", "2 bits a cell", "mlc-nand").within(text)


def test_what_is_skipped_may_contradict(tmp_path: Path) -> None:
    study = load(
        tmp_path,
        ('medium     = "stick"\n', ""),
        (SEEDS, 'skip = [{ filesystem = "f2fs", medium = "card" }]'),
        (FILESYSTEMS, '"f2fs", "ext2"]\nmedium = ["card", "stick"'),
        ('series = "filesystem"', 'series = "filesystem, medium"'),
        ('columns = ["filesystem"]', 'columns = ["filesystem", "medium"]'),
    )
    assert {"f2fs", "card"} not in [{c["filesystem"], c["medium"]} for c in study.combinations()]
    assert len(list(study.combinations())) == 12


LIFE = ('metric  = "iops"', 'metric  = "lifetime_years"')


def test_a_life_is_told_for_a_load(tmp_path: Path) -> None:
    assert "32: table[0].metric: lifetime_years needs" in message(tmp_path, LIFE)
    stick = 'medium     = "stick"', 'medium     = "usb-stick-2g"'
    study = load(tmp_path, LIFE, stick, (SEEDS, f'{SEEDS}\nbytes_per_day = "2G"'))
    assert study.bytes_per_day == 2 << 30


def test_what_is_under_way_is_not_flushed(tmp_path: Path) -> None:
    deep = ('flush = "fsync"', 'flush = "fsync-each"\ndirect = true\nqueue_depth = 4')
    assert "workload.queue_depth: 4 cannot stand with flush" in message(tmp_path, deep)


def test_a_profile_with_an_error_is_told_by_its_own_line(tmp_path: Path) -> None:
    path = write_study(tmp_path)
    board = tmp_path / "profiles/boards/plain.toml"
    board.write_text(board.read_text().replace('"dma"', '"dam"'))
    with pytest.raises(InputError, match=r"plain\.toml:5: transfer: must be"):
        load_study(path)


def test_many_cells_are_checked_quickly(tmp_path: Path) -> None:
    axes = '["4k", "64k"]', str([str(512 * n) for n in range(1, 2001)])
    assert len(list(load(tmp_path, axes).combinations())) == 8000


def test_the_schema_names_axes_and_parameters() -> None:
    schema = study_schema()
    axes = schema["properties"]["axes"]["properties"]
    tools = [workload.parameters for workload in WORKLOADS.values()]
    parameters = {name for tool in tools for name in tool.model_fields if name not in tool.on_no_axis}
    assert set(axes) == set(STACK) | parameters
    workload = schema["properties"]["workload"]
    assert workload["if"] == {"required": ["load"]}
    assert workload["else"]["propertyNames"]["enum"][:2] == ["tool", "job"]
    assert parameters <= set(workload["else"]["propertyNames"]["enum"])
    assert schema["properties"]["scheduler"]["default"] == "none"


def test_a_library_of_ones_own(tmp_path: Path) -> None:
    path = write_study(tmp_path)
    moved = tmp_path / "profiles"
    moved.rename(tmp_path / "mine")
    study = load_study(path, Library((tmp_path / "mine", paths.profiles())))
    assert study.library.medium("stick").capacity_bytes == 2000 << 20


def test_no_parameter_of_a_tool_is_a_column_of_the_results() -> None:
    tools = [workload.parameters for workload in WORKLOADS.values()]
    parameters = {name for tool in tools for name in tool.model_fields if name not in tool.on_no_axis}
    assert not {*parameters, *STACK} & {*columns.names(), *METRICS, SYSTEM}


def test_a_scheduler_must_have_requests_to_order(tmp_path: Path) -> None:
    raw = (('"stick"', '"slc-nand-64m:factory_bad_blocks=0"'), (FILESYSTEMS, '"jffs2", "ubifs"'))
    text = message(tmp_path, *raw, (SEEDS, f'{SEEDS}\nscheduler = "mq-deadline"'))
    assert "5: scheduler: mq-deadline orders nothing" in text
    on_a_layer = f'{SEEDS}\ntranslation = "mtdblock"\nscheduler = "bfq"'
    load_study(write_study(tmp_path, raw[0], (SEEDS, on_a_layer), ("fat16:cluster=32k", "fat16")))
