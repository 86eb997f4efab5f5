"""The report in a real browser."""

from pathlib import Path

import pytest
from selenium.webdriver.common.by import By

from harness.analysis.compare.comparison import Comparison, compare
from harness.analysis.cost.benefit import cost_benefits
from harness.analysis.cost.costs import Costs, Money
from harness.present.report.figure import Evidence, sections
from harness.present.report.page import render
from tests.browser.conftest import Browser
from tests.unit import report_data
from tests.unit.present.test_tables import SCENARIOS

PHONE = 390
MIN_CONTRAST = 4.5
"""The minimum for small text in the Web Content Accessibility Guidelines (AA)."""


@pytest.fixture(scope="module")
def rich() -> Comparison:
    return compare(report_data.columns())


@pytest.fixture(scope="module")
def report(rich: Comparison, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A report with every section."""
    _, first, second = (column.name for column in rich.columns)
    costs = {first: Money(700, "USD"), second: Money(90.5, "USD")}
    given = Costs(None, costs)
    measured = report_data.measured()
    page = tmp_path_factory.mktemp("report") / "report.html"
    html = render(
        Evidence(rich, measured),
        cost_benefits(rich, given),
        presenting_commands=["clusterlift compare"],
    )
    page.write_text(html)
    return page


def scenario_page(scenario: str, directory: Path) -> Path:
    page = directory / "report.html"
    page.write_text(render(Evidence(SCENARIOS[scenario]())))
    return page


class TestSelfContained:
    def test_it_opens_without_errors_and_requests_nothing(
        self, browser: Browser, report: Path
    ) -> None:
        browser.open(report)
        assert [url for url in browser.requests() if url != "data:,"] == [report.as_uri()]
        assert browser.console_lines() == []

    def test_the_security_policy_blocks_an_injected_script(
        self, browser: Browser, tmp_path: Path
    ) -> None:
        page = scenario_page("plain", tmp_path)
        html = page.read_text().replace("<main>", "<main><script>window.injected = 1</script>")
        page.write_text(html)
        browser.open(page)
        assert browser.run("return window.injected") is None
        assert "Content Security Policy" in browser.console_lines()[0]


class TestSearch:
    def test_it_shows_the_rows_that_have_all_words(
        self, browser: Browser, report: Path, rich: Comparison
    ) -> None:
        browser.open(report)
        name = rich.rows[0].workload
        browser.driver.find_element(By.ID, "search").send_keys(name.upper())
        rows = browser.driver.find_elements(By.CSS_SELECTOR, "table.comparison tbody tr")
        shown = [row.text for row in rows if row.is_displayed()]
        assert shown
        assert all(name in text for text in shown)
        assert len(shown) < len(rows)
        found = browser.driver.find_element(By.ID, "found").text
        assert found == f"{len(shown)} of {len(rows)}"


class TestPictures:
    def test_each_is_visible_and_has_alternative_text(
        self, browser: Browser, report: Path, rich: Comparison
    ) -> None:
        browser.open(report)
        figures = browser.driver.find_elements(By.CSS_SELECTOR, "figure")
        assert [figure.get_attribute("id") for figure in figures] == [
            section.anchor
            for section in sections()
            if section.draw(Evidence(rich, report_data.measured()))
        ]
        pictures = browser.driver.find_elements(By.CSS_SELECTOR, "figure [role=img]")
        assert pictures
        for picture in pictures:
            assert picture.aria_role in {"image", "img"}
            assert len(picture.accessible_name) > 40
            shown = [svg for svg in picture.find_elements(By.TAG_NAME, "svg") if svg.is_displayed()]
            assert shown
            assert all(svg.size["width"] > 100 for svg in shown)


CONTRASTS = """
const channel = value => value <= 0.03928 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
const luminance = ([r, g, b]) =>
  0.2126 * channel(r / 255) + 0.7152 * channel(g / 255) + 0.0722 * channel(b / 255);
const numbers = colour => colour.match(/[\\d.]+/g).map(Number);
function behind(element) {
  for (let at = element; at; at = at.parentElement) {
    const colour = numbers(getComputedStyle(at).backgroundColor);
    if (colour.length === 3 || colour[3] > 0) return colour;
  }
  return [255, 255, 255];
}
return [...document.querySelectorAll('h1, h2, p, dt, dd, th, td, a, small, summary, li, code')]
  .filter(element => element.checkVisibility() && element.textContent.trim())
  .map(element => {
    const text = luminance(numbers(getComputedStyle(element).color)), paper = luminance(behind(element));
    const contrast = (Math.max(text, paper) + 0.05) / (Math.min(text, paper) + 0.05);
    return [contrast, element.tagName + ' ' + element.className + ': ' + element.textContent.slice(0, 40)];
  });
"""


class TestDisplay:
    @pytest.mark.parametrize("scheme", ["light", "dark"])
    def test_all_text_has_enough_contrast(
        self, browser: Browser, report: Path, scheme: str
    ) -> None:
        browser.open(report, scheme=scheme)
        contrasts = browser.run(CONTRASTS)
        assert len(contrasts) > 100
        assert [text for contrast, text in contrasts if contrast < MIN_CONTRAST] == []

    @pytest.mark.parametrize("scenario", [None, "hostile-names"])
    def test_a_phone_scrolls_vertically_only(
        self, browser: Browser, report: Path, tmp_path: Path, scenario: str | None
    ) -> None:
        browser.open(scenario_page(scenario, tmp_path) if scenario else report, width=PHONE)
        assert browser.run("return document.documentElement.scrollWidth") <= PHONE
