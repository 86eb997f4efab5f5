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
    given = Costs(None, costs, Money(20, "USD"))
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

    def test_a_page_with_an_error_and_a_request_is_detected(
        self, browser: Browser, tmp_path: Path
    ) -> None:
        page = tmp_path / "page.html"
        page.write_text("<img src='http://example.invalid/x.png'><script>console.error(1)</script>")
        browser.open(page)
        assert "http://example.invalid/x.png" in browser.requests()
        assert browser.console_lines()

    @pytest.mark.parametrize("scenario", ["hostile-names", "troubled", "long-names"])
    def test_unusual_reports_open_without_errors_and_request_nothing(
        self, browser: Browser, tmp_path: Path, scenario: str
    ) -> None:
        page = scenario_page(scenario, tmp_path)
        browser.open(page)
        assert [url for url in browser.requests() if url != "data:,"] == [page.as_uri()]
        assert browser.console_lines() == []

    def test_a_script_in_a_name_is_shown_and_not_run(
        self, browser: Browser, tmp_path: Path
    ) -> None:
        browser.open(scenario_page("hostile-names", tmp_path))
        names = [h.text for h in browser.driver.find_elements(By.CSS_SELECTOR, "#answer h2")]
        assert any("<script>alert(1)</script>" in name for name in names)

    def test_the_security_policy_blocks_an_injected_script(
        self, browser: Browser, tmp_path: Path
    ) -> None:
        page = scenario_page("plain", tmp_path)
        html = page.read_text().replace("<main>", "<main><script>window.injected = 1</script>")
        page.write_text(html)
        browser.open(page)
        assert browser.run("return window.injected") is None
        assert "Content Security Policy" in browser.console_lines()[0]


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
        for figure in figures:
            picture = figure.find_element(By.CSS_SELECTOR, "[role=img]")
            assert picture.aria_role in {"image", "img"}
            assert len(picture.accessible_name) > 40
            shown = [svg for svg in picture.find_elements(By.TAG_NAME, "svg") if svg.is_displayed()]
            assert shown
            assert all(svg.size["width"] > 100 for svg in shown)

    def test_their_colours_come_from_the_page(self, browser: Browser, report: Path) -> None:
        browser.open(report)
        fills = browser.run(
            "return [...document.querySelectorAll('#change .mark-symbol path')]"
            ".map(mark => getComputedStyle(mark).fill)"
        )
        assert fills
        assert not {"", "none", "rgb(0, 0, 0)"} & set(fills)

    def test_their_numbers_can_be_opened(self, browser: Browser, report: Path) -> None:
        browser.open(report)
        for figure in browser.driver.find_elements(By.CSS_SELECTOR, "figure"):
            figure.find_element(By.TAG_NAME, "summary").click()
            assert figure.find_element(By.CSS_SELECTOR, "tbody td").text


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

    def test_the_dark_scheme_has_a_dark_background(self, browser: Browser, report: Path) -> None:
        papers = []
        for scheme in ("light", "dark"):
            browser.open(report, scheme=scheme)
            papers.append(browser.run("return getComputedStyle(document.body).backgroundColor"))
        assert papers[0] == "rgb(255, 255, 255)"
        assert papers[1] != papers[0]

    @pytest.mark.parametrize("scenario", [None, "long-names", "hostile-names", "troubled"])
    def test_a_phone_scrolls_vertically_only(
        self, browser: Browser, report: Path, tmp_path: Path, scenario: str | None
    ) -> None:
        browser.open(scenario_page(scenario, tmp_path) if scenario else report, width=PHONE)
        assert browser.run("return document.documentElement.scrollWidth") <= PHONE

    def test_print_is_light_and_hides_interactive_parts(
        self, browser: Browser, report: Path
    ) -> None:
        browser.open(report, scheme="dark", media="print")
        assert (
            browser.run("return getComputedStyle(document.body).backgroundColor")
            == "rgb(255, 255, 255)"
        )
        assert not browser.driver.find_element(By.TAG_NAME, "details").is_displayed()
        overflows = browser.run(
            "return [...document.querySelectorAll('.scroll')].map(box => getComputedStyle(box).overflowX)"
        )
        assert set(overflows) == {"visible"}
