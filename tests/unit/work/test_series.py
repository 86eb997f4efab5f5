"""A series is a digest of the arguments, from which no secret can be guessed."""

from collections.abc import Sequence

import pytest

from harness.base.redaction import digest
from harness.work.series import series_of

CONF = ("--conf", "spark.executor.memory=1g")
ARGUMENTS = ("--trials", "6")


def test_both_forms_of_an_option_are_the_same() -> None:
    assert series_of([CONF], ["--trials=6", "--fact=a=b"]) == series_of(
        [CONF], ["--trials", "6", "--fact", "a=b"]
    )


@pytest.mark.parametrize("others", [["--trials", "7"], ["--trials=6", "x"], [], ["trials=6"]])
def test_other_arguments_are_another_series(others: Sequence[str]) -> None:
    assert series_of([CONF], others) != series_of([CONF], ARGUMENTS)


@pytest.mark.parametrize(
    "other",
    [
        ("--conf", "spark.executor.memory=2g"),
        ("--conf", "spark.a=1"),
        ("--name", "spark.executor.memory=1g"),
    ],
)
def test_so_are_other_options_of_spark(other: tuple[str, str]) -> None:
    assert series_of([other], ARGUMENTS) != series_of([CONF], ARGUMENTS)


def other_with_same_digest(secret: str) -> str:
    """Return another text with the same recorded digest."""
    return next(f"guess-{n}" for n in range(10**7) if digest(f"guess-{n}") == digest(secret))


def test_nobody_can_confirm_a_guess_at_a_secret() -> None:
    other = other_with_same_digest("hunter2")
    for option, prefix in (("--conf", "spark.unknown="), ("--driver-java-options", "")):
        series = {series_of([(option, f"{prefix}{each}")], []) for each in ("hunter2", other)}
        assert len(series) == 1, option
    uris = [f"s3a://user:{each}@bucket/rows" for each in ("hunter2", other)]
    assert len({series_of([], ["--dataset", uri]) for uri in uris}) == 1
