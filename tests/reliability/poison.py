"""Work on one video that takes its process along, as a fault in the decoder does."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any

from video_reasoning.preprocessing.split import SplitRecord
from video_reasoning.preprocessing.split.folder import _split_job
from video_reasoning.tasks.prepare import jobs
from video_reasoning.tasks.prepare.jobs import Checked

ABORTING, HANGING, BREAKING = "1_A_preevent.mp4", "2_A_preevent.mp4", "3_A_preevent.mp4"
ONCE = "0_C_postevent.mp4"
FALL = "fall 01.mp4"


def check_video(path: Path) -> Checked:
    """As in `prepare`, but for four videos."""
    if path.name == ABORTING:
        os.abort()
    if path.name == HANGING:
        time.sleep(3600)
    if path.name == BREAKING:
        raise ZeroDivisionError("a rate of zero")
    if path.name == ONCE and not (marker := path.parent / ".once").exists():
        marker.touch()
        os.kill(os.getpid(), 9)
    return jobs.check_video(path)


def split_one(job: tuple[Any, ...]) -> SplitRecord:
    """As in `split`, but for one video."""
    if Path(job[0]).name == FALL:
        os.abort()
    return _split_job(job)


def wait_long(wanted: Any) -> None:
    """As `make_wanted`, but it never ends."""
    time.sleep(3600)
