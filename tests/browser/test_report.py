"""The report as people see it."""

from __future__ import annotations

from pathlib import Path

import pytest
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.remote.webelement import WebElement

from harness.analysis.comparison import Comparison, compare
from harness.analysis.price import rank_offers
from harness.analysis.price_list import Item, Money, Offer, PriceList
from harness.present.report.page import render
from harness.statistics.change import Verdict
from tests.browser.conftest import Browser
from tests.unit import report_data
from tests.unit.present.test_tables import SCENARIOS

FIGURES = ["change", "trials", "time", "mesh", "mtu", "latency", "placement"]
PHONE = 390
LEGIBLE = 4.5
"""The least contrast of small text, by the Web Content Accessibility Guidelines (AA)."""


@pytest.fixture(scope="module")
def rich() -> Comparison:
    return compare(report_data.columns())


@pytest.fixture(scope="module")
def report(rich: Comparison, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A report with everything in it."""
    prices = PriceList(
        (
            Offer("dear", (Item("switch", 700),), "USD"),
            Offer("cheap", (Item("switch", 90.5),), "USD"),
        ),
        Money(20, "USD"),
    )
    measured = report_data.measured()
    page = tmp_path_factory.mktemp("report") / "report.html"
    page.write_text(
        render(rich, measured, rank_offers(rich, prices, measured), ["clusterlift compare"])
    )
    return page


def scenario_page(scenario: str, directory: Path) -> Path:
    page = directory / "report.html"
    page.write_text(render(SCENARIOS[scenario]()))
    return page


class TestItIsWhole:
    def test_it_opens_without_complaint_and_asks_for_nothing(
        self, browser: Browser, report: Path
    ) -> None:
        browser.open(report)
        assert [url for url in browser.requests() if url != "data:,"] == [report.as_uri()]
        assert browser.complaints() == []

    def test_a_page_that_did_either_would_be_found_out(
        self, browser: Browser, tmp_path: Path
    ) -> None:
        page = tmp_path / "page.html"
        page.write_text("<img src='http://example.invalid/x.png'><script>console.error(1)</script>")
        browser.open(page)
        assert "http://example.invalid/x.png" in browser.requests()
        assert browser.complaints()

    @pytest.mark.parametrize("scenario", ["hostile-names", "troubled", "long-names"])
    def test_so_does_an_odd_one(self, browser: Browser, tmp_path: Path, scenario: str) -> None:
        page = scenario_page(scenario, tmp_path)
        browser.open(page)
        assert [url for url in browser.requests() if url != "data:,"] == [page.as_uri()]
        assert browser.complaints() == []

    def test_a_script_for_a_name_is_read_and_not_run(
        self, browser: Browser, tmp_path: Path
    ) -> None:
        browser.open(scenario_page("hostile-names", tmp_path))
        names = [h.text for h in browser.driver.find_elements(By.CSS_SELECTOR, "#answer h2")]
        assert any("<script>alert(1)</script>" in name for name in names)

    def test_a_smuggled_script_would_not_run(self, browser: Browser, tmp_path: Path) -> None:
        page = scenario_page("plain", tmp_path)
        html = page.read_text().replace("<main>", "<main><script>window.smuggled = 1</script>")
        page.write_text(html)
        browser.open(page)
        assert browser.run("return window.smuggled") is None
        assert "Content Security Policy" in browser.complaints()[0]

    def test_without_scripts_everything_is_there(self, browser: Browser, report: Path) -> None:
        browser.without_scripts(disabled=True)
        try:
            browser.open(report)
            rows = browser.driver.find_elements(By.CSS_SELECTOR, "#table tbody tr")
            assert len(rows) == len(report_data.BEFORE_S)
        finally:
            browser.without_scripts(disabled=False)


class TestPictures:
    def test_each_is_there_and_has_words_in_its_place(self, browser: Browser, report: Path) -> None:
        browser.open(report)
        figures = browser.driver.find_elements(By.CSS_SELECTOR, "figure")
        assert [figure.get_attribute("id") for figure in figures] == FIGURES
        for figure in figures:
            picture = figure.find_element(By.CSS_SELECTOR, "[role=img]")
            assert picture.aria_role in {"image", "img"}
            assert len(picture.accessible_name) > 40
            shown = [svg for svg in picture.find_elements(By.TAG_NAME, "svg") if svg.is_displayed()]
            assert shown
            assert all(svg.size["width"] > 100 for svg in shown)

    def test_their_colours_are_the_pages(self, browser: Browser, report: Path) -> None:
        browser.open(report)
        fills = browser.run(
            "return [...document.querySelectorAll('#change .mark-symbol path')]"
            ".map(mark => getComputedStyle(mark).fill)"
        )
        assert fills
        assert not {"", "none", "rgb(0, 0, 0)"} & set(fills)

    def test_numbers_can_be_unfolded(self, browser: Browser, report: Path) -> None:
        browser.open(report)
        for figure in browser.driver.find_elements(By.CSS_SELECTOR, "figure"):
            figure.find_element(By.TAG_NAME, "summary").click()
            assert figure.find_element(By.CSS_SELECTOR, "tbody td").text


def workloads(browser: Browser) -> list[str]:
    heads = browser.driver.find_elements(By.CSS_SELECTOR, "#table tbody th")
    return [head.text.removesuffix(" control") for head in heads]


def heads(browser: Browser) -> list[WebElement]:
    return browser.driver.find_elements(By.CSS_SELECTOR, "#table thead tr:last-child th")


class TestSorting:
    def test_by_the_change_and_back(self, browser: Browser, report: Path, rich: Comparison) -> None:
        browser.open(report)
        last = heads(browser)[-1]
        share = {
            row.workload: row.cells[-1].change.relative_change
            for row in rich.rows
            if row.cells[-1].change
        }
        ascending = sorted(share, key=lambda workload: share[workload])
        last.find_element(By.TAG_NAME, "button").click()
        assert workloads(browser) == ascending
        assert last.get_attribute("aria-sort") == "ascending"
        last.find_element(By.TAG_NAME, "button").click()
        assert workloads(browser) == ascending[::-1]
        assert last.get_attribute("aria-sort") == "descending"

    def test_by_name_and_by_keyboard(self, browser: Browser, report: Path) -> None:
        browser.open(report)
        heads(browser)[0].find_element(By.TAG_NAME, "button").send_keys(Keys.ENTER)
        assert workloads(browser) == sorted(report_data.BEFORE_S)

    def test_one_column_is_sorted_by_at_a_time(self, browser: Browser, report: Path) -> None:
        browser.open(report)
        for head in heads(browser)[:2]:
            head.find_element(By.TAG_NAME, "button").click()
        assert [head.get_attribute("aria-sort") for head in heads(browser)[:2]] == [
            None,
            "ascending",
        ]

    def test_what_is_not_known_stays_last(self, browser: Browser, tmp_path: Path) -> None:
        comparison = SCENARIOS["unequal"]()
        unknown = {
            row.workload
            for row in comparison.rows
            if row.cells[1].change is None or row.cells[1].change.verdict is Verdict.TOO_FEW
        }
        assert unknown
        browser.open(scenario_page("unequal", tmp_path))
        for _ in range(2):
            heads(browser)[-1].find_element(By.TAG_NAME, "button").click()
            assert set(workloads(browser)[-len(unknown) :]) == unknown

    def test_money_is_sorted_by_its_amount(self, browser: Browser, report: Path) -> None:
        browser.open(report)
        head = browser.driver.find_element(By.CSS_SELECTOR, "#price th:nth-child(4) button")
        head.click()
        costs = browser.driver.find_elements(By.CSS_SELECTOR, "#price tbody td:nth-child(4)")
        assert [cost.text for cost in costs] == ["90.50 USD", "90.50 USD", "700 USD", "700 USD"]


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


class TestEverywhere:
    @pytest.mark.parametrize("scheme", ["light", "dark"])
    def test_all_text_is_legible(self, browser: Browser, report: Path, scheme: str) -> None:
        browser.open(report, scheme=scheme)
        contrasts = browser.run(CONTRASTS)
        assert len(contrasts) > 100
        assert [told for two_sample_test, told in contrasts if two_sample_test < LEGIBLE] == []

    def test_dark_is_dark(self, browser: Browser, report: Path) -> None:
        papers = []
        for scheme in ("light", "dark"):
            browser.open(report, scheme=scheme)
            papers.append(browser.run("return getComputedStyle(document.body).backgroundColor"))
        assert papers[0] == "rgb(255, 255, 255)"
        assert papers[1] != papers[0]

    @pytest.mark.parametrize("scenario", [None, "long-names", "hostile-names", "troubled"])
    def test_a_phone_scrolls_in_one_direction(
        self, browser: Browser, report: Path, tmp_path: Path, scenario: str | None
    ) -> None:
        browser.open(scenario_page(scenario, tmp_path) if scenario else report, width=PHONE)
        assert browser.run("return document.documentElement.scrollWidth") <= PHONE

    @pytest.mark.parametrize(("width", "shown"), [(1100, "wide"), (PHONE, "narrow")])
    def test_a_picture_fits_the_window(
        self, browser: Browser, report: Path, width: int, shown: str
    ) -> None:
        browser.open(report, width=width)
        for kind in ("wide", "narrow"):
            picture = browser.driver.find_element(By.CSS_SELECTOR, f"#change .{kind}")
            assert picture.is_displayed() == (kind == shown)

    def test_print_is_light_and_unfolds_no_controls(self, browser: Browser, report: Path) -> None:
        browser.open(report, scheme="dark", media="print")
        assert (
            browser.run("return getComputedStyle(document.body).backgroundColor")
            == "rgb(255, 255, 255)"
        )
        assert not browser.driver.find_element(By.TAG_NAME, "details").is_displayed()
        overflows = browser.run(
            "return [...document.querySelectorAll('.scroll')].map(one => getComputedStyle(one).overflowX)"
        )
        assert set(overflows) == {"visible"}
