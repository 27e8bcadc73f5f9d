"""The page in a real browser: headless Chromium, driven by its keys and clicks."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.handpick.stores import FRAMES, row, write_store
from tests.handpick.test_command import SERVE
from video_reasoning.preprocessing.sampling import uniform_indices
from video_reasoning.tasks.handpick.items import Prepared, load_items
from video_reasoning.tasks.handpick.record import Decision, PickLog

pytest.importorskip("fastapi", reason="needs the extra `handpick`")
webdriver = pytest.importorskip("selenium.webdriver", reason="needs selenium")
Keys = webdriver.Keys

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("chrome")
DRIVER = shutil.which("chromedriver")
if not (CHROMIUM and DRIVER):
    pytest.skip("needs Chromium and its chromedriver on the PATH", allow_module_level=True)

ITEMS = 200
SHOWN = uniform_indices(FRAMES, 16)
SQUARE = "1234qwerasdfzxcv"
SECONDS = 60.0
"""How long anything may take: the machine may be busy with other tests."""


class Server:
    """The page's server in a thread."""

    def __init__(self, home: Path, out: Path) -> None:
        self.home, self.out = home, out
        self.port = 0
        self.start()

    def start(self) -> None:
        from video_reasoning.tasks.handpick import server
        from video_reasoning.tasks.pages.server import build_server, open_socket

        items = load_items("tvbench", home=self.home)
        log = PickLog(self.out, "tvbench")
        workplace = server.Workplace(items, log, Prepared("tvbench", self.home), "ana")
        bound = open_socket(self.port)
        self.server = build_server(server.create_app(workplace))
        self.thread = threading.Thread(target=self.server.run, kwargs={"sockets": [bound]})
        self.thread.start()
        self.took(bound.getsockname()[1])

    def took(self, port: int) -> None:
        self.port = port
        self.address = f"http://127.0.0.1:{port}/"

    def stop(self) -> None:
        self.server.should_exit = True
        self.thread.join(SECONDS)
        assert not self.thread.is_alive()

    def lines(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.out.read_text().splitlines()]


class Killable(Server):
    """The whole command in a process of its own, always on the same port."""

    def start(self) -> None:
        command = [sys.executable, "-c", SERVE, "handpick", "serve", "tvbench"]
        command += ["--home", str(self.home), "--out", str(self.out)]
        self.process = subprocess.Popen(
            [*command, "--annotator", "ana", "--port", str(self.port)],
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONUNBUFFERED": "1"},
        )
        assert self.process.stdout is not None
        for line in self.process.stdout:
            if line.startswith("Open http"):
                self.took(int(line.split()[1].rstrip("/").rpartition(":")[2]))
                return
        raise AssertionError("the server did not start")

    def stop(self) -> None:
        self.process.kill()
        self.process.communicate(timeout=SECONDS)


class Page:
    """What a person sees and does."""

    def __init__(self, driver: Any, address: str) -> None:
        self.driver = driver
        self.address = address

    def open(self, fragment: str = "") -> None:
        self.driver.get("about:blank")
        self.driver.get(self.address + fragment)
        self.wait(self.ready)

    def reload(self) -> None:
        self.driver.refresh()
        self.wait(self.ready)

    def ready(self) -> bool:
        return bool(self.script("return current !== null && !busy && letters.length === 16"))

    def script(self, code: str, *arguments: Any) -> Any:
        return self.driver.execute_script(code, *arguments)

    def wait(self, condition: Callable[[], Any]) -> None:
        end = time.monotonic() + SECONDS
        while not condition():
            assert time.monotonic() < end, self.script("return document.body.innerText")
            time.sleep(0.01)

    def press(self, *keys: str) -> None:
        for key in keys:
            self.wait(self.ready)
            webdriver.ActionChains(self.driver, duration=0).send_keys(key).perform()
        self.wait(self.ready)

    def click(self, selector: str) -> None:
        # A click soon after an item came up is taken for the rest of a double click.
        self.wait(lambda: self.script("return performance.now() > settled"))
        self.driver.find_element("css selector", selector).click()
        self.wait(self.ready)

    def text(self, name: str) -> str:
        return str(self.script("return document.getElementById(arguments[0]).innerText", name))

    def pressed(self) -> list[int]:
        """Places of the frames that are marked as picked."""
        return list(
            self.script(
                "return [...document.querySelectorAll('.frame')].flatMap((frame, place) => "
                "frame.getAttribute('aria-pressed') === 'true' ? [place] : [])"
            )
        )

    def focus(self) -> str:
        return str(self.script("return document.activeElement.getAttribute('aria-label') || ''"))

    def open_dialog(self) -> str:
        return str(self.script("return (document.querySelector('dialog[open]') || {}).id || ''"))


@pytest.fixture(scope="module")
def driver(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    options = webdriver.ChromeOptions()
    options.binary_location = CHROMIUM
    for argument in (
        "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
        "--disable-background-networking", "--disable-component-update", "--disable-sync",
        "--disable-dev-shm-usage", "--window-size=1366,768",
        f"--user-data-dir={tmp_path_factory.mktemp('profile')}",
    ):  # fmt: skip
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    service = webdriver.ChromeService(executable_path=DRIVER)
    made = webdriver.Chrome(options=options, service=service)
    try:
        yield made
    finally:
        made.quit()


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    rows = [row(n) for n in range(ITEMS)]
    rows[1]["question"] = "Is this <b>shown</b> as it is, & not as a page? " + "Long. " * 80
    rows[3]["problem"] = "the video is damaged."
    return write_store(tmp_path_factory.mktemp("store"), rows)


@pytest.fixture
def server(home: Path, tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Server]:
    kind = getattr(request, "param", Server)
    made = kind(home, tmp_path / "picks.jsonl")
    yield made
    made.stop()


@pytest.fixture
def page(driver: Any, server: Server) -> Iterator[Page]:
    made = Page(driver, server.address)
    driver.get_log("browser")
    made.open()
    yield made
    # Faults of the page itself; what the server refuses on purpose is logged as "network".
    faults = [entry for entry in driver.get_log("browser") if entry["source"] != "network"]
    driver.get("about:blank")
    assert faults == []


def test_pick_undo_reload(page: Page, server: Server) -> None:
    assert page.text("place") == "1 of 200"
    assert page.text("count") == "0 of 199 done, 1 without video"
    page.press("q")
    assert page.text("place") == "2 of 200" and page.text("count").startswith("1 of 199 done")
    assert "Item 1: frame Q picked and saved" in page.text("status")
    (line,) = server.lines()
    assert (line["annotator"], line["id"], line["frame"]) == ("ana", "direction/0", SHOWN[4])

    page.press("b")
    assert page.pressed() == [4] and page.text("state").startswith("Picked: Q, at 1.0 s")
    page.press("v")  # another mind
    page.press("b")
    assert page.pressed() == [15]
    page.press("u")
    assert page.text("place") == "1 of 200" and page.pressed() == [4]
    page.reload()
    assert page.text("place") == "1 of 200" and page.pressed() == [4]
    webdriver.ActionChains(page.driver).key_down(Keys.CONTROL).send_keys("z").key_up(
        Keys.CONTROL
    ).perform()
    page.wait(lambda: page.pressed() == [])
    assert page.text("count").startswith("0 of 199 done")
    page.press("u")
    assert page.text("status") == "There is nothing to undo."
    assert [line.get("undo", False) for line in server.lines()] == [False, False, True, True]


def test_clicks(page: Page, server: Server) -> None:
    page.click(".frame[data-place='6']")
    assert server.lines()[-1]["frame"] == SHOWN[6] and page.text("place") == "2 of 200"
    page.wait(lambda: page.script("return performance.now() > settled"))
    frame = page.driver.find_element("css selector", ".frame[data-place='9']")
    webdriver.ActionChains(page.driver).double_click(frame).perform()
    page.wait(page.ready)
    time.sleep(0.4)
    # The second click of a double click picks nothing on the item that comes up.
    assert [line["id"] for line in server.lines()] == ["direction/0", "direction/1"]
    page.click("#undo")
    assert page.text("place") == "2 of 200" and page.pressed() == []
    page.click("#next")
    page.click(".cell:nth-child(3) .enlarge")
    assert page.open_dialog() == "large" and page.text("large-text").startswith("Frame 3 of 16")
    page.click("#large-pick")
    assert server.lines()[-1]["frame"] == SHOWN[2] and page.open_dialog() == ""


def test_everything_by_keyboard(page: Page, server: Server) -> None:
    assert page.focus() == "Frame 1 of 16, at 0.0 s, key 1"
    page.press(Keys.ARROW_RIGHT, Keys.ARROW_DOWN, Keys.ARROW_DOWN, Keys.ARROW_LEFT)
    assert page.focus().startswith("Frame 9 of 16")
    outline = page.script("return getComputedStyle(document.activeElement).outlineStyle")
    assert outline == "solid"
    page.press("l")
    assert page.open_dialog() == "large"
    page.press(Keys.ARROW_RIGHT)
    assert page.text("large-text").startswith("Frame 10 of 16")
    page.press(Keys.ENTER)
    assert server.lines()[-1]["frame"] == SHOWN[9] and page.text("place") == "2 of 200"
    page.press(Keys.ARROW_DOWN, Keys.ENTER)
    assert server.lines()[-1]["frame"] == SHOWN[4] and page.text("place") == "3 of 200"

    page.press("?")
    assert page.open_dialog() == "help-dialog"
    page.press("q", Keys.ESCAPE)  # a key below a dialog picks nothing
    assert page.open_dialog() == "" and len(server.lines()) == 2
    assert page.focus().startswith("Frame 1 of 16")

    page.press("k", Keys.SPACE, Keys.ENTER)
    assert server.lines()[-1]["skip"] == "No frame tells more than the others"
    # Item 4 has no video and is passed over.
    assert page.text("place") == "5 of 200"
    page.press("k", Keys.TAB, "hazy, q and 1", Keys.ENTER)
    assert server.lines()[-1]["skip"] == "hazy, q and 1"
    page.press("k", Keys.ENTER)
    assert page.text("skip-problem") == "Choose or write a reason."
    page.press(Keys.ESCAPE)

    page.press("g", "150", Keys.ENTER)
    assert page.text("place") == "150 of 200"
    page.press("g", "direction/77", Keys.ENTER)
    assert page.text("identity") == "direction/77"
    page.press("g", "skipped", Keys.ARROW_DOWN, Keys.ENTER)
    assert page.text("place") == "5 of 200"
    assert page.text("state") == "Skipped: hazy, q and 1"
    page.press("o")
    assert page.text("place") == "6 of 200"
    page.press("b", "b", "b", "n")
    assert page.text("place") == "4 of 200"
    assert "the video is damaged." in page.text("instead")
    page.press("1")
    assert len(server.lines()) == 4

    # Every control can be reached with the Tab key.
    page.press("n")
    reached = set()
    for _ in range(25):
        webdriver.ActionChains(page.driver, duration=0).send_keys(Keys.TAB).perform()
        reached.add(page.script("return document.activeElement.id"))
    buttons = page.script(
        "return [...document.querySelectorAll('body > :not(dialog) button[id]')].map(b => b.id)"
    )
    assert set(buttons) <= reached and "video" in reached


def test_the_answer_is_hidden_until_it_is_asked_for(page: Page) -> None:
    page.press("n", "n")
    source = page.script("return document.body.innerHTML")
    assert 'class="right"' not in source and page.text("answer") == ""
    page.press("t")
    assert page.text("answer") == "(C) Left."
    assert page.script("return document.querySelector('li.right').innerText") == "(C) Left."
    page.press("t")
    assert page.text("answer") == ""
    page.press("t", "b")
    assert page.text("answer") == "" and not page.script("return document.querySelector('.right')")


def test_the_video_plays_and_seeks(page: Page) -> None:
    page.wait(lambda: page.script("return video.readyState >= 2 && video.currentTime > 0"))
    assert page.script("return [video.videoWidth, video.videoHeight]") == [160, 96]
    page.press("p")
    assert page.script("return video.paused")
    page.script("video.currentTime = 3.2")
    page.wait(lambda: page.script("return !video.seeking && video.readyState >= 2"))
    assert page.script("return video.currentTime") == pytest.approx(3.2, abs=0.2)
    page.press("p")
    page.wait(lambda: not page.script("return video.paused"))
    loaded = "return [...document.querySelectorAll('.frame img')].map(i => i.naturalWidth)"
    page.wait(lambda: page.script(loaded) == [160] * 16)


@pytest.mark.parametrize("height", [768, 625])
def test_a_laptop_screen_needs_no_scrolling(page: Page, height: int) -> None:
    metrics = {"width": 1366, "height": height, "deviceScaleFactor": 1, "mobile": False}
    page.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
    try:
        for _ in range(2):  # the second question is very long
            sizes = page.script(
                "const root = document.documentElement;"
                "return [root.scrollHeight <= innerHeight, root.scrollWidth <= innerWidth]"
            )
            assert sizes == [True, True]
            outside = page.script(
                "return [...document.querySelectorAll('.frame, #video, header button, "
                ".actions button')].filter(part => { const box = part.getBoundingClientRect();"
                " return box.top < 0 || box.left < 0 || box.bottom > innerHeight"
                " || box.right > innerWidth || box.width < 20 || box.height < 20; }).length"
            )
            assert outside == 0
            overlap = page.script(
                "const parts = [...document.querySelectorAll('#ask > *')].map(part =>"
                " part.getBoundingClientRect());"
                "return parts.some((box, n) => n && box.top < parts[n - 1].bottom - 1)"
            )
            assert overlap is False
            page.press("n")
    finally:
        page.driver.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


@pytest.mark.parametrize("width", [1400, 800, 420])
def test_a_narrow_screen_shows_everything(page: Page, width: int) -> None:
    metrics = {"width": width, "height": 850, "deviceScaleFactor": 1, "mobile": False}
    page.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
    try:
        page.press("n")  # the question is very long
        assert page.script("return document.documentElement.scrollWidth <= innerWidth")
        cut = page.script(
            "return [...document.querySelectorAll("
            "'.frame, #video, header button, .actions button')]"
            ".filter(part => { const box = part.getBoundingClientRect(); return !part.offsetParent"
            " || box.left < 0 || box.right > innerWidth || box.width < 30; }).map(p => p.id)"
        )
        assert cut == []
        page.wait(lambda: page.script("return document.querySelector('.frame img').naturalWidth"))
        wide = page.script("return document.querySelector('.frame img').width")
        assert wide > (150 if width < 500 else 100)
        page.press("w")
        assert page.text("place") == "3 of 200"
    finally:
        page.driver.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def test_picks_are_installed_by_agreement_only(page: Page, server: Server) -> None:
    installed = server.home / "tvbench" / "picks.jsonl"
    installed.unlink(missing_ok=True)
    page.press("1", "2", "i")
    page.wait(lambda: "2 picks would be written" in page.text("install-plan"))
    assert page.script("return document.getElementById('install-save').disabled")
    page.press(Keys.ENTER)  # nothing happens without the tick
    assert not installed.exists() and page.open_dialog() == "install-dialog"
    page.script("document.getElementById('install-replace').focus()")
    page.press(Keys.SPACE, Keys.ENTER)
    page.wait(lambda: page.open_dialog() == "")
    assert "2 picks are installed" in page.text("status")
    assert [json.loads(line)["frame"] for line in installed.read_text().splitlines()] == [0, 2]
    page.press("3", "i")
    page.wait(lambda: "Replace the 2 picks" in page.text("install-replace-text"))
    installed.write_text("")  # somebody else was faster
    page.script("document.getElementById('install-replace').focus()")
    page.press(Keys.SPACE, Keys.ENTER)
    page.wait(lambda: "has changed since you were asked" in page.text("install-problem"))
    assert installed.read_text() == ""
    installed.unlink()


def test_texts_are_shown_as_they_are(page: Page) -> None:
    page.press("n")
    assert page.text("question").startswith("Is this <b>shown</b> as it is, & not as a page?")


def test_two_annotators(page: Page, server: Server) -> None:
    page.press("1", "1")
    page.press("y", "ben", Keys.ENTER)
    assert page.text("annotator") == "ben"
    # Ben does not see what Ana picked, and begins at the beginning.
    assert page.text("place") == "1 of 200" and page.pressed() == []
    page.press("1", "3", "3")
    assert [(line["annotator"], line["frame"]) for line in server.lines()] == [
        ("ana", SHOWN[0]), ("ana", SHOWN[0]),
        ("ben", SHOWN[0]), ("ben", SHOWN[2]), ("ben", SHOWN[2]),
    ]  # fmt: skip
    page.press("m")
    page.wait(lambda: page.open_dialog() == "agreement-dialog")
    cells = page.script("return [...document.querySelectorAll('td')].map(cell => cell.innerText)")
    # Same on one of two; frames 0 and 5 on the other, half a second apart.
    assert cells[:4] == ["ana and ben", "2", "50.0 %", "6.3 %"] and cells[5:] == [
        "2.5",
        "0.25",
        "0",
    ]
    assert cells[4].startswith("0.47 [")  # (1/2 - 1/16) / (1 - 1/16)
    assert "Items on which annotators differ: 1" in page.text("agreement-text")
    page.click("#differences button")
    assert page.open_dialog() == "" and page.text("identity") == "direction/1"
    page.press("m")
    page.wait(lambda: page.open_dialog() == "agreement-dialog")
    page.press(Keys.ESCAPE)
    page.reload()
    assert page.text("annotator") == "ben"
    page.press("y", "=odd", Keys.ENTER)
    assert "is not a name for an annotator" in page.text("annotator-problem")
    page.press(Keys.ESCAPE, "y", "ana", Keys.ENTER)
    assert page.text("annotator") == "ana"
    assert page.text("place") == "3 of 200"
    page.press("u")
    assert page.text("place") == "2 of 200" and len(server.lines()) == 6


@pytest.mark.parametrize("server", [Killable], indirect=True)
def test_the_server_dies_and_comes_back(page: Page, server: Server) -> None:
    page.press("2", "3")
    server.stop()
    page.press("4")
    assert "The server does not answer" in page.text("fault")
    assert page.text("place") == "3 of 200" and page.pressed() == []
    with server.out.open("a") as file:
        file.write('{"benchmark": "tvbench", "annotator": "ana", "id": "direc')
    server.start()
    page.press("4")
    assert "The server was started again" in page.text("fault")
    assert page.text("place") == "3 of 200"
    page.press("4")
    assert page.text("place") == "5 of 200" and page.text("fault") == ""
    decided = PickLog(server.out, "tvbench").of("ana")
    assert [decided[f"direction/{n}"].frame for n in range(3)] == [SHOWN[1], SHOWN[2], SHOWN[3]]


def test_two_hundred_items_with_a_break(page: Page, server: Server) -> None:
    todo = [n for n in range(ITEMS) if n != 3]
    for number in todo[:100]:
        assert page.text("place") == f"{number + 1} of 200"
        page.press(SQUARE[number % 16])
    server.stop()
    server.start()
    page.open()
    assert page.text("place") == f"{todo[100] + 1} of 200"
    assert page.text("count").startswith("100 of 199 done")
    for number in todo[100:]:
        page.press(SQUARE[number % 16])
    assert page.text("count").startswith("199 of 199 done")
    assert "All 199 of 199 items are done" in page.text("status")
    assert PickLog(server.out, "tvbench").of("ana") == {
        f"direction/{n}": Decision(
            "ana", f"direction/{n}", SHOWN[n % 16], FRAMES, SHOWN[n % 16] / 10
        )
        for n in todo
    }
    assert page.script("return performance.memory.usedJSHeapSize") < 100e6
