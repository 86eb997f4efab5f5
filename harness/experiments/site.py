"""Where an experiment runs: the lab, or hosts of the user's own."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from harness.base.errors import ToolError
from harness.experiments.experiment import Configuration, Dataset
from harness.hosts.remote_process import ask_all
from harness.hosts.transports.host import Host, HostError
from harness.node.page_cache import DROP
from harness.settings.in_force import Settings, put_back
from harness.settings.journal import Journal
from harness.settings.setting import Change, Setting
from harness.trials.hold import HOLD_FILE

_DONE = "dropped"


@dataclass(frozen=True)
class Configured:
    """A site while a configuration is in force.

    `hosts` can be probed; `lost` returns in one line what is no longer as it was set, None if all is.
    """

    hosts: Sequence[Host]
    lost: Callable[[], str | None]


class Site(ABC):
    """Hosts with Spark and a file system. `results` is the directory of all results."""

    results: Path

    @abstractmethod
    def lock(self) -> AbstractContextManager[None]:
        """Return a context in which no other command of this user uses the site."""

    @abstractmethod
    def open(self, programs: Sequence[str] = ()) -> None:
        """Make the site ready for an experiment that runs these programs on every host.

        Raise BadInput or ClusterliftError that says which host, port or program is not as it has to be.
        """

    @abstractmethod
    def uri(self, data: Dataset) -> str:
        """Return where a dataset is stored."""

    @abstractmethod
    def settings(self, configuration: Configuration) -> Settings:
        """Return what a configuration sets, by host."""

    @abstractmethod
    def configured(
        self, configuration: Configuration, journal: Journal
    ) -> AbstractContextManager[Configured]:
        """Return a context in which a configuration is in force on all hosts."""

    @abstractmethod
    def hosts_to_set(self) -> Sequence[Host]:
        """Return the hosts as root reaches them; the nodes of a lab that ended are left out."""

    def hosts_with_caches(self) -> Sequence[Host]:
        """Return the hosts whose page caches may have what is stored, as root reaches them."""
        return self.hosts_to_set()

    def drop_caches(self) -> list[str]:
        """Put what hosts keep of files out of their memory, and return a line for each that could not."""
        answers = ask_all(
            self.hosts_with_caches(), ("sh", "-c", f"{DROP} && echo {_DONE}"), _require_done
        )
        return [str(answer) for answer in answers.values() if isinstance(answer, HostError)]

    @abstractmethod
    def device(self, found: str) -> str:
        """Return the device that is set, if `found` leads to the other hosts."""

    @abstractmethod
    def disk_rates(self, configuration: Configuration) -> Sequence[Setting]:
        """Return the settings of the site's disks; none if the configuration does not limit them."""

    def put_back(self, journal: Journal, configurations: Sequence[Configuration]) -> list[Change]:
        """Put back what an earlier command has left, and return it. Raise NotPutBack if that fails.

        Nothing is put back that none of the configurations sets.
        """

        def known(device: str, mtu: int) -> Iterable[Setting]:
            for configuration in configurations:
                yield from configuration.settings(self.device(device), mtu)
                yield from self.disk_rates(configuration)

        return put_back(journal, self.hosts_to_set(), known)

    @abstractmethod
    def facts(self, configuration: Configuration) -> dict[str, str]:
        """Return what a run of this configuration declares about the site."""

    def submit(
        self,
        script: str,
        arguments: Sequence[str],
        properties: Sequence[str] = (),
        environment: Mapping[str, str] | None = None,
        on_request: Callable[[str], None] | None = None,
    ) -> int:
        """Run a script of the checkout under spark-submit in this environment, and return its exit code.

        The benchmark waits until `on_request` returns, called with what it writes to its hold file: see
        wait_for_release. Without it there is no hold file.
        """
        if on_request is None:
            return self.run(script, arguments, properties, environment or {})
        with TemporaryDirectory(prefix=".turn-", dir=self.results) as directory:
            file = Path(directory) / "turn"

            def release() -> None:
                if file.exists():
                    on_request(file.read_text())
                    file.unlink(missing_ok=True)  # the application removes it when it ends

            held = {**(environment or {}), HOLD_FILE: self.path_there(file)}
            return self.run(script, arguments, properties, held, release)

    @abstractmethod
    def run(
        self,
        script: str,
        arguments: Sequence[str],
        properties: Sequence[str],
        environment: Mapping[str, str],
        meanwhile: Callable[[], None] = lambda: None,
    ) -> int:
        """Run a script, and return its exit code; call `meanwhile` several times a second."""

    def path_there(self, path: Path) -> str:
        """Return what a script calls a path below `results`."""
        return str(path)


def _require_done(output: str) -> None:
    if output.strip() != _DONE:
        raise ToolError("its page cache was not dropped")
