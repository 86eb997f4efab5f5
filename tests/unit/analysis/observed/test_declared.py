"""Contradictions between what facts declare and what runs observed."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from harness.analysis.observed.declared import contradictions
from harness.model.run import Run
from tests.unit.builders import a_run, recorded

Link = dict[str, Any]


def link(
    speed: int | None, mtu: int = 1500, driver: str | None = "r8152", state: str = "up"
) -> Link:
    return {"speed_mbit_s": speed, "mtu_bytes": mtu, "driver": driver, "state": state}


def run_with(facts: Mapping[str, str], layout: str | None = None, **links: Link) -> Run:
    return a_run(
        environment={"links": links},
        dataset=None if layout is None else {"layout": {"observed": layout}},
        facts=facts,
    )


def found(*runs: Run) -> list[str]:
    return list(contradictions([recorded(run) for run in runs]))


class TestLayout:
    def test_other_than_declared_is_a_contradiction(self) -> None:
        assert found(run_with({"layout": "replicated:2"}, layout="replicated:3")) == [
            "the fact is layout=replicated:2, but the run observed replicated:3"
        ]

    def test_of_some_files_is_a_contradiction(self) -> None:
        assert found(run_with({"layout": "rs"}, layout="rs:6+3:64k, replicated:2")) == [
            "the fact is layout=rs, but the run also observed replicated:2"
        ]

    def test_of_several_runs_is_reported_once(self) -> None:
        layouts = ("replicated:2", "rs:6+3:64k") * 2
        assert len(found(*(run_with({"layout": "rs"}, layout=layout) for layout in layouts))) == 1

    @pytest.mark.parametrize(
        ("declared", "layout"),
        [
            ("replicated:2", "replicated:2"),
            ("rs", "rs:6+3:64k"),
            ("rs:6+3:64k", "rs:6+3:64k"),
            ("replicated:2", "unknown"),  # the file system does not say
            ("replicated:2", None),  # no data was read
            ("as it was", "rs:6+3:64k"),
        ],
    )
    def test_as_declared_or_undeclared_or_unknown_is_no_contradiction(
        self, declared: str, layout: str | None
    ) -> None:
        assert found(run_with({"layout": declared}, layout=layout)) == []


@pytest.mark.parametrize(
    "name",
    ["1g-no-rs", "100g-data", "before-10g", "3x-faster", "25g-rows", "not-2x", "mtu9000", "jumbo"],
)
def test_a_name_declares_nothing(name: str) -> None:
    run = run_with({}, layout="rs:6+3:64k", eth0=link(100, 1500))
    assert found(replace(run, configuration=name)) == []


class TestLink:
    def test_other_than_declared_is_a_contradiction(self) -> None:
        assert found(run_with({"link": "1 Gbit/s", "mtu": "1500"}, eth0=link(100, 9000))) == [
            "the fact is link=1 Gbit/s, but the run observed eth0 at 100mbit",
            "the fact is mtu=1500, but the run observed eth0 with MTU 9000",
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
    def test_may_be_any_link_of_the_node(self, links: dict[str, Any]) -> None:
        assert found(run_with({"link": "2.5gbit"}, **links)) == []

    def test_of_a_bond_is_that_of_its_members_together(self) -> None:
        bonded: dict[str, Any] = {"eth0": link(1000), "eth1": link(1000)}
        assert found(run_with({"link": "2gbit"}, **bonded)) == []
        [line] = found(run_with({"link": "10gbit"}, **bonded))
        assert line.endswith("observed eth0 at 1gbit, eth1 at 1gbit, together at 2gbit")

    def test_of_one_node_is_reported_with_the_node_s_name(self) -> None:
        fast, slow = {"eth0": link(2500)}, {"eth0": link(100), "eth1": link(1000)}
        nodes = {"node1": fast, "node2": fast, "node3": slow}
        [line] = found(a_run(facts={"link": "2.5gbit"}, environment={"nodes": nodes}))
        assert line == (
            "the fact is link=2.5gbit, but the run also observed "
            "node3 eth0 at 100mbit, node3 eth1 at 1gbit"
        )

    def test_that_is_emulated_is_as_its_facts_say(self) -> None:
        facts = {"emulated": "4 nodes on one host", "link": "100mbit", "mtu": "1500"}
        assert found(run_with(facts, eth0=link(10000, 9000))) == []
