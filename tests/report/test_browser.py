"""The page in headless Chromium: it fits the screen, and every picture can be drawn."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.report.audits import grouped, item, result, write_audit
from tests.report.runs import (
    causal_lines,
    causal_questions,
    condition_lines,
    tomato_questions,
    write_questions,
    write_run,
)
from video_reasoning.tasks.report.build import build
from video_reasoning.tasks.report.page import page

webdriver = pytest.importorskip("selenium.webdriver", reason="needs selenium")

LONG = "a_model_with_a_name_that_is_longer_than_any_column-" * 2
PRINCIPLES = ("ordered16", "shuffled16", "random1")

BEYOND = """
for (const part of document.querySelectorAll("details")) part.open = true;
const width = document.documentElement.clientWidth;
const found = [];
for (const part of document.querySelectorAll("body *")) {
  const scroller = part.closest(".scroll, .frames");
  if (scroller && scroller !== part) continue;  // tables and pictures scroll in their own box
  if (part.getBoundingClientRect().right > width + 1) found.push(part.outerHTML.slice(0, 120));
}
return {width, scroll: document.documentElement.scrollWidth, found};
"""
HIDDEN = """
for (const part of document.querySelectorAll("details")) part.open = true;
const tables = [...document.querySelectorAll(".scroll")];
return tables.filter(table => table.scrollWidth > table.clientWidth + 1).length;
"""
COPIED = """
const done = arguments[arguments.length - 1];
navigator.clipboard.writeText = async (text) => done(text);
const tools = document.querySelector("#causalvqa .tools");
[...tools.querySelectorAll("button")].find(b => b.textContent === arguments[0]).click();
"""
BROKEN = "return [...document.images].filter(i => !(i.complete && i.naturalWidth)).length"


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A report over two runs of two tasks, with words that no line has room for."""
    folder = tmp_path_factory.mktemp("report")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("VIDEO_REASONING_HOME", str(folder / "store"))
        causal, tomato = causal_questions(4), tomato_questions(3)
        causal[0]["question"] = "wide" * 200
        files = {
            "causalvqa_debug": write_questions(folder / "store", "causalvqa", "debug", causal),
            "tvbench_tomato_principles": write_questions(
                folder / "store", "tvbench", "test", tomato
            ),
        }
        for model, letter in ((LONG, "A"), ("two", "B")):
            lines = causal_lines(causal, lambda q, letter=letter: letter)
            lines[0]["filtered_resps"] = "x" * 3000
            tasks = {
                "causalvqa_debug": lines,
                "tvbench_tomato_principles": condition_lines(
                    tomato, lambda q, c, letter=letter: letter, PRINCIPLES
                ),
            }
            write_run(folder / model[:9], tasks, model=model, questions=files)
        items = [item(0, ("random1", "blind"), prompt=LONG, target=LONG, responses={"blind": LONG})]
        wide = "a_task_with_a_name_longer_than_any_column_" * 3
        refused = result("pictures", refused=LONG)
        audited = [*grouped("bench", ["bench_a", "bench_b"]), result(wide, items), refused]
        write_audit(folder / "audit", audited, model=LONG)
        report = build([folder / LONG[:9], folder / "two", folder / "audit"])
        (folder / "report.html").write_text(page(report), encoding="utf-8")
        yield folder / "report.html"


@pytest.mark.parametrize("width", [390, 1366])
def test_nothing_overflows(browser: Any, written: Path, width: int) -> None:
    size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 600}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    browser.get(written.as_uri())
    found = browser.execute_script(BEYOND)
    assert found["found"] == []
    assert found["scroll"] <= found["width"] <= width


def test_every_picture_is_drawn(browser: Any, written: Path) -> None:
    browser.get(written.as_uri())
    assert browser.execute_script("return document.images.length") > 20
    assert browser.execute_script(BROKEN) == 0


def show(browser: Any, written: Path, width: int, scheme: str = "light") -> None:
    size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 600}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    feature = {"name": "prefers-color-scheme", "value": scheme}
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [feature]})
    browser.get(written.as_uri())


def test_no_column_is_out_of_sight_on_a_phone(browser: Any, written: Path) -> None:
    show(browser, written, 390)
    assert browser.execute_script(HIDDEN) == 0


def test_the_page_follows_the_dark_mode(browser: Any, written: Path) -> None:
    script = "const s = getComputedStyle(document.body); return [s.backgroundColor, s.color]"
    show(browser, written, 1366)
    light = browser.execute_script(script)
    show(browser, written, 1366, "dark")
    assert browser.execute_script(script) == ["rgb(22, 24, 27)", "rgb(232, 230, 227)"] != light


def test_a_plot_is_as_wide_as_the_page(browser: Any, written: Path) -> None:
    show(browser, written, 1366)
    widths = browser.execute_script(
        "return [...document.querySelectorAll('.chart')].map(c => c.getBoundingClientRect().width)"
    )
    assert widths and min(widths) > 1000


@pytest.mark.parametrize(
    ("form", "first"),
    [("Markdown", "|  | n | "), ("LaTeX", "\\begin{tabular}{lr"), ("CSV", ",n,")],
)
def test_a_table_is_copied(browser: Any, written: Path, form: str, first: str) -> None:
    show(browser, written, 1366)
    text = browser.execute_async_script(COPIED, form)
    assert text.startswith(first)
    (row,) = [line for line in text.splitlines() if line.lstrip("| ").startswith("All")]
    assert "0.0 (0.0 to " in row
    if form == "LaTeX":
        assert "a\\_model\\_with\\_a" in text and text.rstrip().endswith("\\end{tabular}")


def test_frames_are_large_and_enlarged_by_the_keyboard(browser: Any, written: Path) -> None:
    show(browser, written, 1366)
    image = browser.find_element("css selector", ".frames img")
    assert image.size["width"] >= 320
    image.send_keys(webdriver.Keys.ENTER)
    large = browser.find_element("css selector", "dialog[open] img")
    assert large.size["width"] > 600
    first = large.get_attribute("alt")
    webdriver.ActionChains(browser).send_keys(webdriver.Keys.ARROW_RIGHT).perform()
    assert browser.find_element("css selector", "dialog[open] img").get_attribute("alt") != first
    webdriver.ActionChains(browser).send_keys(webdriver.Keys.ESCAPE).perform()
    assert not browser.find_elements("css selector", "dialog[open]")


def test_a_clip_plays_inside_the_page(browser: Any, written: Path) -> None:
    show(browser, written, 1366)
    played = """
const done = arguments[arguments.length - 1];
const video = document.querySelector("video");
video.muted = true;
video.addEventListener("timeupdate", () => { if (video.currentTime > 0) done(video.duration); });
video.addEventListener("error", () => done(video.error.message));
video.play();
"""
    assert browser.execute_async_script(played) > 2
