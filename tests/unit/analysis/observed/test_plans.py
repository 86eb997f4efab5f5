"""What differs between the plans of two sides, and among the plans of one."""

from collections.abc import Sequence

import pytest

from harness.analysis.observed.plans import PlanUse, plan_change, variation
from harness.eventlog.operators import digest_of
from harness.model.plan import Operator, Plan

SCAN = "Scan|parquet orders"
SORT_MERGE = ("SortMergeJoin|Inner", "Sort", "Exchange|hashpartitioning, 200 partitions", SCAN)
BROADCAST = ("BroadcastHashJoin|Inner, BuildRight", SCAN, "BroadcastExchange", SCAN)


def plan(*operators: str) -> Plan:
    """Each operator is `name|details|expressions`."""
    found = []
    for each in operators:
        name, details, expressions, *_ = [*each.split("|"), "", ""]
        found.append(Operator(0, name, details, expressions))
    return Plan(digest_of(found), tuple(found))


def uses(*plans: tuple[Sequence[str], int]) -> list[PlanUse]:
    return [PlanUse(plan(*operators), trials) for operators, trials in plans]


@pytest.mark.parametrize(
    ("before", "after", "change"),
    [
        ([SCAN], [SCAN], ""),
        (
            SORT_MERGE,
            BROADCAST,
            (
                "SortMergeJoin became BroadcastHashJoin; Scan parquet orders added; "
                "Exchange became BroadcastExchange; 1 more difference"
            ),
        ),
        (
            ["Exchange|hashpartitioning, 200 partitions", SCAN],
            ["Exchange|hashpartitioning, 64 partitions", SCAN],
            "Exchange hashpartitioning, 200 partitions became hashpartitioning, 64 partitions",
        ),
        ([SCAN], ["Scan|orc orders"], "Scan parquet orders became orc orders"),
        (
            ["Scan|parquet orders pushed [IsNotNull(a)]"],
            [SCAN],
            "Scan parquet orders pushed [IsNotNull(a)] became parquet orders",
        ),
        (["Filter||(a > 5)", SCAN], ["Filter||(a > 7)", SCAN], ""),
        (["Filter||(a > 5)", SCAN], ["Filter||(b > 5)", SCAN], "Filter has other expressions"),
        (["Sort", "Filter", SCAN], ["Filter", "Sort", SCAN], "the same operators in another order"),
        (["Sort", "Sort", SCAN], [SCAN], "no more Sort (2 times)"),
    ],
)
def test_what_changed_is_named(before: Sequence[str], after: Sequence[str], change: str) -> None:
    assert plan_change(uses((before, 5)), uses((after, 5))) == change


@pytest.mark.parametrize(
    ("before", "after", "change"),
    [
        (["Filter||(a > 5)", SCAN], ["Filter||(b > 5)", "ColumnarRead", SCAN], ""),
        (SORT_MERGE, ["SortMergeJoin|Inner", *SORT_MERGE[2:]], ""),
        (
            ["Exchange|x, 4 partitions"],
            ["Exchange|x, 8 partitions"],
            "Exchange x, 4 partitions became x, 8 partitions",
        ),
    ],
)
def test_across_versions_only_joins_scans_and_exchanges_count(
    before: Sequence[str], after: Sequence[str], change: str
) -> None:
    found = plan_change(uses((before, 5)), uses((after, 5)), across_versions=True)
    assert found == change


def test_a_side_may_have_several_plans() -> None:
    both = uses((["Sort", SCAN], 3), ([SCAN], 2))
    assert variation(both) == "2 plans in 5 trials: no more Sort in 2"
    assert variation(uses((["Sort", SCAN], 5))) == ""
    assert plan_change(both, both) == ""
    assert plan_change(uses((["Sort", SCAN], 5)), both) == "no more Sort (in 2 of 5 trials)"
    assert plan_change(both, uses((["Sort", SCAN], 5))) == "Sort added (in 2 of 5 trials)"
    assert (
        plan_change(both, uses((["Sort", SCAN], 1), ([SCAN], 4)))
        == "no more Sort (in 4 of 5 trials)"
    )


def test_values_that_differ_from_run_to_run_do_not_count() -> None:
    def nights(first: int, *, form: str = "parquet") -> list[PlanUse]:
        numbers = range(first, first + 3)
        return uses(*(([f"Scan|{form} t pushed [GreaterThan(id,{n})]"], 1) for n in numbers))

    assert variation(nights(1001)) == ""
    assert plan_change(nights(1001), nights(2001)) == ""
    assert plan_change(nights(1001), nights(2001, form="orc")).startswith("Scan parquet t pushed")


def test_an_unknown_plan_has_not_changed() -> None:
    assert plan_change([], uses(([SCAN], 5))) == ""
    assert plan_change(uses(([SCAN], 5)), []) == ""
