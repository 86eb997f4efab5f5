"""Whether trials were cold: by what disks read of their input, whatever was asked for."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.model.cache import (
    MIN_INPUT,
    CacheState,
    cache_text,
    disk_share,
    why_not_cold,
    why_unknown,
)
from harness.model.run import InputReader, Trial
from harness.model.task_metrics import DiskBytes, PackedInput
from harness.trials.counting import counted_trials
from harness.trials.rounds import MAX_FAILED_TRIALS, Rounds
from tests.unit.builders import ok
from tests.unit.metrics_builders import task_metrics

INPUT = 100 * 2**20


def reading(from_disks: float, input_bytes: int = INPUT, **fields: Any) -> Trial:
    """Return a trial with this input, and the number of times that disks read it."""
    tasks = task_metrics(input_bytes_by_locality={"ANY": input_bytes})
    disk = DiskBytes(int(from_disks * input_bytes), 7)
    known: dict[str, Any] = {"input_read_by": InputReader.STORAGE, "disk": disk, "tasks": tasks}
    return ok("group-by", fields.pop("wall_s", 2.0), **known | fields)


def cold(from_disks: float, **fields: Any) -> Trial:
    return reading(from_disks, to_be_cold=True, **fields)


@pytest.mark.parametrize(
    ("share", "state"),
    [
        (1.0, CacheState.COLD),
        (0.9, CacheState.COLD),
        (0.89, CacheState.MIXED),
        (0.11, CacheState.MIXED),
        (0.1, CacheState.WARM),
        (0.0, CacheState.WARM),
    ],
)
def test_a_tenth_of_the_input_is_within_what_else_reads(share: float, state: CacheState) -> None:
    assert CacheState.of(share) is state


def test_the_share_is_of_the_input_of_all_trials() -> None:
    assert disk_share([reading(1.0), reading(0.0, 3 * INPUT)]) == 0.25


def test_data_that_is_read_twice_comes_from_disks_once() -> None:
    """A sort reads its input once to find the ranges, and once more to sort it."""
    twice = task_metrics(input_bytes_by_locality={"ANY": 2 * INPUT}, largest_scan_bytes=INPUT)
    assert why_not_cold(cold(1.0, tasks=twice)) is None
    assert disk_share([reading(0.5, tasks=twice)]) == 0.5


def test_what_disks_read_ahead_in_one_trial_does_not_stand_for_another() -> None:
    assert disk_share([reading(1.4), reading(0.0)]) == 0.5


def test_disks_of_a_storage_that_read_for_others_show_nothing() -> None:
    warmed = cold(6.0)
    assert disk_share([warmed]) is None
    assert why_not_cold(warmed) is None
    assert disk_share([warmed, reading(0.0)]) == 0


@given(st.lists(st.floats(0, 1.5), min_size=1, max_size=5))
def test_a_share_is_one(times: list[float]) -> None:
    share = disk_share(map(reading, times))
    assert share is not None
    assert 0 <= share <= 1


@pytest.mark.parametrize(
    "trial",
    [
        ok("group-by", 1.0),
        replace(reading(1.0), input_read_by=None),
        replace(reading(1.0), disk=None),
        replace(reading(1.0), tasks=None),
        replace(reading(1.0), tasks=task_metrics(input_bytes_by_locality={})),
        replace(reading(1.0), tasks=task_metrics(input_bytes_by_locality={"ANY": INPUT}, incomplete="?")),
        reading(1.0, MIN_INPUT - 1),
    ],
    ids=["of before", "other disks", "no counters", "no metrics", "no input", "lost events", "little input"],
)  # fmt: skip
def test_of_what_is_not_known_nothing_is_said(trial: Trial) -> None:
    assert disk_share([trial]) is None
    assert disk_share([trial, reading(0.5)]) == 0.5
    assert why_not_cold(replace(trial, to_be_cold=True)) is None


def test_what_others_read_is_known_from_what_the_application_reads_itself() -> None:
    """The disks read as much as the input, and most of it for another process."""
    own = DiskBytes(INPUT, 0, own_read_bytes=INPUT // 4)
    trial = reading(1.0, disk=own, input_read_by=InputReader.APPLICATION)
    assert disk_share([trial]) == 0.25
    assert disk_share([replace(trial, disk=DiskBytes(INPUT, 0))]) is None


M = 2**20
PACKED: dict[str, tuple[float, PackedInput, float | None]] = {
    "nothing was in memory": (0.31, PackedInput(0, 100 * M), 1.0),
    "little was in memory": (0.31, PackedInput(5 * M, 95 * M), 0.95),
    "all was in memory": (0.0, PackedInput(100 * M, 0), 0.0),
    "all was in memory, and disks read a little for others": (0.15, PackedInput(100 * M, 0), 0.0),
    "half was in memory": (0.2, PackedInput(50 * M, 50 * M), 0.5),
    "of files that are larger than what is read, nothing was in memory": (0.1, PackedInput(0, 900 * M), 1.0),
    "of files that are larger than what is read, all was": (0.0, PackedInput(900 * M, 0), 0.0),
    "of files that are larger than what is read, a part was": (0.1, PackedInput(300 * M, 600 * M), None),
    "the page cache does not tell": (0.31, PackedInput(), None),
    "the page cache does not tell, but disks read it all": (0.97, PackedInput(), 0.97),
}  # fmt: skip


@pytest.mark.parametrize("case", PACKED)
def test_of_packed_files_the_share_is_what_was_not_in_memory(case: str) -> None:
    from_disks, packed, share = PACKED[case]
    own = DiskBytes(int(from_disks * INPUT), 0, own_read_bytes=int(from_disks * INPUT))
    trial = cold(0, disk=own, input_read_by=InputReader.APPLICATION, packed_input=packed)
    found = disk_share([trial])
    assert found == (None if share is None else pytest.approx(share))
    assert (why_not_cold(trial) is None) == (share is None or share >= 0.9)


def test_what_later_executions_found_in_memory_is_not_taken_for_cold() -> None:
    trial = reading(0.1, packed_input=PackedInput(0, INPUT))
    assert disk_share([trial]) == 1.0
    assert disk_share([replace(trial, executions=5)]) is None


def test_why_nothing_is_known_is_said() -> None:
    assert why_unknown([reading(0.1)]).startswith("they read too little")
    packed = reading(0.1, packed_input=PackedInput())
    assert "compressed, or with holes" in why_unknown([packed])


def test_a_state_is_shown_with_the_share() -> None:
    assert cache_text(0.984) == "cold (98 % from disks)"
    assert cache_text(0.3) == "mixed (30 % from disks)"


class TestATrialThatWasToBeCold:
    WARM = "was to be cold, and was read from memory (70 %)"

    def test_and_was_not_does_not_count(self) -> None:
        trials, throughout = counted_trials([cold(1.0), cold(0.3), reading(0.3)], None)
        assert [trial.disturbed for trial in trials] == [None, self.WARM, None]
        assert not throughout

    def test_and_was_not_counts_not_even_if_all_are_so(self) -> None:
        """What disturbs all trials is usual, but what is said of none has to be true."""
        trials, throughout = counted_trials([cold(0.3)] * 3, None)
        assert [trial.counts for trial in trials] == [False] * 3
        assert not throughout

    def test_beside_one_that_something_else_disturbed_does_not_count_either(self) -> None:
        other = ok("group-by", 1.0, disturbed="n1: it swapped")
        trials, throughout = counted_trials([other, cold(0.3)], None)
        assert [trial.counts for trial in trials] == [True, False]
        assert throughout == {"group-by": "n1: it swapped"}

    def test_is_not_waited_for_for_ever(self) -> None:
        rounds = Rounds(["group-by"])
        for _, number in rounds.rounds():
            rounds.finished(replace(cold(0.3), round=number, disturbed=self.WARM))
            assert number <= MAX_FAILED_TRIALS
        assert (rounds.stopped or "").startswith(
            "after 6 rounds, no workload has had a trial that counts"
        )
