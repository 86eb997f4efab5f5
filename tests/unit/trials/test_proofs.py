"""Trials count only if a trial of their workload has proven every row of the answer."""

from dataclasses import replace

import pytest

from harness.model.answer import RowsDigest, distinct
from harness.model.run import Phase, Proof, Status, Trial, weakest
from harness.trials.counting import UNPROVEN, counted_trials
from tests.unit.builders import failed, ok

WRONG = "WrongAnswer: rows is 3, not 4"


def proven(phase: Phase) -> Trial:
    return ok("sort", 9.0, phase=phase, proof=Proof.EVERY_ROW)


TIMES = [ok("sort", 2.0, round_, proof=Proof.ROW_COUNT) for round_ in (1, 2)]


def counted(*trials: Trial) -> list[Trial]:
    found, throughout = counted_trials(trials, None, to_be_proven=True)
    assert throughout == {}
    return [trial for trial in found if trial.phase is Phase.MEASURED]


@pytest.mark.parametrize(
    "trials",
    [[proven(Phase.WARM_UP), *TIMES], [*TIMES, proven(Phase.PROOF)]],
    ids=["before", "afterwards"],
)
def test_trials_count_if_a_round_has_proven_the_answer(trials: list[Trial]) -> None:
    assert [trial.undisturbed_s for trial in counted(*trials)] == [2.0, 2.0]


@pytest.mark.parametrize(
    "others",
    [
        [],
        [failed("sort", "Py4JError: an executor was lost", phase=Phase.PROOF)],
        [ok("another", 1.0, phase=Phase.PROOF, proof=Proof.EVERY_ROW)],
    ],
    ids=["no round", "a round that failed", "a proof of another workload"],
)
def test_trials_without_a_proof_do_not_count(others: list[Trial]) -> None:
    found = counted(*TIMES, *others)
    assert [trial.disturbed for trial in found] == [UNPROVEN] * 2
    assert not any(trial.counts for trial in found)


def test_trials_without_a_proof_do_not_count_if_all_were_disturbed() -> None:
    found = counted(*[replace(trial, disturbed="n1: it swapped") for trial in TIMES])
    assert [trial.disturbed for trial in found] == [UNPROVEN] * 2


def test_a_wrong_answer_in_a_later_round_fails_the_trials_before() -> None:
    found = counted(*TIMES, failed("sort", WRONG, phase=Phase.PROOF))
    assert [(trial.status, trial.error) for trial in found] == [(Status.FAILED, WRONG)] * 2
    assert all(trial.counts for trial in found)  # as failures


def test_trials_of_older_runs_need_no_proof() -> None:
    found, _ = counted_trials([ok("sort", 2.0)], None)
    assert found[0].counts


def test_several_trials_have_proven_what_the_weakest_has() -> None:
    assert weakest([Proof.EVERY_ROW, Proof.ROW_COUNT, Proof.ITS_RESULT]) is Proof.ROW_COUNT
    assert weakest([]) is Proof.NOTHING


def test_rows_that_were_only_counted_are_the_same_answer_unless_their_number_differs() -> None:
    proof = RowsDigest(7, "ab")
    assert distinct([RowsDigest(7, ""), proof, RowsDigest(7, "")]) == (proof,)
    assert distinct([RowsDigest(8, ""), proof]) == (proof, RowsDigest(8, ""))
    assert RowsDigest(8, "").difference(proof) == "8 rows"
