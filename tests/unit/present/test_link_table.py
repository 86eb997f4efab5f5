"""The busiest link over time as text, and the table of for how long it was full."""

import pytest

from harness.analysis.explain.timeline import LinkUse, link_uses, trial_links
from harness.model.network_metrics import MESH_GOODPUT
from harness.model.probe import Measurement
from harness.model.timeline import Timeline
from harness.present.link_table import link_section, sparkline
from tests.unit.builders import configured
from tests.unit.timeline_builders import a_node, a_timeline, a_trial, mbit

PROBES = [MESH_GOODPUT.of((a, b), 100e6) for a, b in (("n1", "n2"), ("n2", "n1"))]


def a_course(*received: float | None, host: str = "n1") -> Timeline:
    """Return a trial with a second at each rate in Mbit/s; the link sends at 1 Mbit/s."""
    sent = [None if rate is None else 1 for rate in received]
    return a_timeline(a_node(host, mbit(*received), mbit(*sent)), slices=len(received))


def uses_of(timeline: Timeline, *, probes: list[Measurement] = PROBES) -> dict[str, LinkUse]:
    return link_uses(trial_links(configured("1g", [a_trial("join", timeline)]), probes))


class TestCourse:
    RATES = (0, 16, 49, 69, 71, 100, 100, 4)

    @pytest.mark.parametrize(
        ("width", "drawn"), [(8, " ▂▅▇███ "), (4, "▂▇██"), (1, "█"), (16, "  ▂▂▅▅▇▇██████  ")]
    )
    def test_shows_the_highest_rate_of_each_part(self, width: int, drawn: str) -> None:
        [use] = uses_of(a_course(*self.RATES)).values()
        assert sparkline(use.typical, width) == drawn

    def test_shows_what_is_unknown(self) -> None:
        [use] = uses_of(a_course(*[100.0] * 19, None)).values()
        assert sparkline(use.typical, 20) == "█" * 19 + "·"

    def test_of_a_shorter_trial_is_shorter(self) -> None:
        section = link_section(
            ["1g", "2.5g"], [uses_of(a_course(*[100.0] * 20)), uses_of(a_course(*[100.0] * 5))]
        )
        courses = [line.count("█") for line in section.splitlines() if line.endswith(" s")]
        assert courses == [56, 14]


class TestSection:
    def test_without_timelines_is_nothing(self) -> None:
        assert link_section(["1g", "2.5g"], [{}, {}]) == ""

    def test_has_a_line_for_a_side_without_timelines(self) -> None:
        section = link_section(["1g", "2.5g"], [{}, uses_of(a_course(100, 0))])
        before, after = [line.split() for line in section.splitlines()[5:7]]
        assert before == ["join", "before", "-", "-", "-", "-", "-"]
        assert after == ["after", "n1", "between", "stages", "1.00", "s", "50%", "receives"]

    def test_without_a_goodput_has_no_seconds_and_no_course(self) -> None:
        section = link_section(["1g", "2.5g"], [uses_of(a_course(100, 0), probes=[])] * 2)
        assert "█" not in section
        assert "0.00 s" not in section
        assert "What links carry in 1g is unknown; measure it with: clusterlift probe" in " ".join(
            section.split()
        )

    def test_names_of_any_kind_fit_the_terminal(self) -> None:
        name = "\x1b[31m" + "a-name-of-very-many-characters" * 9
        section = link_section([name, name], [uses_of(a_course(100, 0, host=name))] * 2)
        assert all(len(line) <= 100 for line in section.splitlines())
        assert "\x1b" not in section
