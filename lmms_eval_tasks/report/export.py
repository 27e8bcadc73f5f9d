"""All numbers of a report for other programs."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import asdict, fields

from video_reasoning.tasks.report.build import Report
from video_reasoning.tasks.report.overview import Overview
from video_reasoning.tasks.results.numbers import Number

COLUMNS = tuple(field.name for field in fields(Number))


def as_json(report: Report) -> str:
    """Write all numbers, each with its task and file, and the comparisons of runs."""
    content = {**report.as_json(), **Overview(report).as_json()}
    return json.dumps(content, indent=1, ensure_ascii=False) + "\n"


def as_csv(report: Report) -> str:
    """Write a row per number: its value and interval as shares, and what it is based on.

    A breakdown is written as "name=value", several separated by semicolons; what is not known is
    an empty cell.
    """
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(("name_of_run", *COLUMNS, "signature"))
    for each in report.found:
        signature = report.asked[each.log.log].get("signature", "")
        for number in each.numbers:
            group = ";".join(f"{name}={value}" for name, value in number.group.items())
            values = {**asdict(number), "group": group}
            cells = ["" if values[name] is None else values[name] for name in COLUMNS]
            writer.writerow([report.name(each), *cells, signature])
    return out.getvalue()
