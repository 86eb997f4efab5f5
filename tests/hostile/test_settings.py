"""No answer of a host, or of its guard, keeps the others from being put back as they were."""

import inspect
import json
import os
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from types import ModuleType

import pytest

import harness.settings
from harness.experiments.experiment import Configuration
from harness.experiments.hosts_site import HostsSite
from harness.experiments.hosts_spec import HostsSpec
from harness.hosts.transports.host import by_netns
from harness.model.errors import ClusterliftError
from harness.settings.in_force import in_force, put_back
from harness.settings.journal import Journal
from harness.settings.kinds import bond_member, mtu, own_command, sysctl
from harness.settings.rate import rate
from harness.settings.setting import Setting
from harness.settings.speed import speed
from tests.hostile.answers import ADDRESSES, EVIL, SOUND, answer_of_guard, answer_to, name_of
from tests.hostile.campaign import (
    ONLY,
    SCALE,
    chosen_for,
    hostile,
    problem_of_text,
    repeated,
    reported,
)
from tests.hostile.world import Answer, Asked
from tests.unit.settings.test_settings import ETHTOOL, limited

MUTATIONS_OF_EACH = 24
PATIENCE_S = 700.0
"""To arm, set, put back, try again with another guard, and end it, each with its own limit."""

SETTINGS: dict[str, tuple[Callable[[], Setting], Callable[[Asked], Answer]]] = {
    "mtu": (lambda: mtu("eth0", 9000), lambda _: Answer(b"9000\n")),
    "bond_member": (
        lambda: bond_member("eth1"),
        lambda asked: Answer(answer_to(asked).output.replace(b'"UP", ', b"")),
    ),
    "sysctl": (
        lambda: sysctl("net.ipv4.tcp_rmem", "4096 131072 33554432"),
        lambda _: Answer(b"4096\t131072\t33554432\n"),
    ),
    "own_command": (lambda: own_command("on", "off", "is on", "switch"), lambda _: Answer()),
    "rate": (
        lambda: rate("eth0", 50_000_000, 1500),
        lambda _: Answer(json.dumps([limited(50_000_000, 1500)]).encode()),
    ),
    "speed": (
        lambda: speed("eth0", 1000),
        lambda _: Answer(ETHTOOL.format(offered="1000baseT/Full", negotiates="on").encode()),
    ),
}
"""By the function that makes a setting: the setting, and what a host answers while it is set."""


class Cluster:
    """A sound host and an evil one, of which each knows what is set there."""

    def __init__(self, name: str, directory: Path) -> None:
        make, self._answer_if_set = SETTINGS[name]
        self.setting = make()
        self.hosts = [by_netns(host, ADDRESSES[host]) for host in (SOUND[0], EVIL[0])]
        self.journal = Journal(directory / "settings.journal")
        self.is_set: set[str] = set()

    def answer(self, asked: Asked) -> Answer:
        return (self._answer_if_set if asked.host in self.is_set else answer_to)(asked)

    def answer_of_guard(self, host: str, line: str) -> Answer:
        if line.startswith("set "):
            self.is_set.add(host)
        elif line == "put back":
            self.is_set.discard(host)
        return answer_of_guard(host, line)

    def known(self, device: str, mtu_bytes: int) -> list[Setting]:
        del device, mtu_bytes
        return [self.setting]


@pytest.fixture(autouse=True)
def quick_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "fsync", lambda _: None)


class TestSettings:
    @pytest.mark.parametrize("name", SETTINGS)
    def test_the_others_are_put_back_and_the_journal_names_the_rest(
        self, name: str, tmp_path: Path
    ) -> None:
        cluster = Cluster(name, tmp_path)
        wanted = {host: [cluster.setting] for host in cluster.hosts}
        with hostile({}, cluster.answer, cluster.answer_of_guard) as (_, asked_for):
            with in_force(wanted, cluster.journal) as force:
                assert cluster.is_set == {SOUND[0], EVIL[0]}
                assert force.lost() is None
            assert cluster.is_set == set()
        problems = []
        for command in sorted({command for _, command in asked_for}):
            for number in range(round(SCALE * MUTATIONS_OF_EACH)):
                place = f"{name}/{command}/{number}"
                if ONLY and place != ONLY:
                    continue
                directory = tmp_path / f"{command} {number}"
                directory.mkdir()
                chosen = chosen_for(place, EVIL[:1], command)
                cluster = Cluster(name, directory)
                found: list[str] = []
                with hostile(chosen, cluster.answer, cluster.answer_of_guard) as (world, _):
                    began_s = world.now_s
                    found += self._tried(cluster)
                    if world.now_s - began_s > PATIENCE_S:
                        found.append(f"took {world.now_s - began_s:.0f} s")
                if SOUND[0] in cluster.is_set:
                    found.append("still set on the sound host")
                outstanding = {entry.host for entry in cluster.journal.outstanding()}
                if SOUND[0] in outstanding:
                    found.append("the sound host is in the journal")
                if EVIL[0] in cluster.is_set - outstanding:
                    found.append("still set, and not in the journal")
                with hostile({}, cluster.answer, cluster.answer_of_guard):
                    put_back(cluster.journal, cluster.hosts, cluster.known)
                if cluster.journal.outstanding():
                    found.append("cannot be put back when the host is sound again")
                problems += [f"{repeated(place, chosen)}: {each}" for each in found]
        reported(problems)

    @staticmethod
    def _tried(cluster: Cluster) -> list[str]:
        """Return what is wrong with how the settings were tried."""
        try:
            with in_force(
                {host: [cluster.setting] for host in cluster.hosts}, cluster.journal
            ) as f:
                lost = f.lost()
                return [] if lost is None or EVIL[0] in lost else [lost]
        except ClusterliftError as error:
            text = str(error)
            parts = text.split("; ")
            if EVIL[0] not in text or "\n" in text or len({*parts}) < len(parts):
                return [f"does not name the host in one line, once: {text[:300]!r}"]
        except Exception as error:  # noqa: BLE001  a traceback is what the campaign looks for
            return [f"a traceback: {error!r:.300}"]
        return []

    def test_every_setting_is_here(self) -> None:
        modules = iter_modules(harness.settings.__path__, f"{harness.settings.__name__}.")
        found = {name for module in modules for name in _makers(import_module(module.name))}
        assert found == {*SETTINGS}

    @pytest.mark.parametrize("command", ["user", "link", "route", "programs that are missing"])
    def test_an_experiment_does_not_begin_on_a_host_that_answers_nonsense(
        self, command: str, tmp_path: Path
    ) -> None:
        names = ",".join(f"{host}={ADDRESSES[host]}" for host in (SOUND[0], EVIL[0]))
        spec = HostsSpec(names, "netns")
        problems = []
        for number in range(round(SCALE * MUTATIONS_OF_EACH)):
            place = f"experiment/{command}/{number}"
            if ONLY and place != ONLY:
                continue
            chosen = chosen_for(place, EVIL[:1], command)
            site = HostsSite(spec, "x", tmp_path)
            with hostile(chosen):
                try:
                    site.open(0)
                    site.settings(Configuration("x", None, None))
                except ClusterliftError as error:
                    found = problem_of_text(str(error)) if "\x1b" not in str(error) else None
                    if EVIL[0] not in str(error):
                        found = f"does not name the host: {error}"
                    problems += [f"{repeated(place, chosen)}: {found}"] if found else []
                except Exception as error:  # noqa: BLE001  a traceback is what the campaign looks for
                    problems.append(f"{repeated(place, chosen)}: a traceback: {error!r:.300}")
        reported(problems)


class TestGuardsOfDeadHosts:
    def test_they_cost_one_wait_however_many_they_are(self, tmp_path: Path) -> None:
        def waited(number: int) -> float:
            hosts = list(map(by_netns, EVIL[:number]))
            dead = Answer(stays=True, is_deaf=True)
            cluster = Cluster("mtu", tmp_path)

            def of_guard(host: str, line: str) -> Answer:
                return dead if line == "put back" else cluster.answer_of_guard(host, line)

            with hostile({}, cluster.answer, of_guard) as (world, _):
                began_s = world.now_s
                with (
                    pytest.raises(ClusterliftError, match="not put back"),
                    in_force({host: [cluster.setting] for host in hosts}, cluster.journal),
                ):
                    pass
                return world.now_s - began_s

        assert waited(12) < waited(1) + 30


def _makers(module: ModuleType) -> list[str]:
    """Return the functions of a module that make a setting, without those for the module alone."""
    return [
        name
        for name, function in inspect.getmembers(module, inspect.isfunction)
        if function.__module__ == module.__name__
        and not name.startswith("_")
        and inspect.signature(function).return_annotation in {Setting, "Setting"}
    ]


def test_scripts_have_names() -> None:
    """A reading goes as a script, which is recognised like a command."""
    assert name_of(Asked("good", (mtu("eth0", 9000).reading,))) == "MTU"
