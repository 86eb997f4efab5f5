"""Two plans of a workload side by side."""

import pytest

from harness.analysis.compare.comparison import compare
from harness.base.errors import BadInput
from harness.model.plan import Operator, Plan
from harness.present import text
from harness.present.plan_page import plan_page
from tests.unit.analysis.compare.test_executions import with_plans
from tests.unit.builders import assert_golden


def tree(join: str, exchange: str) -> Plan:
    operators = (
        Operator(0, "HashAggregate", "", "(keys=[city], functions=[sum(amount)])"),
        Operator(1, *join.split("|")),
        Operator(2, "Scan", "parquet orders pushed [IsNotNull(city), GreaterThan(day,<date>)]"),
        Operator(2, *exchange.split("|")),
        Operator(3, "Scan", "parquet cities"),
    )
    return Plan(f"{join} {exchange}", operators)


MERGED = tree("SortMergeJoin|Inner", "Exchange|hashpartitioning, 200 partitions")
HASHED = tree("BroadcastHashJoin|Inner, BuildRight", "BroadcastExchange|")


def printed(before: Plan | None, after: Plan | None) -> str:
    sides = [with_plans("old", q5=before), with_plans("new", q5=after)]
    return text.render(plan_page(compare(sides), "q5"))


def test_golden() -> None:
    assert_golden("plan.txt", printed(MERGED, HASHED))


def test_an_unknown_plan_is_said_to_be_unknown() -> None:
    shown = printed(None, HASHED)
    assert "before: unknown, because no trial that counts recorded its plan" in shown
    assert "> BroadcastHashJoin" not in shown.partition("after")[0]


def test_the_same_plan_has_no_marks() -> None:
    shown = printed(MERGED, MERGED)
    assert "no change of its meaning" in shown
    assert not {"|", "<", ">"} & set(shown.replace("<date>", ""))


def test_a_plan_that_is_cut_says_how_much_is_missing() -> None:
    cut = Plan("cut", MERGED.operators, left_out=7)
    assert "and 7 operators more" in printed(MERGED, cut)


def test_a_workload_has_to_exist() -> None:
    sides = [with_plans("old", q5=MERGED), with_plans("new", q5=MERGED)]
    with pytest.raises(BadInput, match="--plan: unknown workload 'q6'; did you mean q5"):
        list(plan_page(compare(sides), "q6"))
