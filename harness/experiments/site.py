"""Where an experiment runs: the lab, or hosts of the user's own."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path

from harness.experiments.experiment import Configuration, Data
from harness.hosts.transports.host import Host
from harness.settings.in_force import Settings, put_back
from harness.settings.journal import Change, Journal


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
    def open(self, data_bytes: int) -> None:
        """Make the site ready for an experiment with so much data.

        Raise BadInput or ClusterliftError that says which host, port or program is not as it has to be.
        """

    @abstractmethod
    def uri(self, data: Data) -> str:
        """Return where a dataset is stored."""

    @abstractmethod
    def settings(self, configuration: Configuration) -> Settings:
        """Return what a configuration sets, by host."""

    @abstractmethod
    def configured(
        self, configuration: Configuration, journal: Journal
    ) -> AbstractContextManager[Configured]:
        """Return a context in which a configuration is in force on all hosts."""

    def put_back(self, journal: Journal) -> list[Change]:
        """Put back what an earlier command has left, and return it. Raise NotPutBack if that fails."""
        return put_back(journal)

    @abstractmethod
    def facts(self, configuration: Configuration) -> dict[str, str]:
        """Return what a run of this configuration declares about the site."""

    @abstractmethod
    def submit(
        self,
        script: str,
        arguments: Sequence[str],
        properties: Sequence[str] = (),
        on_turn: Callable[[str], None] | None = None,
    ) -> int:
        """Run a script of the checkout under spark-submit, and return its exit code.

        The benchmark waits before each turn until `on_turn`, called with the configuration's name, returns.
        """

    def results_option(self, results: Path) -> str:
        """Return the value of the script's --results for an experiment's directory of results."""
        return str(results)
