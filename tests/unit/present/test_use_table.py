"""Tables of for how long links and disks were full."""

from harness.analysis.explain.timeline import (
    DiskUse,
    LinkUse,
    disk_uses,
    link_uses,
    trial_disks,
    trial_links,
)
from harness.model.network_metrics import MESH_GOODPUT
from harness.model.probe import Measurement
from harness.model.timeline import Stage, Timeline
from harness.present import text
from harness.present.use_table import disk_table, link_table
from tests.unit.builders import configured
from tests.unit.timeline_builders import a_node, a_timeline, a_trial, mbit

PROBES = [MESH_GOODPUT.of((a, b), 100e6) for a, b in (("n1", "n2"), ("n2", "n1"))]


def a_course(*received: float | None, host: str = "n1") -> Timeline:
    """Return a trial with a second at each rate in Mbit/s; the link sends at 1 Mbit/s."""
    sent = [None if rate is None else 1 for rate in received]
    return a_timeline(a_node(host, mbit(*received), mbit(*sent)), slices=len(received))


def uses_of(timeline: Timeline, *, probes: list[Measurement] = PROBES) -> dict[str, LinkUse]:
    return link_uses(trial_links(configured("1g", [a_trial("join", timeline)]), probes))


class TestSection:
    def test_without_timelines_is_nothing(self) -> None:
        assert not list(link_table(["1g", "2.5g"], [{}, {}]))

    def test_names_of_any_kind_fit_the_terminal(self) -> None:
        name = "\x1b[31m" + "a-name-of-very-many-characters" * 9
        uses = [uses_of(a_course(100, 0, host=name))] * 2
        section = text.render(link_table([name, name], uses))
        assert all(len(line) <= 100 for line in section.splitlines())
        assert "\x1b" not in section

    def test_that_one_link_may_carry_anything_is_said_beside_what_the_others_carry(self) -> None:
        up = {"state": "up", "mtu_bytes": 1500}
        environment = {
            "nodes": {"n1": {"eth0": {**up, "speed_mbit_s": 100}}, "n2": {"eth0": up}},
            "executors": ["n1", "n2"],
        }
        timeline = a_timeline(a_node("n1", [9], [9]), a_node("n2", [1], [1]), slices=1)
        column = configured("1g", [a_trial("join", timeline)], environment=environment)
        uses = link_uses(trial_links(column))
        section = " ".join(text.render(link_table(["1g", "2.5g"], [uses, {}])).split())
        carried = (
            "(in theory, at 100mbit). How much some node's link carries is unknown; measure it with"
        )
        assert carried in section


class TestDisks:
    def uses_of(self, **busy: list[int | None]) -> dict[str, DiskUse]:
        """Return the uses of workloads whose disk was so busy, in percent, in each second."""
        stages = [Stage("reads data", 0.0, 2.0)]
        trials = [
            a_trial(workload, a_timeline(node, slices=len(percent), stages=stages))
            for workload, percent in busy.items()
            for node in [a_node("n1", disk_busy=percent, busiest_disk="sdb")]
        ]
        return disk_uses(trial_disks(configured("hdd", trials)))

    def test_if_none_was_full_that_is_said_and_if_nothing_is_known_nothing(self) -> None:
        sort = self.uses_of(sort=[80, 0])
        section = text.render(disk_table([sort, sort]))
        assert section.startswith("No disk was full. Disk full is for how long")
        assert not list(disk_table([{}, {}]))

    def test_of_a_side_of_which_nothing_is_known_nothing_is_claimed(self) -> None:
        sort = self.uses_of(sort=[80, 0])
        section = text.render(disk_table([sort, {}]))
        assert section.startswith("No disk was full; nothing is known of sort after. Disk full")
        section = text.render(disk_table([sort, self.uses_of(join=[0, 0])]))
        first = "No disk was full; nothing is known of join before, and of sort after."
        assert section.startswith(first)

    def test_executors_nodes_of_whose_disks_nothing_is_known_are_named(self) -> None:
        for busy in ([0, 0], [100, 0]):
            nodes = [a_node("n1", disk_busy=busy), a_node("n2"), a_node("n3"), a_node("driver")]
            trial = a_trial("sort", a_timeline(*nodes, slices=2))
            hosts = {"executors": ["n1", "n2", "n3"]}
            uses = disk_uses(trial_disks(configured("hdd", [trial], environment=hosts)))
            section = " ".join(text.render(disk_table([{}, uses])).split())
            assert section.endswith("Nothing is known of the disks of n2, n3.")
