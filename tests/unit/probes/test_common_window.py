"""The common window of flows: the seconds in which all ran, and what each of them carried in these."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.probes.common_window import common_window, timeline, window_of
from harness.probes.tools.iperf3 import Report, TransferInterval
from harness.probes.traffic import Transfer


def steady(start_s: float, seconds: int, bit_s: float) -> list[TransferInterval]:
    return [TransferInterval(start_s + i, start_s + i + 1, bit_s, 3) for i in range(seconds)]


class TestCommonWindow:
    @given(
        st.lists(
            st.tuples(st.floats(0, 3), st.integers(8, 12), st.floats(1, 1e9)),
            min_size=1,
            max_size=8,
        )
    )
    def test_has_the_sum_of_the_rates_of_steady_flows(
        self, flows: list[tuple[float, int, float]]
    ) -> None:
        window = common_window([steady(*flow) for flow in flows])
        assert window is not None
        assert window.bit_s == pytest.approx(sum(rate for _, _, rate in flows), rel=1e-6)
        assert window.start_s == max(start for start, _, _ in flows)
        assert window.end_s == pytest.approx(min(start + seconds for start, seconds, _ in flows))

    def test_leaves_out_what_was_sent_before_and_after(self) -> None:
        alone_first = [TransferInterval(0, 1, 1000), *steady(1, 2, 10)]
        window = common_window([alone_first, steady(1, 3, 20)])
        assert window is not None
        assert (window.bit_s, window.seconds) == (30, 2)

    def test_counts_an_interval_on_its_edge_in_proportion(self) -> None:
        window = common_window([[TransferInterval(0, 2, 100)], [TransferInterval(1.5, 3.5, 0)]])
        assert window is not None
        assert window.bit_s == pytest.approx(50)

    def test_counts_only_what_arrived(self) -> None:
        report = Report(90.0, 2, 0, None, None, tuple(steady(0, 2, 100)))
        first, second = timeline(Transfer(report, began_s=50))
        assert (first.start_s, second.end_s) == (50, 52)
        assert (first.bits, second.bits) == pytest.approx((90, 90))

    @pytest.mark.parametrize(
        "flows", [[], [[]], [steady(0, 2, 1), []], [steady(0, 2, 1), steady(2, 2, 1)]]
    )
    def test_is_none_if_the_flows_have_no_time_in_common(
        self, flows: list[list[TransferInterval]]
    ) -> None:
        assert common_window(flows) is None

    def test_counts_the_retransmits_within_it(self) -> None:
        window = common_window([steady(0, 4, 10), steady(1, 2, 20)])
        assert window is not None
        assert window.flows_bit_s == (10, 20)
        assert window.retransmits == 4 * 3

    def test_has_no_retransmits_if_a_flow_did_not_count_them(self) -> None:
        window = common_window([steady(0, 1, 10), [TransferInterval(0, 1, 10)]])
        assert window is not None
        assert window.retransmits is None

    @pytest.mark.parametrize(("apart_s", "together"), [(0, True), (5, True), (6, False)])
    def test_is_none_if_the_flows_hardly_ran_together(
        self, apart_s: int, *, together: bool
    ) -> None:
        report = Report(90.0, 10, 0, None, None, tuple(steady(0, 10, 100)))
        window = window_of([Transfer(report, 0), Transfer(report, apart_s)], seconds=10)
        assert (window is not None) is together
