"""The recipe's two definitions, in Spark's expressions and in plain Python, are one."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pyspark.sql import SparkSession

from datagen.recipe import COLUMNS, MAX_SEED, Recipe, rows, xxhash64
from datagen.rows import row_frame

few_spark_jobs = settings(
    max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


@few_spark_jobs
@given(
    seed=st.integers(0, MAX_SEED),
    count=st.integers(0, 300),
    partitions=st.integers(1, 12),
)
def test_the_rows_do_not_depend_on_the_partitions(
    spark: SparkSession, seed: int, count: int, partitions: int
) -> None:
    recipe = Recipe(count, seed)
    made = row_frame(spark, recipe, partitions).select(*COLUMNS).collect()
    assert [tuple(row) for row in made] == [tuple(row) for row in rows(recipe)]


@few_spark_jobs
@given(st.lists(st.integers(-(2**63), 2**63 - 1), min_size=1, max_size=3))
def test_xxhash64_is_sparks(spark: SparkSession, longs: list[int]) -> None:
    # As a column: a literal of the least long cannot be written down.
    frame = spark.createDataFrame([tuple(longs)], [f"c{i}" for i in range(len(longs))])
    [(hashed,)] = frame.selectExpr(f"xxhash64({', '.join(frame.columns)})").collect()
    assert xxhash64(*longs) == hashed


def test_rows_of_another_seed_are_others() -> None:
    assert not set(rows(Recipe(100, seed=1))) & set(rows(Recipe(100, seed=2)))


def test_more_rows_of_a_seed_begin_with_the_same_rows() -> None:
    assert list(rows(Recipe(20)))[:10] == list(rows(Recipe(10)))


@pytest.mark.parametrize("bad", [{"rows": -1}, {"rows": 10**10}, {"rows": 1, "seed": -1}])
def test_a_recipe_has_bounds(bad: dict[str, int]) -> None:
    with pytest.raises(ValueError, match="must be from 0"):
        Recipe(**bad)
