"""Values of options: with a unit, and directories."""

from pathlib import Path

import pytest

from harness.base.option_values import parse_directory, parse_fraction, parse_time


@pytest.mark.parametrize(
    ("text", "fraction"), [("2%", 0.02), (" 0.5 %", 0.005), ("0.02", 0.02), ("99%", 0.99)]
)
def test_a_fraction(text: str, fraction: float) -> None:
    assert parse_fraction(text) == pytest.approx(fraction)


@pytest.mark.parametrize("text", ["", "two", "0%", "100%", "nan%"])
def test_not_a_fraction(text: str) -> None:
    with pytest.raises(ValueError, match=r"percentage|range"):
        parse_fraction(text)


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("30m", 1800),
        ("30 min", 1800),
        ("90s", 90),
        ("1h30m", 5400),
        ("1h 30m", 5400),
        ("0.5h", 1800),
    ],
)
def test_a_time(text: str, seconds: float) -> None:
    assert parse_time(text) == seconds


@pytest.mark.parametrize("text", ["", "30", "half an hour", "0s", "1e3s", "\u0663s"])
def test_not_a_time(text: str) -> None:
    with pytest.raises(ValueError, match=r"not a time|range"):
        parse_time(text)


@pytest.mark.parametrize("text", ["results", "/data/results", "day:1", "hdfs:x", " a/b://c"])
def test_a_directory(text: str) -> None:
    assert parse_directory(text) == Path(text)


@pytest.mark.parametrize("text", ["hdfs://host/r", "s3a://bucket/r", "FILE:///r", "file:/r"])
def test_a_uri_is_no_directory_of_this_machine(text: str) -> None:
    with pytest.raises(ValueError, match="is a URI; name a directory of this machine by its path"):
        parse_directory(text)
