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


def test_is_the_least_limit_of_the_root_queues_on_the_way() -> None:
    captured = output("link-bridge-6.1.txt")
    assert parse_link("a", "br0", captured).rate_bit_s is None  # classes of htb
    for bytes_s, mbit in ((12_500_000, 101.59), (125_000_000, 406.34)):
        root = json.dumps([{"kind": "tbf", "root": True, "options": {"rate": bytes_s}}])
        link = parse_link(
            "a", "br0", re.sub("== queue\n.*", f"== queue\n{root}", captured, count=1)
        )
        assert link.rate_bit_s == pytest.approx(mbit * MBIT, rel=1e-4)


@pytest.mark.parametrize("case", output("queues-typed.txt").split("\n\n"))
def test_of_a_queue_is_its_limit_or_unknown(case: str) -> None:
    heading, queues, *filters = case.splitlines()
    [kind, *_] = re.findall(r'"kind":"(\w+)"', queues)
    text = described("eth0", "igc", "2500", queue=kind)
    text = re.sub("== queue\n.*", f"== queue\n{queues}", text)
    text += "\n".join(["== filters", *filters, ""])
    link = parse_link("a", "eth0", text)
    rate = heading.split()[1]
    assert link.rate_bit_s == (None if rate == "?" else pytest.approx(float(rate) * MBIT))
    assert link.speed_mbit_s == 2500
