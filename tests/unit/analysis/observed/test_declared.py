"""Contradictions between what names and facts declare and what runs observed."""

from collections.abc import Mapping
from typing import Any

import pytest

from harness.analysis.observed.declared import contradictions, declares_layout, declares_value
from harness.model.run import Run
from tests.unit.builders import a_run, recorded

Link = dict[str, Any]


def link(
    speed: int | None, mtu: int = 1500, driver: str | None = "r8152", state: str = "up"
) -> Link:
    return {"speed_mbit_s": speed, "mtu_bytes": mtu, "driver": driver, "state": state}


def run_named(
    configuration: str,
    facts: Mapping[str, str] | None = None,
    layout: str | None = None,
    **links: Link,
) -> Run:
    return a_run(
        configuration,
        environment={"links": links},
        dataset=None if layout is None else {"layout": {"observed": layout}},
        facts=facts or {},
    )


def found(*runs: Run) -> list[str]:
    return list(contradictions([recorded(run) for run in runs]))


class TestLayout:
    def test_other_than_in_the_name_is_a_contradiction(self) -> None:
        assert found(run_named("2.5g-2x", layout="rs:6+3:64k")) == [
            "the name 2.5g-2x says replicated:2, but the run observed rs:6+3:64k"
        ]

    def test_other_than_in_a_fact_is_a_contradiction(self) -> None:
        assert found(run_named("after", {"layout": "2x"}, layout="replicated:3")) == [
            "the fact layout=2x says replicated:2, but the run observed replicated:3"
        ]

    def test_of_some_files_is_a_contradiction(self) -> None:
        assert found(run_named("1g-rs", layout="rs:6+3:64k, replicated:2")) == [
            "the name 1g-rs says rs, but the run also observed replicated:2"
        ]

    def test_of_several_runs_is_reported_once(self) -> None:
        runs = [run_named("2x", layout=layout) for layout in ("replicated:2", "rs:6+3:64k") * 2]
        assert len(found(*runs)) == 1

    @pytest.mark.parametrize(
        ("name", "layout"),
        [
            ("2.5g-2x", "replicated:2"),
            ("1g-rs", "rs:6+3:64k"),
            ("1g-rs-6-3", "rs:6+3:1m"),
            ("rs:6+3:64k", "rs:6+3:64k"),
            ("2x", "unknown"),  # the file system does not say
            ("2x", None),  # no data was read
            ("before", "rs:6+3:64k"),
        ],
    )
    def test_as_declared_or_undeclared_or_unknown_is_no_contradiction(
        self, name: str, layout: str | None
    ) -> None:
        assert found(run_named(name, layout=layout)) == []


class TestLink:
    def test_of_another_speed_than_in_the_name_is_a_contradiction(self) -> None:
        assert found(run_named("2.5g", eth0=link(1000))) == [
            "the name 2.5g says 2.5gbit, but the run observed eth0 at 1gbit"
        ]

    def test_of_another_mtu_than_in_the_name_is_a_contradiction(self) -> None:
        assert found(run_named("mtu9000", eth0=link(None, 1500))) == [
            "the name mtu9000 says MTU 9000, but the run observed eth0 with MTU 1500"
        ]
        assert found(run_named("10g jumbo", eth0=link(10000, 1500))) == [
            "the name 10g jumbo says jumbo frames, but the run observed eth0 with MTU 1500"
        ]

    def test_other_than_in_the_facts_is_a_contradiction(self) -> None:
        assert found(
            run_named("before", {"link": "1 Gbit/s", "mtu": "1500"}, eth0=link(100, 9000))
        ) == [
            "the fact link=1 Gbit/s says 1gbit, but the run observed eth0 at 100mbit",
            "the fact mtu=1500 says MTU 1500, but the run observed eth0 with MTU 9000",
        ]

    @pytest.mark.parametrize(
        "links",
        [
            {"eth0": link(1000), "usbeth0": link(2500)},  # one of them may be for management
            {"eth0": link(1000, state="down"), "usbeth0": link(2500)},
            {"eth0": link(1000), "eth1": link(1000), "bond0": link(2500, driver=None)},
            {"eth0": link(None)},
            {"eth0": link(1000, state="down")},
            {"docker0": link(10000, driver=None), "veth1": link(10000, driver=None)},
            {"eth0": link(10000, driver="vmxnet3")},  # it always says that
            {},
        ],
    )
    def test_of_the_name_may_be_any_link_of_the_node(self, links: dict[str, Link]) -> None:
        assert found(run_named("2.5g", **links)) == []

    def test_of_a_bond_is_that_of_its_members_together(self) -> None:
        bonded = {"eth0": link(1000), "eth1": link(1000)}
        assert found(run_named("2g", **bonded)) == []
        [line] = found(run_named("10g", **bonded))
        assert line.endswith("observed eth0 at 1gbit, eth1 at 1gbit, together at 2gbit")

    def test_of_one_node_is_reported_with_the_node_s_name(self) -> None:
        fast, slow = {"eth0": link(2500)}, {"eth0": link(100), "eth1": link(1000)}
        run = a_run("2.5g", environment={"nodes": {"node1": fast, "node2": fast, "node3": slow}})
        [line] = found(run)
        assert line == (
            "the name 2.5g says 2.5gbit, but the run also observed "
            "node3 eth0 at 100mbit, node3 eth1 at 1gbit"
        )

    def test_of_unknown_speed_is_no_contradiction(self) -> None:
        nodes = {"node1": {"eth0": link(2500)}, "node2": {"eth0": link(None)}, "node3": {}}
        assert found(a_run("2.5g", environment={"nodes": nodes})) == []

    def test_that_is_emulated_is_compared_with_its_facts_only(self) -> None:
        facts = {"emulated": "4 nodes on one host", "link": "100mbit", "mtu": "1500"}
        assert found(run_named("1g", facts, eth0=link(10000))) == []
        assert found(run_named("1g-mtu9000", facts, eth0=link(10000, 9000))) == [
            "the name 1g-mtu9000 says MTU 9000, but the run observed the emulated links with MTU 1500"
        ]


@pytest.mark.parametrize(
    ("name", "facts", "layout", "declared"),
    [
        ("1g-rs", {}, "rs:6+3:64k", True),
        ("1g", {"layout": "rs:6+3"}, "rs:6+3:64k", True),
        ("1g", {}, "rs:6+3:64k", False),
        ("1g-2x", {}, "rs:6+3:64k", False),
        ("1g-2x", {}, None, False),
        ("1g-2x", {}, "unknown", False),
    ],
)
def test_a_layout_is_declared_if_it_is_claimed_and_observed(
    name: str, facts: dict[str, str], layout: str | None, *, declared: bool
) -> None:
    assert declares_layout(run_named(name, facts, layout)) is declared


@pytest.mark.parametrize(
    ("name", "value", "is_declared"),
    [
        ("parquet", "parquet", True),
        ("1g-Parquet-rs", "parquet", True),
        ("parquets", "parquet", False),
        ("rdd-count", "rdd-count", True),
        ("4-nodes", "4", False),
        ("noop", "", False),
        ("with cubic in a fact", "bbr", True),
    ],
)
def test_a_value_is_declared_as_a_word_of_the_name_or_is_a_fact(
    name: str, value: str, *, is_declared: bool
) -> None:
    assert declares_value(run_named(name, {"tcp": "bbr", "nodes": "4"}), value) is is_declared
