"""Ceph: a gateway that speaks S3, a monitor, and OSDs, from the programs on the PATH."""

import re
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar

from harness.base.child_process import finished
from harness.base.errors import BadInput
from harness.base.failure_reason import failure_reason
from harness.base.http_request import Credentials
from harness.minicluster.buckets import bucket_name, create_bucket, is_answered, new_credentials
from harness.minicluster.ceph_configuration import PLACEMENT_GROUPS, USER, CephPlan, osd_id
from harness.minicluster.cluster import Cluster
from harness.minicluster.daemon import LOCALHOST, Launch
from harness.minicluster.s3a import class_path_properties, s3a_properties
from harness.model.layout import Layout, LayoutKind
from harness.model.spark_properties import S3A_CEPH_CONF
from harness.submit.spark_configuration import DEFAULTS, write_spark_configuration

PROGRAMS = ("ceph", "ceph-mon", "ceph-osd", "monmaptool", "radosgw", "radosgw-admin")
OLDEST = 18
FEWEST_OSDS = 3
PACKAGES = "ceph-common ceph-mon ceph-osd radosgw"

DAEMON = Path(__file__).with_name("ceph-daemon")
"""The shell script that becomes a daemon."""


@dataclass(frozen=True)
class CephCluster:
    """Ceph, with a bucket for each layout, in a pool of its own.

    Its keys are new, and in no command line and no state file.
    """

    scheme: ClassVar[str] = "s3"
    title: ClassVar[str] = "Ceph"
    server: ClassVar[str] = "OSD"
    layouts: Sequence[Layout]
    credentials: Credentials = field(default_factory=new_credentials)
    groups: int = PLACEMENT_GROUPS
    """How many placement groups each pool has. Who observes a dataset asks each of them."""

    def servers(self, osds: int | None) -> int:
        """Return how many OSDs start, `osds` if they suffice. Raise BadInput for an impossible layout."""
        for layout in self.layouts:
            is_coded = layout.kind is LayoutKind.REED_SOLOMON and layout.data > 1
            if not (is_coded or layout.kind is LayoutKind.REPLICATED):
                raise BadInput(
                    f"--layout {layout}: Ceph stores replicated:N, and rs:D+P[:cell] of at least rs:2+1"
                )
        needed = max(layout.nodes for layout in self.layouts)
        if osds is not None and osds < needed:
            raise BadInput(
                f"--osds {osds}: the layouts need {needed}, one for each part of an object"
            )
        return osds or max(FEWEST_OSDS, needed)

    def port_count(self, servers: int) -> int:
        """Return 2: a port for the gateway, and one for the monitor. OSDs choose and report their own."""
        return 2

    def prepare(self, cluster: Cluster) -> None:
        """Find the programs, and write the configuration of the daemons and of Spark."""
        _check_programs()
        if re.search(r"[\s,;=]", str(cluster.directory)):
            raise BadInput(
                f"Ceph cannot store its keys in {cluster.directory}: set XDG_CACHE_HOME to a path without "
                "blanks, commas, semicolons and equals signs"
            )
        plan = self._plan(cluster)
        plan.write(self.credentials)
        ceph_conf = {S3A_CEPH_CONF: str(plan.conf)}
        of_store = s3a_properties(endpoint(cluster), self.credentials, ceph_conf)
        write_spark_configuration(cluster.conf_directory, {**class_path_properties(), **of_store})
        (cluster.conf_directory / DEFAULTS).chmod(0o600)  # it has the keys
        (cluster.directory / "monitor").mkdir()
        for number in range(cluster.servers):
            (cluster.directory / f"osd-{number}").mkdir()

    def launches(self, cluster: Cluster) -> Iterator[Launch]:
        """Yield all daemons together: each waits for the ones that it needs."""
        plan = self._plan(cluster)
        environment = {"CEPH_CONF": str(plan.conf), "CEPH_ARGS": ""}
        daemon = ["sh", str(DAEMON)]
        yield Launch("gateway", [*daemon, "gateway", str(cluster.servers), USER], environment)
        yield Launch("monitor", [*daemon, "monitor", plan.monitor], environment)
        for number in range(cluster.servers):
            command = [*daemon, "osd", str(number), str(osd_id(number))]
            yield Launch(f"osd-{number}", command, environment)

    def live_servers(self, cluster: Cluster) -> int | None:
        """Return all as soon as the gateway answers: it starts after every OSD."""
        if is_answered(endpoint(cluster)):
            return cluster.servers
        return None

    def client_environment(self, cluster: Cluster) -> Mapping[str, str]:
        """Return the URI of the first bucket, and where Spark's and Ceph's configuration is."""
        return {
            "CLUSTERLIFT_FS": f"s3a://{bucket_name(self.layouts[0])}",
            "SPARK_CONF_DIR": str(cluster.conf_directory),
            "CEPH_CONF": str(self._plan(cluster).conf),
        }

    def create_buckets(self, cluster: Cluster) -> None:
        """Create a bucket for each layout. Raise ClusterliftError if the gateway refuses."""
        for layout in self.layouts:
            create_bucket(endpoint(cluster), self.credentials, bucket_name(layout))

    def _plan(self, cluster: Cluster) -> CephPlan:
        gateway, monitor = cluster.ports
        return CephPlan(
            directory=cluster.directory,
            data=cluster.directory,
            layouts=self.layouts,
            osds=cluster.servers,
            monitor=f"[v2:{LOCALHOST}:{monitor}]",
            gateway=f"{LOCALHOST}:{gateway}",
            address=LOCALHOST,
            groups=self.groups,
        )


def endpoint(cluster: Cluster) -> str:
    """Return the URL of the gateway."""
    return f"http://{LOCALHOST}:{cluster.ports[0]}"


def _check_programs() -> None:
    """Raise BadInput if a program is missing, or older than Hadoop's S3A accepts."""
    how = f"install Ceph {OLDEST} or newer (Debian 13: apt-get install {PACKAGES})"
    for program in PROGRAMS:
        if shutil.which(program) is None:
            raise BadInput(f"no program {program!r} is on the PATH; {how}")
    done = finished(["radosgw", "--version"])
    found = re.match(r"ceph version (\d+)\.\S*", done.stdout)
    if found is None:
        raise BadInput(f"radosgw does not run: {failure_reason(done.stderr)}; {how}")
    if int(found[1]) < OLDEST:
        raise BadInput(f"the radosgw on the PATH is {found[0]}, where S3A cannot write; {how}")
