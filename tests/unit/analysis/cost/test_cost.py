"""What changes cost and save, in which order they are shown, and how costs are read."""

import math
from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.analysis.compare.comparison import Comparison, compare
from harness.analysis.cost.benefit import CostBenefit, cost_benefits, saving
from harness.analysis.cost.costs import Costs, Money, given_costs, parse_money
from harness.base.errors import BadInput
from harness.eventlog.application import APPLICATION, WRITTEN_BY
from harness.present.costs import cost_table, money_text
from tests.unit.builders import SIX, column, in_runs, known, scaled
from tests.unit.present.test_tables import drifting

TIME_S = math.sqrt(10.2 * 10.3)
"""The time of SIX in two runs: the geometric mean of their medians."""


def usd(amount: float) -> Money:
    return Money(amount, "USD")


def upgrade(**factors: float) -> Comparison:
    """Compare 1G, where each workload takes TIME_S, with 2.5G, where it takes that times a factor."""
    return compare(
        [
            in_runs(column("1g", dict.fromkeys(factors, SIX))),
            in_runs(column("2.5g", {w: scaled(f) for w, f in factors.items()})),
        ]
    )


def benefit(comparison: Comparison, baseline: Money | None = None) -> CostBenefit:
    """Return the benefit of 2.5G at 350 USD."""
    [found] = cost_benefits(comparison, Costs(baseline, {"2.5g": usd(350)}))
    return found


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

    def test_of_streams_is_that_of_all_together(self) -> None:
        parameters = {"streams": 2, "in_streams": ["a"]}
        sides = [
            in_runs(column(name, {"streams-2": times, "a": times}, parameters=parameters))
            for name, times in (("1g", SIX), ("2.5g", scaled(0.5)))
        ]
        assert known(saving(compare(sides), 1)).workloads == ("streams-2",)

    @pytest.mark.parametrize(
        ("application", "counted"),
        [("nightly", ("nightly", "other")), ("nightly-7", ("nightly", "load", "other"))],
        ids=["compared", "not matched"],
    )
    def test_of_an_application_has_that_of_its_executions(
        self, application: str, counted: tuple[str, ...]
    ) -> None:
        sides = []
        for name, times_s in (("1g", SIX), ("2.5g", scaled(0.5))):
            own = column(
                name,
                dict.fromkeys(["nightly", "load"], times_s),
                workloads=("nightly", "load"),
                written_by=WRITTEN_BY,
                parameters={APPLICATION: application},
            )
            others = in_runs(column(name, {"other": times_s}, run_id=f"{name}-other"))
            sides.append(replace(others, runs=(*in_runs(own).runs, *others.runs)))
        assert known(saving(compare(sides), 1)).workloads == counted

    def test_excludes_controls(self) -> None:
        saved = known(saving(drifting(), 1))
        assert saved.workloads == ("group-by", "inner-join")

    def test_excludes_controls_that_a_third_configuration_did_not_run(self) -> None:
        controls = {"controls": ["pi"]}
        columns = [
            column("1g", {"a": SIX, "pi": SIX}, parameters=controls),
            column("2.5g", {"a": scaled(0.5), "pi": scaled(0.5)}, parameters=controls),
            column("10g", {"a": SIX}, parameters={"controls": []}),
        ]
        found = known(saving(compare([in_runs(each) for each in columns]), 1))
        assert found.workloads == ("a",)

    def test_relative_to_controls_is_from_the_expected_time(self) -> None:
        """The machine became 3 % slower: 1.03 of the time was to be expected, 0.8 of it was measured."""
        comparison = drifting(relative=True)
        saved = known(saving(comparison, 1))
        before = known(comparison.rows[0].cells[0].summary)
        assert saved.workloads == ("group-by",)
        assert saved.seconds == pytest.approx(before.time_s * (1.03 - 0.8))


class TestCostBenefit:
    def test_of_a_switch_that_halves_the_time(self) -> None:
        found = benefit(upgrade(a=0.5))
        assert known(found.cost_per_second_saved).amount == pytest.approx(350 / (TIME_S * 0.5))

    def test_what_saves_nothing_has_no_cost_per_second(self) -> None:
        assert benefit(upgrade(a=1.001)).cost_per_second_saved is None

    def test_the_cost_is_the_difference_from_that_of_the_baseline(self) -> None:
        assert benefit(upgrade(a=0.5), baseline=usd(100)).cost == usd(250)

    def test_what_saves_money_and_more_time_ranks_above_what_saves_as_much_money(self) -> None:
        factors = {"1g": 1.0, "less": 0.9, "more": 0.5, "cheapest": 0.7, "dear": 0.5}
        comparison = compare(
            [in_runs(column(name, {"a": scaled(factor)})) for name, factor in factors.items()]
        )
        costs = {"less": 300, "more": 300, "cheapest": 200, "dear": 401}
        given = Costs(usd(400), {name: usd(cost) for name, cost in costs.items()})
        ranked = [one.configuration for one in cost_benefits(comparison, given)]
        assert ranked == ["cheapest", "more", "less", "dear"]

    def test_a_configuration_without_a_cost_has_none(self) -> None:
        comparison = compare([column(name, {"w": SIX}) for name in ("1g", "2.5g", "10g")])
        found = cost_benefits(comparison, Costs(None, {"10g": usd(1)}))
        assert [one.configuration for one in found] == ["10g"]

    @given(st.lists(st.integers(0, 10**8), min_size=1, max_size=6), st.floats(0.3, 1.5))
    def test_of_equal_savings_the_dearer_never_ranks_higher(
        self, cents: list[int], factor: float
    ) -> None:
        costs = {f"upgrade {number}": cost / 100 for number, cost in enumerate(cents)}
        columns = [in_runs(column(name, {"a": scaled(factor)})) for name in costs]
        comparison = compare([in_runs(column("1g", {"a": SIX})), *columns])
        given = Costs(None, {name: usd(cost) for name, cost in costs.items()})
        ranked = cost_benefits(comparison, given)
        assert [found.cost.amount for found in ranked] == sorted(costs.values())


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
        assert parse_money(text) == parsed

    @pytest.mark.parametrize(
        "text",
        [
            *("", "350", "USD", "-1USD", "1,350USD", "350 dollars", "1e3USD", "infUSD", "nanUSD"),
            *("1.234USD", f"{'9' * 400}USD", "1000000000001USD", "٣USD"),
        ],
    )
    def test_anything_else_is_an_error(self, text: str) -> None:
        with pytest.raises(BadInput, match="is not an amount of money; write for example 350USD"):
            parse_money(text)

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


def parsed(*costs: str) -> Costs | None:
    return given_costs(costs, "1g", ("2.5g", "2.5g=rs"))


class TestCosts:
    @pytest.mark.parametrize(
        ("costs", "of_baseline", "of_others"),
        [
            (["350USD"], None, {"2.5g": 350, "2.5g=rs": 350}),
            (["2.5g = 350USD"], None, {"2.5g": 350}),
            (["2.5g=rs=350USD"], None, {"2.5g=rs": 350}),
            (["350USD", "2.5g=400USD"], None, {"2.5g": 400, "2.5g=rs": 350}),
            (["1g=2000USD", "2.5g=2350USD"], 2000, {"2.5g": 2350}),
        ],
    )
    def test_is_that_of_every_configuration_or_of_one(
        self, costs: Sequence[str], of_baseline: float | None, of_others: dict[str, float]
    ) -> None:
        assert parsed(*costs) == Costs(
            None if of_baseline is None else usd(of_baseline),
            {name: usd(amount) for name, amount in of_others.items()},
        )

    def test_there_may_be_none(self) -> None:
        assert parsed() is None

    @pytest.mark.parametrize(
        ("costs", "message"),
        [
            (["=350USD"], "names no configuration; write for example 2.5g=350USD"),
            (["10g=1USD"], "--cost: '10g' is not asked about; name one of: 1g, 2.5g"),
            (["2.5g=1USD", "2.5g=2USD"], "--cost: 2.5g has two costs; give one"),
            (["1USD", "2USD"], "--cost: the change has two costs; give one"),
            (["1g=1USD"], "only the baseline '1g' has a cost; give the others a cost, too"),
            (["1USD", "1g=1EUR"], r"several currencies \(USD, EUR\); use one"),
        ],
    )
    def test_mistakes_are_reported(self, costs: Sequence[str], message: str) -> None:
        with pytest.raises(BadInput, match=message):
            parsed(*costs)


class TestTable:
    def test_has_a_row_for_each_configuration_in_the_order_of_their_rank(self) -> None:
        columns = {"1g": SIX, "dear": scaled(0.5), "cheap": scaled(0.5)}
        comparison = compare(
            [in_runs(column(name, {"a": times})) for name, times in columns.items()]
        )
        given = Costs(None, {"dear": usd(700), "cheap": usd(350)})
        rows = [list(row) for row in cost_table(cost_benefits(comparison, given)).rows]
        saved = "5.12 s (4.97 s to 5.27 s)"
        assert rows == [
            ["1", "cheap", "350 USD", saved, "68.29 USD"],
            ["2", "dear", "700 USD", saved, "136.59 USD"],
        ]

    def test_unknown_values_are_not_numbers(self) -> None:
        few = compare([column("1g", {"w": [9.0]}), column("2.5g", {"w": [1.0]})])
        [row] = cost_table([benefit(few)]).rows
        assert list(row) == ["-", "2.5g", "350 USD", "unknown: too few runs", "-"]

    def test_a_change_within_noise_saves_nothing(self) -> None:
        [row] = cost_table([benefit(upgrade(a=1.001))]).rows
        assert row[3] == "nothing significant"
