"""The viewer in headless Chromium: by the keyboard alone, at three widths, served and as files."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.report.runs import (
    condition_lines,
    tomato_questions,
    write_questions,
    write_run,
)
from video_reasoning.tasks.pages.server import build_server, open_socket
from video_reasoning.tasks.report.viewer.bundle import write_bundle
from video_reasoning.tasks.report.viewer.server import Viewing, create_app

webdriver = pytest.importorskip("selenium.webdriver", reason="needs selenium")

TASK = "tvbench_tomato_principles"
CONDITIONS = ("ordered16", "shuffled16", "random1")
QUESTIONS = 40
SECONDS = 60.0
"""How long anything may take: the machine may be busy with other tests."""


def write_runs(folder: Path, models: tuple[str, ...]) -> None:
    """Runs that answer rightly in order; "one" says more than "two" about question 7."""
    questions = tomato_questions(QUESTIONS)
    for question in questions:
        question["video"] = "videos/0.mp4"
    file = write_questions(folder / "store", "tvbench", "test", questions)
    for model in models:
        lines = condition_lines(
            questions,
            lambda q, c, model=model: (
                "A" if c == "ordered16" and (model == "one" or q["id"] != "direction/7") else "B"
            ),
            CONDITIONS,
        )
        lines[21]["filtered_resps"] = f"Surely a wombat, says {model}. " + "wide" * 200
        write_run(folder / "res" / model, {TASK: lines}, model=model, questions={TASK: file})


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder = tmp_path_factory.mktemp("viewer")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("VIDEO_REASONING_HOME", str(folder / "store"))
        write_runs(folder, ("one", "two"))
        yield folder


@pytest.fixture(scope="module")
def address(home: Path) -> Iterator[str]:
    bound = open_socket(0)
    server = build_server(create_app(Viewing([home / "res"])))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [bound]})
    thread.start()
    yield f"http://127.0.0.1:{bound.getsockname()[1]}/"
    server.should_exit = True
    thread.join(SECONDS)


class Page:
    """What a person sees and presses."""

    def __init__(
        self, browser: Any, address: str, width: int = 1400, scheme: str = "light"
    ) -> None:
        self.browser = browser
        size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 600}
        browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
        feature = {"name": "prefers-color-scheme", "value": scheme}
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [feature]})
        browser.get("about:blank")
        browser.get(address)
        self.wait(lambda: " items" in self.count)

    def wait(self, condition: Callable[[], Any]) -> None:
        end = time.monotonic() + SECONDS
        while not condition():
            assert time.monotonic() < end
            time.sleep(0.05)

    def script(self, code: str) -> Any:
        return self.browser.execute_script(code)

    @property
    def count(self) -> str:
        return str(self.script("return document.getElementById('count').textContent"))

    @property
    def item(self) -> str:
        return str(self.script("return document.getElementById('item').innerText"))

    def press(self, *keys: str) -> None:
        for key in keys:
            webdriver.ActionChains(self.browser).send_keys(key).perform()

    def filtered(self, count: int) -> None:
        self.wait(lambda: self.count.startswith(f"{count} of 240 items"))


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1400, 800, 420])
def test_nothing_is_out_of_sight(browser: Any, address: str, width: int, scheme: str) -> None:
    page = Page(browser, f"{address}#text=wombat", width, scheme)
    page.filtered(2)
    if width < 600:
        assert not page.script("return document.getElementById('selects').offsetHeight")
        page.script("document.getElementById('more').click()")
        assert page.script("return document.getElementById('selects').offsetHeight") > 0
        page.press(webdriver.Keys.ENTER)
        page.script("document.getElementById('list').focus()")
    page.press(webdriver.Keys.ENTER)
    page.wait(lambda: page.script("return document.querySelectorAll('video, #media img').length"))
    wide = """
const width = document.documentElement.clientWidth;
return [...document.querySelectorAll("body *")].filter(part =>
  !part.closest(".stills") && part.getBoundingClientRect().right > width + 1
).map(part => part.outerHTML.slice(0, 100));
"""
    assert page.script(wide) == []
    assert "Surely a wombat" in page.item and "Log line" in page.item
    dark = (
        page.script("return getComputedStyle(document.body).backgroundColor")
        != "rgb(255, 255, 255)"
    )
    assert dark is (scheme == "dark")


def test_everything_is_reached_by_the_keyboard(browser: Any, address: str) -> None:
    page = Page(browser, address)
    page.filtered(240)
    page.press("j", "j", webdriver.Keys.ARROW_DOWN, "k")
    page.wait(lambda: "3 of 240" in page.item)
    page.press("/", *"wombat two", webdriver.Keys.ENTER)
    page.filtered(1)
    page.wait(lambda: "Surely a wombat, says two" in page.item)
    assert page.script("return [...document.querySelectorAll('mark')].map(m => m.textContent)") == [
        "wombat",
        "two",
    ]
    page.press("m")  # the same question under the next condition, which the filter leaves out
    page.filtered(240)
    assert "direction/7" in page.item and "wombat" not in page.item
    page.press("x")  # only question 7 in order was answered rightly by one model alone
    page.filtered(2)
    page.wait(lambda: "direction/7" in page.item)
    page.press("x")  # right in order, wrong with one frame; not so for model two and question 7
    page.filtered(237)
    page.press("x")
    page.filtered(2)  # what model two answered to question 7 with other frames


def test_a_clip_plays_and_moves_by_frames(browser: Any, address: str) -> None:
    page = Page(browser, f"{address}#condition=ordered16")
    page.wait(lambda: page.script("return document.querySelector('video')?.readyState > 1"))
    page.press(".", ".")
    assert page.script("return document.querySelector('video').currentTime") == pytest.approx(0.08)
    page.press(",")
    assert page.script("return document.querySelector('video').currentTime") == pytest.approx(0.04)
    page.press("p")
    page.wait(lambda: page.script("return document.querySelector('video').currentTime") > 0.3)
    page.press("p")
    assert page.script("return document.querySelector('video').paused")
    assert (
        len(page.script("return [...document.querySelectorAll('#media img')].map(i => i.alt)"))
        == 16
    )


def test_a_link_leads_to_the_same_view(browser: Any, address: str) -> None:
    page = Page(browser, address)
    page.script("$('sort').value = 'id'; $('down').checked = true; changed()")
    page.press(webdriver.Keys.HOME, "j", "j")
    link, text = browser.current_url, page.item
    assert "direction/39" in text
    chosen = page.script("return name(shown[place])")
    again = Page(browser, link)
    assert again.item.splitlines()[:4] == text.splitlines()[:4]
    assert again.script("return name(shown[place])") == chosen
    assert "3 of 240" in again.item


def test_items_of_a_run_that_goes_on_appear(browser: Any, home: Path, address: str) -> None:
    page = Page(browser, address)
    page.press("j", "j", "j")
    chosen = page.script("return name(shown[place])")
    try:
        write_runs(home, ("three",))
        page.wait(lambda: "of 360 items" in page.count)
        assert page.script("return name(shown[place])") == chosen
    finally:
        for file in (home / "res" / "three").iterdir():
            file.unlink()
    page.wait(lambda: "of 240 items" in page.count)


def test_a_bundle_opens_from_the_disk(browser: Any, home: Path, tmp_path: Path) -> None:
    write_bundle([home / "res"], tmp_path / "bundle", megabytes=50)
    page = Page(browser, f"{(tmp_path / 'bundle' / 'index.html').as_uri()}#condition=ordered16")
    page.filtered(80)
    page.wait(lambda: page.script("return document.querySelector('video')?.readyState > 1"))
    assert page.script("return document.querySelector('video').duration") > 1
    page.press("m", "m")
    page.wait(
        lambda: page.script("return document.querySelector('#media img')?.naturalWidth") == 64
    )
