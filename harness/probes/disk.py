"""The disk probe: how fast the disks of each host read and write, and how long until written data is safe."""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial

import click

from harness.analysis.network.cases import MeasuredCase
from harness.analysis.network.disks import disk_cases, unlike_before, unlike_peers
from harness.base.errors import BadInput
from harness.base.option_types import WholeNumber
from harness.hosts.remote_process import parse_completed, run_all
from harness.hosts.transports.host import Host, HostError
from harness.model.finding import Finding
from harness.model.network_metrics import (
    DISK,
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
from harness.present.probes.columns import Column, ProbeTable, of_metric
from harness.probes.kind import ProbeKind
from harness.probes.options import integer_option
from harness.probes.plan import ProbePlan, ProbeStep
from harness.probes.site import Site
from harness.probes.tools import fio
from harness.probes.tools.fio import Pace

SLOWEST_BYTES_S, GRACE_S = 10e6, 60.0
"""A file that is written more slowly than this is given up."""


def disk_steps(
    hosts: Sequence[Host], directories: Sequence[str], file_bytes: int, seconds: int
) -> list[ProbeStep]:
    """Measure one directory after the other, on all hosts at the same time."""
    return [
        ProbeStep(
            f"disk: {directory}",
            fio.expected_s(seconds),
            partial(_measure, hosts, directory, file_bytes, seconds),
        )
        for directory in directories
    ]


def _measure(
    hosts: Sequence[Host], directory: str, file_bytes: int, seconds: int
) -> Iterator[Measurement]:
    timeout_s = fio.expected_s(seconds) + file_bytes / SLOWEST_BYTES_S + GRACE_S
    commands = [(host, fio.command(directory, file_bytes, seconds)) for host in hosts]
    for host, completed in zip(hosts, run_all(commands, timeout_s), strict=True):
        jobs = parse_completed(
            host, completed, lambda done: fio.read_report(done.output, done.code)
        )
        if isinstance(jobs, HostError):
            yield DISK_WRITE.failed(host.name, jobs, directory)
        else:
            yield from disk_measurements(host.name, directory, jobs)


def disk_measurements(host: str, directory: str, jobs: Mapping[str, Pace]) -> Iterator[Measurement]:
    """Yield what fio's jobs measured in a directory of a host."""
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


def _since(earlier: Sequence[RecordedProbes], probed: RecordedProbes) -> Iterator[Finding]:
    """Yield what became slower than in earlier probes with files as large, of which caches hold as much."""
    size = probed.run.parameters.get("file_mb")
    alike = [each for each in earlier if each.run.parameters.get("file_mb") == size]
    before = [measurement for each in alike for measurement in each.measurements]
    return unlike_before(before, probed.measurements)


def _plan(site: Site, *, directories: str | None, file_mb: int, seconds: int) -> ProbePlan:
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
            help="Directories on the disks, the same on every host. A file without a name is written there: "
            "nothing of it is left, however the probe ends.  [default: where Spark writes in the lab or, by "
            "--via local, on this machine]",
        ),
        integer_option(
            "--file-mb",
            WholeNumber(64, 10**7),
            1000,
            "Size of the file in MB, at most half of the free space. Larger than the cache of the disk or "
            "its controller, it shows the disk itself.",
        ),
        integer_option(
            "--seconds", WholeNumber(1, 3600), 10, "Duration of each of five measurements."
        ),
    ),
    measures=(DISK,),
    tables=(
        ProbeTable(
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
    judge=lambda probed: unlike_peers(probed.measurements),
    judge_change=_since,
)
