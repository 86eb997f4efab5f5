"""The commands that read a node's link and shape it."""

import json
from collections.abc import Callable

import pytest

from harness.base.errors import ClusterliftError
from harness.lab.cluster import Node
from harness.lab.links import commands_to_change, read_link, run_link_command, set_links
from harness.model.link import Link
from harness.settings.rate import limit_outgoing
from tests.unit.settings.test_settings import limited

MBIT = 10**6
NODE = Node("worker-1", "abc", "running")


def lines_to_change(before: Link, after: Link) -> list[str]:
    return [command.line for command in commands_to_change(before, after)]


class TestCommands:
    def test_another_limit_replaces_it_without_a_gap(self) -> None:
        lines = lines_to_change(Link(MBIT, 1500), Link(2 * MBIT, 9000))
        assert lines[0] == "ip link set dev eth0 mtu 9000"
        assert [line.split()[:3] for line in lines[1:]] == [["tc", "qdisc", "replace"]] * 2


Answers = Callable[[dict[str, str]], list[str]]


@pytest.fixture
def answers(monkeypatch: pytest.MonkeyPatch) -> Answers:
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
        return seen

    return install


class TestNodes:
    @pytest.mark.parametrize(
        ("queues", "link"),
        [
            (json.dumps([limited(250 * MBIT, 9000)]), Link(250 * MBIT, 9000)),
            ('[{"kind": "noqueue"}]', Link(None, 9000)),
        ],
    )
    def test_a_link_is_read_from_the_kernel(
        self, answers: Answers, queues: str, link: Link
    ) -> None:
        answers({"ip -j": '[{"mtu": 9000}]', "tc -j": queues})
        assert read_link(NODE) == link

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
        self, answers: Answers, command: str, message: str, module: str
    ) -> None:
        answers({"ip -j": '[{"mtu": 1500}]', "tc -j": "[]", command: f"!{message}"})
        with pytest.raises(ClusterliftError, match=f"worker-1: this kernel .* without {module}: "):
            set_links([NODE], lambda link: Link(MBIT, link.mtu))

    def test_another_error_is_reported_with_the_command(self, answers: Answers) -> None:
        answers({"tc": "!RTNETLINK answers: Operation not permitted"})
        with pytest.raises(ClusterliftError, match=r"worker-1: tc qdisc .* not permitted"):
            run_link_command(NODE, limit_outgoing("eth0", Link(MBIT, 1500)))
