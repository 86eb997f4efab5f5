"""The answers of users' queries on two sides, which have to be the same for their times to be compared."""

from collections.abc import Iterator, Sequence

from harness.model.run import RecordedRun, answers_of


def different_answers(
    baseline: Sequence[RecordedRun], other: Sequence[RecordedRun]
) -> Iterator[tuple[str, str, str]]:
    """Yield each query that has one answer on either side, and not the same: its name, and what differs.

    One whose answer varies on a side has none to compare.
    """
    for name in dict.fromkeys(name for recorded in baseline for name in recorded.by_workload):
        sides = [
            answers_of(trial for recorded in runs for trial in recorded.by_workload.get(name, ()))
            for runs in (baseline, other)
        ]
        if [len(answers) for answers in sides] == [1, 1]:
            [[before], [after]] = sides
            if difference := before.difference(after):
                yield name, difference, after.difference(before)
