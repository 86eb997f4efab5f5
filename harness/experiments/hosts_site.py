"""Hosts of the user's own as the site of an experiment; they are reached as probes reach them."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path

from harness.base.child_process import run_to_its_end
from harness.base.errors import ToolError
from harness.experiments.experiment import Configuration, Dataset
from harness.experiments.hosts_spec import HostsSpec
from harness.experiments.site import Configured, Site
from harness.hosts.links import LINK_PROGRAMS, read_links
from harness.hosts.preflight import preflight
from harness.hosts.remote_process import answers_of_all
from harness.hosts.transports.host import Host, HostError, by_netns
from harness.model.link import TYPICAL_MTU
from harness.settings.in_force import Settings, in_force
from harness.settings.journal import Journal
from harness.settings.setting import Setting
from harness.submit.local_spark import script_path, spark_environment, spark_submit_command


class HostsSite(Site):
    """The hosts that an experiment file names. `open` finds them."""

    def __init__(self, spec: HostsSpec, experiment: str, results: Path) -> None:
        self.results = results
        self._spec = spec
        self._experiment = experiment
        self._hosts: tuple[Host, ...] = ()

    def lock(self) -> AbstractContextManager[None]:
        """Lock nothing: each host refuses a second experiment by itself."""
        return nullcontext()

    def open(self, programs: Sequence[str] = ()) -> None:
        """Check that every host answers, as root, and has the programs."""
        checked = preflight(
            self._spec.named_hosts(), tuple(dict.fromkeys((*LINK_PROGRAMS, *programs)))
        )
        for error in checked.excluded_hosts.values():
            raise error
        self._hosts = checked.hosts
        answers_of_all(map(self._spec.as_root, self._hosts), ("id", "-u"), _require_root)

    def uri(self, data: Dataset) -> str:
        """Return the dataset's own URI, or one below the site's."""
        base = (self._spec.data or "").rstrip("/")
        return data.uri or f"{base}/{self._experiment}/{data.name}"

    def settings(self, configuration: Configuration) -> Settings:
        """Return what is set on each host, on the interface that leads to the others."""
        found: dict[Host, Sequence[Setting]] = {}
        links = read_links(self._hosts, self._spec.device)
        for host, link in zip(self._hosts, links, strict=True):
            if isinstance(link, HostError):
                raise link
            device, mtu = self.device(link.device), link.mtu_bytes or TYPICAL_MTU
            own = [*configuration.settings(device, mtu), *self.disk_rates(configuration)]
            found[self._spec.as_root(host)] = own
        return found

    def hosts_to_set(self) -> Sequence[Host]:
        """Return the hosts that the experiment file names, as root reaches them."""
        return [self._spec.as_root(host) for host in self._spec.named_hosts()]

    def device(self, found: str) -> str:
        """Return the device of the experiment file; without one, the one that was found."""
        return self._spec.device or found

    def disk_rates(self, configuration: Configuration) -> Sequence[Setting]:
        """Return the settings of the disks that the experiment file names."""
        bytes_s = configuration.disk_bytes_s
        return list(self._spec.disk_rates(bytes_s)) if bytes_s else []

    @contextmanager
    def configured(self, configuration: Configuration, journal: Journal) -> Iterator[Configured]:
        """Set what the configuration sets, and put it back."""
        with in_force(self.settings(configuration), journal) as settings:
            yield Configured(self._hosts, settings.lost)

    def facts(self, configuration: Configuration) -> dict[str, str]:
        """Return what the configuration sets."""
        return configuration.facts

    def run(
        self,
        script: str,
        arguments: Sequence[str],
        properties: Sequence[str],
        environment: Mapping[str, str],
        meanwhile: Callable[[], None] = lambda: None,
    ) -> int:
        """Run spark-submit on this machine, with the options that the experiment file has."""
        command = [
            *(*spark_submit_command(), *self._spec.spark),
            *(f"--conf={pair}" for pair in properties),
            *(script_path(script), *arguments),
        ]
        if self._spec.submit_from:
            command = by_netns(self._spec.submit_from).argv(*command)
        return run_to_its_end(command, {**spark_environment(), **environment}, meanwhile)


def _require_root(user: str) -> None:
    if user.strip() != "0":
        raise ToolError(
            "an experiment needs root there: name root@HOST, or let the user become root by sudo without a "
            "password and write `sudo = true`"
        )
