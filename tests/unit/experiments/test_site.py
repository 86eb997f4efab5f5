"""An application on hosts of the user's own, which waits for its turns."""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

import pytest

from harness.experiments import site as site_module
from harness.experiments.experiment import Configuration
from harness.experiments.hosts_spec import HostsSpec
from harness.experiments.site import Site
from harness.hosts import remote_process
from harness.hosts.remote_process import CompletedCommand
from harness.hosts.transports.host import Host
from harness.settings.rate import rate
from harness.trials.hold import HOLD_FILE

MTUS = {"eth0": 1500, "eth1": 9000}


@pytest.mark.parametrize(("device", "limited"), [(None, "eth0"), ("eth1", "eth1")])
def test_a_rate_is_of_packets_as_large_as_those_of_the_device_that_is_limited(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, device: str | None, limited: str
) -> None:
    def run_all(
        commands: Iterable[tuple[Host, Sequence[str]]], _timeout_s: float
    ) -> list[CompletedCommand]:
        return [CompletedCommand(0, printed(command), "") for _, command in commands]

    def printed(command: Sequence[str]) -> str:
        if command[0] == "ip":
            return '[{"dev": "eth0"}]'  # eth0 leads to the other hosts
        return f"== device\n{json.dumps([{'ifname': command[4], 'mtu': MTUS[command[4]]}])}"

    monkeypatch.setattr(remote_process, "run_all", run_all)
    site = Site(HostsSpec("n[1-2]", "local", device), "x", tmp_path)
    site._hosts = tuple(site.hosts_to_set())
    wanted = [rate(limited, 10**8, MTUS[limited])]
    assert site.settings(Configuration(rate="100mbit")) == dict.fromkeys(site._hosts, wanted)


@pytest.mark.parametrize("ends", [False, True])
def test_an_application_may_end_while_its_turn_is_prepared(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, ends: bool
) -> None:
    """Then it has removed the file by which it waits."""
    held: list[Path] = []
    turns: list[str] = []

    def run(
        _script: str,
        _options: Sequence[str],
        _arguments: Sequence[str],
        environment: Mapping[str, str],
        *,
        before: Sequence[str],
        meanwhile: Callable[[], None],
        shows_usual_lines: bool,
    ) -> int:
        assert not before
        assert not shows_usual_lines
        held.append(Path(environment[HOLD_FILE]))
        meanwhile()  # it does not wait yet
        held[0].write_text("slow")
        meanwhile()
        assert not held[0].exists()
        return 7

    def on_request(configuration: str) -> None:
        turns.append(configuration)
        if ends:
            held[0].unlink()

    monkeypatch.setattr(site_module, "run_script", run)
    site = Site(HostsSpec("n1", "local"), "x", tmp_path)
    assert site.submit("jobs/benchmark.py", (), on_request=on_request) == 7
    assert turns == ["slow"]


def test_hosts_that_cannot_drop_their_page_cache_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    denied = CompletedCommand(2, "", "sh: 1: cannot create /proc/sys/vm/drop_caches: denied\n")
    asked: list[tuple[Host, Sequence[str]]] = []

    def run_all(
        commands: Iterable[tuple[Host, Sequence[str]]], _timeout_s: float
    ) -> list[CompletedCommand]:
        asked.extend(commands)
        return [CompletedCommand(0, "dropped\n", ""), denied]

    monkeypatch.setattr(remote_process, "run_all", run_all)
    site = Site(HostsSpec("n[1-2]", "ssh", sudo=True), "x", tmp_path)
    assert site.drop_caches() == ["n2: sh: 1: cannot create /proc/sys/vm/drop_caches: denied"]
    host, command = asked[0]
    assert host.prefix[-2:] == ("sudo", "-n")
    assert command[-1].startswith("sync && echo 1 > /proc/sys/vm/drop_caches")
