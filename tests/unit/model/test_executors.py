"""What became of the executors during a trial, in one line that names hosts, ids and Spark's reason."""

import pytest

from harness.model.executors import LostExecutor, TrialExecutors

EXIT = "Command exited with code 137"
LOST = {"2": LostExecutor("n2", EXIT)}


@pytest.mark.parametrize(
    ("executors", "change"),
    [
        (TrialExecutors({"n1": 2}), None),
        (TrialExecutors({}), None),
        (
            TrialExecutors({"n1": 1}, lost=LOST),
            f"n2: an executor was lost (2 of n2 ended: {EXIT})",
        ),
        (TrialExecutors({"n1": 2}, {"3": "n1"}), "n1: an executor was added (3 came on n1)"),
        (
            TrialExecutors({"n2": 1}, {"3": "n2"}, LOST),
            f"n2: an executor was replaced (2 of n2 ended: {EXIT}; 3 came on n2)",
        ),
        (
            TrialExecutors({"n3": 1}, {"3": "n3"}, LOST),
            f"n2, n3: an executor was replaced on other hosts (2 of n2 ended: {EXIT}; 3 came on n3)",
        ),
        (
            TrialExecutors({}, {}, {"1": LostExecutor("n1"), **LOST}),
            f"n1, n2: 2 executors were lost (1 of n1 ended: Spark does not say why; 2 of n2 ended: {EXIT})",
        ),
        (
            TrialExecutors({"n1": 5}, {str(id_): "n1" for id_ in range(5)}),
            "n1: 5 executors were added (0 came on n1; 1 came on n1; 2 came on n1; 2 more)",
        ),
    ],
)
def test_the_change_is_one_line(executors: TrialExecutors, change: str | None) -> None:
    assert executors.change == change


def test_it_counts_the_executors_on_all_hosts() -> None:
    assert TrialExecutors({"n1": 2, "n2": 1}).number == 3
