"""The lab as the site of an experiment: its nodes are hosts, and the experiment starts them."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from pathlib import Path

from harness.base.errors import BadInput
from harness.base.terminal import say
from harness.experiments.experiment import Configuration, DatasetSpec
from harness.experiments.hosts_spec import HostsSpec
from harness.experiments.site import Configured, Site
from harness.hosts.transports.host import Host
from harness.lab.cluster import Lab, LabSpec, find_lab, lab_lock, running_lab
from harness.lab.compose import results_directory
from harness.lab.disks import ENGINE, disk_rates, how_limited
from harness.lab.lifecycle import UNSHAPED, up
from harness.lab.links import DEVICE, set_links
from harness.lab.submit import facts, spark_submit
from harness.model.disk_rate import disk_rate_text
from harness.model.link import TYPICAL_MTU, Link
from harness.settings.in_force import NotPutBack, Settings
from harness.settings.journal import PUT_BACK, Journal
from harness.settings.setting import SettingChange


class LabSite(Site):
    """A lab of this shape, which is started if it is not up. Its links are without a limit at first."""

    def __init__(self, shape: LabSpec, experiment: str) -> None:
        spec = HostsSpec(hosts="", via="docker", device=DEVICE)
        super().__init__(spec, experiment, results_directory())
        self._shape = shape

    def lock(self) -> AbstractContextManager[None]:
        """Lock the lab."""
        return lab_lock()

    def open(self, programs: Sequence[str] = ()) -> None:
        """Start the lab, whose image has the programs. Raise BadInput if one is up that writes elsewhere."""
        lab = self._started()
        own = str(self.results.resolve())
        # Where Docker is in a machine of its own, more precedes it.
        if not str(lab.results).endswith(own):
            raise BadInput(
                f"the lab that is up writes its results to {lab.results}, not to {own}: set RESULTS to its "
                "directory, or remove the lab first (clusterlift lab down)"
            )
        set_links(dict.fromkeys(self._hosts, UNSHAPED))

    def _started(self) -> Lab:
        """Start the lab, or the nodes that ended, and return it."""
        up(self._shape)
        lab = running_lab()
        self._hosts = lab.hosts
        return lab

    def uri(self, data: DatasetSpec) -> str:
        """Return a path in the dataset's file system. On Ceph, it is in the bucket of its layout."""
        return f"{running_lab().uri(data.storage, data.layout)}/{self._experiment}/{data.name}"

    def hosts_to_set(self) -> Sequence[Host]:
        """Return the nodes that run, and the machine that limits their disks."""
        lab = find_lab()
        if lab is None:
            return []
        return [*lab.hosts, ENGINE]

    def hosts_with_caches(self) -> Sequence[Host]:
        """Return this machine: all nodes share its kernel, and a container may not drop its page cache."""
        return [ENGINE]

    def disk_rates(self, configuration: Configuration) -> Settings:
        """Return the settings of the disks of all workers that run."""
        bytes_s = configuration.disk_bytes_s
        if not bytes_s:
            return {}
        lab = find_lab()
        if lab is None:
            return {}
        return {ENGINE: disk_rates(lab, bytes_s)}

    def planned(self, configuration: Configuration) -> list[str]:
        """Return what every node would have, in a lab that need not be up."""
        lines = [f"every node of the lab: {str(configuration.links) or 'unlimited'}"]
        if configuration.disk_bytes_s:
            lines.append(
                f"every worker of the lab: disk {disk_rate_text(configuration.disk_bytes_s)}"
            )
        return lines

    @contextmanager
    def configured(self, configuration: Configuration, journal: Journal) -> Iterator[Configured]:
        """Restart nodes that died in an earlier run, and put the configuration in force."""
        lab = self._started()
        workers = [node.host for node in lab.workers]
        try:
            with super().configured(configuration, journal) as configured:
                yield replace(configured, hosts=workers)
        except NotPutBack as error:
            if all(node.is_running for node in running_lab().nodes):
                raise
            say(str(error))  # a node that ends loses what was set with it

    def put_back(
        self, journal: Journal, configurations: Sequence[Configuration]
    ) -> list[SettingChange]:
        """Put back what is set in nodes that still run. A node that ended has lost its settings."""
        running = {str(host) for host in self.hosts_to_set()}
        lost = []
        for entry in journal.outstanding():
            is_disk = entry.host == str(ENGINE)
            node = entry.setting.split()[-1] if is_disk else entry.host
            if node not in running:
                lost.append(entry)
        journal.record(PUT_BACK, lost)
        return super().put_back(journal, configurations)

    def facts(self, configuration: Configuration) -> dict[str, str]:
        """Return what the configuration sets, that the lab is emulated, and how."""
        link = Link(configuration.rate_bit_s, configuration.mtu or TYPICAL_MTU)
        disks = how_limited() if configuration.disk_bytes_s else ""
        return {**configuration.facts, **facts(running_lab(), [link], disks)}

    def run(
        self,
        script: str,
        arguments: Sequence[str],
        properties: Sequence[str],
        environment: Mapping[str, str],
        meanwhile: Callable[[], None] = lambda: None,
    ) -> int:
        """Run a script on the lab's master."""
        lab = running_lab()
        return spark_submit(
            lab,
            script,
            arguments,
            properties,
            environment,
            meanwhile,
            shows_usual_lines=self.shows_usual_lines,
        )

    def path_there(self, path: Path) -> str:
        """Return the path in the directory that the master mounts."""
        if not path.is_relative_to(self.results):
            raise BadInput(f"{path} is not below {self.results}: the lab sees no other directory")
        return f"results/{path.relative_to(self.results).as_posix()}"
