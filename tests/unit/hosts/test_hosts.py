"""Host names are expanded and checked, and each transport has its argument vector."""

from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.base.errors import BadInput
from harness.hosts.transports.host import (
    by_docker,
    by_local,
    by_netns,
    by_ssh,
    expand_names,
    parse_hosts,
)


class TestNames:
    @pytest.mark.parametrize(
        ("text", "names"),
        [
            ("master", ["master"]),
            ("node[1-3]", ["node1", "node2", "node3"]),
            ("node[08-10]", ["node08", "node09", "node10"]),
            ("node[9-10, 4], master", ["node9", "node10", "node4", "master"]),
            ("r[1-2]n[1,3]", ["r1n1", "r1n3", "r2n1", "r2n3"]),
            ("root@a.example.com,b", ["root@a.example.com", "b"]),
        ],
    )
    def test_are_expanded_in_order(self, text: str, names: list[str]) -> None:
        assert expand_names("--hosts", text) == names

    @pytest.mark.parametrize(
        "text",
        [
            "",
            "node[",
            "node[]",
            "node[3-1]",
            "a b",
            "$(id)",
            "n[1-99999999999]",
            "n[1-5/2]",
            "n[1]]",
            "?",
            "node*",
            "@all",
            "a;b",
            "-o1",
            "a[1-2-3]",
            "a[-1]",
            "a[1-\u0663]",
            "a[1_0]",
            f"a[1-{'9' * 5000}]",
            f"a{'9' * 5000}",
        ],
    )
    def test_that_cannot_be_read_are_refused_with_the_options_name(self, text: str) -> None:
        with pytest.raises(BadInput, match="--nodes"):
            expand_names("--nodes", text)

    @pytest.mark.parametrize(
        "text",
        [
            "a[1-1025]",
            "a[1-512],b[1-513]",
            "a[1-999999999][1-999999999][1-999999999]",
            ",".join(f"h{number}" for number in range(2000)),
        ],
    )
    def test_are_counted_while_they_are_expanded(self, text: str) -> None:
        for parse in (expand_names, partial(parse_hosts, transport=by_local)):
            with pytest.raises(BadInput, match="names more than 1,024 hosts; name 1 to 1024"):
                parse("--hosts", text)
        assert len(expand_names("--hosts", "a[1-512],b[1-512]")) == 1024


class TestHosts:
    @pytest.mark.parametrize("text", ["a=10.0.0.1,a=10.0.0.2", "a,a=10.0.0.1"])
    def test_have_one_address_each(self, text: str) -> None:
        with pytest.raises(BadInput, match="--hosts: a is named twice, with different addresses"):
            parse_hosts("--hosts", text, by_local)

    def test_keep_the_order_in_which_they_are_named(self) -> None:
        hosts = parse_hosts("--hosts", "node3,node[1-2],node3,a", by_local)
        assert [host.name for host in hosts] == ["node3", "node1", "node2", "a"]

    def test_may_have_addresses(self) -> None:
        hosts = parse_hosts("--hosts", "node[1-2]=10.0.0.[1-2],b,c=data.c", by_netns)
        assert [(host.name, host.address) for host in hosts] == [
            ("node1", "10.0.0.1"),
            ("node2", "10.0.0.2"),
            ("b", ""),
            ("c", "data.c"),
        ]

    @pytest.mark.parametrize(
        ("address", "what"),
        [
            ("fe80::1%eth0", "fe80::1%eth0 is a link-local address"),
            ("fe80::1", "fe80::1 is a link-local address"),
            ("0.0.0.0", "0.0.0.0 is not the address of one host"),  # noqa: S104
            ("224.0.0.1", "224.0.0.1 is not the address of one host"),
            ("ff02::1", "ff02::1 is not the address of one host"),
            ("255.255.255.255", "255.255.255.255 is not the address of one host"),
        ],
    )
    def test_at_which_no_other_host_reaches_one_are_refused(self, address: str, what: str) -> None:
        with pytest.raises(BadInput, match=f"--hosts: {what}"):
            parse_hosts("--hosts", f"a={address}", by_ssh)

    def test_have_as_many_addresses_as_names(self) -> None:
        with pytest.raises(BadInput, match="3 names and 2 addresses"):
            parse_hosts("--hosts", "node[1-3]=10.0.0.[1-2]", by_ssh)

    @given(st.text(min_size=1))
    def test_cannot_be_taken_for_an_option_or_several_words(self, text: str) -> None:
        try:
            hosts = parse_hosts("--hosts", text, by_ssh)
        except BadInput:
            return
        for host in hosts:
            assert not host.name.startswith("-")
            assert host.name.split() == [host.name]
            assert host.prefix[-2:] == ("--", host.name)


def test_a_container_may_have_another_name() -> None:
    assert by_docker("n1", container="abc").argv("echo", "a b")[-3:] == ["abc", "echo", "a b"]
