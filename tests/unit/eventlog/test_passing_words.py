"""What differs each time is taken out of names; what names the work stays."""

import pytest

from harness.eventlog.passing_words import place, steps, without_passing_words


@pytest.mark.parametrize(
    ("name", "lasting"),
    [
        ("nightly-2024-05-01", "nightly-<date>"),
        ("nightly_20240501", "nightly_<date>"),
        ("nightly_240501", "nightly_<date>"),
        ("report 01.05.2024", "report <date>"),
        ("report May 1, 2024", "report <date>"),
        ("report 2024-W18", "report <date>"),
        ("Wed May 01 10:00:00 UTC 2024", "<date>"),
        ("load orders 2024-05-01 10:00", "load orders <date> <time>"),
        ("load 20240501100000 x", "load <date><time> x"),
        ("scheduled__2024-05-01T00:00:00+00:00", "scheduled__<date>T<time>"),
        ("etl-1714550000000", "etl-<time>"),
        ("etl_1714550000.123", "etl_<time>"),
        ("orders_202405", "orders_<date>"),
        ("orders May 2024", "orders <date>"),
        ("orders 05/2024", "orders <date>"),
        ("orders 01-May-24", "orders <date>"),
        ("orders week 18", "orders week <date>"),
        ("orders/week=18", "orders/week=<date>"),
        ("\u65e5\u6b21-2024\u5e745\u670801\u65e5", "\u65e5\u6b21-<date>"),
        ("etl-v1-20240501.101112", "etl-v1-<date>.<time>"),
        ("partition (dt='2024-05-01', hr=03)", "partition (dt='<date>', hr=<time>)"),
        ("application_1710_0005 x", "<id> x"),
        ("nightly-orders-a7x0q0k2", "nightly-orders-<id>"),
        ("orders-7d9f8b6c5d-x8k2p", "orders-<id>-<id>"),
        ("job-123-run-456", "job-123-run-<number>"),
        (
            "id = 3fa85f64-5717-4562-b3fc-2c963f66afa6 batch = 17",
            "id = <id> batch = <number>",
        ),
        ("tmp_8f3a9c count", "tmp_<id> count"),
        ("tmp_orders_17", "tmp_orders_<number>"),
        (
            "Listing leaf files and directories for 33 paths:<br/>hdfs://a/orders/dt=2024-05-01, ...",
            "Listing leaf files and directories for paths:<br/><location>/orders ",
        ),
    ],
)  # fmt: skip
def test_what_differs_each_time_has_a_placeholder(name: str, lasting: str) -> None:
    assert without_passing_words(name) == lasting


@pytest.mark.parametrize(
    "name",
    ["q1", "q14a", "tpcds-q14a sf1000", "calc-pi-dataframe", "sha512 utf8 s3a", "count at etl.py:7",
     "sort 1000000 rows", "10.0.0.1:9000", "v1.2.3", "top10users", "step 3 of 5", "job 7",
     "sort 202405 rows", "weekly 7", "mayor 2024"],
)  # fmt: skip
def test_what_names_the_work_stays(name: str) -> None:
    assert without_passing_words(name) == name


def test_dates_go_before_times_and_locations_last() -> None:
    found = steps("load 2024-05-01 10:00 of s3a://b/orders")
    texts = list(dict.fromkeys(step.text for step in found))
    assert texts[1:] == [
        "load <date> 10:00 of s3a://b/orders",
        "load <date> <time> of s3a://b/orders",
        "load <date> <time> of <location>/orders",
    ]
    assert found[-1].kinds == ("dates", "times", "locations")


@pytest.mark.parametrize(
    ("location", "name"),
    [
        ("hdfs://nn:8020/warehouse/orders/year=2024/month=05", "orders"),
        ("file:/tmp/rows", "rows"),
        ("hdfs://nn:8020/rows/data", "rows/data"),
        ("hdfs://nn:8020/tpch-2x/part", "part"),
        ("hdfs://nn:8020/tpcds-2x/warehouse", "warehouse"),
        ("s3a://bucket/orders/2024-05-01", "orders"),
        ("s3a://bucket", ""),
    ],
)
def test_a_place_is_the_last_directory_that_stays(location: str, name: str) -> None:
    assert place(location) == name


@pytest.mark.parametrize(
    "part", ["-", "/-", "a1", "2024-", "1", "x:/", "tmp_", "<location>,", "(", "run "]
)
def test_the_time_for_a_long_text_is_in_proportion(part: str) -> None:
    """In quadratic time, this would take minutes for each of them."""
    without_passing_words(part * (200_000 // len(part)))
