"""Which changes exceed a limit, which keep it, and what is not known."""

import pytest

from harness.analysis.compare.comparison import compare
from harness.analysis.ready.limits import limit_findings
from harness.base.errors import BadInput
from tests.unit.builders import column, configured, failed, in_runs, ok

QUIET, NOISY = [10.0, 10.02, 9.98, 10.01], [10.0, 12.0, 8.0, 11.0]
CONTROLS = {"controls": ["pi"]}
SLOWER, FASTER = 0.03, -0.1


def said(limit: float, factor: float, times_s: list[float] = QUIET, runs: int = 4) -> str:
    """What is said of one workload, beside a control that moved and a workload that is new."""
    sides = {
        "1g": {"w": times_s, "pi": QUIET},
        "2.5g": {
            "w": [factor * each for each in times_s],
            "pi": [each / 2 for each in QUIET],
            "new": QUIET,
        },
    }
    columns = [
        in_runs(column(name, times, parameters=CONTROLS), runs) for name, times in sides.items()
    ]
    [found] = limit_findings(compare(columns), limit)
    return found.text


@pytest.mark.parametrize(
    ("found", "text"),
    [
        (said(SLOWER, 1.05), "slower by more than 3 %: w"),
        (said(SLOWER, 1.01), "not slower by more than 3 %: w"),
        (said(SLOWER, 0.5), "not slower by more than 3 %: w"),
        (said(FASTER, 0.95), "not faster by 10 %: w"),
        (said(FASTER, 0.85), "faster by 10 % or more: w"),
        (said(SLOWER, 1.0299, NOISY), "not known whether slower by more than 3 %: w; measure more"),
        (said(FASTER, 0.85, runs=1), "not known whether faster by 10 %: w; measure more"),
    ],
)
def test_the_outcome_follows_from_the_interval(found: str, text: str) -> None:
    assert found.startswith(text)


def test_failed_trials_fail_and_what_was_not_measured_is_not_known() -> None:
    before = column("1g", {"w": QUIET, "gone": QUIET})
    after = configured("2.5g", [ok("w", 10.0), failed("w", round_=2)])
    found = list(limit_findings(compare([before, after]), SLOWER))
    assert [(each.outcome, each.workloads) for each in found] == [
        ("failed", ("w",)),
        ("unknown", ("gone",)),
    ]


def test_controls_alone_are_a_mistake() -> None:
    columns = [column(name, {"pi": QUIET}, parameters=CONTROLS) for name in "ab"]
    with pytest.raises(BadInput, match="does not count for controls"):
        next(limit_findings(compare(columns), SLOWER))


def test_a_control_is_one_though_another_configuration_did_not_run_it() -> None:
    slow = [each * 2 for each in QUIET]
    columns = [
        column("1g", {"w": QUIET, "pi": QUIET}, parameters=CONTROLS),
        column("2.5g", {"w": QUIET, "pi": slow}, parameters=CONTROLS),
        column("10g", {"w": QUIET}, parameters={"controls": []}),
    ]
    found = limit_findings(compare([in_runs(each, 4) for each in columns]), SLOWER)
    assert [(each.outcome, each.workloads) for each in found] == [("keeps", ("w",))] * 2
