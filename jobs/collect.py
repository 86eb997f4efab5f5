"""`spark-submit jobs/collect.py`: fetch what a driver on the cluster delivers, until its submitter is done.

`clusterlift run --deploy-mode cluster` starts it beside each application. When that command closes the pipe
`--control`, or dies, an application that still runs is ended, and its staging directory is removed.
"""

import os
import re
import select
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

# spark-submit puts the script's own directory first; our packages are one level above it.
sys.path[0] = str(Path(__file__).resolve().parents[1])

from py4j.protocol import Py4JError

from datagen.spark import root_cause, spark_errors_as_one_line
from harness.local_spark import closing_message
from harness.model.errors import INTERRUPTED, BadInput, ClusterliftError
from harness.records.directories import SUFFIX, sync
from harness.runtime.cluster_mode import NO_APPLICATION, ready_line
from harness.runtime.command_line import Parser, run_main
from harness.runtime.interrupt import ignored_signals
from harness.terminal import Relay, say, show
from harness.words import shorten
from jobs.staging import CONSOLE, EXIT_CODE, Hadoop, Staging

PROG = "collect.py"
RENEW_S = 5.0
GRACE_S = 60.0
"""So long may an application take to end by itself, with its trials recorded, before YARN ends it."""
POLL_S = 1.0
CONNECT_RETRIES = "5"
RESOURCE_MANAGER_WAIT_MS, RESOURCE_MANAGER_RETRY_MS = "20000", "2000"

_RESULTS = re.compile(rf"\d{{8}}T\d{{6}}Z-[0-9a-f]{{6}}{re.escape(SUFFIX)}")
"""The name of a results file: the id of a run, as `new_run_id` makes it."""
_MAX_EXIT_CODE = 255

_WAITING = frozenset({"NEW", "NEW_SAVING", "SUBMITTED", "ACCEPTED"})
_ENDED = frozenset({"FINISHED", "FAILED", "KILLED"})


def main() -> int:
    """Create the staging directory, fetch from it until the end, and return the driver's exit code."""
    parser = Parser(PROG, __doc__ or "")
    add = parser.add_argument
    add("--name", required=True, help="name of the directory, and tag of the application")
    add("--directory", type=Path, required=True, help="where the results file belongs")
    add("--control", type=Path, required=True, help="named pipe that the submitter keeps open")
    options = parser.parse_args()
    control = os.open(options.control, os.O_RDONLY | os.O_NONBLOCK)
    with spark_errors_as_one_line("--deploy-mode cluster: the staging directory", BadInput):
        hadoop = Hadoop()
        silence_log(hadoop)
        # By default, a client tries for minutes to reach a cluster that is gone, also after Ctrl-C.
        hadoop.conf.set("ipc.client.connect.max.retries", CONNECT_RETRIES)
        staging = Staging.create(hadoop, options.name)
    try:
        application = reachable_application(hadoop, options.name)
        # Only the submitter ends this process, by closing the pipe.
        with ignored_signals():
            show(ready_line(staging.uri))
            with spark_errors_as_one_line(staging.uri):
                return Collector(staging, options.directory).run(control, application)
    finally:
        with suppress(Py4JError, OSError):
            staging.remove()


def silence_log(hadoop: Hadoop) -> None:
    """Keep the JVM from printing between the driver's lines."""
    log4j = hadoop.jvm.org.apache.logging.log4j
    log4j.core.config.Configurator.setRootLevel(log4j.Level.OFF)


def reachable_application(hadoop: Hadoop, tag: str) -> "Application":
    """Return the application that will have this tag. Raise BadInput if YARN does not answer."""
    application = Application(hadoop, tag)
    try:
        application.report()
    except Py4JError as error:
        raise BadInput(
            f"--master yarn: the ResourceManager does not answer ({root_cause(error)}); set "
            "HADOOP_CONF_DIR to the directory with the cluster's core-site.xml and yarn-site.xml"
        ) from error
    return application


class Application:
    """The application with a tag on YARN, of which there is none before it is submitted."""

    def __init__(self, hadoop: Hadoop, tag: str) -> None:
        self._hadoop = hadoop
        yarn = hadoop.package.yarn
        conf = yarn.conf.YarnConfiguration(hadoop.conf)
        conf.set("yarn.resourcemanager.connect.max-wait.ms", RESOURCE_MANAGER_WAIT_MS)
        conf.set("yarn.resourcemanager.connect.retry-interval.ms", RESOURCE_MANAGER_RETRY_MS)
        self._client = yarn.client.api.YarnClient.createYarnClient()
        self._client.init(conf)
        self._client.start()
        self._request = yarn.api.protocolrecords.GetApplicationsRequest.newInstance()
        tags = hadoop.jvm.java.util.HashSet()
        tags.add(tag)
        self._request.setApplicationTags(tags)

    def report(self) -> Any:
        """Return YARN's report; None if there is no such application. Raises py4j's errors."""
        return next(iter(self._client.getApplications(self._request)), None)

    def kill(self) -> None:
        if (report := self.report()) is not None:
            self._client.killApplication(report.getApplicationId())


class Collector:
    """Fetches the parts of a staging directory; the results file goes to `directory`."""

    def __init__(self, staging: Staging, directory: Path) -> None:
        self.exit_code: int | None = None
        self._staging = staging
        self._directory = directory
        self._file: Path | None = None
        self._number = 0
        self._relay = Relay()

    def run(self, control: int, application: Application) -> int:
        """Fetch until the submitter closes the pipe, end an application that still runs, fetch the rest."""
        answers = True
        try:
            while not _is_closed(control, RENEW_S):
                try:
                    self._staging.renew()
                    self.fetch()
                    answers = True
                except Py4JError as error:  # the file system may answer the next time
                    if answers:
                        say(f"{self._staging.uri}: {root_cause(error)}; trying again")
                    answers = False
        finally:
            was_active = self._end(application)
        self.fetch()
        self._relay.end()
        if self.exit_code is not None:
            return self.exit_code
        return INTERRUPTED if was_active else _without_exit_code(application)

    def fetch(self) -> None:
        """Fetch the parts that are there.

        Raises py4j's errors, OSError if results cannot be written, and ClusterliftError for a part that no
        driver of ours delivers.
        """
        for part in self._staging.parts():
            number, _, name = part.partition(".")
            # A driver that did not learn whether it delivered a part delivers it again.
            if int(number) > self._number:
                self._keep(name, self._staging.take(part))
                self._number = int(number)
            self._staging.delete(part)

    def _keep(self, name: str, content: bytes) -> None:
        if name == CONSOLE:
            self._relay.copy(content)
        elif name == EXIT_CODE:
            if not re.fullmatch(rb"\d{1,3}", content) or int(content) > _MAX_EXIT_CODE:
                code = shorten(repr(content.decode(errors="replace")), 60)
                raise self._refused(f"an exit code {code}")
            self.exit_code = int(content)
        else:
            self._append(name, content)

    def _append(self, name: str, content: bytes) -> None:
        """Append whole lines to the results file of this run, which appears with the first ones complete.

        Whoever can write to the staging directory could name another file, or one outside.
        """
        if not _RESULTS.fullmatch(name):
            raise self._refused(f"a file {name!r}, which is no name of a run's results")
        if not content.endswith(b"\n"):
            raise self._refused(f"a part of {name} that does not end with a line")
        file = self._directory / name
        if self._file is None:
            if os.path.lexists(file):
                raise self._refused(f"a file {name!r}, but {file} exists already")
            temporary = file.with_name(f".{name}.temporary")
            temporary.unlink(missing_ok=True)  # a collector was killed
            try:
                _write(temporary, content, os.O_CREAT | os.O_EXCL)
                temporary.rename(file)
            finally:
                temporary.unlink(missing_ok=True)
            sync(file.parent)
            self._file = file
        elif file != self._file:
            raise self._refused(f"a file {name!r} beside {self._file.name}")
        else:
            _write(file, content, os.O_APPEND)

    def _refused(self, what: str) -> ClusterliftError:
        return ClusterliftError(
            f"{self._staging.uri} has {what}: it is not from this run, and was not kept; look who else may "
            "write there"
        )

    def _end(self, application: Application) -> bool:
        """End the application, in order if it has begun. Return whether it was active."""
        was_active, deadline = False, time.monotonic() + GRACE_S
        try:
            self._staging.release()
            while (state := _state(application)) not in _ENDED:
                was_active = True
                # Whatever happens, the application has to end.
                with suppress(Py4JError, OSError, ClusterliftError):
                    self.fetch()
                if state in _WAITING or time.monotonic() > deadline:
                    application.kill()
                    if time.monotonic() > deadline + GRACE_S:
                        raise ClusterliftError("YARN does not end the application; end it by hand")
                time.sleep(POLL_S)
        # The file system, YARN, or our own virtual machine is gone.
        except (Py4JError, OSError) as error:
            raise ClusterliftError(
                f"cannot end the application: {root_cause(error)}; it ends by itself within two minutes, "
                f"because nobody renews its lease in {self._staging.uri}"
            ) from error
        return was_active


def _write(file: Path, content: bytes, flags: int) -> None:
    """Write to a file that is no symbolic link, and have it on the disk: all of the content, or nothing."""
    flags |= os.O_WRONLY | os.O_NOFOLLOW
    with open(file, "wb", 0, opener=lambda name, _: os.open(name, flags, 0o666)) as lines:
        end, left = os.fstat(lines.fileno()).st_size, memoryview(content)
        try:
            while left:
                left = left[lines.write(left) :]
            os.fsync(lines.fileno())
        except OSError:
            lines.truncate(end)
            raise


def _is_closed(control: int, timeout_s: float) -> bool:
    """Wait, and return whether nobody has the pipe open for writing any more."""
    select.select([control], [], [], timeout_s)
    try:
        return not os.read(control, 1)
    except BlockingIOError:  # it is open, and nobody ever writes
        return False


def _state(application: Application) -> str:
    """Return YARN's state of the application; without one it has ended."""
    report = application.report()
    return "FINISHED" if report is None else str(report.getYarnApplicationState().toString())


def _without_exit_code(application: Application) -> int:
    """Report why a driver ended without its exit code, and return one."""
    report = application.report()
    if report is None:
        return NO_APPLICATION
    id_ = report.getApplicationId().toString()
    reason = closing_message(str(report.getDiagnostics() or ""))
    raise ClusterliftError(
        f"the driver of {id_} ended early: {reason}; `yarn logs -applicationId {id_}` shows its log"
    )


if __name__ == "__main__":
    run_main(PROG, main)
