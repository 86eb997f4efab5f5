"""Preflight: hosts without the programs or without a known address are excluded, with what to do."""

from collections import Counter
from collections.abc import Sequence

import pytest

from harness.hosts import preflight as module
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


class TestAddress:
    def test_is_the_one_that_another_host_finds_under_the_name(self, programs: Programs) -> None:
        programs(getent="echo '10.0.0.7       STREAM node1'", ip=f"echo '{TWO_ADDRESSES}'")
        checked = preflight([by_local("node1"), by_local("root@node2")], ["sh"])
        assert [host.address for host in checked.hosts] == ["10.0.0.7", "10.0.0.7"]

    def test_is_asked_of_each_host_once_however_many_they_are(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        asked = Counter[str]()

        def run_all(commands: Sequence[tuple[Host, Sequence[str]]]) -> list[CompletedCommand]:
            asked.update(str(host) for host, (program, *_) in commands if program == "getent")
            printed = {"getent": "10.0.0.7 STREAM", "ip": "[]"}
            return [CompletedCommand(0, printed.get(c[0], ""), "") for _, c in commands]

        for place in (module, remote_process):
            monkeypatch.setattr(place, "run_all", run_all)
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

    @pytest.mark.parametrize("lookup", ["garbage", " ", "-x STREAM", "fe80::1%;id STREAM", "1.2.3"])
    def test_is_not_what_is_no_address(self, programs: Programs, lookup: str) -> None:
        programs(getent=f"echo '{lookup}'", ip="""echo '[{"addr_info":[{"local":"10.0.0.1"}]}]'""")
        assert [host.address for host in preflight([by_local("node1")], ["sh"]).hosts] == [
            "10.0.0.1"
        ]
