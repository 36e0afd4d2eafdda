# SPDX-License-Identifier: Apache-2.0
"""Jobs that go to another computer, and results that come home: only of the job and the study that they belong to."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from flashbed.common.errors import InputError
from flashbed.external_results import exported_jobs, imported_results
from flashbed.study.loading import Study
from flashbed.study.slicing import narrowed
from tests.support.facts import Facts
from tests.unit.external_results.elsewhere import broken, exported_to, run_elsewhere, sample


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FLASHBED_CACHE", str(tmp_path / "cache"))


@pytest.fixture
def study(tmp_path: Path) -> Study:
    return sample(tmp_path)


@pytest.fixture
def exported(study: Study, tmp_path: Path) -> Path:
    return exported_to(tmp_path / "jobs", study)


# --- export ---------------------------------------------------------------------------------------------------------


def test_each_cell_and_seed_is_a_job_that_knows_no_place(exported: Path) -> None:
    measured = sorted((exported / "01" / "jobs").glob("*.measure.fio"))
    assert len(measured) == 8  # of one file system: 2 patterns, 2 sizes, 2 seeds
    assert len(list((exported / "01" / "jobs").glob("*.prepare.fio"))) == 4  # what is read must be there
    for job in exported.rglob("*.fio"):
        text = job.read_text()
        assert not any(word in text for word in ("/mnt", "directory", "psync", "libaio"))
    text = next(path for path in measured if path.name.startswith("write-64k-seed2")).read_text()
    assert text.startswith("[write-64k-seed2-")
    assert {"rw=write", "bs=65536", "size=8388608", "end_fsync=1", "randseed=2"} <= set(text.split())


def test_each_stack_has_a_folder_that_the_readme_names(study: Study, tmp_path: Path) -> None:
    assert exported_jobs.export(study, tmp_path / "all") == (16, 2)
    readme = (tmp_path / "all" / "README.txt").read_bytes().decode()
    assert "01: filesystem fat16:cluster=32k\r\n" in readme
    assert "02: filesystem ext2:block=4k\r\n" in readme
    assert "flashbed import sample.toml FOLDER" in readme
    assert b"\r\n" in (tmp_path / "all" / "run.cmd").read_bytes()
    assert b"\r" not in (tmp_path / "all" / "run.sh").read_bytes()


def test_a_queue_is_driven_by_the_systems_own_engine(tmp_path: Path) -> None:
    study = sample(tmp_path, ('tool  = "fio"', 'tool  = "fio"\ndirect = true\nqueue_depth = 4'))
    assert all("ioengine=${FLASHBED_ENGINE}" in job.files["measure"].decode() for job in exported_jobs.jobs(study))


def test_what_only_the_labs_fio_does_has_no_job_and_is_counted(tmp_path: Path) -> None:
    study = sample(tmp_path, ('pattern    = ["read", "write"]', 'pattern = ["write"]'), ('"fsync"', '"close"'))
    assert list(exported_jobs.jobs(study)) == []
    assert exported_jobs.left_out(study) == 8  # two file systems, two sizes, two seeds
    with pytest.raises(InputError, match="no job is left"):
        exported_jobs.export(study, tmp_path / "none")


def test_a_job_of_the_users_has_its_variables_put_in(tmp_path: Path) -> None:
    (tmp_path / "mail.fio").write_text("[deliver]\nsize=${request}\nrw=${pattern}\n")
    pairs = [('tool  = "fio"\nfile  = "8M"\nflush = "fsync"\n', 'tool = "fio"\njob = "mail.fio"\n')]
    (first, *_) = exported_jobs.jobs(sample(tmp_path, *pairs))
    assert set(first.files) == {"measure"}
    text = first.files["measure"].decode()
    assert "randseed=1\n" in text
    assert text.endswith("[deliver]\nsize=4k\nrw=read\n")


@pytest.mark.parametrize(
    ("where", "message"),
    [
        ({"filesytem": ["fat16"]}, '--where: "filesytem" is no axis of sample; did you mean "filesystem"?'),
        ({"filesystem": ["fat61"]}, '--where: "fat61" is not on the axis "filesystem"'),
    ],
)
def test_a_selection_that_is_none_is_told(
    study: Study, tmp_path: Path, where: dict[str, list[str]], message: str
) -> None:
    with pytest.raises(InputError, match=message.replace("?", r"\?")):
        exported_jobs.export(narrowed(study, where), tmp_path / "none")
    assert not (tmp_path / "none").exists()


def test_nothing_is_written_over(study: Study, exported: Path) -> None:
    with pytest.raises(InputError, match="exists already; name a new folder"):
        exported_jobs.export(study, exported)


# --- import ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [".NET", "...", "%2ENET", "Windows/XP", "büro"])
def test_any_name_that_can_be_printed_is_a_systems(study: Study, exported: Path, name: str) -> None:
    run_elsewhere(exported)
    imported_results.take_in(study, exported, name)
    assert {result.system for result in imported_results.kept(study).results} == {name}


@pytest.mark.parametrize("name", ["", " ", "a\nb", "a\0b", "x" * 300, "ü" * 100])
def test_names_that_are_no_systems(study: Study, exported: Path, name: str) -> None:
    with pytest.raises(InputError, match="--as: "):
        imported_results.take_in(study, exported, name)


def test_results_come_home_under_their_systems_name(study: Study, exported: Path) -> None:
    run_elsewhere(exported)
    assert imported_results.take_in(study, exported, "Windows XP") == (8, 8)
    rows = list(imported_results.table_rows(imported_results.kept(study).results, list(study.axes)))
    assert len(rows) == 8
    place = list(study.axes).index("filesystem") + 1
    assert {(row.combination[0], row.combination[place], row.outcome) for row in rows} == {
        ("Windows XP", "fat16:cluster=32k", "measured")
    }
    assert {row.metrics["bandwidth"] for row in rows} == {4.0}  # 8 MiB in 2 s
    assert {row.metrics["latency_mean_us"] for row in rows} == {1000.0}


def test_a_second_import_takes_the_place_of_the_first(study: Study, exported: Path) -> None:
    files = run_elsewhere(exported)
    imported_results.take_in(study, exported, "Windows XP")
    imported_results.take_in(study, exported, "Linux")
    files[0].unlink()
    assert imported_results.take_in(study, exported, "Windows XP") == (7, 8)
    assert [result.system for result in imported_results.kept(study).results].count("Windows XP") == 7
    assert [result.system for result in imported_results.kept(study).results].count("Linux") == 8
    # The folder was "sample", and any study of that name wrote into it; now each has its own, and says whose it is
    [folder] = (Path(os.environ["FLASHBED_CACHE"]) / "elsewhere").glob("sample-*")
    assert sorted(path.name for path in folder.iterdir()) == ["Linux", "Windows XP", imported_results.OWNER]


def test_what_is_no_cell_any_more_is_not_shown(study: Study, exported: Path, tmp_path: Path) -> None:
    run_elsewhere(exported)
    imported_results.take_in(study, exported, "Windows XP")
    assert len(imported_results.kept(sample(tmp_path, ('["4k", "64k"]', '["4k", "32k"]'))).results) == 4
    assert len(imported_results.kept(sample(tmp_path, ("seeds      = 2", "seeds = 1"))).results) == 4


@pytest.mark.parametrize(
    "change",
    [
        ('"8M"', '"4M"'),
        ('flush = "fsync"', 'flush = "none"'),
        ('flush = "fsync"', 'flush = "fsync"\ndirect = true'),
        ('medium     = "stick"', 'medium     = "stick:used_bytes=1G"'),
        ('"plain"', '"plain"\ntranslation = "none"'),  # the same as nothing: none is the default
    ],
)
def test_results_of_other_jobs_are_left_out_and_named(
    study: Study, exported: Path, tmp_path: Path, change: tuple[str, str]
) -> None:
    """A study that was changed after the import went on showing what was measured before as its own."""
    run_elsewhere(exported)
    imported_results.take_in(study, exported, "Windows XP")
    same = "translation" in change[1]
    kept = imported_results.kept(sample(tmp_path, change))
    assert len(kept.results) == (8 if same else 0)
    named = (
        []
        if same
        else [
            "8 imported results of Windows XP are left out: of jobs that the study does not have now "
            "(it was changed after the import)."
        ]
    )
    assert list(kept.left_out) == named
    assert len(imported_results.kept(sample(tmp_path)).results) == 8  # changed back, all is there


def test_the_file_system_that_a_study_fixes_is_part_of_its_jobs(tmp_path: Path) -> None:
    pair = ('filesystem = ["fat16:cluster=32k", "ext2:block=4k"]\n', "")
    answer = ('compare = "filesystem"', 'compare = "request"')
    rest = (('series = "filesystem"', 'series = "pattern"'), ('where  = { pattern = "write" }\n', ""))
    table_ = ('columns = ["filesystem"]', "columns = []")
    fixed = [("seeds      = 2", f'filesystem = "{name}"\nseeds = 2') for name in ("fat16", "ext2")]
    first, second = (
        {job.name for job in exported_jobs.jobs(sample(tmp_path, filesystem, pair, answer, *rest, table_))}
        for filesystem in fixed
    )
    assert len(first) == len(second) == 8
    assert not first & second


def test_a_slice_of_the_study_names_nothing_that_is_not_its(study: Study, exported: Path) -> None:
    run_elsewhere(exported)
    imported_results.take_in(study, exported, "Windows XP")
    kept = imported_results.kept(narrowed(study, {"pattern": ["read"]}))
    assert (len(kept.results), list(kept.left_out)) == (4, [])


def test_slices_of_one_study_come_home_one_after_the_other(study: Study, exported: Path, tmp_path: Path) -> None:
    """The second took the place of the first, though it has other jobs."""
    run_elsewhere(exported)
    imported_results.take_in(study, exported, "Linux")
    exported_jobs.export(narrowed(study, {"filesystem": ["ext2"]}), tmp_path / "more")
    run_elsewhere(tmp_path / "more")
    imported_results.take_in(study, tmp_path / "more", "Linux")
    assert len(imported_results.kept(study).results) == 16
    imported_results.take_in(study, exported, "Linux")
    assert len(imported_results.kept(study).results) == 16


def test_two_studies_of_one_name_do_not_meet(study: Study, exported: Path, tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    other = sample(tmp_path / "other")
    run_elsewhere(exported)
    imported_results.take_in(study, exported, "Linux")
    assert imported_results.kept(other) == imported_results.Kept([], [])
    run_elsewhere(exported, lambda document: {**document, "fio version": "fio-9"})
    imported_results.take_in(other, exported, "Linux")
    assert {result.fio for result in imported_results.kept(study).results} == {"fio-3.33"}
    assert {result.fio for result in imported_results.kept(other).results} == {"fio-9"}


def test_results_that_nothing_ties_to_a_study_are_named(study: Study, exported: Path, tmp_path: Path) -> None:
    run_elsewhere(exported)
    old = Path(os.environ["FLASHBED_CACHE"]) / "elsewhere" / "sample" / "Windows XP"
    old.mkdir(parents=True)
    (old / "rows.json").write_text("[]")
    [message] = imported_results.kept(study).left_out
    assert Facts("Windows XP", "an older flashbed", "left out").within(message)
    imported_results.take_in(study, exported, "Windows XP")
    assert imported_results.kept(study).left_out == []
    (tmp_path / "moved").mkdir()
    moved = sample(tmp_path / "moved")
    study.path.unlink()
    [_, message] = imported_results.kept(moved).left_out
    assert Facts("Windows XP", str(study.path), "gone", "moved here").within(message)


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ("no JSON", "is not what fio writes with --output-format=json; remove it, and run the job again"),
        ("another tool's", "is not what fio writes with --output-format=json"),
        ("a list", "is not what fio writes with --output-format=json"),
        ("nameless", "not what fio writes with --output-format=json"),
        ("no latencies", "not what fio writes with --output-format=json"),
        ("empty", "is not what fio writes with --output-format=json"),
        ("failed", "fio reported error 28 in job"),
        ("another job's", r"is of another job \(write-4k-seed9-000000000000, not "),
    ],
)
def test_a_file_that_does_not_fit_is_named(study: Study, exported: Path, how: str, message: str) -> None:
    files = run_elsewhere(exported)
    broken(files[3], how)
    with pytest.raises(InputError, match=message) as caught:
        imported_results.take_in(study, exported, "Windows XP")
    assert caught.value.message.startswith(f"{files[3]}: ")
    assert imported_results.kept(study).results == []


def test_folders_that_do_not_fit_are_told(study: Study, exported: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no results; run the jobs first"):
        imported_results.take_in(study, exported, "Windows XP")
    with pytest.raises(InputError, match=r"no exported jobs here \(flashbed-jobs.json is missing\)"):
        imported_results.take_in(study, tmp_path, "Windows XP")
    run_elsewhere(exported)
    with pytest.raises(InputError, match=r"sample has no job .* after the export"):
        imported_results.take_in(sample(tmp_path, ('"8M"', '"4M"')), exported, "Windows XP")
    with pytest.raises(InputError, match="give the system a name"):
        imported_results.take_in(study, exported, " ")
    named = sample(tmp_path, ("seeds      = 2", 'systems = ["Linux", "Windows XP"]\nseeds = 2'))
    with pytest.raises(InputError, match=r'"Windows PX" .* did you mean "Windows XP"'):
        imported_results.take_in(named, exported, "Windows PX")
    manifest = exported / exported_jobs.JOBS_MANIFEST
    manifest.write_text(manifest.read_text().replace('"study": "sample"', '"study": "other"'))
    with pytest.raises(InputError, match="these are the jobs of the study other, not of sample"):
        imported_results.take_in(study, exported, "Windows XP")
    manifest.write_text("{")
    with pytest.raises(InputError, match=r"flashbed-jobs.json: cannot be read"):
        imported_results.take_in(study, exported, "Windows XP")
