"""Random histories of settings on real machines.

They are drawn from the model that is explored exhaustively with simulated hosts: what may happen there, and
before which steps of our code, is what happens here.
"""

import json
import os
import random
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from harness.model.link import Link
from harness.settings.journal import Journal
from tests.probes.machines import USER, Machines, machines, replaced
from tests.probes.networks import DEVICE, run
from tests.unit.settings import histories as simulated
from tests.unit.settings.histories import (
    BEFORE,
    WANTED,
    Event,
    Simulation,
    events_on,
)
from tests.waiting import eventually

ROOT = Path(__file__).resolve().parents[2]
HOSTS = {"one": {"a": BEFORE, "b": BEFORE}, "two": {"a": WANTED, "b": BEFORE}}
"""The simulated hosts: `a` is the MTU, and `b` all else."""
LINKS = (Link(None, 1500), Link(None, 1400))
USERS_MTU = "1450"
MOST_EVENTS = 3
LEFT_S = 180.0
SETTING, PUTTING_BACK = "setting ", "putting back "
"""Steps of simulated hosts by themselves. The former is while we wait, the latter before our next step."""
FLAGS = {"putting back fails": "stuck", "setting fails": "fails", "setting is slow": "slow"}
EXPERIMENT = """
name = "turn"
runs = 1
workloads = ["calc-pi-dataframe"]
[site]
hosts = "HOSTS"
sudo = SUDO
[configurations.wanted]
rate = "500mbit"
mtu = MTU
sysctls = {"net.ipv4.tcp_congestion_control" = "reno"}
apply = "[ ! -e /run/slow ] || sleep 4; [ ! -e /run/fails ] && touch /run/applied"
revert = "[ ! -e /run/stuck ] && rm -f /run/applied"
check = "test -e /run/applied"
applied = "own"
[configurations.other]
"""
STATE = f"""
cat /sys/class/net/{DEVICE}/mtu
echo $(tc qdisc show) $(ls /sys/class/net)
cat /proc/sys/net/ipv4/tcp_congestion_control
[ ! -e /run/applied ]; echo $?
"""
NAMES = (f"MTU of {DEVICE}", f"rate of {DEVICE}", "net.ipv4.tcp_congestion_control", "command own")


@dataclass(frozen=True)
class History:
    """What happens before which step of ours: the n-th of a label. `user` is who logs in."""

    number: int
    user: str
    sends: signal.Signals
    events: tuple[tuple[str, int, Event], ...]

    def __str__(self) -> str:
        parts = (f"{what} {host}".strip() for _, _, (what, host) in self.events)
        return f"history-{self.number}-{'-'.join(parts).replace(' ', '-')}"


def histories(seed: int, number: int, directory: Path) -> Iterator[History]:
    """Draw the first histories of a seed. A history depends on the seed and its own number alone."""
    with pytest.MonkeyPatch.context() as patch:
        simulation = Simulation(directory, patch, HOSTS)
        for index in range(1, number + 1):
            chance = random.Random(f"{seed} {index}")  # noqa: S311  no secret
            labels = _labels(simulation, _drawn(simulation, chance))
            user, sends = (
                chance.choice(("root", USER)),
                chance.choice((signal.SIGINT, signal.SIGTERM)),
            )
            yield History(index, user, sends, tuple(labels))


def _drawn(simulation: Simulation, chance: random.Random) -> simulated.History:
    """Draw events that change something, in the model's order."""
    history: simulated.History = ()
    for _ in range(chance.randint(1, MOST_EVENTS)):
        ran = simulation.run(history)
        assert ran is not None
        steps, problems = ran
        assert problems == []
        first = history[-1][0] if history else 0
        for _ in range(100):
            if first >= steps:
                break
            event = chance.randint(first + 1, steps), chance.choice(events_on(*HOSTS))
            if simulation.run((*history, event)) is not None:
                history = (*history, event)
                break
    return history


def _labels(simulation: Simulation, history: simulated.History) -> Iterator[tuple[str, int, Event]]:
    """Yield the events with the steps of ours before which they happen."""
    simulation.run(history)
    labels = simulation.world.labels
    for number, event in history:
        index = number - 1
        if labels[index].startswith(SETTING):
            ours = labels[index].replace(SETTING, "await set ")
            yield ours, labels[:index].count(ours), event
            continue
        while labels[index].startswith(PUTTING_BACK):
            index += 1
        yield labels[index], labels[: index + 1].count(labels[index]), event


@dataclass
class RealWorld:
    """Two machines, the process that sets something on them, and what happens to both."""

    history: History
    made: Machines
    directory: Path
    faults: tuple[str, ...] = ()
    problems: list[str] = field(default_factory=list)
    user_changed: set[str] = field(default_factory=set)
    others: list["subprocess.Popen[str]"] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.names = dict(zip(HOSTS, self.made.names, strict=True))
        self.before = {name: self.state(name) for name in self.made.names}
        self.file, self.other_file = (
            self._experiment(name, mtu) for name, mtu in (("turn", "1400"), ("other", "1300"))
        )
        for name in ("results", "results-other"):
            (self.directory / name).mkdir()
        run("mount", "-t", "tmpfs", "-o", "size=64k", "full", str(self.directory / "results"))

    def close(self) -> None:
        run("umount", str(self.directory / "results"))

    def state(self, name: str) -> list[str]:
        """Return the values of the four settings, as the machine's kernel has them."""
        return run(*self.made.argv(name, "sh", "-c", STATE)).splitlines()

    def run(self) -> None:
        """Set everything for a turn, and let happen what is planned."""
        steps = {f"{self._label(label)} {n}": [] for label, n, _ in self.history.events}
        for label, n, event in self.history.events:
            steps[f"{self._label(label)} {n}"].append(event)
        stops = [[self._label(label), n] for label, n, _ in self.history.events]
        process = self._turn(self.file, "results", [*stops, ["looked", 1]])
        assert process.stdout is not None
        for line in process.stdout:
            answer = ""
            if line.startswith("lost: "):
                self._look(line.removeprefix("lost: ").strip())
                continue
            for event in steps.get(line.strip(), ()):
                answer = event[0]
                self._happens(process, *event)
            with suppress(OSError):
                assert process.stdin is not None
                process.stdin.write(f"{answer}\n")
                process.stdin.flush()
        try:
            process.wait(LEFT_S)
        except subprocess.TimeoutExpired:
            self.problems.append("our process did not end")
            process.kill()
        if "Traceback" in (self.directory / "errors").read_text():
            self.problems.append((self.directory / "errors").read_text()[-2000:])

    def settle(self) -> None:
        """Mend disk, cables and commands, and wait until everything has ended that ends by itself."""
        (self.directory / "results/filler").unlink(missing_ok=True)
        for name in self.made.names:
            self.made.connect(name, connected=True)
            for flag in FLAGS.values():
                self.made.file(name, f"/run/{flag}").unlink(missing_ok=True)
        for other in self.others:
            other.communicate("\n", LEFT_S)
        with suppress(AssertionError):
            eventually(lambda: not any(map(self.made.processes, self.made.names)), "", LEFT_S)
        self.problems += [
            f"still runs: {name} {' '.join(words)[:100]}"
            for name in self.made.names
            for words in self.made.processes(name).values()
        ]

    def judge(self) -> None:
        """Add what has another value than before, unless the journal names it and it is put back."""
        files = {"results": self.file, "results-other": self.other_file}
        names = {entry for results in files for entry in self._outstanding(results)}
        for name, setting, value in self._changed():
            if not any(
                entry.startswith(f"{self.history.user}@{name}: {setting}") for entry in names
            ):
                self.problems.append(f"not in the journal: {name} {setting} {value}")
        for results, file in files.items():
            if not self._outstanding(results):
                continue
            command = (sys.executable, "-m", "harness", "experiment", "--revert", str(file))
            again = subprocess.run(
                [*command, "--results", str(self.directory / results)],
                env=self._environment,
                capture_output=True,
                text=True,
                check=False,
            )
            if again.returncode:
                self.problems.append(f"cannot be put back: {again.stderr}")
            self.problems += [
                f"left in the journal: {entry}" for entry in self._outstanding(results)
            ]
        self.problems += [f"left: {' '.join(changed)}" for changed in self._changed()]

    def _changed(self) -> Iterator[tuple[str, str, str]]:
        for name, before in self.before.items():
            for setting, former, value in zip(NAMES, before, self.state(name), strict=True):
                is_users = name in self.user_changed and value == USERS_MTU
                if value != former and not is_users:
                    yield name, setting, value

    def _outstanding(self, results: str) -> Sequence[str]:
        file = self.directory / results / "turn/settings.journal"
        return [f"{entry}" for entry in Journal(file).outstanding()]

    def _look(self, lost: str) -> None:
        if lost == "None":
            for name in self.made.names:
                mtu, queues, congestion, applied = self.state(name)
                if (mtu, congestion, applied) != ("1400", "reno", "1") or "tbf" not in queues:
                    self.problems.append(f"lost without a word: {name} {self.state(name)}")

    def _happens(self, process: "subprocess.Popen[str]", what: str, host: str) -> None:
        name = self.names.get(host, "")
        happenings: dict[str, Callable[[], object]] = {
            "interrupted": lambda: process.send_signal(self.history.sends),
            "killed": process.kill,
            "disk full": self._fill_disk,
            "clock set back": lambda: None,  # the process sets its own clock back
            "connection frozen": lambda: self.made.connect(name, connected=False),
            "connection thawed": lambda: self.made.connect(name, connected=True),
            "host rebooted": lambda: self.made.reboot(name),
            "guard killed": lambda: self._kill_guard(name),
            "other experiment": self._start_other,
            "user's own change": lambda: self._change(name),
        }
        if what in FLAGS:
            self.made.file(name, f"/run/{FLAGS[what]}").touch()
        else:
            happenings[what]()

    def _fill_disk(self) -> None:
        with suppress(OSError), (self.directory / "results/filler").open("wb", 0) as filler:
            while True:
                filler.write(b"0" * 512)

    def _kill_guard(self, name: str) -> None:
        for pid, words in self.made.processes(name).items():
            if words[0] == "sh" and words[3:4] == ["guard"]:
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)

    def _start_other(self) -> None:
        """Start another experiment, which sets something until the end, unless it is refused."""
        other = self._turn(self.other_file, "results-other", [["turn", 1]])
        self.others.append(other)
        assert other.stdout is not None
        other.stdout.readline()

    def _change(self, name: str) -> None:
        self.user_changed.add(name)
        run(*self.made.argv(name, "ip", "link", "set", DEVICE, "mtu", USERS_MTU))

    def _label(self, label: str) -> str:
        what, _, host = label.rpartition(" ")
        return f"{what} {self.history.user}@{self.names[host]}" if host in self.names else label

    def _turn(self, file: Path, results: str, stops: Sequence[object]) -> "subprocess.Popen[str]":
        command = (sys.executable, "-m", "tests.kill.turn", str(file))
        with (self.directory / "errors").open("a") as errors:
            return subprocess.Popen(
                [*command, str(self.directory / results), json.dumps(stops), *self.faults],
                env=self._environment,
                text=True,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
            )

    @property
    def _environment(self) -> dict[str, str]:
        return {**self.made.environment, "PYTHONPATH": str(ROOT)}

    def _experiment(self, name: str, mtu: str) -> Path:
        file = self.directory / f"{name}.toml"
        hosts, sudo = (
            self.made.hosts_option(self.history.user),
            str(self.history.user == USER).lower(),
        )
        file.write_text(replaced(EXPERIMENT, HOSTS=hosts, SUDO=sudo, MTU=mtu))
        return file


def lived_through(history: History, directory: Path, *faults: str) -> RealWorld:
    """Return the world after a history, with its problems."""
    with machines(directory, LINKS) as made:
        world = RealWorld(history, made, directory, faults)
        try:
            world.run()
            world.settle()
            world.judge()
        finally:
            world.close()
        return world
