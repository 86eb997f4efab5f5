"""A real browser without a window, which can reach local files only."""

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from selenium import webdriver
from selenium.webdriver.chrome.service import Service

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "google-chrome"))), None)
DRIVER = shutil.which("chromedriver")

ARGUMENTS = (
    "--headless=new",
    "--no-sandbox",  # Chromium refuses to run as root, as in a container, with its sandbox
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--host-resolver-rules=MAP * ~NOTFOUND",
)


class Browser:
    """A browser window: opens pages, and reports their requests and console lines."""

    def __init__(self, driver: webdriver.Chrome) -> None:
        self.driver = driver

    def open(self, page: Path, *, width: int = 1100, scheme: str = "light") -> None:
        """Open a file in a window of `width` pixels."""
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        self._call("Emulation.setEmulatedMedia", features=features)
        size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 500}
        self._call("Emulation.setDeviceMetricsOverride", **size)
        self.requests(), self.console_lines()
        self.driver.get(page.as_uri())

    def requests(self) -> list[str]:
        """Return the URLs requested since the last call."""
        events = [json.loads(entry["message"])["message"] for entry in self._log("performance")]
        return [
            event["params"]["request"]["url"]
            for event in events
            if event["method"] == "Network.requestWillBeSent"
        ]

    def console_lines(self) -> list[str]:
        """Return the lines of the console since the last call, of every level."""
        return [entry["message"] for entry in self._log("browser")]

    def run(self, script: str) -> Any:
        """Run a script and return its result."""
        return self.driver.execute_script(script)

    def _log(self, name: str) -> Any:
        driver: Any = self.driver  # its method for logs has no types
        return driver.get_log(name)

    def _call(self, method: str, **parameters: Any) -> None:
        self.driver.execute_cdp_cmd(method, parameters)


@pytest.fixture(scope="session")
def driver() -> Iterator[webdriver.Chrome]:
    if CHROMIUM is None or DRIVER is None:
        pytest.skip("no chromium, or no chromedriver: apt-get install chromium chromium-driver")
    options = webdriver.ChromeOptions()
    options.binary_location = CHROMIUM
    for argument in ARGUMENTS:
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    driver = webdriver.Chrome(options=options, service=Service(DRIVER))
    yield driver
    driver.quit()


@pytest.fixture
def browser(driver: webdriver.Chrome) -> Browser:
    return Browser(driver)
