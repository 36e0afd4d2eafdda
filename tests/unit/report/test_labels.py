# SPDX-License-Identifier: Apache-2.0
"""A study's own words for axes and values: read with the study, checked against its axes, used all over its report."""

from __future__ import annotations

import csv
import re
from dataclasses import replace
from html import unescape
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from flashbed.analysis import Load, Words, compare, doubts, lines, sentence
from flashbed.analysis.study_results import JointAxis
from flashbed.analysis.words import as_condition
from flashbed.commands import reporting
from flashbed.common.errors import InputError
from flashbed.report import conditions
from flashbed.report.answers import questions
from flashbed.report.display_names import fixed, leaders, legend, names_of, words_of
from flashbed.study.format import Label, Labels
from flashbed.study.loading import Study, load_study
from tests.support.facts import Facts
from tests.support.made_up_papers import paper, paper_rows
from tests.support.made_up_results import MANIFEST, made_up_frame, made_up_study, rows_of
from tests.support.samples import shipped, write_study
from tests.support.tabled import bring_up_to_date, inputs_digest, report_of, results_of


def labelled(folder: Path, labels: str) -> Study:
    path = write_study(folder)
    path.write_text(f"{path.read_text()}\n{labels}\n")
    return load_study(path)


def test_a_profile_is_labelled_by_its_name_or_in_full(tmp_path: Path) -> None:
    study = labelled(
        tmp_path,
        "[labels.axes]\nrequest = 'block'\n[labels.values]\n"
        "filesystem = { fat16 = 'FAT', 'ext2:block=4k' = { name = 'ext', meaning = 'ext2 in blocks of 4 KiB' } }\n"
        "request = { 4k = 'small', 64k = 'large' }",
    )
    assert study.labels.axes == {"request": "block"}
    assert study.labels.values == {
        "filesystem": {
            "fat16:cluster=32k": "FAT",
            "ext2:block=4k": Label(name="ext", meaning="ext2 in blocks of 4 KiB"),
        },
        "request": {"4k": "small", "64k": "large"},
    }


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        ("[labels.axes]\nreqest = 'x'", 'labels.axes.reqest: is no axis of this study; did you mean "request"?'),
        ("[labels.values]\nreqest = { 4k = 'x' }", "labels.values.reqest: is no axis of this study; did you mean"),
        ("[labels.values]\nrequest = { 5k = 'x' }", 'labels.values.request.5k: "5k" is not on the axis "request"'),
        (
            "[labels.values]\nrequest = { 4k = 'x', 64k = 'x' }",
            'labels.values.request.64k: calls "4k" and "64k" all "x"; give each a name of its own',
        ),
        ("[labels.values]\nrequest = { 4k = '' }", "labels.values.request.4k"),
        ("[labels.values]\nrequest = { 4k = { nam = 'x' } }", "labels.values.request.4k"),
    ],
)
def test_a_label_for_nothing_is_told_with_its_key(tmp_path: Path, labels: str, expected: str) -> None:
    with pytest.raises(InputError) as caught:
        labelled(tmp_path, labels)
    assert expected in caught.value.message
    assert "sample.toml:" in caught.value.message


LABELS = Labels(
    axes={"request": "block"},
    values={
        "filesystem": {
            "f2fs": Label(name="the log", meaning="F2FS, as mkfs.f2fs makes it"),
            "ext2:block=4k": "the old",
        },
        "request": {"1k": "tiny blocks"},
    },
)


def test_labels_stand_everywhere_and_exports_keep_the_studys_words(tmp_path: Path) -> None:
    study = replace(made_up_study(), labels=LABELS)
    rows = rows_of(made_up_frame(study))
    page = unescape(bring_up_to_date(study, rows, MANIFEST, tmp_path).read_text())
    body = page.partition("<body>")[2].partition("Every repetition")[0]
    text = body.replace("\xa0", " ")
    assert "The log is fastest for sequential write and random write" in text  # the answer; an article has a capital
    assert '<th scope="col">the log</th>' in text  # the picture
    assert "nothing to go by for the log against the old at tiny blocks" in text  # claims
    assert "the log, random write, tiny blocks" in text  # losses
    assert 'data-series="the log"' in text  # figures
    assert '<th scope="col" class="number">the log</th>' in text  # tables
    assert ">F2FS<" not in text
    with (tmp_path / "results.csv").open() as file:
        exported_rows = list(csv.DictReader(file))
    assert {row["filesystem"] for row in exported_rows} == {"fat16:cluster=32k", "ext2:block=4k", "f2fs"}
    assert inputs_digest(study, rows, MANIFEST) != inputs_digest(made_up_study(), rows, MANIFEST)


def test_an_explanation_that_begins_with_the_name_is_in_the_legend() -> None:
    labels = Labels(values={"file": {"4k": Label(name="small", meaning="small (as on the logger)")}})
    words = words_of(None, {"file": ("4k",)}, labels)
    assert legend(None, words, labels) == [("small", "small (as on the logger)")]


def test_short_names_have_a_legend() -> None:
    study = replace(made_up_study(), labels=LABELS)
    report = report_of(study, rows_of(made_up_frame(study)))
    assert legend(study.library, report.words, study.labels) == [
        ("FAT16", "FAT16 (fat16:cluster=32k)"),
        ("the old", "ext2 (ext2:block=4k)"),
        ("the log", "F2FS, as mkfs.f2fs makes it"),
    ]


def test_a_sentence_may_call_a_value_otherwise_than_a_table() -> None:
    """ "disk is fastest" lacks an article, and a column has no place for one."""
    labels: dict[str, dict[str, str | Label]] = {
        "filesystem": {"f2fs": Label(name="disk", in_words="the disk"), "ext2:block=4k": "stick"}
    }
    study = replace(made_up_study(), labels=Labels(values=labels))
    report = report_of(study, rows_of(made_up_frame(study)))
    [question, *_] = questions(report)
    assert "disk" in question.matrix.columns
    text = " ".join([*question.lines, *(behind.sentence for behind in question.behind)])
    assert "The disk is fastest for" in text
    assert "the disk is" in text
    assert not re.search(r"(?<!the )(?<!The )\bdisk is", text)


def test_an_axis_that_follows_another_is_not_named_in_sentences() -> None:
    axes = {"processes": ("1", "4"), "file": ("40M", "10M"), "seeks": ("4000", "1000"), "caches": ("kept", "cold")}
    cells = [("1", "40M", "4000", "kept"), ("4", "10M", "1000", "kept"), ("4", "10M", "1000", "cold")]
    words = words_of(None, axes, Labels(values={"processes": {"1": "1 process", "4": "4 processes"}}), cells)
    assert words.leaders == {"file": "processes", "seeks": "processes"}
    joint = JointAxis(("processes", "file", "seeks"), ())
    assert words.joint_value(joint, ("4", "10M", "1000")) == "4 processes"
    assert words.joint_axis(joint) == "number of processes"
    assert words.places(dict(zip(axes, cells[2], strict=True))) == "4 processes, caches dropped"
    assert words.places({"file": "10M"}) == "file size 10M"  # alone it is named
    assert legend(None, words, Labels(), cells) == [
        ("1 process", "with file size 40M, seeks 4000"),
        ("4 processes", "with file size 10M, seeks 1000"),
    ]


def test_what_a_stack_is_made_of_follows_nothing() -> None:
    axes, cells = ["medium", "filesystem", "file"], [("a", "x", "1M"), ("b", "y", "1M")]
    assert leaders(axes, cells) == {}
    assert leaders(["filesystem", "file"], [("x", "1M"), ("y", "2M"), ("y", "1M")]) == {}


def test_a_sentence_about_a_place_begins_as_one_says_it() -> None:
    assert as_condition("random write") == "For random write"
    assert as_condition("beside a writer, no pause") == "Beside a writer, no pause"


def test_profiles_that_begin_their_titles_alike_keep_their_own_names() -> None:
    names = names_of(shipped(), {"medium": ["sd-good", "sd-poor"]})["medium"]
    assert names == {"sd-good": "sd-good", "sd-poor": "sd-poor"}


def test_values_of_a_jobs_axis_stand_as_they_are_written() -> None:
    """They were cut at the colon as if they had options: "8k/100 is 6 % faster than 4k/50"."""
    splits = ("4k/50:64k/50", "8k/100", "16k/10:4k/90", "a + b")
    rows = [
        {"split": split, "seed": 1, "outcome": "measured", "reason": "", "key": "k", "bandwidth": speed}
        for split, speed in zip(splits, (1.0, 2.0, 1.5, 0.5), strict=True)
    ]
    results = results_of({"split": splits}, rows)
    comparison, words = compare(results, ("split",), (), "bandwidth", True), Words(results.axes)
    [text] = [sentence(comparison, group, words) for group in comparison.groups]
    assert text == Facts(
        "8k/100 is 1.33 times as fast as 16k/10:4k/90",
        "2.0 times as fast as 4k/50:64k/50",
        "4.0 times as fast as a + b",
    )
    both = Words({"split": splits, "medium": ("stick:used_bytes=64M",)})
    assert both.value("medium", "stick:used_bytes=64M") == "stick"
    joint = JointAxis(("split", "medium"), ())
    assert both.joint_value(joint, ("8k/1:4k/9", "stick:used_bytes=64M")) == "8k/1:4k/9, stick"
    assert both.joint_value(joint, ("a + b", "stick")) == "a + b, stick"


def test_only_a_profile_has_options_that_a_line_names() -> None:
    """The line said "4k/50:64k/50 (64k/50)"."""
    rows = [
        {"split": split, "seed": 1, "outcome": "measured", "reason": "", "key": "k", "bandwidth": 1.0, "durable": state}
        for split, state in (("4k/50:64k/50", "not durable: 0 flushes for 9 commits"), ("8k/100", "durable"))
    ]
    results = results_of({"split": ("4k/50:64k/50", "8k/100")}, rows)
    comparison = compare(results, ("split",), (), "bandwidth", True, doubts(results, "bandwidth"))
    text = " ".join(lines([Load(comparison, group) for group in comparison.groups], Words(results.axes)))
    assert "NOT DURABLE, and not compared: 4k/50:64k/50, because" in text


def test_values_that_look_alike_when_joined_stay_apart() -> None:
    """Both were "a + b + c", and so one cell with the numbers of the later."""
    axes = {"split": ("a", "a + b"), "other": ("b + c", "c")}
    rows = [
        {"split": split, "other": other, "seed": 1, "outcome": "measured", "reason": "", "key": "k", "bandwidth": speed}
        for split, other, speed in (("a", "b + c", 1.0), ("a + b", "c", 2.0))
    ]
    results = results_of(axes, rows)
    comparison, words = compare(results, ("split", "other"), (), "bandwidth", True), Words(results.axes)
    assert comparison.compare.values == (("a", "b + c"), ("a + b", "c"))
    assert sentence(comparison, comparison.groups[0], words) == "a + b, c is 2.0 times as fast as a, b + c."


def test_what_is_the_same_in_every_cell_has_the_titles_of_its_profiles() -> None:
    words = Words({})
    library = shipped()
    assert fixed(library, words, "scheduler", "mq-deadline") == "Deadline (mq-deadline)"
    assert fixed(library, words, "scheduler", "none") == "no scheduler"
    assert fixed(library, words, "medium", "usb-stick-2g:used_bytes=1G") == (
        "2 GB USB 2.0 flash stick (usb-stick-2g:used_bytes=1G)"
    )
    assert fixed(library, words, "board", "core2-desktop").startswith("Desktop PC with a Core 2")
    assert fixed(library, words, "kernel", "6.1") == "6.1"


def test_how_writes_find_their_file_is_told_in_words() -> None:
    """There is no "randwrite:", and each of two ways in a study has a line of its own."""
    study = made_up_study()
    frame = made_up_frame(study)
    frame["writes"] = frame["pattern"].map({"write": "allocates", "randwrite": "overwrites"}).fillna("")
    assert conditions.writes(report_of(study, rows_of(frame))) == [
        ("sequential write", "the file is new, and each write gives it blocks."),
        ("random write", "the file was written before, in order, and is overwritten."),
    ]
    both = paper("choi2014")
    rows = [row | {"writes": "allocates" if row["allocate"] == "true" else "overwrites"} for row in paper_rows(both)]
    by_place = dict(conditions.writes(report_of(both, rows)))
    # The study has labels for both: its words stand in the report, as everywhere
    assert by_place["random write, new file"] == "the file is new, and each write gives it blocks."
    assert by_place["random write, old file"] == "the file was written before, in order, and is overwritten."


def test_media_of_one_title_stand_each_with_its_parameters() -> None:
    """The study quick has a full stick and a fresh one of the same title; the second replaced the first."""
    study = paper("quick")
    environment = dict.fromkeys(("emulator", "kernel", "base"), "x")
    image = SimpleNamespace(kernel=SimpleNamespace(package_version="6.1"))
    records = [
        SimpleNamespace(
            repetition=SimpleNamespace(cell=SimpleNamespace(
                coordinates={"medium": selector}, board=study.library.board("arm64-1000"),
                medium=study.library.medium(selector), filesystem=study.library.filesystem("ext2"),
                scheduler=study.library.scheduler("none")), environment=environment, image=image)
        )
        for selector in study.axes["medium"]
    ]  # fmt: skip
    done: Any = SimpleNamespace(study=study, records=records, coverage=[])
    profiles = reporting._manifest(done).profiles
    title = "medium: 2 GB USB 2.0 flash stick"
    assert profiles[f"{title} (usb-stick-2g:condition=full)"]["condition"] == "full"
    assert profiles[f"{title} (usb-stick-2g:condition=fresh)"]["condition"] == "fresh"
    assert "board: 64-bit ARM board, 1000 MIPS, 256 MB, DMA" in profiles
