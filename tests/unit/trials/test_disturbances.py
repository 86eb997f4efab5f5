"""Trials are judged again from the counters of their nodes."""

from harness.model.interference import MIN_EARLIER, NodeInterference
from harness.model.run import Trial
from harness.trials.disturbances import with_disturbances
from tests.unit.builders import failed, ok

QUIET = (NodeInterference("n1", duration_s=10, processors=2, others_s=0.1),)
BUSY = (NodeInterference("n1", duration_s=10, processors=2, others_s=4.0),)
DISTURBED = "n1: other processes took processor time (20 %, usually 0 %)"


def verdicts(*trials: Trial) -> list[str | None]:
    return [trial.disturbed for trial in with_disturbances(trials)]


def test_a_trial_is_compared_with_the_earlier_trials_of_its_workload() -> None:
    quiet = [ok("pi", 1.0, number, interference=QUIET) for number in range(1, MIN_EARLIER + 1)]
    others = [ok("join", 1.0, number, interference=BUSY) for number in range(1, MIN_EARLIER + 1)]
    late = [ok(name, 1.0, 9, interference=BUSY) for name in ("pi", "join")]
    assert verdicts(*quiet, *others, *late)[-2:] == [DISTURBED, None]


def test_no_trial_sees_a_later_one() -> None:
    quiet = [ok("pi", 1.0, number, interference=QUIET) for number in range(2, 2 + MIN_EARLIER)]
    assert verdicts(ok("pi", 1.0, 1, interference=BUSY), *quiet)[0] is None


def test_a_trial_without_counters_keeps_what_was_recorded() -> None:
    assert verdicts(ok("pi", 1.0, disturbed=DISTURBED), failed("pi")) == [DISTURBED, None]
