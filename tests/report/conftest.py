"""A browser for the pages."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("chrome")
DRIVER = shutil.which("chromedriver")


@pytest.fixture(scope="session")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """Headless Chromium; skips tests where there is none."""
    pytest.importorskip("selenium.webdriver", reason="needs selenium")
    if not (CHROMIUM and DRIVER):
        pytest.skip("needs Chromium and its chromedriver on the PATH")
    driver = chromium(tmp_path_factory.mktemp("chromium"))
    yield driver
    driver.quit()


def chromium(profile: Path) -> Any:
    """Start headless Chromium with a folder for its profile."""
    from selenium import webdriver

    options = webdriver.ChromeOptions()
    options.binary_location = CHROMIUM or ""
    for argument in (
        "--headless=new",
        "--no-sandbox",
        "--disable-gpu",
        "--disable-quic",
        "--no-first-run",
        "--disable-background-networking",
        "--disable-component-update",
        "--disable-sync",
        f"--user-data-dir={profile}",
    ):
        options.add_argument(argument)
    return webdriver.Chrome(options=options, service=webdriver.ChromeService(DRIVER))
