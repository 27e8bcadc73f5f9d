"""`lmms_eval`, or `video-reasoning` if COMMAND says so, with a delivery that BROKEN breaks.

With several ways to break it, joined by commas, each clip of 16 frames gets the next.
"""

from __future__ import annotations

import itertools
import os
from typing import Any

from video_reasoning.tasks import launcher
from video_reasoning.tasks.cli import main as command

BREAKS = {
    # One frame is lost, and the one before it is sent again.
    "dropped": lambda video: video[[0, 1, 2, 3, 4, 4, *range(6, len(video))]],
    "swapped": lambda video: video[[0, 1, 12, *range(3, 12), 2, *range(13, len(video))]],
    "resampled": lambda video: video[::2],
}


def main() -> int:
    """Breaks what qwen-vl-utils hands to the model of the harness."""
    import lmms_eval.models.chat.qwen2_5_vl as chat

    read = chat.process_vision_info
    ways = itertools.cycle([BREAKS[name] for name in os.environ["BROKEN"].split(",")])

    def process(*args: Any, **kwargs: Any) -> Any:
        images, videos, more = read(*args, **kwargs)
        if videos:
            videos = [(next(ways)(v) if len(v) == 16 else v, meta) for v, meta in videos]
        return images, videos, more

    chat.process_vision_info = process
    return command.main() if "COMMAND" in os.environ else launcher.main()
