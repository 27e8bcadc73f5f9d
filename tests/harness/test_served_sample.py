"""Known answers through a served model: a server that looks at the images it is sent."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.harness.conftest import Harness
from tests.harness.served import Asked, serve
from tests.harness.test_sample_runs import ANSWERABLE, accuracy
from video_reasoning.tasks.sample.observer.model import answer
from video_reasoning.tasks.sample.observer.vision import observe

pytestmark = [pytest.mark.harness, pytest.mark.slow]

PRINCIPLES = "tvbench_tomato_principles"
DIRECTION = "tvbench_tomato_direction"


def look(asked: Asked) -> str:
    return answer(asked.text, observe(asked.images))


def test_a_served_model_answers_what_can_be_seen(harness: Harness, sample_store: Path) -> None:
    with serve(look) as served:
        run = harness(
            "--model", "openai",
            "--model_args", f"model=served,max_retries=1,base_url={served.url},api_key=none",
            "--tasks", f"{DIRECTION},{PRINCIPLES}", "--limit", "120",
            home=sample_store,
        )  # fmt: skip
    assert run.returncode == 0, run.output[-3000:]
    count, right = accuracy(run.samples(DIRECTION), ANSWERABLE)
    assert count >= 10 and right >= 0.95, (count, right)
    ordered = [s for s in run.samples(PRINCIPLES) if s["tau"]["condition"] == "ordered16"]
    for evidence in ({"temporal"}, ANSWERABLE):
        count, right = accuracy(ordered, evidence)
        assert count >= 10 and right >= 0.95, (evidence, count, right)
    # One frame, or 16 in disorder, do not answer what needs their order.
    for condition in ("random1", "shuffled16"):
        asked = [s for s in run.samples(PRINCIPLES) if s["tau"]["condition"] == condition]
        assert accuracy(asked, {"temporal"})[1] < 0.6, condition
