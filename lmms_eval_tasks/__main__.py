"""``python -m video_reasoning.tasks``: the same as the command ``lmms_eval``."""

from __future__ import annotations

import sys

from video_reasoning.tasks.launcher import main

if __name__ == "__main__":
    sys.exit(main())
