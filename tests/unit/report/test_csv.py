# SPDX-License-Identifier: Apache-2.0
"""results.csv is opened in spreadsheets, which execute a text that looks like a formula."""

import csv
import io

import pandas

from flashbed.report import export


def test_no_text_in_the_csv_is_a_formula() -> None:
    marked = ["=HYPERLINK(1)", "@SUM(A1)", "+cmd|x", "-2+3", "\t=1", "'quoted", "-", "\r=1"]
    texts = [*marked, "-5", "+1", "4k", "it's", ""]
    frame = pandas.DataFrame({"value": texts, "check": [None] * len(texts), "iops": [-1.5] * len(texts)})
    written = list(csv.DictReader(io.StringIO(export.csv_bytes(frame).decode(), newline="")))
    assert [row["value"].replace("\\r", "\r") for row in written] == [*(f"'{text}" for text in marked), *texts[8:]]
    assert {row["iops"] for row in written} == {"-1.5"}
    assert {row["check"] for row in written} == {""}
    assert list(frame["value"]) == texts
