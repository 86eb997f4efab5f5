"""MinIO: one server with drives, from the program on the PATH."""

import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from harness.minicluster.buckets import is_answered
from harness.minicluster.cluster import Cluster
from harness.minicluster.daemon import LOCALHOST, Launch
from harness.minicluster.object_store import ObjectStore, endpoint
from harness.model.errors import BadInput
from harness.model.layout import LayoutKind

MOST_DRIVES = 16


@dataclass(frozen=True)
class MinioCluster(ObjectStore):
    """MinIO, with a drive for each stripe of its one layout."""

    title: ClassVar[str] = "MinIO"
    head: ClassVar[str] = "server"
    server: ClassVar[str] = "drive"
    servers_option: ClassVar[str] = "drives"

    def servers(self) -> int:
        """Return the number of drives. Raise BadInput if one server cannot store these layouts."""
        layout, *others = self.layouts
        if others:
            raise BadInput(f"--layout {others[0]}: one MinIO has one layout")
        is_possible = (
            layout.kind is LayoutKind.REED_SOLOMON
            and layout.parity <= layout.data
            and layout.nodes <= MOST_DRIVES
            and layout.cell_bytes is None
        )
        if not is_possible:
            raise BadInput(f"--layout {layout}: MinIO stores rs:D+P of P <= D and D + P <= 16")
        return layout.nodes

    def port_count(self, servers: int) -> int:
        """Return 1."""
        return 1

    def prepare(self, cluster: Cluster) -> None:
        """Find the program, and write Spark's configuration."""
        if shutil.which("minio") is None:
            raise BadInput("--store minio: no program 'minio' is on the PATH; put yours there")
        self.write_spark_configuration(cluster, "minio", {})

    def launches(self, cluster: Cluster) -> Iterator[Launch]:
        """Yield the server."""
        [layout] = self.layouts
        environment = {
            "MINIO_ROOT_USER": self.credentials.access_key,
            "MINIO_ROOT_PASSWORD": self.credentials.secret_key,
            "MINIO_STORAGE_CLASS_STANDARD": f"EC:{layout.parity}",
            # Where it looks for certificates.
            "HOME": str(cluster.directory),
            "MINIO_BROWSER": "off",
            "MINIO_UPDATE": "off",
            # Its drives are directories of the same disk, which it refuses elsewhere than in tests.
            "MINIO_CI_CD": "1",
        }
        address = f"{LOCALHOST}:{cluster.ports[0]}"
        drives = f"{cluster.directory}/drive{{1...{layout.nodes}}}"
        yield Launch("server", ["minio", "server", "--address", address, drives], environment)

    def live_servers(self, cluster: Cluster) -> int | None:
        """Return all as soon as the server says that it can write to them."""
        return cluster.servers if is_answered(endpoint(cluster), "/minio/health/cluster") else None
