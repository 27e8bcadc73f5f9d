"""What the report draws of audits."""

from __future__ import annotations

import math

from video_reasoning.metrics.intervals import Estimate
from video_reasoning.tasks.report.audit_sections import _cap, _points


def test_an_infinite_interval_does_not_squash_the_plot() -> None:
    found = Estimate(5.0, 0.365, math.inf, 0.95, 6, 6)
    (point,) = _points(0, found, _cap(found.value))
    assert (point.value, point.low, point.high) == (500.0, 36.5, 1000.0)
    (usual,) = _points(0, Estimate(0.5, 0.1, 1.0, 0.95, 6, 6), _cap(0.5))
    assert usual.high == 100.0
