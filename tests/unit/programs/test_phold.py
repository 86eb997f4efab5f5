"""PHOLD: events are counted only if their number is that of the simulation by one process."""

import pytest

from harness.base.errors import BadInput, ToolError
from harness.hosts.transports.host import by_local
from harness.model.work import Work
from harness.programs.mpi import Placement
from harness.programs.phold import Phold
from harness.programs.program import Achieved
from tests.unit.probe_builders import output

OUTPUT = output("phold-8.1.1.txt")
HOSTS = tuple(by_local(f"n{number}") for number in range(4))


@pytest.fixture
def phold() -> Phold:
    return Phold(objects=1024, end=100, remote=25, ross_home="/opt/ross")


class TestJob:
    def test_the_objects_are_divided_among_the_processes(self, phold: Phold) -> None:
        placement = Placement(HOSTS, 2)
        job = phold.job(phold.problem(placement, growing=False), placement)
        assert job.command == (
            *("/opt/ross/bin/phold", "--synch=3", "--nlp=128", "--end=100", "--remote=0.25"),
            "--extramem=65536",
        )

    def test_the_reference_is_the_same_simulation_by_one_process(self, phold: Phold) -> None:
        placement = Placement(HOSTS, 2)
        job = phold.reference(phold.problem(placement, growing=True), placement)
        assert job.placement == Placement(HOSTS[:1])
        assert {"--synch=1", "--nlp=4096"} < set(job.command)

    def test_objects_that_cannot_be_divided_are_refused(self, phold: Phold) -> None:
        with pytest.raises(BadInput, match="--objects is 1,024, which 3 processes cannot divide"):
            phold.problem(Placement(HOSTS[:3]), growing=False)

    def test_without_ross_home_it_says_what_to_set(self) -> None:
        with pytest.raises(BadInput, match="ROSS_HOME is not set"):
            _ = Phold(ross_home="").executables


class TestOutcomes:
    def test_net_events_are_the_work_and_rollbacks_are_kept(self, phold: Phold) -> None:
        [outcome] = phold.outcomes(OUTPUT, {}, 2, OUTPUT).values()
        assert isinstance(outcome, Achieved)
        assert isinstance(outcome.work, Work)
        assert outcome.work.unit == "event"
        assert outcome.work.amount == number("Net Events Processed")
        assert outcome.work.figures == {
            "rollbacks": number("Total Roll Backs"),
            "efficiency_percent": number("Efficiency"),
        }
        rate = number("Event Rate (events/sec)")
        # The running time is printed in tenths of a millisecond.
        assert outcome.work.amount / outcome.wall_s == pytest.approx(rate, rel=0.05)

    def test_another_number_of_events_is_a_failure(self, phold: Phold) -> None:
        events = f"{number('Net Events Processed'):.0f}"
        reference = OUTPUT.replace(f" {events}\n", " 7\n")
        [outcome] = phold.outcomes(OUTPUT, {}, 2, reference).values()
        assert "not 7 as by one process" in str(outcome)

    @pytest.mark.parametrize(
        "text",
        [
            *("", OUTPUT.partition("Net Events")[0], "Segmentation fault"),
            f"\tNet Events Processed{' ' * 1_000_000}",
        ],
        ids=["empty", "cut off", "crashed", "long"],
    )
    def test_a_simulation_that_did_not_end_is_refused(self, phold: Phold, text: str) -> None:
        with pytest.raises(ToolError, match="PHOLD did not finish"):
            phold.outcomes(text, {}, 2, OUTPUT)


def number(name: str) -> float:
    line = next(line for line in OUTPUT.splitlines() if line.strip().startswith(name))
    return float(line.split()[-2 if line.endswith("%") else -1])
