"""``video-reasoning check-sample``: runs over the sample against what must come out."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def check_sample(
    results: Annotated[list[Path], typer.Argument(help="Output folders of runs on the sample.")],
) -> None:
    """Compare logged runs over the sample benchmark with what must come out.

    The sample's answers are known, and so is which questions can be answered from what is
    shown: sample_observer must answer those (95% and more) and be at chance on the others, and
    random_choice must be at chance on all. Other models are listed without a verdict. The exit
    code is 1 if anything is otherwise.
    """
    from video_reasoning.tasks.sample.known import check

    raise SystemExit(0 if check(results) else 1)
