"""Trials are pooled into a sample only if their performances have a mean."""

from dataclasses import replace

import pytest

from harness.analysis.observed.sample import take_sample
from harness.base.errors import BadInput
from harness.model.run import Phase, RecordedRun, Trial
from harness.model.work import Work
from tests.unit.builders import a_run, failed, ok, recorded

FLOP, BYTES = Work(5.0, "flop"), Work(6.0, "B")
PEAK = replace(FLOP, peaks={"declared": 10.0})


def run_of(source: str, *trials: Trial) -> RecordedRun:
    return replace(recorded(a_run(run_id=source), trials), source=f"{source}.jsonl")


@pytest.mark.parametrize(
    ("works", "message"),
    [
        ((FLOP, BYTES), "hpl counts flop in a.jsonl and B in b.jsonl: "),
        ((FLOP, None), "hpl counts flop in a.jsonl and no work in b.jsonl: "),
        ((FLOP, PEAK), "hpl counts flop in a.jsonl and flop with a peak of 10 flop/s in b.jsonl: "),
        (
            (PEAK, replace(FLOP, peaks={"declared": 50.0})),
            "flop with a peak of 10 flop/s in a.jsonl and flop with a peak of 50 flop/s in b.jsonl: ",
        ),
    ],
)
@pytest.mark.parametrize("second_run", ["a", "b"])
def test_trials_in_several_units_are_refused_by_file(
    works: tuple[Work | None, Work | None], message: str, second_run: str
) -> None:
    first, second = (ok("hpl", 1.0, n, work=work) for n, work in enumerate(works, 1))
    runs = [run_of("a", first), run_of("b", second)]
    if second_run == "a":
        runs = [run_of("a", first, second)]
    with pytest.raises(BadInput) as caught:
        take_sample("hpl", runs)
    assert message.replace("b.jsonl", f"{second_run}.jsonl") in str(caught.value)


def test_measured_peaks_may_differ() -> None:
    works = [replace(FLOP, peaks={"dgemm": peak}) for peak in (9.0, 10.0, 11.0)]
    trials = [ok("hpl", 1.0, n, work=work) for n, work in enumerate(works, 1)]
    assert take_sample("hpl", [run_of("a", *trials)]).peaks == {"dgemm": 10.0}


def test_trials_that_do_not_count_have_no_unit() -> None:
    trials = (
        failed("hpl", "no answer"),
        ok("hpl", 1.0, 1, Phase.WARM_UP, work=BYTES),
        ok("hpl", 1.0, 2, work=FLOP),
    )
    assert take_sample("hpl", [run_of("a", *trials)]).unit == "flop"
