"""``video-reasoning check-sample``: runs over the sample against what must come out."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from video_reasoning.tasks.cli.options import Format, known


def check_sample(
    results: Annotated[list[Path], typer.Argument(help="Output folders of runs on the sample.")],
    format_: Format = "text",
) -> None:
    """Compare logged runs over the sample benchmark with what must come out.

    The sample's answers are known, and so is which questions can be answered from what is
    shown: sample_observer must answer those (95% and more) and be at chance on the others, and
    random_choice must be at chance on all. Other models are listed without a verdict. The exit
    code is 1 if anything is otherwise.
    """
    from video_reasoning.tasks.sample.known import check, show

    as_json = known(format_) == "json"
    found = check(results)
    if as_json:
        print(json.dumps(found.as_json(), indent=1, ensure_ascii=False))
    else:
        show(found, results)
    raise SystemExit(0 if found.sound else 1)
