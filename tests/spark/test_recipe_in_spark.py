"""The two definitions of a recipe, in Spark's expressions and in plain Python, give the same rows."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pyspark.sql import SparkSession

from datagen.recipe import COLUMNS, MAX_SEED, Recipe, rows, xxhash64
from datagen.rows import row_frame

few_spark_jobs = settings(
    max_examples=settings().max_examples // 6,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)


@few_spark_jobs
@given(seed=st.integers(0, MAX_SEED), count=st.integers(0, 300), partitions=st.integers(1, 12))
def test_spark_gives_the_rows_of_plain_python_in_any_number_of_partitions(
    spark: SparkSession, seed: int, count: int, partitions: int
) -> None:
    recipe = Recipe(count, seed)
    computed = row_frame(spark, recipe, partitions).select(*COLUMNS).collect()
    assert [tuple(row) for row in computed] == [tuple(row) for row in rows(recipe)]


@few_spark_jobs
@given(st.lists(st.integers(-(2**63), 2**63 - 1), min_size=1, max_size=3))
def test_xxhash64_equals_sparks(spark: SparkSession, longs: list[int]) -> None:
    # Columns, because Spark cannot parse the minimum long as a literal.
    frame = spark.createDataFrame([tuple(longs)], [f"c{i}" for i in range(len(longs))])
    [(hashed,)] = frame.selectExpr(f"xxhash64({', '.join(frame.columns)})").collect()
    assert xxhash64(*longs) == hashed


def test_another_seed_gives_other_rows() -> None:
    assert not set(rows(Recipe(100, seed=1))) & set(rows(Recipe(100, seed=2)))


def test_a_longer_recipe_begins_with_the_same_rows() -> None:
    assert list(rows(Recipe(20)))[:10] == list(rows(Recipe(10)))


@pytest.mark.parametrize("bad", [{"rows": -1}, {"rows": 10**10}, {"rows": 1, "seed": -1}])
def test_a_recipe_out_of_range_is_refused(bad: dict[str, int]) -> None:
    with pytest.raises(ValueError, match="must be from 0"):
        Recipe(**bad)
