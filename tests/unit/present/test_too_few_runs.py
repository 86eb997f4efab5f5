"""An interval as wide as its value is no number in any table, and its numbers stay in JSON."""

import json
from collections.abc import Sequence

import pytest

from harness.analysis.compare.comparison import Comparison, compare, overview
from harness.present import comparison_json
from harness.present.change_table import FEW, abbreviated
from harness.present.comparison_table import comparison_table
from tests.unit.builders import of_runs
from tests.unit.printed import markdown_table, printed_table

CAPTION = "too few runs: a single run, or an interval of ±100 % or more; measure more runs."


def of_times(name: str, *times_s: float) -> Comparison:
    return overview(of_runs(name, [{"inner-join": [each]} for each in times_s]))


@pytest.mark.parametrize(
    ("times_s", "is_too_few"),
    [((2.0, 2.7), True), ((2.3, 2.4), False), ((2.0, 2.7, 2.3), False), ((2.0, 9.0, 30.0), True)],
    ids=["two-unlike", "two-alike", "three", "three-very-unlike"],
)
def test_a_wide_interval_is_too_few_runs_with_a_sentence_in_the_caption(
    times_s: Sequence[float], *, is_too_few: bool
) -> None:
    comparison = of_times("default", *times_s)
    for shown in (printed_table(comparison), markdown_table(comparison)):
        assert (shown.count("too few runs") == 2) == is_too_few
        assert (CAPTION in " ".join(shown.split())) == is_too_few
        assert ("±" in shown.split("Geometric")[0].split("inner-join")[1]) != is_too_few


def test_json_has_the_numbers() -> None:
    [workload] = json.loads(comparison_json.render(of_times("default", 2.0, 2.7)))["workloads"]
    low, high = workload["cells"][0]["time_interval_s"]
    assert low == pytest.approx(0.345, abs=0.01)
    assert high == pytest.approx(15.64, abs=0.01)


def test_a_single_run_is_too_few_beside_several_and_says_nothing_alone() -> None:
    several = of_runs("before", [{"a": [10.0]}, {"a": [10.1]}, {"a": [10.2]}])
    single = of_runs("after", [{"a": [10.0]}])
    assert "too few runs" in printed_table(compare([several, single]))
    assert "too few runs" not in printed_table(overview(single))


def test_where_the_words_are_too_wide_one_of_them_stands_for_all_and_is_explained() -> None:
    short = abbreviated(comparison_table(of_times("default", 2.0, 9.0)))
    assert [cell.interval for line in short.lines for cell in line.cells] == [FEW]
    assert f"{FEW}: too few runs, a single run" in short.caption
    assert short.lines[0].name == "inner-join"


def test_two_runs_are_too_few_for_a_table_that_wants_three() -> None:
    wanted = comparison_table(of_times("default", 2.3, 2.4), fewest_runs=3)
    assert [cell.interval for line in wanted.lines for cell in line.cells] == ["too few runs"]
    assert "too few runs: fewer than 3 runs, or" in wanted.caption
    enough = comparison_table(of_times("default", 2.3, 2.4, 2.5), fewest_runs=3)
    assert "too few runs" not in enough.caption
