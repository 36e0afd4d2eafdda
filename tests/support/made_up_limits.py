# SPDX-License-Identifier: Apache-2.0
"""Made-up results with limits: the shares of CPU, bus and medium in each cell, and its mount."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pandas

from flashbed.report.model import Report
from flashbed.study.loading import Study
from tests.support.made_up_results import made_up_frame, made_up_study, rows_of
from tests.support.tabled import report_of

INPLACE = "f2fs rw,relatime,mode=adaptive; overwrites in place"


def limited(study: Study) -> pandas.DataFrame:
    """Return results in which the CPU limits F2FS's random writes in 16k and 64k, the bus ext2's in 64k, and the medium
    all others.
    """
    frame = made_up_frame(study)
    frame["limit"], frame["mounted"] = "medium", "ext2 rw,relatime"
    random, large = frame["pattern"] == "randwrite", frame["request"] == "64k"
    frame.loc[random & (frame["filesystem"] == "f2fs") & frame["request"].isin(["16k", "64k"]), "limit"] = "cpu"
    frame.loc[random & (frame["filesystem"] == "ext2:block=4k") & large, "limit"] = "bus"
    frame.loc[frame["filesystem"] == "f2fs", "mounted"] = INPLACE
    frame["overwrites"] = 12.5
    for part, percent in (("cpu", 87.0), ("medium", 41.0), ("bus", 3.0)):
        frame[f"busy_{part}_percent"] = percent
    return frame


def report(**more: Any) -> Report:
    study = replace(made_up_study(), **more)
    return report_of(study, rows_of(limited(study)))
