"""Where a probe measures and where it is kept: the options that all probes have."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial, wraps
from pathlib import Path
from typing import Any

import click

from harness.commands.options import results_option
from harness.lab.cluster import running_lab
from harness.lab.racks import racks
from harness.lab.shape import facts
from harness.model.errors import BadInput
from harness.model.probe import ProbeRun, RecordedProbes
from harness.probes.racks import Rack
from harness.probes.session import ProbePlan, probe
from harness.probes.transports.host import TRANSPORTS, Host, Transport, expand, parse_hosts
from harness.probes.transports.spark.application import spark_transport
from harness.runtime.interrupt import interruptible

RACKS = 2


SPARK = "spark"


@dataclass(frozen=True)
class Reached:
    """How hosts are reached; `known` are those that need not be named."""

    way: Transport
    known: tuple[Host, ...] = ()


@dataclass(frozen=True)
class Site:
    """What a command line says of hosts, and of where to record. `results` is None if nowhere."""

    names: str | None
    in_lab: bool
    reached: Reached
    configuration: str
    results: Path | None
    repeats: int

    def hosts(self) -> list[Host]:
        """Those that are named; by default all workers of the lab, or all that Spark has executors on.

        Raises BadInput for none.
        """
        if self.names is not None:
            return self._named("--hosts", self.names)
        if self.in_lab:
            return [node.host for node in running_lab().workers if node.is_running]
        if self.reached.known:
            return list(self.reached.known)
        raise BadInput("name the hosts, --hosts node[1-4], or take those of the lab: --lab")

    def racks(self, written: Sequence[str]) -> list[Rack]:
        """Those of `--rack NAME=HOSTS`; in the lab, by default, its own. Raises BadInput if not two."""
        found = [self._rack(text) for text in written]
        if self.in_lab and not found:
            found = self._lab_racks()
        if len(found) != RACKS or found[0].name == found[1].name:
            raise BadInput("name two racks: --rack a=node[1-20] --rack b=node[21-40]")
        shared = {host.name for host in found[0].hosts} & {host.name for host in found[1].hosts}
        if shared:
            raise BadInput(f"--rack: {', '.join(sorted(shared))} cannot be in both racks")
        return found

    def probe(self, order: ProbePlan, parameters: Mapping[str, object]) -> RecordedProbes:
        """Probe, and record it if that was asked for."""
        run = ProbeRun(
            configuration=self.configuration,
            hosts=tuple(host.name for host in order.hosts),
            parameters={name: str(value) for name, value in parameters.items()},
            facts=facts(running_lab()) if self.in_lab else {},
        )
        with interruptible(once=True):
            return probe(order, run, self.results)

    def _named(self, option: str, text: str) -> list[Host]:
        if self.in_lab:
            return [node.host for node in running_lab().select(expand(option, text))]
        return parse_hosts(option, text, self.reached.way)

    def _rack(self, text: str) -> Rack:
        name, equals, names = text.partition("=")
        if not equals or not name.strip():
            raise BadInput(f"--rack {text!r} has no name: write --rack a=node[1-20]")
        return Rack(name.strip(), tuple(self._named("--rack", names)))

    def _lab_racks(self) -> list[Rack]:
        lab = running_lab()
        if lab.router is None:
            raise BadInput("the lab that is up has one rack; start one with two: lab up --racks 2")
        return [
            Rack(f"rack-{rack.number}", tuple(lab.node(f"worker-{n}").host for n in rack.workers))
            for rack in racks(len(lab.workers))
        ]


def on_site(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command the options of a Site, and the Site as its first argument."""

    @wraps(command)
    def with_site(
        names: str | None,
        *,
        in_lab: bool,
        via: str,
        spark_options: str | None,
        configuration: str | None,
        results: Path,
        repeats: int,
        **others: Any,
    ) -> Any:
        kept = results if configuration else None
        with _reached(via, spark_options) as reached:
            site = Site(names, in_lab, reached, configuration or "", kept, repeats)
            return command(site, **others)

    for option in _OPTIONS:
        with_site = option(with_site)
    return with_site


@contextmanager
def _reached(via: str, spark_options: str | None) -> Iterator[Reached]:
    """While entered, hosts can be reached. Raises BadInput, and ClusterliftError, like spark_bridge."""
    if via != SPARK:
        if spark_options is not None:
            raise BadInput("--spark-options goes with --via spark")
        yield Reached(TRANSPORTS[via])
        return
    try:
        options = shlex.split(spark_options or "")
    except ValueError as error:
        raise BadInput(f"--spark-options {spark_options!r} cannot be read: {error}") from error
    with spark_transport(options) as hosts:
        yield Reached(partial(_with_executor, hosts), tuple(hosts.values()))


def _with_executor(hosts: Mapping[str, Host], name: str, address: str) -> Host:
    if name not in hosts:
        raise BadInput(f"--via spark: {name} has no executor; these do: {', '.join(hosts)}")
    return replace(hosts[name], address=address or hosts[name].address)


_OPTIONS = (
    results_option,
    click.option(
        "--configuration",
        metavar="NAME",
        help="Record it below --results, under this name.  [default: print it only]",
    ),
    click.option(
        "--repeats",
        type=click.IntRange(1, 1000),
        default=1,
        show_default=True,
        help="How often everything is measured.",
    ),
    click.option(
        "--via",
        type=click.Choice([*TRANSPORTS, SPARK]),
        default="ssh",
        show_default=True,
        help="How hosts are reached; ssh without a password, spark by a task on each executor.",
    ),
    click.option(
        "--spark-options",
        metavar="OPTIONS",
        help="For --via spark: more for spark-submit, such as '--master spark://host:7077'.",
    ),
    click.option("--lab", "in_lab", is_flag=True, help="Probe the lab that is up."),
    click.option(
        "--hosts",
        "names",
        metavar="NAMES",
        help="Such as node[1-4], or with other addresses: a=10.0.0.1,b=10.0.0.2.",
    ),
)
