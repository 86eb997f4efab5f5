"""One table says which Python and which Java a Spark can use; messages and the page follow from it."""

import re

import pytest

from harness.base.entry import OLDEST_PYTHON
from harness.base.spark_needs import NEEDS, dotted, java_fault, python_fault, spark_fault
from tests.tracked import ROOT


@pytest.mark.parametrize(
    ("spark", "python", "java"),
    [
        ("3.3.4", "3.8.18", "1.8.0_392"),
        ("3.3.2.3.3.7190.0-91", "3.10.13", "17.0.9"),
        ("3.4.4", "3.12.1", "11.0.13"),
        ("3.5.1-amzn-0", "3.9.18", "17"),
        ("3.5.9", "3.13.0", "21.0.2"),
        ("4.0.5", "3.9.18", "17.0.21.1"),
        ("4.2.1", "3.10.13", "25.0.2"),
        ("4.3.0", "3.14.0", "25.0.2"),
        ("5.0.0-SNAPSHOT", "3.14.0rc1", "25-ea"),
        ("a fork", "3.2", "8"),
        ("3.5.9", "", ""),
    ],
)
def test_what_goes_together_or_is_not_known_is_no_fault(spark: str, python: str, java: str) -> None:
    assert spark_fault(spark) + python_fault(spark, python) + java_fault(spark, java) == ""


@pytest.mark.parametrize(
    ("fault", "message"),
    [
        (
            spark_fault("3.2.4"),
            "this is Spark 3.2.4, and 3.3 or newer is needed: set SPARK_HOME to one",
        ),
        (spark_fault("2.4.8"), "this is Spark 2.4.8, and 3.3 or newer is needed"),
        (
            python_fault("3.3.4", "3.11.7"),
            "Spark 3.3.4 cannot use Python 3.11.7: it needs Python 3.8 to 3.10. Set PYSPARK_PYTHON to one",
        ),
        (python_fault("3.4.4", "3.13.0"), "cannot use Python 3.13.0: it needs Python 3.8 to 3.12"),
        (python_fault("4.0.5", "3.8.18"), "cannot use Python 3.8.18: it needs Python 3.9 or newer"),
        (python_fault("4.2.1", "3.9.18"), "it needs Python 3.10 or newer"),
        (python_fault("4.3.0", "3.10.13"), "it needs Python 3.11 or newer"),
        (
            java_fault("3.5.9", "25.0.2"),
            "Spark 3.5.9 cannot use Java 25.0.2: it needs Java 8 to 22. Set JAVA_HOME to one",
        ),
        (java_fault("3.3.4", "21.0.2"), "it needs Java 8 to 20"),
        (java_fault("4.3.0", "11.0.13"), "cannot use Java 11.0.13: it needs Java 17 or newer"),
        (java_fault("4.3.0", "1.8.0_392"), "cannot use Java 1.8.0_392: it needs Java 17"),
        (java_fault("4.0.5", "25.0.2"), "it needs Java 17 to 22"),
        (java_fault("4.1.4", "25.0.2"), "it needs Java 17 to 22"),
    ],
)
def test_a_fault_names_both_versions_and_what_is_needed(fault: str, message: str) -> None:
    assert fault.startswith(message) or message in fault


def test_the_page_has_the_table() -> None:
    page = (ROOT / "docs/where-it-runs.md").read_text()
    _, _, table = page.partition("| Spark | Python | Java |")
    rows = re.findall(r"^\| (\d\.\d)[^|]*\| ([^|]+?) \| ([^|]+?) \|", table, re.MULTILINE)
    rows = rows[: len(NEEDS)]
    expected = [(dotted(each.spark), str(each.python), str(each.java)) for each in NEEDS]
    assert rows == expected, "correct the table of what each Spark needs in docs/where-it-runs.md"


def test_no_spark_asks_for_an_older_python_than_clusterlift() -> None:
    assert min(each.python.oldest for each in NEEDS) == OLDEST_PYTHON
