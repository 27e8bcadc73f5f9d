"""Videos of one unexpected event cut into before, event and after (BlackSwanSuite, appendix B.1).

The arithmetic (`event_time`, `keep_scene`, `plan_split`, `split_points`) is apart from the work on
videos (`split_video`, `split_folder`). Two variants are known everywhere:

- `paper`: Algorithm 1 and section 4.1 as printed.
- `release`: what the authors' published script does where the paper is silent or differs, to
  build the published clips again.
"""

from video_reasoning.preprocessing.split.folder import (
    MANIFEST,
    find_videos,
    read_manifest,
    read_transition_times,
    split_folder,
)
from video_reasoning.preprocessing.split.plan import (
    EventTime,
    KeptScene,
    Points,
    SplitPlan,
    Variant,
    event_time,
    keep_scene,
    plan_event_time,
    plan_split,
    split_points,
    split_reason,
)
from video_reasoning.preprocessing.split.video import SUFFIXES, VERSION, SplitRecord, split_video

__all__ = [
    "MANIFEST",
    "SUFFIXES",
    "VERSION",
    "EventTime",
    "KeptScene",
    "Points",
    "SplitPlan",
    "SplitRecord",
    "Variant",
    "event_time",
    "find_videos",
    "keep_scene",
    "plan_event_time",
    "plan_split",
    "read_manifest",
    "read_transition_times",
    "split_folder",
    "split_points",
    "split_reason",
    "split_video",
]
