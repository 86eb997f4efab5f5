"""What a card carries, by its signals, by what it is plugged into, and by who made the machine."""

import json

import pytest

from harness.model.interface import HostLink
from harness.node.interface import parse_link
from harness.probes.link import link_findings
from tests.unit.probe_builders import probed

REAL, VIRTUAL = "Dell Inc.\nPowerEdge R650", "hypervisor"
MODE = {
    "802.3ad": "IEEE 802.3ad Dynamic link aggregation",
    "active-backup": "fault-tolerance (active-backup)",
    "broadcast": "fault-tolerance (broadcast)",
    "round-robin": "load balancing (round-robin)",
    "xor": "load balancing (xor)",
    "tlb": "transmit load balancing",
    "alb": "adaptive load balancing",
}


def described(
    device: str,
    driver: str,
    speed: int,
    *,
    place: str = "",
    link_type: str = "ether",
    infiniband: str = "",
    bond: str = "",
    mtu: int = 1500,
    **files: object,
) -> str:
    """Return what a host says of one device; `driver` is `bus/name`, or the kind of a virtual device."""
    bus, slash, name = driver.partition("/")
    row: dict[str, object] = {
        "ifname": device,
        "mtu": mtu,
        "operstate": "UP",
        "link_type": link_type,
        **({} if slash else {"linkinfo": {"info_kind": driver}}),
    }
    at = f"/sys/class/net/{device}"
    values = {"speed": speed, "duplex": "full"}
    values |= {key.replace("__", "/").replace("up/", "../"): value for key, value in files.items()}
    parts = {
        "device": json.dumps([row]),
        "driver": f"../../bus/{bus}/drivers/{name}" if slash else "",
        "place": place,
        "infiniband": infiniband,
        "bond": bond,
        "files": "\n".join(f"{at}/{name}:{value}" for name, value in values.items()),
    }
    return "".join(f"== {name}\n{text}\n\n" for name, text in parts.items())


def usb(speed: int, port: int | None, device: str = "eth1", driver: str = "r8152") -> str:
    place = "/sys/devices/pci0000:00/0000:00:14.0/usb1/1-4/1-4:1.0"
    if port is None:
        return described(device, f"usb/{driver}", speed, place=place)
    return described(device, f"usb/{driver}", speed, place=place, device__up__speed=port)


def pci(driver: str, speed: int, gigatransfers: str, lanes: object, device: str = "eth1") -> str:
    return described(
        device,
        f"pci/{driver}",
        speed,
        place="/sys/devices/pci0000:00/0000:00:1c.0/0000:03:00.0",
        device__current_link_speed=gigatransfers,
        device__current_link_width=lanes,
    )


def infiniband(speed: int, name: str, mtu: int = 65520) -> str:
    return described(
        "eth1", "pci/mlx4_core", speed, link_type="infiniband", infiniband=name, mtu=mtu
    )


def parsed(text: str, maker: str = REAL, device: str = "eth1") -> HostLink:
    own, below, lower = text.partition("== below ")
    return parse_link("a", device, f"{own}== maker\n{maker}\n\n{below}{lower}")


def faults(link: HostLink) -> list[str]:
    return [str(finding) for finding in link_findings(probed([link]))]


@pytest.mark.parametrize(
    ("text", "mbit_s"),
    [
        (infiniband(2500, ""), 2000),
        (infiniband(10000, "10 Gb/sec (4X SDR)"), 8000),
        (infiniband(20000, "20 Gb/sec (4X DDR)"), 16000),
        (infiniband(40000, "40 Gb/sec (4X QDR)"), 32000),
        (infiniband(40000, ""), 32000),
        (infiniband(40000, "", mtu=2044), 32000),
        (infiniband(40000, "40 Gb/sec (4X FDR10)"), 40000),
        (infiniband(120000, "120 Gb/sec (12X QDR)"), 96000),
        (infiniband(14000, "14 Gb/sec (1X FDR)"), 13636),
        (infiniband(56000, "56 Gb/sec (4X FDR)"), 54545),
        (infiniband(100000, "100 Gb/sec (4X EDR)"), 100000),
        (infiniband(200000, "200 Gb/sec (4X HDR)"), 200000),
        (infiniband(400000, "400 Gb/sec (4X NDR)"), 400000),
        # The same card as Ethernet, whose speed is that of bytes; its RDMA device says QDR all the same.
        (described("eth1", "pci/mlx4_core", 40000, infiniband="40 Gb/sec (4X QDR)"), 40000),
    ],
)
def test_a_port_of_infiniband_carries_what_the_encoding_of_its_signals_leaves(
    text: str, mbit_s: int
) -> None:
    link = parsed(text)
    assert link.rate_bit_s == mbit_s * 10**6
    assert faults(link) == []


USB_2 = "a eth1: its card is in USB port 1-4, which carries 480mbit, less than the card: use a faster port"


@pytest.mark.parametrize(
    ("text", "mbit_s", "fault"),
    [
        (usb(2500, 480), 480, USB_2),
        (usb(5000, 480), 480, USB_2),
        (usb(1000, 480), 480, USB_2),
        (usb(100, 12, driver="asix"), 12, USB_2.replace("480", "12")),
        (usb(100, 480), 100, ""),
        (usb(2500, 5000), 2500, ""),
        # USB 3 encodes its 5 Gbit/s by 8b/10b. A card that is made for such a port is no fault.
        (usb(5000, 5000), 4000, ""),
        (usb(10000, 5000), 4000, USB_2.replace("480mbit", "4gbit")),
        (usb(5000, 10000), 5000, ""),
        (usb(2500, None), None, ""),
        (pci("ixgbe", 10000, "2.5 GT/s PCIe", 1), 2000, "0000:03:00.0 (2.5 GT/s x1)"),
        (pci("ixgbe", 10000, "5 GT/s", 1), 4000, "0000:03:00.0 (5 GT/s x1)"),
        (pci("ixgbe", 10000, "2.5 GT/s PCIe", 4), 8000, "0000:03:00.0 (2.5 GT/s x4)"),
        (pci("ixgbe", 10000, "5.0 GT/s PCIe", 4), 10000, ""),
        (pci("mlx5_core", 100000, "8.0 GT/s PCIe", 8), 63015, "0000:03:00.0 (8.0 GT/s x8)"),
        (pci("mlx5_core", 100000, "16.0 GT/s PCIe", 8), 100000, ""),
        (pci("ixgbe", 10000, "Unknown", 255), 10000, ""),
        (pci("ixgbe", 10000, "2.5 GT/s PCIe", 0), 10000, ""),
        (described("eth1", "platform/dwmac", 1000), 1000, ""),
    ],
)
def test_a_card_carries_no_more_than_what_it_is_plugged_into(
    text: str, mbit_s: int | None, fault: str
) -> None:
    link = parsed(text)
    assert link.rate_bit_s == (None if mbit_s is None else mbit_s * 10**6)
    found = faults(link)
    assert len(found) == bool(fault)
    assert all(fault in each for each in found)


@pytest.mark.parametrize(
    ("driver", "maker", "is_known"),
    [
        *((driver, VIRTUAL, False) for driver in ("e1000", "e1000e", "igb", "8139cp", "pcnet32")),
        *((driver, REAL, True) for driver in ("e1000", "e1000e", "igb")),
        *(
            ("igb", maker, False)
            for maker in ("QEMU\nStandard PC", "innotek GmbH\nVirtualBox", "xen")
        ),
        ("e1000e", "VMware, Inc.\nVMware7,1", False),
        ("e1000", "Microsoft Corporation\nVirtual Machine", False),
        # Cards that the hypervisor hands to its guest have the speed of the real port.
        *((driver, VIRTUAL, True) for driver in ("ixgbevf", "iavf", "igbvf", "mlx5_core", "ixgbe")),
        *((driver, VIRTUAL, False) for driver in ("vmxnet3", "virtio_net", "ena", "gve", "vif")),
        *((driver, REAL, False) for driver in ("virtio_net", "hv_netvsc")),
    ],
)
def test_an_emulated_card_has_no_rate(driver: str, maker: str, *, is_known: bool) -> None:
    card = described("eth1", f"pci/{driver}", 1000)
    assert (parsed(card, maker).rate_bit_s is not None) == is_known
    bridge = f"{described('br0', 'bridge', 1000)}== below br0 eth1\n{card}"
    assert (parsed(bridge, maker, "br0").rate_bit_s is not None) == is_known


@pytest.mark.parametrize("driver", ["e1000", "8139cp", "pcnet32"])
def test_a_card_that_all_hypervisors_emulate_has_no_rate_if_the_machine_is_unknown(
    driver: str,
) -> None:
    link = parse_link("a", "eth1", described("eth1", f"pci/{driver}", 1000))
    assert link.rate_bit_s is None
    assert link.why_unknown == f"its card is emulated (driver {driver}), and its speed is made up"
    assert HostLink("a", "eth1", 1000, driver=driver, bus="pci").rate_bit_s is None


def test_slots_that_a_hypervisor_invents_are_no_limit() -> None:
    link = parsed(pci("mlx5_core", 25000, "2.5 GT/s PCIe", 1), VIRTUAL)
    assert link.rate_bit_s == 25 * 10**9
    assert faults(link) == []


def bond_of(mode: str, active: str, *speeds: int) -> str:
    """Return what /proc/net/bonding says of members called eth1, eth2, ..."""
    lines = [f"Bonding Mode: {MODE[mode]}", "MII Status: up"]
    lines += [f"Currently Active Slave: {active}"] if active else []
    for number, speed in enumerate(speeds, 1):
        lines += ["", f"Slave Interface: eth{number}", "MII Status: up", f"Speed: {speed} Mbps"]
        lines += ["Duplex: full"]
    return "\n".join(lines)


@pytest.mark.parametrize(
    ("mode", "cards", "kernel", "mbit_s", "one"),
    [
        ("802.3ad", [(1000, 5000), (1000, 5000)], 2000, 2000, 1000),
        ("802.3ad", [(2500, 5000), (2500, 480)], 5000, 2980, 480),
        ("active-backup", [(2500, 480), (2500, 5000)], 2500, 480, None),
        ("active-backup", [(2500, 5000), (2500, 480)], 2500, 2500, None),
        ("active-backup", [(2500, 5000), (2500, None)], 2500, 2500, None),
        ("broadcast", [(2500, 5000), (2500, 480)], 2500, 480, None),
        ("round-robin", [(1000, 5000), (1000, 5000)], 2000, 2000, None),
        *((mode, [(1000, 5000), (1000, 5000)], 2000, 2000, 1000) for mode in ("xor", "tlb", "alb")),
        ("802.3ad", [(1000, 5000), (1000, None)], 2000, None, None),
    ],
)
def test_a_bond_carries_what_the_ports_of_its_members_do(
    mode: str,
    cards: list[tuple[int, int | None]],
    kernel: int,
    mbit_s: int | None,
    one: int | None,
) -> None:
    active = "eth1" if mode == "active-backup" else ""
    described_bond = bond_of(mode, active, *(speed for speed, _ in cards))
    text = described("bond0", "bond", kernel, bond=described_bond)
    for number, (speed, port) in enumerate(cards, 1):
        text += f"== below bond0 eth{number}\n{usb(speed, port, f'eth{number}')}"
    link = parsed(text, REAL, "bond0")
    assert link.rate_bit_s == (mbit_s and mbit_s * 10**6)
    assert link.connections_bit_s(1) == (one and one * 10**6)
    slow = [number for number, (speed, port) in enumerate(cards, 1) if port and port < speed]
    assert [each.device for each in link.slow_ports] == [f"eth{number}" for number in slow]


@pytest.mark.parametrize("kind", ["team", "openvswitch"])
def test_a_connection_over_a_team_or_open_vswitch_is_expected_to_take_one_member(
    kind: str,
) -> None:
    text = described("top", kind, 2000)
    for number, speed in enumerate((1000, 2500), 1):
        text += f"== below top eth{number}\n{usb(speed, 5000, f'eth{number}')}"
    link = parsed(text, REAL, "top")
    assert link.rate_bit_s is None
    assert link.connections_bit_s(1) == 10**9
    assert faults(link) == []
