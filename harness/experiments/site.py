"""Where an experiment runs: hosts with Spark and a file system, which are reached as probes reach them."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from harness.base.errors import ToolError
from harness.experiments.experiment import Configuration, DatasetSpec
from harness.experiments.hosts_spec import HostsSpec
from harness.hosts.links import LINK_PROGRAMS, read_links
from harness.hosts.preflight import preflight
from harness.hosts.remote_process import answers_of_all, ask_all
from harness.hosts.transports.host import Host, HostError, by_netns
from harness.model.link import TYPICAL_MTU
from harness.node.page_cache import DROP
from harness.settings.in_force import Settings, in_force, plan, put_back
from harness.settings.journal import Journal
from harness.settings.setting import Setting, SettingChange
from harness.submit.script import run_script
from harness.trials.hold import HOLD_FILE

_DONE = "dropped"


@dataclass(frozen=True)
class Configured:
    """A site while a configuration is in force.

    `hosts` can be probed. `lost` returns in one line which setting has another value now, None if none has.
    """

    hosts: Sequence[Host]
    lost: Callable[[], str | None]


class Site:
    """The hosts that an experiment's file names. `results` is the directory of all results.

    `open` finds the hosts. `device` is the interface whose link is set, None for the one that leads to the
    other hosts. `shows_usual_lines` says whether the lines that every start of Spark prints are shown.
    """

    def __init__(self, spec: HostsSpec, experiment: str, results: Path) -> None:
        self.results = results
        self.device = spec.device
        self.shows_usual_lines = False
        self._spec = spec
        self._experiment = experiment
        self._hosts: Sequence[Host] = ()

    def lock(self) -> AbstractContextManager[None]:
        """Return a context in which no other command of this user uses the site.

        This one locks nothing: each host refuses a second experiment by itself.
        """
        return nullcontext()

    def open(self, programs: Sequence[str] = ()) -> None:
        """Check that every host answers, as root, and has the programs that run there.

        Raise BadInput or ClusterliftError that says which host, port or program is not as it has to be.
        """
        needed = tuple(dict.fromkeys((*LINK_PROGRAMS, *programs)))
        checked = preflight(self._spec.named_hosts(), needed)
        for error in checked.excluded_hosts.values():
            raise error
        self._hosts = checked.hosts
        answers_of_all(map(self._spec.as_root, self._hosts), ("id", "-u"), _require_root)

    def uri(self, data: DatasetSpec) -> str:
        """Return where a dataset is stored: at its own URI, or below the site's."""
        base = (self._spec.data or "").rstrip("/")
        return data.uri or f"{base}/{self._experiment}/{data.name}"

    def hosts_to_set(self) -> Sequence[Host]:
        """Return the hosts on which something may be set, as root reaches them."""
        return [self._spec.as_root(host) for host in self._spec.named_hosts()]

    def hosts_with_caches(self) -> Sequence[Host]:
        """Return the hosts whose page caches may have what is stored, as root reaches them."""
        return self.hosts_to_set()

    def drop_caches(self) -> list[str]:
        """Let hosts drop their page caches, and return a line for each that could not."""
        command = ("sh", "-c", f"{DROP} && echo {_DONE}")
        answers = ask_all(self.hosts_with_caches(), command, _require_done)
        return [str(answer) for answer in answers.values() if isinstance(answer, HostError)]

    def settings(self, configuration: Configuration) -> Settings:
        """Return what a configuration sets on each host, on the interface that leads to the others."""
        found: dict[Host, Sequence[Setting]] = {}
        links = read_links(self._hosts, self.device)
        for host, link in zip(self._hosts, links, strict=True):
            if isinstance(link, HostError):
                raise link
            device = self.device or link.device
            wanted = configuration.settings(device, link.mtu_bytes or TYPICAL_MTU)
            found[self._spec.as_root(host)] = list(wanted)
        for host, rates in self.disk_rates(configuration).items():
            found[host] = [*found.get(host, ()), *rates]
        return found

    def disk_rates(self, configuration: Configuration) -> Settings:
        """Return the settings of the disks; none if the configuration does not limit them."""
        bytes_s = configuration.disk_bytes_s
        if not bytes_s:
            return {}
        return {host: self._spec.disk_rates(bytes_s) for host in self.hosts_to_set()}

    def planned(self, configuration: Configuration) -> list[str]:
        """Return in a line each what the configuration would change. Hosts are asked for what is set now."""
        if not self._hosts:
            self.open()
        changes = plan(self.settings(configuration))
        lines = [f"{change}: {change.before} -> {change.setting.value}" for change in changes]
        return lines or ["nothing is to be set"]

    @contextmanager
    def configured(self, configuration: Configuration, journal: Journal) -> Iterator[Configured]:
        """Put a configuration in force on all hosts in the block."""
        with in_force(self.settings(configuration), journal) as settings:
            yield Configured(self._hosts, settings.lost)

    def put_back(
        self, journal: Journal, configurations: Sequence[Configuration]
    ) -> list[SettingChange]:
        """Put back what an earlier command has left, and return it. Raise NotPutBack if that fails.

        A setting that no configuration sets is not put back.
        """

        def known(device: str, mtu: int) -> Iterable[Setting]:
            for configuration in configurations:
                yield from configuration.settings(self.device or device, mtu)
                for rates in self.disk_rates(configuration).values():
                    yield from rates

        return put_back(journal, self.hosts_to_set(), known)

    def facts(self, configuration: Configuration) -> dict[str, str]:
        """Return what a run of this configuration declares about the site."""
        return configuration.facts

    def submit(
        self,
        script: str,
        arguments: Sequence[str],
        properties: Sequence[str] = (),
        environment: Mapping[str, str] | None = None,
        on_request: Callable[[str], None] | None = None,
    ) -> int:
        """Run a script of the checkout under spark-submit in this environment, and return its exit code.

        `on_request` is called with each text that the benchmark writes to its hold file. The benchmark waits
        until it returns: see wait_for_release. Without `on_request` there is no hold file.
        """
        if on_request is None:
            return self.run(script, arguments, properties, environment or {})
        with TemporaryDirectory(prefix=".turn-", dir=self.results) as directory:
            file = Path(directory) / "turn"

            def answer_request() -> None:
                if file.exists():
                    on_request(file.read_text())
                    file.unlink(missing_ok=True)  # the application removes it when it ends

            held = {**(environment or {}), HOLD_FILE: self.path_there(file)}
            return self.run(script, arguments, properties, held, answer_request)

    def run(
        self,
        script: str,
        arguments: Sequence[str],
        properties: Sequence[str],
        environment: Mapping[str, str],
        meanwhile: Callable[[], None] = lambda: None,
    ) -> int:
        """Run a script on this machine, and return its exit code. Call `meanwhile` several times a second."""
        options = [*self._spec.spark, *(f"--conf={pair}" for pair in properties)]
        before = by_netns(self._spec.submit_from).prefix if self._spec.submit_from else ()
        return run_script(
            script,
            options,
            arguments,
            environment,
            before=before,
            meanwhile=meanwhile,
            shows_usual_lines=self.shows_usual_lines,
        )

    def path_there(self, path: Path) -> str:
        """Return what a script calls a path below `results`."""
        return str(path)


def _require_done(output: str) -> None:
    if output.strip() != _DONE:
        raise ToolError("its page cache was not dropped")


def _require_root(user: str) -> None:
    if user.strip() != "0":
        raise ToolError(
            "an experiment needs root there: name root@HOST, or let the user become root by sudo without a "
            "password and write `sudo = true`"
        )
