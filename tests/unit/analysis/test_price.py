"""What a change is worth: costs against what they save, and offers in the order of their worth."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.analysis.comparison import Comparison, compare
from harness.analysis.price import Worth, link_bit_s, saving, worths
from harness.analysis.price_list import (
    Item,
    Money,
    Offer,
    PriceList,
    parse_cost,
    parse_money,
    read_price_list,
)
from harness.model.errors import BadInput
from harness.model.network_metrics import MESH_GOODPUT
from harness.present.report.chart import Quantity
from harness.present.report.costs import cost_items, cost_remarks, cost_table, money
from tests.unit.builders import a_run, column, recorded
from tests.unit.present.test_tables import SIX, drifting, scaled


def offer(
    cost: float, name: str = "switch", configurations: tuple[str, ...] | None = None
) -> Offer:
    return Offer(name, (Item("all", cost),), "USD", configurations)


def upgrade(**factors: float) -> Comparison:
    """1G, then 2.5G in which each workload takes so much of its 10.25 s."""
    facts = ({"link": "1 Gbit/s"}, {"link": "2.5 Gbit/s"})
    return compare(
        [
            column("1g", dict.fromkeys(factors, SIX), facts=facts[0]),
            column("2.5g", {w: scaled(f) for w, f in factors.items()}, facts=facts[1]),
        ]
    )


def worth_of(comparison: Comparison, prices: PriceList) -> Worth:
    [worth] = worths(comparison, prices)
    return worth


class TestSaving:
    def test_it_is_the_sum_of_what_the_medians_lost(self) -> None:
        saved = saving(upgrade(a=0.5, b=0.8), 1)
        assert saved is not None
        assert saved.seconds == pytest.approx(10.25 * 0.5 + 10.25 * 0.2)
        assert saved.workloads == ("a", "b")

    def test_its_interval_is_made_of_those_of_the_changes(self) -> None:
        comparison = upgrade(a=0.5, b=0.8)
        saved = saving(comparison, 1)
        intervals = [change.interval for change in comparison.changes if change.interval]
        assert saved is not None
        assert saved.interval is not None
        assert saved.interval.low == pytest.approx(-10.25 * sum(one.high for one in intervals))
        assert saved.interval.high == pytest.approx(-10.25 * sum(one.low for one in intervals))

    def test_what_takes_longer_is_taken_off(self) -> None:
        saved = saving(upgrade(a=0.5, b=1.5), 1)
        assert saved is not None
        assert saved.seconds == pytest.approx(0, abs=1e-9)

    def test_noise_saves_nothing(self) -> None:
        saved = saving(upgrade(a=1.001), 1)
        assert saved is not None
        assert (saved.seconds, saved.workloads) == (0, ())

    def test_of_too_few_trials_nothing_is_known(self) -> None:
        assert (
            saving(compare([column("1g", {"w": [9.0]}), column("2.5g", {"w": [1.0]})]), 1) is None
        )

    def test_controls_save_nothing(self) -> None:
        saved = saving(drifting(), 1)
        assert saved is not None
        assert saved.workloads == ("group-by",)

    def test_beyond_the_controls_it_is_what_is_saved_of_their_time(self) -> None:
        """The machine became 3 % slower: 0.8 of the time, where 1.03 of it was to be expected."""
        saved = saving(drifting(relative=True), 1)
        assert saved is not None
        assert saved.seconds == pytest.approx(10.25 * (1.03 - 0.8), rel=0.01)


class TestWorth:
    def test_a_switch(self) -> None:
        worth = worth_of(upgrade(a=0.5), PriceList((offer(350),), Money(20, "USD")))
        assert worth.per_second == pytest.approx(350 / (10.25 * 0.5))
        assert worth.gained_bit_s == 1.5e9
        assert worth.per_gbit_s == pytest.approx(350 / 1.5)
        saved_each_run = 10.25 * 0.5 / 3600 * 20
        assert worth.runs_to_pay_back == math.ceil(350 / saved_each_run)

    def test_without_the_price_of_an_hour_nothing_is_paid_back(self) -> None:
        assert worth_of(upgrade(a=0.5), PriceList((offer(350),))).runs_to_pay_back is None

    def test_what_saves_nothing_costs_no_sum_a_second(self) -> None:
        worth = worth_of(upgrade(a=1.001), PriceList((offer(350),), Money(20, "USD")))
        assert (worth.per_second, worth.runs_to_pay_back) == (None, None)

    def test_what_there_is_already_has_cost_something_too(self) -> None:
        prices = PriceList((offer(350, "new", ("2.5g",)), offer(100, "old", ("1g",))))
        assert worth_of(upgrade(a=0.5), prices).extra == Money(250, "USD")

    def test_one_offer_leads_to_every_configuration_unless_it_says_which(self) -> None:
        comparison = compare([column(name, {"w": SIX}) for name in ("1g", "2.5g", "10g")])
        everywhere = worths(comparison, PriceList((offer(1),)))
        assert [worth.configuration for worth in everywhere] == ["2.5g", "10g"]
        one = worths(comparison, PriceList((offer(1, configurations=("10g",)),)))
        assert [worth.configuration for worth in one] == ["10g"]

    def test_the_switches_of_the_core_are_ranked(self) -> None:
        """Of what saves the same, the cheapest is worth its money most."""
        costs = {"6509E": 117_000, "6509E without cards": 94_000, "E600": 126_000, "E1200": 141_000}
        prices = PriceList(tuple(offer(cost, name) for name, cost in costs.items()))
        ranked = worths(upgrade(a=0.5), prices)
        assert [worth.offer.name for worth in ranked] == [
            *("6509E without cards", "6509E", "E600", "E1200")
        ]

    @pytest.mark.parametrize(
        ("offers", "hour", "told"),
        [
            ((offer(1, configurations=("10g",)),), None, "leads to '10g', which is not compared"),
            ((offer(1, "a", ("1g",)), offer(2, "b", ("1g",))), None, "it can have one cost"),
            ((offer(1),), Money(1, "EUR"), "USD, EUR: give all of them in one currency"),
        ],
    )
    def test_mistakes_are_told(
        self, offers: tuple[Offer, ...], hour: Money | None, told: str
    ) -> None:
        with pytest.raises(BadInput, match=told):
            worths(upgrade(a=0.5), PriceList(offers, hour))

    @given(
        st.lists(st.integers(0, 10**8), min_size=1, max_size=6),
        st.floats(0.3, 1.5),
        st.floats(0.01, 1e4),
    )
    def test_of_the_same_change_the_dearer_is_never_ranked_higher(
        self, cents: list[int], factor: float, hour: float
    ) -> None:
        costs = [cost / 100 for cost in cents]
        prices = PriceList(tuple(map(offer, costs)), Money(hour, "USD"))
        ranked = worths(upgrade(a=factor), prices)
        assert [worth.extra.amount for worth in ranked] == sorted(costs)
        for worth in ranked:
            if worth.runs_to_pay_back is not None and worth.saving:
                paid = worth.runs_to_pay_back * worth.saving.seconds / 3600 * hour
                assert paid >= worth.extra.amount * (1 - 1e-6)


OBSERVED = {"links": {"eth0": {"state": "up", "driver": "r8152", "speed_mbit_s": 1000}}}


class TestCapacity:
    @pytest.mark.parametrize(
        ("fields", "bit_s"),
        [
            ({"facts": {"link": "250mbit"}}, 250e6),
            ({"facts": {"link": "2.5 Gbit/s"}, "environment": OBSERVED}, 2.5e9),
            ({"environment": OBSERVED}, 1e9),
            ({}, None),
        ],
    )
    def test_what_is_declared_goes_before_what_is_observed(
        self, fields: dict[str, object], bit_s: float | None
    ) -> None:
        assert link_bit_s([recorded(a_run("name", **fields))]) == bit_s

    def test_what_was_measured_goes_before_all(self) -> None:
        runs = [recorded(a_run("1g", facts={"link": "1 Gbit/s"}))]
        assert link_bit_s(runs, [MESH_GOODPUT.of("a -> b", 0.94e9)]) == 0.94e9

    def test_a_name_will_do(self) -> None:
        assert link_bit_s([recorded(a_run("2.5g-rs"))]) == 2.5e9

    def test_runs_that_do_not_agree_tell_nothing(self) -> None:
        runs = [recorded(a_run("x", facts={"link": link})) for link in ("1 Gbit/s", "10 Gbit/s")]
        assert link_bit_s(runs) is None


class TestMoney:
    @pytest.mark.parametrize(
        ("text", "parsed"),
        [
            ("350USD", Money(350, "USD")),
            ("29.99 eur", Money(29.99, "EUR")),
            ("0USD", Money(0, "USD")),
        ],
    )
    def test_it_is_read(self, text: str, parsed: Money) -> None:
        assert parse_money("--cost", text) == parsed

    @pytest.mark.parametrize(
        "text", ["", "350", "USD", "-1USD", "1,350USD", "350 dollars", "1e3USD"]
    )
    def test_what_is_none_is_told(self, text: str) -> None:
        with pytest.raises(BadInput, match="is not an amount of money; write for example 350USD"):
            parse_money("--cost", text)

    @pytest.mark.parametrize(
        ("amount", "text"),
        [
            (350, "350 USD"),
            (1350.5, "1,350.50 USD"),
            (0, "0 USD"),
            (0.0042, "0.0042 USD"),
            (-20, "-20 USD"),
        ],
    )
    def test_it_is_written(self, amount: float, text: str) -> None:
        assert money(Money(amount, "USD")) == text

    def test_a_cost_may_be_of_one_configuration(self) -> None:
        assert parse_cost("350USD").configurations is None
        assert parse_cost("2.5g=rs=350USD").configurations == ("2.5g=rs",)

    def test_a_cost_of_nobody_is_told(self) -> None:
        with pytest.raises(BadInput, match="names no configuration; write for example"):
            parse_cost("=350USD")


LIST = """
currency = "usd"
hour = 20

[offers."eight ports"]
configurations = ["2.5g"]
items.switch.price = 700
items.adapter = { price = 29.99, count = 4 }
"""


class TestPriceList:
    def read(self, directory: Path, text: str) -> PriceList:
        file = directory / "prices.toml"
        file.write_text(text)
        return read_price_list(file)

    def test_it_is_read(self, tmp_path: Path) -> None:
        prices = self.read(tmp_path, LIST)
        assert prices.hour == Money(20, "USD")
        [eight] = prices.offers
        assert (eight.name, eight.configurations) == ("eight ports", ("2.5g",))
        assert eight.cost == Money(pytest.approx(819.96), "USD")

    @pytest.mark.parametrize(
        ("changed", "into", "told"),
        [
            ("hour = 20", "hour = -1", "hour -1.0 is not an amount of money"),
            ("hour = 20", "hour = nan", "hour has to be a number up to"),
            ("hour = 20", "hours = 20", "unknown key hours"),
            ('"usd"', '"$"', "currency '\\$' has not three letters"),
            (
                "price = 700",
                'price = "700"',
                "eight ports, items.switch: price: Expected `float`, got `str`",
            ),
            ("price = 700", "cost = 700", "items.switch: price is missing"),
            ("count = 4", "count = 0", "items.adapter: count 0 is not 1 or more"),
            ("count = 4", "cuont = 4", "items.adapter: unknown key cuont"),
            ('["2.5g"]', "[1]", "configurations: Expected `str`, got `int`"),
            ("[offers", "[[offers", "not a TOML|Expected"),
            ('[offers."eight ports"]', "[offer]", "offers is missing"),
        ],
    )
    def test_mistakes_are_told_with_their_place(
        self, tmp_path: Path, changed: str, into: str, told: str
    ) -> None:
        assert changed in LIST
        with pytest.raises(BadInput, match=told) as caught:
            self.read(tmp_path, LIST.replace(changed, into))
        assert "prices.toml" in str(caught.value)

    def test_a_file_that_is_not_there(self, tmp_path: Path) -> None:
        with pytest.raises(BadInput, match=r"nowhere.toml: No such file"):
            read_price_list(tmp_path / "nowhere.toml")


class TestTheTable:
    def test_it_says_what_is_known_in_the_order_of_worth(self) -> None:
        prices = PriceList((offer(700, "dear"), offer(350, "cheap")), Money(20, "USD"))
        rows = [
            [cell.text if isinstance(cell, Quantity) else cell for cell in row]
            for row in cost_table(worths(upgrade(a=0.5), prices)).rows
        ]
        assert rows == [
            ["1", "cheap", "2.5g", "350 USD", "5.12 s (4.97 s to 5.27 s)", "68.29 USD",
             "1.50 Gbit/s", "233.33 USD", "12,293 runs"],
            ["2", "dear", "2.5g", "700 USD", "5.12 s (4.97 s to 5.27 s)", "136.59 USD",
             "1.50 Gbit/s", "466.67 USD", "24,586 runs"],
        ]  # fmt: skip

    def test_what_is_not_known_is_not_a_number(self) -> None:
        few = compare([column("before", {"w": [9.0]}), column("after", {"w": [1.0]})])
        [row] = cost_table(worths(few, PriceList((offer(350),)))).rows
        texts = [cell.text if isinstance(cell, Quantity) else cell for cell in row]
        assert texts == ["-", "switch", "after", "350 USD", "not known: too few trials", *["-"] * 4]

    def test_noise_is_said(self) -> None:
        [row] = cost_table(worths(upgrade(a=1.001), PriceList((offer(350),)))).rows
        assert row[4] == Quantity("nothing that can be told", 0.0)

    def test_what_an_offer_is_made_of_is_listed_once(self) -> None:
        both = Offer("both", (Item("switch", 700), Item("adapter", 29.99, 4)), "USD")
        comparison = compare([column(name, {"w": SIX}) for name in ("1g", "2.5g", "10g")])
        assert list(cost_items(worths(comparison, PriceList((both,))))) == [
            "both: switch 700 USD, adapter 4 of 29.99 USD"
        ]

    def test_what_an_hour_is_worth_is_said(self) -> None:
        found = worths(upgrade(a=0.5), PriceList((offer(1),), Money(20, "USD")))
        assert "An hour that is saved is taken to be worth 20 USD." in list(cost_remarks(found))
