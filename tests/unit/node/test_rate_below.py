"""The rate of interfaces that consist of others, and the limits of queueing disciplines."""

import json
import re
from collections.abc import Iterator

import pytest

from harness.node.interface import parse_link
from tests.unit.probe_builders import MBIT, output

CARDS = ("igb", "igc", "virtio_net")
RATE = {"rate": 12_500_000}
"""100 Mbit/s as the kernel counts them; on the wire, it is more."""
_, *INTERFACES = output("interfaces-typed.txt").strip().splitlines()[1:]


def described(
    device: str, kind: str, speed: str = "10000", state: str = "UP", queue: str = "noqueue"
) -> str:
    """Return what a host says of a device; without the driver of a card it is virtual."""
    row = {"ifname": device, "mtu": 1500, "operstate": state, "qdisc": queue}
    files = f"/sys/class/net/{device}/speed:{speed}\n"
    driver = f"../../bus/pci/drivers/{kind}" if kind in CARDS else ""
    if not driver:
        row["linkinfo"] = {} if kind == "None" else {"info_kind": kind}
        files += f"/sys/devices/virtual/net/{device}/mtu:1500"
    queues = json.dumps([{"kind": queue, "handle": "1:", "root": True, "options": RATE}])
    parts = {"device": json.dumps([row]), "queue": queues, "driver": driver, "files": files}
    return "".join(f"== {name}\n{text}\n\n" for name, text in parts.items())


def below(chains: list[str]) -> Iterator[str]:
    """Yield what the host says of the devices below `top`."""
    for number, chain in enumerate(chains):
        upper = "top"
        for each in chain.split("/"):
            device = f"{each.split(':')[0]}{number}"
            yield f"== below {upper} {device}\n"
            yield described(device, *each.split(":")) if each != "-" else ""
            upper = device


@pytest.mark.parametrize("line", INTERFACES)
def test_is_the_one_rate_of_the_cards_below(line: str) -> None:
    rate, kind, *chains = line.split()
    link = parse_link("a", "top", described("top", kind) + "".join(below(chains)))
    assert link.rate_bit_s == (None if rate == "?" else float(rate) * MBIT)


def test_is_bounded_by_each_queue_on_the_way() -> None:
    captured = output("link-bridge-6.1.txt")
    assert parse_link("a", "br0", captured).rate_bit_s == 101.59 * MBIT
    # Without the tbf in the class: its parent's rate, its ceiling, and the limit of the interface below.
    without = captured.replace('{"kind":"tbf","handle":"10:"', '{"kind":"pfifo","handle":"10:"')
    for root, own, mbit in ((150, 200, 152.38), (300, 200, 203.17), (900, 900, 406.34)):
        text = without.replace("root rate 300Mbit ceil 300", f"root rate {root}Mbit ceil {root}")
        link = parse_link("a", "br0", text.replace("ceil 200", f"ceil {own}"))
        assert link.rate_bit_s == pytest.approx(mbit * MBIT, rel=1e-4)


@pytest.mark.parametrize("case", output("queues-typed.txt").split("\n\n"))
def test_of_a_queue_is_its_limit_or_unknown(case: str) -> None:
    heading, queues, *others = case.splitlines()
    classes = "\n".join(line for line in others if line.startswith("class")) + "\n"
    filters = "\n".join(line for line in others if not line.startswith("class"))
    [kind, *_] = re.findall(r'"kind":"(\w+)"', queues)
    text = described("eth0", "igc", "2500", queue=kind)
    text = re.sub("== queue\n.*", f"== queue\n{queues}", text)
    link = parse_link("a", "eth0", f"{text}== classes\n{classes}\n== filters\n{filters}\n")
    rate = heading.split()[1]
    assert link.rate_bit_s == (None if rate == "?" else pytest.approx(float(rate) * MBIT))
    assert link.speed_mbit_s == 2500
    if "ingress" in queues:  # texts of before have no filters
        assert parse_link("a", "eth0", text).rate_bit_s is None
