"""An object store on this machine: its buckets, and the Spark that reaches it by S3A."""

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

from harness.http_request import Credentials, ask
from harness.minicluster.cluster import Cluster
from harness.minicluster.daemon import LOCALHOST
from harness.minicluster.s3a import s3a_properties
from harness.minicluster.spark_configuration import write_spark_configuration
from harness.model.errors import ClusterliftError
from harness.model.layout import Layout
from harness.model.spark_properties import S3A_STORE

ANSWER_S = 10.0


@dataclass(frozen=True)
class ObjectStore:
    """A store with a bucket for each layout. Its keys are new, and in no command line and no state file."""

    scheme: ClassVar[str] = "s3"
    layouts: Sequence[Layout]
    access_key: str = field(default_factory=lambda: secrets.token_hex(10), repr=False)
    secret_key: str = field(default_factory=lambda: secrets.token_hex(20), repr=False)

    def problem(self) -> str | None:
        """Say which layout the store cannot have; None if it can have all."""
        return None

    def location(self, bucket: str) -> str:
        """Return what decides how the store keeps a bucket, in S3's word its location; empty for nothing."""
        return ""

    def write_spark_configuration(
        self, cluster: Cluster, store: str, properties: Mapping[str, str]
    ) -> None:
        """Tell Spark where the store is, and by Hadoop's properties which one it is."""
        hadoop = {S3A_STORE: store, **properties}
        write_spark_configuration(
            cluster.conf_directory,
            {
                **s3a_properties(endpoint(cluster), self.access_key, self.secret_key),
                **{f"spark.hadoop.{key}": value for key, value in hadoop.items()},
            },
        )
        (cluster.conf_directory / "spark-defaults.conf").chmod(0o600)  # it has the keys

    def client_environment(self, cluster: Cluster) -> Mapping[str, str]:
        """Return the URI of the first bucket, and where Spark's configuration is."""
        return {
            "CLUSTERLIFT_FS": f"s3a://{bucket_name(self.layouts[0])}",
            "SPARK_CONF_DIR": str(cluster.conf_directory),
        }

    def create_buckets(self, cluster: Cluster) -> None:
        """Create a bucket for each layout. Raises ClusterliftError if the store refuses."""
        credentials = Credentials(self.access_key, self.secret_key)
        for name in map(bucket_name, self.layouts):
            body = (
                f"<CreateBucketConfiguration><LocationConstraint>{location}</LocationConstraint>"
                "</CreateBucketConfiguration>"
                if (location := self.location(name))
                else ""
            )
            try:
                ask(
                    endpoint(cluster), f"/{name}", {}, credentials, method="PUT", body=body.encode()
                )
            except OSError as error:
                raise ClusterliftError(f"bucket {name} cannot be created: {error}") from error


def bucket_name(layout: Layout) -> str:
    """Return the name of the bucket that has a layout: `rs-2-1`."""
    return str(layout).replace(":", "-").replace("+", "-")


def endpoint(cluster: Cluster) -> str:
    """Return the URL of the store."""
    return f"http://{LOCALHOST}:{cluster.ports[0]}"


def is_answered(cluster: Cluster, path: str = "/") -> bool:
    """Return whether the store answers, without an error."""
    try:
        ask(endpoint(cluster), path, {}, timeout_s=ANSWER_S)
    except OSError:
        return False
    return True
