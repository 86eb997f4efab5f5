"""What `doctor` says of a host's Python and Java."""

from dataclasses import replace

import pytest

from harness.analysis.ready.platforms import platform_notes
from harness.model.finding import Gravity

from .test_health import QUIET


@pytest.mark.parametrize(
    ("python", "java", "spark", "text"),
    [
        (
            "3.6.8",
            "",
            "",
            "its Python is 3.6.8, and what Spark runs there needs Python 3.8 or newer",
        ),
        ("2.7.18", "", "3.3.4", "its Python is 2.7.18, and what Spark runs there needs"),
        ("3.9.18", "17.0.9", "4.3.0", "its Python is 3.9.18, and Spark 4.3.0 needs Python 3.11 or"),
        (
            "3.11.7",
            "17.0.9",
            "3.3.4",
            "its Python is 3.11.7, and Spark 3.3.4 needs Python 3.8 to 3.10",
        ),
        ("3.11.7", "11.0.2", "4.0.5", "its Java is 11.0.2, and Spark 4.0.5 needs Java 17 to 22"),
        ("3.11.7", "25.0.2", "3.5.9", "its Java is 25.0.2, and Spark 3.5.9 needs Java 8 to 22"),
    ],
)
def test_what_spark_could_not_use_is_a_note(python: str, java: str, spark: str, text: str) -> None:
    [note] = platform_notes([replace(QUIET, python=python, java=java)], spark)
    assert note.gravity is Gravity.NOTE
    assert note.text.startswith(text)


def test_pythons_that_differ_are_one_note() -> None:
    versions = {"n1": "3.9.18", "n2": "3.9.2", "n3": "3.11.7", "n4": ""}
    states = [replace(QUIET, host=host, python=version) for host, version in versions.items()]
    [note] = platform_notes(states, "3.5.9")
    assert note.text.startswith(
        "Python differs (3.9 on n1, n2; 3.11 on n3): Spark refuses tasks whose Python is not the driver's"
    )


def test_nothing_is_said_where_all_fits_or_nothing_is_known() -> None:
    fitting = replace(QUIET, python="3.11.7", java="17.0.9")
    assert list(platform_notes([fitting, replace(fitting, python="", java="")], "4.3.0")) == []
    assert list(platform_notes([replace(fitting, java="8")], "")) == []
