"""What a plan means, however Spark numbers its columns and prints its locations."""

from typing import Any

import pytest

from harness.eventlog.operators import plan_of
from harness.model.plan import MAX_OPERATORS, Operator, Plan


def node(text: str, *children: Any, name: str = "", **metadata: str) -> Any:
    name = name or text.partition(" ")[0].partition("(")[0]
    return {
        "nodeName": name,
        "simpleString": text,
        "children": list(children),
        "metadata": metadata,
    }


def scan(location: str, pushed: str = "[]", *, form: str = "Parquet", column: int = 1) -> Any:
    return node(
        f"FileScan {form.lower()} [a#{column}L] Batched: true, Format: {form}, ReadSchema: struct<a:bigint>",
        name=f"Scan {form.lower()} ",
        Location=f"InMemoryFileIndex(1 paths)[{location}]",
        Format=form,
        PushedFilters=pushed,
    )


def known(*logged: Any) -> Plan:
    plan = plan_of(*logged)
    assert plan is not None
    return plan


SCAN = scan("hdfs://a:8020/lake/orders", "[IsNotNull(a), GreaterThan(a,5)]")
JOIN = "BroadcastHashJoin [a#1L], [b#2L], Inner, BuildRight, false"
EXCHANGE = "Exchange hashpartitioning(pmod(a#1L, 5), 200), ENSURE_REQUIREMENTS, [plan_id=7]"

WRITE = "Execute InsertIntoHadoopFsRelationCommand {0}, false, {1}, [path={0}], Overwrite, [id]"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (scan("hdfs://a/t", column=1), scan("hdfs://a/t", column=99)),
        (scan("hdfs://a:8020/lake/t"), scan("s3a://bucket/other/t")),
        (scan("hdfs://a/t/day=2024-05-01"), scan("hdfs://a/t/day=2024-05-02")),
        (scan("/t", "[EqualTo(day,2024-05-01)]"), scan("/t", "[EqualTo(day,2024-05-02)]")),
        (scan("/t", "[IsNotNull(a), IsNotNull(b)]"), scan("/t", "[IsNotNull(b), IsNotNull(a)]")),
        (node(EXCHANGE, SCAN), node(EXCHANGE.replace("plan_id=7", "plan_id=81"), SCAN)),
        (node(EXCHANGE, SCAN), node(EXCHANGE.replace("[plan_id=7]", "[id=#81]"), SCAN)),
        (
            node("WholeStageCodegen (1)", node("InputAdapter", SCAN), name="WholeStageCodegen (1)"),
            SCAN,
        ),
        (
            node("AdaptiveSparkPlan isFinalPlan=true", node("ShuffleQueryStage 0", SCAN)),
            node("AdaptiveSparkPlan isFinalPlan=false", SCAN),
        ),
        (node("ColumnarToRow", SCAN), SCAN),
        (node("CollectMetrics rows, [count(1) AS rows#1L]", SCAN), SCAN),
        (
            node(WRITE.format("file:/tmp/a/out", "Parquet")),
            node(WRITE.format("s3a://b/x-2", "Parquet")),
        ),
        (node("Project [rand(-123) AS x#1]"), node("Project [rand(456) AS x#9]")),
        (
            node("Window 0b4e1a3c-1111-4222-8333-123456789abc, [count(1) AS rows#1L]"),
            node("Window 7f4e1a3c-1111-4222-8333-123456789abc, [count(1) AS rows#7L]"),
        ),
        (
            node("MapElements o.a.$$Lambda$3050/0x0000000801@5bf1a2c3, obj#1"),
            node("MapElements o.a.$$Lambda$991/0x00000007ff@1ab1a2c3, obj#2"),
        ),
    ],
)
def test_these_mean_the_same(one: Any, other: Any) -> None:
    assert known(one).digest == known(other).digest


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (node(JOIN, SCAN, SCAN), node(JOIN.replace("Right", "Left"), SCAN, SCAN)),
        (node(JOIN, SCAN, SCAN), node(JOIN.replace("Inner", "LeftOuter"), SCAN, SCAN)),
        (node(JOIN, SCAN, SCAN), node(JOIN.replace("BroadcastHash", "SortMerge"), SCAN, SCAN)),
        (node(EXCHANGE, SCAN), node(EXCHANGE.replace("200", "64"), SCAN)),
        (node(EXCHANGE, SCAN), node("Exchange SinglePartition, ENSURE_REQUIREMENTS", SCAN)),
        (scan("/t"), scan("/t", form="ORC")),
        (scan("/t"), scan("/other")),
        (scan("/t", "[IsNotNull(a)]"), scan("/t")),
        (scan("/t", "[GreaterThan(a,5)]"), scan("/t", "[GreaterThan(a,7)]")),
        (
            node("HashAggregate(keys=[], functions=[sum(a#1)])"),
            node("HashAggregate(keys=[], functions=[avg(a#1)])"),
        ),
        (node("CollectLimit 10", SCAN), node("CollectLimit 100", SCAN)),
        (node(WRITE.format("/out", "Parquet")), node(WRITE.format("/out", "CSV"))),
        (node("AQEShuffleRead coalesced", SCAN), node("AQEShuffleRead local", SCAN)),
        (
            scan("/t"),
            node(
                "BatchScan parquet file:/t[a#1] Format: parquet, PushedFilters: []",
                name="BatchScan parquet file:/t",
            ),
        ),
    ],
)
def test_these_do_not(one: Any, other: Any) -> None:
    assert known(one).digest != known(other).digest


@pytest.mark.parametrize(
    ("logged", "details"),
    [
        (SCAN, "parquet orders pushed [GreaterThan(a,5), IsNotNull(a)]"),
        (
            node(
                "FileScan parquet spark_catalog.db.t[a#1]", name="Scan parquet spark_catalog.db.t"
            ),
            "parquet db.t",
        ),
        (node(EXCHANGE), "hashpartitioning, 200 partitions"),
        (
            node("Exchange RoundRobinPartitioning(8), REPARTITION_BY_NUM, [plan_id=3]"),
            "RoundRobinPartitioning, 8 partitions",
        ),
        (
            node(
                "Exchange rangepartitioning(a#1 ASC NULLS FIRST, 12), ENSURE_REQUIREMENTS, [id=#3]"
            ),
            "rangepartitioning, 12 partitions",
        ),
        (
            node(
                "BroadcastExchange HashedRelationBroadcastMode(List(input[0, int, true]),false), [plan_id=1]"
            ),
            "",
        ),
        (
            node(
                "SortMergeJoin(skew=true) [a#1], [b#2], LeftOuter", name="SortMergeJoin(skew=true)"
            ),
            "LeftOuter",
        ),
        (
            node("TakeOrderedAndProject(limit=5, orderBy=[a#1 ASC NULLS FIRST], output=[a#1])"),
            "limit 5",
        ),
        (
            node(
                "BatchScan c.db.t[a#1] c.db.t (branch=null) [filters=a IS NOT NULL, a > 5, groupedBy=]",
                name="BatchScan c.db.t",
            ),
            "c.db.t pushed [a > 5, a IS NOT NULL]",
        ),
    ],
)
def test_details_say_how_an_operator_works(logged: Any, details: str) -> None:
    assert known(logged).operators[0].details == details


def test_a_plan_is_a_tree_and_what_is_reused_is_in_it_once() -> None:
    exchange = node(EXCHANGE, SCAN)
    reused = node("ReusedExchange [a#1L], Exchange hashpartitioning(a#1L, 200)", exchange)
    plan = known(node(JOIN, exchange, reused))
    assert [(each.depth, each.name) for each in plan.operators] == [
        (0, "BroadcastHashJoin"),
        (1, "Exchange"),
        (2, "Scan"),
        (1, "ReusedExchange"),
    ]


def test_equal_executions_count_once() -> None:
    assert known(SCAN, SCAN) == known(SCAN)
    assert len(known(SCAN, node("CollectLimit 1")).operators) == 2


def test_a_plan_is_bounded() -> None:
    deep: Any = SCAN
    for _ in range(MAX_OPERATORS + 9):
        deep = node(f"Filter {'(a#1 > 5) AND ' * 9_000}", deep)
    plan = known(deep)
    assert (len(plan.operators), plan.left_out) == (MAX_OPERATORS, 10)
    assert max(len(each.expressions) for each in plan.operators) == 200


@pytest.mark.parametrize(
    "text",
    [
        "Project [aes_decrypt(c#1, hunter2hunter22) AS d#2]".replace(
            "hunter2hunter22", "'hunter2'"
        ),
        "Scan JDBCRelation(orders) [numPartitions=1] jdbc:postgresql://u:hunter2@h/db",
        "Execute CreateTableCommand `t`, [password=hunter2, url=x]",
        f"Filter {'x' * 7_900} password='hunter2'",
    ],
)
def test_a_plan_has_no_secrets(text: str) -> None:
    shown = str(known(node(text)))
    assert "hunter" not in shown


def test_there_may_be_no_plan() -> None:
    assert plan_of() is None
    assert plan_of(node("WholeStageCodegen (1)", name="WholeStageCodegen (1)")) is None
    assert known(node("", name="")).operators == (Operator(0, "operator"),)
