"""The page in a real browser: headless Chromium, driven by its keys alone."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.annotate import stores
from tests.handpick.test_browser import SECONDS, Keys, Page, driver, webdriver  # noqa: F401
from video_reasoning.tasks import store
from video_reasoning.tasks.pages.annotate.answers import AnswerLog
from video_reasoning.tasks.pages.annotate.questions import load_questions, tasks_named
from video_reasoning.tasks.pages.annotate.ratings import Rated, RatingLog, from_references
from video_reasoning.tasks.pages.annotate.server import RatingPlace, Workplace, create_app
from video_reasoning.tasks.pages.server import build_server, open_socket

WIDTHS = ((1400, 850), (800, 900), (420, 880))

Open = Callable[..., Page]


class AnswerPage(Page):
    """The page of questions."""

    def ready(self) -> bool:
        return bool(self.script("return current !== null && !busy"))

    def press_with_control(self, key: str) -> None:
        chain = webdriver.ActionChains(self.driver, duration=0).key_down(Keys.CONTROL)
        chain.send_keys(key).key_up(Keys.CONTROL).perform()
        self.wait(self.ready)


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("store")
    rows = stores.tvbench()
    rows[1]["options"][2] = "A <b>long</b> option. " + "Word " * 60
    stores.write(home, "tvbench", rows)
    return stores.write(home, "blackswan", stores.blackswan(2))


@pytest.fixture
def open_page(
    driver: Any,  # noqa: F811
    home: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> Iterator[Open]:
    monkeypatch.setenv(store.HOME_VARIABLE, str(home))
    running = []

    def make(app: Any) -> Page:
        bound = open_socket(0)
        server = build_server(app)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [bound]})
        thread.start()
        running.append((server, thread))
        page = AnswerPage(driver, f"http://127.0.0.1:{bound.getsockname()[1]}/")
        driver.get_log("browser")
        page.open()
        return page

    def open_tasks(*names: str, show: str = "") -> Page:
        questions = [each for task in tasks_named(names) for each in load_questions(task, show)]
        log = AnswerLog(tmp_path / "answers.jsonl")
        return make(create_app(Workplace(questions, log, "some", "ana")))

    open_tasks.make = make  # type: ignore[attr-defined]
    yield open_tasks
    faults = [entry for entry in driver.get_log("browser") if entry["source"] != "network"]
    driver.get("about:blank")
    for server, thread in running:
        server.should_exit = True
        thread.join(SECONDS)
    assert faults == []


def answers(tmp_path: Path) -> list[tuple[str, ...]]:
    log = AnswerLog(tmp_path / "answers.jsonl")
    return [found.responses or (str(found.skip),) for found in log.decisions.values()]


def test_options_by_their_letters(open_page: Open, tmp_path: Path) -> None:
    page = open_page("tvbench_tomato_direction", show="video")
    assert page.text("place") == "1 of 8"
    page.press("b")
    assert page.text("place") == "2 of 8" and "B saved" in page.text("status")
    page.press("3", Keys.ARROW_LEFT)
    assert page.text("state") == "Answered: C"
    assert page.script("return document.querySelector('[aria-pressed=true]').dataset.choice") == "C"
    page.press("z", "u")  # no option has that letter
    assert page.text("state") == "" and answers(tmp_path) == [("B",)]
    page.press("k", Keys.SPACE, Keys.ENTER, "o", "g", "8", Keys.ENTER)
    assert page.text("place") == "8 of 8"
    page.press(Keys.TAB, Keys.ENTER)  # the first option has the focus
    assert answers(tmp_path) == [("B",), ("The question cannot be understood",), ("A",)]
    page.press("w", "ben", Keys.ENTER)
    assert page.text("annotator") == "ben" and page.text("count") == "0 of 8 done"
    page.press("?", "a", Keys.ESCAPE)  # a key below a dialog answers nothing
    page.press("d")
    page.reload()
    assert page.text("place") == "2 of 8" and len(answers(tmp_path)) == 4


def test_yes_no_and_explanations_by_keyboard(open_page: Open, tmp_path: Path) -> None:
    page = open_page("blackswan_reporter_yn", "blackswan_detective_gen")
    words = "A dog runs in and pushes the ball down"
    for number in range(3):  # the focus begins in the first of three texts
        page.press(f"{words} {number}", Keys.TAB)
    save = page.script("return document.activeElement.textContent")
    assert save.startswith("Save")
    page.press(Keys.ENTER)
    assert answers(tmp_path) == [tuple(f"{words} {number}" for number in range(3))]
    page.press("y, but too short")
    page.press_with_control(Keys.ENTER)
    assert "at least 8 words" in page.text("form-problem")
    assert page.script("return document.querySelector('textarea').value") == "y, but too short"
    page.press(Keys.ESCAPE, Keys.ARROW_RIGHT)
    assert page.text("quoted").startswith("It falls") and page.text("place") == "3 of 4"
    page.press("n", "y")
    assert answers(tmp_path)[1:] == [("no",), ("yes",)]


@pytest.mark.parametrize("size", WIDTHS)
@pytest.mark.parametrize("show", ["video", "ordered16"])
def test_nothing_is_cut_off(open_page: Open, size: tuple[int, int], show: str) -> None:
    page = open_page("tvbench_tomato_direction", show=show)
    width, height = size
    metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
    page.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
    try:
        page.press("g", "direction/1", Keys.ENTER)  # with a very long option
        assert page.script("return document.documentElement.scrollWidth <= innerWidth")
        outside = page.script(
            "return [...document.querySelectorAll('.choice, .frame, #video, header button')]"
            ".filter(part => part.offsetParent).filter(part => {"
            " const box = part.getBoundingClientRect();"
            " return box.left < 0 || box.right > innerWidth || box.width < 20 || box.height < 20;"
            "}).map(part => part.outerHTML)"
        )
        assert outside == []
        page.press("c")
        assert "C saved" in page.text("status")
    finally:
        page.driver.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def test_ratings_by_keyboard(open_page: Open, tmp_path: Path) -> None:
    texts = from_references(["blackswan_reporter_gen"])
    written = [Rated(each.question, "evaluation", "a model", each.text) for each in texts]
    log = RatingLog(tmp_path / "ratings.jsonl")
    page = open_page.make(create_app(RatingPlace(written, log, "evaluation", "ana")))  # type: ignore[attr-defined]
    assert "falls off the table" in page.text("quoted")
    page.press_with_control(Keys.ENTER)
    assert page.text("form-problem") == "Rate correctness as well."
    page.press("4", "It fits.", Keys.ESCAPE, "3", "Some.", Keys.TAB, Keys.TAB, Keys.ESCAPE)
    chosen = "return [...document.querySelectorAll('input:checked')].map(i => i.name + i.value)"
    assert page.script(chosen)[0] == "correctness4"
    for name, key in (("thoughtfulness", "2"), ("detail", "5"), ("entailment", "1")):
        script = "document.querySelector(`input[name=${arguments[0]}]`).focus()"
        page.script(script, name)
        page.press(key, "Because.", Keys.ESCAPE)
    page.press_with_control(Keys.ENTER)
    assert page.text("place") == "2 of 2"
    (found,) = RatingLog(tmp_path / "ratings.jsonl").decisions.values()
    assert found.ratings == {
        "correctness": 4, "thoughtfulness": 2, "detail": 5, "entailment": 1,
    }  # fmt: skip
    assert found.reasons["correctness"].startswith("It fits.") and len(found.reasons) == 4
    page.press("u")
    assert page.text("place") == "1 of 2" and page.script(chosen) == []
