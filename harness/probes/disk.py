"""The disk probe: how fast the disks of each host read and write, and how long until written data is safe."""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial

import click

from harness.analysis.network.disks import disk_cases, unlike_before, unlike_peers
from harness.analysis.network.measured import MeasuredCase
from harness.base.errors import BadInput
from harness.base.option_types import WholeNumber
from harness.base.words import join_names
from harness.hosts.remote_process import CompletedCommand, ask
from harness.hosts.transports.host import Host, HostError
from harness.model.finding import Finding, note
from harness.model.network_metrics import (
    DISK,
    DISK_BELOW,
    DISK_READ,
    DISK_WRITE,
    RANDOM_READ_P99,
    RANDOM_READS,
    RANDOM_WRITE_P99,
    RANDOM_WRITES,
    SYNC_MEDIAN,
    SYNC_P99,
)
from harness.model.probe import Measurement, RecordedProbes
from harness.present.probes.columns import Column, MeasurementTable, of_metric
from harness.probes.kind import ProbeKind
from harness.probes.options import NamedHosts, integer_option
from harness.probes.plan import ProbePlan, ProbeStep
from harness.probes.tools import fio
from harness.probes.tools.fio import Pace

SLOWEST_BYTES_S = 10e6
"""A file that is written more slowly than this is given up."""
GRACE_S = 60.0


def disk_steps(
    hosts: Sequence[Host], directories: Sequence[str], file_bytes: int, seconds: int
) -> list[ProbeStep]:
    """Measure one directory after the other, on all hosts at the same time."""
    steps = []
    for directory in directories:
        measure = partial(_measure, hosts, directory, file_bytes, seconds)
        steps.append(ProbeStep(f"disk: {directory}", fio.expected_s(seconds), measure))
    return steps


def _measure(
    hosts: Sequence[Host], directory: str, file_bytes: int, seconds: int
) -> Iterator[Measurement]:
    timeout_s = fio.expected_s(seconds) + file_bytes / SLOWEST_BYTES_S + GRACE_S
    command = fio.command(directory, file_bytes, seconds)
    commands = {host: (host, command) for host in hosts}
    for host, measured in ask(commands, partial(_measurements, directory), timeout_s).items():
        if isinstance(measured, HostError):
            yield DISK_WRITE.failed(host.name, measured, directory)
        else:
            yield from measured


def _measurements(directory: str, host: Host, done: CompletedCommand) -> list[Measurement]:
    jobs = fio.read_report(done.output, done.code)
    measured = list(disk_measurements(host.name, directory, jobs))
    if fio.may_be_in_memory(done.output):
        measured.append(DISK_BELOW.of(host.name, 0, directory))
    return measured


def disk_measurements(host: str, directory: str, jobs: Mapping[str, Pace]) -> Iterator[Measurement]:
    """Yield the measurements of fio's jobs in a directory of a host."""
    for metric, value in (
        (DISK_WRITE, jobs[fio.WRITE].bytes_s),
        (DISK_READ, jobs[fio.READ].bytes_s),
        (RANDOM_WRITES, jobs[fio.RANDOM_WRITE].per_s),
        (RANDOM_WRITE_P99, jobs[fio.RANDOM_WRITE].p99_us),
        (RANDOM_READS, jobs[fio.RANDOM_READ].per_s),
        (RANDOM_READ_P99, jobs[fio.RANDOM_READ].p99_us),
        (SYNC_MEDIAN, jobs[fio.SYNC].median_us),
        (SYNC_P99, jobs[fio.SYNC].p99_us),
    ):
        yield metric.of(host, value, directory)


def disk_findings(probed: RecordedProbes) -> Iterator[Finding]:
    """Yield which directories are slower than the same ones of other hosts, and which may be in memory."""
    yield from unlike_peers(probed.measurements)
    hosts: dict[str, list[str]] = {}
    for case in disk_cases(probed.measurements):
        if 0 in case.values(DISK_BELOW):
            hosts.setdefault(case.case, []).append(case.subject)
    for directory, names in hosts.items():
        yield note(
            f"unknown whether {directory} is in memory or in a cache on {join_names(names)}",
            "install python3 (3.6 or newer) there",
        )


def _since(earlier: Sequence[RecordedProbes], probed: RecordedProbes) -> Iterator[Finding]:
    """Yield what became slower than in earlier probes with files of the same size (equal cache effects)."""
    before: list[Measurement] = []
    for each in earlier:
        if each.run.parameters.get("file_mb") == probed.run.parameters.get("file_mb"):
            before += each.measurements
    return unlike_before(before, probed.measurements)


def _plan(site: NamedHosts, *, directories: str | None, file_mb: int, seconds: int) -> ProbePlan:
    directories = directories or site.local_dirs
    if directories is None:
        raise BadInput(
            "--directory: name directories on the disks, such as /data/1,/data/2; only the lab and this "
            "machine (--via local) have a default"
        )
    names = [name.strip() for name in directories.split(",")]
    for name in names:
        if not name.startswith("/"):
            raise BadInput(f"--directory: {name!r} does not begin with '/'; write /data/1,/data/2")
    return ProbePlan(
        site.hosts(),
        ("fio",),
        lambda hosts, _: disk_steps(hosts, names, file_mb * 10**6, seconds),
        min_hosts=1,
        parameters={"directories": ",".join(names), "file_mb": file_mb, "seconds": seconds},
    )


KIND = ProbeKind(
    DISK,
    "Measure the disks of each host with fio, past the page cache, in directories that you name.",
    _plan,
    options=(
        click.option(
            "--directory",
            "directories",
            metavar="PATH,...",
            help="Directories on the disks, the same on every host. The probe writes a file without a name "
            "there, which is gone when the probe ends, however it ends.  [default: with --lab or --via "
            "local, where Spark writes]",
        ),
        integer_option(
            "--file-mb",
            WholeNumber(64, 10**7),
            1000,
            "Size of the file in MB, at most half of the free space. To measure the disk itself, choose more "
            "than the caches of the disk and of its controller.",
        ),
        integer_option(
            "--seconds", WholeNumber(1, 3600), 10, "Duration of each of five measurements."
        ),
    ),
    measures=(DISK,),
    tables=(
        MeasurementTable(
            lambda probed: disk_cases(probed.measurements),
            (
                Column[MeasuredCase]("host", lambda row: row.subject),
                Column[MeasuredCase]("directory", lambda row: row.case),
                Column("write MB/s", of_metric(DISK_WRITE), ",.0f", 1e-6),
                Column("read MB/s", of_metric(DISK_READ), ",.0f", 1e-6),
                Column("random writes/s", of_metric(RANDOM_WRITES), ",.0f"),
                Column("p99 ms", of_metric(RANDOM_WRITE_P99), ",.2f", 1e-3),
                Column("random reads/s", of_metric(RANDOM_READS), ",.0f"),
                Column("p99 ms", of_metric(RANDOM_READ_P99), ",.2f", 1e-3),
                Column("fsync ms", of_metric(SYNC_MEDIAN), ",.2f", 1e-3),
                Column("p99 ms", of_metric(SYNC_P99), ",.2f", 1e-3),
            ),
            rule="Write and read: 1 MiB at a time, 16 at once. Random: 4 KiB at a time, 32 at once. "
            "fsync: until 4 KiB are safe on the disk, one at a time, median.",
            badness=lambda row: -(row.median(DISK_WRITE) or 0.0),
        ),
    ),
    judge=disk_findings,
    judge_change=_since,
)
