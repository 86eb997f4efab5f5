"""Commands on machines that ssh reaches, as root and by sudo, also when a link drops in the middle.

Whatever happens, everything is put back, or the journal names it and the same command mends it. Several
commands run at the same time, on machines of their own, because most of their time they wait.
"""

import subprocess
import sys
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import pytest

from harness.experiments.experiment_file import read_experiment
from harness.experiments.schedule import planned_runs
from harness.hosts import lease
from harness.hosts.remote_process import RemoteProcesses
from harness.hosts.transports.host import by_ssh
from harness.model.link import Link
from harness.model.probe import RecordedProbes
from harness.model.run import Ending, Status
from harness.model.soak import SoakFlow
from harness.programs.mpi import guarded
from harness.records.lookup import find_probes, find_runs
from harness.settings.journal import Journal
from tests.probes.machines import USER, Machines, machines, missing, replaced
from tests.probes.networks import DEVICE, run
from tests.unit.builders import known
from tests.waiting import eventually

SLOW, FAST = Link(20 * 10**6, 1500), Link(None, 1500)
AT_ONCE, TRIES = 5, 3
APPLIED = "/run/applied"
EXPERIMENT = f"""
name = "upgrade"
runs = 1
trials = 1
warmup = 0
workloads = []
[programs.hpcc]
memory = "MEMORY"
block = BLOCK
[site]
hosts = "HOSTS"
sudo = SUDO
[configurations.before]
[configurations.after]
rate = "4gbit"
mtu = 1400
sysctls = {{"net.ipv4.tcp_congestion_control" = "reno"}}
apply = "touch {APPLIED}; sleep PAUSE"
revert = "rm -f {APPLIED}"
check = "test -e {APPLIED}"
applied = "own"
"""


@dataclass(frozen=True)
class Case:
    """A command on some machines. The link of the last drops when `cut_while` runs there, after a line."""

    command: tuple[str, ...]
    user: str = "root"
    hosts: int = 3
    cut_after: str = ""
    cut_while: str = "iperf3"
    memory: str = "1mb"
    pause: int = 0


PROBE = ("--seconds", "2")
SET_MTU = ("probe", "mtu", "--sizes", "1000,1400", "--set-mtu", *PROBE)
# The longest come first.
CASES = {
    "cut while it is in force": Case(("experiment",), "root", 2, "application 2", "hpcc", "4mb"),
    "all": Case(("probe", "all", "--no-latency", *PROBE), cut_after="[7/"),
    "soak": Case(("probe", "soak", "--for", "20s", "--round", "10s"), cut_after="[2/2]"),
    "set-mtu cut": Case(SET_MTU, hosts=2, cut_after="[3/"),
    "set-mtu without root": Case(SET_MTU, USER, hosts=2),
    "experiment by sudo": Case(("experiment",), USER, hosts=2),
    "cut while it is set": Case(("experiment",), USER, 2, "application 2", "sleep", pause=8),
}
LONG = ("cut while it is in force", "all")
"""The longest: the first waits for two minutes for the host that was cut off."""


def every(names: Iterable[str]) -> pytest.MarkDecorator:
    """Let a test be of each of these cases, of the slow ones only where such are chosen."""
    slow = pytest.mark.slow
    cases = [pytest.param(name, marks=slow if name in LONG else ()) for name in names]
    return pytest.mark.parametrize("name", cases)


@dataclass(frozen=True)
class Outcome:
    """How a command ended, what the machines were like before and after, and what the journal still names."""

    code: int
    output: str
    errors: str
    names: Sequence[str]
    before: Mapping[str, Sequence[str]]
    after: Mapping[str, Sequence[str]]
    in_journal: Sequence[str]
    again: subprocess.CompletedProcess[str] | None
    in_journal_at_last: Sequence[str]
    results: Path
    was_cut: bool

    @property
    def last_line(self) -> str:
        return self.errors.splitlines()[-1]

    @property
    def probed(self) -> RecordedProbes:
        [probed] = find_probes("now", self.results)
        return probed


@pytest.fixture(scope="module")
def outcomes(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Mapping[str, Future[Outcome]]]:
    """What came of each command; of the slow ones, if their tests are chosen."""
    if reason := missing():
        pytest.skip(reason)
    with_slow = any(item.get_closest_marker("slow") for item in request.session.items)
    with ThreadPoolExecutor(AT_ONCE) as pool:
        yield {
            name: pool.submit(carried_out, case, tmp_path_factory.mktemp("machines"))
            for name, case in CASES.items()
            if with_slow or name not in LONG
        }


def carried_out(case: Case, directory: Path) -> Outcome:
    """Carry a command out, again if the machine was too busy for it to get as far as where the link drops."""
    for attempt in range(TRIES):
        place = directory / str(attempt)
        place.mkdir()
        outcome = carried_out_once(case, place)
        if outcome.was_cut == bool(case.cut_after):
            break
    return outcome


def carried_out_once(case: Case, directory: Path) -> Outcome:
    link = SLOW if "probe" in case.command else FAST
    with machines(directory, [link] * case.hosts) as made:
        before = {name: state(made, name) for name in made.names}
        command = command_line(case, made)
        with subprocess.Popen(
            command, env=made.environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        ) as process:
            errors, was_cut = "", False
            for line in known(process.stderr):
                errors += line
                if case.cut_after and line.startswith(case.cut_after):
                    was_cut = cut(made, process, case.cut_while)
            output = known(process.stdout).read()
        last = made.names[-1]
        made.connect(last, connected=True)
        eventually(lambda: not any(map(made.processes, made.names)), f"left: {case.command}")
        after = {name: state(made, name) for name in made.names}
        in_journal, again = outstanding(directory), None
        if in_journal:
            revert = ("--revert",) if "experiment" in case.command else ()
            again = subprocess.run(
                [*command, *revert],
                env=made.environment,
                capture_output=True,
                text=True,
                check=False,
            )
        return Outcome(
            *(process.returncode, output, errors, made.names, before, after, in_journal, again),
            *(outstanding(directory), directory / "results", was_cut),
        )


def command_line(case: Case, made: Machines) -> list[str]:
    words = [sys.executable, "-m", "harness", *case.command]
    results = ("--results", f"{made.directory}/results")
    if case.command[0] == "probe":
        return [*words, "--hosts", made.hosts_option(case.user), "--configuration", "now", *results]
    file = made.directory / "experiment.toml"
    sudo = str(case.user != "root").lower()
    values = {"HOSTS": made.hosts_option(case.user), "MEMORY": case.memory, "SUDO": sudo}
    for block in range(16, 48):  # all that affects results affects the order
        text = replaced(EXPERIMENT, **values, PAUSE=str(case.pause), BLOCK=str(block))
        file.write_text(text)
        first, *_ = planned_runs(read_experiment(file))
        if first.configurations[0].name == "before":
            break
    return [*words, str(file), *results]


def cut(made: Machines, process: subprocess.Popen[str], program: str) -> bool:
    """Drop the link of the last machine as soon as a program runs there; return whether it was in time."""
    last = made.names[-1]
    while process.poll() is None:
        if any(words[0].endswith(program) for words in made.processes(last).values()):
            break
        time.sleep(0.02)
    made.connect(last, connected=False)
    return process.poll() is None


def state(made: Machines, name: str) -> list[str]:
    """Return all that may be set on a machine, as its kernel describes it."""
    mtu = f"cat /sys/class/net/{DEVICE}/mtu; ls /sys/class/net"
    congestion = "cat /proc/sys/net/ipv4/tcp_congestion_control"
    shown = run(*made.argv(name, "sh", "-c", f"tc qdisc show; {mtu}; {congestion}; ls /run"))
    return [line for line in shown.splitlines() if line != "clusterlift"]


def outstanding(directory: Path) -> list[str]:
    found = []
    for file in directory.rglob("*.journal"):
        with suppress(FileNotFoundError):
            found += [f"{entry}" for entry in Journal(file).outstanding()]
    return found


@every(CASES)
def test_everything_is_put_back_and_nothing_is_left_undone(
    outcomes: Mapping[str, Future[Outcome]], name: str
) -> None:
    found = outcomes[name].result()
    assert found.after == found.before
    assert found.again is None or found.again.returncode == 0, found.again.stderr
    assert found.in_journal_at_last == []
    assert "Traceback" not in found.errors


@every(["all", "soak"])
def test_a_link_that_drops_is_named_and_the_other_hosts_are_measured(
    outcomes: Mapping[str, Future[Outcome]], name: str
) -> None:
    found = outcomes[name].result()
    *others, last = found.names
    faults = [line for line in found.output.splitlines() if line.startswith("fault: ")]
    assert found.code == 1, found.errors
    assert faults
    assert all(last in fault for fault in faults), faults
    assert found.probed.ending is Ending.COMPLETED
    between = [flow for flow in flows(found.probed) if last not in flow]
    assert any(name in flow for flow in between for name in others)


def flows(probed: RecordedProbes) -> list[str]:
    """Return between which hosts something was measured."""
    soaked = [
        f"{event.sender} {event.receiver}"
        for event in probed.events
        if isinstance(event, SoakFlow) and event.error is None
    ]
    return [*soaked, *(each.subject for each in probed.measurements if each.value is not None)]


def test_nothing_of_a_program_stays_on_a_host_that_is_cut_off(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its sshd hears nothing, and waits for two hours."""
    if reason := missing():
        pytest.skip(reason)
    monkeypatch.setattr(lease, "LEASE_S", 10)
    with machines(tmp_path, [FAST]) as made:
        [name] = made.names
        monkeypatch.setenv("PATH", made.environment["PATH"])
        with RemoteProcesses() as remotes:
            command = guarded("12ab.0.", ("sleep", "600"))
            remotes.add(by_ssh(f"root@{name}"), command).start()
            eventually(lambda: ["sleep", "600", ""] in made.processes(name).values())
            assert run(*made.argv(name, "ls", "/tmp")) == "clusterlift-12ab.0.\n"  # noqa: S108
            made.connect(name, connected=False)
            eventually(lambda: not made.processes(name), "a process stays")
            assert run(*made.argv(name, "ls", "/tmp")) == ""  # noqa: S108


def test_who_is_not_root_is_told_what_to_do(outcomes: Mapping[str, Future[Outcome]]) -> None:
    found = outcomes["set-mtu without root"].result()
    assert found.code == 1
    assert "only root can set something there: name root@HOST" in found.output


def test_an_mtu_that_is_not_seen_to_be_put_back_is_named(
    outcomes: Mapping[str, Future[Outcome]],
) -> None:
    found = outcomes["set-mtu cut"].result()
    assert found.code == 1
    assert found.in_journal == [f"root@{found.names[-1]}: MTU of {DEVICE}"]
    assert found.last_line.startswith(f"clusterlift: error: not put back: root@{found.names[-1]}: ")
    assert found.last_line.endswith("; the same command puts it back before it measures")


def test_an_experiment_by_sudo_sets_everything_and_measures(
    outcomes: Mapping[str, Future[Outcome]],
) -> None:
    found = outcomes["experiment by sudo"].result()
    assert found.code == 0, found.errors
    assert "4gbit, mtu 1400, applied own, net.ipv4.tcp_congestion_control reno" in found.errors
    for configuration in ("before", "after"):
        [recorded] = find_runs(configuration, found.results / "upgrade")
        assert {trial.status for trial in recorded.trials} == {Status.OK}


@every(["cut while it is set", "cut while it is in force"])
def test_an_experiment_that_loses_a_host_says_which_and_keeps_what_it_has(
    outcomes: Mapping[str, Future[Outcome]], name: str
) -> None:
    found = outcomes[name].result()
    assert found.code == 1
    assert found.last_line.startswith("clusterlift: error: not put back: ")
    assert found.names[-1] in found.last_line
    assert "; try again: clusterlift experiment --revert " in found.last_line
    assert all(found.names[-1] in entry for entry in found.in_journal)
    [recorded] = find_runs("before", found.results / "upgrade")
    assert {trial.status for trial in recorded.trials} == {Status.OK}
