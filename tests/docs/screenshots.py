"""`python -m tests.docs.screenshots`: take the documentation's pictures of the pages again.

Every page is opened in headless Chromium over the sample benchmark, at three widths, light and
dark. `docs/screens/PAGE.png` has the six side by side, at half their size; `--raw FOLDER` keeps
each in full.
"""

from __future__ import annotations

import argparse
import io
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from PIL import Image

from tests.docs.check import prepared, simulate_people
from tests.docs.commands import ROOT
from tests.report.conftest import chromium

WIDTHS, HEIGHT = (1400, 800, 420), 900
SCHEMES = ("light", "dark")
TASKS = "tvbench_tomato_direction"
COLORS = 128  # of a picture's palette; keeps each below 200 KB


@dataclass(frozen=True)
class Page:
    """A page: the command that writes or serves it, and what is done before the picture.

    A command that serves prints the address; `file` is what another one writes.
    """

    command: str
    file: str = ""
    script: str = ""


STILL = "document.querySelectorAll('#video').forEach(v => (v.currentTime = 0.2, v.pause()));"
JUMP = "document.querySelector({!r}).scrollIntoView()"
PAGES = {
    "report": Page("report {results} --out report.html", "report.html"),
    "task": Page(
        "report {results} --out report.html",
        "report.html",
        JUMP.format("#task-tvbench_tomato_principles"),
    ),
    "examples": Page(
        "report {results} --out report.html",
        "report.html",
        "document.querySelector('#task-causalvqa_debug details:has(.example)').scrollIntoView()",
    ),
    "view": Page("view {results} --port 0"),
    "audit": Page(
        f"audit --tasks {TASKS} --model sample_observer --limit 30 --out audit",
        "audit/report.html",
    ),
    "handpick": Page("handpick serve tvbench --out picks.jsonl --annotator ana --port 0"),
    "annotate": Page("annotate answer blackswan_mcq --out answers.jsonl --annotator eve --port 0"),
}


@contextmanager
def opened(page: Page, folder: Path, environment: Mapping[str, str]) -> Iterator[str]:
    """Run a page's command, and yield the page's address."""
    program = [sys.executable, "-c", "from video_reasoning.tasks.cli.main import main; main()"]
    words = page.command.format(results=folder / "results").split()
    if page.file:
        if not (folder / page.file).exists():
            subprocess.run([*program, *words], cwd=folder, env=environment, check=True)
        yield (folder / page.file).as_uri()
        return
    process = subprocess.Popen(
        [*program, *words], cwd=folder, env=environment, stdout=subprocess.PIPE, text=True
    )
    lines = process.stdout or io.StringIO()
    address = next(found[0] for line in lines if (found := re.search(r"http://\S+", line)))
    try:
        yield address
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait()


def taken(driver: Any, address: str, script: str) -> Iterator[tuple[str, int, Image.Image]]:
    """Yield a picture for each scheme and width."""
    for scheme in SCHEMES:
        for width in WIDTHS:
            size = {"width": width, "height": HEIGHT, "deviceScaleFactor": 1, "mobile": False}
            driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
            feature = {"name": "prefers-color-scheme", "value": scheme}
            driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [feature]})
            driver.get(address)
            time.sleep(2)  # pictures and clips are loaded when they are seen
            for _ in range(3):  # what comes into view moves the rest
                driver.execute_script(STILL + script)
                time.sleep(1)
            yield scheme, width, Image.open(io.BytesIO(driver.get_screenshot_as_png()))


def montage(pictures: Mapping[tuple[str, int], Image.Image]) -> Image.Image:
    """Put the pictures of a page side by side, light above dark, at half their size."""
    gap = 10
    total = sum(WIDTHS) // 2 + gap * (len(WIDTHS) + 1)
    whole = Image.new("RGB", (total, len(SCHEMES) * (HEIGHT // 2 + gap) + gap), "#888")
    for row, scheme in enumerate(SCHEMES):
        left = gap
        for width in WIDTHS:
            small = (
                pictures[scheme, width]
                .convert("RGB")
                .resize((width // 2, HEIGHT // 2), Image.Resampling.LANCZOS)
            )
            whole.paste(small, (left, gap + row * (HEIGHT // 2 + gap)))
            left += width // 2 + gap
    return whole.quantize(COLORS, Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE)


def main() -> None:
    """Take the pictures of the pages that are named, or of all."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("pages", nargs="*", choices=[[], *PAGES], help="default: all")
    parser.add_argument("--work", type=Path, default=ROOT / "build" / "docs-check")
    parser.add_argument("--raw", type=Path, help="a folder for each picture in full")
    options = parser.parse_args()
    work = options.work.absolute()
    work.mkdir(parents=True, exist_ok=True)
    environment = {**os.environ, **prepared(work)}
    out = ROOT / "docs" / "screens"
    out.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "results").symlink_to(work / "demo" / "results")
        simulate_people(folder, work)
        driver = chromium(folder / "chromium")
        for key in options.pages or PAGES:
            page = PAGES[key]
            with opened(page, folder, environment) as address:
                pictures = {
                    (scheme, width): picture
                    for scheme, width, picture in taken(driver, address, page.script)
                }
            if options.raw:
                options.raw.mkdir(parents=True, exist_ok=True)
                for (scheme, width), picture in pictures.items():
                    picture.save(options.raw / f"{key}-{width}-{scheme}.png")
            montage(pictures).save(out / f"{key}.png", optimize=True)
            print(f"{key}: {(out / f'{key}.png').stat().st_size / 1000:.0f} KB")
        driver.quit()


if __name__ == "__main__":
    main()
