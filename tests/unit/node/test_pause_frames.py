"""Pause frames are counted whatever a driver calls them, and none is counted twice."""

import pytest

from harness.node.pause_frames import pause_frames

COUNTERS = {
    "without a priority": ("rx_flow_control_pause: 5, tx_pause: 6", 11),
    "e1000e, igb, igc, ixgbe": (
        "tx_flow_control_xon: 1, tx_flow_control_xoff: 2, rx_flow_control_xon: 3, rx_flow_control_xoff: 4",
        10,
    ),
    "ixgbe, by priority": (
        "tx_flow_control_xon: 0, tx_pb_0_pxon: 1, tx_pb_0_pxoff: 2, rx_pb_7_pxon: 3, rx_pb_7_pxoff: 4",
        10,
    ),
    "i40e": (
        (
            "port.link_xon_rx: 1, port.link_xoff_rx: 2, port.link_xon_tx: 3, port.link_xoff_tx: 4, "
            "port.tx_priority_0_xon_2_xoff: 77, port.rx_priority_0_xon: 0"
        ),
        10,
    ),
    "ice": (
        "link_xon_rx.nic: 1, link_xoff_rx.nic: 2, tx_priority_3_xon.nic: 3, tx_priority_3_xoff.nic: 4",
        10,
    ),
    "mlx5, at the port and by kind": (
        (
            "rx_pause_ctrl_phy: 11, tx_pause_ctrl_phy: 13, rx_global_pause: 11, tx_global_pause: 13, "
            "rx_global_pause_duration: 99, tx_pause_storm_warning_events: 4"
        ),
        24,
    ),
    "mlx5, at the port and by priority": (
        (
            "rx_pause_ctrl_phy: 12, rx_prio0_pause: 0, rx_prio3_pause: 12, rx_prio3_pause_duration: 12345, "
            "rx_prio3_pause_transition: 6"
        ),
        12,
    ),
    "tg3": (
        "rx_xon_pause_rcvd: 1, rx_xoff_pause_rcvd: 2, rx_xoff_entered: 5, tx_xon_sent: 1, tx_xoff_sent: 3",
        7,
    ),
    "bnxt, in all and by priority": (
        (
            "rx_pause_frames: 1, rx_pfc_frames: 3, rx_pfc_ena_frames_pri0: 1, rx_pfc_ena_frames_pri1: 2, "
            "tx_pause_frames: 5, rx_pfc_xon2xoff_frames_pri0: 8, pfc_pri0_rx_duration_us: 900"
        ),
        9,
    ),
    "be2net": ("rx_pause_frames: 1, tx_pauseframes: 2, tx_priority_pauseframes: 4", 7),
    "hns3": ("mac_tx_mac_pause_num: 2, mac_rx_mac_pause_num: 3, mac_tx_pfc_pri0_pkt_num: 0", 5),
    "hns3, in all and by priority": (
        "mac_tx_pfc_pkt_num: 6, mac_tx_pfc_pri0_pkt_num: 2, mac_tx_pfc_pri1_pkt_num: 4",
        6,
    ),
    "cxgb4": ("tx_pause: 1, tx_ppp0: 2, tx_ppp1: 3", 6),
    "stmmac": ("mmc_tx_pause_frame: 1, mmc_rx_pause_frames: 2", 3),
    "sfc": ("port_rx_pause: 3, port_tx_pause: 4, port_tx_bad: 7", 7),
    "none": ("tx_pause: 0", 0),
    "no counter of them": ("rx_packets: 5, tx_one: 4, rx_only: 3", None),
    "a number that cannot be": (f"tx_pause: {'9' * 30}", None),
}


@pytest.mark.parametrize("card", COUNTERS)
def test_are_counted_once(card: str) -> None:
    counters, frames = COUNTERS[card]
    printed = "".join(f"     {line}\n" for line in counters.split(", "))
    assert pause_frames(f"NIC statistics:\n{printed}") == frames
