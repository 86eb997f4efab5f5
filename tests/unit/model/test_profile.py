"""Profiles: what was seen of tasks becomes a tree of bounded size, and nothing that was seen is lost."""

import json
from dataclasses import asdict
from itertools import product

from hypothesis import given
from hypothesis import strategies as st

from harness.model.profile import (
    MAX_BYTES,
    MAX_GROUPS,
    MAX_TIMED_TASKS,
    TOP_FRAMES,
    Profile,
    Seen,
    SeenTask,
    Stack,
    TaskSpan,
)

names = st.lists(st.sampled_from("abcd"), min_size=1, max_size=5).map(tuple)
counts = st.tuples(st.integers(0, 5), st.integers(0, 5))
tasks = st.lists(st.tuples(st.integers(0, 3), st.dictionaries(names, counts, max_size=6)))


def profile(seen: list[tuple[int, Seen]]) -> Profile:
    return Profile.of(0.1, ["0 on n1"], {}, [SeenTask(*of_task) for of_task in seen])


def by_stack(profile: Profile) -> dict[Stack, tuple[int, int]]:
    stacks = profile.stacks()
    found: dict[Stack, tuple[int, int]] = {}
    for group in profile.groups:
        for node, running, waiting in zip(group.nodes, group.running, group.waiting, strict=True):
            before = found.get(stacks[node], (0, 0))
            found[stacks[node]] = before[0] + running, before[1] + waiting
    return found


@given(tasks)
def test_every_sample_is_at_its_stack(seen: list[tuple[int, Seen]]) -> None:
    expected: dict[Stack, tuple[int, int]] = {}
    for _, of_task in seen:
        for stack, (running, waiting) in of_task.items():
            before = expected.get(stack, (0, 0))
            expected[stack] = before[0] + running, before[1] + waiting
    assert by_stack(profile(seen)) == expected
    assert profile(seen).samples == sum(map(sum, expected.values()))


def test_tasks_of_a_stage_are_put_together_when_there_are_too_many() -> None:
    of_task: Seen = {("run",): (1, 0)}
    seen = [(stage, of_task) for stage in (1, 2) for _ in range(5 * MAX_GROUPS)]
    found = profile([*seen, (3, {("run",): (0, 2)})])
    assert len(found.groups) <= MAX_GROUPS + 3
    assert sum(group.tasks for group in found.groups) == len(seen) + 1
    assert {group.stage for group in found.groups} == {1, 2, 3}


def test_rare_stacks_are_cut_to_their_top_and_common_ones_are_whole() -> None:
    letters = "".join(map(chr, range(97, 123)))
    base = tuple(f"base {number}" for number in range(40))
    rare: dict[Stack, tuple[int, int]] = {
        (*base, *(f"{letter * 40} {other}" for letter in letters), one): (1, 0)
        for one, other in product((f"top {number}" for number in range(4)), range(250))
    }
    common = (*base, "often")
    found = profile([(1, rare | {common: (5000, 0)})])
    assert by_stack(found)[common] == (5000, 0)
    assert min(map(len, by_stack(found))) <= TOP_FRAMES
    assert found.samples == 5000 + len(rare)
    assert len(json.dumps(asdict(found))) < 2 * MAX_BYTES


def test_the_times_of_tasks_are_kept_with_their_group_also_of_those_that_were_never_seen() -> None:
    found = Profile.of(
        0.1, ["0 on n1"], {},
        [
            SeenTask(1, {("run",): (1, 0)}, TaskSpan(1, 7, 90, 100, 900, 50)),
            SeenTask(1, {}, TaskSpan(1, 8, 90, 100, 20)),
            SeenTask(1, {("run",): (1, 0)}),
        ],
    )  # fmt: skip
    assert [(group.samples, group.spans) for group in found.groups] == [
        (1, [TaskSpan(1, 0, 90, 100, 900, 50)]),
        (0, [TaskSpan(1, 0, 90, 100, 20, 0)]),
        (1, []),
    ]


def test_the_times_of_too_many_tasks_are_not_kept() -> None:
    tasks = [
        SeenTask(1, {("run",): (1, 0)} if number % 2 else {}, TaskSpan(1, number, 0, number, 1))
        for number in range(MAX_TIMED_TASKS + 1)
    ]
    groups = Profile.of(0.1, ["0 on n1"], {}, tasks).groups
    assert not any(group.launched_ms for group in groups)
    assert sum(group.tasks for group in groups) == MAX_TIMED_TASKS // 2
