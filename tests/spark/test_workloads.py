"""Every workload gives the right answer, rejects wrong answers, and does what its name says.

The right answers here are computed in plain Python from the recipe.
"""

import hashlib
import itertools
import json
import math
import os
import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from datagen import recipe as recipes
from datagen.destination import destination_beside
from datagen.manifest import Format
from datagen.recipe import Recipe, Totals
from datagen.writer import Request, write_dataset
from harness.base.errors import WrongAnswer
from harness.model.run import Proof
from jobs.configuration_side import _same_files
from jobs.executors import JOB_GROUP
from jobs.sinks import SINKS, RddCountSink, Sink, new_sink
from jobs.spark_event_log import EventLog
from jobs.spark_trial import SparkTrialRunner
from jobs.workload import Answer, Context, Workload, discover, expect, shuffles
from jobs.workloads import supersteps
from jobs.workloads.group_by import distinct
from tests.unit.builders import ok

RECIPE = Recipe(5_000, seed=21)
ROWS = list(recipes.rows(RECIPE))
PER_PREFIX = Counter(row.prefix2 for row in ROWS)
WORKLOADS = discover()
PI_SAMPLES = 100_000
Answered = Callable[..., dict[str, Any]]
SUPERSTEPS, FEW_SUPERSTEPS = supersteps.SUPERSTEPS, 3


@pytest.fixture(scope="module")
def context(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Context]:
    """A context with the totals that the writer observed, as for large datasets."""
    uri = str(tmp_path_factory.mktemp("data") / "dataset")
    dataset = write_dataset(spark, Request(uri, RECIPE, partitions=3))
    with destination_beside(spark, dataset) as destination:
        yield Context(
            spark=spark,
            data=dataset.frame(spark),
            totals=dataset.manifest.totals,
            repartition=7,
            pi_samples=PI_SAMPLES,
            parallelism=2,
            digests=dataset.digests,
            destination=destination,
        )


@pytest.fixture(autouse=True)
def _few_supersteps(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(supersteps, "SUPERSTEPS", FEW_SUPERSTEPS)


@pytest.fixture(params=WORKLOADS.values(), ids=list(WORKLOADS))
def workload(request: pytest.FixtureRequest) -> Workload:
    found: Workload = request.param
    return found


def answer_of(workload: Workload, context: Context, sink: str = "noop") -> dict[str, Any]:
    ready = new_sink(sink, workload, context, 1, proving=True)
    ready.run()
    [answer] = ready.answers()
    ready.close()
    return dict(answer)


def check(workload: Workload, answer: Answer, context: Context) -> None:
    """Check an answer of a round that proves every row."""
    workload.check(answer, context)
    if workload.observe_data(context):
        workload.check_data(answer, context)


@pytest.fixture(scope="module")
def no_rows(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Context]:
    """A context with an empty dataset."""
    uri = str(tmp_path_factory.mktemp("data") / "none")
    dataset = write_dataset(spark, Request(uri, Recipe(0), partitions=2))
    with destination_beside(spark, dataset) as destination:
        totals = Totals(0, 0, 0, {}, 0, 0)
        yield Context(spark, dataset.frame(spark), totals, 3, 1_000, 2, destination=destination)


@pytest.mark.parametrize("data", ["context", "no_rows"])
def test_the_answers_and_plans_of_each_execution_pass_the_checks_of_a_workload(
    workload: Workload, data: str, request: pytest.FixtureRequest, log: EventLog
) -> None:
    runner = SparkTrialRunner(workload, request.getfixturevalue(data), "noop", log)
    trial = runner.prepare("group", 2, profiled=False, proving=True)
    with trial:
        trial.run()
        trial.trials(ok(workload.name, 1))


@pytest.fixture(scope="module")
def answered(context: Context) -> Answered:
    """A function that returns a workload's answer of a sink, which is computed once."""
    return cache(lambda name, sink="noop": answer_of(WORKLOADS[name], context, sink))


@pytest.mark.parametrize("name", [name for name, each in WORKLOADS.items() if not each.writes])
def test_both_sinks_observe_the_same_answer(name: str, answered: Answered) -> None:
    noop, count = (answered(name, sink) for sink in SINKS)
    assert canonical(noop) == canonical(count)


@pytest.mark.parametrize("sink", SINKS)
def test_a_wrong_answer_of_any_execution_fails_the_trial(
    context: Context, log: EventLog, sink: str
) -> None:
    class WrongAtSecond(type(WORKLOADS["sha-512"])):  # type: ignore[misc]
        checked = 0

        def check(self, answer: Answer, context: Context) -> None:
            self.checked += 1
            expect("the number of the execution", min(self.checked, 2), 1)
            super().check(answer, context)

    trial = SparkTrialRunner(WrongAtSecond(), context, sink, log).prepare(
        "group", 3, profiled=False, proving=True
    )
    trial.run()
    with pytest.raises(WrongAnswer, match="number of the execution is 2"):
        trial.trials(ok("sha-512", 1))


@pytest.mark.parametrize("name", ["calc-pi-arrow-udf", "calc-pi-python-udf", "sha-512-cached"])
def test_prewarming_is_a_job_outside_the_trial(name: str, context: Context, log: EventLog) -> None:
    tracker = context.spark.sparkContext.statusTracker()
    before = len(tracker.getJobIdsForGroup(JOB_GROUP))
    SparkTrialRunner(WORKLOADS[name], context, "noop", log).prepare(
        f"trial of {name}", 1, profiled=False, proving=True
    )
    assert len(tracker.getJobIdsForGroup(JOB_GROUP)) > before
    assert not tracker.getJobIdsForGroup(f"trial of {name}")


def canonical(answer: dict[str, Any]) -> dict[str, Any]:
    """The answer without the order in which rows were collected."""
    return {
        name: sorted(value.replace("},{", "}\n{").strip("[]").splitlines())
        if isinstance(value, str)
        else value
        for name, value in answer.items()
    }


@pytest.mark.parametrize("totals", ["of the writer", "of the recipe"])
def test_a_wrong_answer_is_rejected(
    workload: Workload, context: Context, answered: Answered, totals: str
) -> None:
    answer = answered(workload.name)
    if totals == "of the recipe":
        context = replace(context, totals=recipes.totals(RECIPE))
    check(workload, answer, context)
    for wrong in wrong_answers(answer):
        with pytest.raises(WrongAnswer):
            check(workload, wrong, context)


READERS = [name for name, workload in WORKLOADS.items() if workload.reads_data]


@pytest.fixture(scope="module", params=["prefix4", "float_val", "integer_val"])
def damaged(
    request: pytest.FixtureRequest, context: Context, tmp_path_factory: pytest.TempPathFactory
) -> Context:
    """A context with a file in which a bit of this column is flipped."""
    spark, rows, column = context.spark, tmp_path_factory.mktemp("damaged") / "rows", request.param
    dataset = write_dataset(spark, Request(str(rows), RECIPE, Format.CSV, 2))
    part = min(rows.glob("part-*"))
    part.with_name(f".{part.name}.crc").unlink()
    lines = part.read_bytes().split(b"\n")
    values = lines[700].split(b",")
    last = bytearray(values[recipes.COLUMNS.index(column)])
    last[-1] ^= 1  # a digit becomes the next or the previous one
    values[recipes.COLUMNS.index(column)] = bytes(last)
    lines[700] = b",".join(values)
    part.write_bytes(b"\n".join(lines))
    return replace(context, data=dataset.frame(spark), digests=dataset.digests)


@pytest.mark.parametrize("name", READERS)
def test_one_flipped_bit_in_a_file_is_a_wrong_answer(damaged: Context, name: str) -> None:
    """Without Hadoop's checksums of local files, the answer alone shows it."""
    answer = answer_of(WORKLOADS[name], damaged)
    with pytest.raises(WrongAnswer, match=r"the digest of the rows is|is .*, not"):
        check(WORKLOADS[name], answer, damaged)


def test_the_digest_of_an_older_manifest_is_left_out(context: Context) -> None:
    older = replace(context, digests={})
    for name in READERS:
        check(WORKLOADS[name], answer_of(WORKLOADS[name], older) | {"content": 5}, older)


ALL, COUNTED = recipes.COLUMNS, ("prefix2",)
READ_COLUMNS = {
    "group-by": {recipes.COLUMNS_WITHOUT_VALUE},
    "inner-join": {ALL, COUNTED},
    "broadcast-inner-join": {ALL, COUNTED},
}


@pytest.mark.parametrize("name", [name for name in READERS if not WORKLOADS[name].writes])
def test_a_workload_reads_the_columns_of_parquet_that_the_documentation_says(
    context: Context, name: str
) -> None:
    context.spark.conf.set("spark.sql.maxMetadataStringLength", 1_000)
    ready = RddCountSink(WORKLOADS[name], context, 1, proving=False)
    ready.run()
    plans = ready._frames[0]._jdf.queryExecution().toString()
    context.spark.conf.unset("spark.sql.maxMetadataStringLength")
    read = re.findall(r"ReadSchema: struct<(.*?)>", plans)
    columns = {tuple(each.partition(":")[0] for each in one.split(",")) for one in read}
    assert columns == READ_COLUMNS.get(name, {ALL})


def wrong_answers(answer: dict[str, Any]) -> list[dict[str, Any]]:
    """The answer with each of its values wrong, one at a time."""
    wrong: list[dict[str, Any]] = []
    for name, value in answer.items():
        if name == "rows_read":
            wrong.append({**answer, name: value - 1})  # Spark may read rows twice, but not never
        elif isinstance(value, int):
            # The deviation of Pi is random, so only a count that is far off is certainly wrong.
            wrong += [{**answer, name: value * 2 + 1}, {**answer, name: 0}]
        elif name == "groups":
            groups = json.loads(value)
            swapped = [dict(group) for group in groups]
            first, second = swapped[:2]
            first["float_sum"], second["float_sum"] = second["float_sum"], first["float_sum"]
            wrong.append({**answer, name: json.dumps(swapped)})
            wrong.append({**answer, name: json.dumps(groups[1:])})
            wrong += [
                {**answer, name: json.dumps([{**group, key: group[key] * 3} for group in groups])}
                for key in ("rows", "prefix4s", "prefix8s", "float_sum", "integer_sum")
            ]
        elif name == "stretches":
            wrong.append({**answer, name: value[::-1]})
        elif name == "sample":
            wrong.append({**answer, name: ""})
            digit = "1" if value[-1] == "0" else "0"
            wrong.append({**answer, name: value[:-1] + digit})
        else:
            raise AssertionError(f"teach wrong_answers() how to make {name} wrong")
    return wrong


# The rows of the frames.


def collected(name: str, context: Context) -> list[tuple[Any, ...]]:
    return sorted(tuple(row) for row in WORKLOADS[name].frame(context).collect())


def test_group_by(context: Context) -> None:
    expected = []
    for prefix in sorted(PER_PREFIX):
        group = [row for row in ROWS if row.prefix2 == prefix]
        expected.append(
            (
                prefix,
                len(group),
                len({row.prefix4 for row in group}),
                len({row.prefix8 for row in group}),
                pytest.approx(math.fsum(row.float_val for row in group)),
                sum(row.integer_val for row in group),
            )
        )
    assert collected("group-by", context) == expected


def test_repartition(context: Context) -> None:
    frame = WORKLOADS["repartition"].frame(context)
    assert sorted(map(tuple, frame.collect())) == sorted(ROWS)
    assert frame.rdd.getNumPartitions() == 7
    located = frame.select("prefix4", F.spark_partition_id().alias("part"))
    parts = located.groupBy("prefix4").agg(F.countDistinct("part").alias("parts"))
    assert parts.where("parts > 1").count() == 0


def test_write(context: Context) -> None:
    assert sorted(map(tuple, WORKLOADS["write"].frame(context).collect())) == sorted(ROWS)


def test_sort_write(context: Context) -> None:
    frame = WORKLOADS["sort-write"].frame(context)
    assert list(map(tuple, frame.collect())) == sorted(ROWS)
    assert frame.rdd.getNumPartitions() == 7


@pytest.mark.parametrize("order", ["within files", "between files"])
def test_rows_that_are_written_in_another_order_are_a_wrong_answer(
    context: Context, order: str
) -> None:
    class Unordered(type(WORKLOADS["sort-write"])):  # type: ignore[misc]
        def frame(self, context: Context) -> DataFrame:
            if order == "within files":
                return context.data.repartitionByRange(context.repartition, "value")
            return context.data.repartition(context.repartition).sortWithinPartitions("value")

    workload = Unordered()
    with pytest.raises(WrongAnswer, match=r"the rows are not in order: .* comes after"):
        check(workload, answer_of(workload, context), context)


@pytest.mark.parametrize("name", ["inner-join", "broadcast-inner-join"])
def test_joins(context: Context, name: str) -> None:
    frame = WORKLOADS[name].frame(context).select(*recipes.COLUMNS, "rows_of_prefix2")
    expected = sorted((*row, PER_PREFIX[row.prefix2]) for row in ROWS)
    assert sorted(map(tuple, frame.collect())) == expected


def test_sha_512(context: Context) -> None:
    found = {row.value: row.digest for row in WORKLOADS["sha-512"].frame(context).collect()}
    assert found == {row.value: hashlib.sha512(row.value.encode()).hexdigest() for row in ROWS}


def test_sha_512_cached(context: Context) -> None:
    workload = WORKLOADS["sha-512-cached"]
    frame = workload.frame(context)
    assert all(r.digest == hashlib.sha512(r.value.encode()).hexdigest() for r in frame.collect())
    assert frame.count() == PI_SAMPLES // 10
    # The values are read from memory, not computed again.
    plan = frame._jdf.queryExecution().executedPlan().toString()
    assert "InMemoryTableScan" in plan


@pytest.mark.parametrize("name", ["sha-512", "sha-512-cached"])
def test_digests_are_sampled_at_any_size(answered: Answered, name: str) -> None:
    sample = answered(name)["sample"].splitlines()
    assert 100 < len(sample) < 400


@pytest.mark.parametrize("name", [name for name in WORKLOADS if name.startswith("calc-pi")])
@pytest.mark.parametrize("samples", [1, 20_001])
def test_pi_draws_the_requested_number_of_samples(
    context: Context, name: str, samples: int
) -> None:
    changed = replace(context, pi_samples=samples, parallelism=3)
    rows = WORKLOADS[name].frame(changed).agg(F.sum("samples"), F.sum("inside")).collect()
    assert rows[0][0] == samples
    assert 0 <= rows[0][1] <= samples


def test_one_superstep_of_two_tasks(context: Context, monkeypatch: pytest.MonkeyPatch) -> None:
    """They begin with 1 and 2; task u sends (u + 2v + 1) times its value to task v."""
    monkeypatch.setattr(supersteps, "SUPERSTEPS", 1)
    assert collected("supersteps", context) == [(0, 1 * 1 + 2 * 2, 0), (1, 3 * 1 + 4 * 2, 1)]
    assert supersteps.values_after(1, 2) == [5, 11]


@pytest.mark.parametrize(
    ("parallelism", "tasks"), [(1, 2), (5, 5), pytest.param(1000, 64, marks=pytest.mark.slow)]
)
def test_every_superstep_has_a_task_for_each_value(
    context: Context, parallelism: int, tasks: int
) -> None:
    rows = collected("supersteps", replace(context, parallelism=parallelism))
    values = supersteps.values_after(FEW_SUPERSTEPS, tasks)
    assert rows == [(task, value, task) for task, value in enumerate(values)]


def test_there_is_a_key_for_each_task_of_any_number(spark: SparkSession) -> None:
    candidates = supersteps.CANDIDATES_PER_TASK
    hashed = supersteps.hashes(spark, candidates * supersteps.MAX_TASKS)
    for tasks in range(2, supersteps.MAX_TASKS + 1):
        assert len(set(supersteps.smallest_keys(hashed[: candidates * tasks], tasks))) == tasks


def test_one_superstep_less_is_a_wrong_answer(
    context: Context, monkeypatch: pytest.MonkeyPatch
) -> None:
    answer, plan = answer_of(WORKLOADS["supersteps"], context), plan_of("supersteps", context)
    monkeypatch.setattr(supersteps, "SUPERSTEPS", FEW_SUPERSTEPS + 1)
    with pytest.raises(WrongAnswer, match="the weighted sum of the values is"):
        WORKLOADS["supersteps"].check(answer, context)
    with pytest.raises(WrongAnswer, match=r"has not 4 fixed exchanges, but 3"):
        WORKLOADS["supersteps"].check_plan(plan)


def weighted_sum_without(lost: tuple[int, int, int] | None, steps: int, tasks: int) -> int:
    """Return the weighted sum at the end if the message (step, sender, receiver) is lost."""
    values = [task + 1 for task in range(tasks)]
    for step in range(steps):
        received = [0] * tasks
        for u, v in itertools.product(range(tasks), repeat=2):
            if (step, u, v) != lost:
                received[v] += (u + 2 * v + 1) * values[u]
        values = [value % supersteps.MODULUS for value in received]
    return sum((task + 1) * value for task, value in enumerate(values))


def test_any_message_that_is_lost_changes_the_answer(context: Context) -> None:
    steps, tasks = FEW_SUPERSTEPS, 4
    of_four = replace(context, parallelism=tasks)
    right = {"tasks": tasks, "in_place": tasks, "values": weighted_sum_without(None, steps, tasks)}
    WORKLOADS["supersteps"].check(right, of_four)
    for lost in itertools.product(range(steps), range(tasks), range(tasks)):
        wrong = {**right, "values": weighted_sum_without(lost, steps, tasks)}
        with pytest.raises(WrongAnswer, match="the weighted sum of the values is"):
            WORKLOADS["supersteps"].check(wrong, of_four)


# The executed plans.


def plan_of(name: str, context: Context, *, proving: bool = True) -> str:
    workload = WORKLOADS[name]
    context.spark.sparkContext.setJobGroup(name, name)
    ready = new_sink("noop", workload, context, 1, proving=proving)
    ready.run()
    [plan] = ready.plans()
    ready.close()
    return plan


def test_the_inner_join_shuffles_both_sides(context: Context) -> None:
    plan = plan_of("inner-join", context)
    assert "SortMergeJoin" in plan
    assert "Broadcast" not in plan
    assert shuffles(plan) == 2


def test_the_broadcast_join_broadcasts_the_counts(context: Context) -> None:
    plan = plan_of("broadcast-inner-join", context)
    assert "BroadcastHashJoin" in plan
    assert "BroadcastExchange" in plan
    assert shuffles(plan) == 1  # that of the counts; the rows stay on their executors


def test_each_superstep_is_a_stage_of_one_job_that_waits_for_the_one_before(
    context: Context, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The plan is checked although no row of a dataset was read."""
    monkeypatch.setattr(supersteps, "SUPERSTEPS", SUPERSTEPS)
    workload, tracker = WORKLOADS["supersteps"], context.spark.sparkContext.statusTracker()
    context.spark.sparkContext.setJobGroup("the supersteps", "the supersteps")
    ready = new_sink("noop", workload, context, 1, proving=True)
    ready.run()
    [plan] = ready.plans()
    ready.close()
    workload.check_plan(plan)
    assert shuffles(plan) == SUPERSTEPS
    [job] = [tracker.getJobInfo(id_) for id_ in tracker.getJobIdsForGroup("the supersteps")]
    assert job is not None
    assert len(job.stageIds) == SUPERSTEPS + 1


def test_the_plan_is_checked_of_a_run_that_reads_no_data(context: Context, log: EventLog) -> None:
    class AnotherPlan(type(WORKLOADS["supersteps"])):  # type: ignore[misc]
        def check_plan(self, plan: str) -> None:
            raise WrongAnswer("the plan is another")

    no_rows = replace(context, totals=Totals(0, 0, 0, {}, 0, 0))
    trial = SparkTrialRunner(AnotherPlan(), no_rows, "noop", log).prepare(
        "group", 1, profiled=False, proving=True
    )
    trial.run()
    with pytest.raises(WrongAnswer, match="the plan is another"):
        trial.trials(ok("supersteps", 1))


def test_who_lists_files_may_describe_jobs_of_its_own(context: Context, log: EventLog) -> None:
    """Hudi does, before a query and within it."""

    class Describing(type(WORKLOADS["group-by"])):  # type: ignore[misc]
        def frame(self, context: Context) -> DataFrame:
            frame: DataFrame = super().frame(context)
            context.spark.sparkContext.setJobGroup("lister", "Listing files")
            return frame

    runner = SparkTrialRunner(Describing(), context, "noop", log)
    trial = runner.prepare("group", 1, profiled=False, proving=False)
    trial.run()
    context.spark.sparkContext.setJobGroup("lister", "Listing files")
    [found] = trial.trials(ok("group-by", 1, job_group="group"))
    assert found.plan is not None


@pytest.mark.parametrize(
    ("name", "other"),
    [
        ("inner-join", "broadcast-inner-join"),
        ("broadcast-inner-join", "inner-join"),
        ("repartition", "sha-512"),
        ("sort-write", "write"),
    ],
)
def test_the_plan_of_another_workload_is_a_wrong_answer(
    context: Context, name: str, other: str
) -> None:
    plan = plan_of(other, context)
    with pytest.raises(WrongAnswer, match="the plan has no"):
        WORKLOADS[name].check_plan(plan)


def test_the_broadcast_join_broadcasts_even_if_the_configuration_forbids_it(
    spark: SparkSession, context: Context, log: EventLog
) -> None:
    spark.conf.set("spark.sql.autoBroadcastJoinThreshold", "-1")
    try:
        runner = SparkTrialRunner(WORKLOADS["broadcast-inner-join"], context, "noop", log)
        trial = runner.prepare("group", 1, profiled=False, proving=True)
        trial.run()
        trial.sink.check({})
    finally:
        spark.conf.unset("spark.sql.autoBroadcastJoinThreshold")


# What a trial that counts proves.


FEW_ROWS = {"calc-pi-arrow-udf", "calc-pi-dataframe", "calc-pi-python-udf", "supersteps"}


@pytest.mark.parametrize("sink", SINKS)
def test_a_timed_frame_is_bare_and_its_rows_are_counted(
    workload: Workload, context: Context, log: EventLog, sink: str
) -> None:
    runner = SparkTrialRunner(workload, context, sink, log)
    trial = runner.prepare("timed", 2, profiled=False, proving=False)
    with trial:
        trial.run()
        assert isinstance(trial.sink, Sink)
        plans = trial.sink.plans()
        [found] = trial.trials(ok(workload.name, 1))
    expected = Proof.ROW_COUNT
    if workload.name in FEW_ROWS or workload.writes:
        expected = Proof.EVERY_ROW
    elif workload.few_rows:
        expected = Proof.ITS_RESULT
    assert found.proof is expected
    assert ["CollectMetrics" in plan for plan in plans] == [workload.few_rows] * 2


@pytest.mark.parametrize("sink", SINKS)
@pytest.mark.parametrize("name", ["repartition", "inner-join"])
def test_another_number_of_rows_fails_a_trial_that_counts(
    context: Context, log: EventLog, name: str, sink: str
) -> None:
    class Less(type(WORKLOADS[name])):  # type: ignore[misc]
        def frame(self, context: Context) -> DataFrame:
            whole: DataFrame = super().frame(context)
            return whole.where("prefix2 != '00'")

    trial = SparkTrialRunner(Less(), context, sink, log).prepare(
        "less", 1, profiled=False, proving=False
    )
    trial.run()
    with pytest.raises(WrongAnswer, match="the number of rows by Spark's metrics is"):
        trial.trials(ok(name, 1))


def test_a_wrong_answer_in_a_proving_trial_fails_all_that_follow(
    context: Context, log: EventLog
) -> None:
    class Other(type(WORKLOADS["repartition"])):  # type: ignore[misc]
        def frame(self, context: Context) -> DataFrame:
            whole: DataFrame = super().frame(context)
            return whole.withColumn("prefix2", F.lit("00"))

    runner = SparkTrialRunner(Other(), context, "noop", log)
    assert runner.unproven == ["repartition"]
    trial = runner.prepare("proving", 1, profiled=False, proving=True)
    trial.run()
    with pytest.raises(WrongAnswer, match="the digest of the rows is"):
        trial.trials(ok("repartition", 1))
    assert runner.unproven == []
    with pytest.raises(WrongAnswer, match="the digest of the rows is"):
        runner.prepare("timed", 1, profiled=False, proving=False)


@pytest.mark.parametrize("name", READERS)
def test_a_timed_frame_has_the_plan_of_the_proven_one(context: Context, name: str) -> None:
    """But for what is observed."""
    proven, timed = (
        operators(plan_of(name, context, proving=proving)) for proving in (True, False)
    )
    assert proven == timed


def operators(plan: str) -> list[str]:
    """Return the first words of the operators that do the work."""
    words = re.findall(r"^[^A-Za-z]*(?:\(\d+\) )?([A-Za-z]+)", plan, re.MULTILINE)
    others = {"CollectMetrics", "Project", "WholeStageCodegen", "InputAdapter", "ColumnarToRow"}
    return [word for word in words if word not in others]


# The statistical bound.


@pytest.mark.parametrize("rows", [1, 10, 1_000, 5_000])
def test_the_real_distinct_count_is_within_the_tolerance(rows: int) -> None:
    values = [row.prefix4 for row in recipes.rows(Recipe(rows, seed=77))]
    expected, tolerance = distinct(rows, 16**4)
    assert abs(len(set(values)) - expected) <= tolerance


@pytest.mark.parametrize(
    ("rows", "values", "expected"), [(1, 10, 1), (2, 2, 1.5), (3, 2, 1.75), (10**9, 256, 256)]
)
def test_the_expected_distinct_count_of_simple_cases(
    rows: int, values: int, expected: float
) -> None:
    assert distinct(rows, values)[0] == pytest.approx(expected)


def test_a_dataset_that_is_exchanged_during_a_run_fails_the_trial(
    spark: SparkSession, tmp_path: Path
) -> None:
    dataset = write_dataset(spark, Request(str(tmp_path / "rows"), Recipe(100), partitions=1))
    require_same_files = _same_files(dataset.directory)
    require_same_files()
    [file] = (tmp_path / "rows").glob("part-*")
    os.utime(file, (1, file.stat().st_mtime))  # it was read
    require_same_files()
    os.utime(file, (1, 1))
    with pytest.raises(WrongAnswer, match=r"the files of .*rows have changed since the run began"):
        require_same_files()
