"""When the busiest link was full: calculated by hand, and with all that may be missing."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.analysis.explain.timeline import (
    BETWEEN_STAGES,
    BOTH_WAYS,
    DISK_FULL,
    FULL,
    FullTime,
    LinkUse,
    LinkWay,
    TrialLink,
    busiest_node,
    disk_uses,
    link_slices,
    link_uses,
    stage_of,
    trial_disks,
    trial_links,
    typical_trial,
)
from harness.analysis.network.measured import RECEIVES, SENDS
from harness.model.network_metrics import MESH_GOODPUT
from harness.model.run import Phase, Trial
from harness.model.timeline import NodeTimeline, Stage, Timeline
from tests.unit.builders import configured, failed, known, ok
from tests.unit.timeline_builders import a_node, a_timeline, a_trial, mbit

GOODPUT_BIT_S = 150e6
PROBES = [
    MESH_GOODPUT.of((f"n{a}", f"n{b}"), GOODPUT_BIT_S) for a, b in ((1, 2), (2, 1), (2, 3), (3, 2))
]
READS, SHUFFLES = Stage("reads data", 0.0, 3.0), Stage("reads shuffle", 3.0, 5.0)


def a_join() -> Timeline:
    """Return a trial of 6 s: n2 receives at full rate from 2 s to 4 s, and sends so from 3 s to 5 s."""
    return a_timeline(
        a_node("n1", mbit(20, 20, 20, 20, 20, 0), mbit(0, 0, 0, 0, 0, 0)),
        a_node("n2", mbit(0, 50, 150, 150, 100, 0), mbit(0, 0, 20, 140, 149, 10)),
        slices=6,
        stages=(READS, SHUFFLES),
    )


def links_of(*trials: Trial, **fields: Any) -> tuple[TrialLink, ...]:
    return trial_links(configured("1g", trials, **fields), PROBES)


def use_of(*trials: Trial) -> LinkUse:
    [use] = link_uses(links_of(*trials)).values()
    return use


class TestCalculatedByHand:
    LINK = links_of(a_trial("join", a_join()))[0]

    def test_the_busiest_node_is_the_one_that_received_or_sent_most(self) -> None:
        assert self.LINK.node.host == "n2"
        most_sent = a_node("n3", [0] * 6, mbit(100, 100, 100, 100, 100, 100))
        timeline = a_timeline(*a_join().nodes, most_sent, slices=6)
        assert known(busiest_node(timeline)).host == "n3"

    def test_a_link_is_full_above_a_part_of_its_goodput(self) -> None:
        """Of 150 Mbit/s, that is 105."""
        assert FULL == 0.7
        receives = LinkWay("n2", RECEIVES)
        sends = LinkWay("n2", SENDS)
        assert self.LINK.full == (set(), set(), {receives}, {receives, sends}, {sends}, set())

    def test_a_second_in_which_it_was_full_both_ways_counts_once(self) -> None:
        assert self.LINK.full_share == 0.5

    def test_the_use_of_a_workload(self) -> None:
        use = use_of(a_trial("join", a_join()))
        assert (use.busiest, use.full_s, use.full_share) == ("n2", 3.0, 0.5)
        assert use.typical.trial.round == 1
        assert use.direction == BOTH_WAYS
        assert use.stage == "2: reads shuffle"


STORES_AND_COMPUTES = (
    a_node("n1", mbit(0, 0, 0, 0), mbit(150, 150, 150, 150)),
    a_node("n2", mbit(150, 150, 150, 140), mbit(0, 0, 0, 0)),
)


class TestTheDirection:
    @pytest.mark.parametrize(
        ("nodes", "direction"),
        [
            (STORES_AND_COMPUTES, SENDS),
            (STORES_AND_COMPUTES[1:], RECEIVES),
            # One storage server, which two nodes read from in turns.
            (
                [
                    a_node("n1", mbit(0, 0, 0, 0), mbit(150, 150, 150, 0)),
                    a_node("n2", mbit(150, 150, 0, 0), mbit(0, 0, 0, 0)),
                    a_node("n3", mbit(0, 0, 150, 0), mbit(0, 0, 0, 0)),
                ],
                SENDS,
            ),
            ([a_node("n1", mbit(150, 150, 0, 0), mbit(0, 150, 0, 0))], BOTH_WAYS),
            ([a_node("n1", mbit(150, 150, 150, 0), mbit(0, 0, 150, 0))], RECEIVES),
            # The link that is full for longest decides.
            (
                [
                    a_node("n1", mbit(150, 0, 0, 0), mbit(150, 0, 0, 0)),
                    a_node("n2", mbit(0, 150, 150, 150), mbit(0, 0, 0, 0)),
                ],
                RECEIVES,
            ),
        ],
    )
    def test_is_that_of_one_link(self, nodes: Sequence[NodeTimeline], direction: str) -> None:
        assert use_of(a_trial("join", a_timeline(*nodes, slices=4))).direction == direction


class TestTheFullShareOfATrial:
    def share(self, *nodes: NodeTimeline) -> float | None:
        trial = a_trial("join", a_timeline(*nodes, slices=4))
        [link] = trial_links(configured("1g", [trial], facts={"link": "100mbit"}))
        return link.full_share

    def test_counts_the_link_of_whatever_node_is_full(self) -> None:
        one = a_node("n1", mbit(90, 10, 10, 10), [0] * 4)
        other = a_node("n2", mbit(10, 10, 10, 10), mbit(0, 90, 0, 0))
        assert self.share(one, other) == 0.5

    def test_of_a_node_whose_sampler_died_is_unknown_whatever_others_counted(self) -> None:
        half, idle = mbit(90, 90, None, None), a_node("n1", [0] * 4, [0] * 4)
        died = a_timeline(idle, a_node("n2", half, half), slices=4)
        assert trial_links(configured("1g", [a_trial("join", died)])) == ()
        assert self.share(idle, a_node("n3")) == 0.0

    @pytest.mark.parametrize(("executors", "share"), [(["n1"], 0.25), (["n1", "n2"], None)])
    def test_is_unknown_if_that_of_an_executors_link_is(
        self, executors: Sequence[str], share: float | None
    ) -> None:
        """The rate of n2 is unknown: its link may be full all the time."""
        up = {"state": "up", "mtu_bytes": 1500}
        nodes = {"n1": {"eth0": {**up, "speed_mbit_s": 100}}, "n2": {"eth0": up}}
        busy = mbit(90, 10, 10, 10)
        timeline = a_timeline(a_node("n1", busy, busy), a_node("n2", busy, busy), slices=4)
        environment = {"nodes": nodes, "executors": executors}
        run = configured("1g", [a_trial("join", timeline)], environment=environment)
        [link] = trial_links(run)
        assert link.full_share == share


class TestSlices:
    def test_belong_to_the_stage_that_takes_most_of_them(self) -> None:
        stages = (Stage("a", 0.0, 0.3), Stage("b", 0.3, 1.0), Stage("c", 1.4, 1.5))
        timeline = a_timeline(a_node("n1", [1, 1, 1]), slices=3, stages=stages)
        assert [stage_of(timeline, number) for number in range(3)] == [1, 2, None]

    @given(st.lists(st.none() | st.integers(0, 10**9), min_size=1, max_size=64))
    def test_cover_the_whole_trial_whatever_is_unknown(self, received: list[int | None]) -> None:
        timeline = a_timeline(a_node("n1", received), slices=len(received), interval_s=0.25)
        slices = link_slices(timeline, timeline.nodes[0])
        assert [part.received_bytes is None for part in slices] == [r is None for r in received]
        assert all(part.sent_bytes is None for part in slices)


class TestWorkloads:
    def test_have_means_of_the_trials_that_count(self) -> None:
        full = [
            a_timeline(a_node("n1", mbit(*[150] * n, *[0] * (6 - n)), [0] * 6), slices=6)
            for n in (1, 2, 6)
        ]
        trials = [a_trial("join", timeline, round_) for round_, timeline in enumerate(full, 1)]
        use = use_of(*trials)
        assert (use.full_s, use.full_share) == (3.0, 0.5)
        assert (use.direction, use.stage) == (RECEIVES, BETWEEN_STAGES)

    def test_leave_out_trials_that_do_not_count(self) -> None:
        idle = a_timeline(a_node("n1", [0] * 6, [0] * 6), slices=6)
        trials = [
            a_trial("join", a_join()),
            a_trial("join", idle, 2, disturbed="n1: it swapped"),
            replace(a_trial("join", idle, 3), phase=Phase.WARM_UP),
            failed("join", round_=4),
            ok("join", 6.0, 5),
        ]
        assert use_of(*trials).full_share == 0.5

    def test_several_executions_of_a_trial_are_one(self) -> None:
        assert use_of(a_trial("join", a_join(), executions=3)).full_s == 1.0

    def test_that_never_fill_a_link_have_neither_direction_nor_stage(self) -> None:
        idle = a_timeline(a_node("n1", mbit(1, 2), mbit(2, 1)), slices=2, stages=(READS,))
        use = use_of(a_trial("pi", idle))
        assert (use.full_s, use.full_share, use.direction, use.stage) == (0.0, 0.0, None, None)

    def test_are_drawn_by_the_trial_nearest_to_the_median_time(self) -> None:
        links = links_of(
            *(
                replace(a_trial("join", a_join(), round_), wall_s=wall_s)
                for round_, wall_s in enumerate((4.0, 6.5, 9.0, 6.4), 1)
            )
        )
        assert typical_trial(links).trial.round in {2, 4}


class TestMissing:
    """What is unknown is unknown, and never 0 seconds."""

    def test_trials_without_a_timeline_have_no_use(self) -> None:
        assert link_uses(links_of(ok("join", 6.0))) == {}

    @pytest.mark.parametrize(
        "nodes", [[], [a_node("n1")], [a_node("n1", [None, None], [None, None])]]
    )
    def test_nodes_without_samples_have_no_use(self, nodes: Sequence[NodeTimeline]) -> None:
        timeline = a_timeline(*nodes, slices=2)
        assert links_of(a_trial("join", timeline)) == ()

    def test_a_node_without_samples_leaves_the_others(self) -> None:
        timeline = a_timeline(a_node("n3"), *a_join().nodes, slices=6)
        assert links_of(a_trial("join", timeline))[0].node.host == "n2"

    def test_a_few_unknown_slices_do_no_harm(self) -> None:
        values = mbit(None, *[150] * 10, *[0] * 9)
        timeline = a_timeline(a_node("n1", values, values), slices=20)
        assert use_of(a_trial("join", timeline)).full_s == pytest.approx(10)

    def test_no_link_is_full_that_only_the_bridge_to_a_pod_carried(self) -> None:
        pods = {"n2": {"network": "pods", "node": "a"}}
        links = links_of(a_trial("join", a_join()), environment={"pods": pods})
        # The probes know n2, so what they measured counts; n9, which they do not know, is a bridge.
        assert links[0].full is not None
        nodes = [replace(node, host=node.host.replace("n2", "n9")) for node in a_join().nodes]
        timeline = a_timeline(*nodes, slices=6, stages=(READS, SHUFFLES))
        pods = {"n9": {"network": "pods"}}
        [link] = links_of(a_trial("join", timeline), environment={"pods": pods})
        assert (link.full, link.full_share) == (None, None)

    def test_without_a_known_goodput_the_seconds_are_unknown(self) -> None:
        links = trial_links(configured("1g", [a_trial("join", a_join())]))
        [use] = link_uses(links).values()
        assert (use.busiest, use.goodput) == ("n2", None)
        assert (use.full_s, use.full_share, use.direction, use.stage) == (None, None, None, None)
        assert links[0].full is None


def disk_use(timeline: Timeline) -> FullTime:
    [use] = disk_uses(trial_disks(configured("hdd", [a_trial("sort", timeline)]))).values()
    return use


class TestDisks:
    def test_a_disk_is_full_if_it_is_busy_for_more_than_nine_tenths_of_a_slice(self) -> None:
        assert DISK_FULL == 0.9
        busy = a_node("n1", disk_busy=[89, 90, 92, 100], busiest_disk="sda")
        use = disk_use(a_timeline(busy, slices=4))
        assert (use.full_share, use.full_s, use.busiest) == (0.5, 2.0, "n1: sda")

    def test_the_disk_of_whatever_node_is_full_counts_once(self) -> None:
        nodes = (
            a_node("n1", disk_busy=[100, 100, 0, 0, 0], busiest_disk="sda"),
            a_node("n2", disk_busy=[100, 100, 100, 0, 0], busiest_disk="nvme1n1"),
        )
        stages = (Stage("reads data", 0.0, 1.0), Stage("reads shuffle, writes data", 1.0, 5.0))
        use = disk_use(a_timeline(*nodes, slices=5, stages=stages))
        assert (use.full_share, use.busiest) == (0.6, "n2: nvme1n1")
        assert use.stage == "2: reads shuffle, writes data"

    def test_that_never_were_full_have_no_stage(self) -> None:
        use = disk_use(a_timeline(a_node("n1", disk_busy=[0, 70]), slices=2, stages=(READS,)))
        assert (use.full_s, use.full_share, use.stage, use.busiest) == (0.0, 0.0, None, "n1")

    @pytest.mark.parametrize(
        "nodes",
        [
            [a_node("n1", [1] * 4, [1] * 4)],
            [a_node("n1", disk_busy=[100, 100, None, None]), a_node("n2", disk_busy=[0] * 4)],
        ],
    )
    def test_of_which_too_little_is_known_have_no_use(self, nodes: Sequence[NodeTimeline]) -> None:
        """As an older version wrote them, or a sampler that died."""
        trial = a_trial("sort", a_timeline(*nodes, slices=4))
        assert trial_disks(configured("hdd", [trial])) == ()

    def test_are_known_where_links_are_not(self) -> None:
        trial = a_trial("sort", a_timeline(a_node("n1", disk_busy=[100]), slices=1))
        assert links_of(trial) == ()
        assert disk_use(known(trial.timeline)).full_share == 1.0
