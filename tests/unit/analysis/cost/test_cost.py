"""Costs and savings of changes, the ranking of offers, and how costs are read and shown."""

import math
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.analysis.compare.comparison import Comparison, compare
from harness.analysis.cost.benefit import CostBenefit, link_bit_s, rank_offers, saving
from harness.analysis.cost.offers import (
    Costs,
    Item,
    Money,
    Offer,
    declared_costs,
    parse_cost,
    parse_money,
    read_costs,
)
from harness.model.errors import BadInput
from harness.model.network_metrics import MESH_GOODPUT
from harness.present.costs import cost_items, cost_remarks, cost_table, money_text
from harness.present.data_table import Quantity
from tests.unit.builders import a_run, column, in_runs, known, recorded
from tests.unit.present.test_tables import SIX, drifting, scaled

TIME_S = math.sqrt(10.2 * 10.3)
"""The time of SIX in two runs: the geometric mean of their medians."""


def offer(
    cost: float, name: str = "switch", configurations: tuple[str, ...] | None = None
) -> Offer:
    return Offer(name, (("all", Item(cost)),), "USD", configurations)


def upgrade(**factors: float) -> Comparison:
    """Compare 1G, where each workload takes TIME_S, with 2.5G, where it takes that times a factor."""
    facts = ({"link": "1 Gbit/s"}, {"link": "2.5 Gbit/s"})
    return compare(
        [
            in_runs(column("1g", dict.fromkeys(factors, SIX), facts=facts[0])),
            in_runs(column("2.5g", {w: scaled(f) for w, f in factors.items()}, facts=facts[1])),
        ]
    )


def only_offer(comparison: Comparison, given: Costs) -> CostBenefit:
    [ranked] = rank_offers(comparison, given)
    return ranked


class TestSaving:
    def test_is_the_sum_of_the_reductions_of_the_times(self) -> None:
        saved = known(saving(upgrade(a=0.5, b=0.8), 1))
        assert saved.seconds == pytest.approx(TIME_S * 0.5 + TIME_S * 0.2)
        assert saved.workloads == ("a", "b")

    def test_interval_is_the_sum_of_the_intervals_of_the_changes(self) -> None:
        comparison = upgrade(a=0.5, b=0.8)
        saved = saving(comparison, 1)
        intervals = [change.interval for change in comparison.changes if change.interval]
        assert saved is not None
        assert saved.interval is not None
        assert saved.interval.low == pytest.approx(
            -TIME_S * sum(interval.high for interval in intervals)
        )
        assert saved.interval.high == pytest.approx(
            -TIME_S * sum(interval.low for interval in intervals)
        )

    def test_is_reduced_by_workloads_that_take_longer(self) -> None:
        saved = known(saving(upgrade(a=0.5, b=1.5), 1))
        assert saved.seconds == pytest.approx(0, abs=1e-9)

    def test_noise_is_no_saving(self) -> None:
        saved = known(saving(upgrade(a=1.001), 1))
        assert (saved.seconds, saved.workloads) == (0, ())

    def test_is_unknown_if_there_are_too_few_runs(self) -> None:
        assert (
            saving(compare([column("1g", {"w": SIX}), column("2.5g", {"w": scaled(0.1)})]), 1)
            is None
        )

    def test_excludes_controls(self) -> None:
        saved = known(saving(drifting(), 1))
        assert saved.workloads == ("group-by", "inner-join")

    def test_relative_to_controls_is_from_the_expected_time(self) -> None:
        """The machine became 3 % slower: 1.03 of the time was to be expected, 0.8 of it was measured."""
        comparison = drifting(relative=True)
        saved = known(saving(comparison, 1))
        before = known(comparison.rows[0].cells[0].summary)
        shift = known(comparison.control_shifts[1])
        following = comparison.model.following("group-by", shift.workloads)
        assert saved.workloads == ("group-by",)
        assert saved.seconds == pytest.approx(before.time_s * (1.03**following - 0.8))


class TestCostBenefit:
    def test_of_a_switch_that_halves_the_time(self) -> None:
        found = only_offer(upgrade(a=0.5), Costs((offer(350),), Money(20, "USD")))
        assert known(found.cost_per_second_saved).amount == pytest.approx(350 / (TIME_S * 0.5))
        assert found.gained_bit_s == 1.5e9
        assert known(found.cost_per_gbit_s).amount == pytest.approx(350 / 1.5)
        saved_each_run = TIME_S * 0.5 / 3600 * 20
        assert found.rounds_to_pay_back == math.ceil(350 / saved_each_run)

    def test_pay_back_is_unknown_without_the_value_of_an_hour(self) -> None:
        assert only_offer(upgrade(a=0.5), Costs((offer(350),))).rounds_to_pay_back is None

    def test_an_offer_that_saves_nothing_has_no_cost_per_second(self) -> None:
        found = only_offer(upgrade(a=1.001), Costs((offer(350),), Money(20, "USD")))
        assert (found.cost_per_second_saved, found.rounds_to_pay_back) == (None, None)

    def test_extra_cost_is_the_difference_from_the_cost_of_the_baseline(self) -> None:
        given = Costs((offer(350, "new", ("2.5g",)),), baseline=Money(100, "USD"))
        assert only_offer(upgrade(a=0.5), given).extra_cost == Money(250, "USD")

    def test_runs_may_declare_their_costs_and_that_of_the_baseline(self) -> None:
        columns = [
            column(name, {"w": SIX}, facts={"cost": cost})
            for name, cost in (("1g", "100USD"), ("2.5g", "350USD"), ("10g", f"{'9' * 400}USD"))
        ]
        given = declared_costs(columns)
        assert given.baseline == Money(100, "USD")
        assert [(each.name, each.cost.amount) for each in given.offers] == [("2.5g", 350)]

    def test_an_offer_is_for_every_configuration_unless_it_names_some(self) -> None:
        comparison = compare([column(name, {"w": SIX}) for name in ("1g", "2.5g", "10g")])
        everywhere = rank_offers(comparison, Costs((offer(1),)))
        assert [found.configuration for found in everywhere] == ["2.5g", "10g"]
        only_10g = rank_offers(comparison, Costs((offer(1, configurations=("10g",)),)))
        assert [found.configuration for found in only_10g] == ["10g"]

    def test_offers_with_the_same_saving_are_ranked_by_cost(self) -> None:
        costs = {"6509E": 117_000, "6509E without cards": 94_000, "E600": 126_000, "E1200": 141_000}
        given = Costs(tuple(offer(cost, name) for name, cost in costs.items()))
        ranked = rank_offers(upgrade(a=0.5), given)
        assert [found.offer.name for found in ranked] == [
            *("6509E without cards", "6509E", "E600", "E1200")
        ]

    @pytest.mark.parametrize(
        ("offers", "hour", "message"),
        [
            (
                (offer(1, configurations=("10g",)),),
                None,
                "is for '10g', which is not asked about",
            ),
            (
                (offer(1, "a", ("1g", "2.5g")),),
                None,
                "the offer 'a' is for '1g', the baseline; name the configuration that you pay for",
            ),
            (
                (offer(1), offer(2)),
                None,
                "--cost: 'switch' is the name of two offers; give",
            ),
            ((offer(1, "a", ("2.5g", "2.5g")),), None, "names the configuration '2.5g' twice"),
            (
                (offer(1e13),),
                None,
                "costs more than 1,000,000,000,000 USD, the largest cost allowed",
            ),
            ((offer(1),), Money(1, "EUR"), r"several currencies \(USD, EUR\); use one"),
        ],
    )
    def test_mistakes_are_reported(
        self, offers: tuple[Offer, ...], hour: Money | None, message: str
    ) -> None:
        with pytest.raises(BadInput, match=message):
            rank_offers(upgrade(a=0.5), Costs(offers, hour))

    @given(
        st.lists(st.integers(0, 10**8), min_size=1, max_size=6),
        st.floats(0.3, 1.5),
        st.floats(0.01, 1e4),
    )
    def test_a_dearer_offer_with_the_same_saving_never_ranks_higher(
        self, cents: list[int], factor: float, hour: float
    ) -> None:
        costs = [cost / 100 for cost in cents]
        offers = tuple(offer(cost, f"offer {number}") for number, cost in enumerate(costs))
        given = Costs(offers, Money(hour, "USD"))
        ranked = rank_offers(upgrade(a=factor), given)
        assert [found.extra_cost.amount for found in ranked] == sorted(costs)
        for found in ranked:
            if found.rounds_to_pay_back is not None and found.saving:
                paid = found.rounds_to_pay_back * found.saving.seconds / 3600 * hour
                assert paid >= found.extra_cost.amount * (1 - 1e-6)


OBSERVED = {"links": {"eth0": {"state": "up", "driver": "r8152", "speed_mbit_s": 1000}}}


class TestLinkRate:
    @pytest.mark.parametrize(
        ("fields", "bit_s"),
        [
            ({"facts": {"link": "250mbit"}}, 250e6),
            ({"facts": {"link": "2.5 Gbit/s"}, "environment": OBSERVED}, 2.5e9),
            ({"environment": OBSERVED}, 1e9),
            ({}, None),
        ],
    )
    def test_is_the_declared_rate_or_else_the_observed_one(
        self, fields: dict[str, object], bit_s: float | None
    ) -> None:
        assert link_bit_s([recorded(a_run("name", **fields))]) == bit_s

    def test_is_the_measured_goodput_if_there_is_one(self) -> None:
        runs = [recorded(a_run("1g", facts={"link": "1 Gbit/s"}))]
        assert link_bit_s(runs, [MESH_GOODPUT.of("a -> b", 0.94e9)]) == 0.94e9

    def test_is_read_from_the_name_if_nothing_else_is_known(self) -> None:
        assert link_bit_s([recorded(a_run("2.5g-rs"))]) == 2.5e9

    def test_is_unknown_if_runs_disagree(self) -> None:
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
    def test_is_parsed(self, text: str, parsed: Money) -> None:
        assert parse_money("--cost", text) == parsed

    @pytest.mark.parametrize(
        "text",
        [
            *("", "350", "USD", "-1USD", "1,350USD", "350 dollars", "1e3USD", "infUSD", "nanUSD"),
            *("1.234USD", f"{'9' * 400}USD", "1000000000001USD", "٣USD"),
        ],
    )
    def test_anything_else_is_an_error(self, text: str) -> None:
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
    def test_is_formatted(self, amount: float, text: str) -> None:
        assert money_text(Money(amount, "USD")) == text

    def test_a_cost_may_be_for_one_configuration(self) -> None:
        assert parse_cost("350USD").configurations is None
        assert parse_cost("2.5g=rs=350USD").configurations == ("2.5g=rs",)

    def test_a_cost_without_the_configuration_s_name_is_an_error(self) -> None:
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


class TestCosts:
    def read(self, directory: Path, text: str) -> Costs:
        file = directory / "offers.toml"
        file.write_text(text)
        return read_costs(file)

    def test_is_read_from_toml(self, tmp_path: Path) -> None:
        given = self.read(tmp_path, LIST)
        assert given.hour == Money(20, "USD")
        [eight] = given.offers
        assert (eight.name, eight.configurations) == ("eight ports", ("2.5g",))
        assert eight.cost == Money(pytest.approx(819.96), "USD")

    @pytest.mark.parametrize(
        ("old", "new", "message"),
        [
            ("hour = 20", "hour = -1", "hour has to be from 0 to 1,000,000,000,000, not -1"),
            ("hour = 20", "hour = nan", "hour has to be from 0 to 1,000,000,000,000, not nan"),
            ("hour = 20", "hour = 1e-300", "hour has to have at most two decimals, not 1e-300"),
            (
                "hour = 20",
                f"hour = 1{'0' * 400}",
                "hour has to be from 0 .* not a number of 1329 bits",
            ),
            ("hour = 20", "hours = 20", "unknown key hours"),
            ('"usd"', '"$"', "currency has to be a code of three letters, such as USD, not '\\$'"),
            (
                "price = 700",
                'price = "700"',
                "eight ports.items.switch: price: Expected `float`, got `str`",
            ),
            ("price = 700", "cost = 700", "items.switch: unknown key cost"),
            ("price = 700", "price = inf", "items.switch: price has to be from 0 to 1,0"),
            (
                "price = 700",
                "price = 0.001",
                "items.switch: price has to have at most two decimals",
            ),
            ("count = 4", "count = 0", "items.adapter: count has to be from 1 to 1,000,000, not 0"),
            (
                '"eight ports"',
                '""',
                "offers: a name has to be 1 to 100 printable characters, not ''",
            ),
            ('"eight ports"', '"\\u001b[31m"', "offers: a name has to be 1 to 100 printable"),
            ('["2.5g"]', "[]", "configurations has to be one name or more"),
            ("count = 4", "cuont = 4", "items.adapter: unknown key cuont"),
            ('["2.5g"]', "[1]", "configurations: Expected `str`, got `int`"),
            ("[offers", "[[offers", "not a TOML|Expected"),
            ("switch.price = 700", "switch.count = 1", "items.switch: price is missing"),
            ('[offers."eight ports"]', "[offer]", "unknown key offer"),
        ],
    )
    def test_mistakes_are_reported_with_the_file(
        self, tmp_path: Path, old: str, new: str, message: str
    ) -> None:
        assert old in LIST
        with pytest.raises(BadInput, match=message) as caught:
            self.read(tmp_path, LIST.replace(old, new))
        assert "offers.toml" in str(caught.value)

    def test_a_missing_file_is_an_error(self, tmp_path: Path) -> None:
        with pytest.raises(BadInput, match=r"nowhere.toml: No such file"):
            read_costs(tmp_path / "nowhere.toml")


class TestTable:
    def test_has_a_row_for_each_offer_in_the_order_of_their_rank(self) -> None:
        given = Costs((offer(700, "dear"), offer(350, "cheap")), Money(20, "USD"))
        rows = [
            [cell.text if isinstance(cell, Quantity) else cell for cell in row]
            for row in cost_table(rank_offers(upgrade(a=0.5), given)).rows
        ]
        assert rows == [
            ["1", "cheap", "2.5g", "350 USD", "5.12 s (4.97 s to 5.27 s)", "68.29 USD",
             "1.50 Gbit/s", "233.33 USD", "12,293 rounds"],
            ["2", "dear", "2.5g", "700 USD", "5.12 s (4.97 s to 5.27 s)", "136.59 USD",
             "1.50 Gbit/s", "466.67 USD", "24,586 rounds"],
        ]  # fmt: skip

    def test_unknown_values_are_not_numbers(self) -> None:
        few = compare([column("before", {"w": [9.0]}), column("after", {"w": [1.0]})])
        [row] = cost_table(rank_offers(few, Costs((offer(350),)))).rows
        texts = [cell.text if isinstance(cell, Quantity) else cell for cell in row]
        assert texts == ["-", "switch", "after", "350 USD", "unknown: too few runs", *["-"] * 4]

    def test_a_change_within_noise_saves_nothing(self) -> None:
        [row] = cost_table(rank_offers(upgrade(a=1.001), Costs((offer(350),)))).rows
        assert row[4] == Quantity("nothing significant", 0.0)

    def test_the_items_of_an_offer_are_listed_once(self) -> None:
        both = Offer("both", (("switch", Item(700)), ("adapter", Item(29.99, 4))), "USD")
        comparison = compare([column(name, {"w": SIX}) for name in ("1g", "2.5g", "10g")])
        assert list(cost_items(rank_offers(comparison, Costs((both,))))) == [
            "both: switch 700 USD, adapter 4 x 29.99 USD"
        ]

    def test_the_value_of_an_hour_is_stated(self) -> None:
        found = rank_offers(upgrade(a=0.5), Costs((offer(1),), Money(20, "USD")))
        assert "One hour of the cluster's time is worth 20 USD." in list(cost_remarks(found))
