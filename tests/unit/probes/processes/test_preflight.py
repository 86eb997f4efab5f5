"""Preflight: hosts without the programs or without a known address are excluded, with what to do."""

import json
from collections import Counter
from collections.abc import Iterable, Sequence

import pytest

from harness.hosts import remote_process
from harness.hosts.preflight import preflight
from harness.hosts.remote_process import CompletedCommand
from harness.hosts.transports.host import Host, by_local

from .conftest import Programs

HERE = by_local("here", "127.0.0.1")
TWO_ADDRESSES = '[{"addr_info":[{"local":"10.0.0.1"}]},{"addr_info":[{"local":"10.1.0.1"}]}]'


class TestProgramsCheck:
    def test_a_host_without_a_program_is_excluded(self) -> None:
        checked = preflight([HERE], ["sh", "frobnicate", "ping6-no"])
        assert checked.hosts == ()
        assert str(checked.excluded_hosts["here"]) == (
            "here: frobnicate, ping6-no not installed (Debian: apt-get install frobnicate ping6-no)"
        )

    def test_a_host_with_all_programs_and_an_address_is_unchanged(self) -> None:
        assert preflight([HERE], ["sh"]).hosts == (HERE,)


def addresses(*found: str, scope: str = "global") -> str:
    """Return what `ip -j address` prints of interfaces with these addresses."""
    return json.dumps([{"addr_info": [{"local": each, "scope": scope}]} for each in found])


class TestAddress:
    def test_is_the_own_one_that_another_host_finds_under_the_name(
        self, programs: Programs
    ) -> None:
        own = addresses("10.1.0.1", "10.0.0.1", "10.0.0.2")
        programs(getent='echo "10.0.0.${2#node}       STREAM $2"', ip=f"echo '{own}'")
        checked = preflight([by_local("node1"), by_local("root@node2")], ["sh"])
        assert [host.address for host in checked.hosts] == ["10.0.0.1", "10.0.0.2"]

    def test_is_asked_of_each_host_once_however_many_they_are(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        asked = Counter[str]()

        def run_all(
            commands: Iterable[tuple[Host, Sequence[str]]], _timeout_s: float
        ) -> list[CompletedCommand]:
            endings = []
            for host, (program, *words) in commands:
                asked.update([str(host)] if program == "getent" else [])
                own = f"10.0.0.{str(host).removeprefix('node')}"
                other = f"10.0.0.{words[-1].removeprefix('node')}"
                printed = {"getent": f"{other} STREAM", "ip": addresses(own)}
                endings.append(CompletedCommand(0, printed.get(program, ""), ""))
            return endings

        monkeypatch.setattr(remote_process, "run_all", run_all)
        hosts = [by_local(f"node{number}") for number in range(64)]
        assert len(preflight(hosts, ["sh"]).hosts) == 64
        assert set(asked.values()) == {1}

    @pytest.mark.parametrize("lookup", ["exit 2", "echo '127.0.1.1       STREAM nosuch'"])
    def test_is_asked_for_if_no_host_finds_one_that_is_no_loopback(
        self, programs: Programs, lookup: str
    ) -> None:
        programs(getent=lookup, ip=f"echo '{TWO_ADDRESSES}'")
        checked = preflight([by_local("nosuch"), HERE], ["sh"])
        assert checked.hosts == (HERE,)
        assert str(checked.excluded_hosts["nosuch"]) == (
            "nosuch: at which address do other hosts reach it? "
            "It has 10.0.0.1, 10.1.0.1: write nosuch=ADDRESS"
        )

    @pytest.mark.parametrize(
        "lookup",
        [
            *("garbage", " ", "-x STREAM", "fe80::1%;id STREAM", "1.2.3"),
            "203.0.113.80 STREAM node1.example.org",
        ],
    )
    def test_is_the_only_one_if_the_name_leads_to_none_or_to_another_machine(
        self, programs: Programs, lookup: str
    ) -> None:
        programs(getent=f"echo '{lookup}'", ip=f"echo '{addresses('10.0.0.1')}'")
        assert [host.address for host in preflight([by_local("node1")], ["sh"]).hosts] == [
            "10.0.0.1"
        ]

    @pytest.mark.parametrize(
        ("own", "expected"),
        [
            (addresses("10.0.0.1"), ["10.0.0.1"]),
            (addresses("203.0.113.80"), ["203.0.113.80"]),
            (TWO_ADDRESSES, "It has 10.0.0.1, 10.1.0.1: write 203.0.113.80=ADDRESS"),
            ("[]", "It has none: write 203.0.113.80=ADDRESS"),
            (addresses("10.0.0.1", scope="link"), "It has none: write 203.0.113.80=ADDRESS"),
            ("no JSON", ["203.0.113.80"]),
        ],
    )
    def test_by_which_ssh_reaches_a_router_in_front_of_the_host_is_not_measured(
        self, programs: Programs, own: str, expected: list[str] | str
    ) -> None:
        programs(getent='echo "$2 STREAM"', ip=f"echo '{own}'")
        checked = preflight([by_local("203.0.113.80")], ["sh"])
        if isinstance(expected, list):
            assert [host.address for host in checked.hosts] == expected
        else:
            assert str(checked.excluded_hosts["203.0.113.80"]) == (
                "203.0.113.80: the name leads to 203.0.113.80, which is no address of the host. "
                f"{expected}"
            )

    @pytest.mark.parametrize(
        ("given", "error"),
        [
            ("10.0.0.1", None),
            ("127.0.0.9", None),
            ("fd00::1", None),
            (
                "10.0.0.9",
                "a: no interface has the address 10.0.0.9. It has 10.0.0.1: write a=ADDRESS",
            ),
            (
                "fd00::9",
                "a: no interface has the address fd00::9. It has 10.0.0.1: write a=ADDRESS",
            ),
            (
                "a-fast",
                (
                    "a: a-fast leads to 203.0.113.80, which is no address of the host. "
                    "It has 10.0.0.1: write a=ADDRESS"
                ),
            ),
        ],
    )
    def test_that_was_given_has_to_be_one_of_the_hosts(
        self, programs: Programs, given: str, error: str | None
    ) -> None:
        own = addresses("10.0.0.1", "fd00::1")
        programs(getent="echo '203.0.113.80 STREAM'", ip=f"echo '{own}'")
        checked = preflight([by_local("a", given)], ["sh"])
        assert [str(each) for each in checked.excluded_hosts.values()] == ([error] if error else [])

    def test_that_two_hosts_have_is_refused(self, programs: Programs) -> None:
        programs(getent="exit 2", ip=f"echo '{addresses('10.0.2.15')}'")
        checked = preflight([by_local("a"), by_local("b")], ["sh"])
        assert str(checked.excluded_hosts["b"]) == (
            "b: a, b have the same address 10.0.2.15: write b=ADDRESS"
        )
        assert not checked.hosts
