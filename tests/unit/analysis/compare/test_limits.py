"""Which changes exceed a limit, which keep it, and what is not known."""

import pytest

from harness.analysis.compare.comparison import compare
from harness.analysis.compare.limits import Judgement, Limit, Standing, exit_code, judge
from harness.model.errors import BadInput
from harness.present.limits import as_json, lines
from tests.unit.builders import column, configured, failed, in_runs, ok

QUIET = [10.0, 10.02, 9.98, 10.01]
NOISY = [10.0, 12.0, 8.0, 11.0]
SLOWER, FASTER = Limit("--fail-if-slower", 0.03), Limit("--fail-if-not-faster", -0.1)


def judged(limit: Limit, factor: float, times_s: list[float] = QUIET, runs: int = 4) -> Judgement:
    before = {"w": times_s, "pi": QUIET}
    after = {"w": [factor * time_s for time_s in times_s], "pi": [2 * time_s for time_s in QUIET]}
    columns = [
        in_runs(column(name, times, parameters={"controls": ["pi"]}), runs)
        for name, times in (("before", before), ("after", after))
    ]
    [found] = judge(compare(columns), limit)
    return found


@pytest.mark.parametrize(
    ("found", "code", "line"),
    [
        (judged(SLOWER, 1.05), 1, "after: slower by more than 3 %: w +5.0% ±1%"),
        (judged(SLOWER, 1.01), 0, "after: not slower by more than 3 %: w +1.0% ±1%"),
        (judged(SLOWER, 0.5), 0, "after: not slower by more than 3 %: w -50.0% ±1%"),
        (judged(FASTER, 0.95), 1, "after: not faster by 10 %: w -5.0% ±1%"),
        (judged(FASTER, 0.85), 0, "after: faster by 10 % or more: w -15.0% ±1%"),
        (judged(SLOWER, 1.05, NOISY), 3, "after: not known whether slower by more than 3 %: w +5.0%"),
        (judged(FASTER, 0.85, runs=1), 3, "after: not known whether faster by 10 %: w -15.0%; about 1"),
    ],
)  # fmt: skip
def test_the_outcome_follows_from_the_interval_and_controls_do_not_count(
    found: Judgement, code: int, line: str
) -> None:
    assert exit_code([found]) == code
    [text] = lines([found])
    assert text.startswith(line)
    standing = {0: "keeps", 1: "exceeds", 3: "unknown"}[code]
    [as_values] = as_json([found])
    assert as_values[standing] == ["w"]
    assert as_values["limit"] == found.limit.change


def test_the_gravest_outcome_decides() -> None:
    unknown, slower = judged(SLOWER, 1.05, NOISY), judged(SLOWER, 1.05)
    assert exit_code([unknown, slower]) == exit_code([slower, unknown]) == 1


def test_more_runs_are_those_that_find_the_distance_from_the_limit() -> None:
    assert (
        (judged(SLOWER, 0.95, NOISY).more_runs or 0)
        > (judged(SLOWER, 0.6, NOISY).more_runs or 0)
        > 0
    )
    assert judged(SLOWER, 1.0299, NOISY).more_runs is None


def test_a_failed_trial_fails_and_what_only_one_side_ran_is_not_judged_or_not_known() -> None:
    before, after = (
        column("before", {"w": QUIET, "x": QUIET}),
        column("after", {"w": QUIET, "new": QUIET}),
    )
    [found] = judge(compare([in_runs(before), in_runs(after)]), SLOWER)
    assert list(found.changes[Standing.KEEPS]) == ["w"]
    assert list(found.changes[Standing.UNKNOWN]) == ["x"]
    troubled = configured("after", [ok("w", 10.0), failed("w", round_=2)])
    [found] = judge(compare([before, troubled]), SLOWER)
    assert exit_code([found]) == 1
    assert "after: trials failed: w" in lines([found])


def test_controls_alone_are_a_mistake() -> None:
    columns = [column(name, {"pi": QUIET}, parameters={"controls": ["pi"]}) for name in "ab"]
    with pytest.raises(BadInput, match="--fail-if-slower judges no controls"):
        judge(compare(columns), SLOWER)
