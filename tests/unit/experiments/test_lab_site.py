"""An experiment uses a lab that is up only if its results arrive where the experiment looks for them."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from harness.base.errors import BadInput
from harness.experiments import lab_site
from harness.experiments import site as site_module
from harness.experiments.experiment import Configuration
from harness.experiments.lab_site import LabSite
from harness.lab import cluster, disks
from harness.lab.cluster import Lab, LabSpec, Node
from harness.model.interface import HostLink
from harness.settings.disk_rate import disk_rate
from harness.settings.in_force import NotPutBack
from harness.settings.journal import SET, Journal, JournalEntry

LINK = HostLink("worker-1", "eth0", mtu_bytes=1500)
LAB = Lab((Node("master", "m1", "running"), Node("worker-1", "w1", "running")), ("hdfs",), 0.5)


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> LabSite:
    """The site of an experiment with RESULTS=DIR/wanted; the lab that is up mounted DIR/mounted."""
    mounts = [
        {"Source": "/var/lib/docker/volumes/data", "Destination": "/data"},
        {"Source": str(tmp_path / "mounted"), "Destination": cluster.RESULTS},
    ]
    monkeypatch.setenv("RESULTS", str(tmp_path / "wanted"))
    monkeypatch.setattr(cluster, "docker", lambda *_: json.dumps(mounts))
    monkeypatch.setattr(lab_site, "up", lambda *_: False)
    monkeypatch.setattr(lab_site, "running_lab", lambda: LAB)
    monkeypatch.setattr(lab_site, "set_links", lambda *_: None)
    monkeypatch.setattr(site_module, "read_links", lambda hosts, _: [LINK] * len(hosts))
    return LabSite(LabSpec(1, 0.5, ("hdfs",)), "small")


def test_a_lab_that_writes_elsewhere_is_refused(site: LabSite, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="the lab that is up writes its results to") as refused:
        site.open()
    assert f"to {tmp_path / 'mounted'}, not to {tmp_path / 'wanted'}: set RESULTS" in str(
        refused.value
    )


def test_the_same_directory_by_another_name_is_the_same(site: LabSite, tmp_path: Path) -> None:
    (tmp_path / "wanted").symlink_to(tmp_path / "mounted")
    site.open()


def test_a_run_declares_what_is_set_in_the_lab_too(site: LabSite) -> None:
    tuned = Configuration(
        rate="100mbit",
        sysctls={"net.ipv4.tcp_rmem": "4096 1 2"},
        apply="a",
        revert="b",
        check="c",
        applied="one-server-less",
    )
    declared = site.facts(tuned)
    assert (
        declared.items()
        >= {
            "applied": "one-server-less",
            "net.ipv4.tcp_rmem": "4096 1 2",
            "link": "100mbit",
            "mtu": "1500",
        }.items()
    )
    assert declared["emulated"].startswith("1 nodes on one host, links shaped by tc")


@pytest.fixture
def limited(site: LabSite, monkeypatch: pytest.MonkeyPatch) -> LabSite:
    """The site with a worker whose disk can be limited, and one that has ended."""
    lab = replace(LAB, nodes=(*LAB.nodes, Node("worker-2", "w2", "exited")))
    for module in (lab_site, cluster):
        monkeypatch.setattr(module, "find_lab", lambda: lab)
    monkeypatch.setattr(disks, "docker", lambda *_: "77 /\n")
    monkeypatch.setattr(disks, "io_group", lambda process: Path(f"/groups/{process}"))
    monkeypatch.setattr("os.geteuid", lambda: 0)
    return site


SLOW_DISK = Configuration(disk_rate="5MB/s")


def test_disks_are_limited_on_the_machine_of_the_engine(limited: LabSite) -> None:
    wanted = disk_rate("worker-1", "/", "/groups/77", 5 * 10**6)
    assert limited.settings(SLOW_DISK)[disks.ENGINE] == [wanted]
    assert wanted.reading == limited.disk_rates(SLOW_DISK)[disks.ENGINE][0].reading
    assert disks.ENGINE not in limited.settings(Configuration())
    assert ", disks limited by control groups" in limited.facts(SLOW_DISK)["emulated"]


def test_the_limit_of_a_disk_is_gone_with_its_node(limited: LabSite, tmp_path: Path) -> None:
    before, value = "rbps=max wbps=max", limited.disk_rates(SLOW_DISK)[disks.ENGINE][0].value
    journal = Journal(tmp_path / "journal")
    journal.record(SET, [JournalEntry("engine", "disk rate of worker-2", value, before)])
    assert limited.put_back(journal, [SLOW_DISK]) == []
    assert journal.outstanding() == []


@pytest.mark.parametrize(
    ("user", "process", "message"),
    [
        (1000, "77 /\n", "run the command as root"),
        (0, "77 /no/such\n", "worker-1 does not run on this machine"),
    ],
)
def test_a_disk_that_cannot_be_limited_here_is_refused(
    limited: LabSite, monkeypatch: pytest.MonkeyPatch, user: int, process: str, message: str
) -> None:
    monkeypatch.setattr("os.geteuid", lambda: user)
    monkeypatch.setattr(disks, "docker", lambda *_: process)
    with pytest.raises(BadInput, match=message):
        limited.settings(SLOW_DISK)


def test_the_page_cache_that_all_nodes_share_is_dropped_once(site: LabSite) -> None:
    assert site.hosts_with_caches() == [disks.ENGINE]


@contextmanager
def _not_put_back(*_: object) -> Iterator[SimpleNamespace]:
    yield SimpleNamespace(lost=lambda: None)
    raise NotPutBack("worker-2: MTU of eth0 is not put back")


def test_ended_nodes_are_started_before_a_turn_and_lose_what_was_set_when_they_end(
    site: LabSite,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    started: list[LabSpec] = []
    monkeypatch.setattr(lab_site, "up", started.append)
    monkeypatch.setattr(site_module, "in_force", _not_put_back)
    journal = Journal(tmp_path / "journal")
    with pytest.raises(NotPutBack), site.configured(Configuration(), journal):
        assert started == [LabSpec(1, 0.5, ("hdfs",))]
    with site.configured(Configuration(), journal) as configured:
        assert [host.name for host in configured.hosts] == ["worker-1"]
        ended = replace(LAB, nodes=(*LAB.nodes, Node("worker-2", "w2", "exited")))
        monkeypatch.setattr(lab_site, "running_lab", lambda: ended)
    assert capsys.readouterr().err == "worker-2: MTU of eth0 is not put back\n"
