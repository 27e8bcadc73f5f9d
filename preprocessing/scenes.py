"""Where a video changes from one scene to another."""

from __future__ import annotations

from collections import deque
from concurrent.futures import Future, ThreadPoolExecutor
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from video_reasoning.preprocessing.pictures import Converter

WINDOW_WIDTH = 5  # frames before and after each that BlackSwanSuite compares it with (appendix B.1)

# PySceneDetect scales the longer side of larger pictures to this before it compares them.
_LONGER_SIDE = 256

# Frames handed over together, and how many such groups may wait: few, as frames may be large.
_TOGETHER = 4
_WAITING = 2


class SceneFinder:
    """Finds scene changes with PySceneDetect's AdaptiveDetector, from frames as they are decoded.

    The pictures are scaled before their colors are converted, which gives what PySceneDetect
    computes itself, to the rounding, at a fraction of the cost. That goes on in a thread of its
    own while the next frames are decoded. The rate is in frames per second; a frame is compared
    with `window_width` frames before and after it.
    """

    def __init__(self, rate: Fraction, window_width: int = WINDOW_WIDTH) -> None:
        from scenedetect import AdaptiveDetector, FrameTimecode

        self._detector: Any = AdaptiveDetector(window_width=window_width)
        self._timecode: Any = FrameTimecode
        self._rate = float(rate)
        self._count = 0
        self._cuts: list[Any] = []
        self._convert: Converter | None = None
        self._thread = ThreadPoolExecutor(1, "scenes")
        self._together: list[Any] = []
        self._waiting: deque[Future[None]] = deque()

    def add(self, frame: Any) -> None:
        """Look at the next frame (PyAV), some time later."""
        self._together.append(frame)
        if len(self._together) == _TOGETHER:
            self._hand_over()

    def _hand_over(self) -> None:
        if len(self._waiting) == _WAITING:
            self._waiting.popleft().result()
        self._waiting.append(self._thread.submit(self._look, self._together))
        self._together = []

    def _look(self, frames: list[Any]) -> None:
        for frame in frames:
            if self._convert is None:
                self._convert = Converter(frame)
            picture = _small_picture(self._convert(frame))
            time = self._timecode(self._count, self._rate)
            self._cuts += self._detector.process_frame(time, picture)
            self._count += 1

    def finish(self) -> list[int]:
        """Return the number of the first frame of each new scene, rising; none for one scene."""
        self._hand_over()
        while self._waiting:
            self._waiting.popleft().result()
        self._thread.shutdown()
        if self._count:
            time = self._timecode(self._count - 1, self._rate)
            self._cuts += self._detector.post_process(time)
        return sorted({int(cut.frame_num) for cut in self._cuts})


def _small_picture(frame: Any) -> NDArray[np.uint8]:
    """Return a 4:2:0 frame as a small picture in BGR."""
    import cv2

    factor = max(1.0, max(frame.width, frame.height) / _LONGER_SIDE)
    # The color planes have half the size, so that both sides must be even.
    width = max(2, round(frame.width / factor / 2) * 2)
    height = max(2, round(frame.height / factor / 2) * 2)
    sizes = [(width, height), (width // 2, height // 2), (width // 2, height // 2)]
    planes = [
        cv2.resize(_plane(plane), size, interpolation=cv2.INTER_LINEAR).reshape(-1)
        for plane, size in zip(frame.planes, sizes, strict=True)
    ]
    packed = np.concatenate(planes).reshape(height * 3 // 2, width)
    picture: NDArray[np.uint8] = cv2.cvtColor(packed, cv2.COLOR_YUV2BGR_I420)
    return picture


def _plane(plane: Any) -> NDArray[np.uint8]:
    data = np.frombuffer(plane, np.uint8)
    rows: NDArray[np.uint8] = data.reshape(-1, plane.line_size)[: plane.height, : plane.width]
    return rows
