"""The disk probe: how fast the disks of each host read and write, and how long until written data is safe."""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from statistics import median

import click

from harness.analysis.network.cases import MeasuredCase, measured_cases
from harness.hosts.remote_process import parse_completed, run_all
from harness.hosts.transports.host import Host, HostError
from harness.model.errors import BadInput
from harness.model.finding import Finding
from harness.model.probe import HIGHER, LOWER, Measurement, Metric, RecordedProbes
from harness.option_types import WholeNumber
from harness.present.probes.columns import Column, ProbeTable, of_metric
from harness.probes.kind import ProbeKind
from harness.probes.options import integer_option
from harness.probes.plan import ProbePlan, ProbeStep
from harness.probes.site import Site
from harness.probes.tools import fio
from harness.probes.tools.fio import Pace
from harness.words import percent

DISK = "disk"
WRITE = Metric(DISK, "write_bytes_s", "bytes/s", HIGHER)
READ = Metric(DISK, "read_bytes_s", "bytes/s", HIGHER)
RANDOM_WRITES = Metric(DISK, "random_writes_per_s", "1/s", HIGHER)
RANDOM_WRITE_P99 = Metric(DISK, "random_write_p99_us", "µs", LOWER)
RANDOM_READS = Metric(DISK, "random_reads_per_s", "1/s", HIGHER)
RANDOM_READ_P99 = Metric(DISK, "random_read_p99_us", "µs", LOWER)
SYNC_MEDIAN = Metric(DISK, "sync_p50_us", "µs", LOWER)
SYNC_P99 = Metric(DISK, "sync_p99_us", "µs", LOWER)
_SPEEDS = {
    WRITE: "writes",
    READ: "reads",
    RANDOM_WRITES: "writes at random",
    RANDOM_READS: "reads at random",
}

TOLERANCE = 0.25
"""Disks that differ by no more than this fraction count as equal: a disk is faster on its outer tracks, and
flash of one model differs by its age."""
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
        jobs = parse_completed(host, completed, lambda done: fio.read_report(done.output))
        if isinstance(jobs, HostError):
            yield WRITE.failed(host.name, jobs, directory)
        else:
            yield from disk_measurements(host.name, directory, jobs)


def disk_measurements(host: str, directory: str, jobs: Mapping[str, Pace]) -> Iterator[Measurement]:
    """Yield what fio's jobs measured in a directory of a host."""
    for metric, value in (
        (WRITE, jobs[fio.WRITE].bytes_s),
        (READ, jobs[fio.READ].bytes_s),
        (RANDOM_WRITES, jobs[fio.RANDOM_WRITE].per_s),
        (RANDOM_WRITE_P99, jobs[fio.RANDOM_WRITE].p99_us),
        (RANDOM_READS, jobs[fio.RANDOM_READ].per_s),
        (RANDOM_READ_P99, jobs[fio.RANDOM_READ].p99_us),
        (SYNC_MEDIAN, jobs[fio.SYNC].median_us),
        (SYNC_P99, jobs[fio.SYNC].p99_us),
    ):
        yield metric.of(host, value, directory)


def _cases(probed: RecordedProbes) -> list[MeasuredCase]:
    return measured_cases(probed.measurements, DISK)


def disk_findings(probed: RecordedProbes) -> Iterator[Finding]:
    """Yield each disk that is slower than the others in the same directory of other hosts."""
    cases = _cases(probed)
    for case in cases:
        peers = [each for each in cases if each.case == case.case and each.hosts != case.hosts]
        slow = [
            f"{work} at {percent(own / typical)}"
            for metric, work in _SPEEDS.items()
            if (own := case.median(metric)) is not None
            and (others := [value for each in peers if (value := each.median(metric)) is not None])
            and own < (1 - TOLERANCE) * (typical := median(others))
        ]
        if slow:
            text = f"{case.case} {', '.join(slow)} of what is typical of the other hosts"
            yield Finding(case.subject, text)


def _plan(site: Site, *, directories: str, file_mb: int, seconds: int) -> ProbePlan:
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
            required=True,
            metavar="PATH,...",
            help="Directories on the disks, the same on every host. A file without a name is written there: "
            "nothing of it is left, however the probe ends.",
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
            _cases,
            (
                Column[MeasuredCase]("host", lambda row: row.subject),
                Column[MeasuredCase]("directory", lambda row: row.case),
                Column("write MB/s", of_metric(WRITE), ",.0f", 1e-6),
                Column("read MB/s", of_metric(READ), ",.0f", 1e-6),
                Column("random writes/s", of_metric(RANDOM_WRITES), ",.0f"),
                Column("p99 ms", of_metric(RANDOM_WRITE_P99), ",.2f", 1e-3),
                Column("random reads/s", of_metric(RANDOM_READS), ",.0f"),
                Column("p99 ms", of_metric(RANDOM_READ_P99), ",.2f", 1e-3),
                Column("fsync ms", of_metric(SYNC_MEDIAN), ",.2f", 1e-3),
                Column("p99 ms", of_metric(SYNC_P99), ",.2f", 1e-3),
            ),
            rule="Write and read: 1 MiB at a time, 16 at once. Random: 4 KiB at a time, 32 at once. "
            "fsync: until 4 KiB are safe on the disk, one at a time, median.",
            badness=lambda row: -(row.median(WRITE) or 0.0),
        ),
    ),
    judge=disk_findings,
)
