"""The options that all probes share: which hosts to measure, how to reach them, where to record."""

import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial, wraps
from pathlib import Path
from typing import Any

import click

from harness.commands.options import configuration_option, results_option
from harness.hosts.transports.host import TRANSPORTS, Host, Transport, expand_names, parse_hosts
from harness.hosts.transports.spark.application import ANY_PORT, spark_transport
from harness.lab.cluster import running_lab
from harness.lab.racks import racks
from harness.lab.submit import facts
from harness.model.errors import BadInput
from harness.model.probe import ProbeRun, RecordedProbes
from harness.option_types import WholeNumber
from harness.probes.options import integer_option
from harness.probes.plan import ProbePlan, run_probes
from harness.probes.site import Rack
from harness.runtime.interrupt import interruptible

RACKS = 2
SPARK, DEFAULT_VIA = "spark", "ssh"


@dataclass(frozen=True)
class HostChoice:
    """The hosts that the command line names, and how to reach them.

    `executor_hosts` are the hosts that Spark reaches and that need not be named.
    """

    names: str | None
    in_lab: bool
    transport: Transport
    executor_hosts: Sequence[Host]

    def hosts(self) -> list[Host]:
        """Return the named hosts; by default the running workers of the lab, or all hosts with an executor.

        Raise BadInput if there are none.
        """
        if self.names is not None:
            return self._named("--hosts", self.names)
        if self.in_lab:
            return [node.host for node in running_lab().workers if node.is_running]
        if self.executor_hosts:
            return list(self.executor_hosts)
        raise BadInput("name the hosts, such as --hosts node[1-4], or use the lab's: --lab")

    @property
    def facts(self) -> dict[str, str]:
        """What a record says of the hosts: in the lab that they are emulated, and how."""
        return facts(running_lab()) if self.in_lab else {}

    def _named(self, option: str, text: str) -> list[Host]:
        if self.in_lab:
            return [node.host for node in running_lab().select(expand_names(option, text))]
        return parse_hosts(option, text, self.transport)


@dataclass(frozen=True)
class ProbeSite(HostChoice):
    """What to probe, how often, and where to record it: nowhere without a configuration.

    `directory` is that of the results, also if the probe is not recorded.
    """

    configuration: str | None
    directory: Path
    repeats: int

    def racks(self, options: Sequence[str]) -> list[Rack]:
        """Return the racks of `--rack NAME=HOSTS`; by default the lab's own.

        Raise BadInput if these are not two.
        """
        if self.names is not None:
            raise BadInput("--hosts: name them by --rack, because a host is in one of two racks")
        found = [self._rack(text) for text in options]
        if self.in_lab and not found:
            found = self._lab_racks()
        if len(found) != RACKS or found[0].name == found[1].name:
            raise BadInput("name two racks: --rack a=node[1-20] --rack b=node[21-40]")
        in_both = {host.name for host in found[0].hosts} & {host.name for host in found[1].hosts}
        if in_both:
            raise BadInput(f"--rack: {', '.join(sorted(in_both))} cannot be in both racks")
        return found

    def probe(self, plan: ProbePlan, probe: str) -> RecordedProbes:
        """Run the plan of a probe, with the site's repeats, and record it if a configuration is named."""
        parameters = {"probe": probe, **plan.parameters}
        run = ProbeRun(
            configuration=self.configuration or "",
            hosts=tuple(host.name for host in plan.hosts),
            parameters={name: str(value) for name, value in parameters.items()},
            facts=self.facts,
        )
        with interruptible(once=True):
            results = self.directory if self.configuration else None
            return run_probes(replace(plan, repeats=self.repeats), run, results)

    def _rack(self, text: str) -> Rack:
        name, equals, names = text.partition("=")
        if not equals or not name.strip():
            raise BadInput(f"--rack {text!r} has no name: write --rack a=node[1-20]")
        return Rack(name.strip(), tuple(self._named("--rack", names)))

    def _lab_racks(self) -> list[Rack]:
        lab = running_lab()
        if lab.router is None:
            raise BadInput("the running lab has one rack; start one with two: lab up --racks 2")
        return [
            Rack(f"rack-{rack}", tuple(lab.node(f"worker-{n}").host for n in numbers))
            for rack, numbers in racks(len(lab.workers)).items()
        ]


def on_hosts(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command the options of a HostChoice, and the HostChoice as its first argument."""

    @wraps(command)
    def with_hosts(
        names: str | None,
        *,
        in_lab: bool,
        via: str,
        spark_options: str | None,
        spark_port: int | None,
        **others: Any,
    ) -> Any:
        if in_lab and via != DEFAULT_VIA:
            raise BadInput(f"--lab reaches its nodes by Docker: leave out --via {via}")
        with _reach(via, spark_options, spark_port) as reach:
            return command(HostChoice(names, in_lab, *reach), **others)

    for option in _HOST_OPTIONS:
        with_hosts = option(with_hosts)
    return with_hosts


def on_site(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command the options of a ProbeSite, and it as its first argument."""

    @wraps(command)
    def with_site(
        chosen: HostChoice, *, configuration: str | None, results: Path, repeats: int, **others: Any
    ) -> Any:
        site = ProbeSite(
            **vars(chosen), configuration=configuration, directory=results, repeats=repeats
        )
        return command(site, **others)

    for option in _RECORD_OPTIONS:
        with_site = option(with_site)
    return on_hosts(with_site)


@contextmanager
def _reach(
    via: str, spark_options: str | None, spark_port: int | None
) -> Iterator[tuple[Transport, Sequence[Host]]]:
    """Make hosts reachable in this context, and yield the transport and the hosts of Spark's executors.

    Raise BadInput and ClusterliftError like `spark_transport`.
    """
    if via != SPARK:
        if spark_options is not None or spark_port is not None:
            option = "--spark-port" if spark_options is None else "--spark-options"
            raise BadInput(f"{option} needs --via spark")
        yield TRANSPORTS[via], ()
        return
    try:
        options = shlex.split(spark_options or "")
    except ValueError as error:
        raise BadInput(f"--spark-options {spark_options!r} cannot be read: {error}") from error
    with spark_transport(options, spark_port or ANY_PORT) as hosts:
        yield partial(_by_spark, hosts), tuple(hosts.values())


def _by_spark(hosts: Mapping[str, Host], name: str, address: str) -> Host:
    if name not in hosts:
        raise BadInput(f"--via spark: {name} has no executor; these hosts do: {', '.join(hosts)}")
    return replace(hosts[name], address=address or hosts[name].address)


_RECORD_OPTIONS = (
    results_option,
    configuration_option(
        "Record the probe below --results, under this name.  [default: only print it]"
    ),
    integer_option("--repeats", WholeNumber(1, 1000), 1, "Number of times to measure everything."),
)
"""The last one is the first in the help."""

_HOST_OPTIONS = (
    click.option(
        "--via",
        type=click.Choice([*TRANSPORTS, SPARK]),
        default=DEFAULT_VIA,
        show_default=True,
        help="How to reach the hosts: ssh without a password; docker, or netns (network namespaces), by "
        "name; local runs everything on this machine; spark with a task on each executor.",
    ),
    click.option(
        "--spark-options",
        metavar="OPTIONS",
        help="For --via spark: options for spark-submit, such as '--master spark://host:7077'.",
    ),
    click.option(
        "--spark-port",
        type=WholeNumber(1, 65535),
        help="For --via spark: the TCP port of this machine to which executors connect, for a firewall."
        "  [default: any free port]",
    ),
    click.option("--lab", "in_lab", is_flag=True, help="Use the nodes of the running lab."),
    click.option(
        "--hosts",
        "names",
        metavar="NAMES",
        help="Names such as node[1-4], or with other addresses: a=10.0.0.1,b=10.0.0.2.",
    ),
)
