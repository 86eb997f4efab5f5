"""Rates, and the commands that shape a node's link."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from harness.lab import links
from harness.lab.cluster import Node
from harness.lab.links import (
    LinkCommand,
    commands_to_change,
    limit_rate,
    read_link,
    run_link_command,
    set_links,
)
from harness.model.errors import BadInput, ClusterliftError
from harness.model.link import Link, goodput_bit_s, parse_rate, rate_text, wire_bit_s

MBIT = 10**6
NODE = Node("worker-1", "abc", "running")


def line_of(command: LinkCommand) -> str:
    return " ".join(command.argv)


class TestRates:
    @pytest.mark.parametrize(
        ("text", "bit_s"),
        [("100mbit", 10**8), ("2.5gbit", 25 * 10**8), ("1000 kbit", 10**6), ("1Gbit/s", 10**9)],
    )
    def test_are_read_in_the_units_of_tc(self, text: str, bit_s: int) -> None:
        assert parse_rate("--rate", text) == bit_s

    @pytest.mark.parametrize("text", ["fast", "100", "-1mbit", "100mbps", "1kbit", "99gbit", ""])
    def test_an_invalid_rate_is_refused_with_the_option_s_name(self, text: str) -> None:
        with pytest.raises(BadInput, match="--uplink "):
            parse_rate("--uplink", text)

    @pytest.mark.parametrize("text", ["100mbit", "2.5gbit", "1gbit", "62.5mbit"])
    def test_are_written_as_they_are_read(self, text: str) -> None:
        assert rate_text(parse_rate("--rate", text)) == text

    def test_goodput_is_the_rate_without_headers(self) -> None:
        assert goodput_bit_s(1e9, 1500) == pytest.approx(941.5e6, rel=1e-3)
        assert goodput_bit_s(1e9, 9000) == pytest.approx(990.0e6, rel=1e-3)

    @pytest.mark.parametrize("mtu", [576, 1500, 9000])
    @pytest.mark.parametrize("rate", [10**6, 50 * MBIT, 250 * MBIT, 25 * 10**8, 40 * 10**9])
    def test_the_rate_on_the_wire_is_recovered_from_the_kernel_s_rate(
        self, rate: int, mtu: int
    ) -> None:
        counted = Link(rate, mtu).counted_bit_s
        assert counted is not None
        assert wire_bit_s(counted // 8 * 8, mtu) == rate


class TestCommands:
    def test_a_limit_accounts_for_frame_overhead_that_the_kernel_does_not_count(self) -> None:
        command = limit_rate("eth0", Link(100 * MBIT, 1500))
        assert line_of(command) == (
            "tc qdisc replace dev eth0 root tbf rate 98439532bit burst 131072b latency 5ms"
        )

    def test_the_burst_grows_with_the_rate(self) -> None:
        assert "burst 1230494b" in line_of(limit_rate("eth0", Link(10**10, 1500)))

    def test_a_first_limit_is_for_both_directions(self) -> None:
        change = commands_to_change(Link(None, 1500), Link(MBIT, 1500))
        lines = [line_of(command) for command in change]
        assert lines[:3] == [
            "tc qdisc del dev eth0 root",
            "tc qdisc del dev eth0 ingress",
            "ip link del ifb0",
        ]
        assert lines[3:7] == [
            "ip link add ifb0 type ifb",
            "ip link set dev ifb0 up",
            "tc qdisc add dev eth0 handle ffff: ingress",
            (
                "tc filter add dev eth0 parent ffff: protocol all u32 match u32 0 0 "
                "action mirred egress redirect dev ifb0"
            ),
        ]
        assert [line.split()[4] for line in lines[7:]] == ["ifb0", "eth0"]

    def test_another_limit_replaces_it_without_a_gap(self) -> None:
        change = commands_to_change(Link(MBIT, 1500), Link(2 * MBIT, 9000))
        lines = [line_of(command) for command in change]
        assert lines[0] == "ip link set dev eth0 mtu 9000"
        assert [line.split()[:3] for line in lines[1:]] == [["tc", "qdisc", "replace"]] * 2

    @pytest.mark.parametrize("before", [Link(MBIT, 1500), Link(None, 1500)])
    def test_without_a_limit_everything_is_removed_if_it_is_there(self, before: Link) -> None:
        commands = list(commands_to_change(before, Link(None, 1500)))
        assert [line_of(command).split()[2] for command in commands] == ["del", "del", "del"]
        assert all(command.may_fail for command in commands)


@pytest.fixture
def answers(monkeypatch: pytest.MonkeyPatch) -> Callable[[dict[str, str]], list[str]]:
    """Return a function that sets the nodes' answers to commands, by the start of the command.

    An answer that starts with `!` is a failure. The function returns the list of commands.
    """

    def install(by_start: dict[str, str]) -> list[str]:
        seen: list[str] = []

        def execute(_: Node, *command: str) -> str:
            line = " ".join(command)
            seen.append(line)
            answer = next((a for start, a in by_start.items() if line.startswith(start)), "")
            if answer.startswith("!"):
                raise ClusterliftError(f"docker exec failed: {answer[1:]}")
            return answer

        monkeypatch.setattr(Node, "execute", execute)
        monkeypatch.setattr(links, "max_mtu", lambda: 9000)
        return seen

    return install


TBF = {"kind": "tbf", "dev": "eth0", "options": {"rate": 98439532 // 8, "burst": 131072}}


class TestNodes:
    def test_a_link_is_read_from_the_kernel(
        self, answers: Callable[[dict[str, str]], list[str]]
    ) -> None:
        answers({"ip -j": '[{"mtu": 1500}]', "tc -j": json.dumps([TBF])})
        assert read_link(NODE) == Link(100 * MBIT, 1500)

    def test_a_link_without_a_limit_has_no_rate(
        self, answers: Callable[[dict[str, str]], list[str]]
    ) -> None:
        answers({"ip -j": '[{"mtu": 9000}]', "tc -j": '[{"kind": "noqueue"}]'})
        assert read_link(NODE) == Link(None, 9000)
        assert str(read_link(NODE)) == "unshaped, MTU 9000"

    @pytest.mark.parametrize(
        ("command", "message", "module"),
        [
            ("tc qdisc replace", "Error: Specified qdisc kind is unknown.", "sch_tbf"),
            ("ip link add", "Error: Unknown device type.", "ifb"),
            ("tc qdisc add", "Error: Specified qdisc kind is unknown.", "sch_ingress"),
            ("tc filter", "Error: TC classifier not found.", "cls_u32 and act_mirred"),
        ],
    )
    def test_a_missing_kernel_module_is_named(
        self,
        answers: Callable[[dict[str, str]], list[str]],
        command: str,
        message: str,
        module: str,
    ) -> None:
        answers({"ip -j": '[{"mtu": 1500}]', "tc -j": "[]", command: f"!{message}"})
        with pytest.raises(ClusterliftError, match=f"worker-1: this kernel .* without {module}: "):
            set_links([NODE], lambda link: Link(MBIT, link.mtu))

    def test_another_error_is_reported_with_the_command(
        self, answers: Callable[[dict[str, str]], list[str]]
    ) -> None:
        answers({"tc": "!RTNETLINK answers: Operation not permitted"})
        with pytest.raises(ClusterliftError, match=r"worker-1: tc qdisc .* not permitted"):
            run_link_command(NODE, limit_rate("eth0", Link(MBIT, 1500)))

    def test_an_mtu_that_the_network_does_not_carry_is_refused(
        self, answers: Callable[[dict[str, str]], list[str]], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        seen = answers({"ip -j": '[{"mtu": 1500}]', "tc -j": "[]"})
        monkeypatch.setattr(links, "max_mtu", lambda: 1500)
        with pytest.raises(BadInput, match=r"--mtu 9000: .* carries 576 to 1500"):
            set_links([NODE], lambda _: Link(None, 9000))
        assert all(" -j " in line for line in seen)
