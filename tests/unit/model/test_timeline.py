"""Series are packed into short texts; a timeline whose parts do not fit together cannot be made."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.model.timeline import NodeTimeline, Stage, Timeline, packed, unpacked

VALUES = st.lists(st.none() | st.integers(0, 10**15 - 1), min_size=1, max_size=80)


class TestSeries:
    @pytest.mark.parametrize(
        ("values", "text"),
        [
            ([0, 0, 0], "0"),
            ([63, 0, 10, 35, 61], "63 _0AZz"),
            ([941_250, 313_750, None], "941250 _L."),
            ([None, 0], "0 .0"),
            ([1], "1 _"),
        ],
    )
    def test_is_the_largest_number_and_a_character_for_each(
        self, values: list[int | None], text: str
    ) -> None:
        assert packed(values) == text

    @given(VALUES)
    def test_is_off_by_at_most_1_in_126_of_the_largest(self, values: list[int | None]) -> None:
        found = unpacked(packed(values), len(values))
        largest = max((value for value in values if value is not None), default=0)
        for value, read in zip(values, found, strict=True):
            if value is None:
                assert read is None
            else:
                assert read is not None
                assert abs(read - value) <= largest / 126 + 1

    @given(VALUES)
    def test_takes_a_character_a_slice_and_the_digits_of_the_largest(
        self, values: list[int | None]
    ) -> None:
        assert len(packed(values)) <= len(values) + 16

    @pytest.mark.parametrize(
        "text",
        ["", " ", "abc", "5", "5 ", "5 00", "5 0000", "5 00é", "5 0 0", "-5 000", "5.0 000", "0 00",
         "9" * 16 + " 000", "5 000\n", "\N{ARABIC-INDIC DIGIT FIVE} 000"],
    )  # fmt: skip
    def test_of_another_form_or_length_is_refused(self, text: str) -> None:
        with pytest.raises(ValueError, match="a series"):
            unpacked(text, 3)
        with pytest.raises(ValueError, match="sent_bytes"):
            Timeline.of(0.2, 3, (), [NodeTimeline("n1", 0.0, sent_bytes=text)])


class TestTimeline:
    def test_an_unknown_series_is_unknown_in_every_slice(self) -> None:
        assert Timeline(0.2, 3).series(None) == (None, None, None)

    @pytest.mark.parametrize(("start_s", "end_s"), [(2.0, 1.0), (-1.0, 1.0), (0.0, float("inf"))])
    def test_a_stage_has_a_start_before_its_end(self, start_s: float, end_s: float) -> None:
        with pytest.raises(ValueError, match=r"stage|start_s|end_s"):
            Stage("computes", start_s, end_s)

    @pytest.mark.parametrize("error_s", [-0.1, float("nan"), float("inf")])
    def test_a_clocks_error_is_finite_and_not_negative(self, error_s: float) -> None:
        with pytest.raises(ValueError, match="clock_error_s"):
            Timeline.of(0.2, 3, (), [NodeTimeline("n1", error_s)])

    def test_it_has_the_nodes_that_it_was_made_of(self) -> None:
        nodes = (
            NodeTimeline("n1", 0.0, "5 0_A", None, "98 zz_"),
            NodeTimeline("n2", 0.25, None, "0", None),
        )
        timeline = Timeline.of(0.2, 3, [Stage("computes", 0.0, 0.5)], nodes)
        assert timeline.nodes == nodes
        assert timeline.received_bytes == ("5 0_A", None)

    def test_of_a_version_that_did_not_record_disks_they_are_unknown(self) -> None:
        columns = dict.fromkeys(("received_bytes", "sent_bytes"), ("0",))
        [node] = Timeline(0.2, 3, (), ("n1",), (0.0,), **columns).nodes
        assert (node.sent_bytes, node.disk_busy_percent, node.busiest_disk) == ("0", None, None)

    def test_a_disk_may_have_any_name(self) -> None:
        nodes = (NodeTimeline("n1", 0.0, disk_busy_percent="98 zz_", busiest_disk="cciss/c0d0"),)
        assert Timeline.of(0.2, 3, (), nodes).nodes == nodes

    def test_every_host_has_an_item_in_every_column(self) -> None:
        with pytest.raises(ValueError, match="clock_error_s has 0 items for 1 hosts"):
            Timeline(0.2, 3, hosts=("n1",))
