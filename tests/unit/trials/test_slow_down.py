"""Trials that become slower are named with what was observed beside them, and noise is not."""

from random import Random
from typing import Any

import pytest

from harness.model.interference import NodeInterference
from harness.model.run import Trial
from harness.model.work import Work
from harness.trials.slow_down import slow_down
from tests.bench.warm_ups import WarmUp
from tests.unit.builders import ok
from tests.unit.metrics_builders import task_metrics


def trials(*times_s: float, gc_share: float = 0.0, **seconds: float) -> list[Trial]:
    """Return trials; their node counts these seconds, once more in each of them."""

    def disturbed(time_s: float, number: int) -> NodeInterference:
        counted: dict[str, Any] = {key: each * number for key, each in seconds.items()}
        return NodeInterference("n", time_s, 2, **counted)

    return [
        ok(
            "w",
            time_s,
            number,
            tasks=task_metrics(gc_share=gc_share * number),
            interference=(disturbed(time_s, number),),
        )
        for number, time_s in enumerate(times_s, 1)
    ]


@pytest.mark.parametrize(
    ("observed", "reason"),
    [
        ({}, "the reason is not known"),
        ({"io_wait_s": 0.2}, "the reason is not known"),
        ({"io_wait_s": 0.8, "stolen_s": 0.3}, "processes waited for I/O"),
        ({"memory_wait_s": 0.9}, "processes waited for memory"),
        ({"stolen_s": 2.0}, "the hypervisor took processor time"),
        ({"loop_s": 1e-4}, "processors became slower"),
        ({"loop_s": 1e-4, "heat_throttles": 2}, "processors became slower: they were too hot"),
        ({"stolen_s": 2.0, "heat_throttles": 2}, "the hypervisor took processor time"),
        ({"gc_share": 0.1}, "more garbage collection"),
    ],
)
def test_a_workload_that_slows_down_is_named_with_the_reason(
    observed: dict[str, Any], reason: str
) -> None:
    found = slow_down([trials(5, 6, 7, 8, 9, **observed)] * 3, workloads=9)
    assert found == f"its trials became slower, by 55 % ({reason})"


def of_a_program(*units_s: float, is_rate: bool, **seconds: float) -> list[Trial]:
    """Return trials of one of a program's workloads; the node counts during 100 s of the whole program."""
    found: list[Trial] = []
    for number, unit_s in enumerate(units_s, 1):
        counted: dict[str, Any] = {key: each * number for key, each in seconds.items()}
        nodes = (NodeInterference("n", 100.0, 2, **counted),)
        if is_rate:
            work = Work(1 / unit_s, "flop")
            found.append(ok("dgemm", 1.0, number, work=work, interference=nodes))
        else:
            found.append(ok("ring-latency", unit_s * 1e-6, number, interference=nodes))
    return found


@pytest.mark.parametrize("is_rate", [True, False], ids=["a performance", "a latency"])
@pytest.mark.parametrize(
    ("observed", "reason"),
    [
        ({}, "the reason is not known"),
        ({"io_wait_s": 0.001}, "the reason is not known"),
        ({"stolen_s": 30.0}, "the hypervisor took processor time"),
    ],
)
def test_the_reason_is_a_part_of_the_time_of_a_program_with_several_workloads(
    observed: dict[str, float], reason: str, *, is_rate: bool
) -> None:
    runs = [of_a_program(5, 6, 7, 8, 9, is_rate=is_rate, **observed)] * 3
    assert slow_down(runs, workloads=9) == f"its trials became slower, by 55 % ({reason})"


def test_there_is_no_reason_if_one_slow_trial_makes_the_earlier_halves_longer() -> None:
    found = slow_down([*[trials(5, 6, 7, 8, 9)] * 5, trials(500, 6, 7, 8, 9, 10)], workloads=9)
    assert str(found).endswith("(the reason is not known)")


@pytest.mark.parametrize(
    ("runs", "slows"),
    [
        ([], False),
        ([[5, 9], [6, 5]], False),
        ([[9, 8, 7, 6, 5]] * 3, False),
        ([[5, 5.001, 5.002, 5.003]], False),
        ([[5, 5, 5], [5, 5]], False),
        ([[5, 6, 5, 6, 5, 7]], False),
        ([[5, 5.3, 5.2, 5.5]], False),
        (
            [[5, 5.3, 5.2, 5.5], [9, 9.1, 9.6, 9.9], [2, 2.1, 2.15, 2.2], [1, 1.1, 1.2, 1.3], [1]],
            True,
        ),
    ],
)
def test_the_trials_of_each_run_have_a_level_of_their_own(
    runs: list[list[float]], *, slows: bool
) -> None:
    assert bool(slow_down([trials(*times_s) for times_s in runs], workloads=9)) is slows


def test_so_is_one_whose_runs_slow_down() -> None:
    """A run of one trial, as `bench` makes them, has no other to tell by."""
    each = [[trial] for trial in trials(*range(5, 16), io_wait_s=0.8)]
    found = str(slow_down(each, workloads=9))
    assert found.startswith("its runs became slower, by ")
    assert found.endswith(" (processes waited for I/O)")
    assert slow_down([*each[6:], *each[:6]], workloads=9) is None


@pytest.mark.parametrize("workloads", [1, 12])
def test_noise_is_seldom_taken_for_it_whatever_the_number_of_workloads(workloads: int) -> None:
    """In 20 configurations of a table that is ten of 200 tables at most."""
    random = Random(4)  # noqa: S311  noise, not a secret
    alarms = 0
    for _ in range(200):
        table = [[trials(*WarmUp().series(random)[:6]) for _ in range(3)] for _ in range(workloads)]
        alarms += any(slow_down(runs, workloads) for runs in table)
    assert alarms <= 4
