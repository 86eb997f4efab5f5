"""An object store on this machine: its buckets, and the Spark that reaches it by S3A."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

from harness.http_request import Credentials
from harness.minicluster.buckets import bucket_name, create_bucket, new_credentials
from harness.minicluster.cluster import Cluster
from harness.minicluster.daemon import LOCALHOST
from harness.minicluster.s3a import class_path_properties, s3a_properties
from harness.minicluster.spark_configuration import DEFAULTS, write_spark_configuration
from harness.model.layout import Layout


@dataclass(frozen=True)
class ObjectStore:
    """A store with a bucket for each layout. Its keys are new, and in no command line and no state file."""

    scheme: ClassVar[str] = "s3"
    layouts: Sequence[Layout]
    credentials: Credentials = field(default_factory=new_credentials)

    def location(self, bucket: str) -> str:
        """Return what decides how the store keeps a bucket, in S3's word its location; empty for nothing."""
        return ""

    def write_spark_configuration(
        self, cluster: Cluster, store: str, properties: Mapping[str, str]
    ) -> None:
        """Tell Spark where the store is, and by Hadoop's properties which one it is."""
        of_store = s3a_properties(endpoint(cluster), self.credentials, store, properties)
        write_spark_configuration(cluster.conf_directory, {**class_path_properties(), **of_store})
        (cluster.conf_directory / DEFAULTS).chmod(0o600)  # it has the keys

    def client_environment(self, cluster: Cluster) -> Mapping[str, str]:
        """Return the URI of the first bucket, and where Spark's configuration is."""
        return {
            "CLUSTERLIFT_FS": f"s3a://{bucket_name(self.layouts[0])}",
            "SPARK_CONF_DIR": str(cluster.conf_directory),
        }

    def create_buckets(self, cluster: Cluster) -> None:
        """Create a bucket for each layout. Raises ClusterliftError if the store refuses."""
        for name in map(bucket_name, self.layouts):
            create_bucket(endpoint(cluster), self.credentials, name, self.location(name))


def endpoint(cluster: Cluster) -> str:
    """Return the URL of the store."""
    return f"http://{LOCALHOST}:{cluster.ports[0]}"
