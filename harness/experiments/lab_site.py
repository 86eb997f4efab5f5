"""The lab as the site of an experiment."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

from harness.base.errors import BadInput
from harness.base.terminal import say
from harness.experiments.experiment import Configuration, Dataset
from harness.experiments.site import Configured, Site
from harness.hosts.transports.host import Host
from harness.lab.cluster import find_lab, lab_lock, running_lab
from harness.lab.compose import LabSpec, results_directory
from harness.lab.disks import ENGINE, disk_rates, how_limited
from harness.lab.lifecycle import up
from harness.lab.links import DEVICE, set_links
from harness.lab.submit import facts, spark_submit
from harness.model.link import TYPICAL_MTU, Link
from harness.settings.in_force import NotPutBack, Settings, in_force
from harness.settings.journal import PUT_BACK, Journal
from harness.settings.setting import Change, Setting


class LabSite(Site):
    """A lab of this shape, which is started if it is not up. Its links are without a limit at first."""

    def __init__(self, shape: LabSpec, experiment: str) -> None:
        self.results = results_directory()
        self._shape = shape
        self._experiment = experiment

    def lock(self) -> AbstractContextManager[None]:
        """Lock the lab."""
        return lab_lock()

    def open(self, programs: Sequence[str] = ()) -> None:
        """Start the lab, whose image has the programs. Raise BadInput if one is up that writes elsewhere."""
        up(self._shape)
        lab = running_lab()
        own = str(self.results.resolve())
        # Where Docker is in a machine of its own, more precedes it.
        if not str(lab.results).endswith(own):
            raise BadInput(
                f"the lab that is up writes its results to {lab.results}, not to {own}: set RESULTS to its "
                "directory, or remove the lab first (clusterlift lab down)"
            )
        set_links(lab.linked, lambda _: Link(None, TYPICAL_MTU))

    def uri(self, data: Dataset) -> str:
        """Return a path in the file system that the dataset names; on Ceph, in the bucket of its layout."""
        return f"{running_lab().uri(data.storage, data.layout)}/{self._experiment}/{data.name}"

    def settings(self, configuration: Configuration) -> Settings:
        """Return what is set on every node of a lab that is up."""
        wanted = list(configuration.settings(DEVICE, TYPICAL_MTU))
        found: dict[Host, Sequence[Setting]] = {node.host: wanted for node in running_lab().linked}
        if disks := self.disk_rates(configuration):
            found[ENGINE] = disks
        return found

    def disk_rates(self, configuration: Configuration) -> Sequence[Setting]:
        """Return the settings of the disks of all workers that run."""
        lab, bytes_s = find_lab(), configuration.disk_bytes_s
        return disk_rates(lab, bytes_s) if lab and bytes_s else []

    @contextmanager
    def configured(self, configuration: Configuration, journal: Journal) -> Iterator[Configured]:
        """Restart nodes that died in an earlier run, and set the links."""
        up(self._shape)
        lab = running_lab()
        hosts = [node.host for node in lab.workers if node.is_running]
        try:
            with in_force(self.settings(configuration), journal) as settings:
                yield Configured(hosts, settings.lost)
        except NotPutBack as error:
            if all(node.is_running for node in running_lab().nodes):
                raise
            say(str(error))  # a node that ends loses what was set with it

    def hosts_to_set(self) -> Sequence[Host]:
        """Return the nodes that run, and the machine that limits their disks."""
        lab = find_lab()
        return [*(node.host for node in lab.linked), ENGINE] if lab else []

    def hosts_with_caches(self) -> Sequence[Host]:
        """Return the machine whose kernel all nodes share; a container may not drop its page cache."""
        return [ENGINE]

    def device(self, found: str) -> str:
        """Return the device of every node."""
        return DEVICE

    def put_back(self, journal: Journal, configurations: Sequence[Configuration]) -> list[Change]:
        """Put back what is set in nodes that still run; a node that ended has lost it."""
        running = {str(host) for host in self.hosts_to_set()}
        lost = [
            entry
            for entry in journal.outstanding()
            if entry.host not in running
            or (entry.host == str(ENGINE) and entry.setting.split()[-1] not in running)
        ]
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
        return spark_submit(lab, script, arguments, properties, environment, meanwhile)

    def path_there(self, path: Path) -> str:
        """Return the path in the directory that the master mounts."""
        if not path.is_relative_to(self.results):
            raise BadInput(f"{path} is not below {self.results}: the lab sees no other directory")
        return f"results/{path.relative_to(self.results).as_posix()}"
