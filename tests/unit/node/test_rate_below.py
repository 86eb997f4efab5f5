"""The rate of interfaces that consist of others, and the limits of queueing disciplines."""

import json
from collections.abc import Sequence
from typing import Any

import pytest

from harness.node.interface import parse_link
from tests.unit.probe_builders import MBIT, output

GBIT = 1000 * MBIT
TBF = {"kind": "tbf", "root": True, "handle": "1:", "options": {"rate": 12_500_000}}
LIMITED = 101.59 * MBIT
"""What 12,500,000 bytes/s of the kernel are on the wire at MTU 1500."""
HTB = {"kind": "htb", "root": True, "handle": "1:", "options": {"default": "0x10"}}


def described(
    device: str,
    *,
    kind: str | None = None,
    driver: str | None = None,
    speed: int = 10_000,
    state: str = "UP",
    queues: Sequence[object] = ({"kind": "noqueue", "root": True, "handle": "0:"},),
    **parts: str,
) -> str:
    """Return what a host says of a device; without a driver it is virtual."""
    row = {"ifname": device, "mtu": 1500, "operstate": state, "linkinfo": {"info_kind": kind}}
    files = f"/sys/class/net/{device}/speed:{speed}\n"
    parts |= {"device": json.dumps([row]), "queue": json.dumps(queues), "files": files}
    if driver:
        parts["driver"] = f"../../bus/pci/drivers/{driver}"
    else:
        parts["files"] += f"/sys/devices/virtual/net/{device}/mtu:1500"
    return "".join(f"== {name}\n{text}\n\n" for name, text in parts.items())


def below(upper: str, device: str, **fields: Any) -> str:
    return f"== below {upper} {device}\n{described(device, **fields)}"


CARD = below("top", "eth0", driver="igb", speed=1000)
FAST = below("top", "eth1", driver="igc", speed=2500)
VETH = below("top", "veth0", kind="veth")


ABOVE = ("bridge", "vlan", "macvlan", "macvtap", "ipvlan", "macsec", "vxlan", "team", "vrf")
ALONE = ("tun", "wireguard", "dummy", "ifb", "veth", "openvswitch", None)


@pytest.mark.parametrize(
    ("kind", "lower", "rate"),
    [
        *((kind, CARD, GBIT) for kind in ABOVE),
        *((kind, "", None) for kind in (*ABOVE, *ALONE)),
        ("bridge", VETH, None),
        ("bridge", CARD + VETH, GBIT),
        ("bridge", CARD + FAST, None),
        ("bridge", CARD + below("top", "eth1", driver="igc", speed=2500, state="DOWN"), GBIT),
        ("bridge", CARD + below("top", "eth1", driver="igc", speed=1000, state="UNKNOWN"), GBIT),
        ("bridge", CARD + "== below top eth1\n", None),  # more than were asked
        ("bridge", below("top", "eth0", driver="virtio_net"), None),
        (
            "bridge",
            below("top", "v", kind="vlan") + below("v", "c", driver="igb", speed=100),
            GBIT / 10,
        ),
        ("bridge", below("top", "eth0", driver="igb", queues=[TBF]) + VETH, LIMITED),
        ("bridge", CARD + below("top", "eth1", driver="igb", speed=1000, queues=[TBF]), None),
        ("macvlan", below("top", "veth0", kind="veth", queues=[TBF]), LIMITED),
        ("macvlan", below("top", "eth0", driver="igb", queues=[HTB]), None),
        ("bond", "", 10 * GBIT),
        ("bond", CARD + FAST, 10 * GBIT),
        ("bond", CARD + VETH, None),
        ("bond", CARD + below("top", "eth1", driver="igb", queues=[TBF]), None),
        ("team", CARD + FAST, None),
        ("team", CARD + below("top", "eth1", driver="igb", speed=1000), None),
        ("vlan", below("top", "bond0", kind="bond", speed=2000), 2 * GBIT),
        ("bridge", below("top", "top", kind="bridge") + below("x", "y"), None),
    ],
)
def test_is_the_one_rate_of_the_cards_below(kind: str, lower: str, rate: float | None) -> None:
    assert parse_link("a", "top", described("top", kind=kind) + lower).rate_bit_s == rate


def test_a_bridge_is_limited_by_each_queue_on_the_way() -> None:
    captured = output("link-bridge-6.1.txt")
    assert parse_link("a", "br0", captured).rate_bit_s == LIMITED
    # Without the tbf in the class: its parent's rate, its ceiling, and the limit of the interface below.
    without = captured.replace('{"kind":"tbf","handle":"10:"', '{"kind":"pfifo","handle":"10:"')
    for root, own, mbit in (
        ("150", "ceil 200", 150),
        ("300", "ceil 200", 200),
        ("900", "ceil 900", 400),
    ):
        text = without.replace(
            "root rate 300Mbit ceil 300", f"root rate {root}Mbit ceil {root}"
        ).replace("ceil 200", own)
        assert parse_link("a", "br0", text).rate_bit_s == pytest.approx(
            mbit * LIMITED / 100, rel=1e-4
        )


def queue(kind: str, parent: str = "", handle: str = "1:", **options: object) -> dict[str, object]:
    place = {"parent": parent} if parent else {"root": True}
    return {"kind": kind, "handle": handle, "options": options, **place}


RATE: dict[str, Any] = {"rate": 12_500_000}
MQ = [queue("mq", handle="0:")]
CLASS = "class htb 1:10 {} prio 0 rate {} ceil {} burst 1600b cburst 1600b \n"
ROOT = "class htb 1:1 root rate 40Mbit ceil 900Mbit burst 1600b cburst 1586b \n"


@pytest.mark.parametrize(
    ("queues", "mbit"),
    [
        ([queue("fq_codel", limit=1000)], 2500),
        ([*MQ, *(queue("fq", f":{band}", "0:") for band in (1, 2))], 2500),
        ([*MQ, queue("tbf", ":1", "2:", **RATE), queue("fq", ":2", "0:")], None),
        ([queue("prio"), queue("tbf", "1:3", "2:", **RATE)], None),
        ([queue("mqprio", shaper="dcb")], 2500),
        ([queue("netem", delay={"delay": 0.01}), queue("tbf", "1:1", "2:", **RATE)], 101.59),
        ([queue("netem", delay={"delay": 0.01})], 2500),
        ([queue("netem", rate={**RATE, "packetoverhead": 0})], 101.59),
        ([queue("netem", rate={**RATE, "packetoverhead": 24})], None),
        ([queue("tbf", **RATE), queue("netem", "1:1", "2:", rate={"rate": 1_250_000})], 10.159),
        ([queue("tbf", **RATE), queue("netem", "1:1", "1:"), queue("tbf", "1:1", "1:")], None),
        ([queue("tbf", rate="100Mbit")], None),
        ([queue("tbf", **RATE, overhead=24)], None),
        ([queue("cake", bandwidth=12_500_000, raw="raw", overhead=0)], 101.59),
        ([queue("cake", bandwidth="unlimited", atm="noatm", overhead=0)], 2500),
        ([queue("fq", maxrate=12_500_000)], None),
        ([queue("htb", default="0x10")], None),
        *(([queue(kind)], None) for kind in ("hfsc", "cbq", "taprio", "a_later_one")),
        ([queue("pfifo_fast", handle="0:"), queue("ingress", "ffff:fff1", "ffff:")], 2500),
    ],
)
def test_of_a_queue_is_its_limit_or_unknown(queues: list[object], mbit: float | None) -> None:
    link = parse_link("a", "eth0", described("eth0", driver="igc", speed=2500, queues=queues))
    assert link.rate_bit_s == (mbit and pytest.approx(mbit * MBIT))
    assert link.speed_mbit_s == 2500


@pytest.mark.parametrize(
    ("classes", "filters", "mbit"),
    [
        (CLASS.format("root", "20Mbit", "80Mbit"), "", 20),  # nothing to borrow from
        (ROOT + CLASS.format("parent 1:1", "20Mbit", "80Mbit"), "", 40),
        (ROOT + CLASS.format("parent 1:1", "60Mbit", "80Mbit"), "", 60),
        (ROOT + CLASS.format("parent 1:1 leaf 10:", "20Mbit", "30500Kbit"), "", 30.5),
        (ROOT, "", None),  # packets without a class pass at once
        (ROOT + CLASS.format("parent 1:9", "20Mbit", "80Mbit"), "", None),
        (CLASS.format("parent 1:10", "20Mbit", "80Mbit"), "", None),
        (CLASS.format("root", "20Mbit overhead 24", "80Mbit"), "", None),
        (CLASS.format("root", "20Mbit", "80Mbit"), "filter parent 1: protocol ip pref 1 u32", None),
    ],
)
def test_of_classes_is_what_the_default_class_gets(
    classes: str, filters: str, mbit: float | None
) -> None:
    text = described("eth0", driver="igc", queues=[HTB], classes=classes, filters=filters)
    rate = parse_link("a", "eth0", text).rate_bit_s
    assert rate == (mbit and pytest.approx(mbit * LIMITED / 100, rel=1e-4))


def test_without_json_of_tc_the_kind_of_the_queue_counts() -> None:
    text = described("eth0", driver="igc").replace('"mtu"', '"qdisc": "htb", "mtu"')
    _, _, rest = text.partition("== queue")
    assert (
        parse_link("a", "eth0", text.replace(rest.split("\n")[1], "qdisc htb 1: root")).rate_bit_s
        is None
    )
